package lsp

import (
	"context"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Mount makes the session of one connection and returns its methods; call it once for each. It fills o: Codec, Admit, Capture, OnClose and Report, keeping
// what was set by calling it too, a MaxBatch that refuses batches, as LSP has none, and [Cancel] where Cancel is nil. It never fails.
//
//	o := new(jsonrpc2.Options)
//	mux, err := server.Mount(o)
//	if err != nil { ... }
//	err = jsonrpc2.NewConn(jsonrpc2.Open(stream, jsonrpc2.Header), mux, o).Serve(ctx)
func (s *Server) Mount(o *jsonrpc2.Options) (*jsonrpc2.Mux, error) {
	sess := newSession(s)
	sess.adopt()
	o.Codec, o.MaxBatch = Codec, jsonrpc2.NoBatch
	if o.Cancel == nil {
		o.Cancel = cancel.NewRegistry(s.Conventions()...)
	}
	if before := o.Admit; before != nil {
		o.Admit = func(ctx context.Context, r *jsonrpc2.Request) error {
			if err := sess.admit(ctx, r); err != nil {
				return err
			}
			return before(ctx, r)
		}
	} else {
		o.Admit = sess.admit
	}
	if before := o.Capture; before != nil {
		o.Capture = func(ctx context.Context, r *jsonrpc2.Request) context.Context { return sess.capture(before(ctx, r), r) }
	} else {
		o.Capture = sess.capture
	}
	before := o.OnClose
	o.OnClose = func(c *jsonrpc2.Conn, err error) {
		sess.onClose()
		if before != nil {
			before(c, err)
		}
	}
	if s.Reporter != nil {
		if before := o.Report; before != nil {
			o.Report = func(ctx context.Context, r *jsonrpc2.Request, err error) {
				before(ctx, r, err)
				s.Reporter(ctx, r, err)
			}
		} else {
			o.Report = s.Reporter
		}
	}
	sess.report = o.Report
	o.Report = sess.reports(o.Report)
	m := sess.methods()
	if s.Extend != nil {
		s.Extend(m)
	}
	s.remember(m, sess.life)
	return m, nil
}

// methods registers everything of the client that the session serves.
func (s *session) methods() *jsonrpc2.Mux {
	m := jsonrpc2.NewMux()
	m.Use(s.settled)
	if s.stale != nil {
		m.Use(s.stale.watch)
	}
	for i := range routes() {
		rt := &routes()[i]
		if rt.way == toClient {
			continue
		}
		switch h := s.adapt(rt, rt.handler(s)); {
		case h == nil:
		case rt.kind == request:
			m.HandleRequest(rt.method, h, rt.order)
		default:
			m.HandleNotification(rt.method, h, rt.order)
		}
	}
	if s.impl != nil {
		m.Fallback(jsonrpc2.HandlerFunc(s.rest))
	}
	return m
}
