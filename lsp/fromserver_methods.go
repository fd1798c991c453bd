package lsp

import (
	"context"
	"errors"
	"sync"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// asked adapts a request.
func asked[P, R any](f func(protocol.Server, context.Context, *P) (R, error)) adapter {
	needed := neededOf[P]()
	return func(s *session) jsonrpc2.HandlerFunc {
		return func(ctx context.Context, r *jsonrpc2.Request) (any, error) {
			if !r.HasParams() {
				return nil, jsonrpc2.ErrInvalidParams
			}
			p := new(P)
			if err := r.Decode(p); err != nil {
				return nil, err
			}
			if !needed.in(p, r) {
				return nil, jsonrpc2.ErrInvalidParams
			}
			result, err := f(s.impl, s.guestContext(ctx), p)
			if err != nil {
				return nil, guestError(ctx, err)
			}
			return result, nil
		}
	}
}

// told adapts a notification. Those without params are told with the zero value.
func told[P any](f func(protocol.Server, context.Context, *P) error) adapter {
	return func(s *session) jsonrpc2.HandlerFunc {
		return func(ctx context.Context, r *jsonrpc2.Request) (any, error) {
			p := new(P)
			if err := r.Decode(p); err != nil {
				return nil, err
			}
			err := guestError(ctx, f(s.impl, s.guestContext(ctx), p))
			if errors.Is(err, jsonrpc2.ErrMethodNotFound) {
				return nil, nil
			}
			return nil, err
		}
	}
}

// adapters are the methods of the interface, except for initialize and shutdown. It looks at the types of all their params, so it is made when it is first
// wanted: a program that does without starts sooner.
var adapters = sync.OnceValue(func() map[string]adapter {
	return map[string]adapter{
		protocol.MethodInitialized: told(protocol.Server.Initialized),
		protocol.MethodExit: told(func(s protocol.Server, ctx context.Context, _ *struct{}) error {
			return s.Exit(ctx)
		}),
		protocol.MethodSetTrace:                            told(protocol.Server.SetTrace),
		protocol.MethodProgress:                            told(protocol.Server.Progress),
		protocol.MethodWindowWorkDoneProgressCancel:        told(protocol.Server.WorkDoneProgressCancel),
		protocol.MethodTextDocumentDidOpen:                 told(protocol.Server.DidOpen),
		protocol.MethodTextDocumentDidChange:               told(protocol.Server.DidChange),
		protocol.MethodTextDocumentWillSave:                told(protocol.Server.WillSave),
		protocol.MethodTextDocumentWillSaveWaitUntil:       asked(protocol.Server.WillSaveWaitUntil),
		protocol.MethodTextDocumentDidSave:                 told(protocol.Server.DidSave),
		protocol.MethodTextDocumentDidClose:                told(protocol.Server.DidClose),
		protocol.MethodNotebookDocumentDidOpen:             told(protocol.Server.DidOpenNotebookDocument),
		protocol.MethodNotebookDocumentDidChange:           told(protocol.Server.DidChangeNotebookDocument),
		protocol.MethodNotebookDocumentDidSave:             told(protocol.Server.DidSaveNotebookDocument),
		protocol.MethodNotebookDocumentDidClose:            told(protocol.Server.DidCloseNotebookDocument),
		protocol.MethodTextDocumentDeclaration:             asked(protocol.Server.Declaration),
		protocol.MethodTextDocumentDefinition:              asked(protocol.Server.Definition),
		protocol.MethodTextDocumentTypeDefinition:          asked(protocol.Server.TypeDefinition),
		protocol.MethodTextDocumentImplementation:          asked(protocol.Server.Implementation),
		protocol.MethodTextDocumentReferences:              asked(protocol.Server.References),
		protocol.MethodTextDocumentPrepareCallHierarchy:    asked(protocol.Server.PrepareCallHierarchy),
		protocol.MethodCallHierarchyIncomingCalls:          asked(protocol.Server.IncomingCalls),
		protocol.MethodCallHierarchyOutgoingCalls:          asked(protocol.Server.OutgoingCalls),
		protocol.MethodTextDocumentPrepareTypeHierarchy:    asked(protocol.Server.PrepareTypeHierarchy),
		protocol.MethodTypeHierarchySupertypes:             asked(protocol.Server.Supertypes),
		protocol.MethodTypeHierarchySubtypes:               asked(protocol.Server.Subtypes),
		protocol.MethodTextDocumentDocumentHighlight:       asked(protocol.Server.DocumentHighlight),
		protocol.MethodTextDocumentDocumentLink:            asked(protocol.Server.DocumentLink),
		protocol.MethodDocumentLinkResolve:                 asked(protocol.Server.DocumentLinkResolve),
		protocol.MethodTextDocumentHover:                   asked(protocol.Server.Hover),
		protocol.MethodTextDocumentCodeLens:                asked(protocol.Server.CodeLens),
		protocol.MethodCodeLensResolve:                     asked(protocol.Server.CodeLensResolve),
		protocol.MethodTextDocumentFoldingRange:            asked(protocol.Server.FoldingRanges),
		protocol.MethodTextDocumentSelectionRange:          asked(protocol.Server.SelectionRange),
		protocol.MethodTextDocumentDocumentSymbol:          asked(protocol.Server.DocumentSymbol),
		protocol.MethodTextDocumentSemanticTokensFull:      asked(protocol.Server.SemanticTokensFull),
		protocol.MethodTextDocumentSemanticTokensFullDelta: asked(protocol.Server.SemanticTokensFullDelta),
		protocol.MethodTextDocumentSemanticTokensRange:     asked(protocol.Server.SemanticTokensRange),
		protocol.MethodTextDocumentInlineValue:             asked(protocol.Server.InlineValue),
		protocol.MethodTextDocumentInlayHint:               asked(protocol.Server.InlayHint),
		protocol.MethodInlayHintResolve:                    asked(protocol.Server.InlayHintResolve),
		protocol.MethodTextDocumentMoniker:                 asked(protocol.Server.Moniker),
		protocol.MethodTextDocumentCompletion:              asked(protocol.Server.Completion),
		protocol.MethodCompletionItemResolve:               asked(protocol.Server.CompletionResolve),
		protocol.MethodTextDocumentDiagnostic:              asked(protocol.Server.Diagnostic),
		protocol.MethodWorkspaceDiagnostic:                 asked(protocol.Server.DiagnosticWorkspace),
		protocol.MethodTextDocumentSignatureHelp:           asked(protocol.Server.SignatureHelp),
		protocol.MethodTextDocumentCodeAction:              asked(protocol.Server.CodeAction),
		protocol.MethodCodeActionResolve:                   asked(protocol.Server.CodeActionResolve),
		protocol.MethodTextDocumentDocumentColor:           asked(protocol.Server.DocumentColor),
		protocol.MethodTextDocumentColorPresentation:       asked(protocol.Server.ColorPresentation),
		protocol.MethodTextDocumentFormatting:              asked(protocol.Server.Formatting),
		protocol.MethodTextDocumentRangeFormatting:         asked(protocol.Server.RangeFormatting),
		protocol.MethodTextDocumentRangesFormatting:        asked(protocol.Server.RangesFormatting),
		protocol.MethodTextDocumentOnTypeFormatting:        asked(protocol.Server.OnTypeFormatting),
		protocol.MethodTextDocumentRename:                  asked(protocol.Server.Rename),
		protocol.MethodTextDocumentPrepareRename:           asked(protocol.Server.PrepareRename),
		protocol.MethodTextDocumentLinkedEditingRange:      asked(protocol.Server.LinkedEditingRange),
		protocol.MethodTextDocumentInlineCompletion:        asked(protocol.Server.InlineCompletion),
		protocol.MethodWorkspaceSymbol:                     asked(protocol.Server.Symbols),
		protocol.MethodWorkspaceSymbolResolve:              asked(protocol.Server.WorkspaceSymbolResolve),
		protocol.MethodWorkspaceDidChangeConfiguration:     told(protocol.Server.DidChangeConfiguration),
		protocol.MethodWorkspaceDidChangeWorkspaceFolders:  told(protocol.Server.DidChangeWorkspaceFolders),
		protocol.MethodWorkspaceWillCreateFiles:            asked(protocol.Server.WillCreateFiles),
		protocol.MethodWorkspaceWillRenameFiles:            asked(protocol.Server.WillRenameFiles),
		protocol.MethodWorkspaceWillDeleteFiles:            asked(protocol.Server.WillDeleteFiles),
		protocol.MethodWorkspaceDidCreateFiles:             told(protocol.Server.DidCreateFiles),
		protocol.MethodWorkspaceDidRenameFiles:             told(protocol.Server.DidRenameFiles),
		protocol.MethodWorkspaceDidDeleteFiles:             told(protocol.Server.DidDeleteFiles),
		protocol.MethodWorkspaceDidChangeWatchedFiles:      told(protocol.Server.DidChangeWatchedFiles),
		protocol.MethodWorkspaceExecuteCommand:             asked(protocol.Server.ExecuteCommand),
		protocol.MethodWorkspaceTextDocumentContent:        asked(protocol.Server.TextDocumentContent),
	}
})
