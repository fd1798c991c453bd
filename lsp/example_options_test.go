package lsp_test

import (
	"context"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/lsp"
)

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}`

// What a client has to know beyond that a function is there.
func ExampleOptions() {
	s := &lsp.Server{
		Name: "options",
		Completion: func(context.Context, *protocol.CompletionParams) (*protocol.CompletionList, error) {
			return &protocol.CompletionList{}, nil
		},
		DidRenameFiles: func(context.Context, *protocol.RenameFilesParams) error { return nil },
	}
	s.Options.Completion.TriggerCharacters = []string{"[", "#"}
	s.Options.DidRenameFiles.Filters = []protocol.FileOperationFilter{{Pattern: protocol.FileOperationPattern{Glob: "**/*.md"}}}
	send := session(s)
	send(initialize)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"capabilities":{"textDocumentSync":{"openClose":true,"change":2},"completionProvider":{"triggerCharacters":["[","#"]},"workspace":{"fileOperations":{"didRename":{"filters":[{"pattern":{"glob":"**/*.md"}}]}}}},"serverInfo":{"name":"options"}}}
}

// A result in parts. This client has given no token for them, so it gets them together.
func ExampleStream() {
	send := session(&lsp.Server{
		WorkspaceSymbol: func(ctx context.Context, p *protocol.WorkspaceSymbolParams) (protocol.WorkspaceSymbolResult, error) {
			for _, file := range []string{"a", "b"} {
				symbol := protocol.WorkspaceSymbol{Location: &protocol.LocationUriOnly{URI: uri.URI("file:///" + file)}}
				symbol.Name, symbol.Kind = p.Query+" in "+file, protocol.SymbolKindFile
				if err := lsp.Stream(ctx, symbol); err != nil {
					return nil, err
				}
			}
			return nil, nil
		},
	})
	send(initialize)
	send(`{"jsonrpc":"2.0","id":2,"method":"workspace/symbol","params":{"query":"x"}}`)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"capabilities":{"textDocumentSync":{"openClose":true,"change":2},"workspaceSymbolProvider":true}}}
	// {"jsonrpc":"2.0","id":2,"result":[{"name":"x in a","kind":1,"location":{"uri":"file:///a"}},{"name":"x in b","kind":1,"location":{"uri":"file:///b"}}]}
}

// An edit that is refused if the document has changed since, for clients that can check it.
func ExampleEdits() {
	s := &lsp.Server{Rename: func(ctx context.Context, p *protocol.RenameParams) (*protocol.WorkspaceEdit, error) {
		d := lsp.SnapshotFrom(ctx).Document(p.TextDocument.URI)
		if d == nil {
			return nil, lsp.RequestFailed("The document is not open.")
		}
		edits := new(lsp.Edits).Change(d, protocol.TextEdit{Range: d.Range(0, d.Len()), NewText: p.NewName})
		edit, err := edits.For(lsp.ClientFrom(ctx))
		return &edit, err
	}}
	send := session(s)
	send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{"workspace":{"workspaceEdit":{"documentChanges":true}}}}}`)
	send(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///a","languageId":"x","version":7,"text":"old"}}}`)
	send(`{"jsonrpc":"2.0","id":2,"method":"textDocument/rename","params":{"textDocument":{"uri":"file:///a"},"position":{"line":0,"character":0},"newName":"new"}}`)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"capabilities":{"textDocumentSync":{"openClose":true,"change":2},"renameProvider":true}}}
	// {"jsonrpc":"2.0","id":2,"result":{"documentChanges":[{"textDocument":{"uri":"file:///a","version":7},"edits":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":3}},"newText":"new"}]}]}}
}
