package framework_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/framework"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

func TestServeChoosesByFirstByte(t *testing.T) {
	var rt framework.Runtime
	address, wait := serve(t, &rt, newFront(jsonrpc2.Header), newFront(jsonrpc2.Lines))
	for name, test := range map[string]struct{ send, want string }{
		"header":                {header(ask), header(answer)},
		"line":                  {ask + "\n", answer + "\n"},
		"line after blanks":     {" \r\n\n" + ask + "\n", answer + "\n"},
		"line after a mark":     {"\xef\xbb\xbf" + ask + "\n", answer + "\n"},
		"lower-case header":     {"content-length:" + header(ask)[15:], header(answer)},
		"batch on a line":       {"[" + ask + "]\n", "[" + answer + "]\n"},
		"content type at first": {"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n" + header(ask), header(answer)},
	} {
		t.Run(name, func(t *testing.T) {
			exchange(t, dial(t, address), test.send, test.want)
		})
	}
	t.Run("neither", func(t *testing.T) {
		c := dial(t, address)
		_, _ = io.WriteString(c, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03") // TLS
		if s := closed(t, c); s != "" {
			t.Errorf("answered with %q", s)
		}
	})
	t.Run("nothing", func(t *testing.T) {
		c := dial(t, address)
		_ = c.(*net.TCPConn).CloseWrite()
		if s := closed(t, c); s != "" {
			t.Errorf("answered with %q", s)
		}
	})
	if err := rt.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if err := wait(); err != nil {
		t.Errorf("Serve returned %v after Shutdown", err)
	}
}

// A web page can make a browser send this to a local port.
func TestServeRefusesHTTP(t *testing.T) {
	for name, fes := range map[string][]framework.FrontEnd{
		"lines":  {newFront(jsonrpc2.Lines)},
		"header": {newFront(jsonrpc2.Header)},
		"both":   {newFront(jsonrpc2.Lines), newFront(jsonrpc2.Header)},
	} {
		t.Run(name, func(t *testing.T) {
			var rt framework.Runtime
			var calls atomic.Int32
			for _, fe := range fes {
				fe.(*front).mount = func(_ *jsonrpc2.Options, m *jsonrpc2.Mux) error {
					m.Use(func(h jsonrpc2.Handler) jsonrpc2.Handler {
						calls.Add(1)
						return h
					})
					m.Fallback(jsonrpc2.HandlerFunc(func(context.Context, *jsonrpc2.Request) (any, error) { calls.Add(1); return nil, nil }))
					return nil
				}
			}
			address, wait := serve(t, &rt, fes...)
			c := dial(t, address)
			_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 54\r\n\r\n\n"+ask+"\n")
			if s := closed(t, c); s != "" {
				t.Errorf("a web page got %q", s)
			}
			_ = rt.Shutdown(context.Background())
			_ = wait()
		})
	}
}

func TestServeKeepsConnectionsApart(t *testing.T) {
	rt := framework.Runtime{Metrics: new(framework.Metrics)}
	fe := newFront(jsonrpc2.Header)
	var mounts atomic.Int32
	fe.mount = func(*jsonrpc2.Options, *jsonrpc2.Mux) error {
		switch mounts.Add(1) {
		case 2:
			panic("mount panics")
		case 3:
			return errTest
		}
		return nil
	}
	address, wait := serve(t, &rt, fe)
	good := dial(t, address)
	exchange(t, good, header(ask), header(answer))
	for _, name := range []string{"panic in Mount", "error of Mount"} {
		if s := closed(t, dial(t, address)); s != "" {
			t.Errorf("%s: answered with %q", name, s)
		}
	}
	lost := dial(t, address)
	_, _ = io.WriteString(lost, "Content-Length: -1\r\n\r\n")
	if s := closed(t, lost); s != "" {
		t.Errorf("lost framing: answered with %q", s)
	}
	left := dial(t, address)
	exchange(t, left, header(`{"jsonrpc":"2.0","id":1,"method":"hold"}`), header(`{"jsonrpc":"2.0","method":"running"}`))
	left.Close()
	exchange(t, good, header(`{"jsonrpc":"2.0","id":2,"method":"panic"}`), header(`{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"Internal error"}}`))
	exchange(t, good, header(ask), header(answer))
	_ = rt.Shutdown(context.Background())
	if err := wait(); err != nil {
		t.Error(err)
	}
	fe.mu.Lock()
	defer fe.mu.Unlock()
	if len(fe.exits) != 3 || len(fe.sessions) != 2 { // those whose Mount failed never began
		t.Errorf("ExitCode was called %d times, %d sessions are left", len(fe.exits), len(fe.sessions))
	}
}

func TestServeMaxConns(t *testing.T) {
	rt := framework.Runtime{MaxConns: 2}
	address, wait := serve(t, &rt, newFront(jsonrpc2.Header))
	first, second := dial(t, address), dial(t, address)
	exchange(t, first, header(ask), header(answer))
	exchange(t, second, header(ask), header(answer))
	if s := closed(t, dial(t, address)); s != "" {
		t.Errorf("the third was answered with %q", s)
	}
	exchange(t, first, header(ask), header(answer))
	first.Close()
	for deadline := time.Now().Add(patience); ; { // until the server has noticed
		c := dial(t, address)
		_, _ = io.WriteString(c, header(ask))
		if n, _ := c.Read(make([]byte, 1)); n == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no connection is taken after one has ended")
		}
	}
	_ = rt.Shutdown(context.Background())
	_ = wait()
}

