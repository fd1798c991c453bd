package mcp

import (
	"context"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

type reporterKey struct{}

type reporter func(ctx context.Context, r *jsonrpc2.Request, err error)

// WithReporter returns a context for [Server.Handle], [Session.Handle] and the like: what goes wrong in calls that begin with it is told to report too,
// beside [Server.Reporter]. It is for hosts, which have a log of their own. A panic in report is dropped.
func WithReporter(ctx context.Context, report func(ctx context.Context, r *jsonrpc2.Request, err error)) context.Context {
	return context.WithValue(ctx, reporterKey{}, reporter(report))
}

// report tells whoever wants to know, and survives it. r may be nil.
func (s *Server) report(ctx context.Context, r *jsonrpc2.Request, err error) {
	reporter(s.Reporter).tell(ctx, r, err)
	host, _ := ctx.Value(reporterKey{}).(reporter)
	host.tell(ctx, r, err)
}

func (f reporter) tell(ctx context.Context, r *jsonrpc2.Request, err error) {
	if f == nil {
		return
	}
	defer func() { _ = recover() }()
	f(ctx, r, err)
}
