package jsonrpc2

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// A peer may close its end of our output and have said something before: an editor that quits sends "shutdown" and "exit", waits for nothing, and
// closes all it has. The first answer then cannot be written while the last messages still stand in the input. So a broken output does not end the
// reading: the connection is ending, calls fail and answers are dropped, but what has come is handled, until the input ends, the connection is
// closed, or hearing is over.
//
//	              write failed                  end of input, Close, Shutdown, ctx
//	phaseOpen ────────────────► phaseDrain, deaf ─────────────────────────────────► phaseDrain
//	                                             hearing is over

// hearing is how long a connection whose output is broken goes on in all: to read, and then for the handlers. It need not be long, since what
// is waited for was sent before.
const hearing = time.Second

// broke is told by the writer that nothing can be written any more.
func (c *Conn) broke(err error) {
	if errors.Is(err, os.ErrDeadlineExceeded) { // WriteTimeout: the peer is there, and has had its time
		c.finish(err, endNow)
		return
	}
	c.finish(err, endDeaf)
}

// over reports whether the holder of the reader role must stop.
func (c *Conn) over() bool { return c.draining.Load() && !c.deaf.Load() }

// hear waits while the rest of the input is read, and then for the handlers.
func (c *Conn) hear() {
	t := time.NewTimer(hearing)
	defer t.Stop()
	for c.deaf.Load() || !c.resting() {
		select {
		case <-c.idle:
		case <-c.hurry:
			return
		case <-t.C:
			c.mu.Lock()
			c.stopHearing()
			c.mu.Unlock()
			return
		}
		if c.patience() != endLinger { // Shutdown: its context says how long
			return
		}
	}
}

// stopHearing makes the reader stop at its next message. The lock is held.
func (c *Conn) stopHearing() {
	c.deaf.Store(false)
	c.room.Broadcast()
}

// patience is how the connection is ending at the moment.
func (c *Conn) patience() ending {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.how
}

// verdict is what Serve returns. A connection that was closed after its output broke has ended as was wished, say by the "exit" that still came; that
// answers were lost is reported.
func (c *Conn) verdict() error {
	c.mu.Lock()
	err, broken := c.cause, c.broken
	switch {
	case broken == nil:
	case c.shut:
		err = nil
	default:
		err, broken = broken, nil
	}
	c.mu.Unlock()
	if broken != nil {
		c.reportLost(broken)
	}
	return err
}

func (c *Conn) reportLost(cause error) {
	c.c.report(c.base, nil, fmt.Errorf("jsonrpc2: answers lost, the peer has gone: %w", cause))
}
