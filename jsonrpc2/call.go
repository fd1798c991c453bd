package jsonrpc2

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
)

// Pending is an outbound request that waits for its response. Its methods may be called from any goroutine.
type Pending struct {
	conn   *Conn
	id     int64 // 0: never sent
	method string
	stop   atomic.Pointer[func() bool] // ends the watch over the caller's context

	once   sync.Once
	done   chan struct{}
	result json.RawMessage
	err    error
}

// ID returns the id the request was sent with, the zero ID if it was not sent.
func (p *Pending) ID() ID {
	if p.id == 0 {
		return ID{}
	}
	return NumberID(p.id)
}

// Done is closed when the outcome is known.
func (p *Pending) Done() <-chan struct{} { return p.done }

// Wait waits for the outcome and decodes the result into result; nil drops it. The error is the other side's *[Error], the error of the context the
// request was made with, [ErrInvalidResponse], [ErrClosed] or [ErrOverloaded], or that of decoding.
func (p *Pending) Wait(result any) error {
	raw, err := p.Result()
	if err != nil || result == nil {
		return err
	}
	if r, ok := result.(*json.RawMessage); ok {
		*r = raw
		return nil
	}
	if err := p.conn.c.codec.Unmarshal(raw, result); err != nil {
		return fmt.Errorf("jsonrpc2: result of %q: %w", p.method, err)
	}
	return nil
}

// Result is [Pending.Wait] without decoding. The bytes are the same for all callers.
func (p *Pending) Result() (json.RawMessage, error) {
	<-p.done
	return p.result, p.err
}

// Cancel gives the request up: its outcome is context.Canceled if it was open, and the other side is told by the convention the connection speaks
// ([Options.Cancel]), if any. A response that comes later is dropped.
func (p *Pending) Cancel() { p.retire(context.Canceled, "") }

func (p *Pending) settle(result json.RawMessage, err error) {
	p.once.Do(func() {
		p.result, p.err = result, err
		close(p.done)
	})
	if stop := p.stop.Load(); stop != nil {
		(*stop)()
	}
}

func (p *Pending) fail(err error) { p.settle(nil, err) }

// retire ends the wait with err. The first outcome wins: whoever takes the call out of the table decides it.
func (p *Pending) retire(err error, reason string) {
	c := p.conn
	c.mu.Lock()
	_, open := c.calls[p.id]
	delete(c.calls, p.id)
	c.mu.Unlock()
	if !open {
		return
	}
	p.fail(err)
	conv, ok := c.c.Cancel.Spoken()
	if !ok || conv.Exempts(p.method) {
		return
	}
	text := message(nil, conv.Method, conv.Params(strconv.AppendInt(nil, p.id, 10), reason))
	c.write(text, false) // without waiting: the caller is done
	go c.w.flush()
}

// message makes a request, or with a nil id a notification (JSON-RPC 2.0 section 4).
func message(id []byte, method string, params []byte) []byte {
	b := make([]byte, 0, 64+len(method)+len(params))
	b = append(b, `{"jsonrpc":"2.0",`...)
	if id != nil {
		b = append(append(append(b, `"id":`...), id...), ',')
	}
	name, _ := marshalJSON(method) // a string always encodes
	b = append(append(b, `"method":`...), name...)
	if params != nil {
		b = append(append(b, `,"params":`...), params...)
	}
	return append(b, '}')
}

// Call sends a request and waits for its response (JSON-RPC 2.0 section 5), decoded into result, a pointer; nil drops it and a *json.RawMessage takes
// it as it is. params must encode as an object or array; nil sends none. [Conn.Serve] must be running for the response to be read.
//
// The deadline and end of ctx are the call's: when it ends first, Call returns its error at once, the other side is told by the convention the
// connection speaks, if any, and a response that comes later is dropped. A handler may always call: responses never queue behind requests, and while
// it waits its place among [Options.MaxRunning] is free for another. For the errors see [Pending.Wait].
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	p, text, err := c.open(ctx, method, params)
	if err != nil {
		return err
	}
	defer c.stepAside(ctx)()
	if err := c.post(ctx, text, p); err != nil {
		return err
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		p.retire(ctx.Err(), reasonOf(ctx))
	}
	return p.Wait(result)
}

// Go is [Conn.Call] without waiting: the Pending it returns has the outcome. The end of ctx gives the request up.
func (c *Conn) Go(ctx context.Context, method string, params any) *Pending {
	p, text, err := c.open(ctx, method, params)
	if err == nil {
		err = c.post(ctx, text, p)
	}
	if err != nil {
		return c.failed(method, err)
	}
	p.watch(ctx)
	return p
}

// Notify sends a notification (JSON-RPC 2.0 section 4.1), with params as for [Conn.Call]. It returns when the message was handed to the writer, waiting,
// until ctx ends, while more than [Options.MaxUnsent] bytes are before it. What a handler notifies before it returns reaches the wire before its answer,
// also when the connection is ending and the handler goes on for a while; all others get [ErrClosed] then.
func (c *Conn) Notify(ctx context.Context, method string, params any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	raw, err := c.c.encodeParams(params)
	if err != nil {
		return err
	}
	if c.draining.Load() {
		if t := taskFrom(ctx); t == nil || t.conn != c {
			return c.closed()
		} // a handler that goes on after the end of the input may still say how far it has come
	}
	return c.post(ctx, message(nil, method, raw))
}

