package lsp

import (
	"slices"
	"sync"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// routes returns the routing table: every method of LSP 3.18, in both directions, in the order of the specification. Where no order is given,
// notifications are handled one after the other and requests side by side. Of the rows of one capability the first announces it and the others refine it.
//
// It is made when it is first wanted, as a program that serves something else starts sooner then; and set by init, as the functions that its rows name look
// at the table themselves. byMethod has the same rows.
var (
	routes   func() []route
	byMethod func() map[string]*route
)

func init() {
	routes = sync.OnceValue(func() []route {
		list := table()
		for i := range list {
			rt := &list[i]
			rt.first = !slices.ContainsFunc(list[:i], func(other route) bool { return other.server == rt.server })
		}
		return list
	})
	byMethod = sync.OnceValue(func() map[string]*route {
		list := routes()
		m := make(map[string]*route, len(list))
		for i := range list {
			m[list[i].method] = &list[i]
		}
		return m
	})
}

func table() []route {
	return []route{
		// Lifecycle messages.
		{method: "initialize", order: jsonrpc2.Ordered, own: own((*session).initialize)},
		{method: "initialized", kind: notification, own: own((*session).initialized)},
		{method: "shutdown", order: jsonrpc2.Immediate, own: own((*session).shutdown)},
		{method: "exit", kind: notification, own: own((*session).handleExit)},
		{method: "client/registerCapability", way: toClient, send: (*Client).Register},
		{method: "client/unregisterCapability", way: toClient, send: (*Registration).Unregister},
		{method: "$/setTrace", kind: notification, own: own((*session).setTrace)},
		{method: "$/logTrace", kind: notification, way: toClient, send: (*Client).LogTrace},
		{method: "$/cancelRequest", kind: notification, way: bothWays, send: (*jsonrpc2.Pending).Cancel},
		{method: "$/progress", kind: notification, way: bothWays, own: own((*session).progress), send: (*Progress).Report},

		// Documents.
		{method: "textDocument/didOpen", kind: notification, own: own((*session).didOpen), client: "textDocument.synchronization", server: "textDocumentSync.openClose", register: protocol.TextDocumentRegistrationOptions{}},
		{method: "textDocument/didChange", kind: notification, own: own((*session).didChange), client: "textDocument.synchronization", server: "textDocumentSync.change", register: protocol.TextDocumentChangeRegistrationOptions{}},
		{method: "textDocument/willSave", kind: notification, serve: note(&of.WillSave), client: "textDocument.synchronization.willSave", server: "textDocumentSync.willSave", register: protocol.TextDocumentRegistrationOptions{}},
		{method: "textDocument/willSaveWaitUntil", serve: call(&of.WillSaveWaitUntil), client: "textDocument.synchronization.willSaveWaitUntil", server: "textDocumentSync.willSaveWaitUntil", register: protocol.TextDocumentRegistrationOptions{}},
		{method: "textDocument/didSave", kind: notification, own: (*session).saves, client: "textDocument.synchronization.didSave", server: "textDocumentSync.save", options: "DidSave", register: protocol.TextDocumentSaveRegistrationOptions{}},
		{method: "textDocument/didClose", kind: notification, own: own((*session).didClose), client: "textDocument.synchronization", server: "textDocumentSync.openClose", register: protocol.TextDocumentRegistrationOptions{}},
		{method: "notebookDocument/didOpen", kind: notification, own: notebookHandler((*session).didOpenNotebook), client: "notebookDocument.synchronization", server: "notebookDocumentSync", options: "Notebooks", register: protocol.NotebookDocumentSyncRegistrationOptions{}, under: "notebookDocument/sync"},
		{method: "notebookDocument/didChange", kind: notification, own: notebookHandler((*session).didChangeNotebook), client: "notebookDocument.synchronization", register: protocol.NotebookDocumentSyncRegistrationOptions{}, under: "notebookDocument/sync"},
		{method: "notebookDocument/didSave", kind: notification, own: notebookHandler((*session).didSaveNotebook), client: "notebookDocument.synchronization", register: protocol.NotebookDocumentSyncRegistrationOptions{}, under: "notebookDocument/sync"},
		{method: "notebookDocument/didClose", kind: notification, own: notebookHandler((*session).didCloseNotebook), client: "notebookDocument.synchronization", register: protocol.NotebookDocumentSyncRegistrationOptions{}, under: "notebookDocument/sync"},

		// Language features.
		{method: "textDocument/declaration", serve: call(&of.Declaration), client: "textDocument.declaration", server: "declarationProvider", register: protocol.DeclarationRegistrationOptions{}, streams: true},
		{method: "textDocument/definition", serve: call(&of.Definition), client: "textDocument.definition", server: "definitionProvider", register: protocol.DefinitionRegistrationOptions{}, streams: true},
		{method: "textDocument/typeDefinition", serve: call(&of.TypeDefinition), client: "textDocument.typeDefinition", server: "typeDefinitionProvider", register: protocol.TypeDefinitionRegistrationOptions{}, streams: true},
		{method: "textDocument/implementation", serve: call(&of.Implementation), client: "textDocument.implementation", server: "implementationProvider", register: protocol.ImplementationRegistrationOptions{}, streams: true},
		{method: "textDocument/references", serve: call(&of.References), client: "textDocument.references", server: "referencesProvider", register: protocol.ReferenceRegistrationOptions{}, streams: true},
		{method: "textDocument/prepareCallHierarchy", serve: call(&of.PrepareCallHierarchy), client: "textDocument.callHierarchy", server: "callHierarchyProvider", register: protocol.CallHierarchyRegistrationOptions{}},
		{method: "callHierarchy/incomingCalls", serve: call(&of.IncomingCalls), client: "textDocument.callHierarchy", server: "callHierarchyProvider", streams: true},
		{method: "callHierarchy/outgoingCalls", serve: call(&of.OutgoingCalls), client: "textDocument.callHierarchy", server: "callHierarchyProvider", streams: true},
		{method: "textDocument/prepareTypeHierarchy", serve: call(&of.PrepareTypeHierarchy), client: "textDocument.typeHierarchy", server: "typeHierarchyProvider", register: protocol.TypeHierarchyRegistrationOptions{}},
		{method: "typeHierarchy/supertypes", serve: call(&of.Supertypes), client: "textDocument.typeHierarchy", server: "typeHierarchyProvider", streams: true},
		{method: "typeHierarchy/subtypes", serve: call(&of.Subtypes), client: "textDocument.typeHierarchy", server: "typeHierarchyProvider", streams: true},
		{method: "textDocument/documentHighlight", serve: call(&of.DocumentHighlight), client: "textDocument.documentHighlight", server: "documentHighlightProvider", register: protocol.DocumentHighlightRegistrationOptions{}, streams: true},
		{method: "textDocument/documentLink", serve: call(&of.DocumentLink), client: "textDocument.documentLink", server: "documentLinkProvider", register: protocol.DocumentLinkRegistrationOptions{}, streams: true},
		{method: "documentLink/resolve", serve: call(&of.DocumentLinkResolve), client: "textDocument.documentLink", server: "documentLinkProvider.resolveProvider"},
		{method: "textDocument/hover", serve: call(&of.Hover), client: "textDocument.hover", server: "hoverProvider", register: protocol.HoverRegistrationOptions{}},
		{method: "textDocument/codeLens", serve: call(&of.CodeLens), client: "textDocument.codeLens", server: "codeLensProvider", register: protocol.CodeLensRegistrationOptions{}, streams: true},
		{method: "codeLens/resolve", serve: call(&of.CodeLensResolve), client: "textDocument.codeLens.resolveSupport", server: "codeLensProvider.resolveProvider"},
		{method: "workspace/codeLens/refresh", way: toClient, send: (*Client).Refresh, client: "workspace.codeLens.refreshSupport", needs: true},
		{method: "textDocument/foldingRange", serve: call(&of.FoldingRange), client: "textDocument.foldingRange", server: "foldingRangeProvider", register: protocol.FoldingRangeRegistrationOptions{}, streams: true},
		{method: "workspace/foldingRange/refresh", way: toClient, send: (*Client).Refresh, client: "workspace.foldingRange.refreshSupport", needs: true},
		{method: "textDocument/selectionRange", serve: call(&of.SelectionRange), client: "textDocument.selectionRange", server: "selectionRangeProvider", register: protocol.SelectionRangeRegistrationOptions{}, streams: true},
		{method: "textDocument/documentSymbol", serve: call(&of.DocumentSymbol), client: "textDocument.documentSymbol", server: "documentSymbolProvider", register: protocol.DocumentSymbolRegistrationOptions{}, streams: true},
		{method: "textDocument/semanticTokens/full", serve: call(&of.SemanticTokens), client: "textDocument.semanticTokens", server: "semanticTokensProvider.full", options: "SemanticTokens", register: protocol.SemanticTokensRegistrationOptions{}, under: "textDocument/semanticTokens", streams: true},
		{method: "textDocument/semanticTokens/full/delta", serve: call(&of.SemanticTokensDelta), client: "textDocument.semanticTokens.requests.full.delta", server: "semanticTokensProvider.full.delta", options: "SemanticTokens", register: protocol.SemanticTokensRegistrationOptions{}, under: "textDocument/semanticTokens", streams: true},
		{method: "textDocument/semanticTokens/range", serve: call(&of.SemanticTokensRange), client: "textDocument.semanticTokens.requests.range", server: "semanticTokensProvider.range", options: "SemanticTokens", register: protocol.SemanticTokensRegistrationOptions{}, under: "textDocument/semanticTokens", streams: true},
		{method: "workspace/semanticTokens/refresh", way: toClient, send: (*Client).Refresh, client: "workspace.semanticTokens.refreshSupport", needs: true},
		{method: "textDocument/inlineValue", serve: call(&of.InlineValue), client: "textDocument.inlineValue", server: "inlineValueProvider", register: protocol.InlineValueRegistrationOptions{}, streams: true},
		{method: "workspace/inlineValue/refresh", way: toClient, send: (*Client).Refresh, client: "workspace.inlineValue.refreshSupport", needs: true},
		{method: "textDocument/inlayHint", serve: call(&of.InlayHint), client: "textDocument.inlayHint", server: "inlayHintProvider", register: protocol.InlayHintRegistrationOptions{}, streams: true},
		{method: "inlayHint/resolve", serve: call(&of.InlayHintResolve), client: "textDocument.inlayHint.resolveSupport", server: "inlayHintProvider.resolveProvider"},
		{method: "workspace/inlayHint/refresh", way: toClient, send: (*Client).Refresh, client: "workspace.inlayHint.refreshSupport", needs: true},
		{method: "textDocument/moniker", serve: call(&of.Moniker), client: "textDocument.moniker", server: "monikerProvider", register: protocol.MonikerRegistrationOptions{}, streams: true},
		{method: "textDocument/completion", serve: call(&of.Completion), client: "textDocument.completion", server: "completionProvider", register: protocol.CompletionRegistrationOptions{}, streams: true},
		{method: "completionItem/resolve", serve: call(&of.CompletionResolve), client: "textDocument.completion.completionItem.resolveSupport", server: "completionProvider.resolveProvider"},
		{method: "textDocument/publishDiagnostics", kind: notification, way: toClient, send: (*Client).PublishDiagnostics, client: "textDocument.publishDiagnostics"},
		{method: "textDocument/diagnostic", serve: call(&of.DocumentDiagnostic), own: (*session).pullsDocument, client: "textDocument.diagnostic", server: "diagnosticProvider", register: protocol.DiagnosticRegistrationOptions{}},
		{method: "workspace/diagnostic", serve: call(&of.WorkspaceDiagnostic), own: (*session).pullsWorkspace, client: "workspace.diagnostics", server: "diagnosticProvider.workspaceDiagnostics", streams: true},
		{method: "workspace/diagnostic/refresh", way: toClient, send: (*Client).Refresh, client: "workspace.diagnostics.refreshSupport", needs: true},
		{method: "textDocument/signatureHelp", serve: call(&of.SignatureHelp), client: "textDocument.signatureHelp", server: "signatureHelpProvider", register: protocol.SignatureHelpRegistrationOptions{}},
		{method: "textDocument/codeAction", serve: call(&of.CodeAction), client: "textDocument.codeAction", server: "codeActionProvider", rich: "textDocument.codeAction.codeActionLiteralSupport", register: protocol.CodeActionRegistrationOptions{}, streams: true},
		{method: "codeAction/resolve", serve: call(&of.CodeActionResolve), client: "textDocument.codeAction.resolveSupport", server: "codeActionProvider.resolveProvider"},
		{method: "textDocument/documentColor", serve: call(&of.DocumentColor), client: "textDocument.colorProvider", server: "colorProvider", register: protocol.DocumentColorRegistrationOptions{}, streams: true},
		{method: "textDocument/colorPresentation", serve: call(&of.ColorPresentation), client: "textDocument.colorProvider", server: "colorProvider", streams: true},
		{method: "textDocument/formatting", serve: call(&of.Formatting), client: "textDocument.formatting", server: "documentFormattingProvider", register: protocol.DocumentFormattingRegistrationOptions{}},
		{method: "textDocument/rangeFormatting", serve: call(&of.RangeFormatting), client: "textDocument.rangeFormatting", server: "documentRangeFormattingProvider", register: protocol.DocumentRangeFormattingRegistrationOptions{}},
		{method: "textDocument/rangesFormatting", serve: call(&of.RangesFormatting), client: "textDocument.rangeFormatting.rangesSupport", server: "documentRangeFormattingProvider.rangesSupport", register: protocol.DocumentRangeFormattingRegistrationOptions{}, under: "textDocument/rangeFormatting"},
		{method: "textDocument/onTypeFormatting", serve: call(&of.OnTypeFormatting), client: "textDocument.onTypeFormatting", server: "documentOnTypeFormattingProvider", register: protocol.DocumentOnTypeFormattingRegistrationOptions{}},
		{method: "textDocument/rename", serve: call(&of.Rename), client: "textDocument.rename", server: "renameProvider", rich: "textDocument.rename.prepareSupport", register: protocol.RenameRegistrationOptions{}},
		{method: "textDocument/prepareRename", serve: call(&of.PrepareRename), client: "textDocument.rename.prepareSupport", server: "renameProvider.prepareProvider"},
		{method: "textDocument/linkedEditingRange", serve: call(&of.LinkedEditingRange), client: "textDocument.linkedEditingRange", server: "linkedEditingRangeProvider", register: protocol.LinkedEditingRangeRegistrationOptions{}},
		{method: "textDocument/inlineCompletion", serve: call(&of.InlineCompletion), client: "textDocument.inlineCompletion", server: "inlineCompletionProvider", register: protocol.InlineCompletionRegistrationOptions{}, streams: true},

		// Workspace.
		{method: "workspace/symbol", serve: call(&of.WorkspaceSymbol), client: "workspace.symbol", server: "workspaceSymbolProvider", register: protocol.WorkspaceSymbolRegistrationOptions{}, streams: true},
		{method: "workspaceSymbol/resolve", serve: call(&of.WorkspaceSymbolResolve), client: "workspace.symbol.resolveSupport", server: "workspaceSymbolProvider.resolveProvider"},
		{method: "workspace/configuration", way: toClient, send: (*Client).Configuration, client: "workspace.configuration", needs: true},
		{method: "workspace/didChangeConfiguration", kind: notification, own: own((*session).didChangeConfiguration), client: "workspace.didChangeConfiguration", register: protocol.DidChangeConfigurationRegistrationOptions{}},
		{method: "workspace/workspaceFolders", way: toClient, send: (*Client).AskFolders, client: "workspace.workspaceFolders", needs: true, server: "workspace.workspaceFolders"},
		{method: "workspace/didChangeWorkspaceFolders", kind: notification, own: own((*session).didChangeWorkspaceFolders), client: "workspace.workspaceFolders", needs: true, server: "workspace.workspaceFolders.changeNotifications"},
		{method: "workspace/willCreateFiles", serve: call(&of.WillCreateFiles), client: "workspace.fileOperations.willCreate", server: "workspace.fileOperations.willCreate", register: protocol.FileOperationRegistrationOptions{}},
		{method: "workspace/willRenameFiles", serve: call(&of.WillRenameFiles), client: "workspace.fileOperations.willRename", server: "workspace.fileOperations.willRename", register: protocol.FileOperationRegistrationOptions{}},
		{method: "workspace/willDeleteFiles", serve: call(&of.WillDeleteFiles), client: "workspace.fileOperations.willDelete", server: "workspace.fileOperations.willDelete", register: protocol.FileOperationRegistrationOptions{}},
		{method: "workspace/didCreateFiles", kind: notification, serve: note(&of.DidCreateFiles), client: "workspace.fileOperations.didCreate", server: "workspace.fileOperations.didCreate", register: protocol.FileOperationRegistrationOptions{}},
		{method: "workspace/didRenameFiles", kind: notification, serve: note(&of.DidRenameFiles), client: "workspace.fileOperations.didRename", server: "workspace.fileOperations.didRename", register: protocol.FileOperationRegistrationOptions{}},
		{method: "workspace/didDeleteFiles", kind: notification, serve: note(&of.DidDeleteFiles), client: "workspace.fileOperations.didDelete", server: "workspace.fileOperations.didDelete", register: protocol.FileOperationRegistrationOptions{}},
		{method: "workspace/didChangeWatchedFiles", kind: notification, serve: note(&of.DidChangeWatchedFiles), client: "workspace.didChangeWatchedFiles", register: protocol.DidChangeWatchedFilesRegistrationOptions{}},
		{method: "workspace/executeCommand", own: (*session).commands, client: "workspace.executeCommand", server: "executeCommandProvider", options: "ExecuteCommand", register: protocol.ExecuteCommandRegistrationOptions{}},
		{method: "workspace/applyEdit", way: toClient, send: (*Client).ApplyEdit, client: "workspace.applyEdit", needs: true},
		{method: "workspace/textDocumentContent", serve: call(&of.TextDocumentContent), client: "workspace.textDocumentContent", server: "workspace.textDocumentContent", register: protocol.TextDocumentContentRegistrationOptions{}},
		{method: "workspace/textDocumentContent/refresh", way: toClient, send: (*Client).RefreshContent, client: "workspace.textDocumentContent", needs: true},

		// Window and telemetry.
		{method: "window/showMessage", kind: notification, way: toClient, send: (*Client).ShowMessage, client: "window.showMessage"},
		{method: "window/showMessageRequest", way: toClient, send: (*Client).Ask, client: "window.showMessage"},
		{method: "window/logMessage", kind: notification, way: toClient, send: (*Client).LogMessage},
		{method: "window/showDocument", way: toClient, send: (*Client).ShowDocument, client: "window.showDocument.support", needs: true},
		{method: "window/workDoneProgress/create", way: toClient, send: (*Client).Begin, client: "window.workDoneProgress", needs: true},
		{method: "window/workDoneProgress/cancel", kind: notification, order: jsonrpc2.Immediate, own: own((*session).cancelProgress)},
		{method: "telemetry/event", kind: notification, way: toClient, send: (*Client).Telemetry},
	}
}
