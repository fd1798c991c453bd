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
// # Asking the client
//
// A tool, a prompt or a resource may need something of the client first: that the user fills in a form, agrees, or visits a page ([Form], [Session.Confirm],
// [URLElicitation]), a message of the client's model ([CreateMessageRequest]), the client's roots. There are three shapes, and each works in every revision that
// has the question:
//
//   - [AddAskingTool]: one function asks, another works. The second runs once, when every answer is there.
//   - [ElicitAs], [Session.Elicit], [Session.Confirm], [Session.Sample], [Session.Roots], and [Session.Ask] for many at once: straight code.
//   - [InputRequired], returned as the result of a Caller, Prompter or Reader: a state machine, with a state that it keeps for itself.
//
// Up to 2025-11-25 a question is a request to the client, and the function waits. Since 2026-07-28 a server sends no requests: the question is the answer to the
// call, the client calls again with what the user said, and the function runs from the beginning, where its questions now find their answers. So:
//
//  1. What cannot be done twice comes after the last question, or into the function of AddAskingTool that works.
//  2. When asking fails, return the error. Never go on as if the user had agreed: [ErrInputRequired], [ErrDeclined], [ErrCancelled], [ErrAskTimeout] and
//     [CapabilityError] are different, and none of them is a yes.
//  3. Questions follow from the arguments, from earlier answers, and from [Memo]: no clock, no chance, no live count. An answer counts for the very
//     question that was asked. Server.ReplayLegacy finds what breaks this in tests.
//  4. Downstream, [CallID] is the idempotency key; [Claim] and Tool.SingleUse do a thing once though the client sends its last request again.
//  5. What does not depend on each other is asked together, by [Session.Ask]: clients follow about ten rounds, this package eight.
//  6. Passwords and keys are asked for by [URLElicitation] only.
//  7. A tool that destroys something begins with Confirm, and takes a client that cannot be asked for a refusal.
//
// Between the rounds the client keeps the answers, sealed: encrypted, bound to the call, its arguments and its principal ([WithPrincipal]), and good for ten
// minutes. One process needs nothing for that; several share Server.StateKeys.
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
