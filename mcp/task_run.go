package mcp

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// tasker runs the bodies of a Server's tasks. The Store knows what becomes of them; what is here is only what this process works on. A task that waits for
// its turn is no goroutine.
type tasker struct {
	server  *Server
	conf    Tasks
	store   TaskStore
	watcher TaskWatcher // nil: the Store is none
	rates   taskRates

	mu      sync.Mutex
	runs    map[string]*taskRun // all whose body has not returned
	queue   []*taskRun          // those whose body has not begun
	active  int
	closed  bool
	idle    chan struct{} // closed when runs is empty; nil: nobody waits for that
	renewal *time.Timer
}

// taskRun is one task that is worked on here.
type taskRun struct {
	tasker *tasker
	id     string
	call   *call // of the body
	stop   context.CancelCauseFunc
	body   func(context.Context) (any, error)
	expiry *time.Timer
	begun  bool // guarded by the tasker's mu

	over   chan struct{} // closed when the body has returned and the outcome is stored
	asked  chan struct{} // closed when it asks for the first time
	asking sync.Once
	value  any
	err    error
	stored bool // the outcome became the task's
	waiter waiters
}

var (
	errTaskExpired = errors.New("mcp: the task has expired")
	errTaskGone    = errors.New("mcp: somebody else has ended the task")
	errTaskExit    = errors.New("mcp: the body of a task called runtime.Goexit")

	taskExpired     = encoded(`{"code":-32603,"message":"Task expired"}`)
	taskInterrupted = encoded(`{"code":-32603,"message":"Task interrupted"}`)
	taskBroken      = encoded(`{"code":-32603,"message":"Internal error"}`)
)

func newTasker(s *Server) *tasker {
	k := &tasker{server: s, conf: s.Tasks.withDefaults(), runs: make(map[string]*taskRun)}
	k.store = k.conf.Store
	k.watcher, _ = k.store.(TaskWatcher)
	return k
}

func newTaskID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// storeTime is how long an answer of the Store is waited for where nobody else says how long.
const storeTime = 10 * time.Second

// aside is a context for the Store that does not end with what is worked on.
func aside(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), storeTime)
}

// change updates a task, inside the rules.
func (k *tasker) change(ctx context.Context, id string, f func(*Task) error) (Task, error) {
	return k.store.Update(ctx, id, func(t *Task) error {
		old := t.clone()
		if old.Status.Terminal() {
			return errTaskOver
		}
		if err := f(t); err != nil {
			return err
		}
		return transition(&old, t, time.Now().UTC(), k.conf.Linger)
	})
}

// fail ends a task with an error.
func (k *tasker) fail(ctx context.Context, id string, wire []byte, message string) error {
	_, err := k.change(ctx, id, func(t *Task) error {
		t.Status, t.Error, t.Message = TaskFailed, wire, message
		return nil
	})
	return err
}

// launch runs a task now or when it is its turn. It reports false if the server is shutting down.
func (k *tasker) launch(r *taskRun, t *Task) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return false
	}
	k.runs[r.id] = r
	r.expiry = time.AfterFunc(time.Until(t.deadline()), r.expire)
	if k.conf.Lease > 0 && k.renewal == nil {
		k.renewal = time.AfterFunc(k.conf.Lease/3, k.renew)
	}
	k.queue = append(k.queue, r)
	k.next()
	return true
}

// next begins what there is room for. mu is held.
func (k *tasker) next() {
	for k.active < k.conf.Running && len(k.queue) > 0 {
		r := k.queue[0]
		k.queue[0] = nil
		if k.queue = k.queue[1:]; len(k.queue) == 0 {
			k.queue = nil
		}
		k.active++
		r.begun = true
		go r.run()
	}
}

// leave forgets a run that is over. mu is held.
func (k *tasker) leave(r *taskRun) {
	delete(k.runs, r.id)
	r.expiry.Stop()
	if len(k.runs) > 0 {
		return
	}
	if k.idle != nil {
		close(k.idle)
		k.idle = nil
	}
	if k.renewal != nil {
		k.renewal.Stop()
		k.renewal = nil
	}
}

