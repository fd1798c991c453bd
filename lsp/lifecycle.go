package lsp

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// phase is where a session is in its life (LSP 3.18, "Lifecycle Messages").
//
//	          initialize       its handler            shutdown         exit
//	created ────────────► initializing ────► running ────────► shutDown ────► exited
//	   ▲                       │ it failed                                      ▲
//	   └───────────────────────┘                    exit, from every phase ─────┘
type phase int32

const (
	created      phase = iota
	initializing       // initialize has been received; what follows it waits in line behind it
	running
	shutDown
	exited
)

// lifecycle is the state of one session that outlives it: it holds nothing of the connection.
type lifecycle struct {
	phase atomic.Int32
	asked atomic.Bool                   // shutdown was received at some time
	watch atomic.Pointer[func(pid int)] // the runtime's parent watch, until initialize has been handled
}

func (l *lifecycle) now() phase { return phase(l.phase.Load()) }

func (l *lifecycle) move(from, to phase) bool {
	return l.phase.CompareAndSwap(int32(from), int32(to))
}

// code is the exit code of the process (LSP 3.18, "Exit Notification"): success if a shutdown request has been received before, else 1. An end
// of the input without exit counts like exit.
func (l *lifecycle) code() int {
	if l.asked.Load() {
		return 0
	}
	return 1
}

// admit is the lifecycle in wire order: it runs on the goroutine that reads, before anything is scheduled. Requests are refused in the phases that do
// not allow them, notifications dropped; exit is obeyed in every phase.
func (s *session) admit(ctx context.Context, r *jsonrpc2.Request) error {
	if s.conn.Load() == nil {
		s.conn.CompareAndSwap(nil, jsonrpc2.ConnFrom(ctx))
	}
	l := s.life
	if r.IsNotification() {
		switch p := l.now(); {
		case r.Method == "exit":
			s.exit(p)
			return nil
		case p == initializing || p == running || p == shutDown && r.Method == Cancel.Method:
			return nil
		case p == created:
			return errNotInitialized
		default:
			return errShutDown
		}
	}
	if id, _ := r.ID(); id.IsNull() {
		return errNullID // LSP ids are numbers and strings
	}
	switch p := l.now(); {
	case p == running, p == initializing:
		switch r.Method {
		case "initialize":
			return errInitialized
		case "shutdown":
			l.asked.Store(true)
			l.phase.Store(int32(shutDown))
			s.owed.add()
			s.stopWork()
		}
		return nil
	case p == created && r.Method == "initialize":
		l.phase.Store(int32(initializing))
		if s.conn.Load() != nil { // else it is answered before anything else comes
			s.owed.add()
			answered := make(chan struct{})
			s.begun.Store(&answered)
		}
		return nil
	case p == created:
		return errNotInitialized
	case p == shutDown && r.Method == "shutdown": // Neovim asks twice
		s.owed.add()
		return nil
	}
	return errShutDown
}

// settled is asked again when a handler is about to run: what was let in behind an initialize that then failed came too early after all.
func (s *session) settled(next jsonrpc2.Handler) jsonrpc2.Handler {
	return jsonrpc2.HandlerFunc(func(ctx context.Context, r *jsonrpc2.Request) (any, error) {
		if s.ready.Load() || r.Method == "initialize" || r.Method == "exit" || r.Method == "shutdown" {
			return next.Handle(ctx, r)
		}
		if r.IsNotification() {
			return nil, nil
		}
		return nil, errNotInitialized
	})
}

// answers counts the answers to initialize and shutdown that are owed. Shutdown waits for initialize, and exit for both: some clients send these messages
// in one write.
type answers struct {
	mu   sync.Mutex
	n    int
	none chan struct{} // closed when n is 0; nil while nobody waits
}

// add counts a request where it is let in, so that what comes after it knows of it.
func (a *answers) add() {
	a.mu.Lock()
	a.n++
	a.mu.Unlock()
}

