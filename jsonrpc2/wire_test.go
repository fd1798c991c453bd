package jsonrpc2

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// wire is a connection under test with the test itself as the other side: it writes and reads bare messages.
type wire struct {
	t    testing.TB
	conn *Conn
	peer Transport
	err  chan error // what Serve returned

	mu      sync.Mutex
	reports []string
}

func newWire(t testing.TB, mux *Mux, o *Options) *wire {
	a, b := Pipe()
	return serveWire(t, a, b, mux, o)
}

func serveWire(t testing.TB, a, b Transport, mux *Mux, o *Options) *wire {
	w := &wire{t: t, peer: b, err: make(chan error, 1)}
	if o == nil {
		o = new(Options)
	}
	o.Report = func(_ context.Context, r *Request, err error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		method := ""
		if r != nil {
			method = r.Method + ": "
		}
		w.reports = append(w.reports, method+err.Error())
	}
	w.conn = NewConn(a, mux, o)
	go func() { w.err <- w.conn.Serve(context.Background()) }()
	return w
}

func (w *wire) send(frames ...string) {
	w.t.Helper()
	for _, f := range frames {
		if err := w.peer.Write([]byte(f)); err != nil {
			w.t.Fatal(err)
		}
	}
}

// want reads as many messages as are given and compares them.
func (w *wire) want(frames ...string) {
	w.t.Helper()
	for _, f := range frames {
		got, err := w.peer.Read()
		if err != nil {
			w.t.Fatalf("%v, want %s", err, f)
		}
		if string(got) != f {
			w.t.Errorf("got  %s\nwant %s", got, f)
		}
	}
}

// wantAny is want in any order.
func (w *wire) wantAny(frames ...string) {
	w.t.Helper()
	left := map[string]int{}
	for _, f := range frames {
		left[f]++
	}
	for range frames {
		got, err := w.peer.Read()
		if err != nil {
			w.t.Fatalf("%v, want one of %v", err, left)
		}
		if left[string(got)]--; left[string(got)] < 0 {
			w.t.Errorf("got  %s\nwant one of %v", got, left)
		}
	}
}

// close ends the peer's side and returns what Serve returned; nothing more may have been written.
func (w *wire) close() error {
	w.t.Helper()
	_ = w.peer.Close()
	return <-w.err
}

// reported returns the reports so far that contain text.
func (w *wire) reported(text string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, r := range w.reports {
		if strings.Contains(r, text) {
			n++
		}
	}
	return n
}

func result(id, value string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":` + value + `}`
}

func failure(id string, code int, message string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, code, message)
}

func request(id, method, params string) string {
	if params != "" {
		params = `,"params":` + params
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `"` + params + `}`
}

func note(method, params string) string {
	if params != "" {
		params = `,"params":` + params
	}
	return `{"jsonrpc":"2.0","method":"` + method + `"` + params + `}`
}

// handlers of the tests: ping, echo, wait (until cancelled, then its context's error), boom, and gate, which waits for open to be closed.
func testMux(open chan struct{}) *Mux {
	m := NewMux()
	m.HandleRequest("ping", Call(func(context.Context, *struct{}) (string, error) { return "pong", nil }))
	m.HandleRequest("echo", HandlerFunc(func(_ context.Context, r *Request) (any, error) { return r.Params(), nil }))
	m.HandleRequest("wait", HandlerFunc(func(ctx context.Context, r *Request) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	m.HandleRequest("stubborn", HandlerFunc(func(ctx context.Context, r *Request) (any, error) {
		<-ctx.Done()
		return "anyway", nil
	}))
	m.HandleRequest("boom", HandlerFunc(func(context.Context, *Request) (any, error) { return nil, io.ErrUnexpectedEOF }))
	m.HandleRequest("panic", HandlerFunc(func(context.Context, *Request) (any, error) { panic("secret") }))
	m.HandleRequest("gate", HandlerFunc(func(ctx context.Context, r *Request) (any, error) {
		<-open
		return "through", ctx.Err()
	}))
	m.HandleNotification("note", HandlerFunc(func(context.Context, *Request) (any, error) { return nil, nil }))
	m.HandleNotification("hold", HandlerFunc(func(context.Context, *Request) (any, error) { <-open; return nil, nil }))
	m.HandleNotification("badNote", HandlerFunc(func(context.Context, *Request) (any, error) { return nil, io.ErrUnexpectedEOF }))
	return m
}

// bubble runs f in a synctest bubble with a deadline on its fake clock, so that a lost wake-up is a failure and not a hang.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		over := time.AfterFunc(time.Hour, func() { panic("test hangs") })
		defer over.Stop()
		f(t)
	})
}

// streamPair is a pipe between two streams, through the framing code.
func streamPair() (a, b Transport) {
	x, y := net.Pipe()
	return Open(x, Header), Open(y, Header)
}
