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

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
	"github.com/tandem-rpc/tandem/mcp/mcpauth"
)

// initialize with the id of a session begins another and leaves that one alone.
func TestInitializeAgain(t *testing.T) {
	f := serve(t, nil)
	c := f.connect("2025-11-25")
	a := f.do("POST", initialize, header{"Mcp-Session-Id": c.id})
	if id := a.header.Get("Mcp-Session-Id"); a.status != 200 || id == "" || id == c.id || !isSessionID(id) {
		t.Errorf("%+v", a)
	}
	if a := c.post(request("1", "ping", "")); a.status != 200 || f.h.Sessions() != 2 {
		t.Errorf("%+v, %d sessions", a, f.h.Sessions())
	}
	if a := f.do("POST", initialize, header{"Accept": "text/event-stream"}); a.header.Get("Mcp-Session-Id") == "" || len(a.events) == 0 {
		t.Errorf("as a stream: %+v", a)
	}
	if a := f.do("POST", initialize, header{"Accept": "text/html"}); a.status != 406 || f.h.Sessions() != 3 || f.h.reserved != 0 {
		t.Errorf("%+v, %d sessions, %d reserved", a, f.h.Sessions(), f.h.reserved)
	}
}

// A session is served by what it agreed on, whatever its headers say; that is reported once.
func TestOddVersion(t *testing.T) {
	f := serve(t, nil)
	c := f.connect("2025-06-18")
	for range 2 {
		if a := c.post(request("1", "ping", ""), header{"Mcp-Protocol-Version": "2025-11-25"}); a.status != 200 {
			t.Errorf("%+v", a)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.reports) != 1 || !strings.Contains(f.reports[0].Error(), `2025-06-18 gets messages that say "2025-11-25"`) {
		t.Errorf("%v", f.reports)
	}
}

// A question that is given up is taken back.
func TestAskGivenUp(t *testing.T) {
	f := serveWith(t, nil, func(f *fixture) {
		mcp.AddTool(&f.box, mcp.Tool{Name: "impatient", Description: "Ask and do not wait."}, func(ctx context.Context, _ named1) (string, error) {
			ask, stop := context.WithCancel(ctx)
			defer stop()
			go func() {
				<-f.gate("enough")
				stop()
			}()
			err := mcp.SessionFrom(ctx).Call(ask, "roots/list", nil, nil)
			return fmt.Sprint(err), nil
		})
	})
	c := f.connect("2025-11-25")
	r := c.stream("POST", call("1", "impatient", `{}`))
	asked := r.message()
	close(f.gate("enough"))
	if m := r.message(); member(m, "method") != `"notifications/cancelled"` || member(m, "params.requestId") != member(asked, "id") {
		t.Errorf("%s", m)
	}
	if m := r.message(); !strings.Contains(m, "context canceled") {
		t.Errorf("%s", m)
	}
	r.end()
	if a := c.post(`{"jsonrpc":"2.0","id":` + member(asked, "id") + `,"result":{}}`); a.status != 202 || !f.reported("not open") {
		t.Errorf("%+v", a)
	}
}

// Questions that belong to no request go on the session's stream, and wait for it. The end of the session ends them.
func TestAskOutsideRequests(t *testing.T) {
	f := serve(t, nil)
	c := f.connect("2025-11-25")
	s := f.h.find(c.id, "", false)
	type outcome struct {
		roots any
		err   error
	}
	done := make(chan outcome)
	ask := func() {
		var o outcome
		o.err = s.Call(context.Background(), "roots/list", nil, &o.roots)
		done <- o
	}
	go ask()
	r := c.stream("GET", "")
	m := r.message()
	c.post(`{"jsonrpc":"2.0","id":` + member(m, "id") + `,"result":{"roots":[]}}`)
	if o := <-done; o.err != nil || fmt.Sprint(o.roots) != "map[roots:[]]" {
		t.Errorf("%+v", o)
	}
	for _, response := range []string{`"result":{},"error":{"code":1,"message":"x"}`, `"error":{"code":1}`, `"error":5`} {
		go ask()
		m = r.message()
		a := c.post(`{"jsonrpc":"2.0","id":` + member(m, "id") + `,` + response + `}`)
		if a.status == 202 {
			if o := <-done; o.err == nil {
				t.Errorf("%s: %+v", response, o)
			}
			continue
		}
		c.post(`{"jsonrpc":"2.0","id":` + member(m, "id") + `,"result":{}}`)
		<-done
	}
	go ask()
	r.message()
	c.do("DELETE", "", c.headers())
	if o := <-done; !strings.Contains(fmt.Sprint(o.err), "session ended") {
		t.Errorf("%+v", o)
	}
	if err := s.Call(context.Background(), "roots/list", nil, nil); err == nil {
		t.Error("asked after the end")
	}
	if err := s.Notify(context.Background(), "x", nil); err == nil {
		t.Error("notified after the end")
	}
	if err := s.Notify(context.Background(), "x", 5); err == nil {
		t.Error("params that are none")
	}
	r.end()
}

// What a function sends in the name of a request that is answered goes on the session's stream.
func TestNotifyAfterAnswer(t *testing.T) {
	late := make(chan struct{})
	sent := make(chan error, 1)
	f := serveWith(t, nil, func(f *fixture) {
		mcp.AddTool(&f.box, mcp.Tool{Name: "late", Description: "Go on afterwards."}, func(ctx context.Context, _ named1) (string, error) {
			ses := mcp.SessionFrom(ctx)
			after := context.WithoutCancel(ctx)
			go func() {
				<-late
				sent <- ses.Notify(after, "notifications/x", nil)
			}()
			return "", nil
		})
	})
	c := f.connect("2025-11-25")
	if a := c.post(call("1", "late", `{}`)); a.status != 200 {
		t.Errorf("%+v", a)
	}
	r := c.stream("GET", "")
	close(late)
	if err := <-sent; err != nil {
		t.Error(err)
	}
	if m := r.message(); member(m, "method") != `"notifications/x"` {
		t.Errorf("%s", m)
	}
}

// Everything over HTTP/2, where the end of a stream is not the end of a connection.
func TestHTTP2(t *testing.T) {
	f := serve(t, nil)
	mux := http.NewServeMux()
	f.h.Register(mux, "/mcp")
	ts := httptest.NewUnstartedServer(mux)
	ts.EnableHTTP2 = true
	ts.StartTLS()
	defer ts.Close()
	plain := f.ts
	f.ts = ts
	defer func() { f.ts = plain }()
	c := f.connect("2025-11-25")
	if a := c.post(call("1", "steps", `{"name":"two"}`)); len(a.events) != 5 {
		t.Errorf("%+v", a)
	}
	get := c.stream("GET", "")
	f.srv.Changed(mcp.Tools)
	get.message()
	ctx, stop := context.WithCancel(context.Background())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		resp, err := f.try(ctx, "POST", modernRequest("1", "tools/call", `,"name":"wait","arguments":{"name":"x"}`), modernHeader("tools/call", "wait"))
		if err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}()
	<-f.started
	stop()
	<-gone
	select {
	case <-f.ended:
	case <-time.After(patience):
		t.Error("not cancelled")
	}
	get.close()
	eventually(t, "the stream is gone", func() bool {
		s := f.h.find(c.id, "", false)
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.active == 0
	})
}

