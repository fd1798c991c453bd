package jsonrpc2

import (
	"context"
	"testing"
	"time"
)

func TestSmoke(t *testing.T) {
	a, b := Pipe()
	m := NewMux()
	m.HandleRequest("echo", HandlerFunc(func(ctx context.Context, r *Request) (any, error) { return r.Params(), nil }))
	m.HandleRequest("wait", HandlerFunc(func(ctx context.Context, r *Request) (any, error) { <-ctx.Done(); return nil, context.Cause(ctx) }))
	s := NewConn(a, m, nil)
	s.OnCancel("cancel", "requestId")
	c := NewConn(b, nil, nil)
	done := make(chan error, 2)
	go func() { done <- s.Serve(context.Background()) }()
	go func() { done <- c.Serve(context.Background()) }()
	for i := range 1000 {
		var out []int
		if err := c.Call(context.Background(), "echo", []int{i}, &out); err != nil || out[0] != i {
			t.Fatal(err, out)
		}
	}
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer stop()
	if err := c.Call(ctx, "wait", nil, nil); err != context.DeadlineExceeded {
		t.Fatal(err)
	}
	c.Close()
	t.Log(<-done, <-done)
}
