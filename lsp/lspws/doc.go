// Package lspws serves language servers over WebSocket (RFC 6455), for editors in web pages: each socket is a connection of its own, and each text
// message on it is one JSON-RPC message, without a header.
//
//	http.Handle("/lsp", lspws.New(server, nil))
//
// That is what the LSP clients of CodeMirror and Monaco speak. [Handler] is an [http.Handler]: it stands on a path beside others, behind whatever checks who is
// calling, and on any number of listeners.
//
// # Who may connect
//
// A web page may open a socket to any address, also of the machine that it is shown on, and browsers leave it to the server to refuse. The Handler lets a
// page in if it comes from the server itself or, on a loopback connection, from this machine; on loopback it also wants to be called by a name of this
// machine, as a page could else make its own name one of 127.0.0.1. [Options.Origins] and [Options.Hosts] let others in. Programs that are no browser send no
// Origin and are not kept out by any of that; the Handler has no authentication.
//
// # The end of a connection
//
// When the client closes the socket, the session ends as it does with the end of standard input. When the session ends first, by the exit notification say,
// the client is sent the status 1000; and 1001 by [Handler.Shutdown]. A client that does not answer pings, or takes nothing for too long, has its connection cut.
//
// A message longer than the limit is answered with an error and skipped, and the connection lives, as on every other transport. So is a binary message.
//
// # With a Runtime
//
// A framework.Runtime has logs, figures, limits and a Shutdown of its own. [Options.Serve] hands the connections to it, and a [Site] is served by it on
// the ports it listens on.
package lspws
