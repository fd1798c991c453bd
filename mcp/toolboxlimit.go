package mcp

import (
	"context"
	"errors"
	"fmt"
)

// ErrToolTimeout is the cause of the context of a tool that has run longer than its Timeout.
var ErrToolTimeout = errors.New("mcp: the tool's time is up")

// limited bounds the calls of a tool by what it says about them.
func limited(t Tool, call toolFunc) toolFunc {
	if t.Timeout > 0 {
		inner, name := call, t.Name
		call = func(ctx context.Context, a Arguments) (any, error) {
			bounded, stop := context.WithTimeoutCause(ctx, t.Timeout, ErrToolTimeout)
			defer stop()
			res, err := inner(bounded, a)
			if err != nil && ctx.Err() == nil && errors.Is(context.Cause(bounded), ErrToolTimeout) {
				return ErrorResult(fmt.Sprintf("Tool %s did not finish within %v", name, t.Timeout)), nil
			}
			return res, err
		}
	}
	if t.Concurrency > 0 {
		inner, places := call, make(chan struct{}, t.Concurrency)
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