// halt ends the work on a task whose end is stored already. What has not begun never will.
func (k *tasker) halt(id string, cause error) {
	k.mu.Lock()
	r := k.runs[id]
	waiting := r != nil && !r.begun
	if waiting {
		for i, q := range k.queue {
			if q == r {
				k.queue = append(k.queue[:i:i], k.queue[i+1:]...)
				break
			}
		}
		k.leave(r)
	}
	k.mu.Unlock()
	if r == nil {
		return
	}
	r.stop(cause)
	if waiting {
		close(r.over)
		r.call.finish()
	}
}

// run is the goroutine of a task.
func (r *taskRun) run() {
	k := r.tasker
	defer func() {
		r.stop(errTaskGone)
		r.call.finish()
		close(r.over)
		k.mu.Lock()
		defer k.mu.Unlock()
		k.active--
		k.leave(r)
		k.next()
	}()
	returned := false
	defer func() {
		// A panic is the body's; without one and without a return it has called Goexit.
		if !returned {
			p := recover()
			r.err = errTaskExit
			if p != nil {
				r.err = &jsonrpc2.PanicError{Value: p, Stack: debug.Stack()}
			}
		}
		r.settle()
	}()
	r.value, r.err = r.body(r.call)
	returned = true
	if r.err != nil {
		r.value, r.err = k.server.outcome(r.call, &target{what: 't'}, r.err)
	}
}

// settle stores the outcome, unless the task has ended otherwise meanwhile.
func (r *taskRun) settle() {
	k := r.tasker
	ctx, cancel := aside(r.call)
	defer cancel()
	over := r.call.Err() != nil // somebody has ended it, and stored that
	var result, wire []byte
	message := ""
	if r.err == nil {
		result, r.err = r.encode(r.value)
	}
	if r.err != nil {
		if _, panicked := errors.AsType[*jsonrpc2.PanicError](r.err); over && !panicked {
			return // it gave up, as it should
		}
		wire, message = r.wire(r.err)
	}
	_, err := k.change(ctx, r.id, r.outcome(result, wire, message))
	if errors.Is(err, ErrTasksFull) && result != nil {
		r.err = fmt.Errorf("mcp: result of a task: %w", err)
		wire, message = r.wire(r.err)
		_, err = k.change(ctx, r.id, r.outcome(nil, wire, message))
	}
	switch {
	case err == nil:
		r.stored = true
	case errors.Is(err, errTaskOver), errors.Is(err, ErrNoTask) && over: // it had ended: what comes late is dropped
	default:
		// It counts as failed when its time is over, whoever asks.
		k.report(r.call, fmt.Errorf("mcp: outcome of a task: %w", err))
	}
}

func (r *taskRun) outcome(result, wire []byte, message string) func(*Task) error {
	return func(t *Task) error {
		if wire != nil {
			t.Status, t.Error, t.Message = TaskFailed, wire, message
			return nil
		}
		t.Status, t.Result, t.ToolFailed = TaskCompleted, result, toolFailed(r.value)
		return nil
	}
}

func toolFailed(v any) bool {
	t, ok := v.(*CallToolResult)
	return ok && t != nil && t.IsError
}

// encode is the result as the call would have been answered.
func (r *taskRun) encode(v any) (_ []byte, err error) {
	defer func() {
		if p := recover(); p != nil { // a MarshalJSON of the user's
			err = &jsonrpc2.PanicError{Value: p, Stack: debug.Stack()}
		}
	}()
	c := r.call
	switch v.(type) {
	case resultTyper, *InputRequired:
		return nil, fmt.Errorf("mcp: a task cannot end with a %T", v)
	}
	v = callResult(c, v)
	if c.modern() {
		v = &extra{server: r.tasker.server, result: v}
	}
	b, err := newCodec(nil).Append(nil, v)
	switch {
	case err != nil:
		return nil, fmt.Errorf("mcp: result of a task, of type %T: %w", r.value, err)
	case len(b) > r.tasker.conf.MaxResult:
		return nil, fmt.Errorf("mcp: result of a task: %w", jsonrpc2.ErrTooLarge)
	}
	return oneLine(b), nil
}

