// Package try runs a server as a child process, talks to it as a client, and prints the traffic for people to read: what the demos do with -try.
//
//	err := try.Run(ctx, &try.Peer{
//		Command:     exec.Command(self, "--stdio"),
//		Framing:     jsonrpc2.Header,
//		Conventions: server.Conventions(),
//		Out:         os.Stdout,
//	}, func(ctx context.Context, s *try.Session) error {
//		s.Step("Hover over a link")
//		return s.Conn.Call(ctx, "textDocument/hover", params, nil)
//	})
//
// Every message is printed with the time since the start, an arrow, and its text without secrets, cut in the middle if it is long:
//
//	12.3ms → {"jsonrpc":"2.0","id":1,"method":"initialize", ...
//	14.0ms ← {"jsonrpc":"2.0","id":1,"result": ...
package try

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"sync/atomic"
	"time"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/logging"
)

// Peer is the server to try, and the client that tries it.
type Peer struct {
	Command     *exec.Cmd           // its Stdin and Stdout must not be set
	Framing     jsonrpc2.Framing    // of the server
	Conventions []cancel.Convention // the first is spoken
	Codec       jsonrpc2.Codec      // of the client; nil: the engine's own
	Mux         *jsonrpc2.Mux       // what the client answers; nil: nothing
	Redact      []string            // names of secret members beyond those of package logging
	Out         io.Writer           // what is printed
	Width       int                 // longest message in full; 0 is DefaultWidth
	Report      func(error)         // what goes wrong at the client; nil: dropped
	Grace       time.Duration       // how long the server may take to end once its input has; 0 is DefaultGrace
}

// Defaults of Peer: Width in bytes, and Grace.
const (
	DefaultWidth = 400
	DefaultGrace = 30 * time.Second
)

// Session is what a script works with.
type Session struct {
	Conn *jsonrpc2.Conn
	out  *printer
}

// Step prints a heading.
func (s *Session) Step(format string, args ...any) { s.out.step(fmt.Sprintf(format, args...)) }

// Note prints a line of its own between the messages.
func (s *Session) Note(format string, args ...any) { s.out.note(fmt.Sprintf(format, args...)) }

// Join connects to the same server as somebody else, at a Unix socket it serves, with what p says of the client; the rest of p plays no part. The messages
// are printed with the label. It waits for the socket until ctx ends. leave closes the connection and waits for its end.
func (s *Session) Join(ctx context.Context, label, socket string, p *Peer) (conn *jsonrpc2.Conn, leave func(), err error) {
	var stream net.Conn
	for {
		if stream, err = new(net.Dialer).DialContext(ctx, "unix", socket); err == nil {
			break
		}
		select {
		case <-time.After(10 * time.Millisecond): // the server has not come so far
		case <-ctx.Done():
			return nil, nil, err
		}
	}
	o := &jsonrpc2.Options{Tap: labelled{s.out, label}, Codec: p.Codec, Cancel: cancel.NewRegistry(p.Conventions...)}
	conn = jsonrpc2.NewConn(jsonrpc2.Open(stream, p.Framing), p.Mux, o)
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = conn.Serve(context.WithoutCancel(ctx)) // calls tell that it has ended
	}()
	return conn, func() { _ = conn.Close(); <-served }, nil
}

// Run starts the server, runs the script, ends the server's input and waits for it. The error is the script's, if that fails, else one if the server
// does not end by itself within Peer.Grace, or not with exit code 0. When Run returns the child is gone.
func Run(ctx context.Context, p *Peer, script func(ctx context.Context, s *Session) error) error {
	in, err := p.Command.StdinPipe()
	if err != nil {
		return err
	}
	out, err := p.Command.StdoutPipe()
	if err != nil {
		return err
	}
	lines := newPrinter(p.Out, p.Width, logging.NewRedactor(p.Redact...))
	if err := p.Command.Start(); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	o := &jsonrpc2.Options{Tap: lines, Codec: p.Codec, Cancel: cancel.NewRegistry(p.Conventions...)}
	if p.Report != nil {
		o.Report = func(_ context.Context, _ *jsonrpc2.Request, err error) { p.Report(err) }
	}
	var sent atomic.Int64
	conn := jsonrpc2.NewConn(jsonrpc2.Open(jsonrpc2.Join(out, &counted{in, &sent}), p.Framing), p.Mux, o)
	served := make(chan error, 1)
	go func() { served <- conn.Serve(context.WithoutCancel(ctx)) }()

	failed := script(ctx, &Session{Conn: conn, out: lines})
	drain(lines, &sent)
	_ = in.Close() // the end of the input ends the server, if it has not ended already
	grace := p.Grace
	if grace <= 0 {
		grace = DefaultGrace
	}
	killed := !wait(conn, served, grace)
	if killed {
		_ = p.Command.Process.Kill()
	}
	err = p.Command.Wait()
	code := p.Command.ProcessState.ExitCode()
	switch {
	case killed:
		err = fmt.Errorf("the server did not end within %v", grace)
	case err != nil:
		err = fmt.Errorf("the server ended badly: %w", err)
	default:
		lines.note(fmt.Sprintf("the server has ended with exit code %d", code))
	}
	return errors.Join(failed, err)
}

// counted counts the bytes that have been written.
type counted struct {
	io.WriteCloser
	n *atomic.Int64
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.WriteCloser.Write(p)
	c.n.Add(int64(n))
	return n, err
}

// drain waits, for ten seconds at most, until all messages have been written: a cancellation is sent by nobody who waits for it.
func drain(p *printer, sent *atomic.Int64) {
	for end := time.Now().Add(10 * time.Second); sent.Load() < p.bytes.Load() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

// wait waits for the server to close its output, and reports whether it did.
func wait(conn *jsonrpc2.Conn, served <-chan error, grace time.Duration) bool {
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-served:
		return true
	case <-t.C:
		_ = conn.Close()
		<-served
		return false
	}
}
