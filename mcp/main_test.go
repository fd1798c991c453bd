package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/tandem-rpc/tandem/internal/leak"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

func TestMain(m *testing.M) { leak.Main(m) }

// wire is the client side of a hosted session, as raw messages.
type wire struct {
	t    *testing.T
	end  jsonrpc2.Transport
	conn *jsonrpc2.Conn
	in   chan string
	done chan error
}

// host serves s on a pipe.
func host(t *testing.T, s *Server, prepare ...func(*jsonrpc2.Options)) *wire {
	t.Helper()
	o := new(jsonrpc2.Options)
	for _, f := range prepare {
		f(o)
	}
	mux, err := s.Mount(o)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := jsonrpc2.Pipe()
	w := &wire{t: t, end: theirs, conn: jsonrpc2.NewConn(ours, mux, o), in: make(chan string, 4096), done: make(chan error, 1)}
	go func() { w.done <- w.conn.Serve(context.Background()) }()
	go func() {
		defer close(w.in)
		for {
			m, err := theirs.Read()
			if err != nil {
				return
			}
			w.in <- string(m)
		}
	}()
	t.Cleanup(func() {
		w.close()
		for range w.in {
		}
	})
	return w
}

// start is host with the handshake done.
func start(t *testing.T, s *Server, revision string, prepare ...func(*jsonrpc2.Options)) *wire {
	t.Helper()
	w := host(t, s, prepare...)
	w.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + revision + `","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	if got := w.recv(); !strings.Contains(got, `"protocolVersion":"`+revision+`"`) {
		t.Fatalf("initialize: got %s", got)
	}
	w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return w
}

func (w *wire) close() error {
	_ = w.end.Close()
	select {
	case err := <-w.done:
		w.done <- err
		return err
	case <-time.After(time.Minute):
		w.t.Error("Serve does not return")
		return errors.New("timeout")
	}
}

func (w *wire) send(messages ...string) {
	w.t.Helper()
	for _, m := range messages {
		if err := w.end.Write([]byte(m)); err != nil && !errors.Is(err, io.ErrClosedPipe) {
			w.t.Fatal(err)
		}
	}
}

func (w *wire) recv() string {
	w.t.Helper()
	select {
	case m, ok := <-w.in:
		if !ok {
			w.t.Fatal("the connection ended")
		}
		return m
	case <-time.After(time.Minute):
		w.t.Fatal("no message")
		return ""
	}
}

// want reads one message and compares it byte for byte.
func (w *wire) want(message string) {
	w.t.Helper()
	if got := w.recv(); got != message {
		w.t.Errorf("got  %s\nwant %s", got, message)
	}
}

// sync makes sure that nothing else is on its way: a ping is answered and nothing comes before that.
func (w *wire) sync() {
	w.t.Helper()
	w.send(`{"jsonrpc":"2.0","id":"sync","method":"ping"}`)
	w.want(`{"jsonrpc":"2.0","id":"sync","result":{}}`)
}

func errorCode(t *testing.T, message string) (id string, code int) {
	t.Helper()
	var m struct {
		ID    json.RawMessage
		Error *struct{ Code int }
	}
	if err := json.Unmarshal([]byte(message), &m); err != nil {
		t.Fatalf("%s: %v", message, err)
	}
	if m.Error == nil {
		return string(m.ID), 0
	}
	return string(m.ID), m.Error.Code
}

// echoServer has tools made of closures, for tests that need no schema.
func echoServer() *Server {
	return &Server{
		Name: "Test", Version: "1.0.0",
		Caller: func(ctx context.Context, name string, a Arguments) (any, error) {
			switch name {
			case "echo":
				return a.Raw(), nil
			case "hang":
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return nil, UnknownTool(name)
		},
	}
}
