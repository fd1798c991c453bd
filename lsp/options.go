package lsp

import "go.lsp.dev/protocol"

// Options describe the functions of a [Server] to the client, each in the field of its name. The zero value of a field says no more than that the function
// is there. What can be told from the Server itself need not be set: that there is a resolve function, PrepareRename, RangesFormatting,
// SemanticTokensDelta, and the names of the commands.
//
// Each field has a member WorkDoneProgress, except OnTypeFormatting and the ones of files: set it where the function reports with [Client.Begin], and
// clients that have a place for it send a token and show the progress there.
type Options struct {
	// Dynamic registers each function with client/registerCapability as soon as the client is initialized, where the client allows that
	// for the function, instead of announcing it in the result of initialize. Documents of all languages are kept in sync either way.
	Dynamic bool
	// Selector says which documents functions registered dynamically are for; empty: those that the client's configuration names.
	// Selectors has, by method, selectors that differ from it.
	Selector  protocol.DocumentSelector
	Selectors map[string]protocol.DocumentSelector

	DidSave protocol.SaveOptions // IncludeText is of use to functions that look at [RawParams] only: a document has its text anyway

	Declaration          protocol.DeclarationOptions
	Definition           protocol.DefinitionOptions
	TypeDefinition       protocol.TypeDefinitionOptions
	Implementation       protocol.ImplementationOptions
	References           protocol.ReferenceOptions
	PrepareCallHierarchy protocol.CallHierarchyOptions
	PrepareTypeHierarchy protocol.TypeHierarchyOptions
	DocumentHighlight    protocol.DocumentHighlightOptions
	DocumentLink         protocol.DocumentLinkOptions
	Hover                protocol.HoverOptions
	CodeLens             protocol.CodeLensOptions
	FoldingRange         protocol.FoldingRangeOptions
	SelectionRange       protocol.SelectionRangeOptions
	DocumentSymbol       protocol.DocumentSymbolOptions // Label names the tree where several servers offer one
	SemanticTokens       protocol.SemanticTokensOptions // the Legend is needed
	InlineValue          protocol.InlineValueOptions
	InlayHint            protocol.InlayHintOptions
	Moniker              protocol.MonikerOptions
	Completion           protocol.CompletionOptions // trigger and commit characters, labelDetailsSupport
	DocumentDiagnostic   protocol.DiagnosticOptions // also of Diagnose; InterFileDependencies if a change in one document alters what others have
	SignatureHelp        protocol.SignatureHelpOptions
	CodeAction           protocol.CodeActionOptions // kinds and documentation; left out for clients that do not know literals
	DocumentColor        protocol.DocumentColorOptions
	Formatting           protocol.DocumentFormattingOptions
	RangeFormatting      protocol.DocumentRangeFormattingOptions
	OnTypeFormatting     protocol.DocumentOnTypeFormattingOptions // the first trigger character is needed
	Rename               protocol.RenameOptions
	LinkedEditingRange   protocol.LinkedEditingRangeOptions
	InlineCompletion     protocol.InlineCompletionOptions
	WorkspaceSymbol      protocol.WorkspaceSymbolOptions
	ExecuteCommand       protocol.ExecuteCommandOptions

	// Filters of file operations; without any it is all files.
	WillCreateFiles protocol.FileOperationRegistrationOptions
	WillRenameFiles protocol.FileOperationRegistrationOptions
	WillDeleteFiles protocol.FileOperationRegistrationOptions
	DidCreateFiles  protocol.FileOperationRegistrationOptions
	DidRenameFiles  protocol.FileOperationRegistrationOptions
	DidDeleteFiles  protocol.FileOperationRegistrationOptions

	TextDocumentContent protocol.TextDocumentContentOptions
	// Notebooks says which notebooks, and which of their cells, the client keeps in sync with the server; without a selector it is all of them, if
	// there is a function for notebooks.
	Notebooks protocol.NotebookDocumentSyncOptions
}
