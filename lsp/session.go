package lsp

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/lsp/internal/rope"
)

// session is one connection: made in Mount, gone when the connection is.
type session struct {
	srv    *Server
	life   *lifecycle
	conn   atomic.Pointer[jsonrpc2.Conn] // nil before the first message, and where there is none
	report func(ctx context.Context, r *jsonrpc2.Request, err error)

	ready  atomic.Bool // initialize has succeeded
	hooked atomic.Bool // Server.Shutdown has been called
	grace  atomic.Pointer[time.Timer]

	// Written by initialize, which is ordered before everything that reads them.
	unit   rope.Unit
	client Client

	docs  atomic.Pointer[Snapshot] // written by ordered handlers only
	diag  diagnoser
	tasks progresses
	trace atomic.Pointer[protocol.TraceValue]

	ctx  context.Context // of what runs without a request; ends with shutdown or the connection
	stop context.CancelCauseFunc
	own  sync.WaitGroup // goroutines of the session
}

func newSession(srv *Server) *session {
	s := &session{srv: srv, life: new(lifecycle), unit: rope.UTF16}
	s.ctx, s.stop = context.WithCancelCause(context.Background())
	s.docs.Store(&Snapshot{})
	s.client.s = s
	s.diag.init(s)
	return s
}

// scope is the context of a message: what the engine gives, and the session as of the message's place.
type scope struct {
	context.Context
	s     *session
	snap  *Snapshot
	token protocol.ProgressToken // of the request, until it has been used
	used  *Progress              // what reports under it
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
	return &scope{Context: ctx, s: s, snap: s.docs.Load()}
}

// stopWork ends what runs without a request. Requests that run may go on: they are owed an answer.
func (s *session) stopWork() { s.stop(cancel.ErrClosing) }

// closeGrace bounds how long the end of a connection waits for functions of the user that do not heed their context.
const closeGrace = 2 * time.Second

// onClose runs when all handlers have returned.
func (s *session) onClose() {
	s.stopWork()
	s.life.watch.Store(nil)
	if t := s.grace.Swap(nil); t != nil {
		t.Stop()
	}
	gone := make(chan struct{})
	go func() {
		s.own.Wait()
		close(gone)
	}()
	late := time.NewTimer(closeGrace)
	defer late.Stop()
	select {
	case <-gone:
	case <-late.C:
	}
}

// spawn runs f, which may call user functions, on a goroutine of the session.
func (s *session) spawn(f func()) {
	s.own.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				s.fail(s.ctx, nil, &jsonrpc2.PanicError{Value: p, Stack: debug.Stack()})
			}
		}()
		f()
	})
}

// fail reports what the client does not learn. The end of a context is no failure.
func (s *session) fail(ctx context.Context, r *jsonrpc2.Request, err error) {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, jsonrpc2.ErrClosed) || s.report == nil {
		return
	}
	defer func() { _ = recover() }()
	s.report(ctx, r, err)
}

// warn reports and tells the client's log.
func (s *session) warn(ctx context.Context, r *jsonrpc2.Request, err error) {
	s.fail(ctx, r, err)
	if e := s.client.LogMessage(ctx, protocol.MessageTypeWarning, err.Error()); !errors.Is(e, ErrNoClient) {
		s.fail(ctx, r, e)
	}
}

// initialize answers the initialize request (LSP 3.18, "Initialize Request"). It is ordered: what the client sent behind it without waiting is served
// after it, in order.
func (s *session) initialize(ctx context.Context, r *jsonrpc2.Request) (result any, err error) {
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
	params := new(protocol.InitializeParams)
	if err := r.Decode(params); err != nil {
		done = true
		return nil, err
	}
	s.client.params, s.client.raw = params, r.Params()
	res := &protocol.InitializeResult{
		ServerInfo:   protocol.ServerInfo{Name: s.srv.Name},
		Capabilities: s.srv.capabilities(),
	}
	if s.srv.Version != "" {
		res.ServerInfo.Version.Set(s.srv.Version)
	}
	if enc, ok := negotiate(params.Capabilities.General); ok {
		res.Capabilities.PositionEncoding = enc
	}
	if params.Trace != "" {
		s.trace.Store(&params.Trace)
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

func (s *session) setTrace(_ context.Context, p *protocol.SetTraceParams) error {
	s.trace.Store(&p.Value)
	return nil
}
