package vectors

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"
)

// limit is how long a vector may take on the fake clock, and busy in real time, where there are processors that others use as well.
const (
	limit = 5 * time.Second
	busy  = time.Minute
)

// Run runs a vector in every way it can be run, and returns what was not met: nothing if it passed. t is only lent to testing/synctest.
func Run(t *testing.T, v *Vector) []Failure {
	if v.invalid != nil {
		return []Failure{{What: v.invalid.Error()}}
	}
	f := fixtures[v.Fixture]
	all := bounded(t, v, "Conn", busy, func() (*observed, error) { return runConn(v, f) })
	switch {
	case f.server != nil && v.direct(f, "@await"):
		all = append(all, bounded(t, v, "Handle", busy, func() (*observed, error) { return runHandle(v, f) })...)
	case f.server == nil && v.direct(f):
		all = append(all, bounded(t, v, "Dispatcher", busy, func() (*observed, error) { return runDispatcher(v, f) })...)
	}
	return all
}

// bounded runs a vector one way, on a fake clock, for at most so long in real time.
func bounded(t *testing.T, v *Vector, way string, most time.Duration, run func() (*observed, error)) []Failure {
	done := make(chan []Failure, 1)
	go func() {
		var result []Failure
		defer func() {
			if p := recover(); p != nil { // of testing/synctest: there are goroutines that can never end
				result = append(result, Failure{Way: way, What: fmt.Sprint(p)})
			}
			done <- result
		}()
		synctest.Test(t, func(*testing.T) { result = judged(v, way, run) })
	}()
	select {
	case result := <-done:
		return result
	case <-time.After(most):
		return []Failure{{Way: way, What: fmt.Sprintf("%s hangs, or is busy: not done after %v", v.ID, most)}}
	}
}

// judged runs a vector one way and compares.
func judged(v *Vector, way string, run func() (*observed, error)) (all []Failure) {
	defer func() {
		if p := recover(); p != nil {
			all = append(all, Failure{Way: way, What: fmt.Sprintf("panic: %v\n%s", p, debug.Stack())})
		}
	}()
	o, err := run()
	if err != nil {
		all = []Failure{{Way: way, What: err.Error()}}
	}
	if o != nil {
		all = append(all, v.compare(way, o)...)
	}
	return all
}

var errHangs = errors.New("hangs: nothing can go on")

// clock ends a run that hangs: when nothing can go on the fake clock jumps to its limit.
type clock struct {
	over chan struct{}
	t    *time.Timer
}

func startClock(stop func()) *clock {
	c := &clock{over: make(chan struct{})}
	c.t = time.AfterFunc(limit, func() {
		close(c.over)
		stop()
	})
	return c
}

// wait waits for a channel, or returns an error that says what for.
func (c *clock) wait(what string, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-c.over:
		return fmt.Errorf("%s: %w", what, errHangs)
	}
}

// ended is a context that has ended.
var ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()
