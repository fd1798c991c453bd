package lsp

import (
	"context"
	"encoding/json"
	"sync"
	"time"

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

	// CancelStale ends the context of requests about a document when that changes or is closed: those that then return the context's error, and
	// those that have not started, are answered [ContentModified]. A function that has its result nevertheless may return it. See [Fresh] for
	// functions that decide for themselves.
	CancelStale bool

	// Diagnose finds what is wrong with a document, for clients that ask for diagnostics (LSP 3.18, "Pull Diagnostics") and for those that
	// want them published: one of the two, by the client's capabilities. Runs for different documents overlap. ctx ends when a change makes
	// the run useless, and then its result is dropped. [ReportFor] is for what it finds in other documents.
	//
	// For a client that asks it runs when that does, unless nothing has changed since it ran last: then the result is used again, and not even
	// sent if the client has it. An error is the answer.
	//
	// For others it runs as soon as a document is opened and again after changes, at most every [DiagnoseInterval] for each document, and for a few
	// documents at once, of which those do not count that wait for an answer of the client. The result is published with the document's
	// version, and withdrawn when the document is closed. An error is reported and leaves what was published.
	Diagnose func(context.Context, *Document) ([]protocol.Diagnostic, error)
	// DiagnoseWorkspace finds what is wrong in the whole workspace, in files that are not open above all, and gives it to [ReportFor] file by file, also
	// where there is nothing: then the client forgets what it has. For a client that asks (workspace/diagnostic) it runs when that does and
	// something may have changed; for others when the client is initialized. [Client.Rediagnose] without arguments and
	// [Client.RediagnoseWorkspace] have it run again, for which a server has reason when files were saved or changed on disk. Open documents
	// are left to Diagnose, if that is set. One run goes on at a time.
	//
	// A client that asks is answered as soon as the run is over, also where nothing has changed: the specification lets a server hold the answer
	// back until something has, and that would take a place among the requests that run at once for as long as the session lasts. The client
	// learns that something has changed by workspace/diagnostic/refresh.
	DiagnoseWorkspace func(context.Context) error
	// PushDiagnostics publishes diagnostics also to clients that could ask for them.
	PushDiagnostics bool

	// DidOpenNotebook and its like run after the session's notebooks have been updated, and after the functions for the documents of their cells.
	// With any of them, or a selector in Options.Notebooks, the client keeps notebooks in sync. DidCloseNotebook gets the notebook as it was last.
	DidOpenNotebook   func(context.Context, *Notebook) error
	DidChangeNotebook func(context.Context, *Notebook) error
	DidSaveNotebook   func(context.Context, *Notebook) error
	DidCloseNotebook  func(context.Context, *Notebook) error

	// Commands are what workspace/executeCommand runs, by name.
	Commands map[string]func(ctx context.Context, args []json.RawMessage) (any, error)

	// Options say more about the functions than that they are there, and whether they are registered dynamically.
	Options Options
	// IgnoreParent has the server outlive the process that the client names in initialize: for a server in a container of its own, where the number
	// means nothing, or one that is shared.
	IgnoreParent bool
	// ClientTimeout bounds how long a request to the client may take, those excepted that wait for a person (window/showMessageRequest and
	// window/showDocument). 0: as long as the context that is given allows. See [Client].
	ClientTimeout time.Duration

	// Workspace. These notifications are handled in order, like those of documents, so the functions should only take note.
	// DidChangeConfiguration is the exception: it may ask for the new settings, on a goroutine of its own, one run after the other. Of changes that
	// come while a run goes on only the newest gets another one.

	DidChangeConfiguration    func(context.Context, *protocol.DidChangeConfigurationParams) error
	DidChangeWatchedFiles     func(context.Context, *protocol.DidChangeWatchedFilesParams) error // see [Client.Watch]
	DidChangeWorkspaceFolders func(context.Context, *protocol.DidChangeWorkspaceFoldersParams) error
	WillCreateFiles           func(context.Context, *protocol.CreateFilesParams) (*protocol.WorkspaceEdit, error)
	WillRenameFiles           func(context.Context, *protocol.RenameFilesParams) (*protocol.WorkspaceEdit, error)
	WillDeleteFiles           func(context.Context, *protocol.DeleteFilesParams) (*protocol.WorkspaceEdit, error)
	DidCreateFiles            func(context.Context, *protocol.CreateFilesParams) error
	DidRenameFiles            func(context.Context, *protocol.RenameFilesParams) error
	DidDeleteFiles            func(context.Context, *protocol.DeleteFilesParams) error
	// TextDocumentContent gives the text of documents that exist only on the server, for the schemes in Options.TextDocumentContent.
	TextDocumentContent func(context.Context, *protocol.TextDocumentContentParams) (*protocol.TextDocumentContentResult, error)

	// WillSave and WillSaveWaitUntil run before the client saves a document; the edits of the second are part of what is saved, if they come soon.
	WillSave          func(context.Context, *protocol.WillSaveTextDocumentParams) error
	WillSaveWaitUntil func(context.Context, *protocol.WillSaveTextDocumentParams) ([]protocol.TextEdit, error)

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
	// SemanticTokens and its like need a legend in Options.SemanticTokens.
	SemanticTokens      func(context.Context, *protocol.SemanticTokensParams) (*protocol.SemanticTokens, error)
	SemanticTokensDelta func(context.Context, *protocol.SemanticTokensDeltaParams) (protocol.SemanticTokensDeltaResult, error)
	SemanticTokensRange func(context.Context, *protocol.SemanticTokensRangeParams) (*protocol.SemanticTokens, error)
	InlineValue         func(context.Context, *protocol.InlineValueParams) ([]protocol.InlineValue, error)
	InlayHint           func(context.Context, *protocol.InlayHintParams) ([]protocol.InlayHint, error)
	InlayHintResolve    func(context.Context, *protocol.InlayHint) (*protocol.InlayHint, error)
	Moniker             func(context.Context, *protocol.MonikerParams) ([]protocol.Moniker, error)
	// Completion is asked on the trigger characters in Options.Completion, besides what the client takes for word characters.
	Completion        func(context.Context, *protocol.CompletionParams) (*protocol.CompletionList, error)
	CompletionResolve func(context.Context, *protocol.CompletionItem) (*protocol.CompletionItem, error)
	// DocumentDiagnostic and WorkspaceDiagnostic answer a client that pulls diagnostics. A server that has Diagnose needs neither.
	DocumentDiagnostic  func(context.Context, *protocol.DocumentDiagnosticParams) (protocol.DocumentDiagnosticReport, error)
	WorkspaceDiagnostic func(context.Context, *protocol.WorkspaceDiagnosticParams) (*protocol.WorkspaceDiagnosticReport, error)
	// SignatureHelp is asked on the trigger characters in Options.SignatureHelp.
	SignatureHelp     func(context.Context, *protocol.SignatureHelpParams) (*protocol.SignatureHelp, error)
	CodeAction        func(context.Context, *protocol.CodeActionParams) ([]protocol.CommandOrCodeAction, error)
	CodeActionResolve func(context.Context, *protocol.CodeAction) (*protocol.CodeAction, error)
	DocumentColor     func(context.Context, *protocol.DocumentColorParams) ([]protocol.ColorInformation, error)
	// ColorPresentation belongs to DocumentColor and has no capability of its own.
	ColorPresentation func(context.Context, *protocol.ColorPresentationParams) ([]protocol.ColorPresentation, error)
	Formatting        func(context.Context, *protocol.DocumentFormattingParams) ([]protocol.TextEdit, error)
	RangeFormatting   func(context.Context, *protocol.DocumentRangeFormattingParams) ([]protocol.TextEdit, error)
	RangesFormatting  func(context.Context, *protocol.DocumentRangesFormattingParams) ([]protocol.TextEdit, error)
	// OnTypeFormatting is asked on the trigger characters in Options.OnTypeFormatting, of which there must be one.
	OnTypeFormatting   func(context.Context, *protocol.DocumentOnTypeFormattingParams) ([]protocol.TextEdit, error)
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

	from    func(protocol.Client) protocol.Server // see FromServer
	mu      sync.Mutex
	clients []*Client // connected ones

	sessions sync.Map // weak.Pointer[jsonrpc2.Mux] to *lifecycle
}

// Protocol returns "lsp".
func (s *Server) Protocol() string { return "lsp" }

// Framing returns the framing of the base protocol (LSP 3.18, "Base Protocol").
func (s *Server) Framing() jsonrpc2.Framing { return jsonrpc2.Header }

// Conventions returns [Cancel].
func (s *Server) Conventions() []cancel.Convention { return []cancel.Convention{Cancel} }

// Opaque names the result ids, which differ from session to session (LSP 3.18, "Pull Diagnostics" and "Semantic Tokens"); replays compare without them.
func (s *Server) Opaque() []string { return []string{"**.resultId"} }

// Superseded names the published diagnostics, of which those for one document replace all earlier ones (LSP 3.18, "PublishDiagnostics Notification").
// A busy server leaves some out.
func (s *Server) Superseded() []string { return []string{"textDocument/publishDiagnostics:params.uri"} }
