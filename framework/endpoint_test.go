package framework_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/framework"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
	"github.com/tandem-rpc/tandem/mcp/mcphttp"
)

var (
	_ framework.Web       = (*mcphttp.Site)(nil)
	_ framework.Sessioned = (*mcphttp.Site)(nil)
	_ framework.FrontEnd  = (*mcphttp.Site)(nil)
	_ framework.Replayed  = (*mcphttp.Site)(nil)
	_ framework.Secretive = (*mcphttp.Site)(nil)
)

// page is a Web whose answers say what it was asked.
type page struct {
	entered chan struct{} // a request that waits has come
	began   func(o *jsonrpc2.Options)
	refuse  error
}

func (*page) Protocol() string                 { return "page" }
func (*page) Conventions() []cancel.Convention { return nil }
func (*page) URL(at net.Addr) string           { return "http://" + at.String() + "/page" }

func (p *page) Serve(ctx context.Context, l net.Listener, o *jsonrpc2.Options) error {
	if p.began != nil {
		p.began(o)
	}
	if p.refuse != nil {
		return p.refuse
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			close(p.entered)
			<-ctx.Done()
		}
		body, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, r.Method+" "+r.URL.Path+" "+string(body))
	})}
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(done)
		_ = srv.Shutdown(context.Background())
	})
	err := srv.Serve(l)
	if !stop() {
		<-done
		return nil
	}
	return err
}

func (p *page) get(t *testing.T, network, address, path string) (string, error) {
	t.Helper()
	client := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}}}
	r, err := client.Post("http://localhost"+path, "text/plain", strings.NewReader("?"))
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	return string(b), err
}

// One address serves both framings and HTTP.
func TestServeWeb(t *testing.T) {
	web := &page{entered: make(chan struct{})}
	rt := framework.Runtime{Web: web}
	address, wait := serve(t, &rt, newFront(jsonrpc2.Header), newFront(jsonrpc2.Lines))
	for name, test := range map[string]struct{ send, want string }{
		"line":         {ask + "\n", answer + "\n"},
		"blanks first": {" \r\n" + ask + "\n", answer + "\n"},
		"header":       {header(ask), header(answer)},
		"get":          {"GET /x HTTP/1.0\r\n\r\n", "HTTP/1.0 200 OK"},
		"delete":       {"DELETE /x HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 200 OK"},
	} {
		t.Run(name, func(t *testing.T) {
			exchange(t, dial(t, address), test.send, test.want)
		})
		t.Run(name+" bit by bit", func(t *testing.T) {
			c := dial(t, address)
			for i := range len(test.send) - 1 {
				exchange(t, c, test.send[i:i+1], "")
			}
			exchange(t, c, test.send[len(test.send)-1:], test.want)
		})
	}
	for name, send := range map[string]string{
		"a word":          "GET",
		"an endless word": strings.Repeat("x", 100),
		"a blank header":  "Content-Length : 3 \r\n\r\n{}",
		"other bytes":     "\x16\x03\x01\x02",
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, address)
			_, _ = io.WriteString(c, send)
			_ = c.(*net.TCPConn).CloseWrite()
			if s := closed(t, c); strings.Contains(s, "200") || strings.Contains(s, "result") {
				t.Errorf("served: %q", s)
			}
		})
	}
	answered := make(chan string, 1)
	go func() {
		s, err := web.get(t, "tcp", address, "/wait")
		if err != nil {
			s = err.Error()
		}
		answered <- s
	}()
	<-web.entered
	if err := rt.Shutdown(context.Background()); err != nil { // waits for it
		t.Error(err)
	}
	if s := <-answered; s != "POST /wait ?" {
		t.Errorf("a request during Shutdown: %q", s)
	}
	if err := wait(); err != nil {
		t.Errorf("Serve returned %v after Shutdown", err)
	}
}

// A Web that ends by itself must not hold up those who connect.
func TestServeWebFails(t *testing.T) {
	over := make(chan struct{})
	rt := framework.Runtime{Web: &page{refuse: io.ErrUnexpectedEOF, began: func(*jsonrpc2.Options) { close(over) }}}
	address, _ := serve(t, &rt, newFront(jsonrpc2.Lines))
	<-over
	c := dial(t, address)
	_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if s := closed(t, c); s != "" {
		t.Errorf("got %q", s)
	}
	exchange(t, dial(t, address), ask+"\n", answer+"\n")
}

// The connections of a Web count.
func TestServeWebCounts(t *testing.T) {
	web := &page{entered: make(chan struct{})}
	rt := framework.Runtime{Web: web, MaxConns: 1}
	address, _ := serve(t, &rt)
	c := dial(t, address)
	exchange(t, c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 200 OK")
	if s := closed(t, dial(t, address)); s != "" {
		t.Errorf("a second connection: %q", s)
	}
	c.Close()
	for late := time.Now().Add(patience); ; {
		if s, err := web.get(t, "tcp", address, "/again"); err == nil && s == "POST /again ?" {
			return
		} else if time.Now().After(late) {
			t.Fatalf("after the first has gone: %q %v", s, err)
		}
	}
}

// An agent's protocol over HTTP and as lines, and an editor's, all at one port.
func TestSiteOnAPort(t *testing.T) {
	agents := &mcp.Server{Name: "agent's"}
	rt := framework.Runtime{Web: &mcphttp.Site{Server: agents}}
	address, _ := serve(t, &rt, agents, newFront(jsonrpc2.Header))
	const init = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`
	post := func(path, body string) string {
		r, err := http.Post("http://"+address+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		b, _ := io.ReadAll(r.Body)
		return string(b)
	}
	if got := post("/mcp", init); !strings.Contains(got, `"name":"agent's"`) {
		t.Errorf("over HTTP: %s", got)
	}
	if got := post("/elsewhere", init); got != `{"error":"not_found"}` {
		t.Errorf("elsewhere: %s", got)
	}
	c := dial(t, address)
	_, _ = io.WriteString(c, init+"\n")
	readUntil(t, c, `"name":"agent's"`)
	exchange(t, dial(t, address), header(ask), header(answer))
}
