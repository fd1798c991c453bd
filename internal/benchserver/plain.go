package main

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// plain is a front end for plain JSON-RPC: echo returns its params, hang ends when it is cancelled, active tells how many of those there are.
type plain struct{ active atomic.Int64 }

func (*plain) Protocol() string          { return "jsonrpc" }
func (*plain) Framing() jsonrpc2.Framing { return jsonrpc2.Header }

func (*plain) Conventions() []cancel.Convention {
	return []cancel.Convention{{Method: "$/cancelRequest", Param: "id", Code: -32800}}
}

func (p *plain) Mount(*jsonrpc2.Options) (*jsonrpc2.Mux, error) {
	m := jsonrpc2.NewMux()
	m.HandleRequest("echo", jsonrpc2.HandlerFunc(func(_ context.Context, r *jsonrpc2.Request) (any, error) {
		return r.Params(), nil
	}))
	m.HandleRequest("hang", jsonrpc2.HandlerFunc(func(ctx context.Context, _ *jsonrpc2.Request) (any, error) {
		p.active.Add(1)
		defer p.active.Add(-1)
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	m.HandleRequest("active", jsonrpc2.HandlerFunc(func(context.Context, *jsonrpc2.Request) (any, error) {
		return fmt.Sprintf("active=%d", p.active.Load()), nil
	}))
	m.HandleRequest("panic", jsonrpc2.HandlerFunc(func(context.Context, *jsonrpc2.Request) (any, error) { panic("asked for") }))
	return m, nil
}
