package lsp_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	lspjsonrpc2 "go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/lsp"
	"github.com/tandem-rpc/tandem/lsp/lsptest"
)

// existing is a server as they are written for go.lsp.dev/protocol: it keeps texts itself, in a map, and embeds the default implementation.
type existing struct {
	protocol.UnimplementedServer
	client protocol.Client

	mu    sync.Mutex
	texts map[uri.URI]string
	calls []string

	last       int32
	inversions int

	block   chan struct{} // hovers wait for it or their context
	started chan struct{}
}

func newExisting(c protocol.Client) *existing {
	return &existing{client: c, texts: make(map[uri.URI]string), started: make(chan struct{}, 100)}
}

func (s *existing) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, fmt.Sprintf(format, args...))
}

func (s *existing) Initialize(_ context.Context, p *protocol.InitializeParams) (*protocol.InitializeResult, error) {
	if p.Locale != nil && *p.Locale == "xx" {
		return nil, lspjsonrpc2.NewError(-32099, "no such language")
	}
	full, yes := protocol.TextDocumentSyncKindFull, true
	return &protocol.InitializeResult{
		Capabilities: protocol.ServerCapabilities{
			TextDocumentSync: &protocol.TextDocumentSyncOptions{OpenClose: &yes, Change: &full, Save: protocol.Boolean(true)},
			HoverProvider:    protocol.Boolean(true),
		},
		ServerInfo: protocol.ServerInfo{Name: "existing"},
	}, nil
}

func (s *existing) Initialized(ctx context.Context, _ *protocol.InitializedParams) error {
	s.note("initialized")
	return s.client.LogMessage(ctx, &protocol.LogMessageParams{Type: protocol.MessageTypeInfo, Message: "here"})
}

func (s *existing) Exit(context.Context) error {
	s.note("exit")
	return nil
}

func (s *existing) SetTrace(_ context.Context, p *protocol.SetTraceParams) error {
	s.note("trace %s", p.Value)
	return nil
}

func (s *existing) WorkDoneProgressCancel(_ context.Context, p *protocol.WorkDoneProgressCancelParams) error {
	s.note("cancel %v", p.Token)
	s.started <- struct{}{}
	return nil
}

func (s *existing) DidOpen(ctx context.Context, p *protocol.DidOpenTextDocumentParams) error {
	s.set(p.TextDocument.URI, p.TextDocument.Text)
	return s.client.PublishDiagnostics(ctx, &protocol.PublishDiagnosticsParams{
		URI: p.TextDocument.URI, Version: protocol.NewOptional(p.TextDocument.Version),
		Diagnostics: []protocol.Diagnostic{{Message: protocol.String("opened")}},
	})
}

func (s *existing) DidChange(_ context.Context, p *protocol.DidChangeTextDocumentParams) error {
	if p.TextDocument.Version <= s.last { // without the lock: notifications do not overlap
		s.inversions++
	}
	s.last = p.TextDocument.Version
	s.set(p.TextDocument.URI, p.ContentChanges[0].(*protocol.TextDocumentContentChangeWholeDocument).Text)
	return nil
}

func (s *existing) set(u uri.URI, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts[u] = text
}

func (s *existing) Hover(ctx context.Context, p *protocol.HoverParams) (*protocol.Hover, error) {
	s.mu.Lock()
	text := s.texts[p.TextDocument.URI]
	s.mu.Unlock()
	switch {
	case strings.HasPrefix(text, "panic"):
		panic("at the disco")
	case strings.HasPrefix(text, "fail"):
		return nil, errors.New("detail that is nobody's business")
	case strings.HasPrefix(text, "refuse"):
		return nil, fmt.Errorf("wrapped: %w", lspjsonrpc2.NewError(-32803, "for the user"))
	case strings.HasPrefix(text, "stale"):
		return nil, protocol.ErrContentModified
	case strings.HasPrefix(text, "ask"):
		client, _ := protocol.ClientFromContext(ctx)
		values, err := client.Configuration(ctx, &protocol.ConfigurationParams{Items: []protocol.ConfigurationItem{{}}})
		if err != nil {
			return nil, err
		}
		text = string(values[0])
	case strings.HasPrefix(text, "block"):
		s.started <- struct{}{}
		select {
		case <-s.block:
		case <-ctx.Done():
			return nil, errors.New("gave up")
		}
	}
	return &protocol.Hover{Contents: lsp.PlainText(text)}, nil
}

