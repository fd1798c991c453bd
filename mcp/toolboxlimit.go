package mcp

import (
	"context"
	"errors"
	"fmt"
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
				bounded, stop := context.WithTimeoutCause(ctx, timeout, ErrToolTimeout)
				defer stop()
				res, err := inner(bounded, a)
				if err != nil && ctx.Err() == nil && errors.Is(context.Cause(bounded), ErrToolTimeout) {
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
