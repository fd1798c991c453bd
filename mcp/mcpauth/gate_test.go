package mcpauth

import (
	"context"
	"errors"
	"testing"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

func TestRequireScopes(t *testing.T) {
	ran := false
	h := RequireScopes(MethodScopes{"tools/call": {"call"}}.Need)(jsonrpc2.HandlerFunc(func(context.Context, *jsonrpc2.Request) (any, error) {
		ran = true
		return "done", nil
	}))
	with := func(scopes ...string) context.Context {
		return WithPrincipal(context.Background(), &Principal{Scopes: scopes})
	}
	for _, c := range []struct {
		name   string
		ctx    context.Context
		method string
		ok     bool
	}{
		{"held", with("call"), "tools/call", true},
		{"missing", with("other"), "tools/call", false},
		{"not needed", with(), "tools/list", true},
		{"nobody, not needed", context.Background(), "tools/list", true},
		{"nobody", context.Background(), "tools/call", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ran = false
			_, err := h.Handle(c.ctx, &jsonrpc2.Request{Method: c.method})
			if (err == nil) != c.ok || ran != c.ok {
				t.Errorf("ran %v, %v", ran, err)
			}
			if _, scoped := errors.AsType[*ScopeError](err); err != nil && !scoped && !errors.Is(err, ErrNoPrincipal) {
				t.Errorf("%v", err)
			}
		})
	}
}
