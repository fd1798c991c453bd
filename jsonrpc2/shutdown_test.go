package jsonrpc2

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-rpc/tandem/cancel"
)

// At the end of the input, what was received is answered: cancelled at once, or after Linger.
func TestEndOfInput(t *testing.T) {
	tests := []struct {
		name   string
		linger time.Duration
		want   []string
		took   time.Duration
	}{
		{"cancels", 0, []string{failure("1", -32800, "Request cancelled"), result("2", `"anyway"`), result("3", `"slow"`)}, time.Second},
		{"lingers", 5 * time.Second, []string{failure("1", -32800, "Request cancelled"), result("2", `"anyway"`), result("3", `"slow"`)}, 5 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				m := testMux(nil)
				m.HandleRequest("slow", HandlerFunc(func(ctx context.Context, r *Request) (any, error) { time.Sleep(time.Second); return "slow", nil }))
				a, b := net.Pipe()
				peer := Open(b, Lines)
				w := serveWire(t, Open(halfClosing{a}, Lines), peer, m, &Options{Linger: tt.linger, Cancel: cancel.NewRegistry(answered)})
				start := time.Now()
				w.send(request("1", "wait", ""), request("2", "stubborn", ""), request("3", "slow", ""), eot)
				w.wantAny(tt.want...)
				if err := <-w.err; err != nil {
					t.Error(err)
				}
				if took := time.Since(start); took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
				if len(w.reports) > 0 {
					t.Error(w.reports)
				}
			})
		})
	}
}

// halfClosing ends its input at a line that says so, while its output stays open, like a pipe to a process.
type halfClosing struct{ net.Conn }

const eot = "EOT"

func (h halfClosing) Read(p []byte) (int, error) {
	n, err := h.Conn.Read(p)
	if strings.Contains(string(p[:n]), eot) {
		return strings.Index(string(p[:n]), eot), io.EOF
	}
	return n, err
}

// A one-shot pipe gets all its answers, and the notifications on the way to them.
func TestOneShot(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := NewMux()
		m.HandleRequest("work", HandlerFunc(func(ctx context.Context, r *Request) (any, error) {
			select {
			case <-time.After(time.Millisecond):
				return "done", ConnFrom(ctx).Notify(ctx, "progress", nil)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}))
		a, b := net.Pipe()
		w := serveWire(t, Open(halfClosing{a}, Lines), Open(b, Lines), m, &Options{Linger: time.Second})
		go func() {
			for range 100 {
				w.send(request("1", "work", ""))
			}
			w.send(eot)
		}()
		var want []string
		for range 100 {
			want = append(want, result("1", `"done"`), note("progress", ""))
		}
		w.wantAny(want...)
		if err := <-w.err; err != nil {
			t.Error(err)
		}
		if err := w.conn.Notify(context.Background(), "m", nil); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	})
}

// Close cancels handlers, writes what was answered before, and waits for nobody; Serve waits.
func TestClose(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := testMux(nil)
		ended := make(chan struct{})
		m.HandleNotification("exit", HandlerFunc(func(ctx context.Context, r *Request) (any, error) {
			ConnFrom(ctx).Close()
			return nil, nil
		}))
		m.HandleRequest("last", HandlerFunc(func(ctx context.Context, r *Request) (any, error) {
			<-ctx.Done()
			time.Sleep(time.Second)
			close(ended)
			return "lost", nil
		}))
		closes := 0
		w := newWire(t, m, &Options{OnClose: func(c *Conn, err error) { closes++ }})
		call := w.conn.Go(context.Background(), "m", nil)
		w.want(request("1", "m", ""))
		w.send(request("1", "last", ""), request("2", "ping", ""))
		w.want(result("2", `"pong"`))
		w.send(note("exit", ""))
		if _, err := w.peer.Read(); err != io.EOF {
			t.Errorf("read %v", err)
		}
		if err := <-w.err; err != nil {
			t.Error(err)
		}
		select {
		case <-ended:
		default:
			t.Error("Serve returned before its handlers")
		}
		if err := call.Wait(nil); !errors.Is(err, ErrClosed) || closes != 1 {
			t.Error(err, closes)
		}
		<-w.conn.Closing()
		<-w.conn.Done()
	})
}