func (s *existing) Request(_ context.Context, method string, params any) (any, error) {
	if method == "vendor/echo" {
		return params, nil
	}
	if method == "vendor/note" {
		s.note("note %s", params)
		return nil, nil
	}
	return s.UnimplementedServer.Request(context.Background(), method, params)
}

// from connects a client to an existing server.
func from(t *testing.T, o *lsptest.Options) (*lsptest.Client, *existing) {
	t.Helper()
	var impl *existing
	s := lsp.FromServers(func(c protocol.Client) protocol.Server {
		impl = newExisting(c)
		impl.block = make(chan struct{})
		return impl
	})
	return lsptest.New(t, s, o), impl
}

// 2,000 changes with requests between them: each is handled in its order, and each request sees the text as of its place or a later one.
func TestFromServerOrder(t *testing.T) {
	const changes = 2000
	c, impl := from(t, nil)
	doc := c.Open("file:///a", "0")
	var hovers []*lsptest.Pending
	for i := 1; i <= changes; i++ {
		doc.SetText(fmt.Sprint(i))
		if i%20 == 0 {
			hovers = append(hovers, c.Go(protocol.MethodTextDocumentHover, map[string]any{"textDocument": doc.ID(), "position": protocol.Position{}}))
		}
	}
	for i, p := range hovers {
		var h protocol.Hover
		if err := p.Wait(&h); err != nil {
			t.Fatal(err)
		}
		var n int
		if _, err := fmt.Sscan(h.Contents.(*protocol.MarkupContent).Value, &n); err != nil || n < 20*(i+1) {
			t.Errorf("request %d saw version %d (%v)", i, n, err)
		}
	}
	c.Sync()
	if impl.inversions != 0 || impl.last != changes+1 {
		t.Errorf("%d inversions, the last version is %d", impl.inversions, impl.last)
	}
}

// The implementation announces itself, is called with what it knows, and calls back.
func TestFromServer(t *testing.T) {
	c, impl := from(t, &lsptest.Options{Settings: map[string]any{"tab": 4}})
	if c.Server().Name != "existing" || c.Capabilities().HoverProvider == nil || c.Capabilities().CompletionProvider != nil {
		t.Errorf("%+v %+v", c.Server(), c.Capabilities())
	}
	if got := lsptest.Next[protocol.LogMessageParams](c, protocol.MethodWindowLogMessage); got.Message != "here" {
		t.Errorf("log %q", got.Message)
	}
	doc := c.Open("file:///a", "text 😀")
	if got := lsptest.Messages(doc.Diagnostics()); !slices.Equal(got, []string{"opened"}) {
		t.Errorf("diagnostics %q", got)
	}
	if got := doc.HoverText("text"); got != "text 😀" {
		t.Errorf("hover %q", got)
	}
	doc.SetText("ask")
	if got := doc.HoverText("ask"); got != `{"tab":4}` {
		t.Errorf("hover %q", got)
	}
	c.Notify(protocol.MethodSetTrace, &protocol.SetTraceParams{Value: protocol.TraceValueVerbose})
	c.Notify(protocol.MethodWindowWorkDoneProgressCancel, &protocol.WorkDoneProgressCancelParams{Token: protocol.String("t")})
	<-impl.started
	c.Notify("vendor/note", []int{1})
	c.Notify("vendor/other", nil)
	if got := lsptest.Request[[]int](c, "vendor/echo", []int{7}); !slices.Equal(got, []int{7}) {
		t.Errorf("echo %v", got)
	}
	c.Refused(jsonrpc2.CodeMethodNotFound, "vendor/none", nil)
	c.Refused(jsonrpc2.CodeMethodNotFound, protocol.MethodTextDocumentCompletion, map[string]any{"textDocument": doc.ID(), "position": protocol.Position{}})
	c.Close()
	want := []string{"initialized", "trace verbose", "cancel t", "note [1]", "exit"}
	slices.Sort(want) // the cancellation of progress overtakes
	got := slices.Sorted(slices.Values(impl.calls))
	if !slices.Equal(got, want) || impl.calls[0] != "initialized" || impl.calls[len(impl.calls)-1] != "exit" {
		t.Errorf("called %q", impl.calls)
	}
}

