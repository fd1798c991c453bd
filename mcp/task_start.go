package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// TaskOptions say what [RunTask] makes. The zero TaskOptions is a task wherever one can be.
type TaskOptions struct {
	// Only refuses clients that take no task, instead of running the body at once: [TaskMust] where a Tool says it.
	Only bool
	// TTL and Poll are those of the task, see [Tasks]; 0: the Server's.
	TTL, Poll time.Duration
	// Quick is how long the call waits for the body. If that returns within, its result answers the call, and there is no task.
	Quick time.Duration
	// Message is what the client may tell its user at first.
	Message string
}

// RunTask decides at run time that the rest of a call is a task: a tool's function returns what RunTask returns. Where the request takes a task, that is the
// task, which is stored and can be read by then, and body runs on its own, in a context that neither the end of the request nor that of its connection
// ends, only [Tasks.TTL], tasks/cancel and [Server.Shutdown] do. Else body runs at once and its result is returned.
//
// In a task, what body asks its client, with [Session.Ask] and all that is made of it, waits for the answer in a tasks/update. [Progress] and [Session.Log]
// do nothing: [TaskHandle.SetStatusMessage] takes their place. Questions that must come before the task are asked before RunTask.
//
// What body returns becomes the result as with [AddTool] and an Out of type any, and so does its error. Outside of a tools/call, and where [Server.Tasks] is
// nil, there are no tasks. If there are too many, body runs at once, or with Only a tool result says so. See [Tool.Task] for tools that always do this.
func RunTask(ctx context.Context, o TaskOptions, body func(ctx context.Context) (any, error)) (any, error) {
	support := TaskMay
	if o.Only {
		support = TaskMust
	}
	return startTask(ctx, support, &o, "", resulting(body))
}

// resulting makes a result of what a body returns.
func resulting(body func(ctx context.Context) (any, error)) func(ctx context.Context) (any, error) {
	return func(ctx context.Context) (any, error) {
		v, err := body(ctx)
		if err != nil {
			return failed(ctx, err)
		}
		if ask, ok := v.(*InputRequired); ok {
			return ask, nil
		}
		return output{}.result(ctx, v)
	}
}

// runTask is what a tool with Task does in place of calling its function, which returns a result.
func runTask(ctx context.Context, t *Tool, body func(ctx context.Context) (any, error)) (any, error) {
	if t.Task == TaskNever {
		return body(ctx)
	}
	return startTask(ctx, t.Task, &TaskOptions{}, t.Name, body)
}

// tasked is the function of a tool that can be a task. What is to be asked beforehand is, and arguments that are no arguments are answered, before there is one.
func (b *boxed) tasked(call toolFunc, limits func(toolFunc) toolFunc) toolFunc {
	t := &b.tool
	if t.Task == TaskNever {
		return call
	}
	return func(ctx context.Context, a Arguments) (any, error) {
		c := callFrom(ctx)
		if !taskTaker(ctx, c, t.Task, t.Name) {
			if t.Task == TaskMust && TaskFrom(ctx) == nil {
				return refuseTask(c)
			}
			return call(ctx, a)
		}
		a = Arguments{raw: bytes.Clone(a.raw)} // the request's are gone when it is answered
		if b.prepare != nil {
			body, err := b.prepare(ctx, a)
			if err != nil {
				return nil, err
			}
			work := limits(func(ctx context.Context, _ Arguments) (any, error) { return body(ctx) })
			return runTask(ctx, t, func(ctx context.Context) (any, error) { return work(ctx, Arguments{}) })
		}
		return runTask(ctx, t, func(ctx context.Context) (any, error) { return call(ctx, a) })
	}
}

// busyResult is for the model to read.
const busyResult = "The server is busy with other tasks. Try again later."

var errNeedsTask = &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "The tool must be called as a task"}

// tasksMissing is what a request lacks that would have to declare the extension.
func tasksMissing() *CapabilityError {
	return &CapabilityError{Missing: ClientCapabilities{Extensions: json.RawMessage(`{"` + TasksExtension + `":{}}`)}}
}

func refuseTask(c *call) (any, error) {
	switch {
	case c.modern():
		return nil, tasksMissing().wire()
	case c != nil && c.session.server.experimental(c):
		return nil, errNeedsTask
	}
	return ErrorResult("This tool needs a client that supports tasks."), nil
}

// declaresTasks reports whether a modern request declares the extension. What earlier requests said is of no interest.
func (c *call) declaresTasks() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.x == nil || c.x.meta == nil {
		return false
	}
	e := readMeta(c.x.meta)
	var v [1][]byte
	return pick(e.capabilities, []string{"extensions"}, v[:]) && declaresTasks(v[0])
}

func declaresTasks(extensions []byte) bool {
	var v [1][]byte
	return pick(extensions, []string{TasksExtension}, v[:]) && isObject(v[0])
}

// taskTaker reports whether the call of ctx becomes a task.
func taskTaker(ctx context.Context, c *call, support TaskSupport, tool string) bool {
	if c == nil || c.session.server.tasks == nil {
		return false
	}
	if !c.modern() {
		return c.x != nil && c.x.wish != nil && c.session.server.experimental(c)
	}
	if !c.declaresTasks() {
		return false
	}
	policy := c.session.server.Tasks.Policy
	return support == TaskMust || policy == nil || policy(ctx, tool)
}

