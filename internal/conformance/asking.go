package conformance

// asking adds the tools that ask the client.
func (s *Server) asking() {}
