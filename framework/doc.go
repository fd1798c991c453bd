// Package framework runs front ends: protocols on top of JSON-RPC 2.0, such as package lsp and package mcp, that satisfy [FrontEnd]. It brings
// what a server program needs around them: standard input and output, sockets, command-line flags, signals, exit codes, logging of redacted
// traffic, and figures.
//
// A whole program is one line:
//
//	func main() { framework.Main(&lsp.Server{Name: "hello", Hover: hover}) }
//
// It understands what editors and agents pass to servers. Without flags it serves standard input and output; --pipe and --socket connect to
// whoever started it, --listen waits for connections, --clientProcessId names the process it must not outlive, --log-level=debug shows the
// traffic on standard error, and --stats how long each method took. [Config] lists them; a program with flags of its own adds those to the same
// set, with [Config.Parse], and calls [Config.Run].
//
// # Serving without a main function
//
// A [Runtime] serves where you say, any number of times and front ends, until [Runtime.Shutdown]:
//
//	var rt framework.Runtime
//	ln, err := framework.Listen("127.0.0.1:4389", false)
//	if err != nil { ... }
//	err = rt.Serve(ctx, ln, &lsp.Server{...}, &mcp.Server{...})
//
// Two front ends on one listener are told apart by the first byte of each connection: the messages of one protocol begin with a header field and
// those of the other with a bracket, see [jsonrpc2.Detect].
//
// Protocols on HTTP stand on the same listener as the [Runtime]'s Web: connections that begin with an HTTP request are theirs.
//
// # An editor and agents in one process
//
// [Runtime.Beside] has a program serve further places as long as its main connection lasts: an editor starts a language server on standard input,
// and agents find an MCP server with the same state on a port.
//
//	agents := &mcphttp.Site{Server: &mcp.Server{...}}
//	rt := framework.Runtime{Beside: []framework.Endpoint{{Address: "localhost:4391", Web: agents}}}
//	rt.Main(&lsp.Server{...})
//
// Each connection is a session of its own. A peer that stops reading, sends garbage or goes away ends its session and touches no other, and so
// does a front end that panics in Mount. Handlers that panic are contained by the engine and end nothing.
//
// # Traffic on record, and on a page
//
// --record FILE writes the messages of all connections, without their secrets, and the time each waited and ran, as JSON lines, in the format that
// package logging describes. A recording that is there is added to, as editors start a server again and again with the same flags; any other file is
// refused. --replay FILE sends what was recorded to the front ends again and prints what they do differently, see package replay. --inspect
// localhost:PORT shows the same live on a page, whose URL with its token is printed on standard error, see package inspect.
//
// A session over HTTP is a connection there as any other, with the name of its client ([Sessioned]).
// None of them holds up a connection: a disk, or a viewer, that is too slow loses messages, and is told how many. [Runtime.Feeds] is the way to sinks
// of one's own. Without any of these nothing is looked at, and nothing is paid.
//
// # Standard input and output
//
// While [Runtime.ServeStdio] runs, nothing but messages gets to standard output: print statements end up on standard error. The end of the input
// is not the end of the session: requests that came are answered first. Where the framing is lost nothing more is written, and [Main] says on
// one line of standard error which header was wrong or how many bytes were missing, and exits with code 1.
//
// A closed standard output ends the session; a closed or unread standard error costs log records and nothing else.
//
// # Exit codes
//
// The front end's, if it is an [Exiter]; else 0 for a session that ended well, with the end of the input or by closing the connection, and 1 for
// any other. 2 is a wrong command line. SIGINT and SIGTERM shut down in good order and give 0; a second one, or handlers that do not end in five
// seconds, give 128 and the number of the signal. A parent process that has ended gives at least 1 when it was named by flag.
//
// # What goes where
//
// Nothing is logged without a logger. With one, failures that the peer is not told about are warnings, and panics errors with their stack; at
// level debug every message is logged. All texts are redacted as package logging describes. Texts of errors and panics come from handlers, which
// may have formatted anything into them; they are redacted too, with names like password looked for in what fmt prints of maps and structs. That
// finds a lot and not everything: errors of a handler should not quote its params.
package framework
