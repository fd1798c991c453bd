package main

import (
	"context"
	"encoding/json"

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
		Options:     options(),

		// overlay.go, diagnose.go
		DidOpen:   d.touched,
		DidChange: d.touched,
		DidClose:  d.closed,
		Diagnose:  d.diagnose,

		// complete.go
		Completion:        d.completion,
		CompletionResolve: d.completionResolve,

		// navigate.go
		Hover:             d.hover,
		Definition:        d.definition,
		References:        d.references,
		DocumentHighlight: d.highlight,
		DocumentLink:      d.documentLinks,

		// rename.go
		Rename:        d.rename,
		PrepareRename: d.prepareRename,

		// rename.go, watch.go, client.go
		WillRenameFiles:           d.willRename,
		DidRenameFiles:            d.didRename,
		DidChangeWatchedFiles:     d.filesChanged,
		DidChangeWorkspaceFolders: d.foldersChanged,

		// commands.go
		Commands: map[string]func(context.Context, []json.RawMessage) (any, error){
			reindex: d.reindex,
		},
	}
}

// options are what the editor has to know of the functions.
func options() (o lsp.Options) {
	o.Completion.TriggerCharacters = []string{"[", "(", "#", "/", "<"}
	return o
}
