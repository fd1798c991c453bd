package mcp

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// call is one request or notification of a client that is served with a lifecycle or an envelope, not by Server.Handle. It is the context its
// handler gets, which saves an allocation and finds it again without a search.
type call struct {
	context.Context
	session *Session // of the connection, or the host; what belongs to a modern request is in x
	params  borrowed // of its request, for peek

	mu    sync.Mutex // held while a notification of the call is on its way, so that none follows the end
	token string     // the progress token's exact text; "" if the client wants no progress, or no more
	last  float64
	sent  bool
	done  bool

	open  bool     // the session was initialized when the message's turn came
	begun bool     // the gate has let it in
	rev   revision // since then
	level uint8    // of the log messages the request wants, and 1; 0: none, or what the session says
	x     *extra

	asks atomic.Pointer[flow] // what is known of a call that asks; nil: it has not yet
}

// extra is what most calls of a legacy connection have no use for.
type extra struct {
	entry   *entry     // of a host's payload
	running *entryCall // if it can be cancelled there
	server  *Server    // of a modern request
	meta    []byte     // of a modern request, while it runs
	own     *Session   // of a modern request
	result  any        // of a modern request
	hint    *CacheHint
	caches  bool // the result of a modern request carries cache hints
	stale   bool // and must not be kept
	logs    *logQuota
	steps   *pace
	able    bool  // the client has capabilities, and so may be asked something
	mayAsk  bool  // the answer may ask
	asker   asker // of a task: asks wait
	task    *taskRun
	wish    *taskWish
}

type callKey struct{}

// Value implements context.Context.
func (c *call) Value(key any) any {
	if key == (callKey{}) {
		return c
	}
	return c.Context.Value(key)
}

