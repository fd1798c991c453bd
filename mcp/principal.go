package mcp

import (
	"context"
	"time"
)

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

// Identity says who a request comes from: a key that is the same for all requests of one caller and of nobody else, as for [WithPrincipal], and until when
// that is known, the zero time for ever. What checks credentials in front of a host hands one over with [WithCaller], as mcpauth does; mcphttp then lets
// sessions, tasks and states belong to that caller. It may be called by many goroutines at once.
type Identity func() (key string, until time.Time)
