package lsp

import (
	"iter"
	"slices"
)

// Clients are the clients that the server is connected to now, in the order they came: those that have been initialized and whose connection has not
// ended. It is for code outside of handlers, such as a server of another protocol in the same process, which wants to see or change what people have
// open:
//
//	for c := range server.Clients() {
//		if doc := c.Documents().Document(u); doc != nil {
//			err := c.ApplyEdit(ctx, "Add a task", edit)
//		}
//	}
//
// The sequence is as of the call and may be used by many goroutines at once. A client may go away at any time; its methods then return an error.
func (s *Server) Clients() iter.Seq[*Client] {
	s.mu.Lock()
	list := slices.Clone(s.clients)
	s.mu.Unlock()
	return slices.Values(slices.DeleteFunc(list, func(c *Client) bool {
		select {
		case <-c.Conn().Closing():
			return true // its handlers may go on for a while
		default:
			return false
		}
	}))
}

// connected makes a client one of Clients, and gone takes it out.
func (s *Server) connected(c *Client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients = append(s.clients, c)
}

func (s *Server) gone(c *Client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients = slices.DeleteFunc(s.clients, func(x *Client) bool { return x == c })
}
