// Package mcptest is a client in memory, for tests of servers made with package mcp.
//
//	c := mcptest.New(t, server, nil)
//	got, err := c.CallTool(t.Context(), "greet", map[string]any{"name": "Ada"})
//
// There is no process, no port and no sleep: a [Client] and the server are in the same test, and also in the same bubble of testing/synctest.
//
// # Every revision, both ways in
//
// [Options] say which revision of MCP the client speaks, and whether it comes over a connection, as a client that starts the server does, or through
// the host API, as one over HTTP does. [Everywhere] runs a test in all combinations. The methods of Client are the same in all of them: what a
// revision does by initialize or by _meta, by requests of the server or by results that ask for more input, is done behind them.
//
// # Scripted answers
//
// A server that asks its client finds the answers in the Options: [Options.Elicit] is what the user says, [Options.Sample] what the model does,
// [Options.Roots] what is open. Each that is set is declared as a capability. [Replies] and [Says] make the usual scripts:
//
//	mcptest.Options{Elicit: mcptest.Replies(mcptest.Accept(map[string]any{"name": "Ada"}), mcptest.Decline())}
//
// # Transcripts
//
// A Client keeps every message that went either way, see [Client.Transcript]. [Client.Golden] compares them with a file, which `go test
// -mcptest.update` writes: a change of what a server says on the wire is then a change of a file, to be read and approved. What differs from run to
// run, as sealed states and times, is replaced in it.
package mcptest
