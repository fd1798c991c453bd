package mcp_test

import (
	"context"
	"errors"
	"testing"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
)

func TestWithReporter(t *testing.T) {
	broken := errors.New("out of paper")
	var own, hosts []string
	s := &mcp.Server{
		Lister: func(context.Context) ([]mcp.Tool, error) { return nil, broken },
		Reporter: func(_ context.Context, r *jsonrpc2.Request, err error) {
			own = append(own, r.Method+": "+err.Error())
			panic("full")
		},
	}
	ctx := mcp.WithReporter(context.Background(), func(_ context.Context, r *jsonrpc2.Request, err error) {
		hosts = append(hosts, r.Method+": "+err.Error())
		panic("full too")
	})
	list := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	const want = `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error"}}`
	for _, c := range []context.Context{ctx, context.Background()} {
		if got := string(s.Handle(c, list)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if len(own) != 2 || own[0] != "tools/list: out of paper" {
		t.Errorf("the server's own reporter was told %q", own)
	}
	if len(hosts) != 1 || hosts[0] != own[0] {
		t.Errorf("the host's reporter was told %q", hosts)
	}
}
