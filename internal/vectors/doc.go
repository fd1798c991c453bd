// Package vectors runs wire vectors: small conversations, one JSON object a line,
// that say which messages a peer is given and which it must write.
//
//	go test ./internal/vectors                      # testdata/wire.jsonl
//	go test -v ./internal/vectors -vectors=FILE     # any file of the format
//
// A relative FILE that is not found from here is looked for from the top of the
// module. The test ends with a line "N passed, N failed"; go test shows it with -v,
// when a vector has failed, and when it is run in this directory. Each failure names
// its vector, the way it was run, what differs, what was expected and what came.
//
// # The format
//
// A vector has the members id, group, protocol (jsonrpc or mcp), framing (line or
// content-length), in, out, order (strict or any), fixture, note and src, and may
// have raw, b64, opts, contexts, seen, report, futures, log, end, alt, decision,
// batch_order and session_after. [Vector] says what each means. The strings of in
// are messages, bytes if raw is set, or steps that begin with @; see [Step].
//
// # How a vector is run
//
// Every vector runs through a [jsonrpc2.Conn] over a stream of bytes, with its
// framing. One without steps, raw bytes and handlers that wait to be cancelled also
// runs through a [jsonrpc2.Dispatcher], an MCP one through [mcp.Server.Handle]. It
// passes if every way does.
//
// Messages are compared as JSON values by [Canonical]: the order of members is free,
// numbers are equal if they are the same number, however large and however written,
// and nothing else is equal that differs.
//
// A vector runs on the fake clock of testing/synctest, so the handlers that take "a
// short delay" are always overtaken by those that do not, and a vector that hangs is
// found at once, by the clock jumping to its limit of five seconds. One that is busy
// for that long in real time is given up too.
package vectors
