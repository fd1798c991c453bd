package framework

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/logging"
)

// DefaultMaxConns is how many connections of all listeners a [Runtime] serves at once where MaxConns is zero.
const DefaultMaxConns = 1024

// StdioLinger is how long handlers go on after standard input has ended where [jsonrpc2.Options.Linger] is zero: input that comes from a file
// or a pipe is over before the first slow answer is ready.
const StdioLinger = 5 * time.Second

var (
	// ErrShutdown is returned by the serving methods of a [Runtime] once [Runtime.Shutdown] has been called.
	ErrShutdown = errors.New("framework: runtime is shut down")
	// ErrNoFrontEnd is returned when no front end was given, or none has the framing that the peer uses.
	ErrNoFrontEnd = errors.New("framework: no front end for this connection")
	// ErrStdioBusy is returned by [Runtime.ServeStdio] while another one runs in the process.
	ErrStdioBusy = errors.New("framework: standard input and output are being served already")
)

// Runtime serves front ends on standard input and output, on connections, and on listeners. The zero value is ready to use. The fields must not
// be changed, nor the Runtime be copied, once it serves; all methods are safe for concurrent use.
type Runtime struct {
	// Logger gets what goes wrong and, at level debug, the redacted traffic. nil: nothing is logged. The level is looked at when a connection
	// begins: at a higher one traffic logging costs nothing at all. It must not write to standard output, where the messages go.
	Logger hclog.Logger
	// Redact are names of members whose values must not be logged, beyond those of [logging.Redactor].
	Redact []string
	// Options are those of every connection. Cancel, if nil, gets the front end's conventions; to Tap, Report and Observe the runtime's own are
	// added. A negative Linger is none, also on standard input.
	Options jsonrpc2.Options
	// Feeds get the traffic of all connections, without its secrets, and the times each message waited and ran: recordings and pages that show it,
	// see package logging. A slow one holds up nothing. Without any nothing is looked at.
	Feeds []*logging.Feed
	// Metrics counts the messages of all connections. nil: none are counted.
	Metrics *Metrics
	// MaxConns is how many connections from listeners are served at once; a further one is closed when it comes, and logged. 0 is
	// DefaultMaxConns, negative: no limit.
	MaxConns int
	// Web serves the connections that begin with an HTTP request on the listeners of [Runtime.Serve], and so of --listen. Nil: they are refused.
	Web Web
	// Beside are places where [Config.Run] serves as well, from before its own connection begins until that has ended: connections there are then shut
	// down. One program serves an editor on standard input and agents on a port this way, see the package documentation.
	Beside []Endpoint
	// PipeSize, if above 0, asks the system to let so many bytes wait in the pipes that standard input and output are. Linux has it; messages of
	// a megabyte get through much faster with 1 << 20. The system counts it against the user's limit, and refusal does no harm.
	PipeSize int

	number    atomic.Int64 // of the last connection from a listener, for the log
	mu        sync.Mutex
	closing   bool
	sessions  map[*session]struct{}
	listeners map[net.Listener]struct{}
	drained   chan struct{} // closed when closing and sessions is empty
	accepted  int           // sessions that count against MaxConns
}

// ServeConn serves one connection until it ends, and closes it. Of several front ends the first is taken that has the framing of the peer's
// first message, see [jsonrpc2.Detect]; until that has come nothing is sent. With one front end nothing is looked at.
//
// It returns nil when the input ended between two messages, after Close or Shutdown, and else the reason. When ctx ends, handlers are
// cancelled and the error is that of ctx. Where framing is lost nothing more is written, and the error is a [*jsonrpc2.FrameError] that names
// the header field or the missing bytes.
func (rt *Runtime) ServeConn(ctx context.Context, rwc io.ReadWriteCloser, fes ...FrontEnd) error {
	_, err := rt.serve(ctx, rwc, place{name: "conn"}, fes)
	return err
}

// ServeTransport is ServeConn for messages that do not come as a stream of bytes: a [jsonrpc2.Pipe], or a WebSocket. The framing of the front end
// plays no part.
func (rt *Runtime) ServeTransport(ctx context.Context, t jsonrpc2.Transport, fe FrontEnd) error {
	_, err := rt.serve(ctx, nothing{t}, place{name: "transport", transport: t}, []FrontEnd{fe})
	return err
}

// nothing is the stream that a connection over a Transport does not have.
type nothing struct{ io.Closer }

func (nothing) Read([]byte) (int, error)  { return 0, io.EOF }
func (nothing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// Shutdown ends all serving: listeners are closed, connections read no more, handlers that run may finish, and what they answer is sent. It
// returns nil when everything has ended. When ctx ends first, the contexts of the handlers left are cancelled, their connections closed, and
// ctx's error is returned. Serving methods called later return [ErrShutdown]. It may be called more than once; a handler must not wait for it.
func (rt *Runtime) Shutdown(ctx context.Context) error {
	rt.mu.Lock()
	rt.closing = true
	if rt.drained == nil {
		rt.drained = make(chan struct{})
		if len(rt.sessions) == 0 {
			close(rt.drained)
		}
	}
	drained := rt.drained
	sessions := make([]*session, 0, len(rt.sessions))
	for s := range rt.sessions {
		sessions = append(sessions, s)
	}
	listeners := make([]net.Listener, 0, len(rt.listeners))
	for l := range rt.listeners {
		listeners = append(listeners, l)
	}
	rt.mu.Unlock()

	for _, l := range listeners {
		_ = l.Close() // Accept says so if it failed
	}
	for _, s := range sessions {
		go s.shutdown(ctx)
	}
	select {
	case <-drained:
		return nil
	case <-ctx.Done():
	}
	for _, s := range sessions {
		s.end(nil)
	}
	return ctx.Err()
}

// add makes a session part of the runtime. It fails once the runtime is shutting down.
func (rt *Runtime) add(s *session) error {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if rt.closing {
		return ErrShutdown
	}
	if rt.sessions == nil {
		rt.sessions = map[*session]struct{}{}
	}
	rt.sessions[s] = struct{}{}
	return nil
}

func (rt *Runtime) remove(s *session) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	delete(rt.sessions, s)
	if rt.closing && len(rt.sessions) == 0 && rt.drained != nil {
		select {
		case <-rt.drained:
		default:
			close(rt.drained)
		}
	}
}

func (rt *Runtime) logger() hclog.Logger {
	if rt.Logger == nil {
		return hclog.NewNullLogger()
	}
	return rt.Logger
}

// text is the text of an error as a log may have it.
func (rt *Runtime) text(err error) hclog.Quote {
	return quote(scrub(logging.NewRedactor(rt.Redact...), errorText(err)))
}