// flaky fails to accept at first.
type flaky struct {
	net.Listener
	failures atomic.Int32
}

func (f *flaky) Accept() (net.Conn, error) {
	if f.failures.Add(-1) >= 0 {
		return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", errors.New("too many open files"))}
	}
	return f.Listener.Accept()
}

func TestServeGoesOnAfterAcceptErrors(t *testing.T) {
	ln := &flaky{Listener: listen(t, "tcp", "127.0.0.1:0")}
	ln.failures.Store(4)
	var rt framework.Runtime
	result := make(chan error, 1)
	go func() { result <- rt.Serve(context.Background(), ln, newFront(jsonrpc2.Header)) }()
	exchange(t, dial(t, ln.Addr().String()), header(ask), header(answer))
	_ = ln.Close()
	select {
	case err := <-result:
		t.Errorf("Serve returned %v while a connection was open", err)
	default:
	}
	_ = rt.Shutdown(context.Background())
	if err := <-result; err != nil && !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

func TestServeEndsWithContext(t *testing.T) {
	var rt framework.Runtime
	ln := listen(t, "tcp", "127.0.0.1:0")
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error, 1)
	go func() { result <- rt.Serve(ctx, ln, newFront(jsonrpc2.Header), newFront(jsonrpc2.Lines)) }()
	silent, busy := dial(t, ln.Addr().String()), dial(t, ln.Addr().String())
	exchange(t, busy, header(`{"jsonrpc":"2.0","id":1,"method":"hold"}`), header(`{"jsonrpc":"2.0","method":"running"}`))
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("Serve returned %v", err)
	}
	if s := closed(t, silent); s != "" {
		t.Errorf("a silent peer got %q", s)
	}
	closed(t, busy)
}

func TestShutdownLetsHandlersFinish(t *testing.T) {
	var rt framework.Runtime
	address, wait := serve(t, &rt, newFront(jsonrpc2.Header))
	c, idle := dial(t, address), dial(t, address)
	exchange(t, idle, header(ask), header(answer))
	exchange(t, c, header(`{"jsonrpc":"2.0","id":1,"method":"finish"}`), header(`{"jsonrpc":"2.0","method":"running"}`))
	var all sync.WaitGroup
	for range 3 { // more than once does no harm
		all.Go(func() {
			if err := rt.Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got, want := closed(t, c), header(`{"jsonrpc":"2.0","id":1,"result":"finished"}`); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := wait(); err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", address); err == nil {
		t.Error("the listener is still open")
	}
	a, b := net.Pipe()
	defer b.Close()
	if err := rt.ServeConn(context.Background(), a, newFront(jsonrpc2.Lines)); !errors.Is(err, framework.ErrShutdown) {
		t.Errorf("ServeConn returned %v", err)
	}
	if err := rt.Serve(context.Background(), listen(t, "tcp", "127.0.0.1:0"), newFront(jsonrpc2.Lines)); !errors.Is(err, framework.ErrShutdown) {
		t.Errorf("Serve returned %v", err)
	}
}

func TestShutdownCancelsWhenLate(t *testing.T) {
	var rt framework.Runtime
	address, wait := serve(t, &rt, newFront(jsonrpc2.Header))
	c := dial(t, address)
	exchange(t, c, header(`{"jsonrpc":"2.0","id":1,"method":"hold"}`), header(`{"jsonrpc":"2.0","method":"running"}`))
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if err := rt.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) && err != nil {
		t.Errorf("Shutdown returned %v", err)
	}
	closed(t, c)
	if err := wait(); err != nil {
		t.Error(err)
	}
}

// A Shutdown in the very moment a connection comes must not leave it alone.
func TestShutdownRacesWithConnections(t *testing.T) {
	for range 50 {
		var rt framework.Runtime
		address, wait := serve(t, &rt, newFront(jsonrpc2.Header), newFront(jsonrpc2.Lines))
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				c, err := net.Dial("tcp", address)
				if err != nil {
					return
				}
				defer c.Close()
				_ = c.SetDeadline(time.Now().Add(patience))
				_, _ = io.WriteString(c, header(ask))
				if _, err := io.ReadAll(c); err != nil && os.IsTimeout(err) {
					t.Error("a connection was left open")
				}
			})
		}
		if err := rt.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if err := wait(); err != nil && !errors.Is(err, framework.ErrShutdown) { // Serve may come second
			t.Error(err)
		}
		all.Wait()
	}
}

