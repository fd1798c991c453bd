package lsp

import (
	"context"
	"encoding/json"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// scope is the context of a message: what the engine gives, and the session as of the message's place.
type scope struct {
	context.Context
	s     *session
	snap  *Snapshot
	books *notebooks
	in    *inProgress // of a request that may be reported on, else nil
}

type scopeKey struct{}

// Value answers for the session, and else is the engine's.
func (sc *scope) Value(key any) any {
	if key == (scopeKey{}) {
		return sc
	}
	return sc.Context.Value(key)
}

func scopeFrom(ctx context.Context) *scope {
	sc, _ := ctx.Value(scopeKey{}).(*scope)
	return sc
}

// capture runs in wire order, so the documents it finds are those of the message's place in the stream. The document notifications need none: they
// get a new scope for their hooks once they have changed something.
func (s *session) capture(ctx context.Context, r *jsonrpc2.Request) context.Context {
	switch r.Method {
	case "textDocument/didChange", "textDocument/didOpen", "textDocument/didClose", "textDocument/didSave":
		return ctx
	}
	return s.scope(ctx)
}

func (s *session) scope(ctx context.Context) context.Context {
	return &scope{Context: ctx, s: s, snap: s.docs.Load(), books: s.books.Load()}
}

// RawParams returns the params of the message that a function of the [Server] handles, as they came. They have what the typed params cannot hold: members
// that the specification does not know, which clients have of their own, and URIs in their spelling. It is nil where there are none, and in
// functions that run beside a message, as Diagnose does. It may only be called before the function returns; the bytes may be kept.
func RawParams(ctx context.Context) json.RawMessage {
	r := jsonrpc2.RequestFrom(ctx)
	if r == nil {
		return nil
	}
	return r.Params()
}
