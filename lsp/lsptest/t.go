package lsptest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
)

// T is what a [Client] needs of a test. *[testing.T], *testing.B and *testing.F have it, and [Run] gives one to programs that are no tests.
//
// [testing.T]: https://pkg.go.dev/testing#T
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Cleanup(func())
	Context() context.Context
}

// Run calls f with a T of its own, on a goroutine of its own, for conversations with a server outside of tests. It returns what f failed with, nil if it did
// not.
func Run(ctx context.Context, f func(T)) error {
	ctx, stop := context.WithCancel(ctx)
	r := &run{ctx: ctx}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if v := recover(); v != nil {
				r.Errorf("panic: %v", v)
			}
		}()
		f(r)
	}()
	<-done
	stop() // as testing does before it cleans up
	for i := len(r.cleanups) - 1; i >= 0; i-- {
		done := make(chan struct{})
		go func() { // a cleanup may fail as well
			defer close(done)
			r.cleanups[i]()
		}()
		<-done
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.failures...)
}

// run is the T of Run.
type run struct {
	ctx      context.Context
	mu       sync.Mutex
	failures []error
	cleanups []func()
}

func (r *run) Helper() {}

func (r *run) Context() context.Context { return r.ctx }

func (r *run) Cleanup(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cleanups = append(r.cleanups, f)
}

func (r *run) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Errorf(format, args...))
}

func (r *run) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}
