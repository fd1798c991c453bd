package jsonrpc2

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/tandem-rpc/tandem/cancel"
)

// dispatch gives a task to another goroutine: to the lane, which keeps order, or to a worker, or to the queue of what waits for one.
func (c *Conn) dispatch(t *task) {
	if t.answer != nil && c.c.MaxPending <= 0 {
		c.answerDirectly(t)
		return
	}
	t.setID(t.id)
	if t.chunk != nil {
		t.chunk.retain()
		t.held = true
	}
	immediate := t.route != nil && t.route.order == Immediate
	inLane := !immediate && (t.route != nil && t.ordered() || c.laneN.Load() > 0)
	if !inLane && t.answer == nil {
		t.ctx = c.c.capture(t, &t.Request)
	}
	if c.c.Observe != nil {
		t.arrived = time.Now()
	}
	c.mu.Lock()
	if t.id != nil && c.c.MaxPending > 0 && c.inFlight >= c.c.MaxPending {
		t.answer = c.c.Overloaded
	}
	if t.answer != nil {
		c.mu.Unlock()
		t.release()
		c.answerDirectly(t)
		return
	}
	c.queued.Add(int64(t.size))
	if t.id != nil {
		c.list(t)
	}
	if immediate {
		c.workers++
		c.unqueue(t)
		go c.work(t)
	} else if inLane {
		c.lane.push(t)
		c.laneN.Add(1)
		if !c.laneOn {
			c.laneOn = true
			c.workers++
			go c.runLane(nil)
		}
	} else {
		c.start(t)
	}
	c.mu.Unlock()
	c.hand = true
}

var errOverload = &Error{Code: CodeOverloaded, Message: "Too many concurrent requests."}

func (t *task) ordered() bool {
	return t.route.order == Ordered || t.id == nil && t.route.method == "" // a notification of the fallback
}

func (c *Conn) answerDirectly(t *task) {
	if t.batch != nil {
		o := fixedOutcome(t.answer)
		t.setID(t.id)
		t.batch.settle(t, &o)
		return
	}
	c.answerNow(t)
}

// start gives a task to a new worker, or queues it. The lock is held.
func (c *Conn) start(t *task) {
	if c.running < c.c.MaxRunning && !c.w.full.Load() && c.ready.empty() {
		c.workers++
		c.occupy(t)
		go c.work(t)
		return
	}
	c.ready.push(t)
}

// occupy takes a slot for a task that starts now. The lock is held.
func (c *Conn) occupy(t *task) {
	c.running++
	t.slotted = true
	c.unqueue(t)
}

// unqueue notes that a task has started. The lock is held.
func (c *Conn) unqueue(t *task) {
	c.queued.Add(int64(-t.size))
	t.size = 0
	if c.paused {
		c.room.Broadcast()
	}
}

// work runs tasks until none is ready.
func (c *Conn) work(t *task) {
	growStack()
	for t != nil {
		c.runQueued(t)
		t = c.after(t)
	}
}

// growStack makes room for a handler while the stack of a new goroutine is still shallow: growing it step by step, deep inside a decoder, costs a
// multiple of that.
//
//go:noinline
func growStack() {
	var room [6 << 10]byte
	room[0] = 1
	runtime.KeepAlive(&room)
}

// runQueued runs a task on a worker or the lane, if it was not cancelled before.
func (c *Conn) runQueued(t *task) {
	if t.answer != nil {
		o := fixedOutcome(t.answer)
		c.send(t, &o, true)
		return
	}
	if !t.phase.CompareAndSwap(phaseQueued, phaseRunning) {
		t.release()
		return
	}
	start := time.Now()
	c.handle(t, start)
	t.release()
}

// after ends a worker's task and returns its next one, nil if there is none.
func (c *Conn) after(t *task) *task {
	c.mu.Lock()
	c.vacate(t)
	next := c.takeReady()
	if next == nil || next.route == nil || !next.route.trust.earned() {
		c.mu.Unlock()
		c.w.flush() // before going, and before running something that may take its time
		if next != nil {
			return next
		}
		c.mu.Lock()
		if next = c.takeReady(); next == nil {
			c.workers--
			c.signal()
		}
	}
	c.mu.Unlock()
	return next
}

// vacate takes a task that has ended out of all books. The lock is held.
func (c *Conn) vacate(t *task) {
	c.unlist(t)
	if t.slotted {
		t.slotted = false
		c.running--
	}
}

// takeReady returns the next task that may start now. The lock is held.
func (c *Conn) takeReady() *task {
	if c.ready.empty() || c.running >= c.c.MaxRunning || c.w.full.Load() {
		return nil
	}
	t := c.ready.pop()
	c.occupy(t)
	return t
}

// kick starts what can be started, after room was made.
func (c *Conn) kick() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		t := c.takeReady()
		if t == nil {
			return
		}
		c.workers++
		go c.work(t)
	}
}

