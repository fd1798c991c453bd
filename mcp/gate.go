package mcp

import (
	"context"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// values are the members of params that a method knows, in the order of its names.
type values [6][]byte

// method is a request method of this package, as the mux calls it.
type method struct {
	server  *Server
	span    span     // the revisions that have it
	names   []string // of the members it knows; the first is _meta
	early   bool     // it may come before initialize
	caches  bool     // its results carry cache hints, where the revision has them
	unknown bool     // it is none
	lenient bool     // it looks at the params itself
	calls   bool     // its names are callNames, which Inspect looks for

	// run answers it. c is nil where there is neither session nor envelope.
	run func(s *Server, ctx context.Context, c *call, r *jsonrpc2.Request, v values) (any, error)
}

// Handle implements jsonrpc2.Handler.
func (m *method) Handle(ctx context.Context, r *jsonrpc2.Request) (any, error) {
	if r.IsNotification() {
		return nil, nil // the fallback
	}
	c := callFrom(ctx)
	var v values
	ok := true
	if raw := peek(r, c); raw != nil {
		if known := c.inspected(m); known != nil {
			v, ok = known.room, known.clean
		} else {
			ok = pickKnown(raw, m.names, v[:], r.LongStrings())
		}
	}
	if c == nil || c.begun {
		if c == nil && !m.span.has(newest) {
			return nil, jsonrpc2.ErrMethodNotFound
		}
		if !ok && !m.lenient {
			return nil, jsonrpc2.ErrInvalidParams
		}
		return m.run(m.server, ctx, c, r, v)
	}
	defer c.finish()
	if err := c.begin(m.server, r, m, v[0]); err != nil {
		return nil, err
	}
	if !ok && !m.lenient {
		return nil, jsonrpc2.ErrInvalidParams
	}
	return c.answer(m.run(m.server, ctx, c, r, v))
}

// inspected returns the message of the call if the host has looked for what m is about to look for.
func (c *call) inspected(m *method) *Message {
	if c == nil || !m.calls || c.x == nil || c.x.entry == nil || c.begun {
		return nil
	}
	known := c.x.entry.message
	if known != nil { // there is none in a batch, whose requests share the entry
		c.x.entry.message = nil // a task may keep that
	}
	return known
}

// gate is the outermost middleware: what is behind it is only called for messages that may come, and its results are dressed for the revision.
// Methods of this package are their own gate, unless there is other middleware between.
func (s *Server) gate(h jsonrpc2.Handler) jsonrpc2.Handler {
	if m, own := h.(*method); own {
		return m
	}
	return jsonrpc2.HandlerFunc(func(ctx context.Context, r *jsonrpc2.Request) (any, error) {
		c := callFrom(ctx)
		if c == nil {
			return h.Handle(ctx, r)
		}
		var v [1][]byte
		if raw := peek(r, c); raw != nil {
			pick(raw, plainNames, v[:]) // what is wrong with the params is the handler's to say
		}
		if r.IsNotification() {
			if e := readMeta(v[0]); !c.open && !c.forced() && !e.modern() {
				return nil, nil // it has no session to go to
			}
			return h.Handle(ctx, r)
		}
		defer c.finish()
		if err := c.begin(s, r, s.methods[r.Method], v[0]); err != nil {
			return nil, err
		}
		return c.answer(h.Handle(ctx, r))
	})
}
