package jsonrpc2

import (
	"context"
	"time"

	"github.com/tandem-rpc/tandem/cancel"
)

// ending is how patiently a connection ends.
type ending uint8

const (
	endLinger ending = iota // handlers go on for Options.Linger
	endGently               // handlers go on until Shutdown's context ends
	endCancel               // handlers are cancelled, their answers still written
	endNow                  // handlers are cancelled, what waits is written, the transport closed
	endDeaf                 // the output is broken, the input is still read: as endLinger, with little time (deaf.go)
)

// Serve reads messages and runs their handlers until the connection ends: the input does, [Conn.Close] or [Conn.Shutdown] is called, ctx ends, or
// reading or writing fails. It can be called once, and is what makes calls of one's own be answered. Handlers' contexts carry the values of ctx.
//
// At the end outbound calls fail with [ErrClosed]; what was received runs on for [Options.Linger] before its contexts end with cause
// [cancel.ErrClosing]; answers are written; the transport is closed. Serve returns when all handlers have returned, a read that cannot be interrupted
// does not hold it back. The error is nil for the end of the input and for Close and Shutdown, the cause of ctx's end, or what broke: a *[FrameError] if
// message boundaries were lost, and then nothing was written about it.
//
// When writing fails, other than by [Options.WriteTimeout], what the peer has sent before is still read and handled, for a second at most: it may hold
// the message at which a handler calls Close. Until then calls fail with [ErrClosed], and answers are dropped.
func (c *Conn) Serve(ctx context.Context) error {
	c.mu.Lock()
	switch {
	case c.served:
		c.mu.Unlock()
		return ErrServing
	case c.phase != phaseOpen:
		c.mu.Unlock()
		return ErrClosed
	}
	c.served = true
	c.base, c.endBase = context.WithCancelCause(context.WithoutCancel(ctx))
	c.reading.Store(1)
	c.mu.Unlock()
	stop := context.AfterFunc(ctx, func() { c.finish(context.Cause(ctx), endCancel) })
	defer stop()
	go c.read(0)

	<-c.closing
	c.end()
	c.mu.Lock()
	c.phase = phaseClosed
	c.mu.Unlock()
	err := c.verdict()
	if c.c.OnClose != nil {
		_ = c.c.guard(func() error { c.c.OnClose(c, err); return nil })
	}
	close(c.done)
	return err
}

// finish begins the end of the connection, or makes it hastier. The first cause stays.
func (c *Conn) finish(cause error, how ending) {
	c.mu.Lock()
	first := c.phase == phaseOpen
	var calls map[int64]*Pending
	if how == endDeaf && first && c.served {
		c.broken, cause = cause, nil
		c.deaf.Store(true) // before draining, or the reader would stop
		how = endLinger
	} else {
		how = min(how, endNow)
		c.shut = c.shut || cause == nil && how > endLinger
		c.stopHearing()
	}
	if first {
		c.phase, c.cause = phaseDrain, cause
		c.draining.Store(true)
		calls, c.calls = c.calls, nil
		close(c.closing)
	}
	lost := !first && cause != nil && c.cause == nil && c.broken == nil && c.how < endNow // the input had ended, and now the answers cannot be written
	if first || how > c.how {
		c.how = how
	}
	hurry := how >= endCancel
	if hurry {
		select {
		case <-c.hurry:
		default:
			close(c.hurry)
		}
	}
	served := c.served
	c.mu.Unlock()
	if lost {
		c.reportLost(cause)
	}
	for _, p := range calls {
		p.fail(c.closed())
	}
	c.signal()
	if first && !served {
		c.endBase(cancel.ErrClosing)
		c.w.stop(c.closed())
		_ = c.t.Close() // nobody is left to hear
		close(c.done)
	}
}

// closed is the error of what is tried on an ended connection.
func (c *Conn) closed() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.cause != nil:
		return &closedError{c.cause}
	case c.broken != nil:
		return &closedError{c.broken}
	}
	return ErrClosed
}

