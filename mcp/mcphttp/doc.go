// Package mcphttp serves an [mcp.Server] over HTTP: the streamable HTTP transport of the Model Context Protocol, for all its revisions on one URL, and
// beside it the HTTP with SSE of 2024-11-05.
//
// # A server
//
// A [Handler] is an http.Handler:
//
//	server := &mcp.Server{Name: "Greeter", Version: "1.0.0"}
//	box.Attach(server)
//	h := mcphttp.New(server, nil)
//	mux := http.NewServeMux()
//	h.Register(mux, "/mcp")
//	err := h.Serve(ctx, listener, mcphttp.NewServer(mux))
//
// [Handler.Serve] serves until ctx ends and shuts down in good order then. A server of your own does as well: give the handler to it, and call
// [Handler.Shutdown] beside [http.Server.Shutdown], which by itself would wait for streams that do not end. No WriteTimeout should be set there:
// it would cut streams off. The handler has deadlines of its own.
//
// # Two eras
//
// Which revision a client speaks is seen message by message. Since 2026-07-28 each request says it in _meta and stands alone: what its headers repeat
// of it is checked, and a client that goes away has cancelled it. Clients of earlier revisions send initialize and get a session, whose id they send
// with what follows. Theirs goes on when the connection breaks. Functions of the server see nothing of that: both find a session with
// [mcp.SessionFrom], report [mcp.Progress] and return results.
//
// Sessions cost some kilobytes each and end half an hour after the client was last heard of. Some well-known clients lose the id of theirs; requests that need
// no session are served all the same, unless Options.RequireSession is set. With Options.Stateless there are no sessions: any instance behind a load balancer
// can serve any message, and functions can ask clients of earlier revisions nothing.
//
// # Answers and streams
//
// A result goes out as JSON. The first notification of a request, a question to the client, or ten seconds without either make the answer a stream of server-sent
// events instead, if the client takes one; nothing has to be chosen. Heartbeats keep streams alive on the way through proxies.
//
// Events of sessions are kept for a while, in memory, or in an [EventStore] of yours: a client whose stream broke asks for the rest and gets it, the result
// included. With Options.Polling a function that takes long can end the response itself ([CloseStream]) and have the client come back later.
//
// # Who may call
//
// Web pages can send requests to servers of the user's own machine. So, by default: on a loopback connection only requests for localhost, 127.0.0.1 and [::1] are
// served, on whatever port, which no page can fake for its own name (DNS rebinding); and a request with an Origin, which all pages send, must be of the
// server's own origin, of this machine, or of Options.Origins. Pages that are to call the server need Options.CORS too.
//
// Access tokens are checked by what Options.Protect puts between those checks and the protocol; package mcpauth has it:
//
//	h := mcphttp.New(server, &mcphttp.Options{
//		Hosts:     []string{"mcp.example.com"},
//		Protect:   resource.Protect,
//		Principal: mcpauth.Identify,
//	})
//
// A session then belongs to who began it: for everybody else it does not exist. A session id is no credential.
//
// # Behind TLS and a proxy
//
// With certificates of its own, srv := mcphttp.NewServer(mux); srv.TLSConfig = …, and a tls.NewListener for Serve, or srv.ServeTLS beside Shutdown. HTTP/2 works.
//
// A proxy that ends TLS must hand on the Host, or name it in X-Forwarded-Host, and say https in X-Forwarded-Proto; Options.TrustProxy has the proxy's
// addresses, since anybody can send these headers. Options.Hosts then has the public name: the connection from a proxy on the same machine is a loopback one.
// It must not buffer answers (nginx obeys the header X-Accel-Buffering that streams have; others need "proxy_buffering off" in their words), must not compress
// text/event-stream, and should wait longer than the heartbeat for the next byte:
//
//	location /mcp {
//		proxy_pass http://127.0.0.1:4391;
//		proxy_http_version 1.1;
//		proxy_set_header Host $host;
//		proxy_set_header X-Forwarded-Proto $scheme;
//		proxy_buffering off;
//		proxy_read_timeout 120s;
//	}
//
// With several instances, sessions need a balancer that sends a session id always to the same one; Stateless needs none. A session is not bound to an
// address: clients come from many.
//
// # Bounds
//
// Everything a client can make grow is bounded, see [Options]: bodies, headers, sessions in all and per caller, requests of a session, subscriptions, what waits to be
// written, what is kept. A client that stops reading loses its stream after half a minute and holds up nobody else.
//
// Errors are JSON-RPC responses with a status: 400 for what is no message or contradicts itself, 403 for strangers, 404 for sessions and (2026-07-28)
// methods that are not there, 405, 406, 408, 413, 415, 429, 431 and 503 as HTTP means them. All else that fails in a request is a JSON-RPC error with status 200.
package mcphttp
