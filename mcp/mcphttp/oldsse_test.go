package mcphttp

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tandem-rpc/tandem/mcp"
)

// oldClient is a client of the transport of 2024-11-05.
type oldClient struct {
	*fixture
	at  string
	url string
}

func serveOld(t *testing.T, o *Options) *oldClient {
	f := serve(t, o)
	mux := http.NewServeMux()
	f.h.RegisterSSE(mux, "/sse", "/messages")
	f.h.Register(mux, "/mcp")
	ts := httptest.NewServer(mux)
	t.Cleanup(func() {
		f.h.cut()
		ts.CloseClientConnections()
		ts.Close()
	})
	return &oldClient{fixture: f, url: ts.URL}
}

func (c *oldClient) send(method, path, body string, h header) answer {
	c.t.Helper()
	req, err := http.NewRequest(method, c.url+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	for k, v := range h {
		req.Header.Set(k, v)
	}
	resp, err := c.ts.Client().Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return answer{status: resp.StatusCode, header: resp.Header, body: string(b)}
}

func (c *oldClient) open(h header) *reader {
	c.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	req, _ := http.NewRequestWithContext(ctx, "GET", c.url+"/sse", nil)
	for k, v := range h {
		req.Header.Set(k, v)
	}
	resp, err := c.ts.Client().Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	r := newReader(resp.Body)
	r.t, r.header = c.t, resp.Header
	r.close = func() { stop(); resp.Body.Close() }
	c.t.Cleanup(r.close)
	e := r.event()
	if e.name != "endpoint" || !strings.HasPrefix(e.data, "/messages?sessionId=") || resp.StatusCode != 200 {
		c.t.Fatalf("%d %+v", resp.StatusCode, e)
	}
	c.at = e.data
	return r
}

func TestOldSSE(t *testing.T) {
	c := serveOld(t, &Options{Heartbeat: 20 * time.Millisecond})
	r := c.open(nil)
	post := func(body string) {
		t.Helper()
		if a := c.send("POST", c.at, body, nil); a.status != 202 || a.body != "" {
			t.Errorf("%s: %+v", body, a)
		}
	}
	post(strings.Replace(initialize, "2025-11-25", "2024-11-05", 1))
	if m := r.message(); member(m, "result.protocolVersion") != `"2024-11-05"` {
		t.Errorf("%s", m)
	}
	post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	post(call("1", "steps", `{"name":"old"}`))
	for i := range 3 {
		if m := r.message(); member(m, "params.progress") != fmt.Sprint(i+1) {
			t.Errorf("%s", m)
		}
	}
	if m := r.message(); member(m, "id") != "1" {
		t.Errorf("%s", m)
	}
	post(call("2", "ask", `{}`))
	m := r.message()
	if member(m, "method") != `"sampling/createMessage"` {
		t.Fatalf("%s", m)
	}
	post(`{"jsonrpc":"2.0","id":` + member(m, "id") + `,"result":{"content":{"text":"old"}}}`)
	if m := r.message(); member(m, "id") != "2" || !strings.Contains(m, "said old") {
		t.Errorf("%s", m)
	}
	c.srv.Changed(mcp.Tools)
	if m := r.message(); member(m, "method") != `"notifications/tools/list_changed"` {
		t.Errorf("%s", m)
	}
	post(call("3", "wait", `{"name":"x"}`))
	<-c.started
	post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
	<-c.ended
	post(request("4", "ping", ""))
	if m := r.message(); member(m, "id") != "4" {
		t.Errorf("%s", m)
	}
	// More than may wait on a stream.
	for i := range 600 {
		post(request(fmt.Sprint(1000+i), "ping", ""))
	}
	for range 600 {
		r.message()
	}
	for _, x := range []struct {
		body   string
		h      header
		status int
	}{
		{"{", nil, 400}, {"5", nil, 400}, {"{}", header{"Content-Type": "text/plain"}, 415},
	} {
		if a := c.send("POST", c.at, x.body, x.h); a.status != x.status || member(a.body, "error.code") == "" {
			t.Errorf("%s: %+v", x.body, a)
		}
	}
	// Ids of one transport are nothing to the other.
	id := strings.TrimPrefix(c.at, "/messages?sessionId=")
	if a := c.send("POST", "/mcp", request("1", "ping", ""), header{"Mcp-Session-Id": id}); a.status != 404 {
		t.Errorf("%+v", a)
	}
	n := c.connect("2025-11-25")
	for _, id := range []string{n.id, "nope", "", "a%20b"} {
		if a := c.send("POST", "/messages?sessionId="+id, request("1", "ping", ""), nil); a.status != 404 || member(a.body, "error.message") != `"Session not found"` {
			t.Errorf("%q: %+v", id, a)
		}
	}
	if a := c.send("POST", c.at+"&sessionId=x", request("1", "ping", ""), nil); a.status != 404 {
		t.Errorf("two ids: %+v", a)
	}
	// The stream is the session.
	post(call("5", "wait", `{"name":"y"}`))
	<-c.started
	r.close()
	if err := <-c.ended; err != ErrSessionEnded {
		t.Errorf("%v", err)
	}
	eventually(t, "the session is gone", func() bool { return c.send("POST", c.at, request("1", "ping", ""), nil).status == 404 })
}

func TestOldSSERefusals(t *testing.T) {
	c := serveOld(t, &Options{MaxSessions: 1, Principal: principals})
	for _, x := range []struct {
		method, path string
		h            header
		status       int
	}{
		{"POST", "/sse", nil, 405}, {"GET", "/messages?sessionId=x", nil, 405}, {"GET", "/sse", header{"Accept": "application/json"}, 406},
		{"GET", "/sse", header{"Origin": "https://evil.example"}, 403}, {"POST", "/messages?sessionId=x", header{"Origin": "null"}, 403}, {"OPTIONS", "/sse", nil, 405},
	} {
		if a := c.send(x.method, x.path, "", x.h); a.status != x.status {
			t.Errorf("%+v: %+v", x, a)
		}
	}
	c.open(header{"X-Who": "ada"})
	if a := c.send("POST", c.at, request("1", "ping", ""), header{"X-Who": "bob"}); a.status != 404 {
		t.Errorf("another caller: %+v", a)
	}
	if a := c.send("GET", "/sse", "", nil); a.status != 503 || a.header.Get("Retry-After") == "" {
		t.Errorf("one too many: %+v", a)
	}
}

func TestOldSSEShutdown(t *testing.T) {
	c := serveOld(t, &Options{Grace: patience / 2})
	r := c.open(nil)
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	begin := time.Now()
	if err := c.h.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	r.end()
	if d := time.Since(begin); d >= patience/2 {
		t.Errorf("it took %v, with nothing to wait for", d)
	}
	if a := c.send("GET", "/sse", "", nil); a.status != 503 {
		t.Errorf("%+v", a)
	}
}

// What protects the Handler protects this transport too: each request needs a token, and a session is of who opened its stream.
func TestOldSSEProtected(t *testing.T) {
	protect := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") {
				w.Header().Set("WWW-Authenticate", "Bearer")
				w.WriteHeader(401)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	c := serveOld(t, &Options{Protect: protect, Principal: func(r *http.Request) (string, time.Time) {
		return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), time.Time{}
	}})
	ada, bob := header{"Authorization": "Bearer ada", "Accept": "text/event-stream"}, header{"Authorization": "Bearer bob"}
	if a := c.send("GET", "/sse", "", header{"Accept": "text/event-stream"}); a.status != 401 || a.header.Get("WWW-Authenticate") == "" {
		t.Errorf("GET without token: %+v", a)
	}
	r := c.open(ada)
	for who, status := range map[string]int{"ada": 202, "bob": 404, "nobody": 401} {
		h := header{"Authorization": "Bearer " + who}
		if who == "nobody" {
			h = nil
		}
		if a := c.send("POST", c.at, request("1", "ping", ""), h); a.status != status {
			t.Errorf("%s: %+v", who, a)
		}
	}
	if m := r.message(); member(m, "id") != "1" {
		t.Errorf("%s", m)
	}
	if a := c.send("POST", "/sse", "", bob); a.status != 405 {
		t.Errorf("%+v", a)
	}
}