// startTask makes a task of body, where the call takes one.
func startTask(ctx context.Context, support TaskSupport, o *TaskOptions, tool string, body func(context.Context) (any, error)) (any, error) {
	c := callFrom(ctx)
	if c != nil && c.x != nil && c.x.task != nil {
		return body(ctx) // it is one
	}
	if !taskTaker(ctx, c, support, tool) {
		if support == TaskMust {
			return refuseTask(c)
		}
		return body(ctx)
	}
	k := c.session.server.tasks
	busy := func() (any, error) {
		if support == TaskMay && c.modern() {
			return body(ctx)
		}
		return ErrorResult(busyResult), nil
	}
	t := k.record(ctx, c, o, tool)
	r := k.newRun(ctx, c, t, body)
	err := k.store.Create(ctx, *t)
	switch {
	case errors.Is(err, ErrTasksFull):
		r.stop(nil)
		return busy()
	case err != nil:
		r.stop(nil)
		return nil, err
	case ctx.Err() != nil || !k.launch(r, t):
		// Nobody would learn of it, or nobody would work on it.
		cause := ctx.Err()
		r.stop(nil)
		storing, done := aside(ctx)
		defer done()
		_ = k.store.Delete(storing, t.ID)
		if cause != nil {
			return nil, cause
		}
		return busy()
	}
	if o.Quick > 0 && r.quick(ctx, o.Quick) {
		storing, done := aside(ctx)
		defer done()
		_ = k.store.Delete(storing, t.ID)
		return r.value, r.err
	}
	return createdTask{*t}, nil
}

// quick waits for a body that may be quick, and reports whether it was.
func (r *taskRun) quick(ctx context.Context, d time.Duration) bool {
	wait := time.NewTimer(d)
	defer wait.Stop()
	select {
	case <-r.over:
		return r.stored
	case <-r.asked:
	case <-wait.C:
	case <-ctx.Done():
	}
	return false
}

// record is the task of a call.
func (k *tasker) record(ctx context.Context, c *call, o *TaskOptions, tool string) *Task {
	owner, _ := PrincipalFrom(ctx)
	ttl := o.TTL
	legacy := !c.modern()
	if legacy && c.x.wish.ttl > 0 {
		ttl = c.x.wish.ttl
	}
	if tool == "" {
		tool, _ = stringValue(c.tool())
	}
	now := time.Now().UTC()
	t := &Task{
		ID: newTaskID(), Owner: owner, Method: "tools/call", Tool: tool, Experimental: legacy, Status: TaskWorking,
		Message: truncate(o.Message, maxTaskMessage), Created: now, Updated: now, TTL: k.conf.ttl(ttl, owner), Poll: k.conf.Poll,
	}
	if o.Poll > 0 {
		t.Poll = clampPoll(o.Poll)
	}
	if k.conf.Lease > 0 {
		t.Lease = now.Add(k.conf.Lease)
	}
	t.Expires = t.deadline().Add(k.conf.Linger)
	t.Capabilities = SessionFrom(ctx).now().capabilities.encode()
	return t
}

// tool returns the raw name of the tool that is called.
func (c *call) tool() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	var v [1][]byte
	if !c.done {
		pick(c.params.raw, []string{"name"}, v[:])
	}
	return bytes.Clone(v[0])
}

// newRun makes the call that a body runs in: it has all that the context of the request has, but not its end.
func (k *tasker) newRun(ctx context.Context, c *call, t *Task, body func(context.Context) (any, error)) *taskRun {
	r := &taskRun{tasker: k, id: t.ID, bodies: t.Bodies, body: body, over: make(chan struct{}), asked: make(chan struct{})}
	own := &call{session: c.session, open: c.open, begun: true, rev: c.rev}
	own.Context, r.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	own.x = &extra{server: k.server, task: r}
	ses := SessionFrom(ctx)
	if c.modern() {
		own.done = true // nothing is sent
		own.x.own = &Session{server: k.server, request: own}
		own.x.own.terms.Store(ses.now())
	} else {
		k.inherit(own, c)
	}
	own.adopt(c, r)
	r.call = own
	return r
}

// TaskHandle is the task that a body works on. Its methods can be called by many goroutines at once, and on a nil TaskHandle, which is none; they return
// an error when the task has ended, with which its context has ended, too.
type TaskHandle struct{ run *taskRun }

// TaskFrom returns the task that ctx, the context of a body, belongs to, and nil if it is no task.
func TaskFrom(ctx context.Context) *TaskHandle {
	if c := callFrom(ctx); c != nil && c.x != nil && c.x.task != nil {
		return &TaskHandle{c.x.task}
	}
	return nil
}

// ID returns the identifier of the task. Whoever has it may have the task: it does not belong into a log.
func (h *TaskHandle) ID() string {
	if h == nil {
		return ""
	}
	return h.run.id
}

// SetStatusMessage says how it is going, for the client to show. More than 1 KiB is cut off.
func (h *TaskHandle) SetStatusMessage(ctx context.Context, text string) error {
	return h.set(ctx, func(t *Task) { t.Message = truncate(text, maxTaskMessage) })
}

// SetTTL changes how long the task may take, from its creation on, within [Tasks.MaxTTL].
func (h *TaskHandle) SetTTL(ctx context.Context, d time.Duration) error {
	return h.set(ctx, func(t *Task) { t.TTL = h.run.tasker.conf.ttl(max(d, minTaskTTL), t.Owner) })
}

// SetPoll changes how long clients are told to wait between two tasks/get, from 100 ms to a minute.
func (h *TaskHandle) SetPoll(ctx context.Context, d time.Duration) error {
	return h.set(ctx, func(t *Task) { t.Poll = clampPoll(d) })
}

func (h *TaskHandle) set(ctx context.Context, f func(*Task)) error {
	if h == nil {
		return nil
	}
	t, err := h.run.change(ctx, func(t *Task) error {
		f(t)
		return nil
	})
	if err == nil {
		h.run.reset(&t)
	}
	return err
}