// given is called by the handler. The answer counts as given when the context of the handler ends, because then it has been handed to the writer: closing
// the connection does not lose it any more.
func (a *answers) given(ctx context.Context, also func()) {
	context.AfterFunc(ctx, func() {
		also()
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.n--; a.n == 0 && a.none != nil {
			close(a.none)
			a.none = nil
		}
	})
}

// all returns a channel that is closed once all answers have been given.
func (a *answers) all() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.none
	if c == nil {
		c = make(chan struct{})
		if a.n == 0 {
			close(c)
			return c
		}
		a.none = c
	}
	return c
}

// exitGrace is how long an exit waits for what came before it, if that takes time.
const exitGrace = time.Second

// exit ends the session: its handler does, when everything that is kept in order has been handled and the lifecycle requests are answered; or the
// timer, where the lane is held up.
func (s *session) exit(from phase) {
	s.life.phase.Store(int32(exited))
	s.stopWork()
	if from == created {
		s.close()
		return
	}
	timer := time.AfterFunc(exitGrace, s.close)
	if old := s.grace.Swap(timer); old != nil {
		old.Stop()
	}
}

func (s *session) close() {
	if c := s.conn.Load(); c != nil {
		_ = c.Close() // what is lost with it is lost because the client said exit
	}
}

func (s *session) handleExit(ctx context.Context, _ *jsonrpc2.Request) (any, error) {
	if c := s.conn.Load(); c != nil {
		select {
		case <-s.owed.all():
		case <-ctx.Done(): // and not when the connection begins to end, as it has where the client closed its ends right behind exit
		}
		s.close()
	}
	return nil, nil
}

// shutdown is answered at once, whatever runs and whatever holds the lane up. Only an initialize right before it comes first.
func (s *session) shutdown(ctx context.Context, _ *jsonrpc2.Request) (result any, err error) {
	if s.conn.Load() != nil {
		s.owed.given(ctx, func() {})
	}
	if begun := s.begun.Load(); begun != nil {
		select {
		case <-*begun:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if !s.ready.Load() {
		return nil, errNotInitialized
	}
	if s.srv.Shutdown == nil && s.impl == nil || !s.hooked.CompareAndSwap(false, true) {
		return nil, nil
	}
	if s.impl != nil {
		err = s.guestShutdown(ctx)
	}
	if s.srv.Shutdown != nil {
		err = errors.Join(err, s.srv.Shutdown(ctx))
	}
	return nil, err
}

// ExitCode returns the exit code for a process that served the session of m (LSP 3.18, "Exit Notification"): 0 if shutdown was received, 1 if not, also
// where the input ended without exit; 1 after an error. The runtime asks once for each session.
func (s *Server) ExitCode(m *jsonrpc2.Mux, err error) int {
	v, ok := s.sessions.LoadAndDelete(weak.Make(m))
	if !ok || err != nil {
		return 1
	}
	return v.(*lifecycle).code()
}

// OnParent hands the session of m the function that watches the process which the client names in initialize.processId. The runtime calls it where the
// number means something. With [Server.IgnoreParent] nothing is watched.
func (s *Server) OnParent(m *jsonrpc2.Mux, watch func(pid int)) {
	if s.IgnoreParent {
		return
	}
	if v, ok := s.sessions.Load(weak.Make(m)); ok {
		v.(*lifecycle).watch.Store(&watch)
	}
}

// remember keeps the lifecycle of a session for ExitCode. Who mounts a Server without the runtime never asks, so the entry also goes when the Mux does.
// The Server, whose functions may lead to the Mux, must not be held for that.
func (s *Server) remember(m *jsonrpc2.Mux, l *lifecycle) {
	key, server := weak.Make(m), weak.Make(s)
	s.sessions.Store(key, l)
	runtime.AddCleanup(m, func(k weak.Pointer[jsonrpc2.Mux]) {
		if s := server.Value(); s != nil {
			s.sessions.Delete(k)
		}
	}, key)
}
