package mcp

import (
	"context"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// method is a handler of this package. c is nil where there is no session.
type method func(s *Server, ctx context.Context, c *call, r *jsonrpc2.Request) (any, error)

// register fills the mux. What is not here is "Method not found", also what is here but needs functions that are not set.
func (s *Server) register(m *jsonrpc2.Mux) {
	// Ordered: what is pipelined behind initialize waits for it.
	m.HandleRequest("initialize", s.handler((*Server).initialize, true), jsonrpc2.Ordered)
	m.HandleRequest("ping", s.handler((*Server).ping, true))
	m.HandleNotification("notifications/initialized", jsonrpc2.HandlerFunc(ignore))
	// A connection acts on notifications/cancelled itself, by the convention Cancel; this is for payloads that come through Handle.
	m.HandleNotification("notifications/cancelled", jsonrpc2.HandlerFunc(ignore))
	m.HandleNotification("notifications/progress", jsonrpc2.HandlerFunc(ignore))
	m.HandleNotification("notifications/roots/list_changed", jsonrpc2.HandlerFunc(ignore))
	m.HandleRequest("tools/list", s.handler((*Server).toolsList, false))
	m.HandleRequest("tools/call", s.handler((*Server).toolsCall, false))
	if s.hasResources() {
		m.HandleRequest("resources/list", s.handler((*Server).resourcesList, false))
		m.HandleRequest("resources/templates/list", s.handler((*Server).templatesList, false))
		m.HandleRequest("resources/read", s.handler((*Server).resourcesRead, false))
	}
	if s.hasPrompts() {
		m.HandleRequest("prompts/list", s.handler((*Server).promptsList, false))
		m.HandleRequest("prompts/get", s.handler((*Server).promptsGet, false))
	}
	if s.Completer != nil {
		m.HandleRequest("completion/complete", s.handler((*Server).complete, false))
	}
	if s.Logging {
		m.HandleRequest("logging/setLevel", s.handler((*Server).setLevel, false))
	}
}

// handler makes a Handler of a method. early: it may run before the session is initialized.
func (s *Server) handler(f method, early bool) jsonrpc2.Handler {
	return jsonrpc2.HandlerFunc(func(ctx context.Context, r *jsonrpc2.Request) (any, error) {
		c := callFrom(ctx)
		if c == nil {
			return f(s, ctx, nil, r)
		}
		defer c.finish()
		// Requests that were read behind an initialize that then failed get here.
		if !early && !c.session.open.Load() {
			return nil, errNotInitialized
		}
		return f(s, ctx, c, r)
	})
}

func ignore(context.Context, *jsonrpc2.Request) (any, error) { return nil, nil }

// peek returns the raw params, good until the handler returns; nil if there are none. c, if there is one, saves an allocation.
func peek(r *jsonrpc2.Request, c *call) []byte {
	if !r.HasParams() {
		return nil
	}
	var b *borrowed
	if c != nil {
		b = &c.params
	} else {
		b = new(borrowed)
	}
	if r.Decode(b) == nil && b.raw != nil {
		return b.raw
	}
	return r.Params() // someone else's codec
}

// take finds members of the params, which must be an object or absent, and arms the call's progress.
func take(r *jsonrpc2.Request, c *call, names []string, values [][]byte) error {
	raw := peek(r, c)
	if raw == nil {
		return nil
	}
	if !pick(raw, names, values) {
		return jsonrpc2.ErrInvalidParams
	}
	if c != nil {
		c.arm(values[0])
	}
	return nil
}

var (
	plainNames = []string{"_meta"}
	listNames  = []string{"_meta", "cursor"}
	callNames  = []string{"_meta", "name", "arguments"}
	readNames  = []string{"_meta", "uri"}
)

func (s *Server) ping(_ context.Context, c *call, r *jsonrpc2.Request) (any, error) {
	var v [1][]byte
	if err := take(r, c, plainNames, v[:]); err != nil {
		return nil, err
	}
	return emptyResult, nil
}

// list checks the params of a list request. No list has a second page yet, so no cursor is one of ours.
func list(c *call, r *jsonrpc2.Request) (revision, error) {
	var v [2][]byte
	if err := take(r, c, listNames, v[:]); err != nil {
		return 0, err
	}
	if v[1] != nil {
		return 0, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "Invalid params: unknown cursor"}
	}
	return c.revision(), nil
}

func (s *Server) toolsList(ctx context.Context, c *call, r *jsonrpc2.Request) (any, error) {
	return listing(ctx, c, r, "tools", s.Lister, revision.tool)
}

func (s *Server) resourcesList(ctx context.Context, c *call, r *jsonrpc2.Request) (any, error) {
	return listing(ctx, c, r, "resources", s.Resources, revision.resource)
}

func (s *Server) templatesList(ctx context.Context, c *call, r *jsonrpc2.Request) (any, error) {
	return listing(ctx, c, r, "resourceTemplates", s.Templates, revision.template)
}

func (s *Server) promptsList(ctx context.Context, c *call, r *jsonrpc2.Request) (any, error) {
	return listing(ctx, c, r, "prompts", s.Prompts, revision.prompt)
}

func listing[T any](ctx context.Context, c *call, r *jsonrpc2.Request, name string, fetch func(context.Context) ([]T, error), fit func(revision, T) T) (any, error) {
	rev, err := list(c, r)
	if err != nil || fetch == nil {
		return listResult{name, []T{}}, err
	}
	items, err := fetch(ctx)
	if err != nil {
		return nil, err
	}
	fitted := make([]T, len(items))
	for i, x := range items {
		fitted[i] = fit(rev, x)
	}
	return listResult{name, fitted}, nil
}

// named reads the params that tools/call and prompts/get share.
func named(c *call, r *jsonrpc2.Request) (name string, a Arguments, err error) {
	var v [3][]byte
	if err := take(r, c, callNames, v[:]); err != nil {
		return "", a, err
	}
	name, ok := c.name(v[1])
	if !ok || v[2] != nil && !isObject(v[2]) {
		return "", a, jsonrpc2.ErrInvalidParams
	}
	if v[2] != nil {
		a = Arguments{raw: v[2], req: r}
	}
	return name, a, nil
}

func (s *Server) toolsCall(ctx context.Context, c *call, r *jsonrpc2.Request) (any, error) {
	name, a, err := named(c, r)
	if err != nil {
		return nil, err
	}
	if s.Caller == nil {
		return nil, UnknownTool(name)
	}
	v, err := s.Caller(ctx, name, a)
	if err != nil {
		return nil, err
	}
	if res, ok := v.(*CallToolResult); ok {
		v = c.revision().result(res)
	}
	return wholeResult(v), nil
}

func (s *Server) resourcesRead(ctx context.Context, c *call, r *jsonrpc2.Request) (any, error) {
	var v [2][]byte
	if err := take(r, c, readNames, v[:]); err != nil {
		return nil, err
	}
	uri, ok := stringValue(v[1])
	if !ok || uri == "" {
		return nil, jsonrpc2.ErrInvalidParams
	}
	contents, err := s.Reader(ctx, uri)
	if err != nil {
		return nil, err
	}
	return listResult{"contents", contents}, nil
}

func (s *Server) promptsGet(ctx context.Context, c *call, r *jsonrpc2.Request) (any, error) {
	name, a, err := named(c, r)
	if err != nil {
		return nil, err
	}
	v, err := s.Prompter(ctx, name, a)
	if err != nil {
		return nil, err
	}
	return wholeResult(v), nil
}
