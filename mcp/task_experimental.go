package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// This file holds what revision 2025-11-25 called tasks (MCP 2025-11-25, basic, utilities, tasks), which shares the records and the runner with the extension
// and nothing of the wire: the client decides, not the server; a tool that failed is a task that failed; the result is waited for; questions are requests.

// metaRelatedTask says in _meta which task a message belongs to.
const metaRelatedTask = metaPrefix + "related-task"

var errTaskEnded = &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "Invalid params: the task has ended"}

// experimental reports whether a request is of a client that may speak that protocol.
func (s *Server) experimental(c *call) bool {
	return s.tasks != nil && s.Tasks.Experimental && c != nil && c.begun && c.rev == rev20251125
}

// experimentalCapability is what initialize says of it. A client that cannot be told from others has no list.
func (s *Server) experimentalCapability(ctx context.Context, rev revision) any {
	if s.tasks == nil || !s.Tasks.Experimental || rev != rev20251125 {
		return nil
	}
	if s.listsTasks(ctx) {
		return json.RawMessage(`{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`)
	}
	return json.RawMessage(`{"cancel":{},"requests":{"tools":{"call":{}}}}`)
}

func (s *Server) listsTasks(ctx context.Context) bool {
	_, lists := s.tasks.store.(TaskLister)
	_, known := PrincipalFrom(ctx)
	return lists && known
}

// taskWish is what a client says that wants a task.
type taskWish struct {
	ttl time.Duration // 0: whatever
}

// wishes reads the task member of a tools/call, for tools that allow it.
func (s *Server) wishes(ctx context.Context, c *call, tool string, raw []byte) error {
	var v [1][]byte
	if !pick(raw, []string{"ttl"}, v[:]) {
		return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "Invalid params: task must be an object"}
	}
	wish := new(taskWish)
	if v[0] != nil {
		ms, err := strconv.ParseFloat(string(v[0]), 64)
		if err != nil || !(ms > 0) || math.IsInf(ms, 0) {
			return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "Invalid params: ttl of a task must be a number of milliseconds"}
		}
		wish.ttl = time.Duration(min(ms, float64(s.tasks.conf.MaxTTL.Milliseconds()))) * time.Millisecond
	}
	t, ok, err := s.Tool(ctx, tool)
	if err != nil {
		return err
	}
	if ok && t.Task == TaskNever {
		return &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "The tool cannot be called as a task"}
	}
	c.mu.Lock()
	c.more().wish = wish
	c.mu.Unlock()
	return nil
}

// inherit lets the call of a body report to the client of the session, until the task has ended.
func (k *tasker) inherit(own, c *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	own.token, own.last, own.sent = c.token, c.last, c.sent
	own.x.entry = c.x.entry
}

// experimentalTask is a task as that revision shows it.
type experimentalTask struct{ task Task }

func (t experimentalTask) appendJSON(dst []byte) ([]byte, error) {
	return append(t.task.appendExperimental(append(dst, '{')), '}'), nil
}

func (t *Task) appendExperimental(dst []byte) []byte {
	status := t.Status
	if t.ToolFailed {
		status = TaskFailed
	}
	return t.appendMembers(dst, status, "ttl", "pollInterval")
}

// waiters are the tasks/result that wait for a task: ways to its client.
type waiters struct {
	mu     sync.Mutex
	calls  []*call
	change chan struct{} // closed when there is another; nil: nobody waits for that
}

func (w *waiters) add(c *call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, c)
	if w.change != nil {
		close(w.change)
		w.change = nil
	}
}

func (w *waiters) remove(c *call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = slices.DeleteFunc(w.calls, func(o *call) bool { return o == c })
}

// last returns the latest, or what to wait for.
func (w *waiters) last() (*call, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := len(w.calls); n > 0 {
		return w.calls[n-1], nil
	}
	if w.change == nil {
		w.change = make(chan struct{})
	}
	return nil, w.change
}

