package jsonrpc2

import "time"

// The reader role is held by one goroutine at a time. Its holder may run a handler itself, which saves two switches between goroutines, if the method
// has earned that (trust.go). While it runs foreign code, a handler or a write, the role can be stolen from it: a new goroutine reads on, and the old
// holder finds out when it comes back, then goes on as the worker, or lane runner, that it has become. So a handler never holds the connection up
// for longer than two ticks of the monitor, and one that waits for its context, or for an outbound call, not at all.
//
// The role word is a number that grows with each stretch of foreign code, times two, plus one during the stretch. Whoever changes it from odd decides
// who holds the role: the holder back to even, or a thief to the next even number.
const foreign uint64 = 1

const (
	tick      = 500 * time.Microsecond // of the monitor
	idleTicks = 20                     // after so many without foreign code the monitor goes
	sample    = 8                      // one of so many runs on the reader is timed
)

// mayRunHere reports whether a task may run on the goroutine that reads: nothing before it waits to be kept in order, and its method is quick.
func (c *Conn) mayRunHere(t *task) bool {
	return t.route != nil && t.route.trust.earned() && c.laneN.Load() == 0 && c.c.MaxPending <= 0 && !c.stuck.Load() && !c.w.full.Load()
}

// runHere runs a task on the goroutine that reads. It returns false when the role was stolen meanwhile; then this goroutine has nothing to do any more.
func (c *Conn) runHere(t *task, v uint64, size int) (uint64, bool) {
	v += 2
	t.size = 0
	t.inline, t.role = true, v
	t.phase.Store(phaseRunning)
	t.ctx = c.c.capture(t, &t.Request)
	var start time.Time
	if v/2%sample == 0 {
		start = time.Now()
	}
	if c.c.Observe != nil {
		t.arrived = time.Now()
		start = t.arrived
	}
	held := t.chunk // a thief takes a reference to it
	c.enter(t, v)
	c.handle(t, start)
	if !c.leave(v) {
		if held != nil {
			c.mu.Lock() // the thief swaps the role word before it takes the reference, both under the lock
			held.release()
			c.mu.Unlock()
		}
		if t.ordered() {
			c.runLane(t)
		} else {
			c.work(c.after(t))
		}
		return v, false
	}
	if t.id == nil {
		return v, true
	}
	c.held++
	if c.held < c.lot && c.w.size() < flushSize && c.in.buffered() > 0 {
		return v, true
	}
	c.lot = nextLot(c.in.buffered() / size)
	return c.flushHeld(v)
}

// flushHeld writes the answers of the burst so far.
func (c *Conn) flushHeld(v uint64) (uint64, bool) {
	c.held = 0
	v += 2
	c.enter(nil, v)
	c.w.flush()
	if c.leave(v) {
		return v, true
	}
	c.stuck.Store(false)
	c.mu.Lock()
	next := c.takeReady()
	if next == nil {
		c.workers--
		c.signal()
	}
	c.mu.Unlock()
	c.work(next)
	return v, false
}

// enter begins a stretch of foreign code.
func (c *Conn) enter(t *task, v uint64) {
	c.cur = t
	c.role.Store(v | foreign)
	if c.monitors.Load() == 0 && c.monitors.CompareAndSwap(0, 1) {
		go c.monitor()
	}
}

// leave ends it. It returns false if the role was stolen.
func (c *Conn) leave(v uint64) bool { return c.role.CompareAndSwap(v|foreign, v) }

// stealing, if a test sets it, runs between the two steps of a theft.
var stealing func(*task)

// steal takes the role from the goroutine that entered foreign code with the role word v, if it is still there, and starts another reader. What that
// one runs is entered into the books as if it had been dispatched.
func (c *Conn) steal(v uint64) bool {
	c.mu.Lock() // before the swap, or the old holder could leave before it was entered
	if v&foreign == 0 || !c.role.CompareAndSwap(v, v+1) {
		c.mu.Unlock()
		return false
	}
	t := c.cur
	if stealing != nil {
		stealing(t)
	}
	c.workers++
	switch {
	case t == nil:
		c.stuck.Store(true)
	case t.ordered():
		c.laneOn = true
		c.laneN.Add(1)
	default:
		c.running++
		t.slotted = true
	}
	if t != nil {
		if t.chunk != nil {
			t.chunk.retain()
		}
		if t.id != nil {
			t.key = t.id
			if !idKeyIsRaw(t.id) {
				t.key = appendIDKey(nil, t.id)
			}
			c.list(t)
		}
		if !c.w.busyNow() { // a handler that waits because the peer does not read is not slow
			t.route.trust.stalled()
		}
		c.held = max(c.held, 1) // what it has answered before may wait to be written
	}
	c.mu.Unlock()
	go c.read(v + 1)
	return true
}

// monitor steals the role from whoever is in one stretch of foreign code at two ticks. It goes when there has been none for a while.
func (c *Conn) monitor() {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	var seen uint64
	for idle := 0; ; {
		select {
		case <-ticker.C:
		case <-c.done:
			return
		}
		switch v := c.role.Load(); {
		case v&foreign != 0 && v == seen:
			c.steal(v)
			idle = 0
		case v != seen:
			seen, idle = v, 0
		default:
			idle++
		}
		if idle < idleTicks {
			continue
		}
		c.monitors.Store(0)
		if c.role.Load()&foreign == 0 || !c.monitors.CompareAndSwap(0, 1) {
			return
		}
		idle = 0
	}
}
