package lsp

import (
	"context"
	"errors"
	"sync"

	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// errStale is the cause of the context of a request whose document has changed, where [Server.CancelStale] is set.
var errStale = errors.New("lsp: the document has changed under the request")

// stale knows the requests that run, by document, to end them when that changes. It is there only where the Server wants it.
type stale struct {
	mu   sync.Mutex
	runs map[Key]map[*staleRun]struct{}
}

type staleRun struct{ stop context.CancelCauseFunc }

// watch is the middleware that enters requests. What a document looks like now has nothing to do with its text before saving, nor with its
// diagnostics, which have an answer of their own.
func (st *stale) watch(next jsonrpc2.Handler) jsonrpc2.Handler {
	return jsonrpc2.HandlerFunc(func(ctx context.Context, r *jsonrpc2.Request) (any, error) {
		if r.IsNotification() || r.Method == "textDocument/willSaveWaitUntil" || r.Method == "textDocument/diagnostic" {
			return next.Handle(ctx, r)
		}
		u, ok := text(member(member(rawParams(r), "textDocument"), "uri"))
		if !ok {
			return next.Handle(ctx, r)
		}
		sc := scopeFrom(ctx)
		if sc == nil {
			return next.Handle(ctx, r)
		}
		d := sc.snap.Document(uri.URI(u))
		if d == nil {
			return next.Handle(ctx, r)
		}
		ctx, run := st.enter(ctx, d.key)
		defer st.leave(d.key, run)
		if sc.s.docs.Load().ByKey(d.key) != d { // looked at after entering, so no change is missed
			return nil, ContentModified
		}
		v, err := next.Handle(ctx, r)
		if err != nil && context.Cause(ctx) == errStale && errors.Is(err, context.Canceled) {
			return nil, ContentModified
		}
		return v, err
	})
}

func (st *stale) enter(ctx context.Context, k Key) (context.Context, *staleRun) {
	run := new(staleRun)
	ctx, run.stop = context.WithCancelCause(ctx)
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.runs[k] == nil {
		if st.runs == nil {
			st.runs = map[Key]map[*staleRun]struct{}{}
		}
		st.runs[k] = map[*staleRun]struct{}{}
	}
	st.runs[k][run] = struct{}{}
	return ctx, run
}

func (st *stale) leave(k Key, run *staleRun) {
	run.stop(nil)
	st.mu.Lock()
	defer st.mu.Unlock()
	delete(st.runs[k], run)
	if len(st.runs[k]) == 0 {
		delete(st.runs, k)
	}
}

// changed ends the requests about a document. A nil stale has none.
func (st *stale) changed(k Key) {
	if st == nil {
		return
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	for run := range st.runs[k] {
		run.stop(errStale)
	}
}
