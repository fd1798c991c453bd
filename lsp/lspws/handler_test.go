package lspws_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"
	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/framework"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/lsp"
	"github.com/tandem-rpc/tandem/lsp/lspws"
)

// A session as an editor has it, to the exit notification, which closes the socket.
func TestSession(t *testing.T) {
	r := newReports()
	url, _ := start(t, hoverer(), &lspws.Options{Report: r.add})
	c := dial(t, url, nil)
	c.begin()
	c.open("file:///a", "one 😀")
	if got := c.hover(2, "file:///a"); got != "one 😀" {
		t.Errorf("hover: %q", got)
	}
	c.send(`{"jsonrpc":"2.0","id":3,"method":"shutdown"}`)
	if got := c.result(3); got != "null" {
		t.Errorf("shutdown: %s", got)
	}
	c.send(`{"jsonrpc":"2.0","method":"exit"}`)
	if got := c.status(); got != websocket.StatusNormalClosure {
		t.Errorf("closed with %v", got)
	}
	r.none(t)
}

// Messages are handled in the order they came, and each request sees the text as of its place.
func TestOrder(t *testing.T) {
	url, _ := start(t, hoverer(), nil)
	c := dial(t, url, nil)
	c.begin()
	c.open("file:///a", "0")
	const edits = 300
	go func() {
		for i := 1; i <= edits; i++ {
			text := fmt.Sprintf(`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///a","version":%d},"contentChanges":[{"text":"%d"}]}}`, i+1, i)
			_ = c.Write(c.ctx, websocket.MessageText, []byte(text))
			text = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///a"},"position":{"line":0,"character":0}}}`, i)
			_ = c.Write(c.ctx, websocket.MessageText, []byte(text))
		}
	}()
	for range edits {
		a := c.receive()
		if want := fmt.Sprintf(`"value":"%s"`, a.ID); !strings.Contains(string(a.Result), want) {
			t.Fatalf("request %s saw %s", a.ID, a.Result)
		}
	}
}

// Every socket is a session of its own.
func TestManyClients(t *testing.T) {
	r := newReports()
	url, _ := start(t, hoverer(), &lspws.Options{Report: r.add})
	var all sync.WaitGroup
	for i := range 20 {
		c := dial(t, url, nil)
		all.Go(func() {
			text := strings.Repeat("x", i)
			c.begin()
			c.open("file:///same", text)
			for id := 2; id < 22; id++ {
				if got := c.hover(id, "file:///same"); got != text {
					t.Errorf("client %d sees %q", i, got)
				}
			}
			if err := c.Close(websocket.StatusGoingAway, ""); err != nil {
				t.Errorf("client %d: %v", i, err)
			}
		})
	}
	all.Wait()
	r.none(t)
}

// A client may close the socket at any time; one that goes without a word, or with a bad status, is reported.
func TestClientEnds(t *testing.T) {
	for _, c := range []struct {
		name   string
		end    func(*socket)
		report string
	}{
		{"normal closure", func(s *socket) { _ = s.Close(websocket.StatusNormalClosure, "") }, ""},
		{"going away", func(s *socket) { _ = s.Close(websocket.StatusGoingAway, "tab") }, ""},
		{"no status", func(s *socket) { _ = s.Close(websocket.StatusNoStatusRcvd, "") }, ""},
		{"internal error", func(s *socket) { _ = s.Close(websocket.StatusInternalError, "the \n reason") }, `reason = "the \n reason"`},
		{"without a word", func(s *socket) { _ = s.CloseNow() }, "the connection was lost"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, ended := newReports(), make(chan struct{})
			s := hoverer()
			url, _ := start(t, s, &lspws.Options{Report: r.add, Options: jsonrpc2.Options{
				OnClose: func(*jsonrpc2.Conn, error) { close(ended) },
			}})
			client := dial(t, url, nil)
			client.begin()
			c.end(client)
			<-ended
			if c.report == "" {
				r.none(t)
			} else {
				r.wait(t, c.report)
			}
		})
	}
}

