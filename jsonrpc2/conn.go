package jsonrpc2

import (
	"context"
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/tandem-rpc/tandem/cancel"
)

// Conn is one connection, a peer in the sense of JSON-RPC 2.0: both sides send requests and notifications, answer them, and cancel. It is made by
// [NewConn] and lives while [Conn.Serve] runs. All methods may be called from any goroutine, from handlers too.
type Conn struct {
	c    *config
	mux  *Mux
	t    Transport
	in   source
	w    writer
	seed maphash.Seed

	base    context.Context // what handlers' contexts derive from; ends with cause cancel.ErrClosing
	endBase context.CancelCauseFunc

	// The reader role (inline.go). What follows belongs to its holder.
	role atomic.Uint64
	cur  *task // runs on the goroutine that holds the role; nil while that one writes
	env  envelope
	slab []task
	unit uint64 // units read, messages or not
	bad  int    // units in a row that could not be parsed
	hand bool
	held int // answers of this burst appended and not written
	lot  int // how many are gathered before they are written (nextLot)

	laneN    atomic.Int32 // messages in the lane, the one that runs included
	draining atomic.Bool  // phase is not open
	deaf     atomic.Bool  // draining because the output is broken, and the input is still read (deaf.go)
	reading  atomic.Int32 // 1 while the holder of the reader role is not in a read that may last
	monitors atomic.Int32 // 1 while the monitor runs
	stuck    atomic.Bool  // a write by the reader has lasted too long: nothing runs inline until it ends
	queued   atomic.Int64 // bytes of what was received and has not started; changed under mu

	mu       sync.Mutex
	room     sync.Cond // on mu: the reader waits for less to be queued
	paused   bool      // it does
	phase    phase
	cause    error // what ended the connection; nil: end of input or Close
	broken   error // the write that ended it, in place of cause
	shut     bool  // by Close or Shutdown, if need be after that
	lane     taskQueue
	laneOn   bool // somebody runs the lane
	ready    taskQueue
	running  int              // handlers that count against MaxRunning
	workers  int              // goroutines that run handlers, with or without a slot
	flights  map[uint64]*task // requests received and not answered, by the hash of their id's key
	inFlight int
	calls    map[int64]*Pending // outbound requests that wait
	lastID   int64              // of an outbound request

	how     ending
	served  bool
	closing chan struct{} // closed when phase leaves open
	idle    chan struct{} // signal: something came to rest while draining
	hurry   chan struct{} // closed: do not linger
	done    chan struct{}
}

// phase is where a connection is in its life.
type phase uint8

const (
	phaseOpen   phase = iota
	phaseDrain        // no new work; what was received runs on
	phaseClosed       // Serve has returned, or will without waiting for anything
)

// source is where messages come from.
type source interface {
	next() (frame []byte, ok bool, err error) // without reading
	fill() error                              // one read
	chunk() *chunk                            // of the frame that next returned last
	buffered() int
}

// NewConn makes a connection over t, which belongs to it from then on. Nothing is read before [Conn.Serve]. A nil m has no handlers: requests are
// answered "Method not found". A nil o is the zero [Options].
func NewConn(t Transport, m *Mux, o *Options) *Conn {
	if m == nil {
		m = NewMux()
	}
	c := &Conn{
		c: o.config(), mux: m, t: t, seed: maphash.MakeSeed(), lot: 1,
		flights: map[uint64]*task{}, calls: map[int64]*Pending{},
		closing: make(chan struct{}), idle: make(chan struct{}, 1), hurry: make(chan struct{}), done: make(chan struct{}),
	}
	c.room.L = &c.mu
	c.c.Cancel = c.c.Cancel.Clone()
	c.base, c.endBase = context.WithCancelCause(context.Background())
	c.w = writer{t: t, max: c.c.MaxUnsent, timeout: c.c.WriteTimeout, fail: c.broke, drain: c.kick}
	if s, ok := t.(*stream); ok {
		s.setLimits(limits{c.c.MaxFrame, c.c.MaxHeader})
		c.in, c.w.stream = s, s
	} else {
		c.in = &adapted{t: t, max: c.c.MaxFrame}
	}
	return c
}