// Entry is one message of an outbound batch.
type Entry struct {
	Method       string
	Params       any             // as for Conn.Call
	Notification bool            // no response is wanted
	Context      context.Context // ends the wait for this request alone; nil: that of the batch
}

// Batch sends entries as one batch (JSON-RPC 2.0 section 6) and returns a [Pending] for each request, in order, none for notifications. Responses may
// come as an array or one by one. A request whose context has ended already is left out, and its Pending says so; if nothing is left nothing is sent.
// An error, [ErrBatchSize], [ErrParams], [ErrTooLarge] or [ErrClosed], means that nothing was sent.
func (c *Conn) Batch(ctx context.Context, entries ...Entry) ([]*Pending, error) {
	if len(entries) == 0 || len(entries) > c.c.MaxBatch {
		return nil, fmt.Errorf("%w: %d entries", ErrBatchSize, len(entries))
	}
	params := make([][]byte, len(entries))
	for i, e := range entries {
		if e.over(ctx) != nil {
			continue
		}
		var err error
		if params[i], err = c.c.encodeParams(e.Params); err != nil {
			return nil, fmt.Errorf("entry %d, %q: %w", i, e.Method, err)
		}
	}
	var calls, sent []*Pending
	text := []byte{'['}
	for i, e := range entries {
		if err := e.over(ctx); err != nil {
			if !e.Notification {
				calls = append(calls, c.failed(e.Method, err))
			}
			continue
		}
		var id []byte
		if !e.Notification {
			p, err := c.register(e.Method)
			if err != nil {
				c.drop(sent)
				return nil, err
			}
			calls, sent = append(calls, p), append(sent, p)
			id = strconv.AppendInt(nil, p.id, 10)
		}
		text = append(append(text, message(id, e.Method, params[i])...), ',')
	}
	if len(text) == 1 {
		return calls, nil
	}
	text[len(text)-1] = ']'
	if err := c.post(ctx, text, sent...); err != nil {
		return nil, err
	}
	n := 0
	for _, e := range entries {
		if e.Notification {
			continue
		}
		if p := calls[n]; p.id != 0 {
			p.watch(e.context(ctx))
		}
		n++
	}
	return calls, nil
}

func (e Entry) context(ctx context.Context) context.Context {
	if e.Context != nil {
		return e.Context
	}
	return ctx
}

func (e Entry) over(ctx context.Context) error { return e.context(ctx).Err() }

// open makes a request ready to be sent.
func (c *Conn) open(ctx context.Context, method string, params any) (*Pending, []byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	raw, err := c.c.encodeParams(params)
	if err != nil {
		return nil, nil, err
	}
	p, err := c.register(method)
	if err != nil {
		return nil, nil, err
	}
	return p, message(strconv.AppendInt(nil, p.id, 10), method, raw), nil
}

// register gives a request its id and its place among those that wait.
func (c *Conn) register(method string) (*Pending, error) {
	p := &Pending{conn: c, method: method, done: make(chan struct{})}
	c.mu.Lock()
	if c.phase != phaseOpen {
		c.mu.Unlock()
		return nil, c.closed()
	}
	c.lastID++
	p.id = c.lastID
	c.calls[p.id] = p
	if c.paused {
		c.room.Broadcast() // its response must be read
	}
	c.mu.Unlock()
	return p, nil
}

// drop takes requests that could not be sent out of the table.
func (c *Conn) drop(calls []*Pending) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range calls {
		delete(c.calls, p.id)
	}
}

// post hands a message to the writer and writes. If that fails the calls in it are dropped.
func (c *Conn) post(ctx context.Context, text []byte, calls ...*Pending) error {
	var err error
	if len(text) > c.c.MaxFrame {
		err = fmt.Errorf("%w: %d bytes", ErrTooLarge, len(text))
	} else {
		c.c.outbound(text)
		err = c.w.append(ctx, text)
	}
	if err == nil {
		c.w.flush()
		return nil
	}
	c.drop(calls)
	if ctx.Err() == nil && c.draining.Load() && !errors.Is(err, ErrTooLarge) {
		return c.closed()
	}
	return err
}

// failed is a call that never was.
func (c *Conn) failed(method string, err error) *Pending {
	p := &Pending{conn: c, method: method, done: make(chan struct{})}
	p.fail(err)
	return p
}

// watch gives the call up when ctx ends.
func (p *Pending) watch(ctx context.Context) {
	if ctx.Done() == nil {
		return
	}
	stop := context.AfterFunc(ctx, func() { p.retire(ctx.Err(), reasonOf(ctx)) })
	p.stop.Store(&stop)
	select {
	case <-p.done:
		stop()
	default:
	}
}

// stepAside frees the slot of the handler that ctx belongs to, and the reader if it runs there, until the function it returns is called.
func (c *Conn) stepAside(ctx context.Context) func() {
	t := taskFrom(ctx)
	if t == nil || t.conn != c {
		return func() {}
	}
	if t.inline {
		c.steal(t.role | foreign)
	}
	c.mu.Lock()
	t.waiting++
	handed := t.waiting == 1 && t.slotted
	if handed {
		t.slotted = false
		c.running--
	}
	c.mu.Unlock()
	if handed {
		c.kick()
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		t.waiting--
		if handed { // beyond MaxRunning for a while, rather than to wait with a result in hand
			t.slotted = true
			c.running++
		}
	}
}

func reasonOf(ctx context.Context) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return "deadline exceeded"
	}
	return ""
}
