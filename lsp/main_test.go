package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/internal/leak"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

func TestMain(m *testing.M) { leak.Main(m) }

// patience is how long a test waits for what must come.
const patience = time.Minute

// peer is a client of a Server under test, over a pipe in memory.
type peer struct {
	t    testing.TB
	conn *jsonrpc2.Conn
	mux  *jsonrpc2.Mux // the client's handlers
	opts *jsonrpc2.Options
	srv  *Server
	smux *jsonrpc2.Mux
	over chan error

	diagnostics chan *protocol.PublishDiagnosticsParams
	logs        chan *protocol.LogMessageParams
}

// connect serves srv and returns its client, which has not said anything. Both ends are gone when the test is.
func connect(t testing.TB, srv *Server) *peer {
	p := dial(t, srv)
	p.start()
	return p
}

// dial is connect without starting the client, so that handlers can be added.
func dial(t testing.TB, srv *Server, set ...func(*jsonrpc2.Options)) *peer {
	t.Helper()
	a, b := jsonrpc2.Pipe()
	p := &peer{
		t: t, srv: srv, mux: jsonrpc2.NewMux(), over: make(chan error, 1), opts: new(jsonrpc2.Options),
		diagnostics: make(chan *protocol.PublishDiagnosticsParams, 1000),
		logs:        make(chan *protocol.LogMessageParams, 1000),
	}
	for _, f := range set {
		f(p.opts)
	}
	m, err := srv.Mount(p.opts)
	if err != nil {
		t.Fatal(err)
	}
	p.smux = m
	server := jsonrpc2.NewConn(a, m, p.opts)
	go func() { p.over <- server.Serve(context.Background()) }()
	p.mux.HandleNotification(protocol.MethodTextDocumentPublishDiagnostics, jsonrpc2.Note(func(_ context.Context, d *protocol.PublishDiagnosticsParams) error {
		p.diagnostics <- d
		return nil
	}))
	p.mux.HandleNotification(protocol.MethodWindowLogMessage, jsonrpc2.Note(func(_ context.Context, l *protocol.LogMessageParams) error {
		p.logs <- l
		return nil
	}))
	p.conn = jsonrpc2.NewConn(b, p.mux, &jsonrpc2.Options{Codec: Codec, Cancel: cancel.NewRegistry(Cancel)})
	return p
}

func (p *peer) start() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = p.conn.Serve(context.Background())
	}()
	p.t.Cleanup(func() {
		_ = p.conn.Close()
		<-done
		select {
		case <-p.over:
		case <-time.After(patience):
			p.t.Error("the server's Serve does not return")
		}
	})
}

// call calls and fails the test on an error.
func (p *peer) call(method string, params, result any) {
	p.t.Helper()
	if err := p.try(method, params, result); err != nil {
		p.t.Fatalf("%s: %v", method, err)
	}
}

func (p *peer) try(method string, params, result any) error {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	return p.conn.Call(ctx, method, raw(params), result)
}

func (p *peer) notify(method string, params any) {
	p.t.Helper()
	if err := p.conn.Notify(context.Background(), method, raw(params)); err != nil {
		p.t.Fatalf("%s: %v", method, err)
	}
}

// raw lets tests write params as JSON text.
func raw(params any) any {
	if s, ok := params.(string); ok {
		return json.RawMessage(s)
	}
	return params
}

const plainInit = `{"processId":null,"rootUri":null,"capabilities":{}}`

// ableInit is of a client that has every capability in the routing table, may be asked to trace, and has a key of its own.
var ableInit = func() string {
	caps := tree{"vendorKey": 1}
	set := func(path string, v any) {
		node := caps
		parts := strings.Split(path, ".")
		for _, part := range parts[:len(parts)-1] {
			next, ok := node[part].(tree)
			if !ok {
				next = tree{}
				node[part] = next
			}
			node = next
		}
		if last := parts[len(parts)-1]; node[last] == nil {
			node[last] = v
		}
	}
	for _, rt := range table() {
		switch can := rt.dynamic(); {
		case can != "":
			set(can, true)
		case rt.client == "textDocument.publishDiagnostics", rt.client == "window.showMessage":
			set(rt.client, tree{})
		}
		switch {
		case strings.HasSuffix(rt.client, ".resolveSupport"):
			set(rt.client, tree{"properties": []string{}})
		case rt.client != "":
			set(rt.client, true)
		}
	}
	set("textDocument.codeAction.codeActionLiteralSupport", tree{"codeActionKind": tree{"valueSet": []string{}}})
	set("workspace.workspaceEdit.documentChanges", true)
	set("workspace.workspaceEdit.resourceOperations", []string{"create", "rename", "delete"})
	set("workspace.didChangeWatchedFiles.relativePatternSupport", true)
	b, err := json.Marshal(object("processId", nil, "rootUri", nil, "clientInfo", object("name", "ed"), "trace", "verbose", "capabilities", caps))
	if err != nil {
		panic(err)
	}
	return string(b)
}()

// init initializes, with UTF-16 if caps has nothing else.
func (p *peer) init(params string) *protocol.InitializeResult {
	p.t.Helper()
	res := new(protocol.InitializeResult)
	p.call("initialize", params, res)
	p.notify("initialized", `{}`)
	return res
}

func (p *peer) open(u string, version int, text string) {
	p.t.Helper()
	p.notify("textDocument/didOpen", object("textDocument", object("uri", u, "languageId", "x", "version", version, "text", text)))
}

// object builds params for tests from names and values.
func object(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	return m
}

// edit is one didChange event.
func edit(l1, c1, l2, c2 int, text string) map[string]any {
	return object("range", object("start", object("line", l1, "character", c1), "end", object("line", l2, "character", c2)), "text", text)
}

func (p *peer) change(u string, version int, events ...any) {
	p.t.Helper()
	p.notify("textDocument/didChange", object("textDocument", object("uri", u, "version", version), "contentChanges", events))
}

// text asks the server for its text of a document; showText is the handler.
func (p *peer) text(u string) (s string, version int) {
	p.t.Helper()
	var h protocol.Hover
	p.call("textDocument/hover", object("textDocument", object("uri", u), "position", object("line", 0, "character", 0)), &h)
	var got struct {
		Version int
		Text    string
	}
	if err := json.Unmarshal([]byte(h.Contents.(protocol.String)), &got); err != nil {
		p.t.Fatal(err)
	}
	return got.Text, got.Version
}

// showText answers a hover with version and text of the document.
func showText(ctx context.Context, p *protocol.HoverParams) (*protocol.Hover, error) {
	d := SnapshotFrom(ctx).Document(p.TextDocument.URI)
	if d == nil {
		return nil, RequestFailed("not open")
	}
	b, err := json.Marshal(object("Version", d.Version(), "Text", d.Text()))
	return &protocol.Hover{Contents: protocol.String(b)}, err
}

func wantCode(t testing.TB, err error, code jsonrpc2.Code) {
	t.Helper()
	var e *jsonrpc2.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Errorf("error is %v, want code %d", err, code)
	}
}

// reports gathers what a Server reports.
type reports struct {
	mu   sync.Mutex
	errs []error
}

func (r *reports) add(_ context.Context, _ *jsonrpc2.Request, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errs = append(r.errs, err)
}

func (r *reports) list() []error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]error(nil), r.errs...)
}

func receive[T any](t testing.TB, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

func uriOf(s string) uri.URI { return uri.URI(s) }
