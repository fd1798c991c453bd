package mcphttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
)

// exchange is one POST with a request or a batch: the context its functions run with, and how it is answered. As long as nothing was sent that is
// undecided; the first notification, a request to the client, or time make it a stream, which cannot be undone.
//
// It is never used again: contexts of functions that went on too long lead to it.
type exchange struct {
	context.Context // of the request; legacy ones do not end with it
	watched         // until it is decided
	h               *Handler
	w               http.ResponseWriter
	era             era
	session         *session // of legacy
	accept          accepts
	line            *line
	id              string // of the request, to answer with an error; "": a batch
	listen          bool
	until           time.Time               // the caller is known until then
	stop            context.CancelCauseFunc // of a modern request

	prev, next *exchange // of the modern ones that run

	mu     sync.Mutex
	state  answerState
	mute   bool // it was reported that nothing can be sent
	stream *stream
	out    *outlet
	over   chan struct{} // of a request with a goroutine of its own: closed when there is no more to write, or an answer to be written
	answer []byte
	status int // of answer
}

// era says which door of the server a message goes through.
type era uint8

const (
	legacy era = iota
	modern
	sessionless
)

type answerState uint8

const (
	undecided answerState = iota
	streaming
	answered
	abandoned // the client has gone before it was decided
)

type exchangeKey struct{}

// Value implements context.Context.
func (x *exchange) Value(key any) any {
	if key == (exchangeKey{}) {
		return x
	}
	return x.Context.Value(key)
}

// Done implements context.Context. Requests of sessions are ended by their session.
func (x *exchange) Done() <-chan struct{} {
	if x.era == legacy {
		return nil
	}
	return x.Context.Done()
}

// Err implements context.Context.
func (x *exchange) Err() error {
	if x.era == legacy {
		return nil
	}
	return x.Context.Err()
}

// Deadline implements context.Context.
func (x *exchange) Deadline() (time.Time, bool) {
	if x.era == legacy {
		return time.Time{}, false
	}
	return x.Context.Deadline()
}

