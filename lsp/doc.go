// Package lsp makes language servers: the server side of the Language Server Protocol 3.18, on the engine of package jsonrpc2. The types of the
// protocol are those of go.lsp.dev/protocol.
//
// # A server is a struct of functions
//
// Set the functions of [Server] that the language has an answer for. Each serves its method and announces it in the capabilities; the lifecycle,
// the documents, cancellation and the order of messages are taken care of:
//
//	server := &lsp.Server{
//		Name: "hello",
//		Hover: func(ctx context.Context, p *protocol.HoverParams) (*protocol.Hover, error) {
//			doc := lsp.SnapshotFrom(ctx).Document(p.TextDocument.URI)
//			...
//			return &protocol.Hover{Contents: lsp.Markdown("**hello**")}, nil
//		},
//	}
//
// A program needs one more line, framework.Main(server), which serves on standard input and output, on sockets, with the flags that editors
// pass. Elsewhere [Server.Mount] gives the methods and options for a [jsonrpc2.Conn] or a [jsonrpc2.Dispatcher].
//
// # Documents
//
// The session keeps the text of open documents, with incremental edits, in the position encoding that the client likes best of UTF-8, UTF-16 and
// UTF-32. [SnapshotFrom] gives a handler the documents exactly as of its request's place in the stream of messages, whatever is typed
// meanwhile. A [Document] never changes; it converts between positions and byte offsets, and accepts every position, inside the text or not.
// Documents are found under every spelling of their URI, and keep the client's own for output; [Key] is what to use in maps.
//
// An edit costs about the same in a document of ten megabytes as in one of ten kilobytes. [Document.Text] does not: it puts the text together, once
// for each version that it is asked of.
//
// # Diagnostics
//
// Set [Server.Diagnose]. A client that can ask for diagnostics is answered from it, with result ids and related documents; to any other one the results are
// published: when a document is opened and when it changes, not more often than every 50 ms, with the right version, and withdrawn when the
// document is closed. The context of a run ends when a newer version makes it useless. [ReportFor] is for what it finds in other documents,
// [Server.DiagnoseWorkspace] for files that are not open. Where results depend on something that is not the document, [Client.Rediagnose] asks for
// another look.
//
// # More than that a function is there
//
// [Options] has what the client has to know beyond that: trigger characters, kinds of code actions, filters of files. With Options.Dynamic functions are
// registered while the session runs, for the documents of a selector, where the client can do that.
//
// A function whose result is a list may give it away in parts with [Stream]. Clients that want parts get them at once; for all others they are put
// together, so a function is written once. [Client.Begin] shows how far it is. [RawParams] has what the typed params do not: members that only one
// client knows.
//
// The cells of notebooks are documents; [NotebookFrom] tells which notebook one belongs to.
//
// # Calling the client
//
// [ClientFrom] gives the other side: messages, settings, folders, edits, progress. A handler may call and wait for the answer; answers never stand behind
// other messages. Notifications a handler sends reach the client before the handler's result does. What the client has no capability for is
// refused with [ErrUnsupported] before it is sent; [Client.Can] asks for any capability by its path.
//
// [Client.Setting] remembers answers until the client says that its configuration has changed. [Client.Watch] has it tell of changes of files. [Edits]
// makes edits that the client refuses if their document has changed. [Client.RefreshSoon] makes one request of many.
//
// # Order and concurrency
//
// Notifications are handled one at a time, in the order they came. Requests run side by side, and each starts after every notification that came
// before it. A cancel notification takes effect at once, also for a request that has not started. The functions DidOpen, DidChange, DidSave and
// DidClose are part of that order, so everything waits for them; Initialized and DidChangeConfiguration are not. Shutdown, and cancelling work by its
// progress token, wait for nothing.
//
// # Lifecycle
//
// Requests before initialize are answered -32002, after shutdown -32600; notifications are dropped then; exit is obeyed at any time. What a client
// sends right behind initialize, without waiting, is served in order. Shutdown is answered at once, whatever runs or waits. [Server.ExitCode] and
// [Server.OnParent] are for the runtime: exit codes by the specification, and the end of the server with its editor, unless [Server.IgnoreParent] is set.
//
// # Errors
//
// Return a [*jsonrpc2.Error] to choose what the client gets: [RequestFailed] has a text for the user, [ContentModified] says that the document has
// changed ([Fresh] tells), the context's error that the request was cancelled. Any other error, and a panic, is "Internal error" for the client and
// goes to [Server.Reporter] in full. Params that are not of their types, negative positions among them, or that lack what the request is about never
// reach a function: they are answered -32602.
//
// # Types that need care
//
// Values of go.lsp.dev/protocol must be encoded with [Codec], not with another JSON package; connections made from Mount use it. Some zero values are not
// valid in the protocol: a Hover needs Contents and a Diagnostic a Message. The decoder respells URIs; take those of a [Document].
package lsp