// Two users with a token each: what is one's is not there for the other, and a scope that is missing becomes a 403.
func TestWithAuth(t *testing.T) {
	verifier, err := mcpauth.NewStatic(mcpauth.StaticToken{Token: "the-token-of-ada-1", Subject: "ada"}, mcpauth.StaticToken{Token: "the-token-of-bob-2", Subject: "bob"})
	if err != nil {
		t.Fatal(err)
	}
	resource, err := mcpauth.New(mcpauth.Options{Resource: "https://mcp.example.com/mcp", Issuers: []string{"https://login.example.com"}, Verifier: verifier})
	if err != nil {
		t.Fatal(err)
	}
	f := serveWith(t, &Options{Protect: resource.Protect, Principal: mcpauth.Identify, CORS: true}, func(f *fixture) {
		mcp.AddTool(&f.box, mcp.Tool{Name: "whoami", Description: "Say who calls."}, func(ctx context.Context, _ named1) (string, error) {
			p, _ := mcpauth.PrincipalFrom(ctx)
			return p.Subject, nil
		})
		f.srv.Extend = func(m *jsonrpc2.Mux) {
			m.HandleRequest("x/scope", jsonrpc2.HandlerFunc(func(ctx context.Context, _ *jsonrpc2.Request) (any, error) {
				return map[string]any{}, mcpauth.Require(ctx, "notes:write")
			}))
		}
	})
	ada, bob := header{"Authorization": "Bearer the-token-of-ada-1"}, header{"Authorization": "Bearer the-token-of-bob-2"}
	c := f.connect("2025-11-25", ada)
	if a := f.do("POST", call("1", "whoami", `{}`), c.headers(ada)); !strings.Contains(a.body, `"text":"ada"`) {
		t.Errorf("%+v", a)
	}
	for _, method := range []string{"POST", "GET", "DELETE"} {
		body := ""
		if method == "POST" {
			body = call("1", "whoami", `{}`)
		}
		if a := f.do(method, body, c.headers(bob)); a.status != 404 || member(a.body, "error.message") != `"Session not found"` {
			t.Errorf("bob, %s: %+v", method, a)
		}
		if a := f.do(method, body, c.headers()); a.status != 401 || a.header.Get("WWW-Authenticate") == "" {
			t.Errorf("nobody, %s: %+v", method, a)
		}
	}
	// Strangers are sent away before anybody asks for a token.
	if a := f.do("POST", call("1", "whoami", `{}`), header{"Origin": "https://evil.example"}); a.status != 403 || a.header.Get("WWW-Authenticate") != "" {
		t.Errorf("%+v", a)
	}
	a := f.do("POST", modernRequest("1", "x/scope", ""), merge(modernHeader("x/scope", ""), ada))
	if a.status != 403 || !strings.Contains(a.header.Get("WWW-Authenticate"), "notes:write") || member(a.body, "id") != "1" {
		t.Errorf("%+v", a)
	}
	get := f.stream("GET", "", c.headers(ada)) // through the writer of Protect
	f.srv.Changed(mcp.Tools)
	get.message()
}