func exchangeFrom(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// streamFor returns the stream of the exchange, and makes it one if it is undecided; nil if it is answered. speak: there is nothing to send, but the
// client should see that something happens.
func (x *exchange) streamFor(speak bool) (st *stream, err error) {
	x.mu.Lock()
	first := false
	switch {
	case x.state == answered:
	case x.state == abandoned:
		err = ErrStreamLost
	case x.state == streaming:
		st = x.stream
	case !x.accept.stream:
		err = ErrNoStream
		first, x.mute = !x.mute, true
	default:
		x.upgrade(speak)
		st = x.stream
	}
	x.mu.Unlock()
	if first {
		x.h.report(x, fmt.Errorf("mcphttp: notifications of a request were dropped: %w", err))
	}
	return st, err
}

// upgrade makes the answer a stream. mu is held.
func (x *exchange) upgrade(speak bool) {
	x.state = streaming
	x.out = newOutlet(x.w, x.h.o.WriteTimeout, x.over)
	st := &stream{h: x.h, line: x.line}
	if x.session != nil {
		st = x.session.open()
	} else if x.era == modern {
		st.gone = func() { x.stop(ErrStreamLost) }
	}
	if speak {
		x.out.first = comment
	}
	if st.name != "" && x.session.primes() {
		x.out.first = string(appendPriming(nil, st.name, 0, x.h.o.Retry))
	}
	x.stream = st
	st.mu.Lock()
	st.attach(x.out, nil)
	if x.listen && !x.until.IsZero() {
		st.expires = time.AfterFunc(time.Until(x.until), func() { x.stop(cancel.ErrClosing) }) // it is answered then
	}
	st.mu.Unlock()
}

// Notify implements mcp.Peer for requests without a session.
func (x *exchange) Notify(ctx context.Context, method string, params any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m, err := encodeMessage(0, method, params)
	if err != nil {
		return err
	}
	st, err := x.streamFor(false)
	switch {
	case err != nil:
		return err
	case st == nil:
		return jsonrpc2.ErrClosed
	}
	return st.push(ctx, m)
}

// Call implements mcp.Peer: without a session there is nobody to match the response.
func (x *exchange) Call(context.Context, string, any, any) error { return mcp.ErrNoSession }

// finish answers. out is what the server returned, nil if nothing is owed.
func (x *exchange) finish(out []byte) {
	status := http.StatusOK
	if x.era == modern || x.h.phase.Load() != open {
		out, status = x.settle(out)
	}
	x.h.waits.leave(&x.watched)
	x.mu.Lock()
	if x.state == undecided && x.accept.stream && !x.accept.json && status == http.StatusOK && out != nil {
		x.upgrade(false)
	}
	switch x.state {
	case undecided:
		x.state = answered
		x.answer, x.status = out, status
		x.mu.Unlock()
		if x.over != nil {
			close(x.over) // wait writes it
		} else {
			x.write()
		}
	case abandoned:
		x.state = answered
		x.mu.Unlock()
		if out != nil {
			x.h.report(x, fmt.Errorf("mcphttp: an answer was dropped: %w", ErrStreamLost))
		}
	default:
		st := x.stream
		x.state = answered
		x.mu.Unlock()
		if err := st.finish(out); err != nil {
			x.h.report(x, fmt.Errorf("mcphttp: an answer was dropped: %w", err))
		}
		if x.over == nil {
			<-x.out.done
		}
		if st.name != "" {
			x.session.retire(time.Time{})
		}
	}
}

// write writes an answer that is no stream.
func (x *exchange) write() {
	if x.answer == nil {
		accepted(x.w) // it was cancelled
		return
	}
	x.h.reply(x.w, x.line, x.status, x.answer)
	x.answer = nil // its memory is used again
}

var errTooLong = &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: "The request took too long"}

var errShuttingDown = &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: "Server shutting down"}

// settle chooses the status of an answer, and answers what a shutdown has cut off.
func (x *exchange) settle(out []byte) ([]byte, int) {
	code := mcp.AnswerCode(out)
	if x.id != "" && (out == nil || code == jsonrpc2.CodeInternalError) && x.cut() {
		if x.stream == nil {
			x.w.Header()["Retry-After"] = retryLater
		}
		return appendError(nil, x.id, errShuttingDown), http.StatusServiceUnavailable
	}
	if x.era != modern {
		return out, http.StatusOK
	}
	if out == nil && x.Context.Err() == nil {
		return appendError(nil, x.id, errTooLong), http.StatusOK // the client waits, Options.MaxRun does not
	}
	return out, modernStatus(code)
}

// cut reports whether a shutdown has cancelled the request.
func (x *exchange) cut() bool {
	cause := context.Cause(x.Context)
	if x.session != nil {
		x.session.mu.Lock()
		cause = x.session.ended
		x.session.mu.Unlock()
	}
	return errors.Is(cause, cancel.ErrClosing)
}

// modernStatus: the statuses that the revision names for what is found out this late. All else is 200, and may be a 403 of Protect's then.
func modernStatus(code jsonrpc2.Code) int {
	switch code {
	case mcp.CodeHeaderMismatch, mcp.CodeMissingCapability, mcp.CodeUnsupportedVersion:
		return http.StatusBadRequest
	case jsonrpc2.CodeMethodNotFound:
		return http.StatusNotFound
	}
	return http.StatusOK
}

