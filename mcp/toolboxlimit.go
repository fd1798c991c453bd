package mcp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrToolTimeout is the cause of the context of a tool that has run longer than its Timeout.
var ErrToolTimeout = errors.New("mcp: the tool's time is up")

// limiter returns what bounds the calls of a tool by what it says about them. All it returns count together.
func limiter(t *Tool) func(toolFunc) toolFunc {
	var places chan struct{}
	if t.Concurrency > 0 {
		places = make(chan struct{}, t.Concurrency)
	}
	name, timeout := t.Name, t.Timeout
	return func(call toolFunc) toolFunc {
		if timeout > 0 {
			inner := call
			call = func(ctx context.Context, a Arguments) (any, error) {
				bounded := newClock(ctx, timeout)
				defer bounded.stop()
				res, err := inner(bounded, a)
				if err != nil && ctx.Err() == nil && bounded.struck() {
					return ErrorResult(fmt.Sprintf("Tool %s did not finish within %v", name, timeout)), nil
				}
				return res, err
			}
		}
		if places != nil {
			inner := call
			call = func(ctx context.Context, a Arguments) (any, error) {
				select {
				case places <- struct{}{}:
				case <-ctx.Done():
					return nil, ctx.Err()
				}
				defer func() { <-places }()
				return inner(ctx, a)
			}
		}
		return call
	}
}

// clock is the context of a tool with a Timeout. It stands still while the tool waits for an answer of the client's: how long a user thinks is bounded
// by Server.AskTimeout, and is not the tool's doing.
type clock struct {
	context.Context
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	timer   *time.Timer
	until   time.Time     // while it goes
	left    time.Duration // while it stands
	waiting int           // questions without an answer
}

type clockKey struct{}

func newClock(ctx context.Context, limit time.Duration) *clock {
	k := &clock{until: time.Now().Add(limit)}
	k.Context, k.cancel = context.WithCancelCause(ctx)
	k.timer = time.AfterFunc(limit, func() { k.cancel(ErrToolTimeout) })
	return k
}

// Value implements context.Context.
func (k *clock) Value(key any) any {
	if key == (clockKey{}) {
		return k
	}
	return k.Context.Value(key)
}

// Deadline implements context.Context.
func (k *clock) Deadline() (time.Time, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	outer, bounded := k.Context.Deadline()
	if k.waiting > 0 || bounded && outer.Before(k.until) {
		return outer, bounded
	}
	return k.until, true
}

// Err implements context.Context.
func (k *clock) Err() error {
	err := k.Context.Err()
	if err != nil && k.struck() {
		return context.DeadlineExceeded
	}
	return err
}

// struck reports whether the time was up before anything else ended the context.
func (k *clock) struck() bool { return errors.Is(context.Cause(k.Context), ErrToolTimeout) }

// stop ends the context with the call.
func (k *clock) stop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.timer.Stop()
	k.cancel(nil)
}

// hold stops the clock that ctx leads to, if there is one, until the returned function is called.
func hold(ctx context.Context) (release func()) {
	k, _ := ctx.Value(clockKey{}).(*clock)
	if k == nil {
		return func() {}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.waiting++; k.waiting == 1 && k.timer.Stop() {
		k.left = time.Until(k.until)
	}
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.waiting--; k.waiting == 0 && k.Context.Err() == nil {
			k.until = time.Now().Add(k.left)
			k.timer.Reset(k.left)
		}
	}
}
