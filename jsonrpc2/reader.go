package jsonrpc2

import (
	"errors"
	"io"
	"runtime"

	"github.com/tandem-rpc/tandem/cancel"
)

// maxBad is how many units in a row that cannot be parsed are answered: two peers that answer each other's garbage must come to an end.
const maxBad = 100

// read is the reader role: it takes messages out of the input until that ends, the connection does, or the role is stolen while a handler or a write
// keeps this goroutine. v is the role word, which only a thief changes meanwhile.
//
//	frame ► Tap ► scan ─┬─ response ► pending call
//	                    ├─ cancellation ► context of the request
//	                    └─ request, notification ► Admit ─┬─ here, if the method has earned it   (inline.go)
//	                                                      └─ lane, worker or ready queue         (schedule.go)
func (c *Conn) read(v uint64) {
	for {
		if c.over() {
			c.stopReading()
			return
		}
		frame, ok, err := c.in.next()
		switch {
		case ok:
			c.unit++
			if v, ok = c.take(frame, v); !ok {
				return
			}
			continue
		case err != nil:
			m, ok := errors.AsType[*MessageError](err)
			if !ok {
				c.finish(err, endLinger)
				c.stopReading()
				return
			}
			c.unit++
			c.c.inbound(nil)
			c.refuse(nil, &Error{Code: m.Code, Message: m.Reason, cause: m}, m.Detail)
			continue
		}
		if c.hand { // a blocking read keeps the processor from those who got work
			c.hand = false
			runtime.Gosched()
		}
		if c.held > 0 {
			if v, ok = c.flushHeld(v); !ok {
				return
			}
		}
		c.lot = 1
		if c.queued.Load() >= int64(c.c.MaxQueued) {
			c.waitForRoom()
		}
		c.reading.Store(0)
		if c.over() {
			c.signal()
			return
		}
		err = c.in.fill()
		c.reading.Store(1)
		if err != nil && !c.over() {
			if err == io.EOF {
				err = nil
			}
			c.finish(err, endLinger)
		}
	}
}

// stopReading gives the reader role up for good.
func (c *Conn) stopReading() {
	c.reading.Store(0)
	c.signal()
}

// take handles one frame. It returns false when the role was lost on the way.
func (c *Conn) take(frame []byte, v uint64) (uint64, bool) {
	c.c.inbound(frame)
	e := &c.env
	isBatch, err := scanFor(frame, c.c.MaxDepth, e, c.c.LongStrings)
	long := e.long
	e.long = nil // the connection does not keep them
	if err != nil {
		c.refuse(nil, ErrParse, err.Error())
		return v, true
	}
	if isBatch {
		c.takeBatch(frame, e.entries)
		return v, true
	}
	switch e.kind {
	case kindResponse:
		c.bad = 0
		c.deliver(e)
		return v, true
	case kindInvalid:
		if !c.deliverInvalid(e) {
			c.refuse(e.id, ErrInvalidRequest, e.bad)
		}
		return v, true
	}
	c.bad = 0
	t := c.newTask(e, len(frame))
	if t == nil {
		return v, true
	}
	t.long = long
	for i := range long {
		t.size += len(long[i].text)
	}
	if c.mayRunHere(t) {
		return c.runHere(t, v, len(frame))
	}
	c.dispatch(t)
	return v, true
}

// newTask makes a task of the message in e: with an answer if it is refused, with a route if not. It returns nil when there is nothing to do.
func (c *Conn) newTask(e *envelope, size int) *task {
	if len(c.slab) == 0 {
		c.slab = make([]task, slabSize)
	}
	t := &c.slab[0]
	method := e.method
	if e.methodEscaped {
		method = AppendUnquoted(nil, method)
	}
	request := e.kind == kindRequest
	t.route = c.mux.route(method, request)
	if t.route != nil && t.route.method != "" {
		t.Method = t.route.method
	} else {
		t.Method = string(method)
	}
	t.conn, t.ctx, t.size, t.unit = c, t, size+taskSize, c.unit
	t.id, t.params, t.codec = e.id, e.params, c.c.codec
	t.chunk = c.in.chunk()
	c.slab = c.slab[1:]

	if c.c.Admit != nil {
		if err := c.c.guard(func() error { return c.c.Admit(t, &t.Request) }); err != nil {
			t.route, t.answer = nil, c.c.refusalOf(t, &t.Request, err)
		}
	}
	switch {
	case request:
		if t.route == nil && t.answer == nil {
			t.answer = ErrMethodNotFound
		}
		return t
	case t.answer != nil:
		return nil
	}
	if conv, ok := c.c.Cancel.Lookup(method); ok {
		if raw, ok := conv.ID(e.params); ok {
			c.cancelInbound(raw, conv, cancel.ByPeer{Method: conv.Method, Reason: conv.Why(e.params)})
		}
		return nil
	}
	if t.route == nil {
		return nil
	}
	return t
}

const (
	slabSize = 32
	taskSize = 400 // what a waiting message costs beside its own bytes
)

// refuse answers a unit that is not a message, with the id if it had one.
func (c *Conn) refuse(id []byte, e *Error, reason string) {
	if id == nil {
		c.bad++
		if c.bad > maxBad {
			if c.bad == maxBad+1 {
				c.c.report(c.base, nil, &UnitError{Reason: "too many in a row, no more are answered: " + reason})
			}
			return
		}
	}
	c.c.report(c.base, nil, &UnitError{Reason: reason, cause: e.cause})
	if id == nil && c.mux.empty() {
		return
	}
	c.answerNow(&task{Request: Request{id: orNull(id)}, conn: c, answer: e})
}

// answerNow sends the answer a task has had from the start. When the peer does not read it is queued like the rest.
func (c *Conn) answerNow(t *task) {
	if c.w.full.Load() {
		t.id = append([]byte(nil), t.id...)
		t.chunk, t.params = nil, nil
		t.size = len(t.id) + taskSize
		c.mu.Lock()
		c.queued.Add(int64(t.size))
		c.ready.push(t)
		c.mu.Unlock()
		return
	}
	o := fixedOutcome(t.answer)
	c.send(t, &o, false)
	c.held++
}

// takeBatch handles a batch.
func (c *Conn) takeBatch(frame []byte, n int) {
	responses, refused := c.c.judgeBatch(c.base, frame, n)
	if refused != nil {
		c.refuse(nil, refused, "batch refused")
		return
	}
	c.bad = 0
	e := &c.env
	if responses {
		scanBatch(frame, e, func() bool {
			switch {
			case e.kind == kindResponse:
				c.deliver(e)
			case !c.deliverInvalid(e):
				c.c.report(c.base, nil, errBatchDropped)
			}
			return true
		})
		return
	}
	b := &batch{conn: c, answers: make([]entry, n)}
	b.open.Store(1)
	i := -1
	scanBatch(frame, e, func() bool {
		i++
		switch {
		case e.kind == kindResponse:
			c.deliver(e)
			return true
		case e.kind == kindInvalid && c.deliverInvalid(e):
			return true
		case e.kind == kindInvalid:
			c.c.report(c.base, nil, &UnitError{Reason: e.bad})
			b.answers[i] = entry{&Request{id: append([]byte(nil), orNull(e.id)...)}, fixedOutcome(ErrInvalidRequest)}
			return true
		}
		t := c.newTask(e, len(e.raw))
		if t == nil {
			return true
		}
		if t.id != nil {
			t.batch, t.slot = b, i
			b.open.Add(1)
		}
		c.dispatch(t)
		return true
	})
	b.closeOne(true)
}
