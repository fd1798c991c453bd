package lsp

import (
	"context"

	"go.lsp.dev/protocol"
)

// features are the requests that fields of Server serve, with the capability that each announces. A row without one belongs to another row, whose
// options say so.
var features = []feature{
	feat(protocol.MethodTextDocumentDeclaration,
		func(s *Server) func(context.Context, *protocol.DeclarationParams) (protocol.DeclarationResult, error) {
			return s.Declaration
		},
		func(c *protocol.ServerCapabilities, _ *Server) { c.DeclarationProvider = protocol.Boolean(true) }),
	feat(protocol.MethodTextDocumentDefinition,
		func(s *Server) func(context.Context, *protocol.DefinitionParams) (protocol.DefinitionResult, error) {
			return s.Definition
		},
		func(c *protocol.ServerCapabilities, _ *Server) { c.DefinitionProvider = protocol.Boolean(true) }),
	feat(protocol.MethodTextDocumentTypeDefinition,
		func(s *Server) func(context.Context, *protocol.TypeDefinitionParams) (protocol.DefinitionResult, error) {
			return s.TypeDefinition
		},
		func(c *protocol.ServerCapabilities, _ *Server) { c.TypeDefinitionProvider = protocol.Boolean(true) }),
	feat(protocol.MethodTextDocumentImplementation,
		func(s *Server) func(context.Context, *protocol.ImplementationParams) (protocol.DefinitionResult, error) {
			return s.Implementation
		},
		func(c *protocol.ServerCapabilities, _ *Server) { c.ImplementationProvider = protocol.Boolean(true) }),
	feat(protocol.MethodTextDocumentReferences,
		func(s *Server) func(context.Context, *protocol.ReferenceParams) ([]protocol.Location, error) {
			return s.References
		},
		func(c *protocol.ServerCapabilities, _ *Server) { c.ReferencesProvider = protocol.Boolean(true) }),
	feat(protocol.MethodTextDocumentPrepareCallHierarchy,
		func(s *Server) func(context.Context, *protocol.CallHierarchyPrepareParams) ([]protocol.CallHierarchyItem, error) {
			return s.PrepareCallHierarchy
		},
		func(c *protocol.ServerCapabilities, _ *Server) { c.CallHierarchyProvider = protocol.Boolean(true) }),
	feat(protocol.MethodCallHierarchyIncomingCalls,
		func(s *Server) func(context.Context, *protocol.CallHierarchyIncomingCallsParams) ([]protocol.CallHierarchyIncomingCall, error) {
			return s.IncomingCalls
		},
		nil),
	feat(protocol.MethodCallHierarchyOutgoingCalls,
		func(s *Server) func(context.Context, *protocol.CallHierarchyOutgoingCallsParams) ([]protocol.CallHierarchyOutgoingCall, error) {
			return s.OutgoingCalls
		},
		nil),
	feat(protocol.MethodTextDocumentPrepareTypeHierarchy,
		func(s *Server) func(context.Context, *protocol.TypeHierarchyPrepareParams) ([]protocol.TypeHierarchyItem, error) {
			return s.PrepareTypeHierarchy
		},
		func(c *protocol.ServerCapabilities, _ *Server) { c.TypeHierarchyProvider = protocol.Boolean(true) }),
	feat(protocol.MethodTypeHierarchySupertypes,
		func(s *Server) func(context.Context, *protocol.TypeHierarchySupertypesParams) ([]protocol.TypeHierarchyItem, error) {
			return s.Supertypes
		},
		nil),
	feat(protocol.MethodTypeHierarchySubtypes,
		func(s *Server) func(context.Context, *protocol.TypeHierarchySubtypesParams) ([]protocol.TypeHierarchyItem, error) {
			return s.Subtypes
		},
		nil),
	feat(protocol.MethodTextDocumentDocumentHighlight,
		func(s *Server) func(context.Context, *protocol.DocumentHighlightParams) ([]protocol.DocumentHighlight, error) {
			return s.DocumentHighlight
		},
		func(c *protocol.ServerCapabilities, _ *Server) { c.DocumentHighlightProvider = protocol.Boolean(true) }),
	feat(protocol.MethodTextDocumentDocumentLink,
		func(s *Server) func(context.Context, *protocol.DocumentLinkParams) ([]protocol.DocumentLink, error) {
			return s.DocumentLink
		},
		func(c *protocol.ServerCapabilities, s *Server) {
			c.DocumentLinkProvider = &protocol.DocumentLinkOptions{ResolveProvider: can(s.DocumentLinkResolve != nil)}
		}),
	feat(protocol.MethodDocumentLinkResolve,
		func(s *Server) func(context.Context, *protocol.DocumentLink) (*protocol.DocumentLink, error) {
			return s.DocumentLinkResolve
		},
		nil),
	feat(protocol.MethodTextDocumentHover,
		func(s *Server) func(context.Context, *protocol.HoverParams) (*protocol.Hover, error) { return s.Hover },
		func(c *protocol.ServerCapabilities, _ *Server) { c.HoverProvider = protocol.Boolean(true) }),
	feat(protocol.MethodTextDocumentCodeLens,
		func(s *Server) func(context.Context, *protocol.CodeLensParams) ([]protocol.CodeLens, error) {
			return s.CodeLens
		},
		func(c *protocol.ServerCapabilities, s *Server) {
			c.CodeLensProvider = &protocol.CodeLensOptions{ResolveProvider: can(s.CodeLensResolve != nil)}
		}),
	feat(protocol.MethodCodeLensResolve,
		func(s *Server) func(context.Context, *protocol.CodeLens) (*protocol.CodeLens, error) {
			return s.CodeLensResolve
		},
		nil),
	feat(protocol.MethodTextDocumentFoldingRange,
		func(s *Server) func(context.Context, *protocol.FoldingRangeParams) ([]protocol.FoldingRange, error) {
			return s.FoldingRange
		},
		func(c *protocol.ServerCapabilities, _ *Server) { c.FoldingRangeProvider = protocol.Boolean(true) }),
	feat(protocol.MethodTextDocumentSelectionRange,
		func(s *Server) func(context.Context, *protocol.SelectionRangeParams) ([]protocol.SelectionRange, error) {
			return s.SelectionRange
		},
		func(c *protocol.ServerCapabilities, _ *Server) { c.SelectionRangeProvider = protocol.Boolean(true) }),
	feat(protocol.MethodTextDocumentDocumentSymbol,
		func(s *Server) func(context.Context, *protocol.DocumentSymbolParams) (protocol.DocumentSymbolResult, error) {
			return s.DocumentSymbol
		},
		func(c *protocol.ServerCapabilities, _ *Server) { c.DocumentSymbolProvider = protocol.Boolean(true) }),
	feat(protocol.MethodTextDocumentSemanticTokensFull,
		func(s *Server) func(context.Context, *protocol.SemanticTokensParams) (*protocol.SemanticTokens, error) {
			return s.SemanticTokens
		},
		func(c *protocol.ServerCapabilities, s *Server) { tokens(c, s).Full = protocol.Boolean(true) }),
	feat(protocol.MethodTextDocumentSemanticTokensRange,
		func(s *Server) func(context.Context, *protocol.SemanticTokensRangeParams) (*protocol.SemanticTokens, error) {
			return s.SemanticTokensRange
		},
		func(c *protocol.ServerCapabilities, s *Server) { tokens(c, s).Range = protocol.Boolean(true) }),
	feat(protocol.MethodTextDocumentInlineValue,
		func(s *Server) func(context.Context, *protocol.InlineValueParams) ([]protocol.InlineValue, error) {
			return s.InlineValue
		},
		func(c *protocol.ServerCapabilities, _ *Server) { c.InlineValueProvider = protocol.Boolean(true) }),
	feat(protocol.MethodTextDocumentInlayHint,
		func(s *Server) func(context.Context, *protocol.InlayHintParams) ([]protocol.InlayHint, error) {
			return s.InlayHint
		},
		func(c *protocol.ServerCapabilities, s *Server) {
			c.InlayHintProvider = &protocol.InlayHintOptions{ResolveProvider: can(s.InlayHintResolve != nil)}
		}),
	feat(protocol.MethodInlayHintResolve,
		func(s *Server) func(context.Context, *protocol.InlayHint) (*protocol.InlayHint, error) {
			return s.InlayHintResolve
		},
		nil),
	feat(protocol.MethodTextDocumentMoniker,
		func(s *Server) func(context.Context, *protocol.MonikerParams) ([]protocol.Moniker, error) {
			return s.Moniker
		},
		func(c *protocol.ServerCapabilities, _ *Server) { c.MonikerProvider = protocol.Boolean(true) }),
	feat(protocol.MethodTextDocumentCompletion,
		func(s *Server) func(context.Context, *protocol.CompletionParams) (*protocol.CompletionList, error) {
			return s.Completion
		},
		func(c *protocol.ServerCapabilities, s *Server) {
			c.CompletionProvider = &protocol.CompletionOptions{TriggerCharacters: s.CompletionTriggers, ResolveProvider: can(s.CompletionResolve != nil)}
		}),
	feat(protocol.MethodCompletionItemResolve,
		func(s *Server) func(context.Context, *protocol.CompletionItem) (*protocol.CompletionItem, error) {
			return s.CompletionResolve
		},
		nil),
	feat(protocol.MethodTextDocumentSignatureHelp,
		func(s *Server) func(context.Context, *protocol.SignatureHelpParams) (*protocol.SignatureHelp, error) {
			return s.SignatureHelp
		},
		func(c *protocol.ServerCapabilities, s *Server) {
			c.SignatureHelpProvider = &protocol.SignatureHelpOptions{TriggerCharacters: s.SignatureTriggers}
		}),
	feat(protocol.MethodTextDocumentCodeAction,
		func(s *Server) func(context.Context, *protocol.CodeActionParams) ([]protocol.CommandOrCodeAction, error) {
			return s.CodeAction
		},
		func(c *protocol.ServerCapabilities, s *Server) {
			c.CodeActionProvider = &protocol.CodeActionOptions{ResolveProvider: can(s.CodeActionResolve != nil)}
		}),
	feat(protocol.MethodCodeActionResolve,
		func(s *Server) func(context.Context, *protocol.CodeAction) (*protocol.CodeAction, error) {
			return s.CodeActionResolve
		},
		nil),
	feat(protocol.MethodTextDocumentDocumentColor,
		func(s *Server) func(context.Context, *protocol.DocumentColorParams) ([]protocol.ColorInformation, error) {
			return s.DocumentColor
		},
		func(c *protocol.ServerCapabilities, _ *Server) { c.ColorProvider = protocol.Boolean(true) }),
	feat(protocol.MethodTextDocumentColorPresentation,
		func(s *Server) func(context.Context, *protocol.ColorPresentationParams) ([]protocol.ColorPresentation, error) {
			return s.ColorPresentation
		},
		nil),
	feat(protocol.MethodTextDocumentFormatting,
		func(s *Server) func(context.Context, *protocol.DocumentFormattingParams) ([]protocol.TextEdit, error) {
			return s.Formatting
		},
		func(c *protocol.ServerCapabilities, _ *Server) { c.DocumentFormattingProvider = protocol.Boolean(true) }),
	feat(protocol.MethodTextDocumentRangeFormatting,
		func(s *Server) func(context.Context, *protocol.DocumentRangeFormattingParams) ([]protocol.TextEdit, error) {
			return s.RangeFormatting
		},
		func(c *protocol.ServerCapabilities, s *Server) {
			c.DocumentRangeFormattingProvider = protocol.Boolean(true)
		}),
	feat(protocol.MethodTextDocumentOnTypeFormatting,
		func(s *Server) func(context.Context, *protocol.DocumentOnTypeFormattingParams) ([]protocol.TextEdit, error) {
			return s.OnTypeFormatting
		},
		func(c *protocol.ServerCapabilities, s *Server) { onType(c, s) }),
	feat(protocol.MethodTextDocumentRename,
		func(s *Server) func(context.Context, *protocol.RenameParams) (*protocol.WorkspaceEdit, error) {
			return s.Rename
		},
		func(c *protocol.ServerCapabilities, s *Server) {
			c.RenameProvider = &protocol.RenameOptions{PrepareProvider: can(s.PrepareRename != nil)}
		}),
	feat(protocol.MethodTextDocumentPrepareRename,
		func(s *Server) func(context.Context, *protocol.PrepareRenameParams) (protocol.PrepareRenameResult, error) {
			return s.PrepareRename
		},
		nil),
	feat(protocol.MethodTextDocumentLinkedEditingRange,
		func(s *Server) func(context.Context, *protocol.LinkedEditingRangeParams) (*protocol.LinkedEditingRanges, error) {
			return s.LinkedEditingRange
		},
		func(c *protocol.ServerCapabilities, _ *Server) { c.LinkedEditingRangeProvider = protocol.Boolean(true) }),
	feat(protocol.MethodTextDocumentInlineCompletion,
		func(s *Server) func(context.Context, *protocol.InlineCompletionParams) (protocol.InlineCompletionResult, error) {
			return s.InlineCompletion
		},
		func(c *protocol.ServerCapabilities, _ *Server) { c.InlineCompletionProvider = protocol.Boolean(true) }),
	feat(protocol.MethodWorkspaceSymbol,
		func(s *Server) func(context.Context, *protocol.WorkspaceSymbolParams) (protocol.WorkspaceSymbolResult, error) {
			return s.WorkspaceSymbol
		},
		func(c *protocol.ServerCapabilities, s *Server) {
			c.WorkspaceSymbolProvider = &protocol.WorkspaceSymbolOptions{ResolveProvider: can(s.WorkspaceSymbolResolve != nil)}
		}),
	feat(protocol.MethodWorkspaceSymbolResolve,
		func(s *Server) func(context.Context, *protocol.WorkspaceSymbol) (*protocol.WorkspaceSymbol, error) {
			return s.WorkspaceSymbolResolve
		},
		nil),
}

// can is an optional boolean that is only sent where it is true.
func can(b bool) *bool {
	if !b {
		return nil
	}
	return &b
}

// tokens are the options that the semantic token requests share.
func tokens(c *protocol.ServerCapabilities, s *Server) *protocol.SemanticTokensOptions {
	o, ok := c.SemanticTokensProvider.(*protocol.SemanticTokensOptions)
	if !ok {
		o = &protocol.SemanticTokensOptions{Legend: s.SemanticTokensLegend}
		c.SemanticTokensProvider = o
	}
	return o
}

func onType(c *protocol.ServerCapabilities, s *Server) {
	if len(s.OnTypeTriggers) > 0 {
		c.DocumentOnTypeFormattingProvider.FirstTriggerCharacter = s.OnTypeTriggers[0]
		c.DocumentOnTypeFormattingProvider.MoreTriggerCharacter = s.OnTypeTriggers[1:]
	}
}