func callFrom(ctx context.Context) *call {
	if c, ok := ctx.(*call); ok {
		return c
	}
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// revision is the one the request is served in, the newest with initialize where there is neither session nor envelope.
func (c *call) revision() revision {
	switch {
	case c == nil:
		return newest
	case c.rev != 0:
		return c.rev
	}
	if t := c.session.terms.Load(); t != nil {
		return t.revision
	}
	return newest
}

// modern reports whether the request is of the era without initialize.
func (c *call) modern() bool { return c != nil && c.rev.modern() }

// more returns what few calls have. It is for the goroutine that runs the handler, and for who holds mu.
func (c *call) more() *extra {
	if c.x == nil {
		c.x = new(extra)
	}
	return c.x
}

// peer is the way back to the client, nil if there is none.
func (c *call) peer() Peer {
	if c.x != nil && c.x.entry != nil {
		return c.x.entry.peer
	}
	if conn := jsonrpc2.ConnFrom(c.Context); conn != nil {
		return c.session.server.outward(conn)
	}
	return nil
}

// mayAsk reports whether the answer of a modern request may ask.
func (c *call) mayAsk() bool { return c.x.mayAsk }

// asker is how a task asks, nil for other calls.
func (c *call) asker() asker {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.x == nil {
		return nil
	}
	return c.x.asker
}

// name returns the string that raw is. Clients call few tools often, so the last name is kept.
func (c *call) name(raw []byte) (string, bool) {
	if c == nil {
		return stringValue(raw)
	}
	last := c.session.name.Load()
	if last != nil && len(raw) == len(*last)+2 && raw[0] == '"' && string(raw[1:len(raw)-1]) == *last {
		return *last, true
	}
	s, ok := stringValue(raw)
	if ok && len(s) <= maxName {
		c.session.name.Store(&s)
	}
	return s, ok
}

// begin lets a request in: it finds the era, checks what that asks for, and arms progress. m is nil for a method that is not of this package.
func (c *call) begin(s *Server, r *jsonrpc2.Request, m *method, meta []byte) error {
	c.begun = true
	e := readMeta(meta)
	if c.forced() || e.modern() {
		return c.beginModern(s, r, m, meta, &e)
	}
	c.rev = c.revision()
	switch {
	case m != nil && m.unknown:
		return jsonrpc2.ErrMethodNotFound
	case !c.open && (m == nil || !m.early):
		// Requests that were read behind an initialize that then failed get here too.
		if m != nil && m.span.from.modern() {
			return e.problem()
		}
		return errNotInitialized
	case m != nil && !m.span.has(c.rev):
		return jsonrpc2.ErrMethodNotFound
	}
	if e.token != nil && !e.tokenTwice && isToken(e.token) {
		c.token = string(e.token)
	}
	return nil
}

// forced: a host says that its message is modern, whatever stands in it.
func (c *call) forced() bool { return c.x != nil && c.x.entry != nil && c.x.entry.modern }

// beginModern checks the envelope, in the order that clients are told what is wrong: what is missing, the revision, the method, the rest.
func (c *call) beginModern(s *Server, r *jsonrpc2.Request, m *method, meta []byte, e *envelope) error {
	if err := e.problem(); err != nil {
		return err
	}
	rev, refused := s.supported(e)
	if refused != nil {
		return refused
	}
	span := spanOf(r.Method)
	if m != nil && m.unknown || !span.has(rev) {
		return jsonrpc2.ErrMethodNotFound
	}
	level, refused := e.rest()
	if refused != nil {
		return refused
	}
	c.rev, c.level = rev, level
	if e.token != nil {
		c.token = string(e.token)
	}
	x := c.more()
	x.server, x.meta = s, meta
	x.caches = m != nil && m.caches
	x.able = len(e.capabilities) > len("{}")
	return nil
}

// answer makes what the handler returned what is encoded, or the error that is sent.
func (c *call) answer(v any, err error) (any, error) {
	if err != nil {
		return nil, c.failure(err)
	}
	if !c.rev.modern() {
		return v, nil
	}
	c.x.result = v
	return c.x, nil
}

// failure is the error of a handler as the revision knows it.
func (c *call) failure(err error) error {
	if c.modern() {
		if e, ok := errors.AsType[*jsonrpc2.Error](err); ok && e.Code == CodeResourceNotFound {
			moved := *e
			moved.Code = jsonrpc2.CodeInvalidParams
			err = &moved
		}
	}
	if e, ok := errors.AsType[*CapabilityError](err); ok {
		if c.modern() {
			return e.wire()
		}
		return &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: e.Error()}
	}
	c.mu.Lock()
	hosted := c.x != nil && c.x.entry != nil
	c.mu.Unlock()
	if hosted && c.Err() != nil && isContextError(err) {
		// Nobody waits any more and the handler gave up, as it should: nothing to report.
		return jsonrpc2.ErrInternal
	}
	return err
}

func isContextError(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// finish disarms the call: whoever still holds its context reports to nobody.
func (c *call) finish() {
	c.mu.Lock()
	if c.x != nil {
		c.flush()
		c.x.meta = nil
	}
	c.token = ""
	c.done = true
	c.params = borrowed{} // a task may keep the context
	c.mu.Unlock()
	if c.x != nil && c.x.entry != nil {
		c.x.entry.leave(c)
	}
}

// flush sends what rate limits held back. mu is held.
func (c *call) flush() {
	if c.x.steps != nil {
		c.x.steps.stop()
		_ = c.sendStep()
	}
	if c.x.logs != nil {
		_ = c.x.logs.settle(c)
	}
}

// send sends a notification of the request, on the stream that is the request's. mu is held.
func (c *call) send(method string, params any) error {
	peer := c.peer()
	if peer == nil || c.done || c.Err() != nil {
		return nil
	}
	return unlessClosed(peer.Notify(c, method, params))
}

// unlessClosed drops the error of a connection that is ending: a tool goes on until its context ends, whether or not anybody listens.
func unlessClosed(err error) error {
	if errors.Is(err, jsonrpc2.ErrClosed) {
		return nil
	}
	return err
}