func merge(all ...header) header {
	out := header{}
	for _, h := range all {
		for k, v := range h {
			out[k] = v
		}
	}
	return out
}

// A function that keeps its arguments has them for good, however large the next ones are.
func TestKeptArguments(t *testing.T) {
	var kept []string
	f := serveWith(t, nil, func(f *fixture) {
		f.srv.Caller = func(_ context.Context, _ string, a mcp.Arguments) (any, error) {
			raw := a.Raw()
			kept = append(kept, string(raw[:20]))
			keep = append(keep, raw)
			return mcp.TextResult("ok"), nil
		}
	})
	keep = nil
	for i := range 8 {
		body := call(fmt.Sprint(i+1), "x", fmt.Sprintf(`{"n":%d,"text":"%s"}`, i, strings.Repeat(string(rune('a'+i)), 200_000)))
		if a := f.do("POST", body, nil); a.status != 200 {
			t.Fatalf("%+v", a)
		}
	}
	for i, raw := range keep {
		if string(raw[:20]) != kept[i] || raw[100_000] != byte('a'+i) {
			t.Errorf("arguments %d have changed: %.20s, were %s", i, raw, kept[i])
		}
	}
}

var keep [][]byte

// A handler that is protected and has no Principal goes by who the tokens are of, wherever Protect stands.
func TestProtectAlone(t *testing.T) {
	verifier, err := mcpauth.NewStatic(mcpauth.StaticToken{Token: "the-token-of-ada-1", Subject: "ada"}, mcpauth.StaticToken{Token: "the-token-of-bob-2", Subject: "bob"})
	if err != nil {
		t.Fatal(err)
	}
	resource, err := mcpauth.New(mcpauth.Options{Resource: "https://mcp.example.com/mcp", Issuers: []string{"https://login.example.com"}, Verifier: verifier})
	if err != nil {
		t.Fatal(err)
	}
	ada, bob := header{"Authorization": "Bearer the-token-of-ada-1"}, header{"Authorization": "Bearer the-token-of-bob-2"}
	for name, h := range map[string]http.Handler{
		"as an option": New(newServer(&fixture{t: t}), &Options{Protect: resource.Protect}),
		"in front":     resource.Protect(New(newServer(&fixture{t: t}), nil)),
	} {
		id := directWith(h, "POST", initialize, ada).Header().Get("Mcp-Session-Id")
		session := header{"Mcp-Session-Id": id, "Mcp-Protocol-Version": "2025-11-25"}
		for _, method := range []string{"POST", "DELETE"} {
			body := ""
			if method == "POST" {
				body = request("1", "ping", "")
			}
			if w := directWith(h, method, body, merge(session, bob)); w.Code != 404 {
				t.Errorf("%s, bob, %s: %d %s", name, method, w.Code, w.Body)
			}
		}
		if w := directWith(h, "POST", request("1", "ping", ""), merge(session, ada)); id == "" || w.Code != 200 {
			t.Errorf("%s, ada: %d %s", name, w.Code, w.Body)
		}
	}
}

// An identity that ends takes the stream with it, as one of Options.Principal does; and what Principal says counts more.
func TestIdentity(t *testing.T) {
	identified := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			who := mcp.Identity(func() (string, time.Time) { return principals(r) })
			next.ServeHTTP(w, r.WithContext(mcp.WithCaller(r.Context(), who)))
		})
	}
	f := serve(t, &Options{Protect: identified})
	a := f.do("POST", initialize, header{"X-Who": "ada"})
	session := header{"Mcp-Session-Id": a.header.Get("Mcp-Session-Id")}
	if a := f.do("POST", request("1", "ping", ""), merge(session, header{"X-Who": "bob"})); a.status != 404 {
		t.Errorf("bob: %+v", a)
	}
	f.stream("GET", "", merge(session, header{"X-Who": "ada", "X-Until": "1s"})).end()

	f = serve(t, &Options{Protect: identified, Principal: func(*http.Request) (string, time.Time) { return "the house", time.Time{} }})
	a = f.do("POST", initialize, header{"X-Who": "ada"})
	session = header{"Mcp-Session-Id": a.header.Get("Mcp-Session-Id")}
	if a := f.do("POST", request("1", "ping", ""), merge(session, header{"X-Who": "bob"})); a.status != 200 {
		t.Errorf("bob of the house: %+v", a)
	}
}