// taskResult answers tasks/result, when the task has ended: with what the tools/call would have been answered with.
func (s *Server) taskResult(ctx context.Context, c *call, r *jsonrpc2.Request, _ values) (any, error) {
	t, _, err := s.task(ctx, c, r)
	if err != nil {
		return nil, err
	}
	k := s.tasks
	k.mu.Lock()
	run := k.runs[t.ID]
	k.mu.Unlock()
	if run != nil {
		run.waiter.add(c)
		defer run.waiter.remove(c)
	}
	var changed <-chan struct{}
	if k.watcher != nil {
		changed, _ = k.watcher.Watch(ctx, []string{t.ID})
	}
	tick := time.NewTicker(answerPause)
	defer tick.Stop()
	for {
		now, err := k.load(ctx, t.Owner, t.ID, true)
		switch {
		case errors.Is(err, ErrNoTask):
			return nil, errUnknownTask
		case err != nil:
			return nil, err
		case now.Status.Terminal():
			return now.outcome()
		}
		look := tick.C
		if changed != nil {
			look = nil
		}
		select {
		case <-changed:
		case <-look:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// outcome is what the request that became a task is answered with in the end.
func (t *Task) outcome() (any, error) {
	switch t.Status {
	case TaskCompleted:
		return related{t.Result, t.ID}, nil
	case TaskFailed:
		return nil, wireError(t.Error)
	}
	return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: "Task cancelled"}
}

// related is an object that says which task it belongs to.
type related struct {
	object []byte
	id     string
}

func (r related) appendJSON(dst []byte) ([]byte, error) {
	var v [1][]byte
	pick(r.object, []string{"_meta"}, v[:])
	mark := append(appendString(nil, metaRelatedTask), `:{"taskId":`...)
	mark = append(appendString(mark, r.id), '}')
	if !isObject(v[0]) {
		return insertMember(dst, r.object, append(append([]byte(`"_meta":{`), mark...), '}')), nil
	}
	at := cap(r.object) - cap(v[0]) // v[0] is a part of object
	dst = append(dst, r.object[:at]...)
	dst = insertMember(dst, v[0], mark)
	return append(dst, r.object[at+len(v[0]):]...), nil
}

// insertMember appends an object with a member more, in front.
func insertMember(dst, object, member []byte) []byte {
	dst = append(append(dst, '{'), member...)
	rest := object[skipSpace(object, 1):]
	if rest[0] != '}' {
		dst = append(dst, ',')
	}
	return append(dst, rest...)
}

// taskPage is how many tasks a tasks/list has.
const taskPage = 50

// taskList answers tasks/list: those of the principal, and nothing where that is not known.
func (s *Server) taskList(ctx context.Context, c *call, r *jsonrpc2.Request, _ values) (any, error) {
	owner, v, err := s.mayTasks(ctx, c, r)
	switch {
	case err != nil:
		return nil, err
	case !s.listsTasks(ctx):
		return nil, jsonrpc2.ErrMethodNotFound
	}
	cursor, ok := "", true
	if v[3] != nil {
		cursor, ok = stringValue(v[3])
	}
	if !ok || v[3] != nil && cursor == "" {
		return nil, errTaskPage
	}
	tasks, next, err := s.tasks.store.(TaskLister).List(ctx, owner, cursor, taskPage)
	if err != nil {
		if ctx.Err() == nil && cursor != "" {
			return nil, errTaskPage
		}
		return nil, err
	}
	page := append([]byte(nil), `{"tasks":[`...)
	n := 0
	for i := range tasks {
		if !tasks[i].Experimental {
			continue
		}
		if n++; n > 1 {
			page = append(page, ',')
		}
		page = append(tasks[i].appendExperimental(append(page, '{')), '}')
	}
	page = append(page, ']')
	if next != "" {
		page = appendString(append(page, `,"nextCursor":`...), next)
	}
	return encoded(append(page, '}')), nil
}

var errTaskPage = &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "Invalid params: unknown cursor"}

// relay is how such a task asks its client: by requests that say which task they belong to. On a connection they are sent at once; the client of a host, which
// may have no stream open, is to see that input is required, and sends a tasks/result for the requests to come on.
type relay struct{ run *taskRun }

func (a relay) ask(ctx context.Context, key string, q *Question) (json.RawMessage, error) {
	r := a.run
	g, err := r.group([]*Question{q})
	if err != nil {
		return nil, err
	}
	defer g.end()
	own := *q
	own.fit = func(rev revision) []byte {
		params := q.params(rev)
		if len(params) == 0 {
			params = emptyResult
		}
		params, _ = related{params, r.id}.appendJSON(nil)
		return params
	}
	peer := peerAsker{r.call.session}
	if r.call.x.entry == nil {
		return peer.ask(ctx, key, &own)
	}
	for {
		stream, more := r.waiter.last()
		if stream == nil {
			select {
			case <-more:
				continue
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		raw, err := a.on(ctx, stream, peer, key, &own)
		if err == nil || ctx.Err() != nil || stream.Err() == nil {
			return raw, err
		}
		r.waiter.remove(stream) // it has ended; there may be another
	}
}

// on asks on the stream of a tasks/result.
func (a relay) on(ctx context.Context, stream *call, peer peerAsker, key string, q *Question) (json.RawMessage, error) {
	both, cancel := context.WithCancelCause(stream)
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })()
	return peer.ask(both, key, q)
}
