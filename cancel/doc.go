// Package cancel describes how a JSON-RPC protocol cancels a request, as data.
//
// JSON-RPC 2.0 has no cancellation. Every protocol on top of it invents its
// own: a notification whose params name the id of the request that is no
// longer wanted. The notifications differ in their method, in the member that
// holds the id, in whether the cancelled request is still answered and with
// what. A [Convention] holds those differences:
//
//	lsp := cancel.Convention{Method: "$/cancelRequest", Param: "id", Code: -32800}
//	mcp := cancel.Convention{
//		Method: "notifications/cancelled", Param: "requestId", Reason: "reason",
//		Silent: true, Exempt: []string{"initialize"},
//	}
//
// A [Registry] collects the conventions of one connection. It listens to all
// of them and speaks at most one: the first that was given to [NewRegistry] or
// [Registry.Add]. [Registry.OnCancel] is the short door for a protocol that
// needs no more than a method and a member name, and it only listens:
//
//	var r cancel.Registry
//	r.OnCancel("cancel", "requestId")
//
// # Both directions
//
// Inbound, a connection asks [Registry.Lookup] for the method of each
// notification, reads the id with [Convention.ID], and ends the context of the
// requests that have it. Handlers learn why from [context.Cause]: [ByPeer] when
// the other side asked for it, [ErrClosing] when the connection goes away, and
// plain [context.Canceled] or [context.DeadlineExceeded] for a local reason.
//
// Outbound, a caller whose context has ended sends [Convention.Params] of the
// convention that [Registry.Spoken] returns, unless the method is exempt.
//
// The package knows no connections and no protocol. Conventions of LSP and MCP
// live with their front ends; the texts above are only examples.
package cancel