// serve hands a payload to the server and answers with what comes back.
func (x *exchange) serve(p *post) {
	if x.accept.stream && !x.listen {
		x.owner = x
		x.h.waits.enter(&x.watched, time.Now())
	}
	var peer mcp.Peer
	if x.session == nil {
		peer = x
	}
	if !x.polls() {
		if p.lent = len(p.payload) > trusted; p.lent {
			p.m.Borrow()
		}
		buf := answerPool.Get().(*[]byte)
		dst := x.h.room((*buf)[:0])
		present := x.gone(p)
		out := x.h.observed(x, p.delivery(x.era, x.session, peer), p.line, p.unit, dst)
		present()
		x.finish(out)
		if cap(out) >= minStocked {
			x.h.stock.put(out)
		} else if cap(out) > cap(*buf) {
			*buf = out
		}
		x.h.note(len(out))
		answerPool.Put(buf)
		return
	}
	x.serveApart(p, peer)
}

// room returns where to put an answer: small, unless answers are large these days.
func (h *Handler) room(small []byte) []byte {
	if n := h.answer.Load(); n >= minStocked {
		if b := h.stock.get(int(n)); b != nil {
			return b
		}
	}
	return small
}

// note remembers how long an answer was, for room. One that is longer than what is kept says nothing of others.
func (h *Handler) note(n int) {
	if n > maxStocked {
		return
	}
	if before := h.answer.Load(); (before >= minStocked) != (n >= minStocked) || int64(n) > before && n >= minStocked {
		h.answer.Store(int64(n))
	}
}

// serveApart is serve where the stream may end before the function does, which must not be on the goroutine that has to return for that.
//
//go:noinline
func (x *exchange) serveApart(p *post, peer mcp.Peer) {
	x.over = make(chan struct{})
	x.h.active.Add(1)
	p.handed = true
	m := p.m
	d := p.delivery(x.era, x.session, peer)
	d.Message = &m
	unit := p.unit
	go func() {
		defer x.h.leave()
		defer x.session.leave(true)
		x.finish(x.h.observed(x, d, x.line, unit, nil))
	}()
	client := p.r.Context().Done()
	select {
	case <-x.over:
	case <-client:
		x.abandon()
		<-x.over
	}
	x.mu.Lock()
	plain := x.state == answered && x.stream == nil
	x.mu.Unlock()
	if plain {
		x.write()
	}
}

// overdue makes it a stream before there is anything to send, so that heartbeats flow.
func (x *exchange) overdue() { _, _ = x.streamFor(true) }

// abandon is called when the client has gone: the function goes on (MCP up to 2025-11-25: to disconnect is not to cancel), its answer is kept for a client
// that comes back, or dropped.
func (x *exchange) abandon() {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.state == undecided:
		x.state = abandoned
		close(x.over)
	case x.stream != nil:
		x.stream.mu.Lock()
		x.stream.detach(x.out)
		x.stream.mu.Unlock()
	}
}

// polls reports whether CloseStream can be called in it.
func (x *exchange) polls() bool {
	return x.h.o.Polling && x.accept.stream && x.session != nil && x.session.keeps()
}

// observed calls the server, with MaxRun, Reporter and Observe around it. unit is the number of the message on a line.
func (h *Handler) observed(ctx context.Context, d mcp.Delivery, l *line, unit uint64, dst []byte) (out []byte) {
	if h.o.MaxRun > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, h.o.MaxRun)
		defer stop()
	}
	if h.o.Reporter != nil {
		ctx = mcp.WithReporter(ctx, h.o.Reporter)
	}
	if h.o.Observe == nil && l == nil {
		return h.server.Deliver(ctx, d, dst)
	}
	start := time.Now()
	out = h.server.Deliver(ctx, d, dst)
	m := d.Message
	e := jsonrpc2.Event{
		Method: m.Method, ID: m.ID, Notification: m.Kind == jsonrpc2.KindNotification, Run: time.Since(start),
		In: len(m.Params), Out: len(out), Code: mcp.AnswerCode(out),
	}
	if h.o.Observe != nil {
		h.observe(e)
	}
	e.Unit = unit
	l.observe(e)
	return out
}

// observe calls Observe and survives it.
func (h *Handler) observe(e jsonrpc2.Event) {
	defer func() { _ = recover() }()
	h.o.Observe(e)
}
