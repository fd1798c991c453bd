package mcpauth

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestAnonymous(t *testing.T) {
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, known := PrincipalFrom(r.Context())
		body, err := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%v %s %v", known, body, err)
	})
	r := newResource(t, func(o *Options) { o.Anonymous = []string{"server/discover", "initialize"} })
	const discover = `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"a":[1,{"method":"x"}]}}}`
	for _, c := range []struct {
		name, method, auth, body string
		status                   int
	}{
		{"allowed", "POST", "", discover, 200},
		{"allowed, with blanks", "POST", "", " \n" + discover + "\n ", 200},
		{"another spelling of the same", "POST", "", `{"\u006dethod":"init\u0069alize"}`, 200},
		{"not allowed", "POST", "", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, 401},
		{"with a bad token", "POST", "Bearer x", discover, 401},
		{"with a malformed one", "POST", "Bearer", discover, 400},
		{"with another scheme", "POST", "Basic YTpi", discover, 200},
		{"by GET", "GET", "", discover, 401},
		{"a batch", "POST", "", "[" + discover + "]", 401},
		{"method twice", "POST", "", `{"method":"initialize","method":"tools/call"}`, 401},
		{"method twice, once escaped", "POST", "", `{"method":"initialize","\u006dethod":"tools/call"}`, 401},
		{"method in capitals too", "POST", "", `{"METHOD":"initialize","method":"tools/call"}`, 401},
		{"in capitals only", "POST", "", `{"Method":"initialize"}`, 401},
		{"method null", "POST", "", `{"method":null}`, 401},
		{"a response", "POST", "", `{"method":"initialize","result":{}}`, 401},
		{"an error", "POST", "", `{"method":"initialize","error":null}`, 401},
		{"inside params", "POST", "", `{"params":{"method":"initialize"}}`, 401},
		{"two messages", "POST", "", discover + `{"method":"tools/call"}`, 401},
		{"cut", "POST", "", discover[:len(discover)-1], 401},
		{"not JSON", "POST", "", "method=initialize", 401},
		{"empty", "POST", "", "", 401},
		{"a byte order mark", "POST", "", "\ufeff" + discover, 401},
		{"deep", "POST", "", `{"method":"initialize","params":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`, 401},
		{"large", "POST", "", `{"method":"initialize","params":"` + strings.Repeat("x", maxAnonymous) + `"}`, 401},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, length := range []int64{int64(len(c.body)), -1} {
				req := httptest.NewRequest(c.method, "/mcp", strings.NewReader(c.body))
				req.ContentLength = length
				req.Header.Set("Mcp-Method", "server/discover")
				if c.auth != "" {
					req.Header.Set("Authorization", c.auth)
				}
				w := serve(r.Protect(echo), req)
				if w.Code != c.status {
					t.Fatalf("length %d: status %d, want %d: %s", length, w.Code, c.status, w.Body)
				}
				if c.status == 200 && w.Body.String() != "false "+c.body+" <nil>" {
					t.Errorf("length %d: behind Protect: %s", length, w.Body)
				}
			}
		})
	}
	// What cannot be seen could be anything.
	req := httptest.NewRequest("POST", "/mcp", strings.NewReader(discover+strings.Repeat(" ", maxAnonymous)+`{"method":"tools/call"}`))
	req.ContentLength = -1
	if w := serve(r.Protect(echo), req); w.Code != 401 {
		t.Errorf("a message behind blanks: status %d", w.Code)
	}
	// Off, nothing of a body is read.
	req = httptest.NewRequest("POST", "/mcp", unreadable{t})
	if w := serve(newResource(t, nil).Protect(echo), req); w.Code != 401 {
		t.Errorf("status %d", w.Code)
	}
}

type unreadable struct{ t *testing.T }

func (u unreadable) Read([]byte) (int, error) { u.t.Error("the body was read"); return 0, io.EOF }

// A client that breaks off in the middle is not let in.
func TestAnonymousBroken(t *testing.T) {
	r := newResource(t, func(o *Options) { o.Anonymous = []string{"initialize"} })
	req := httptest.NewRequest("POST", "/mcp", io.MultiReader(strings.NewReader(`{"method":"initialize"}`), broken{}))
	if w := serve(r.Protect(whoami), req); w.Code != 401 {
		t.Errorf("status %d", w.Code)
	}
}

// A closure that needs a scope after all sends a stranger to get a token.
func TestAnonymousDemand(t *testing.T) {
	r := newResource(t, func(o *Options) { o.Anonymous = []string{"initialize"} })
	h := r.Protect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := Require(r.Context(), "notes:read"); !errors.Is(err, ErrNoPrincipal) {
			t.Errorf("got %v", err)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, "{}")
	}))
	w := serve(h, httptest.NewRequest("POST", "/mcp", strings.NewReader(`{"method":"initialize"}`)))
	if got := w.Header().Get("WWW-Authenticate"); w.Code != 401 || got != `Bearer scope="notes:read", `+testMetadata {
		t.Errorf("%d %s", w.Code, got)
	}
}

// dated is a ResponseWriter that knows its deadlines.
type dated struct {
	*httptest.ResponseRecorder
	deadlines []time.Time
}

func (d *dated) SetReadDeadline(t time.Time) error { d.deadlines = append(d.deadlines, t); return nil }

func TestAnonymousDeadline(t *testing.T) {
	r := newResource(t, func(o *Options) { o.Anonymous = []string{"initialize"} })
	w := &dated{ResponseRecorder: httptest.NewRecorder()}
	start := time.Now()
	r.Protect(whoami).ServeHTTP(w, httptest.NewRequest("POST", "/mcp", strings.NewReader(`{"method":"initialize"}`)))
	if len(w.deadlines) != 2 || w.deadlines[0].Before(start.Add(anonymousTime)) || !w.deadlines[1].IsZero() {
		t.Errorf("deadlines %v", w.deadlines)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestShallow(t *testing.T) {
	for s, want := range map[string]bool{
		"":                                                    true,
		strings.Repeat("[", maxDepth):                         true,
		strings.Repeat("[", maxDepth+1):                       false,
		strings.Repeat("[]", 1000):                            true,
		`"` + strings.Repeat("[", 1000) + `"`:                 true,
		`"\"` + strings.Repeat("[", 1000) + `"`:               true,
		`"\\"` + strings.Repeat("{", 1000):                    false,
		`"` + strings.Repeat(`\`, 3):                          true,
		strings.Repeat(`{"a":`, 70) + strings.Repeat("}", 70): false,
	} {
		if shallow([]byte(s)) != want {
			t.Errorf("%.20q: want %v", s, want)
		}
	}
}
