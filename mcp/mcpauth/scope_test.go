package mcpauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

const insufficient = `Bearer error="insufficient_scope", error_description="The access token does not allow this operation", scope="notes:read notes:write", ` + testMetadata

func TestRequire(t *testing.T) {
	demands := func(ctx context.Context) error { return Require(ctx, "notes:read", "notes:write") }
	answers := func(kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			_ = demands(r.Context())
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, body)
		}
	}
	for _, c := range []struct {
		name      string
		handler   http.HandlerFunc
		status    int
		challenge bool
		body      string
	}{
		{"an error", answers("application/json", `{"id":1}`), 403, true, `{"id":1}`},
		{"with a charset", answers("application/json; charset=utf-8", ` {"id":1}`), 403, true, ` {"id":1}`},
		{"a batch", answers("application/json", `[{"id":1},{"id":2}]`), 200, false, `[{"id":1},{"id":2}]`},
		{"a stream", answers("text/event-stream", "data: {}\n\n"), 200, false, "data: {}\n\n"},
		{"status said first", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(200)
			_ = demands(r.Context())
			_, _ = io.WriteString(w, "{}")
		}, 403, true, "{}"},
		{"too late", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "{")
			_ = demands(r.Context())
			_, _ = io.WriteString(w, "}")
		}, 200, false, "{}"},
		{"flushed", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
			_ = demands(r.Context())
			_, _ = io.WriteString(w, "{}")
		}, 200, false, "{}"},
		{"an error of its own", func(w http.ResponseWriter, r *http.Request) {
			_ = demands(r.Context())
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(404)
			_, _ = io.WriteString(w, "{}")
		}, 404, false, "{}"},
		{"no body", func(w http.ResponseWriter, r *http.Request) {
			_ = demands(r.Context())
			w.WriteHeader(202)
		}, 202, false, ""},
		{"several demands", func(w http.ResponseWriter, r *http.Request) {
			var wg sync.WaitGroup
			wg.Go(func() { _ = Require(r.Context(), "notes:read") }) // the token has it
			_ = Require(r.Context(), "notes:read", "notes:write")
			wg.Go(func() { _ = Require(r.Context(), "notes:write") })
			wg.Wait()
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "{}")
		}, 403, true, "{}"},
		{"asked without consequences", func(w http.ResponseWriter, r *http.Request) {
			p, _ := PrincipalFrom(r.Context())
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"write":%v}`, p.Has("notes:write"))
		}, 200, false, `{"write":false}`},
		{"allowed", func(w http.ResponseWriter, r *http.Request) {
			if err := Require(r.Context(), "notes:read"); err != nil {
				t.Error(err)
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "{}")
		}, 200, false, "{}"},
		{"nothing", func(http.ResponseWriter, *http.Request) {}, 200, false, ""},
		{"an empty write", func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write(nil)
			_ = demands(r.Context())
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "{}")
		}, 403, true, "{}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var reports []error
			r := newResource(t, func(o *Options) { o.Report = func(_ context.Context, err error) { reports = append(reports, err) } })
			server := httptest.NewServer(r.Protect(c.handler))
			defer server.Close()
			req := must(http.NewRequest("POST", server.URL+"/mcp", nil))
			req.Header.Set("Authorization", "Bearer "+accessToken(nil))
			resp := must(server.Client().Do(req))
			body := must(io.ReadAll(resp.Body))
			resp.Body.Close()
			if resp.StatusCode != c.status || string(body) != c.body {
				t.Errorf("%d %s, want %d %s", resp.StatusCode, body, c.status, c.body)
			}
			want := ""
			if c.challenge {
				want = insufficient
			}
			if got := resp.Header.Get("WWW-Authenticate"); got != want {
				t.Errorf("challenge %s", got)
			}
			if c.challenge != (len(reports) == 1) {
				t.Errorf("reports %v", reports)
			}
		})
	}
}

func TestScopeError(t *testing.T) {
	err := Require(WithPrincipal(context.Background(), &Principal{Scopes: []string{"a"}}), "a", "b", "c")
	scope, ok := errors.AsType[*ScopeError](err)
	if !ok || !slices.Equal(scope.Required, []string{"a", "b", "c"}) || !slices.Equal(scope.Missing, []string{"b", "c"}) || scope.HTTPStatus() != 403 {
		t.Fatalf("%#v", err)
	}
	wire, ok := errors.AsType[*jsonrpc2.Error](err)
	if !ok || wire.Code != jsonrpc2.CodeInvalidRequest {
		t.Fatalf("%v", wire)
	}
	var data oauthError
	var scopes struct{ Scope string }
	if json.Unmarshal(wire.Data, &data) != nil || json.Unmarshal(wire.Data, &scopes) != nil || data.Error != "insufficient_scope" || scopes.Scope != "a b c" {
		t.Errorf("data %s", wire.Data)
	}
	if err := Require(context.Background(), "a"); !errors.Is(err, ErrNoPrincipal) {
		t.Errorf("without a principal: %v", err)
	}
	if wire, ok := errors.AsType[*jsonrpc2.Error](ErrNoPrincipal); !ok || wire.Code != jsonrpc2.CodeInvalidRequest || errors.Is(err, ErrNoPrincipal) {
		t.Errorf("on the wire: %v", wire)
	}
	if err := Require(WithPrincipal(context.Background(), nil), "a"); !errors.Is(err, ErrNoPrincipal) {
		t.Errorf("with a nil one: %v", err)
	}
	if err := Require(WithPrincipal(context.Background(), &Principal{})); err != nil {
		t.Errorf("nothing required: %v", err)
	}
}

// The writer behind Protect is as good as the one before: flushing, deadlines, informational answers, hijacking.
func TestAnswerPassesThrough(t *testing.T) {
	r := newResource(t, nil)
	release := make(chan struct{})
	server := httptest.NewServer(r.Protect(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch req.URL.Path {
		case "/stream":
			w.Header().Set("Content-Type", "text/event-stream")
			rc := http.NewResponseController(w)
			if err := rc.EnableFullDuplex(); err != nil {
				t.Errorf("full duplex: %v", err)
			}
			_, _ = io.WriteString(w, "data: 1\n\n")
			w.(http.Flusher).Flush()
			<-release
			_, _ = io.WriteString(w, "data: 2\n\n")
		case "/early":
			w.Header().Set("Link", "</a>")
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusTeapot)
			w.WriteHeader(http.StatusOK) // superfluous
		case "/hijack":
			conn, buf, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = buf.WriteString("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")
			_ = buf.Flush()
			_ = conn.Close()
		}
	})))
	defer server.Close()
	get := func(path string) *http.Response {
		req := must(http.NewRequest("GET", server.URL+path, nil))
		req.Header.Set("Authorization", "Bearer "+accessToken(nil))
		return must(server.Client().Do(req))
	}
	resp := get("/stream")
	first := make([]byte, 9)
	if _, err := io.ReadFull(resp.Body, first); err != nil || string(first) != "data: 1\n\n" {
		t.Errorf("first event %q, %v", first, err)
	}
	close(release)
	if rest := must(io.ReadAll(resp.Body)); string(rest) != "data: 2\n\n" {
		t.Errorf("rest %q", rest)
	}
	resp.Body.Close()
	if resp := get("/early"); resp.StatusCode != http.StatusTeapot {
		t.Errorf("early hints: status %d", resp.StatusCode)
	} else {
		resp.Body.Close()
	}
	resp = get("/hijack")
	if body := must(io.ReadAll(resp.Body)); string(body) != "hi" {
		t.Errorf("hijacked: %q", body)
	}
	resp.Body.Close()
}

func TestIsScope(t *testing.T) {
	for s, want := range map[string]bool{"a": true, "notes:read": true, "https://x/y?z#!~": true, "": false, "a b": false, `a"`: false, `a\`: false, "é": false, "a\n": false, "a\x7f": false} {
		if isScope(s) != want {
			t.Errorf("%q", s)
		}
	}
	if got := strings.Join(union([]string{"a", "b"}, []string{"b", "c"}), " "); got != "a b c" {
		t.Error(got)
	}
}