// What a handler answers to the end of its context is lost with Close, however quick it is.
func TestCloseLosesWhatRuns(t *testing.T) {
	for range 300 {
		w := newWire(t, testMux(nil), nil)
		w.send(request("1", "stubborn", ""), request("2", "ping", ""))
		w.want(result("2", `"pong"`))
		_ = w.conn.Close()
		if got, err := w.peer.Read(); err != io.EOF {
			t.Fatalf("read %s, %v", got, err)
		}
		if err := <-w.err; err != nil {
			t.Fatal(err)
		}
	}
}

func TestShutdown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := testMux(nil)
		m.HandleRequest("slow", HandlerFunc(func(ctx context.Context, r *Request) (any, error) {
			select {
			case <-time.After(time.Second):
				return "slow", nil
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}))
		w := newWire(t, m, nil)
		w.send(request("1", "slow", ""))
		synctest.Wait()
		if err := w.conn.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		w.want(result("1", `"slow"`))
		if err := <-w.err; err != nil {
			t.Error(err)
		}

		w = newWire(t, m, nil)
		w.send(request("1", "slow", ""))
		synctest.Wait()
		ctx, stop := context.WithTimeout(context.Background(), time.Millisecond)
		defer stop()
		if err := w.conn.Shutdown(ctx); err != context.DeadlineExceeded {
			t.Error(err)
		}
		w.want(failure("1", -32603, "Internal error"))
		<-w.err
	})
}

func TestServeContext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a, b := Pipe()
		type key struct{}
		m := NewMux()
		m.HandleRequest("wait", HandlerFunc(func(ctx context.Context, r *Request) (any, error) {
			<-ctx.Done()
			return ctx.Value(key{}), nil
		}))
		c := NewConn(a, m, nil)
		stopped := errors.New("stopped")
		ctx, stop := context.WithCancelCause(context.WithValue(context.Background(), key{}, "value"))
		err := make(chan error)
		go func() { err <- c.Serve(ctx) }()
		_ = b.Write([]byte(request("1", "wait", "")))
		synctest.Wait()
		stop(stopped)
		if got, _ := b.Read(); string(got) != result("1", `"value"`) {
			t.Errorf("got %s", got)
		}
		if got := <-err; got != stopped {
			t.Error(got)
		}
		if err := c.Notify(context.Background(), "m", nil); !errors.Is(err, ErrClosed) || !errors.Is(err, stopped) {
			t.Error(err)
		}
	})
}

// Where message boundaries are lost nothing is written about it, Serve says what was wrong, and what came before is answered.
func TestFramingLost(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"no length", "Foo: 1\r\n\r\n{}", "Content-Length"},
		{"negative", "Content-Length: -5\r\n\r\n{}", "Content-Length"},
		{"cut body", "Content-Length: 100\r\n\r\n{}", "98"},
		{"cut header", "Content-Le", "header"},
		{"twice", "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", "Content-Length"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				a, b := net.Pipe()
				w := serveWire(t, Open(halfClosing{a}, Header), Open(b, Header), testMux(nil), &Options{Linger: time.Second})
				go func() {
					w.send(request("1", "ping", ""))
					_, _ = io.WriteString(b, tt.in+eot)
				}()
				w.want(result("1", `"pong"`))
				_, err := w.peer.Read()
				if err != io.EOF {
					t.Errorf("then %v", err)
				}
				err = <-w.err
				if _, ok := errors.AsType[*FrameError](err); !ok || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("Serve: %v", err)
				}
				_ = b.Close()
			})
		})
	}
}

// A message over the limit is refused and the connection lives.
func TestMessageTooLarge(t *testing.T) {
	for _, f := range []Framing{Lines, Header} {
		t.Run(f.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				a, b := net.Pipe()
				w := serveWire(t, Open(a, f), Open(b, f), testMux(nil), &Options{MaxFrame: 1000})
				go w.send(request("1", "echo", `["`+strings.Repeat("x", 10000)+`"]`), request("2", "ping", ""))
				w.want(failure("null", -32600, "Message too large"), result("2", `"pong"`))
				_ = w.close()
			})
		})
	}
}

// slowPeer is a writer that blocks until it is let go.
type slowPeer struct {
	io.Reader
	wrote atomic.Int64
	go_   chan struct{}
	dead  chan struct{}
}

func (s *slowPeer) Write(p []byte) (int, error) {
	select {
	case <-s.go_:
		s.wrote.Add(int64(len(p)))
		return len(p), nil
	case <-s.dead:
		return 0, io.ErrClosedPipe
	}
}

func (s *slowPeer) Close() error { close(s.dead); return nil }

