package jsonrpc2

import (
	"context"
	"errors"
	"time"
)

// Dispatcher answers payloads: bytes in, bytes out. It has no connection, keeps nothing between payloads and starts no goroutine for a single
// message, so it serves any transport that pairs a request with a response, HTTP for one. It is safe for concurrent use.
//
// Of [Options] it uses Codec, Cancel (a cancellation reaches the requests of its own batch), Report, Admit, AdmitBatch, Capture, Observe, MaxBatch,
// MaxFrame, MaxDepth, LongStrings and MaxRunning (of one batch).
type Dispatcher struct {
	mux *Mux
	c   *config
}

// NewDispatcher returns a Dispatcher for the handlers of m. A nil m has none; a nil o is the zero Options.
func NewDispatcher(m *Mux, o *Options) *Dispatcher {
	if m == nil {
		m = NewMux()
	}
	return &Dispatcher{mux: m, c: o.config()}
}

// Mux returns the handlers.
func (d *Dispatcher) Mux() *Mux { return d.mux }

// MaxBatch returns how many entries a batch may have; 0 if batches are refused.
func (d *Dispatcher) MaxBatch() int { return max(d.c.MaxBatch, 0) }

// Handle answers one payload, a message or a batch (JSON-RPC 2.0 sections 4 to 6), and returns nil when no answer is owed. It returns when all
// handlers have returned. The entries of a batch are taken in order: a notification is handled before what follows it, requests run side by side;
// their answers stand in the order of the requests. payload must not change while Handle runs, nor afterwards if a handler keeps its params.
func (d *Dispatcher) Handle(ctx context.Context, payload []byte) []byte {
	var e envelope
	if len(payload) > d.c.MaxFrame {
		m := tooLarge(d.c.MaxFrame)
		return refusal(nullID, &Error{Code: m.Code, Message: m.Reason})
	}
	batch, err := scanFor(payload, d.c.MaxDepth, &e, d.c.LongStrings)
	if err != nil {
		d.c.report(ctx, nil, &UnitError{Reason: err.Error()})
		return refusal(nullID, ErrParse)
	}
	if batch {
		return d.handleBatch(ctx, payload, e.entries)
	}
	return d.single(ctx, &e, "", nil, nil)
}

// HandleInspected is Handle for a payload that [Inspect] has looked at, which is not looked at again. The answer, if one is owed, is appended to dst, which may
// be nil; the result is nil if none is.
func (d *Dispatcher) HandleInspected(ctx context.Context, m *Message, dst []byte) []byte {
	if m.payload == nil || m.depth > d.c.MaxDepth || len(m.payload) > d.c.MaxFrame || m.Kind == KindBatch {
		if m.hold != nil {
			m.hold.keep()
		}
		out := d.Handle(ctx, m.payload)
		if out == nil || dst == nil {
			return out
		}
		return append(dst, out...)
	}
	return d.single(ctx, &m.e, m.Method, m.hold, dst)
}

// single answers a payload that is one message. name is its method, if that was decoded already.
func (d *Dispatcher) single(ctx context.Context, e *envelope, name string, hold *chunk, dst []byte) []byte {
	switch e.kind {
	case kindResponse:
		d.c.report(ctx, nil, errStrayResponse)
		return nil
	case kindInvalid:
		d.c.report(ctx, nil, &UnitError{Reason: e.bad})
		return append(dst, refusal(orNull(e.id), ErrInvalidRequest)...)
	}
	if name == "" {
		name = methodName(e)
	}
	m := &dispatched{Context: ctx, Request: Request{Method: name, id: e.id, params: e.params, codec: d.c.codec, chunk: hold, long: e.long}}
	return d.one(m, dst)
}

func orNull(id []byte) []byte {
	if id == nil {
		return nullID
	}
	return id
}

// refusal is a response made of an error of ours.
func refusal(id []byte, err *Error) []byte {
	o := fixedOutcome(err)
	return o.appendResponse(nil, id)
}

// dispatched is a message on its way through a dispatcher, and the context that its handler gets.
type dispatched struct {
	context.Context
	Request
	scoped *scoped // of one in a batch that can be cancelled
}

// Value implements context.Context.
func (m *dispatched) Value(key any) any {
	if key == (requestKey{}) {
		return &m.Request
	}
	return m.Context.Value(key)
}

func methodName(e *envelope) string {
	if e.methodEscaped {
		return Unquote(e.method)
	}
	return string(e.method)
}

// one answers a single request or notification. The answer is appended to dst.
func (d *Dispatcher) one(m *dispatched, dst []byte) []byte {
	r := &m.Request
	route, refused := d.admit(m.Context, r, nil)
	switch {
	case refused != nil && !r.IsNotification():
		o := fixedOutcome(refused)
		return o.appendResponse(dst, r.id)
	case route == nil:
		return nil
	}
	o := d.run(m, route, dst)
	if o.member == nil {
		return nil
	}
	defer o.free()
	return o.appendResponse(dst, r.id)
}

// admit finds the handler of a message, or the error that refuses it; neither for a notification that nobody wants.
func (d *Dispatcher) admit(ctx context.Context, r *Request, scope *scope) (*route, *Error) {
	if d.c.Admit != nil {
		if err := d.c.guard(func() error { return d.c.Admit(ctx, r) }); err != nil {
			return nil, d.c.refusalOf(ctx, r, err)
		}
	}
	if r.IsNotification() {
		if conv, ok := d.c.Cancel.LookupString(r.Method); ok {
			scope.cancel(conv, r.params)
			return nil, nil
		}
	}
	route := d.mux.route([]byte(r.Method), !r.IsNotification())
	if route == nil && !r.IsNotification() {
		return nil, ErrMethodNotFound
	}
	return route, nil
}

// run calls a handler and encodes its answer, at the end of dst if that is not nil. The outcome is empty if none is owed.
func (d *Dispatcher) run(m *dispatched, route *route, dst []byte) (o outcome) {
	r := &m.Request
	ctx := d.c.capture(m, r)
	var start time.Time
	if d.c.Observe != nil {
		start = time.Now()
	}
	v, err := run(route.h, ctx, r)
	switch {
	case r.IsNotification():
		if err != nil {
			d.c.report(ctx, r, err)
		}
	case m.scoped != nil:
		o = d.c.settle(ctx, r, m.scoped.conv.Load(), v, err, dst)
	default:
		o = d.c.settle(ctx, r, nil, v, err, dst)
	}
	if d.c.Observe != nil {
		d.c.observe(Event{Method: route.method, ID: ID{string(r.id)}, Notification: r.IsNotification(), Run: time.Since(start), In: len(r.params), Out: len(o.body), Code: o.code})
	}
	return o
}

// refusalOf is the error a hook refuses a message with: its own if it is an *Error, else an Internal error, and then it is reported.
func (c *config) refusalOf(ctx context.Context, r *Request, err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok && e != nil && (e.Data == nil || validValue(e.Data, c.MaxDepth)) {
		return e
	}
	c.report(ctx, r, err)
	return ErrInternal
}