// runLane handles what must be kept in order, until the lane is empty. t, if not nil, is a message of the lane that has been handled already.
func (c *Conn) runLane(t *task) {
	for {
		if t == nil {
			c.mu.Lock()
			t = c.lane.pop()
			inOrder := t.ordered()
			if inOrder {
				c.unqueue(t)
			}
			c.mu.Unlock()
			t.ctx = c.c.capture(t, &t.Request) // here is its place in the stream
			if inOrder {
				c.runQueued(t)
			}
		}
		if t.id != nil {
			c.w.flush()
		}
		c.mu.Lock()
		if t.ordered() {
			c.vacate(t)
		} else {
			c.start(t)
		}
		// One step under the lock: a reader that sees nothing in the lane must be right, and start a new runner or run things itself.
		last := c.lane.empty()
		if last {
			c.laneOn = false
			c.workers--
			c.signal()
		}
		c.laneN.Add(-1)
		c.mu.Unlock()
		if last {
			return
		}
		t = nil
	}
}

// handle runs a task's handler and sends its answer.
func (c *Conn) handle(t *task, start time.Time) {
	returned := false
	defer func() {
		if !returned { // the handler has ended this goroutine, as t.FailNow of a test does
			go c.resume(t, start)
		}
	}()
	v, err := run(t.route.h, t.ctx, &t.Request)
	returned = true
	c.conclude(t, start, v, err)
}

// conclude sends the answer of a task whose handler is done.
func (c *Conn) conclude(t *task, start time.Time, v any, err error) {
	if !start.IsZero() {
		t.route.trust.ran(time.Since(start))
	}
	in := len(t.params)
	t.long = nil // tasks of one slab keep each other
	var o outcome
	if t.id != nil {
		o = c.settle(t, v, err)
		c.send(t, &o, true)
	} else if err != nil {
		c.c.report(t.ctx, &t.Request, err)
	}
	t.end(&returned)
	if c.c.Observe != nil {
		c.c.observe(Event{
			Method: t.route.method, ID: ID{string(t.id)}, Unit: t.unit, Notification: t.id == nil, Queued: start.Sub(t.arrived), Run: time.Since(start),
			In: in, Out: len(o.body), Code: o.code,
		})
	}
	o.free()
}

// resume does for a handler that has ended its goroutine what that goroutine would have done next.
func (c *Conn) resume(t *task, start time.Time) {
	c.conclude(t, start, nil, errGoexit)
	switch {
	case t.inline && c.leave(t.role):
		c.held++
		c.read(t.role)
	case t.ordered():
		c.runLane(t)
	default:
		c.work(c.after(t))
	}
}

var errGoexit = errors.New("handler ended its goroutine with runtime.Goexit")

// settle decides the answer to a request of this connection.
func (c *Conn) settle(t *task, v any, err error) outcome {
	conv := t.peer.Load()
	if conv == nil && err != nil && c.base.Err() != nil && isContextError(err) {
		// The connection ends and the handler gave up, as it should: nothing to report.
		o := internalOutcome
		if spoken, ok := c.c.Cancel.Spoken(); ok && spoken.Code != 0 {
			o = fixedOutcome(&Error{Code: Code(spoken.Code), Message: spoken.Text()})
		}
		return o
	}
	return c.c.settle(t.ctx, &t.Request, conv, v, err, nil)
}

// settleUnstarted answers a request that was cancelled while it waited.
func (c *Conn) settleUnstarted(t *task, conv *cancel.Convention) {
	o := outcome{}
	if !conv.Silent {
		o = fixedOutcome(&Error{Code: Code(conv.Code), Message: conv.Text()})
	}
	c.mu.Lock()
	c.unlist(t)
	c.mu.Unlock()
	if t.batch != nil {
		t.batch.settle(t, &o)
		return
	}
	if o.member != nil {
		c.send(t, &o, false)
		c.held++ // only the reader cancels by a convention
	}
}

// send gives an answer to the writer, waiting for room if wait is set. An error there has ended, or will end, the connection.
func (c *Conn) send(t *task, o *outcome, wait bool) {
	switch {
	case t.batch != nil:
		t.batch.settle(t, o)
	case o.member == nil:
	case c.c.Tap != nil:
		c.write(o.appendResponse(make([]byte, 0, o.responseLen(t.id)), t.id), wait)
	case wait:
		_ = c.w.append(context.Background(), openObject, t.id, o.member, o.body, closeObject)
	default:
		_ = c.w.appendNow(openObject, t.id, o.member, o.body, closeObject)
	}
}

// write is send for a whole message.
func (c *Conn) write(message []byte, wait bool) {
	c.c.outbound(message)
	if wait {
		_ = c.w.append(context.Background(), message) // the end of the connection wakes who waits
		return
	}
	_ = c.w.appendNow(message)
}

// batch gathers the answers to a batch of the other side.
type batch struct {
	conn    *Conn
	answers []entry
	open    atomic.Int32 // requests without an answer, and 1 while the batch is being read
}

// settle notes the answer to a request of the batch; the last one sends all.
func (b *batch) settle(t *task, o *outcome) {
	b.answers[t.slot] = entry{&t.Request, outcome{member: o.member, body: append([]byte(nil), o.body...), code: o.code}}
	b.closeOne(false)
}

func (b *batch) closeOne(reader bool) {
	if b.open.Add(-1) > 0 {
		return
	}
	c := b.conn
	text := c.c.appendBatch(c.base, nil, b.answers)
	if len(text) == 0 {
		return
	}
	c.write(text, !reader)
	if reader {
		c.held++
	}
}
