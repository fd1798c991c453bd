package lsp

import (
	"context"
	"errors"
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
	owed   answers                       // to initialize and shutdown
	begun  atomic.Pointer[chan struct{}] // closed when initialize has been answered

	impl  protocol.Server // see FromServer; nil without
	guest protocol.Client // the client as impl sees it

	// Written by initialize, which is ordered before everything that reads them.
	unit   rope.Unit
	client Client

	docs     atomic.Pointer[Snapshot] // written by ordered handlers only
	books    atomic.Pointer[notebooks]
	later    []protocol.Registration // to be sent once the client is initialized
	greeted  bool                    // initialized has been received
	stranger Key                     // the document that the client was last told is not open
	diag     diagnoser
	stale    *stale // nil: requests are not ended when their document changes
	tasks    progresses
	trace    atomic.Pointer[protocol.TraceValue]

	telling atomic.Bool // a message about the size of messages is under way

	ctx  context.Context // of what runs without a request; ends with shutdown or the connection
	stop context.CancelCauseFunc
	own  sync.WaitGroup // goroutines of the session
	gate sync.Mutex     // of own and over
	over bool           // nothing is started any more
}

func newSession(srv *Server) *session {
	s := &session{srv: srv, life: new(lifecycle), unit: rope.UTF16}
	s.ctx, s.stop = context.WithCancelCause(context.Background())
	s.docs.Store(&Snapshot{})
	s.client.s = s
	s.diag.init(s)
	if srv.CancelStale {
		s.stale = new(stale)
	}
	return s
}

// stopWork ends what runs without a request. Requests that run may go on: they are owed an answer.
func (s *session) stopWork() { s.stop(cancel.ErrClosing) }

// closeGrace bounds how long the end of a connection waits for functions of the user that do not heed their context.
const closeGrace = 2 * time.Second

// onClose runs when all handlers have returned.
func (s *session) onClose() {
	s.srv.gone(&s.client)
	s.stopWork()
	s.life.watch.Store(nil)
	if t := s.grace.Swap(nil); t != nil {
		t.Stop()
	}
	s.gate.Lock()
	s.over = true
	s.gate.Unlock()
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

// spawn runs f, which may call user functions, on a goroutine of the session. It does nothing once the session is over.
func (s *session) spawn(f func()) {
	s.gate.Lock()
	defer s.gate.Unlock()
	if s.over {
		return
	}
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
