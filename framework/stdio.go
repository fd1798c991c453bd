package framework

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// stdioBusy is set while a ServeStdio runs.
var stdioBusy atomic.Bool

// ServeStdio serves one connection on standard input and output, like [Runtime.ServeConn]. While it runs, standard output belongs to the
// connection and to nobody else: [os.Stdout] is standard error, so a stray fmt.Println cannot get between two messages. On Unix this holds for
// the file descriptor 1 as well, and so for loggers made before, for C code, and for child processes. It is undone before ServeStdio returns. Not
// covered: on Windows, an *os.File or handle of standard output that was got before; and code that writes to the connection's own descriptor.
//
// The end of the input means that no more requests come; those that came still have [StdioLinger] to finish, and their answers are written. A
// peer that closes our output ends the session with an error, which is returned, unless what it had sent before ends the session in good order, as
// "exit" of LSP does. SIGPIPE, which would end the process, is caught as long as ServeStdio runs, and a standard error that nobody reads any more
// does no harm.
//
// Standard input cannot be interrupted on every system. If the session ends for another reason than the end of the input, a goroutine may stay
// behind in a read of it and take what comes next, so that standard input is of no use afterwards.
func (rt *Runtime) ServeStdio(ctx context.Context, fes ...FrontEnd) error {
	_, err := rt.serveStdio(ctx, place{name: "stdio", parent: true, linger: StdioLinger}, fes)
	return err
}

func (rt *Runtime) serveStdio(ctx context.Context, at place, fes []FrontEnd) (int, error) {
	if !stdioBusy.CompareAndSwap(false, true) {
		return 1, ErrStdioBusy
	}
	defer stdioBusy.Store(false)
	defer catchPipe()()
	out, restore, err := guardStdout()
	if err != nil {
		return 1, err
	}
	defer restore()
	if rt.PipeSize > 0 {
		setPipeSize(os.Stdin, rt.PipeSize)
		setPipeSize(out, rt.PipeSize)
	}
	streams := &stdio{in: os.Stdin, out: out}
	defer streams.release()
	return rt.serve(ctx, streams, at, fes)
}

// catchPipe keeps SIGPIPE, which a write to a closed standard output or error raises, from ending the process. It is caught and not ignored
// because children inherit what is ignored.
func catchPipe() (release func()) {
	caught := make(chan os.Signal, 1) // full after the first; the rest is dropped
	signal.Notify(caught, syscall.SIGPIPE)
	return func() { signal.Stop(caught) }
}

// stdio is standard input and output as one stream. Closing it interrupts reads and writes where the system can, and otherwise keeps new ones
// from starting; it leaves the descriptors open, they are the process's.
type stdio struct {
	in, out *os.File
	closed  atomic.Bool
	once    sync.Once
}

func (s *stdio) Read(p []byte) (int, error) {
	if s.closed.Load() {
		return 0, os.ErrClosed
	}
	return s.in.Read(p)
}

func (s *stdio) Write(p []byte) (int, error) {
	if s.closed.Load() {
		return 0, os.ErrClosed
	}
	return s.out.Write(p)
}

// SetWriteDeadline works where the descriptor can be polled.
func (s *stdio) SetWriteDeadline(t time.Time) error {
	if s.closed.Load() {
		return os.ErrClosed
	}
	return s.out.SetWriteDeadline(t)
}

func (s *stdio) Close() error {
	s.once.Do(func() {
		s.closed.Store(true)
		past := time.Unix(1, 0)
		if err := s.in.SetReadDeadline(past); err != nil && !errors.Is(err, os.ErrNoDeadline) {
			return // it is closed already
		}
		_ = s.out.SetWriteDeadline(past)
	})
	return nil
}

// release takes the deadlines back: the descriptors are the process's again.
func (s *stdio) release() {
	_ = s.in.SetReadDeadline(time.Time{})
	_ = s.out.SetWriteDeadline(time.Time{})
}
