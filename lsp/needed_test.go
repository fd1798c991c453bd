package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

func TestMembersThatAreMissing(t *testing.T) {
	const doc = `"textDocument":{"uri":"file:///a"}`
	tests := []struct {
		name, method, params string
		runs                 bool
	}{
		{"nothing", "textDocument/hover", `{}`, false},
		{"no document", "textDocument/hover", `{"position":{"line":1,"character":1}}`, false},
		{"document without URI", "textDocument/hover", `{"textDocument":{},"position":{"line":1,"character":1}}`, false},
		{"null for a document", "textDocument/hover", `{"textDocument":null,"position":{"line":1,"character":1}}`, false},
		{"no position", "textDocument/hover", `{` + doc + `}`, false},
		{"null for a position", "textDocument/hover", `{` + doc + `,"position":null}`, false},
		{"position without line", "textDocument/hover", `{` + doc + `,"position":{"character":0}}`, false},
		{"negative position", "textDocument/hover", `{` + doc + `,"position":{"line":-1,"character":0}}`, false},
		{"the first position", "textDocument/hover", `{` + doc + `,"position":{"line":0,"character":0}}`, true},
		{"the first position, spelt otherwise", "textDocument/hover", `{ "p\u006fsition" : {"character":0.0,"line":0} , ` + doc + `}`, true},
		{"position far away", "textDocument/hover", `{` + doc + `,"position":{"line":4294967295,"character":1e99}}`, true},
		{"null for a token", "textDocument/hover", `{` + doc + `,"position":{"line":0,"character":0},"workDoneToken":null}`, true},
		{"no context", "textDocument/references", `{` + doc + `,"position":{"line":0,"character":0}}`, true},
		{"no range", "textDocument/inlayHint", `{` + doc + `}`, false},
		{"empty range", "textDocument/inlayHint", `{` + doc + `,"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}}}`, true},
		{"no options", "textDocument/formatting", `{` + doc + `}`, true},
		{"no query", "workspace/symbol", `{}`, false},
		{"empty query", "workspace/symbol", `{"query":""}`, true},
		{"no command", "workspace/executeCommand", `{}`, false},
		{"no label", "completionItem/resolve", `{}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ran := errors.New("ran")
			for _, p := range []*peer{
				connect(t, &Server{
					Hover:      func(context.Context, *protocol.HoverParams) (*protocol.Hover, error) { return nil, ran },
					References: func(context.Context, *protocol.ReferenceParams) ([]protocol.Location, error) { return nil, ran },
					InlayHint:  func(context.Context, *protocol.InlayHintParams) ([]protocol.InlayHint, error) { return nil, ran },
					Formatting: func(context.Context, *protocol.DocumentFormattingParams) ([]protocol.TextEdit, error) {
						return nil, ran
					},
					WorkspaceSymbol: func(context.Context, *protocol.WorkspaceSymbolParams) (protocol.WorkspaceSymbolResult, error) {
						return nil, ran
					},
					CompletionResolve: func(context.Context, *protocol.CompletionItem) (*protocol.CompletionItem, error) { return nil, ran },
					Commands:          map[string]func(context.Context, []json.RawMessage) (any, error){"x": nil},
				}),
				connect(t, FromServer(guest{})),
			} {
				p.init(plainInit)
				err := p.try(tt.method, tt.params, nil)
				e, _ := errors.AsType[*jsonrpc2.Error](err)
				if refused := e != nil && e.Code == jsonrpc2.CodeInvalidParams; refused == tt.runs {
					t.Errorf("answered %v", err)
				}
			}
		})
	}
}

// guest has nothing to do but the handshake.
type guest struct{ protocol.UnimplementedServer }

func (guest) Initialize(context.Context, *protocol.InitializeParams) (*protocol.InitializeResult, error) {
	return &protocol.InitializeResult{}, nil
}

// A document whose URI has no scheme is found by the URI that the decoder of params makes of it.
func TestDocumentWithoutScheme(t *testing.T) {
	for _, u := range []string{"main.go", "/a/b c.go", "über", `\\host\share\a`, ""} {
		p := connect(t, &Server{Hover: showText})
		p.init(plainInit)
		p.open(u, 1, "text")
		if s, _ := p.text(u); s != "text" {
			t.Errorf("%q is %q", u, s)
		}
		p.change(u, 2, edit(0, 0, 0, 0, "a "))
		if s, _ := p.text(u); s != "a text" {
			t.Errorf("%q is %q", u, s)
		}
	}
}