// wire is the error of the task, and a message for people. What is not meant for the client is reported.
func (r *taskRun) wire(err error) (wire []byte, message string) {
	err = r.call.failure(err)
	e, ok := errors.AsType[*jsonrpc2.Error](err)
	if !ok || e == nil {
		r.tasker.report(r.call, err)
		return taskBroken, "Internal error"
	}
	b, err := appendWireError(nil, e)
	if err != nil {
		r.tasker.report(r.call, err)
		return taskBroken, "Internal error"
	}
	return b, truncate(e.Message, maxTaskMessage)
}

func (k *tasker) report(ctx context.Context, err error) {
	if k.server.Reporter == nil {
		return
	}
	defer func() { _ = recover() }()
	k.server.Reporter(ctx, nil, err)
}

// expire is called when the time of a task is over.
func (r *taskRun) expire() {
	k := r.tasker
	ctx, cancel := aside(r.call)
	defer cancel()
	switch err := k.fail(ctx, r.id, taskExpired, "Task expired"); {
	case err == nil, errors.Is(err, errTaskOver), errors.Is(err, ErrNoTask):
	default:
		k.report(r.call, fmt.Errorf("mcp: expired task: %w", err))
	}
	k.halt(r.id, errTaskExpired)
}

// reset is for a new time to live.
func (r *taskRun) reset(t *Task) {
	k := r.tasker
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.runs[r.id] == r {
		r.expiry.Reset(time.Until(t.deadline()))
	}
}

// renew says that this process lives, and learns which of its tasks others have ended.
func (k *tasker) renew() {
	k.mu.Lock()
	runs := make([]*taskRun, 0, len(k.runs))
	for _, r := range k.runs {
		runs = append(runs, r)
	}
	k.mu.Unlock()
	for _, r := range runs {
		ctx, cancel := aside(r.call)
		_, err := k.change(ctx, r.id, func(t *Task) error {
			t.Lease = time.Now().Add(k.conf.Lease).UTC()
			return nil
		})
		cancel()
		if errors.Is(err, errTaskOver) || errors.Is(err, ErrNoTask) {
			k.halt(r.id, errTaskGone)
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.renewal != nil {
		k.renewal.Reset(k.conf.Lease / 3)
	}
}

// shutdown waits until nothing is worked on, or ends what is when ctx ends.
func (k *tasker) shutdown(ctx context.Context) error {
	k.mu.Lock()
	k.closed = true
	if len(k.runs) == 0 {
		k.mu.Unlock()
		return nil
	}
	if k.idle == nil {
		k.idle = make(chan struct{})
	}
	idle := k.idle
	k.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
	}
	k.mu.Lock()
	ids := make([]string, 0, len(k.runs))
	for id := range k.runs {
		ids = append(ids, id)
	}
	k.mu.Unlock()
	storing, cancelStoring := aside(ctx)
	defer cancelStoring()
	for _, id := range ids {
		if err := k.fail(storing, id, taskInterrupted, "Task interrupted"); err != nil && !errors.Is(err, errTaskOver) && !errors.Is(err, ErrNoTask) {
			k.report(storing, fmt.Errorf("mcp: interrupted task: %w", err))
		}
		k.halt(id, cancel.ErrClosing)
	}
	after := time.NewTimer(time.Second)
	defer after.Stop()
	select {
	case <-idle:
	case <-after.C: // bodies that do not heed their context
	}
	return ctx.Err()
}

// Shutdown ends the Server's tasks, after what [Server.Close] does. No task is begun any more. Those there are may go on until ctx ends; then their contexts
// end with [cancel.ErrClosing] as the cause, and they have failed. It returns when no task is worked on, and ctx's error if it had to end one; a body that
// does not heed its context is waited for one second more.
func (s *Server) Shutdown(ctx context.Context) error {
	s.once.Do(s.build)
	s.Close()
	if s.tasks == nil {
		return nil
	}
	return s.tasks.shutdown(ctx)
}

// truncate shortens text to n bytes.
func truncate(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "")
}
