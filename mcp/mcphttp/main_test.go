package mcphttp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tandem-rpc/tandem/internal/leak"
	"github.com/tandem-rpc/tandem/mcp"
)

func TestMain(m *testing.M) { leak.Main(m) }

// patience is how long a test waits for what must come.
const patience = time.Minute

const (
	modernVersion = "2026-07-28"
	modernMeta    = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	initialize    = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{},"sampling":{},"roots":{}},"clientInfo":{"name":"test","version":"1"}}}`
)

// request makes a request; params may be "".
func request(id, method, params string) string {
	if params != "" {
		params = `,"params":` + params
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `"` + params + `}`
}

func call(id, tool, arguments string) string {
	return request(id, "tools/call", `{"name":"`+tool+`","arguments":`+arguments+`,"_meta":{"progressToken":"p`+strings.Trim(id, `"`)+`"}}`)
}

// fixture is a server with tools that tests steer.
type fixture struct {
	t   *testing.T
	h   *Handler
	srv *mcp.Server
	ts  *httptest.Server
	box mcp.Toolbox

	mu      sync.Mutex
	reports []error

	gates   sync.Map // name -> chan struct{}
	started chan string
	ended   chan error
}

// gate is a channel that a tool waits for.
func (f *fixture) gate(name string) chan struct{} {
	c, _ := f.gates.LoadOrStore(name, make(chan struct{}))
	return c.(chan struct{})
}

type named1 struct {
	Name string `json:"name,omitempty"`
}

func newServer(f *fixture) *mcp.Server {
	mcp.AddTool(&f.box, mcp.Tool{Name: "echo", Description: "Echo."}, func(_ context.Context, in named1) (string, error) { return in.Name, nil })
	mcp.AddTool(&f.box, mcp.Tool{Name: "steps", Description: "Progress."}, func(ctx context.Context, in named1) (string, error) {
		for i := range 3 {
			if err := mcp.Progress(ctx, float64(i+1), 3, ""); err != nil {
				return "", err
			}
		}
		return "done " + in.Name, nil
	})
	mcp.AddTool(&f.box, mcp.Tool{Name: "wait", Description: "Wait for a gate."}, func(ctx context.Context, in named1) (string, error) {
		f.started <- in.Name
		select {
		case <-f.gate(in.Name):
			return "gone through " + in.Name, nil
		case <-ctx.Done():
			f.ended <- context.Cause(ctx)
			return "", ctx.Err()
		}
	})
	mcp.AddTool(&f.box, mcp.Tool{Name: "stepwait", Description: "Progress, then wait for a gate."}, func(ctx context.Context, in named1) (string, error) {
		_ = mcp.Progress(ctx, 1, 2, "")
		f.started <- in.Name
		select {
		case <-f.gate(in.Name):
			_ = mcp.Progress(ctx, 2, 2, "")
			return "gone through " + in.Name, nil
		case <-ctx.Done():
			f.ended <- context.Cause(ctx)
			return "", ctx.Err()
		}
	})
	mcp.AddTool(&f.box, mcp.Tool{Name: "ask", Description: "Ask the client."}, func(ctx context.Context, in named1) (string, error) {
		var answer struct {
			Content struct {
				Text string `json:"text"`
			} `json:"content"`
		}
		err := mcp.SessionFrom(ctx).Call(ctx, "sampling/createMessage", map[string]any{"messages": []any{}, "maxTokens": 1, "for": in.Name}, &answer)
		if err != nil {
			return "", fmt.Errorf("asked in vain: %w", err)
		}
		return "said " + answer.Content.Text, nil
	})
	return &mcp.Server{
		Name: "Test", Version: "1", Lister: f.box.List, Caller: f.box.Call, Logging: true, ListChanged: true,
		Resources: func(context.Context) ([]mcp.Resource, error) { return []mcp.Resource{{URI: "note:a", Name: "a"}}, nil },
		Reader: func(_ context.Context, uri string) (any, error) {
			return []mcp.ResourceContents{{URI: uri, Text: "a"}}, nil
		},
		Subscriber: func(context.Context, string) error { return nil },
	}
}

// serve starts a server on loopback.
func serve(t *testing.T, o *Options) *fixture { return serveWith(t, o, nil) }

func serveWith(t *testing.T, o *Options, prepare func(*fixture)) *fixture {
	t.Helper()
	f := &fixture{t: t, started: make(chan string, 4096), ended: make(chan error, 4096)}
	f.srv = newServer(f)
	if o == nil {
		o = new(Options)
	}
	report := o.Report
	o.Report = func(ctx context.Context, err error) {
		f.mu.Lock()
		f.reports = append(f.reports, err)
		f.mu.Unlock()
		if report != nil {
			report(ctx, err)
		}
	}
	if prepare != nil {
		prepare(f)
	}
	f.h = New(f.srv, o)
	mux := http.NewServeMux()
	f.h.Register(mux, "/mcp")
	mux.Handle("/health", f.h.Health())
	f.ts = httptest.NewUnstartedServer(mux)
	f.ts.Config.ReadHeaderTimeout = patience
	f.ts.Start()
	t.Cleanup(func() {
		ctx, stop := context.WithTimeout(context.Background(), patience)
		defer stop()
		f.h.o.Grace = time.Millisecond
		if err := f.h.Shutdown(ctx); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		f.ts.CloseClientConnections()
		f.ts.Close()
	})
	return f
}

