// Package mcp is a server for the Model Context Protocol (MCP): tools, resources and prompts that an AI client can use, over JSON-RPC 2.0.
//
// # A struct of functions is a server
//
// Fill in the functions of a [Server]; each brings its feature, and its capability. Tools are usually made of typed functions, collected in a
// [Toolbox], which fills in two of them:
//
//	type greeting struct {
//		Name string `json:"name" jsonschema:"who to greet"`
//	}
//
//	var box mcp.Toolbox
//	mcp.AddTool(&box, mcp.Tool{Name: "greet", Description: "Say hello."}, func(ctx context.Context, in greeting) (string, error) {
//		return "Hello, " + in.Name + "!", nil
//	})
//	server := &mcp.Server{Name: "Greeter", Version: "1.0.0"}
//	box.Attach(server)
//
// The schema of the arguments is inferred from the struct and its tags, and enforced before the function runs; see [AddTool]. A [ResourceSet] does the same for
// resources and URI templates, a [PromptSet] for prompts. All three can be changed while they are served, which clients are told, and can show each caller
// only what is visible to them.
//
// # Three ways to serve
//
// [Server.Handle] takes a raw payload and returns the bytes to answer, or nil when nothing is owed. It keeps no state at all: the transport is
// yours, and what belongs to one client, its session or identity, goes in with the context ([WithCaller]) and comes out of it in every function
// ([CallerFrom]).
//
// [Server.Mount] makes it a front end for connections, which is what the framework package serves on stdio and sockets. A client that begins with
// initialize gets a [Session] with the lifecycle of the protocol: initialize first, and once; revisions 2024-11-05, 2025-03-26, 2025-06-18 and
// 2025-11-25, each with what it knows and without what it does not; cancellation; [Progress]; logging with [Session.Log]. Requests that name their
// revision in _meta, 2026-07-28, need none of that. Both are served on the same connection, message by message, by the same functions.
//
// A host whose clients have no connection of their own, as over HTTP, uses the parts: [Inspect] to look at a payload, [Server.NewSession] and
// [Session.Handle] for clients with initialize, [Server.HandleModern] for those without, and a [Peer] for the way back.
//
// # One function, two eras
//
// Functions find the client with [SessionFrom]. With initialize the Session is what was agreed on then; without, it is what the request itself says, and ends
// with it. [Progress], [Session.Log], [Session.Client] and [Session.Capabilities] are the same in both. Changes are told in both by [Server.Changed] and
// [Server.Updated], to sessions and to who has sent subscriptions/listen. How long results may be kept is said by Server.Cache and [SetCache], and heard by
// clients that know it.
//
// # Two kinds of failure
//
// A tool that ran and failed, for bad arguments or because an API is down, is a result with IsError: the model reads it and can try again. An
// error returned by a function of an AddTool becomes one. A call that cannot be routed, to a tool that does not exist, is a protocol error: a
// *[jsonrpc2.Error], such as [UnknownTool] and [ResourceNotFound] return. Any other error of a Server's function is the program's own trouble:
// the client sees "Internal error", the Reporter sees the error.
//
// # Concurrency
//
// Functions run side by side, for all clients and for one: a slow tool holds up nothing else. initialize is the exception, what a client sends
// behind it waits. Contexts end when the client cancels or is gone; [context.Cause] tells which.
package mcp
