package mcpauth

import (
	"context"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// RequireScopes returns middleware that calls [Require] before a JSON-RPC handler runs, with the scopes need names for the request; none let it
// pass. It is for what is known before the function runs: scopes by method ([MethodScopes]), by tool, or by argument. need may look at the
// request and must not change it; it is called from many goroutines.
//
// A request without a principal is refused with [ErrNoPrincipal] if it needs a scope.
func RequireScopes(need func(ctx context.Context, r *jsonrpc2.Request) []string) jsonrpc2.Middleware {
	return func(next jsonrpc2.Handler) jsonrpc2.Handler {
		return jsonrpc2.HandlerFunc(func(ctx context.Context, r *jsonrpc2.Request) (any, error) {
			if scopes := need(ctx, r); len(scopes) > 0 {
				if err := Require(ctx, scopes...); err != nil {
					return nil, err
				}
			}
			return next.Handle(ctx, r)
		})
	}
}

// MethodScopes is the scopes each method needs, by name, for [RequireScopes]. Methods that are not in it need none.
type MethodScopes map[string][]string

// Need implements the argument of [RequireScopes].
func (s MethodScopes) Need(_ context.Context, r *jsonrpc2.Request) []string { return s[r.Method] }