func (f *fixture) reported(want string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, err := range f.reports {
		if strings.Contains(err.Error(), want) {
			return true
		}
	}
	return false
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// answer is a response of HTTP that was read whole.
type answer struct {
	status int
	header http.Header
	body   string
	events []event // if it is a stream
}

// header makes one from pairs; those of a message come by themselves.
type header map[string]string

// do sends a request and reads the answer to its end.
func (f *fixture) do(method, body string, h header) answer {
	f.t.Helper()
	resp := f.open(context.Background(), method, body, h)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatalf("%s %s: %v", method, body, err)
	}
	a := answer{status: resp.StatusCode, header: resp.Header, body: string(b)}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), streamMedia) {
		r := newReader(bytes.NewReader(b))
		for {
			e, err := r.next()
			if err != nil {
				break
			}
			a.events = append(a.events, e)
		}
	}
	return a
}

// open sends a request and returns the response as soon as there is one.
func (f *fixture) open(ctx context.Context, method, body string, h header) *http.Response {
	f.t.Helper()
	resp, err := f.try(ctx, method, body, h)
	if err != nil {
		f.t.Fatalf("%s %s: %v", method, body, err)
	}
	return resp
}

func (f *fixture) try(ctx context.Context, method, body string, h header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, f.ts.URL+"/mcp", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", bothMedia)
	for name, v := range h {
		switch {
		case name == "Host":
			req.Host = v
		case v == "-":
			req.Header.Del(name)
		default:
			req.Header.Set(name, v)
		}
	}
	return f.ts.Client().Do(req)
}

// client is a client of a revision with initialize.
type client struct {
	*fixture
	id      string
	version string
}

func (f *fixture) connect(version string, h ...header) *client {
	f.t.Helper()
	var with header
	if len(h) > 0 {
		with = h[0]
	}
	a := f.do("POST", strings.Replace(initialize, "2025-11-25", version, 1), with)
	id := a.header.Get("Mcp-Session-Id")
	if a.status != 200 || id == "" || !strings.Contains(a.body, `"protocolVersion":"`+version+`"`) {
		f.t.Fatalf("initialize: %d %s", a.status, a.body)
	}
	c := &client{f, id, version}
	if a := c.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, with); a.status != 202 {
		f.t.Fatalf("initialized: %d", a.status)
	}
	return c
}

func (c *client) headers(more ...header) header {
	h := header{"Mcp-Session-Id": c.id, "Mcp-Protocol-Version": c.version}
	for _, m := range more {
		for k, v := range m {
			h[k] = v
		}
	}
	return h
}

func (c *client) post(body string, more ...header) answer {
	c.t.Helper()
	return c.do("POST", body, c.headers(more...))
}

// stream opens a response that is a stream.
func (c *client) stream(method, body string, more ...header) *reader {
	c.t.Helper()
	return c.fixture.stream(method, body, c.headers(more...))
}

func (f *fixture) stream(method, body string, h header) *reader {
	f.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	resp := f.open(ctx, method, body, h)
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != streamMedia {
		b, _ := io.ReadAll(resp.Body)
		f.t.Fatalf("%s %s: no stream: %d %s", method, body, resp.StatusCode, b)
	}
	r := newReader(resp.Body)
	r.t, r.header = f.t, resp.Header
	r.close = func() { stop(); _ = resp.Body.Close() }
	f.t.Cleanup(r.close)
	return r
}

// member returns a member of a JSON object as text, "" if there is none. path is separated by dots.
func member(text, path string) string {
	raw := json.RawMessage(text)
	for name := range strings.SplitSeq(path, ".") {
		var o map[string]json.RawMessage
		if json.Unmarshal(raw, &o) != nil {
			return ""
		}
		raw = o[name]
	}
	return string(raw)
}

func contextWithCancel() (context.Context, context.CancelFunc) {
	return context.WithCancel(context.Background())
}

// twice sends a header two times, with two values.
func (f *fixture) twice(body string, h header, name, second string) int {
	f.t.Helper()
	req, err := http.NewRequest("POST", f.ts.URL+"/mcp", strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	for k, v := range h {
		req.Header.Set(k, v)
	}
	req.Header.Add(name, second)
	resp, err := f.ts.Client().Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

// direct calls a handler without a server. The request comes from nowhere, so any host will do.
func direct(h http.Handler, method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// directWith is direct for a POST with headers.
func directWith(h http.Handler, method, body string, with header) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/mcp", strings.NewReader(body))
	for k, v := range with {
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}
