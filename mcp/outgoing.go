package mcp

// outgoing is a Peer inside the middleware of Server.Outgoing.
type outgoing struct {
	Peer
	raw Peer
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
	return outgoing{wrapped, p}
}

// rawPeer is the Peer without the middleware.
func rawPeer(p Peer) Peer {
	if o, ok := p.(outgoing); ok {
		return o.raw
	}
	return p
}