// OnCancel listens to a cancellation convention: the method of its notification, and the member of its params that holds the id of the request to
// cancel. JSON-RPC 2.0 has none of its own; "$/cancelRequest" with "id" is LSP's, "notifications/cancelled" with "requestId" MCP's. The handler of a
// cancelled request sees its context end with a [cancel.ByPeer] cause, and chooses the answer. To speak a convention as well, or to have cancelled
// requests answered by it, set [Options.Cancel]. It panics on a second registration of one method.
func (c *Conn) OnCancel(method, param string) { c.c.Cancel.OnCancel(method, param) }

// Cancel cancels the requests of the other side that are in flight with the given id, and returns how many those are: 0 for one that is unknown or
// answered, 2 where an id is used twice. It is meant for cancellations that no convention describes, from within a notification handler.
func (c *Conn) Cancel(id ID) int {
	return c.cancelInbound([]byte(id.text), nil, cancel.ByPeer{})
}

// Closing is closed as soon as the connection begins to end: from then on calls and notifications fail with [ErrClosed].
func (c *Conn) Closing() <-chan struct{} { return c.closing }

// Done is closed when the connection has ended and all its handlers have returned.
func (c *Conn) Done() <-chan struct{} { return c.done }

// cancelInbound cancels the requests with that id, by a convention or, if conv is nil, directly.
func (c *Conn) cancelInbound(raw []byte, conv *cancel.Convention, why cancel.ByPeer) int {
	key := raw
	if !idKeyIsRaw(raw) {
		key = appendIDKey(nil, raw)
	}
	h := maphash.Bytes(c.seed, key)
	var buf [4]*task
	found := buf[:0]
	c.mu.Lock()
	for t := c.flights[h]; t != nil; t = t.sibling {
		if string(t.key) == string(key) && (conv == nil || !conv.Exempts(t.Method)) {
			found = append(found, t)
		}
	}
	c.mu.Unlock()
	var cause error = why
	for _, t := range found {
		c.cancelTask(t, conv, &cause)
	}
	return len(found)
}

// cancelTask cancels one request. One that has not started is answered by the convention, if that answers or is silent, and will not start.
func (c *Conn) cancelTask(t *task, conv *cancel.Convention, cause *error) {
	if conv != nil && (conv.Silent || conv.Code != 0) {
		t.peer.CompareAndSwap(nil, conv)
		if t.phase.CompareAndSwap(phaseQueued, phaseAnswered) {
			t.end(cause)
			c.settleUnstarted(t, conv)
			return
		}
	}
	t.end(cause)
}

// list enters a request into the table of those in flight. The lock is held.
func (c *Conn) list(t *task) {
	t.hash = maphash.Bytes(c.seed, t.key)
	t.sibling = c.flights[t.hash]
	c.flights[t.hash] = t
	t.listed = true
	c.inFlight++
}

// unlist takes it out again. The lock is held.
func (c *Conn) unlist(t *task) {
	if !t.listed {
		return
	}
	t.listed = false
	c.inFlight--
	if head := c.flights[t.hash]; head == t {
		if t.sibling == nil {
			delete(c.flights, t.hash)
		} else {
			c.flights[t.hash] = t.sibling
		}
		return
	}
	for p := c.flights[t.hash]; p != nil; p = p.sibling {
		if p.sibling == t {
			p.sibling = t.sibling
			return
		}
	}
}

// adapted reads from a Transport that is not one of ours.
type adapted struct {
	t     Transport
	max   int
	frame []byte
	have  bool
	err   error
}

func (f *adapted) next() ([]byte, bool, error) {
	frame, have, err := f.frame, f.have, f.err
	f.frame, f.have, f.err = nil, false, nil
	return frame, have, err
}

func (f *adapted) fill() error {
	frame, err := f.t.Read()
	if m, ok := err.(*MessageError); ok { // concerns one message
		f.err = m
		return nil
	}
	switch {
	case err != nil:
		return err
	case len(frame) > f.max:
		f.err = tooLarge(f.max)
	default:
		f.frame, f.have = append(make([]byte, 0, len(frame)), frame...), true // theirs again at the next Read
	}
	return nil
}

func (f *adapted) chunk() *chunk { return nil }

func (f *adapted) buffered() int {
	if b, ok := f.t.(interface{ Buffered() int }); ok {
		return b.Buffered()
	}
	return 0
}