func TestServeConnErrors(t *testing.T) {
	for name, test := range map[string]struct {
		send string
		fes  []framework.FrontEnd
		want error
	}{
		"no front end":       {"", nil, framework.ErrNoFrontEnd},
		"other framing":      {ask + "\n", []framework.FrontEnd{newFront(jsonrpc2.Header), newFront(jsonrpc2.Header)}, framework.ErrNoFrontEnd},
		"end in the body":    {header(ask)[:30], []framework.FrontEnd{newFront(jsonrpc2.Header)}, io.ErrUnexpectedEOF},
		"end at the start":   {"", []framework.FrontEnd{newFront(jsonrpc2.Header), newFront(jsonrpc2.Lines)}, nil},
		"a line, no newline": {ask, []framework.FrontEnd{newFront(jsonrpc2.Lines)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			rwc := &oneShot{Reader: strings.NewReader(test.send)}
			var rt framework.Runtime
			if err := rt.ServeConn(context.Background(), rwc, test.fes...); !errors.Is(err, test.want) || err != nil && test.want == nil {
				t.Errorf("got %v, want %v", err, test.want)
			}
			if !rwc.closed.Load() {
				t.Error("the connection is not closed")
			}
		})
	}
}

// oneShot is input that ends, and output that goes nowhere.
type oneShot struct {
	io.Reader
	closed atomic.Bool
}

func (*oneShot) Write(p []byte) (int, error) { return len(p), nil }
func (o *oneShot) Close() error              { o.closed.Store(true); return nil }

// A runtime's options reach every connection and are not shared between them.
func TestServeConnOptions(t *testing.T) {
	var events, closes atomic.Int32
	rt := framework.Runtime{Metrics: new(framework.Metrics), Options: jsonrpc2.Options{
		MaxBatch: jsonrpc2.NoBatch,
		Observe:  func(jsonrpc2.Event) { events.Add(1) },
		OnClose:  func(*jsonrpc2.Conn, error) { closes.Add(1) },
	}}
	fe := newFront(jsonrpc2.Lines)
	fe.mount = func(o *jsonrpc2.Options, _ *jsonrpc2.Mux) error {
		if o.Cancel == nil || o.Observe == nil || o.Tap != nil || o.Report != nil {
			t.Errorf("cancel %v, observe %t, tap %v, report %t", o.Cancel, o.Observe != nil, o.Tap, o.Report != nil)
		}
		o.MaxFrame++
		if o.MaxFrame != 1 {
			t.Errorf("the options of another connection: %d", o.MaxFrame)
		}
		o.MaxFrame = 0
		return nil
	}
	for range 2 {
		a, b := net.Pipe()
		done := make(chan error, 1)
		go func() { done <- rt.ServeConn(context.Background(), a, fe) }()
		exchange(t, b, ask+"\n", answer+"\n")
		exchange(t, b, "["+ask+"]\n", `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"`)
		if _, err := bufio.NewReader(b).ReadString('\n'); err != nil {
			t.Error(err)
		}
		b.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if events.Load() != 2 || closes.Load() != 2 {
		t.Errorf("%d events, %d ends, want 2 of each", events.Load(), closes.Load())
	}
	if s := rt.Metrics.Snapshot(); len(s) != 1 || s[0].Count != 2 {
		t.Errorf("metrics %+v", s)
	}
}

func TestMetricsCountCancelled(t *testing.T) {
	for name, test := range map[string]struct {
		convention cancel.Convention
		answer     string
	}{
		"answered": {cancel.Convention{Method: "stop", Param: "id", Code: -1}, `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"Request cancelled"}}` + "\n"},
		"silent":   {cancel.Convention{Method: "stop", Param: "id", Silent: true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			fe := newFront(jsonrpc2.Lines)
			fe.conventions = []cancel.Convention{test.convention}
			rt := framework.Runtime{Metrics: new(framework.Metrics)}
			a, b := net.Pipe()
			done := make(chan error, 1)
			go func() { done <- rt.ServeConn(context.Background(), a, fe) }()
			exchange(t, b, `{"jsonrpc":"2.0","id":1,"method":"hold"}`+"\n", `{"jsonrpc":"2.0","method":"running"}`+"\n")
			exchange(t, b, `{"jsonrpc":"2.0","method":"stop","params":{"id":1}}`+"\n", test.answer)
			exchange(t, b, ask+"\n", answer+"\n")
			b.Close()
			if err := <-done; err != nil {
				t.Error(err)
			}
			for _, s := range rt.Metrics.Snapshot() {
				if want := int64(strings.Count(s.Method, "hold")); s.Count != 1 || s.Cancelled != want || s.Errors != 0 {
					t.Errorf("%+v", s)
				}
			}
		})
	}
}

func TestServeTransport(t *testing.T) {
	var rt framework.Runtime
	ours, theirs := jsonrpc2.Pipe()
	done := make(chan error, 1)
	go func() { done <- rt.ServeTransport(context.Background(), theirs, newFront(jsonrpc2.Header)) }()
	if err := ours.Write([]byte(ask)); err != nil {
		t.Fatal(err)
	}
	if got, err := ours.Read(); err != nil || string(got) != answer {
		t.Errorf("got %s, %v", got, err)
	}
	ours.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