// Errors get to the client as far as they are meant for it; nothing ends the connection.
func TestFromServerErrors(t *testing.T) {
	var reported atomic.Int32
	c, _ := from(t, &lsptest.Options{Report: func(error) { reported.Add(1) }})
	doc := c.Open("file:///a", "")
	position := map[string]any{"textDocument": doc.ID(), "position": protocol.Position{}}
	for _, e := range []struct {
		text, message string
		code          jsonrpc2.Code
	}{
		{"panic", "Internal error", jsonrpc2.CodeInternalError},
		{"fail", "Internal error", jsonrpc2.CodeInternalError},
		{"refuse", "for the user", lsp.CodeRequestFailed},
		{"stale", "content modified", lsp.CodeContentModified},
	} {
		doc.SetText(e.text)
		if got := c.Refused(e.code, protocol.MethodTextDocumentHover, position); got.Message != e.message {
			t.Errorf("%s: %q", e.text, got.Message)
		}
	}
	if n := reported.Load(); n != 2 {
		t.Errorf("%d reports, want those of the panic and the failure", n)
	}
	c.Refused(jsonrpc2.CodeInvalidParams, protocol.MethodTextDocumentHover, []int{1})
	c.Refused(jsonrpc2.CodeInvalidParams, protocol.MethodTextDocumentHover, nil)
	doc.SetText("still here")
	if got := doc.HoverText("here"); got != "still here" {
		t.Errorf("hover %q", got)
	}
}

// Requests run side by side, and a cancelled one is answered as LSP wants, whatever the implementation makes of it.
func TestFromServerCancel(t *testing.T) {
	c, impl := from(t, nil)
	doc := c.Open("file:///a", "block")
	var all []*lsptest.Pending
	for range 3 {
		all = append(all, c.Go(protocol.MethodTextDocumentHover, map[string]any{"textDocument": doc.ID(), "position": protocol.Position{}}))
	}
	for range all {
		<-impl.started
	}
	all[1].Cancel()
	if err := all[1].Wait(nil); !errors.Is(err, lsp.RequestCancelled) {
		t.Errorf("cancelled: %v", err)
	}
	close(impl.block)
	for _, i := range []int{0, 2} {
		if err := all[i].Wait(nil); err != nil {
			t.Error(err)
		}
	}
}

// The lifecycle is this package's.
func TestFromServerLifecycle(t *testing.T) {
	c, _ := from(t, &lsptest.Options{Manual: true})
	position := map[string]any{"textDocument": map[string]any{"uri": "file:///a"}, "position": protocol.Position{}}
	c.Refused(lsp.CodeServerNotInitialized, protocol.MethodTextDocumentHover, position)
	c.Refused(-32099, protocol.MethodInitialize, map[string]any{"processId": nil, "rootUri": nil, "capabilities": map[string]any{}, "locale": "xx"})
	c.Refused(lsp.CodeServerNotInitialized, protocol.MethodTextDocumentHover, position)
	c.Initialize(map[string]any{"processId": nil, "rootUri": nil, "capabilities": map[string]any{}})
	c.Refused(jsonrpc2.CodeInvalidRequest, protocol.MethodInitialize, map[string]any{"processId": nil, "rootUri": nil, "capabilities": map[string]any{}})
	c.Call(protocol.MethodShutdown, nil, nil) // which the implementation does not have
	c.Call(protocol.MethodShutdown, nil, nil)
	c.Refused(jsonrpc2.CodeInvalidRequest, protocol.MethodTextDocumentHover, position)
}

