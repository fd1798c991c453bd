package jsonrpc2

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/tandem-rpc/tandem/cancel"
)

// task is one message on its way through a connection, and the context of its handler. Tasks come in slabs and are never used twice, so a context
// that somebody kept never becomes another request's.
type task struct {
	Request

	conn   *Conn
	route  *route
	ctx    context.Context // what the handler gets: the task, or what Capture made of it
	answer *Error          // known before anything ran: refused, no such method
	batch  *batch          // the batch it belongs to, if any
	slot   int             // its place in the batch's answer

	next    *task  // behind it in a queue
	sibling *task  // in the same bucket of the table of requests in flight
	hash    uint64 // of the id's key
	key     []byte // of the id
	size    int    // bytes counted against MaxQueued until it starts
	arrived time.Time
	unit    uint64 // of the input it came in

	// Under conn.mu.
	listed  bool // in the table of requests in flight
	slotted bool // counts against MaxRunning
	waiting int  // outbound calls its handler waits for

	inline bool   // runs, or ran, on the goroutine that reads
	role   uint64 // the role word while it did
	phase  atomic.Uint32
	peer   atomic.Pointer[cancel.Convention] // the other side cancelled it, by this convention
	cause  atomic.Pointer[error]             // why the context ended
	node   atomic.Pointer[ctxNode]           // made when somebody asks for Done

	idBuf [24]byte
}

// Phases of a task.
const (
	phaseQueued uint32 = iota
	phaseRunning
	phaseAnswered // cancelled before it started, and answered then
)

// ctxNode is a real context, made on demand.
type ctxNode struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
}

type (
	connKey struct{}
	taskKey struct{}
)

// returned is the cause of a context whose handler has returned.
var returned = context.Canceled

// Deadline implements context.Context: requests have none.
func (t *task) Deadline() (time.Time, bool) { return time.Time{}, false }

// Done implements context.Context.
func (t *task) Done() <-chan struct{} {
	if t.inline && !t.route.trust.wellKnown() {
		t.conn.steal(t.role | foreign) // whoever asks is about to wait
	}
	return t.real().ctx.Done()
}

// Err implements context.Context.
func (t *task) Err() error {
	if t.cause.Load() != nil {
		return context.Canceled
	}
	if n := t.node.Load(); n != nil {
		return n.ctx.Err()
	}
	return t.conn.base.Err()
}

// Value implements context.Context. The context package finds the cause, and attaches children, by a key of its own: that is answered by a real
// context as soon as there is something to find.
func (t *task) Value(key any) any {
	switch key.(type) {
	case requestKey:
		return &t.Request
	case connKey:
		return t.conn
	case taskKey:
		return t
	}
	if n := t.node.Load(); n != nil {
		return n.ctx.Value(key)
	}
	if t.cause.Load() != nil {
		return t.real().ctx.Value(key)
	}
	return t.conn.base.Value(key)
}

// real returns the real context, making it on first use.
func (t *task) real() *ctxNode {
	if n := t.node.Load(); n != nil {
		return n
	}
	n := new(ctxNode)
	n.ctx, n.cancel = context.WithCancelCause(t.conn.base)
	if !t.node.CompareAndSwap(nil, n) {
		n.cancel(nil)
		return t.node.Load()
	}
	if why := t.cause.Load(); why != nil { // end came between, and did not see the node
		n.cancel(*why)
	}
	return n
}

// end ends the context. The first cause stays.
func (t *task) end(cause *error) {
	t.cause.CompareAndSwap(nil, cause)
	if n := t.node.Load(); n != nil {
		n.cancel(*t.cause.Load())
	}
}

// taskFrom returns the task ctx derives from, or nil.
func taskFrom(ctx context.Context) *task {
	t, _ := ctx.Value(taskKey{}).(*task)
	return t
}

// ConnFrom returns the connection of the request that a handler's context belongs to, or nil, as in a handler called by a [Dispatcher].
func ConnFrom(ctx context.Context) *Conn {
	c, _ := ctx.Value(connKey{}).(*Conn)
	return c
}

// setID gives the task an id that outlives its frame.
func (t *task) setID(raw []byte) {
	if raw == nil {
		return
	}
	t.id = append(t.idBuf[:0], raw...)
	t.key = t.id
	if !idKeyIsRaw(raw) {
		t.key = appendIDKey(nil, raw)
	}
}

// release gives the input buffer back once the params are decoded, or the handler has returned. A task that runs inline holds no reference: the
// buffer cannot move on under it.
func (r *Request) release() {
	r.long = nil
	if c := r.chunk; c != nil && r.held {
		r.chunk, r.params, r.held = nil, nil, false
		c.release()
	}
}

// taskQueue is a FIFO of tasks.
type taskQueue struct{ head, tail *task }

func (q *taskQueue) push(t *task) {
	t.next = nil
	if q.tail == nil {
		q.head = t
	} else {
		q.tail.next = t
	}
	q.tail = t
}

func (q *taskQueue) pop() *task {
	t := q.head
	if t == nil {
		return nil
	}
	if q.head = t.next; q.head == nil {
		q.tail = nil
	}
	t.next = nil
	return t
}

func (q *taskQueue) empty() bool { return q.head == nil }
