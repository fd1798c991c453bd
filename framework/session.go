package framework

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// place is what the ways of serving differ in.
type place struct {
	name      string             // for the log
	transport jsonrpc2.Transport // in place of a stream
	linger    time.Duration      // grace after the end of input where Options say none
	detect    time.Duration      // how long the first byte may take to choose a front end; 0: for ever
	public    bool               // anyone on the machine may connect, web pages in a browser too

	// parent: the peer started this process or told it where to connect, so a process id that it names is one of this machine.
	parent bool
	// started is called before Serve, if not nil.
	started func(*session, *jsonrpc2.Conn, *jsonrpc2.Options)
}

// session is one connection from its first byte to its exit code.
type session struct {
	rwc io.ReadWriteCloser
	log hclog.Logger

	over chan struct{} // closed by the first end

	mu    sync.Mutex
	conn  *jsonrpc2.Conn // nil until the front end is chosen
	cause error          // given to the first end
}

// serve runs one session and returns its exit code and its error.
func (rt *Runtime) serve(ctx context.Context, rwc io.ReadWriteCloser, at place, fes []FrontEnd) (int, error) {
	s := &session{rwc: rwc, log: rt.logger(), over: make(chan struct{})}
	if err := rt.add(s); err != nil {
		_ = rwc.Close()
		return 1, err
	}
	defer rt.remove(s)
	code, err := s.run(ctx, rt, at, fes)
	_ = rwc.Close() // the connection has done so unless it never began
	return code, err
}

func (s *session) run(ctx context.Context, rt *Runtime, at place, fes []FrontEnd) (int, error) {
	fe, stream, err := s.choose(ctx, at, fes)
	switch {
	case err != nil && s.isOver():
		if err = s.reason(); err != nil {
			return 1, err
		}
		return 0, nil
	case errors.Is(err, io.EOF):
		return 0, nil // nobody said anything
	case err != nil:
		return 1, err
	}
	s.log = s.log.With("protocol", fe.Protocol(), "connection", at.name)
	o := rt.options(fe, s.log, at)
	fed := rt.feed(o, fe, at)
	mux, err := mount(fe, o)
	if err != nil {
		fed(err)
		return 1, fmt.Errorf("framework: mount %s: %w", fe.Protocol(), err)
	}
	transport := at.transport
	if transport == nil {
		transport = jsonrpc2.Open(stream, fe.Framing())
	}
	conn := jsonrpc2.NewConn(transport, mux, o)
	watching, stop := context.WithCancel(ctx)
	defer stop()
	if p, ok := fe.(Parented); ok && at.parent {
		var once sync.Once
		p.OnParent(mux, func(pid int) {
			if pid > 0 {
				once.Do(func() { go s.watch(watching, pid) })
			}
		})
	}
	s.begin(conn)
	if at.started != nil {
		at.started(s, conn, o)
	}
	s.log.Debug("session begins")
	err = conn.Serve(ctx)
	if cause := s.reason(); cause != nil && (err == nil || errors.Is(err, jsonrpc2.ErrClosed)) {
		err = cause
	}
	fed(err)
	code := 0
	if err != nil {
		code = 1
	}
	if e, ok := fe.(Exiter); ok {
		code = exitCode(e, mux, err)
	}
	s.log.Debug("session ended", "code", code, "error", rt.text(err))
	return code, err
}

// choose finds the front end for the peer. The wait for the first byte ends when the session does, even where the read itself cannot be
// interrupted: then a goroutine is left behind in it.
func (s *session) choose(ctx context.Context, at place, fes []FrontEnd) (FrontEnd, io.ReadWriteCloser, error) {
	switch {
	case len(fes) == 0:
		return nil, nil, ErrNoFrontEnd
	case len(fes) == 1 && at.public && fes[0].Framing() == jsonrpc2.Lines:
		return fes[0], &noHeader{ReadWriteCloser: s.rwc}, nil
	case len(fes) == 1:
		return fes[0], s.rwc, nil
	}
	type detected struct {
		framing jsonrpc2.Framing
		stream  io.ReadWriteCloser
		err     error
	}
	found := make(chan detected, 1)
	go func() {
		f, stream, err := jsonrpc2.Detect(s.rwc)
		found <- detected{f, stream, err}
	}()
	var d detected
	var late <-chan time.Time
	if at.detect > 0 {
		t := time.NewTimer(at.detect)
		defer t.Stop()
		late = t.C
	}
	select {
	case d = <-found:
	case <-s.over:
		return nil, nil, jsonrpc2.ErrClosed
	case <-late:
		s.end(errSilent)
		return nil, nil, errSilent
	case <-ctx.Done():
		s.end(ctx.Err())
		return nil, nil, ctx.Err()
	}
	if d.err != nil {
		return nil, nil, d.err
	}
	for _, fe := range fes {
		if fe.Framing() == d.framing {
			return fe, d.stream, nil
		}
	}
	return nil, nil, fmt.Errorf("%w: the peer uses the framing %q", ErrNoFrontEnd, d.framing)
}

var errSilent = errors.New("framework: the peer sent nothing")

// mount calls Mount and survives it: one connection's failure must not become that of all.
func mount(fe FrontEnd, o *jsonrpc2.Options) (m *jsonrpc2.Mux, err error) {
	err = contain(func() error {
		m, err = fe.Mount(o)
		return err
	})
	return m, err
}

// contain calls f and makes an error of a panic.
func contain(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &jsonrpc2.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return f()
}

func exitCode(e Exiter, m *jsonrpc2.Mux, err error) (code int) {
	defer func() {
		if recover() != nil {
			code = 1
		}
	}()
	return e.ExitCode(m, err)
}

// watch ends the session when the process does.
func (s *session) watch(ctx context.Context, pid int) {
	if waitProcess(ctx, pid) == nil {
		s.end(&ParentGoneError{PID: pid})
	}
}

// begin hands the session its connection. One that has ended meanwhile gets a closed connection.
func (s *session) begin(c *jsonrpc2.Conn) {
	s.mu.Lock()
	s.conn = c
	s.mu.Unlock()
	if s.isOver() {
		_ = c.Close()
	}
}

// end ends the session at once. The first cause counts; nil is as good as any.
func (s *session) end(cause error) {
	s.mu.Lock()
	conn := s.conn
	if !s.isOver() {
		s.cause = cause
		close(s.over)
	}
	s.mu.Unlock()
	if conn != nil {
		_ = conn.Close()
	} else {
		_ = s.rwc.Close() // ends the wait for the first byte
	}
}

// shutdown lets handlers finish until ctx ends.
func (s *session) shutdown(ctx context.Context) {
	s.mu.Lock()
	conn := s.conn
	s.mu.Unlock()
	if conn == nil {
		s.end(nil)
		return
	}
	_ = conn.Shutdown(ctx) // its error is ctx's, which Runtime.Shutdown returns itself
}

func (s *session) isOver() bool {
	select {
	case <-s.over:
		return true
	default:
		return false
	}
}

func (s *session) reason() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cause
}
