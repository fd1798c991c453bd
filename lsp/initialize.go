package lsp

import (
	"context"
	"fmt"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// initialize answers the initialize request (LSP 3.18, "Initialize Request"). It is ordered: what the client sent behind it without waiting is served
// after it, in order.
func (s *session) initialize(ctx context.Context, r *jsonrpc2.Request) (result any, err error) {
	if begun := s.begun.Load(); begun != nil {
		s.owed.given(ctx, func() { close(*begun) })
	}
	done := false
	defer func() { // a panic in the user's function is a failure as well
		if !done || err != nil {
			s.life.move(initializing, created)
		}
	}()
	if !r.HasParams() {
		done = true
		return nil, jsonrpc2.ErrInvalidParams
	}
	var read tolerant
	if err := r.Decode(&read); err != nil {
		done = true
		return nil, err
	}
	if len(read.absent) > 0 {
		s.fail(ctx, r, fmt.Errorf("lsp: initialize: not of their types, and taken for absent: %q", read.absent))
	}
	params := &read.InitializeParams
	s.client.params, s.client.raw = params, r.Params()
	s.client.folders.first(params)
	s.diag.choose()
	caps, later, err := s.announce()
	if err != nil {
		done = true
		return nil, err
	}
	s.later = later
	res := &protocol.InitializeResult{ServerInfo: protocol.ServerInfo{Name: s.srv.Name}, Capabilities: caps}
	if s.srv.Version != "" {
		res.ServerInfo.Version.Set(s.srv.Version)
	}
	if enc, ok := negotiate(params.Capabilities.General); ok {
		res.Capabilities.PositionEncoding = enc
	}
	if params.Trace != "" {
		s.trace.Store(&params.Trace)
	}
	if s.impl != nil {
		if err := s.guestInitialize(ctx, params, res); err != nil {
			done = true
			return nil, err
		}
	}
	if s.srv.Initialize != nil {
		if err := s.srv.Initialize(ctx, params, res); err != nil {
			done = true
			return nil, err
		}
	}
	if enc := res.Capabilities.PositionEncoding; enc != "" {
		unit, ok := unitOf(enc)
		if !ok {
			done = true
			return nil, fmt.Errorf("lsp: Initialize chose the unknown position encoding %q", string(enc))
		}
		s.unit = unit
	}
	done = true
	s.ready.Store(true)
	s.srv.connected(&s.client)
	s.life.move(initializing, running) // unless shutdown or exit came meanwhile
	if watch := s.life.watch.Swap(nil); watch != nil && params.ProcessID != nil && *params.ProcessID > 0 {
		(*watch)(int(*params.ProcessID))
	}
	return res, nil
}

// negotiate takes the first encoding of the client's list that there is (LSP 3.18, "PositionEncodingKind"). Without a list it is UTF-16 and not named.
func negotiate(g *protocol.GeneralClientCapabilities) (protocol.PositionEncodingKind, bool) {
	if g == nil || len(g.PositionEncodings) == 0 {
		return "", false
	}
	for _, enc := range g.PositionEncodings {
		if _, ok := unitOf(enc); ok {
			return enc, true
		}
	}
	return protocol.PositionEncodingKindUTF16, true
}

// initialized runs the user's function beside the lane: it may well call the client, and nothing should wait for that.
func (s *session) initialized(_ context.Context, r *jsonrpc2.Request) (any, error) {
	if s.greeted { // a second one would register everything twice
		return nil, nil
	}
	s.greeted = true
	s.registerLater()
	if s.srv.DidChangeConfiguration != nil && s.client.settings.tell() {
		s.client.watchSettings()
	}
	s.diag.start()
	f := s.srv.Initialized
	if f == nil {
		return nil, nil
	}
	ctx := s.scope(s.ctx)
	s.spawn(func() {
		if err := f(ctx); err != nil {
			s.fail(ctx, nil, fmt.Errorf("lsp: Initialized: %w", err))
		}
	})
	return nil, nil
}

// setTrace takes any value: one that is not known traces nothing.
func (s *session) setTrace(_ context.Context, r *jsonrpc2.Request) (any, error) {
	p := new(protocol.SetTraceParams)
	if err := r.Decode(p); err != nil {
		return nil, err
	}
	s.trace.Store(&p.Value)
	return nil, nil
}

// progress takes $/progress of the client, which has nothing to report on: no request of the server carries a token.
func (s *session) progress(context.Context, *jsonrpc2.Request) (any, error) { return nil, nil }
