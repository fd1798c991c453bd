package mcp

import "context"

type principalKey struct{}

// WithPrincipal returns a context that says on whose behalf its messages come: key is the same for all that one user sends through one client, and another
// for anybody else, such as the Key of an mcpauth.Principal. Hosts set it on the context they give to [Session.Handle] and [Server.HandleModern]. What
// the server hands out for later use, such as the state of a call that asks, is then good for that principal only. The empty key is no principal.
func WithPrincipal(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, principalKey{}, key)
}

// PrincipalFrom returns the key that was given to [WithPrincipal], and false if there is none: on stdio the client is whoever started the process.
func PrincipalFrom(ctx context.Context) (key string, ok bool) {
	key, _ = ctx.Value(principalKey{}).(string)
	return key, key != ""
}