// Fields take over from the implementation, one by one, and have the documents.
func TestFromServerFields(t *testing.T) {
	impl := newExisting(nil)
	s := lsp.FromServer(&quiet{impl})
	s.Hover = func(ctx context.Context, p *protocol.HoverParams) (*protocol.Hover, error) {
		return &protocol.Hover{Contents: lsp.PlainText("new: " + lsp.SnapshotFrom(ctx).Document(p.TextDocument.URI).Text())}, nil
	}
	s.Initialize = func(_ context.Context, _ *protocol.InitializeParams, res *protocol.InitializeResult) error {
		res.ServerInfo.Name += " and new"
		return nil
	}
	var opened []string
	s.DidOpen = func(_ context.Context, doc *lsp.Document) error {
		opened = append(opened, doc.Text()+impl.text(doc.URI()))
		return nil
	}
	for range 2 { // clients
		c := lsptest.New(t, s, nil)
		if got := c.Server().Name; got != "existing and new" {
			t.Errorf("name %q", got)
		}
		doc := c.Open("file:///a", "x")
		doc.SetText("text")
		if got := doc.HoverText("text"); got != "new: text" {
			t.Errorf("hover %q", got)
		}
		if got := impl.text("file:///a"); got != "text" {
			t.Errorf("the implementation has %q", got)
		}
		c.Close()
		impl.set("file:///a", "")
		impl.last = 0
	}
	if !slices.Equal(opened, []string{"x", "x"}) {
		t.Errorf("opened %q", opened)
	}
}

func (s *existing) text(u uri.URI) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.texts[u]
}

// quiet is an existing server that has been given no client.
type quiet struct{ *existing }

func (s *quiet) Initialized(context.Context, *protocol.InitializedParams) error { return nil }
func (s *quiet) DidOpen(_ context.Context, p *protocol.DidOpenTextDocumentParams) error {
	s.set(p.TextDocument.URI, p.TextDocument.Text)
	return nil
}

// Everything of the interface is served, and everything of its client reaches the client.
func TestFromServerMethods(t *testing.T) {
	s := lsp.FromServer(everyMethod{})
	c := lsptest.New(t, s, nil)
	for method, params := range map[string]string{
		"textDocument/declaration": `{"textDocument":{"uri":"file:///a"},"position":{"line":0,"character":0}}`,
		"completionItem/resolve":   `{"label":"x"}`,
		"workspace/symbol":         `{"query":""}`,
		"workspace/executeCommand": `{"command":"x"}`,
		"textDocument/diagnostic":  `{"textDocument":{"uri":"file:///a"}}`,
	} {
		if err := c.Try(method, jsonRaw(params), nil); !errors.Is(err, lsp.RequestFailed("")) {
			t.Errorf("%s: %v", method, err)
		}
	}
}

func jsonRaw(s string) any { return rawParams(s) }

type rawParams string

func (r rawParams) MarshalJSON() ([]byte, error) { return []byte(r), nil }

type everyMethod struct{ protocol.UnimplementedServer }

var errServed = lspjsonrpc2.NewError(-32803, "served")

func (everyMethod) Initialize(context.Context, *protocol.InitializeParams) (*protocol.InitializeResult, error) {
	return new(protocol.InitializeResult), nil
}
func (everyMethod) Declaration(context.Context, *protocol.DeclarationParams) (protocol.DeclarationResult, error) {
	return nil, errServed
}
func (everyMethod) CompletionResolve(context.Context, *protocol.CompletionItem) (*protocol.CompletionItem, error) {
	return nil, errServed
}
func (everyMethod) Symbols(context.Context, *protocol.WorkspaceSymbolParams) (protocol.WorkspaceSymbolResult, error) {
	return nil, errServed
}
func (everyMethod) ExecuteCommand(context.Context, *protocol.ExecuteCommandParams) (protocol.LSPAny, error) {
	return nil, errServed
}
func (everyMethod) Diagnostic(context.Context, *protocol.DocumentDiagnosticParams) (protocol.DocumentDiagnosticReport, error) {
	return nil, errServed
}

