package main

import (
	"context"
	"encoding/json"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/lsp"
)

// server is the language server: what it answers, and where to look for how.
func (d *demo) server() *lsp.Server {
	return &lsp.Server{
		Name:    "demo-lsp",
		Version: "0.1.0",

		// client.go
		Initialize:  d.initialize,
		Initialized: d.initialized,
		Extend:      d.files,

		// overlay.go, diagnose.go
		DidOpen:   d.touched,
		DidChange: d.touched,
		DidClose:  d.closed,
		Diagnose:  d.diagnose,

		// complete.go
		Completion:         d.completion,
		CompletionResolve:  d.completionResolve,
		CompletionTriggers: []string{"[", "(", "#", "/", "<"},

		// navigate.go
		Hover:             d.hover,
		Definition:        d.definition,
		References:        d.references,
		DocumentHighlight: d.highlight,
		DocumentLink:      d.documentLinks,

		// rename.go
		Rename:        d.rename,
		PrepareRename: d.prepareRename,

		// commands.go
		Commands: map[string]func(context.Context, []json.RawMessage) (any, error){
			reindex: d.reindex,
		},
	}
}

// files serves what editors say about files and folders.
func (d *demo) files(m *jsonrpc2.Mux) {
	m.HandleRequest(protocol.MethodWorkspaceWillRenameFiles, jsonrpc2.Call(d.willRename))
	m.HandleNotification(protocol.MethodWorkspaceDidRenameFiles, jsonrpc2.Note(d.didRename))
	m.HandleNotification(protocol.MethodWorkspaceDidChangeWatchedFiles, jsonrpc2.Note(d.filesChanged))
	m.HandleNotification(protocol.MethodWorkspaceDidChangeWorkspaceFolders, jsonrpc2.Note(d.foldersChanged))
}