// The limits of a session hold here too, and what cannot be served is said on the stream or by a status.
func TestOldSSELimits(t *testing.T) {
	c := serveOld(t, &Options{MaxRequests: 1})
	r := c.open(nil)
	c.send("POST", c.at, strings.Replace(initialize, "2025-11-25", "2024-11-05", 1), nil)
	r.message()
	if a := c.send("POST", c.at, "["+request("1", "ping", "")+"]", nil); a.status != 202 {
		t.Errorf("batch: %+v", a)
	}
	if m := r.message(); member(m, "error.code") != "-32600" || member(m, "id") != "null" {
		t.Errorf("batch: %s", m)
	}
	eventually(t, "the batch is over", func() bool {
		s := c.h.find(strings.TrimPrefix(c.at, "/messages?sessionId="), "", true)
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.running == 0
	})
	c.send("POST", c.at, call("2", "wait", `{"name":"g"}`), nil)
	<-c.started
	if a := c.send("POST", c.at, request("3", "ping", ""), nil); a.status != 429 || member(a.body, "id") != "3" || a.header.Get("Retry-After") == "" {
		t.Errorf("one too many: %+v", a)
	}
	if a := c.send("POST", c.at, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}`, nil); a.status != 202 {
		t.Errorf("notification: %+v", a)
	}
	close(c.gate("g"))
	if m := r.message(); member(m, "id") != "2" {
		t.Errorf("%s", m)
	}
}

// A message that was accepted has begun: what the client sends next finds it, and finds the session as it has made it.
func TestOldSSEInOrder(t *testing.T) {
	c := serveOld(t, nil)
	r := c.open(nil)
	post := func(body string) {
		t.Helper()
		want{202, "-", ""}.check(t, c.send("POST", c.at, body, nil))
	}
	post(strings.Replace(initialize, "2025-11-25", "2024-11-05", 1))
	post(request("1", "tools/list", "")) // without waiting for the answer to initialize
	for _, id := range []string{"0", "1"} {
		if m := r.message(); member(m, "id") != id || member(m, "error") != "" {
			t.Errorf("%s", m)
		}
	}
	for i := range 50 {
		id := fmt.Sprint(100 + i)
		post(call(id, "wait", `{"name":"x"}`))
		post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
		select {
		case <-c.started: // it runs, and was told, or is now
			select {
			case <-c.ended:
			case <-time.After(patience):
				t.Fatal("the cancellation has found nothing")
			}
		case <-time.After(time.Millisecond): // or never does, or is told when it does
		}
		post(request("7", "ping", ""))
		if m := r.message(); member(m, "id") != "7" {
			t.Errorf("%s", m)
		}
	}
	s := c.h.find(strings.TrimPrefix(c.at, "/messages?sessionId="), "", true)
	eventually(t, "nothing runs", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.running == 0 })
}