// end brings everything to rest and closes the transport.
func (c *Conn) end() {
	c.mu.Lock()
	broken := c.broken != nil
	c.mu.Unlock()
	how := c.patience()
	if broken && how == endLinger {
		c.hear()
		how = c.patience()
	}
	if how == endGently || how == endLinger && !broken {
		c.linger(how)
	}
	how = c.patience()
	if how == endNow { // before handlers learn of it: whether a quick one's answer gets through must not depend on chance
		c.w.seal(c.closed())
	}
	c.endBase(cancel.ErrClosing)
	if c.patience() < endNow {
		c.rest(true)
	}
	c.lastFlush()
	c.w.stop(c.closed())
	_ = c.t.Close() // the peer may be gone; there is nothing to be done about it
	c.rest(false)
}

// linger lets handlers go on.
func (c *Conn) linger(how ending) {
	var over <-chan time.Time
	if how == endLinger {
		if c.c.Linger <= 0 {
			return
		}
		t := time.NewTimer(c.c.Linger)
		defer t.Stop()
		over = t.C
	}
	for !c.resting() {
		select {
		case <-c.idle:
		case <-over:
			return
		case <-c.hurry:
			return
		}
	}
}

// rest waits until all handlers have returned or, with peer, one write has lasted for FlushTimeout: then the peer takes nothing from us any more.
func (c *Conn) rest(peer bool) {
	timer := time.NewTicker(c.c.FlushTimeout)
	defer timer.Stop()
	before := c.w.underWay()
	for !c.resting() {
		select {
		case <-c.idle:
		case <-timer.C:
			now := c.w.underWay()
			if peer && now != 0 && now == before {
				return
			}
			before = now
		}
	}
}

// resting reports whether no handler runs and nobody will start one.
func (c *Conn) resting() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reading.Load() == 0 && c.workers == 0
}

// signal tells Serve that something came to rest.
func (c *Conn) signal() {
	if !c.draining.Load() {
		return
	}
	select {
	case c.idle <- struct{}{}:
	default:
	}
}

// lastFlush writes what waits, for at most FlushTimeout.
func (c *Conn) lastFlush() {
	flushed := make(chan struct{})
	go func() {
		defer close(flushed)
		c.w.flush()
		c.w.settled()
	}()
	t := time.NewTimer(c.c.FlushTimeout)
	defer t.Stop()
	select {
	case <-flushed:
	case <-t.C:
	}
}

// Shutdown ends the connection gently: nothing more is read, handlers go on until they return or ctx ends, answers are written. It returns when Serve
// is about to, nil or ctx's error; to be called from outside handlers.
func (c *Conn) Shutdown(ctx context.Context) error {
	c.finish(nil, endGently)
	select {
	case <-c.done:
		return nil
	case <-ctx.Done():
	}
	c.finish(nil, endCancel)
	<-c.done
	return ctx.Err()
}

// Close ends the connection at once: handlers' contexts end, what was answered before is written, the transport is closed. Answers of handlers that
// still run are lost. Close does not wait; Serve returns when all is done, and [Conn.Done] tells. It may be called again and always returns nil.
func (c *Conn) Close() error {
	c.finish(nil, endNow)
	return nil
}

// waitForRoom holds the reader up while too much waits to be started, and no call of ours waits for its response. When even then too much has come,
// the oldest call is given up.
func (c *Conn) waitForRoom() {
	c.mu.Lock()
	defer c.mu.Unlock()
	most := int64(c.c.MaxQueued)
	for c.queued.Load() >= most && (c.phase == phaseOpen || c.deaf.Load()) {
		var retry *time.Timer
		if len(c.calls) > 0 {
			if c.queued.Load() < overload*most {
				return
			}
			p := c.oldestCall()
			delete(c.calls, p.id)
			go p.fail(ErrOverloaded)
			retry = time.AfterFunc(overloadPause, c.room.Broadcast)
		}
		c.paused = true
		c.room.Wait()
		c.paused = false
		if retry != nil {
			retry.Stop()
		}
	}
}

const (
	overload      = 4                      // times MaxQueued, at which an outbound call is given up
	overloadPause = 100 * time.Millisecond // for its handler to end, before the next one is
)
