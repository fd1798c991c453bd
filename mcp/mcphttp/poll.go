package mcphttp

import (
	"context"
	"time"
)

// CloseStream ends the response that the answer to a request was to come on, and tells the client to come back for it after retry (MCP 2025-11-25,
// streamable HTTP, polling): a function that takes long holds no connection. ctx is the function's context. The function goes on; what it sends is kept,
// and so is the answer, until the client asks for them.
//
// It needs [Options.Polling] and a store, a client of a session that accepts a stream, and a request that is not answered; else it returns
// [ErrPolling], and nothing has changed.
func CloseStream(ctx context.Context, retry time.Duration) error {
	x := exchangeFrom(ctx)
	if x == nil || !x.polls() {
		return ErrPolling
	}
	st, err := x.streamFor(false)
	if err != nil || st == nil || !x.session.primes() {
		return ErrPolling
	}
	st.end(false, max(retry, time.Millisecond))
	return nil
}