// A peer that sends and never reads costs a bounded amount of memory, and is dropped at the end.
func TestPeerDoesNotRead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		in, out := io.Pipe()
		s := &slowPeer{Reader: in, go_: make(chan struct{}), dead: make(chan struct{})}
		c := NewConn(Open(s, Lines), testMux(nil), nil)
		err := make(chan error)
		go func() { err <- c.Serve(context.Background()) }()
		var taken atomic.Int64
		line := []byte(request("1", "echo", `["`+strings.Repeat("x", 4000)+`"]`) + "\n")
		go func() {
			for {
				n, err := out.Write(line)
				if err != nil {
					return
				}
				taken.Add(int64(n))
			}
		}()
		time.Sleep(time.Minute)
		synctest.Wait()
		most := int64(DefaultMaxQueued + 2*DefaultMaxUnsent + 1<<20)
		if n := taken.Load(); n > most || n < DefaultMaxUnsent {
			t.Errorf("took %d bytes from a peer that does not read, want at most %d", n, most)
		}
		c.Close()
		if err := <-err; err != nil {
			t.Error(err)
		}
		_ = out.CloseWithError(io.EOF)
		_ = in.Close()
	})
}

// A peer that reads again gets everything.
func TestPeerReadsLate(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a, b := net.Pipe()
		w := serveWire(t, Open(a, Lines), Open(b, Lines), testMux(nil), &Options{MaxUnsent: 5000, MaxQueued: 20000})
		body := `["` + strings.Repeat("x", 1000) + `"]`
		const n = 200
		go func() {
			for range n {
				w.send(request("1", "echo", body))
			}
		}()
		time.Sleep(time.Minute)
		for range n {
			w.want(result("1", body))
		}
		_ = w.close()
	})
}

// Two peers that flood each other do not lock up.
func TestBothFlood(t *testing.T) {
	bubble(t, func(t *testing.T) {
		x, y := net.Pipe()
		a, b, stop := pairOver(Open(x, Lines), Open(y, Lines), testMux(nil), &Options{MaxUnsent: 3000, MaxQueued: 10000}, testMux(nil), &Options{MaxUnsent: 3000, MaxQueued: 10000})
		body := []string{strings.Repeat("x", 500)}
		done := make(chan error, 2)
		for _, c := range []*Conn{a, b} {
			go func() {
				calls := make([]*Pending, 0, 200)
				for range 200 {
					calls = append(calls, c.Go(context.Background(), "echo", body))
				}
				for _, p := range calls {
					if err := p.Wait(nil); err != nil && err != ErrOverloaded {
						done <- err
						return
					}
				}
				done <- nil
			}()
		}
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		stop()
	})
}

// A write that fails ends the connection with its error.
func TestWriteFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		in, out := io.Pipe()
		broken := errors.New("broken pipe")
		c := NewConn(Open(&failing{in, broken}, Lines), testMux(nil), nil)
		err := make(chan error)
		go func() { err <- c.Serve(context.Background()) }()
		_, _ = io.WriteString(out, request("1", "ping", "")+"\n")
		if err := <-err; !errors.Is(err, broken) {
			t.Error(err)
		}
		_ = out.Close()
	})
}

type failing struct {
	*io.PipeReader
	err error
}

func (f *failing) Write([]byte) (int, error) { return 0, f.err }

// A peer that takes nothing is dropped after WriteTimeout.
func TestWriteTimeout(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a, b := net.Pipe()
		defer b.Close()
		w := serveWire(t, Open(a, Lines), Open(b, Lines), testMux(nil), &Options{WriteTimeout: time.Minute})
		start := time.Now()
		w.send(request("1", "ping", ""))
		err := <-w.err
		if !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != time.Minute {
			t.Error(err, time.Since(start))
		}
	})
}

// A peer that is gone for good has ended the connection as it wished; that answers were lost is reported.
func TestWriteFailsAfterEnd(t *testing.T) {
	bubble(t, func(t *testing.T) {
		broken := errors.New("broken pipe")
		in, out := io.Pipe()
		m := NewMux()
		m.HandleRequest("slow", HandlerFunc(func(context.Context, *Request) (any, error) { time.Sleep(time.Second); return nil, nil }))
		w := serveWire(t, Open(&failing{in, broken}, Lines), nil, m, &Options{Linger: time.Minute})
		_, _ = io.WriteString(out, request("1", "slow", "")+"\n")
		_ = out.Close()
		if err := <-w.err; err != nil || w.reported("answers lost") != 1 {
			t.Error(err, w.reports)
		}
	})
}
