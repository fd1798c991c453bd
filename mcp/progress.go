package mcp

import (
	"context"
	"math"
	"strconv"
	"time"
)

const (
	freeSteps = 10 // progress notifications of one request before they are paced
	stepPause = 50 * time.Millisecond
)

// pace holds progress back once there was a lot of it. The call's mu is held for all of it.
type pace struct {
	n     int
	at    time.Time   // of the last one sent
	held  []byte      // params of the latest that was not sent; nil: none
	timer *time.Timer // sends it
}

func (p *pace) stop() {
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
}

func isToken(raw []byte) bool {
	switch {
	case len(raw) == 0:
		return false
	case raw[0] == '"':
		return true
	case raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9':
		f, err := strconv.ParseFloat(string(raw), 64)
		return err == nil && f == math.Trunc(f)
	}
	return false
}

// Progress tells the client how far the request that ctx belongs to has come (MCP progress): progress out of total, or of an unknown whole if
// total is not above 0, with an optional message for people. Nothing is sent, and nil returned, when the client did not ask for progress or
// the request is done or was cancelled, or the connection is ending; so tools need not ask. progress must increase with every call; one that does not, or is not finite,
// is dropped and [ErrProgress] returned. After ten notifications of one request there is at most one every 50 ms, with the latest values; the last
// is sent before the result. Progress may be called by many goroutines at once, and waits when the client reads too slowly.
func Progress(ctx context.Context, progress, total float64, message string) error {
	c := callFrom(ctx)
	if c == nil {
		return nil
	}
	if math.IsNaN(progress) || math.IsInf(progress, 0) || math.IsNaN(total) || math.IsInf(total, 0) {
		return ErrProgress
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.token == "" || c.done || ctx.Err() != nil || c.peer() == nil {
		return nil
	}
	if c.sent && progress <= c.last {
		return ErrProgress
	}
	c.sent, c.last = true, progress
	p := append([]byte(`{"progressToken":`), c.token...)
	p = append(p, `,"progress":`...)
	p = appendFloat(p, progress)
	if total > 0 {
		p = append(p, `,"total":`...)
		p = appendFloat(p, total)
	}
	if message != "" && c.revision().progressMessage() {
		p = append(p, `,"message":`...)
		p = appendString(p, message)
	}
	x := c.more()
	if x.steps == nil {
		x.steps = new(pace)
	}
	s := x.steps
	s.held = append(p, '}')
	s.n++
	if wait := stepPause - time.Since(s.at); s.n > freeSteps && wait > 0 {
		if s.timer == nil {
			s.timer = time.AfterFunc(wait, func() {
				var err error
				defer c.session.server.caught(c, &err)
				c.mu.Lock()
				defer c.mu.Unlock()
				s.timer = nil
				err = c.sendStep()
			})
		}
		return nil
	}
	s.stop()
	return c.sendStep()
}

// sendStep sends the progress that is held.
func (c *call) sendStep() error {
	s := c.x.steps
	if s.held == nil || c.token == "" {
		return nil
	}
	p := s.held
	s.held, s.at = nil, time.Now()
	return c.send("notifications/progress", encoded(p))
}

func appendFloat(dst []byte, f float64) []byte {
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return strconv.AppendInt(dst, int64(f), 10)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}

func appendInt(dst []byte, n int) []byte { return strconv.AppendInt(dst, int64(n), 10) }
