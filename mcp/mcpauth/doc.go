// Package mcpauth makes an MCP server over HTTP an OAuth 2.1 protected resource: it takes access tokens, checks them, tells clients where to get
// one, and hands the caller's identity to the functions of the server (MCP 2026-07-28, authorization; the rules of the revisions since 2025-03-26
// are satisfied with it).
//
// It is a resource server only. Logging users in and issuing tokens is the work of an authorization server, which is somebody else's: Keycloak,
// Entra ID, Auth0, Okta and so on.
//
// # Protecting a handler
//
// Three things are needed: the URI of the server, as users paste it into their clients; the issuer of tokens; and a [Verifier] that checks them.
//
//	verifier, err := mcpauth.NewJWT(mcpauth.JWTOptions{
//		Issuers: []mcpauth.Issuer{{URL: "https://login.example.com/realms/notes"}},
//	})
//	…
//	resource, err := mcpauth.New(mcpauth.Options{
//		Resource: "https://mcp.example.com/mcp",
//		Issuers:  []string{"https://login.example.com/realms/notes"},
//		Verifier: verifier,
//		Scopes:   []string{"notes:read"},
//	})
//	…
//	mux := http.NewServeMux()
//	mux.Handle("/.well-known/", resource.Metadata())
//	mux.Handle("/mcp", resource.Protect(handler))
//	mux.Handle("/mcp/", resource.Protect(handler))
//
// An mcphttp.Handler takes Protect as its Options.Protect instead: Host and Origin are then checked before tokens are.
//
// A client without a token is answered 401 with a challenge that names the metadata document; the document names the issuer; the client logs its user
// in there and comes back. Nothing else has to be configured on either side.
//
// # Which verifier
//
// [NewJWT] is for tokens that are signed JSON Web Tokens. It finds the issuer's keys by itself, keeps them, and follows their rotation.
// [NewIntrospection] asks the issuer about every token, for opaque ones and for issuers that withdraw tokens. [NewStatic] knows tokens from a file, for
// a demonstration or a server of one's own. [Verifiers] combines them. Your own is a method:
//
//	Verify(ctx context.Context, token string, r *http.Request) (*Principal, error)
//
// It says who a token belongs to; that the token is for this server, allows enough and is presented by its owner is checked for all of them by
// [Resource.Protect].
//
// # Who is calling
//
// The functions of the server find the caller in their context:
//
//	p, ok := mcpauth.PrincipalFrom(ctx)
//
// p.Subject is the user, p.Has("notes:write") what the token allows, p.Claims the rest. What a server keeps for one caller, sessions and tasks and
// sealed state, is bound to [Principal.Key]: it stays when a token is renewed, and no two callers share it. A session id or a task id alone proves nothing.
//
// The token itself is not there. It was made for this server, and passing it on to another service is forbidden; get one for that service
// instead (token exchange, RFC 8693).
//
// # Asking for more
//
// Ask for little at first, and for more when it is needed: [Options.Scopes] is what every request needs, and an operation that needs more says so.
//
//	func remove(ctx context.Context, in removal) (string, error) {
//		if err := mcpauth.Require(ctx, "notes:read", "notes:delete"); err != nil {
//			return "", err
//		}
//		…
//	}
//
// If the token does not allow it, the answer is a 403 whose challenge names these scopes; the client asks its user and calls again (step-up).
//
// # Tokens that cannot be stolen
//
// With [Options.DPoP] a client can bind its tokens to a key it holds, and proves with each request that it does (RFC 9449). A bound token is never
// accepted without the proof. Tokens bound to a TLS client certificate (RFC 8705) are checked against the certificate of the connection.
//
// # What is checked
//
// In this order: the size of the headers; that there is one well-formed token, in the Authorization header and not in the query; the token, with its
// verifier; its audience; its binding; its scopes. Signatures are asymmetric, of a list of algorithms; keys of one issuer count for tokens of that
// issuer only; dates may be off by a minute. What comes from a client or an authorization server is bounded in size, depth, number and time; requests
// to authorization servers use https (plain http to this machine only), follow no redirect to another host, and do not reach private addresses unless
// allowed.
//
// # What is said
//
// A client learns which rule it broke, in fixed words. The reason in detail goes to [Options.Report]. Neither holds any part of a token, a proof or a
// key. A verifier that cannot tell makes the answer 503 rather than 401: a failing authorization server must not send users to its login page.
//
// # Concurrency
//
// Everything here is safe for concurrent use and starts no goroutine. Where many requests wait for one answer of an authorization server, it is asked once.
package mcpauth
