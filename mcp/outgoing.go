package mcp

import "context"

// outgoing is a Peer inside the middleware of Server.Outgoing. Much of what is sent is sent by goroutines of ours, so a panic of the middleware is an
// error.
type outgoing struct {
	Peer
	raw    Peer
	server *Server
}

// Notify implements [Peer].
func (o outgoing) Notify(ctx context.Context, method string, params any) (err error) {
	defer o.server.caught(ctx, &err)
	return o.Peer.Notify(ctx, method, params)
}

// Call implements [Peer].
func (o outgoing) Call(ctx context.Context, method string, params, result any) (err error) {
	defer o.server.caught(ctx, &err)
	return o.Peer.Call(ctx, method, params, result)
}

// caught, of a Server or of none, is deferred where what the program has given is called by a goroutine that must live: a panic is reported, and is the error.
func (s *Server) caught(ctx context.Context, err *error) {
	if p := recover(); p != nil {
		*err = panicked(p)
		if s != nil {
			s.report(ctx, nil, *err)
		}
	}
}

// outward puts the middleware between the server and a client.
func (s *Server) outward(p Peer) Peer {
	if p == nil || len(s.Outgoing) == 0 {
		return p
	}
	wrapped := p
	for i := len(s.Outgoing) - 1; i >= 0; i-- {
		wrapped = s.Outgoing[i](wrapped)
	}
	return outgoing{wrapped, p, s}
}

// rawPeer is the Peer without the middleware.
func rawPeer(p Peer) Peer {
	if o, ok := p.(outgoing); ok {
		return o.raw
	}
	return p
}
