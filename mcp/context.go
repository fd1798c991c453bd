package mcp

import "context"

type callerKey[T any] struct{}

// WithCaller returns a context that carries v, what belongs to one call: the transport's session, the identity of who calls. Each type T has
// a place of its own, so a session and an identity can travel together. Give the context to [Server.Handle]; every closure and the Reporter
// get one derived from it. Nothing of it is stored.
func WithCaller[T any](ctx context.Context, v T) context.Context {
	return context.WithValue(ctx, callerKey[T]{}, v)
}

// CallerFrom returns what WithCaller put into ctx for T, and false if there is none.
func CallerFrom[T any](ctx context.Context) (T, bool) {
	v, ok := ctx.Value(callerKey[T]{}).(T)
	return v, ok
}