func TestProtocolClient(t *testing.T) {
	if err := lsp.ProtocolClient(context.Background()).ShowMessage(context.Background(), nil); !errors.Is(err, lsp.ErrNoClient) {
		t.Errorf("without a client: %v", err)
	}
	done := make(chan struct{})
	var client protocol.Client
	s := &lsp.Server{Initialized: func(ctx context.Context) error {
		client = lsp.ProtocolClient(ctx)
		close(done)
		return nil
	}}
	c := lsptest.New(t, s, &lsptest.Options{
		Settings: map[string]any{"a": 1}, Files: map[uri.URI]string{"file:///f": "f"}, Choose: lsptest.Picks("Yes"),
		Folders: []protocol.WorkspaceFolder{{URI: "file:///w", Name: "w"}},
	})
	<-done
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	a := "a"
	var got []string
	try := func(what string, v any, err error) {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		got = append(got, fmt.Sprintf("%s %v", what, v))
	}
	values, err := client.Configuration(ctx, &protocol.ConfigurationParams{Items: []protocol.ConfigurationItem{{Section: &a}}})
	try("settings", values[0].String(), err)
	folders, err := client.WorkspaceFolders(ctx)
	try("folders", folders[0].Name, err)
	item, err := client.ShowMessageRequest(ctx, &protocol.ShowMessageRequestParams{Type: protocol.MessageTypeInfo, Message: "?", Actions: []protocol.MessageActionItem{{Title: "Yes"}}})
	try("chosen", item.Title, err)
	shown, err := client.ShowDocument(ctx, &protocol.ShowDocumentParams{URI: "file:///f"})
	try("shown", shown.Success, err)
	applied, err := client.ApplyEdit(ctx, &protocol.ApplyWorkspaceEditParams{Edit: protocol.WorkspaceEdit{Changes: map[uri.URI][]protocol.TextEdit{"file:///f": {{NewText: "x"}}}}})
	try("applied", applied.Applied, err)
	try("register", "", client.RegisterCapability(ctx, &protocol.RegistrationParams{Registrations: []protocol.Registration{{ID: "1", Method: "m"}}}))
	try("unregister", "", client.UnregisterCapability(ctx, &protocol.UnregistrationParams{Unregisterations: []protocol.Unregistration{{ID: "1", Method: "m"}}}))
	try("create", "", client.WorkDoneProgressCreate(ctx, &protocol.WorkDoneProgressCreateParams{Token: protocol.Integer(1)}))
	try("progress", "", client.Progress(ctx, &protocol.ProgressParams{Token: protocol.Integer(1), Value: protocol.LSPAny(`{"kind":"begin","title":"T"}`)}))
	for what, f := range map[string]func(context.Context) error{
		"codeLens": client.CodeLensRefresh, "foldingRange": client.FoldingRangeRefresh, "semanticTokens": client.SemanticTokensRefresh,
		"inlineValue": client.InlineValueRefresh, "inlayHint": client.InlayHintRefresh, "diagnostic": client.DiagnosticRefresh,
	} {
		if err := f(ctx); err != nil {
			t.Errorf("refresh of %s: %v", what, err)
		}
		c.Await("workspace/"+what+"/refresh", 1)
	}
	try("telemetry", "", client.Telemetry(ctx, protocol.LSPAny(`{"x":1}`)))
	try("trace", "", client.LogTrace(ctx, &protocol.LogTraceParams{Message: "m"}))
	want := []string{"settings 1", "folders w", "chosen Yes", "shown true", "applied true", "register ", "unregister ", "create ", "progress ", "telemetry ", "trace "}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if text, _ := c.File("file:///f"); text != "xf" {
		t.Errorf("the file is %q", text)
	}
	if c.Progress("T").Ended {
		t.Error("the work has ended")
	}
	c.Await(protocol.MethodTelemetryEvent, 1)
	c.Await(protocol.MethodLogTrace, 1)
}
