package editor

import (
	"context"
	"encoding/json"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/lsp"
)

// MaxFrame is how long messages of editors may be: notes of 32 MiB come in, whatever they have to be escaped to.
const MaxFrame = 64 << 20

// LSP is the language server: what it answers, and where to look for how.
func (d *Server) LSP() *lsp.Server {
	return &lsp.Server{
		Name:    d.name,
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

		// ledger.go
		DiagnoseWorkspace: d.diagnoseWorkspace,

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
		DidCreateFiles:            d.didCreate,
		DidDeleteFiles:            d.didDelete,
		DidChangeWatchedFiles:     d.filesChanged,
		DidChangeWorkspaceFolders: d.foldersChanged,

		// symbols.go
		DocumentSymbol:         d.documentSymbols,
		WorkspaceSymbol:        d.workspaceSymbols,
		WorkspaceSymbolResolve: d.workspaceSymbolResolve,

		// structure.go
		FoldingRange:       d.foldingRanges,
		SelectionRange:     d.selectionRanges,
		LinkedEditingRange: d.linkedRanges,

		// tokens.go
		SemanticTokens:      d.semanticTokens,
		SemanticTokensDelta: d.semanticTokensDelta,
		SemanticTokensRange: d.semanticTokensRange,

		// hints.go
		InlayHint:        d.inlayHints,
		InlayHintResolve: d.inlayHintResolve,
		CodeLens:         d.codeLenses,

		// actions.go
		CodeAction: d.codeActions,

		// format.go
		Formatting:       d.formatting,
		RangeFormatting:  d.rangeFormatting,
		RangesFormatting: d.rangesFormatting,

		// commands.go, hints.go
		Commands: map[string]func(context.Context, []json.RawMessage) (any, error){
			Reindex:       d.reindex,
			showBacklinks: d.backlinksCommand,
		},
	}
}

// options are what the editor has to know of the functions.
func options() (o lsp.Options) {
	o.Completion.TriggerCharacters = []string{"[", "(", "#", "/", "<"}
	o.Completion.CompletionItem = &protocol.ServerCompletionItemOptions{LabelDetailsSupport: new(bool)}
	*o.Completion.CompletionItem.LabelDetailsSupport = true
	o.SemanticTokens.Legend = tokenLegend
	o.CodeAction.CodeActionKinds = actionKinds
	o.DocumentDiagnostic.InterFileDependencies = true
	o.WillRenameFiles, o.DidRenameFiles = renamed(), renamed()
	return o
}
