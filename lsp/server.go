package lsp

import (
	"context"
	"encoding/json"
	"sync"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Server is a language server: a struct of functions. Setting one serves its method and tells the client so in the capabilities; a method without a
// function is answered "Method not found". The zero Server is one that keeps documents in sync and does nothing else.
//
// One Server serves any number of connections at once, each with documents and a lifecycle of its own. Its fields must not change once it is mounted.
//
// Functions for requests run at the same time as each other. Each starts after every notification that came before it has been handled, and sees
// the documents as of its place in the stream ([SnapshotFrom]). They may call the client ([ClientFrom]) and wait. ctx ends when the client
// cancels the request or the connection ends; a function that then returns ctx's error has the request answered as LSP wants. What a function
// returns is encoded with [Codec]; an error that is a [*jsonrpc2.Error] is the client's answer, any other one is reported and answered
// "Internal error".
type Server struct {
	Name    string // for the client's user
	Version string

	// Initialize may change the result of the initialize request, its capabilities above all, or refuse it with an error. It runs before
	// anything else of the connection.
	Initialize func(context.Context, *protocol.InitializeParams, *protocol.InitializeResult) error
	// Initialized runs when the client is ready to be called, on a goroutine of its own. ctx ends with shutdown.
	Initialized func(context.Context) error
	// Shutdown runs when the client asks for shutdown, once. The client waits for it, so it should be quick.
	Shutdown func(context.Context) error
	// Reporter is told what goes wrong without the client being told: see [jsonrpc2.Options.Report]. r may be nil.
	Reporter func(ctx context.Context, r *jsonrpc2.Request, err error)

	// DidOpen, DidChange, DidSave and DidClose run after the session's documents have been updated. They run in order and everything after them
	// waits, so they should only take note; what they must not do is wait for the client. DidClose gets the document as it was last.
	DidOpen   func(context.Context, *Document) error
	DidChange func(context.Context, *Document) error
	DidSave   func(context.Context, *Document) error
	DidClose  func(context.Context, *Document) error

	// Diagnose finds what is wrong with a document. It runs as soon as a document is opened and again after changes, at most every
	// [DiagnoseInterval] for each document; a run that has been overtaken by a change is cancelled and its result dropped. What it returns
	// is published with the document's version, and withdrawn when the document is closed. Runs for different documents overlap. An
	// error is reported and leaves what was published.
	Diagnose func(context.Context, *Document) ([]protocol.Diagnostic, error)

	// Commands are what workspace/executeCommand runs, by name.
	Commands map[string]func(ctx context.Context, args []json.RawMessage) (any, error)

	// Language features, in the order of the specification.

	Declaration          func(context.Context, *protocol.DeclarationParams) (protocol.DeclarationResult, error)
	Definition           func(context.Context, *protocol.DefinitionParams) (protocol.DefinitionResult, error)
	TypeDefinition       func(context.Context, *protocol.TypeDefinitionParams) (protocol.DefinitionResult, error)
	Implementation       func(context.Context, *protocol.ImplementationParams) (protocol.DefinitionResult, error)
	References           func(context.Context, *protocol.ReferenceParams) ([]protocol.Location, error)
	PrepareCallHierarchy func(context.Context, *protocol.CallHierarchyPrepareParams) ([]protocol.CallHierarchyItem, error)
	IncomingCalls        func(context.Context, *protocol.CallHierarchyIncomingCallsParams) ([]protocol.CallHierarchyIncomingCall, error)
	OutgoingCalls        func(context.Context, *protocol.CallHierarchyOutgoingCallsParams) ([]protocol.CallHierarchyOutgoingCall, error)
	PrepareTypeHierarchy func(context.Context, *protocol.TypeHierarchyPrepareParams) ([]protocol.TypeHierarchyItem, error)
	Supertypes           func(context.Context, *protocol.TypeHierarchySupertypesParams) ([]protocol.TypeHierarchyItem, error)
	Subtypes             func(context.Context, *protocol.TypeHierarchySubtypesParams) ([]protocol.TypeHierarchyItem, error)
	DocumentHighlight    func(context.Context, *protocol.DocumentHighlightParams) ([]protocol.DocumentHighlight, error)
	DocumentLink         func(context.Context, *protocol.DocumentLinkParams) ([]protocol.DocumentLink, error)
	DocumentLinkResolve  func(context.Context, *protocol.DocumentLink) (*protocol.DocumentLink, error)
	Hover                func(context.Context, *protocol.HoverParams) (*protocol.Hover, error)
	CodeLens             func(context.Context, *protocol.CodeLensParams) ([]protocol.CodeLens, error)
	CodeLensResolve      func(context.Context, *protocol.CodeLens) (*protocol.CodeLens, error)
	FoldingRange         func(context.Context, *protocol.FoldingRangeParams) ([]protocol.FoldingRange, error)
	SelectionRange       func(context.Context, *protocol.SelectionRangeParams) ([]protocol.SelectionRange, error)
	DocumentSymbol       func(context.Context, *protocol.DocumentSymbolParams) (protocol.DocumentSymbolResult, error)
	// SemanticTokens needs SemanticTokensLegend as well.
	SemanticTokens       func(context.Context, *protocol.SemanticTokensParams) (*protocol.SemanticTokens, error)
	SemanticTokensRange  func(context.Context, *protocol.SemanticTokensRangeParams) (*protocol.SemanticTokens, error)
	SemanticTokensLegend protocol.SemanticTokensLegend
	InlineValue          func(context.Context, *protocol.InlineValueParams) ([]protocol.InlineValue, error)
	InlayHint            func(context.Context, *protocol.InlayHintParams) ([]protocol.InlayHint, error)
	InlayHintResolve     func(context.Context, *protocol.InlayHint) (*protocol.InlayHint, error)
	Moniker              func(context.Context, *protocol.MonikerParams) ([]protocol.Moniker, error)
	// Completion is asked on CompletionTriggers, single characters, besides what the client takes for word characters.
	Completion         func(context.Context, *protocol.CompletionParams) (*protocol.CompletionList, error)
	CompletionResolve  func(context.Context, *protocol.CompletionItem) (*protocol.CompletionItem, error)
	CompletionTriggers []string
	// SignatureHelp is asked on SignatureTriggers, single characters.
	SignatureHelp     func(context.Context, *protocol.SignatureHelpParams) (*protocol.SignatureHelp, error)
	SignatureTriggers []string
	CodeAction        func(context.Context, *protocol.CodeActionParams) ([]protocol.CommandOrCodeAction, error)
	CodeActionResolve func(context.Context, *protocol.CodeAction) (*protocol.CodeAction, error)
	DocumentColor     func(context.Context, *protocol.DocumentColorParams) ([]protocol.ColorInformation, error)
	// ColorPresentation belongs to DocumentColor and has no capability of its own.
	ColorPresentation func(context.Context, *protocol.ColorPresentationParams) ([]protocol.ColorPresentation, error)
	Formatting        func(context.Context, *protocol.DocumentFormattingParams) ([]protocol.TextEdit, error)
	RangeFormatting   func(context.Context, *protocol.DocumentRangeFormattingParams) ([]protocol.TextEdit, error)
	// OnTypeFormatting is asked on OnTypeTriggers, single characters, of which there must be one.
	OnTypeFormatting   func(context.Context, *protocol.DocumentOnTypeFormattingParams) ([]protocol.TextEdit, error)
	OnTypeTriggers     []string
	Rename             func(context.Context, *protocol.RenameParams) (*protocol.WorkspaceEdit, error)
	PrepareRename      func(context.Context, *protocol.PrepareRenameParams) (protocol.PrepareRenameResult, error)
	LinkedEditingRange func(context.Context, *protocol.LinkedEditingRangeParams) (*protocol.LinkedEditingRanges, error)
	InlineCompletion   func(context.Context, *protocol.InlineCompletionParams) (protocol.InlineCompletionResult, error)
	// WorkspaceSymbol searches the whole workspace.
	WorkspaceSymbol        func(context.Context, *protocol.WorkspaceSymbolParams) (protocol.WorkspaceSymbolResult, error)
	WorkspaceSymbolResolve func(context.Context, *protocol.WorkspaceSymbol) (*protocol.WorkspaceSymbol, error)

	// Extend adds methods that are not in the specification, or handlers for those that have no field, to the methods of each connection.
	// It runs before the connection starts. A method that a field serves already makes it panic.
	Extend func(*jsonrpc2.Mux)

	sessions sync.Map // weak.Pointer[jsonrpc2.Mux] to *lifecycle
}

// Protocol returns "lsp".
func (s *Server) Protocol() string { return "lsp" }

// Framing returns the framing of the base protocol (LSP 3.18, "Base Protocol").
func (s *Server) Framing() jsonrpc2.Framing { return jsonrpc2.Header }

// Conventions returns [Cancel].
func (s *Server) Conventions() []cancel.Convention { return []cancel.Convention{Cancel} }

// Mount makes the session of one connection and returns its methods; call it once for each. It fills o: Codec, Admit, Capture, OnClose and Report, keeping
// what was set by calling it too, a MaxBatch that refuses batches, as LSP has none, and [Cancel] where Cancel is nil. It never fails.
//
//	o := new(jsonrpc2.Options)
//	mux, err := server.Mount(o)
//	if err != nil { ... }
//	err = jsonrpc2.NewConn(jsonrpc2.Open(stream, jsonrpc2.Header), mux, o).Serve(ctx)
func (s *Server) Mount(o *jsonrpc2.Options) (*jsonrpc2.Mux, error) {
	sess := newSession(s)
	o.Codec, o.MaxBatch = Codec, jsonrpc2.NoBatch
	if o.Cancel == nil {
		o.Cancel = cancel.NewRegistry(s.Conventions()...)
	}
	if before := o.Admit; before != nil {
		o.Admit = func(ctx context.Context, r *jsonrpc2.Request) error {
			if err := sess.admit(ctx, r); err != nil {
				return err
			}
			return before(ctx, r)
		}
	} else {
		o.Admit = sess.admit
	}
	if before := o.Capture; before != nil {
		o.Capture = func(ctx context.Context, r *jsonrpc2.Request) context.Context { return sess.capture(before(ctx, r), r) }
	} else {
		o.Capture = sess.capture
	}
	before := o.OnClose
	o.OnClose = func(c *jsonrpc2.Conn, err error) {
		sess.onClose()
		if before != nil {
			before(c, err)
		}
	}
	if s.Reporter != nil {
		if before := o.Report; before != nil {
			o.Report = func(ctx context.Context, r *jsonrpc2.Request, err error) {
				before(ctx, r, err)
				s.Reporter(ctx, r, err)
			}
		} else {
			o.Report = s.Reporter
		}
	}
	sess.report = o.Report
	m := sess.methods()
	if s.Extend != nil {
		s.Extend(m)
	}
	s.remember(m, sess.life)
	return m, nil
}

// methods registers everything of the protocol. The order of each is that of the engine: notifications in order, requests side by side, except for
// the requests of the lifecycle, which are in order as well.
func (s *session) methods() *jsonrpc2.Mux {
	m := jsonrpc2.NewMux()
	m.Use(s.settled)
	m.HandleRequest("initialize", jsonrpc2.HandlerFunc(s.initialize), jsonrpc2.Ordered)
	m.HandleRequest("shutdown", jsonrpc2.HandlerFunc(s.handleShutdown), jsonrpc2.Ordered)
	m.HandleNotification("exit", jsonrpc2.HandlerFunc(s.handleExit))
	m.HandleNotification("initialized", jsonrpc2.HandlerFunc(s.initialized))
	m.HandleNotification("$/setTrace", jsonrpc2.Note(s.setTrace))
	m.HandleNotification("window/workDoneProgress/cancel", jsonrpc2.Note(s.tasks.cancelled))
	m.HandleNotification("textDocument/didOpen", jsonrpc2.HandlerFunc(s.didOpen))
	m.HandleNotification("textDocument/didChange", jsonrpc2.HandlerFunc(s.didChange))
	m.HandleNotification("textDocument/didSave", jsonrpc2.HandlerFunc(s.didSave))
	m.HandleNotification("textDocument/didClose", jsonrpc2.HandlerFunc(s.didClose))
	for _, f := range features {
		if h := f.handler(s.srv); h != nil {
			m.HandleRequest(f.method, h)
		}
	}
	if len(s.srv.Commands) > 0 {
		m.HandleRequest(protocol.MethodWorkspaceExecuteCommand, call(s.srv.execute))
	}
	return m
}
