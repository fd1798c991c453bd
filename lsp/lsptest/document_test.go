package lsptest_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/lsp"
	"github.com/tandem-rpc/tandem/lsp/lsptest"
)

// synced is a server with that textDocumentSync, and whatever else is added.
func synced(sync protocol.TextDocumentSync) *lsp.Server {
	s := todo()
	s.Initialize = func(_ context.Context, _ *protocol.InitializeParams, res *protocol.InitializeResult) error {
		res.Capabilities.TextDocumentSync = sync
		return nil
	}
	return s
}

// sent are the params of the last message of the client with that method.
func sent(c *lsptest.Client, method string) string {
	params := ""
	for _, e := range c.Transcript() {
		var m struct {
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		if json.Unmarshal(e.Payload, &m) == nil && e.Sent && m.Method == method {
			params = string(m.Params)
		}
	}
	return params
}

// Changes are sent as the server wants them.
func TestSyncKinds(t *testing.T) {
	yes, full, incremental := true, protocol.TextDocumentSyncKindFull, protocol.TextDocumentSyncKindIncremental
	for _, s := range []struct {
		name string
		sync protocol.TextDocumentSync
		want string // contentChanges
		save string
	}{
		{"full", protocol.TextDocumentSyncKindFull, `[{"text":"one 2"}]`, ``},
		{"incremental", protocol.TextDocumentSyncKindIncremental, `[{"range":{"start":{"line":0,"character":4},"end":{"line":0,"character":7}},"text":"2"}]`, ``},
		{"options, full", &protocol.TextDocumentSyncOptions{OpenClose: &yes, Change: &full, Save: &protocol.SaveOptions{IncludeText: &yes}}, `[{"text":"one 2"}]`, `"text":"one 2"`},
		{"options, incremental", &protocol.TextDocumentSyncOptions{OpenClose: &yes, Change: &incremental}, `[{"range":{"start":{"line":0,"character":4},"end":{"line":0,"character":7}},"text":"2"}]`, ``},
		{"options, no changes", &protocol.TextDocumentSyncOptions{OpenClose: &yes}, ``, ``},
	} {
		t.Run(s.name, func(t *testing.T) {
			c := lsptest.New(t, synced(s.sync), nil)
			doc := c.Open("file:///a", "one two")
			doc.Edit("two", "2")
			doc.Save()
			if doc.Text() != "one 2" {
				t.Errorf("text %q", doc.Text())
			}
			if got := sent(c, "textDocument/didChange"); (s.want == "") != (got == "") || !strings.Contains(got, s.want) {
				t.Errorf("sent %s", got)
			}
			if got := sent(c, "textDocument/didSave"); !strings.Contains(got, s.save) || s.save == "" && strings.Contains(got, `"text":`) {
				t.Errorf("sent %s", got)
			}
		})
	}
	for name, sync := range map[string]protocol.TextDocumentSync{"nothing": nil, "none": protocol.TextDocumentSyncKindNone, "no open": &protocol.TextDocumentSyncOptions{}} {
		err := lsptest.Run(t.Context(), func(t lsptest.T) { lsptest.New(t, synced(sync), nil).Open("file:///a", "") })
		if err == nil || !strings.Contains(err.Error(), "does not ask to be told of open documents") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Several changes in one message build on each other.
func TestChange(t *testing.T) {
	c := lsptest.New(t, todo(), nil)
	doc := c.Open("file:///a", "abc")
	at := func(start, end uint32) protocol.Range {
		return protocol.Range{Start: protocol.Position{Character: start}, End: protocol.Position{Character: end}}
	}
	doc.Change(
		&protocol.TextDocumentContentChangePartial{Range: at(0, 1), Text: "XYZ"},
		&protocol.TextDocumentContentChangePartial{Range: at(4, 5), Text: "!"},
		&protocol.TextDocumentContentChangePartial{Range: at(5, 5), Text: " TODO"},
	)
	doc.Insert("XYZ", "-")
	if doc.Text() != "XYZ-b! TODO" || doc.Version() != 3 {
		t.Errorf("version %d is %q", doc.Version(), doc.Text())
	}
	if got := doc.HoverText("XYZ-b!"); got != "XYZ-b!" {
		t.Errorf("the server has %q", got)
	}
	if got := doc.Diagnostics(); len(got) != 1 || doc.In(got[0].Range) != "TODO" {
		t.Errorf("diagnostics %v", got)
	}
	doc.Close()
	if text, ok := c.File("file:///a"); !ok || text != doc.Text() {
		t.Errorf("the file is %q", text)
	}
	if got := c.Open("file:///a", "new").Version(); got != 1 {
		t.Errorf("opened again as version %d", got)
	}
}

// published is a server that publishes diagnostics by itself, with a version or without.
func published(version bool) *lsp.Server {
	publish := func(ctx context.Context, doc *lsp.Document) error {
		p := &protocol.PublishDiagnosticsParams{URI: doc.URI(), Diagnostics: []protocol.Diagnostic{{Message: protocol.String(doc.Text())}}}
		if version {
			p.Version.Set(doc.Version())
		}
		return lsp.ClientFrom(ctx).PublishDiagnostics(ctx, p)
	}
	return &lsp.Server{DidOpen: publish, DidChange: publish}
}

func TestDiagnosticsPublished(t *testing.T) {
	for _, version := range []bool{true, false} {
		c := lsptest.New(t, published(version), nil)
		doc := c.Open("file:///a", "1")
		for _, text := range []string{"2", "3", "4"} {
			doc.SetText(text)
			if got := lsptest.Messages(doc.Diagnostics()); len(got) != 1 || version && got[0] != text {
				t.Errorf("version %v: %q, want %q", version, got, text)
			}
		}
		if got := doc.Until(func(ds []protocol.Diagnostic) bool { return lsptest.Messages(ds)[0] == "4" }); len(got) != 1 {
			t.Errorf("until: %v", got)
		}
		if version {
			if got := lsptest.Messages(doc.DiagnosticsOf(2)); got[0] != "4" {
				t.Errorf("of a version that was overtaken: %q", got)
			}
		}
	}
}

// A server that is asked is asked again with the id of what it said, and when it says that it has news.
func TestDiagnosticsPulled(t *testing.T) {
	text := "first"
	var asked []string
	refresh := make(chan struct{})
	s := &lsp.Server{
		DocumentDiagnostic: func(_ context.Context, p *protocol.DocumentDiagnosticParams) (protocol.DocumentDiagnosticReport, error) {
			before := ""
			if p.PreviousResultID != nil {
				before = *p.PreviousResultID
			}
			asked = append(asked, before)
			if before == text {
				return &protocol.RelatedUnchangedDocumentDiagnosticReport{UnchangedDocumentDiagnosticReport: protocol.UnchangedDocumentDiagnosticReport{Kind: "unchanged", ResultID: text}}, nil
			}
			id := text
			return &protocol.RelatedFullDocumentDiagnosticReport{FullDocumentDiagnosticReport: protocol.FullDocumentDiagnosticReport{
				Kind: "full", ResultID: &id, Items: []protocol.Diagnostic{{Message: lsp.PlainText(text)}},
			}}, nil
		},
		Initialized: func(ctx context.Context) error {
			<-refresh
			return lsp.ClientFrom(ctx).Conn().Call(ctx, "workspace/diagnostic/refresh", nil, nil)
		},
	}
	c := lsptest.New(t, s, nil)
	doc := c.Open("file:///a", "")
	for range 2 {
		if got := lsptest.Messages(doc.Diagnostics()); len(got) != 1 || got[0] != "first" {
			t.Errorf("got %q", got)
		}
	}
	looked := 0
	doc.Until(func(ds []protocol.Diagnostic) bool {
		if looked++; looked == 1 {
			text = "second"
			close(refresh)
		}
		return lsptest.Messages(ds)[0] == "second"
	})
	if got := strings.Join(asked, ","); got != ",first,first,first" {
		t.Errorf("asked with %q", got)
	}
}