// Shutdown lets handlers finish, sends what they answer, and says 1001.
func TestShutdown(t *testing.T) {
	started, finish := make(chan struct{}), make(chan struct{})
	s := &lsp.Server{Hover: func(ctx context.Context, p *protocol.HoverParams) (*protocol.Hover, error) {
		close(started)
		<-finish
		return &protocol.Hover{Contents: lsp.PlainText("late")}, ctx.Err()
	}}
	r := newReports()
	url, h := start(t, s, &lspws.Options{Report: r.add})
	c := dial(t, url, nil)
	c.begin()
	c.send(`{"jsonrpc":"2.0","id":2,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///a"},"position":{"line":0,"character":0}}}`)
	<-started
	done := make(chan error, 1)
	go func() { done <- h.Shutdown(c.ctx) }()
	untilShutdown(c, url)
	close(finish)
	if got := c.result(2); !strings.Contains(got, "late") {
		t.Errorf("hover: %s", got)
	}
	if got := c.status(); got != websocket.StatusGoingAway {
		t.Errorf("closed with %v", got)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// untilShutdown waits until new clients are turned away.
func untilShutdown(c *socket, url string) {
	c.t.Helper()
	for {
		again, resp, err := websocket.Dial(c.ctx, url, nil)
		switch {
		case err == nil:
			_ = again.CloseNow()
		case resp != nil && resp.StatusCode == http.StatusServiceUnavailable:
			return
		default:
			c.t.Fatal(err)
		}
	}
}

// A Shutdown that is in a hurry cancels handlers.
func TestShutdownNow(t *testing.T) {
	started := make(chan struct{})
	s := &lsp.Server{Hover: func(ctx context.Context, p *protocol.HoverParams) (*protocol.Hover, error) {
		close(started)
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	url, h := start(t, s, nil)
	c := dial(t, url, nil)
	c.begin()
	c.send(`{"jsonrpc":"2.0","id":2,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///a"},"position":{"line":0,"character":0}}}`)
	<-started
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if err := h.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Shutdown: %v", err)
	}
	c.status()
}

func TestTooManyClients(t *testing.T) {
	r := newReports()
	url, _ := start(t, hoverer(), &lspws.Options{Report: r.add, MaxConns: 1})
	c := dial(t, url, nil)
	c.begin()
	_, resp, err := websocket.Dial(c.ctx, url, nil)
	if err == nil || resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a second client: %v", err)
	}
	r.wait(t, "the limit is 1")
	if err := c.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Error(err)
	}
	for { // the first one's place is free when its session has ended
		again, _, err := websocket.Dial(c.ctx, url, nil)
		if err == nil {
			_ = again.CloseNow()
			return
		}
		if c.ctx.Err() != nil {
			t.Fatal(err)
		}
	}
}

// A framework.Runtime can serve the sockets.
func TestRuntime(t *testing.T) {
	rt := &framework.Runtime{Metrics: new(framework.Metrics)}
	s := hoverer()
	url, h := start(t, nil, &lspws.Options{Serve: func(ctx context.Context, t jsonrpc2.Transport) error {
		return rt.ServeTransport(ctx, t, s)
	}})
	c := dial(t, url, nil)
	c.begin()
	c.open("file:///a", "text")
	if got := c.hover(2, "file:///a"); got != "text" {
		t.Errorf("hover: %q", got)
	}
	for counted := false; !counted; { // which it is once it was answered
		var table strings.Builder
		_, err := rt.Metrics.WriteTo(&table)
		if counted = strings.Contains(table.String(), "textDocument/hover"); err != nil || !counted && c.ctx.Err() != nil {
			t.Fatalf("figures: %v\n%s", err, table.String())
		}
	}
	done := make(chan error, 2)
	go func() { done <- h.Shutdown(c.ctx) }()
	untilShutdown(c, url)
	if got := c.hover(3, "file:///a"); got != "text" {
		t.Errorf("hover: %q", got)
	}
	go func() { done <- rt.Shutdown(c.ctx) }()
	if got := c.status(); got != websocket.StatusGoingAway {
		t.Errorf("closed with %v", got)
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

type mounter func(*jsonrpc2.Options) (*jsonrpc2.Mux, error)

func (f mounter) Mount(o *jsonrpc2.Options) (*jsonrpc2.Mux, error) { return f(o) }

// What goes wrong on one connection is reported, closes it with 1011, and touches no other.
func TestServerFails(t *testing.T) {
	for _, c := range []struct {
		name, report string
		o            lspws.Options
		s            lspws.Server
	}{
		{"Mount fails", "mount: no", lspws.Options{}, mounter(func(*jsonrpc2.Options) (*jsonrpc2.Mux, error) { return nil, errors.New("no") })},
		{"Mount panics", "panic", lspws.Options{}, mounter(func(*jsonrpc2.Options) (*jsonrpc2.Mux, error) { panic("at the disco") })},
		{"Serve panics", "panic", lspws.Options{Serve: func(context.Context, jsonrpc2.Transport) error { panic("here") }}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newReports()
			c.o.Report = r.add
			url, _ := start(t, c.s, &c.o)
			for range 2 {
				if got := dial(t, url, nil).status(); got != websocket.StatusInternalError {
					t.Errorf("closed with %v", got)
				}
			}
			r.wait(t, c.report)
		})
	}
}

func TestNoWebSocket(t *testing.T) {
	r := newReports()
	url, _ := start(t, hoverer(), &lspws.Options{Report: r.add})
	resp, err := http.Get("http" + strings.TrimPrefix(url, "ws"))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusUpgradeRequired {
		t.Errorf("status %s", resp.Status)
	}
	r.wait(t, "no WebSocket")
	http.DefaultClient.CloseIdleConnections()
}

func TestSubprotocol(t *testing.T) {
	url, _ := start(t, hoverer(), &lspws.Options{Subprotocols: []string{"lsp", "jsonrpc"}})
	for want, offer := range map[string][]string{"lsp": {"jsonrpc", "lsp"}, "jsonrpc": {"x", "jsonrpc"}, "": nil} {
		c := dial(t, url, &websocket.DialOptions{Subprotocols: offer})
		if got := c.Subprotocol(); got != want {
			t.Errorf("%v: got %q, want %q", offer, got, want)
		}
	}
}
