package mcp

import (
	"context"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// register fills the mux. What is not here is "Method not found", also what is here but needs functions that are not set, and what the revision of a
// request does not have.
func (s *Server) register(m *jsonrpc2.Mux) {
	s.methods = make(map[string]*method)
	add := func(name string, x method, order ...jsonrpc2.Order) {
		x.server, x.span = s, spanOf(name)
		if x.names == nil {
			x.names = plainNames
		}
		s.methods[name] = &x
		m.HandleRequest(name, &x, order...)
	}
	// Ordered: what is pipelined behind it waits for it. So do the methods that change what the session is told: the last of them counts, and holds for
	// what comes behind it.
	add("initialize", method{run: (*Server).initialize, early: true, lenient: true}, jsonrpc2.Ordered)
	add("ping", method{run: (*Server).ping, early: true})
	add("server/discover", method{run: (*Server).discover, caches: true})
	add("subscriptions/listen", method{run: (*Server).listen, names: listenParams})
	m.HandleNotification("notifications/initialized", jsonrpc2.HandlerFunc(ignore))
	// A connection acts on notifications/cancelled itself, by the convention Cancel; this is for payloads that come without one.
	m.HandleNotification("notifications/cancelled", jsonrpc2.HandlerFunc(ignore))
	m.HandleNotification("notifications/progress", jsonrpc2.HandlerFunc(ignore))
	m.HandleNotification("notifications/roots/list_changed", jsonrpc2.HandlerFunc(ignore))
	add("tools/list", method{run: (*Server).toolsList, names: listNames, caches: true})
	add("tools/call", method{run: (*Server).toolsCall, names: callNames, calls: true})
	if s.hasResources() {
		add("resources/list", method{run: (*Server).resourcesList, names: listNames, caches: true})
		add("resources/templates/list", method{run: (*Server).templatesList, names: listNames, caches: true})
		add("resources/read", method{run: (*Server).resourcesRead, names: readNames, caches: true})
	}
	if s.subscribes() {
		add("resources/subscribe", method{run: (*Server).subscribe, names: uriParams}, jsonrpc2.Ordered)
		add("resources/unsubscribe", method{run: (*Server).unsubscribe, names: uriParams}, jsonrpc2.Ordered)
	}
	if s.hasPrompts() {
		add("prompts/list", method{run: (*Server).promptsList, names: listNames, caches: true})
		add("prompts/get", method{run: (*Server).promptsGet, names: callNames, calls: true})
	}
	if s.Completer != nil {
		add("completion/complete", method{run: (*Server).complete, names: completeNames})
	}
	if s.Logging {
		add("logging/setLevel", method{run: (*Server).setLevel, names: levelParams}, jsonrpc2.Ordered)
	}
	s.registerTasks(add)
	m.Fallback(&method{server: s, span: span{0, lastRevision}, names: plainNames, unknown: true, run: notFound})
}

func ignore(context.Context, *jsonrpc2.Request) (any, error) { return nil, nil }

func notFound(*Server, context.Context, *call, *jsonrpc2.Request, values) (any, error) {
	return nil, jsonrpc2.ErrMethodNotFound
}

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

var (
	plainNames = []string{"_meta"}
	listNames  = []string{"_meta", "cursor"}
	callNames  = []string{"_meta", "name", "arguments", "inputResponses", "requestState", "task"}
	readNames  = []string{"_meta", "uri", "inputResponses", "requestState"}
)

func (s *Server) ping(context.Context, *call, *jsonrpc2.Request, values) (any, error) {
	return emptyResult, nil
}

func (s *Server) toolsList(ctx context.Context, c *call, _ *jsonrpc2.Request, v values) (any, error) {
	return listing(ctx, s, c, &v, "tools", s.Lister, func(t *Tool) string { return t.Name }, s.tool, s.Cache.Tools)
}

// Tool returns a tool as the caller of ctx would find it in the list, from Finder if there is one, else from Lister; false: there is none of that
// name. It may be called by many goroutines at once. An error, or a panic, of those functions is the caller's.
func (s *Server) Tool(ctx context.Context, name string) (t Tool, ok bool, err error) {
	switch {
	case s.Finder != nil:
		t, ok = s.Finder(ctx, name)
		return t, ok, nil
	case s.Lister == nil:
		return t, false, nil
	}
	tools, err := s.Lister(ctx)
	if err != nil {
		return t, false, err
	}
	for i := range tools {
		if tools[i].Name == name {
			return tools[i], true, nil
		}
	}
	return t, false, nil
}

func (s *Server) resourcesList(ctx context.Context, c *call, _ *jsonrpc2.Request, v values) (any, error) {
	return listing(ctx, s, c, &v, "resources", s.Resources, func(r *Resource) string { return r.URI }, revision.resource, s.Cache.Resources)
}

func (s *Server) templatesList(ctx context.Context, c *call, _ *jsonrpc2.Request, v values) (any, error) {
	return listing(ctx, s, c, &v, "resourceTemplates", s.Templates, func(t *Template) string { return t.URITemplate }, revision.template, s.Cache.Templates)
}

func (s *Server) promptsList(ctx context.Context, c *call, _ *jsonrpc2.Request, v values) (any, error) {
	return listing(ctx, s, c, &v, "prompts", s.Prompts, func(p *Prompt) string { return p.Name }, revision.prompt, s.Cache.Prompts)
}

// named reads the params that tools/call and prompts/get share.
func named(c *call, r *jsonrpc2.Request, v *values) (name string, a Arguments, err error) {
	name, ok := c.name(v[1])
	if !ok || v[2] != nil && !isObject(v[2]) {
		return "", a, jsonrpc2.ErrInvalidParams
	}
	if v[2] != nil {
		a = Arguments{raw: v[2], req: r}
	}
	return name, a, nil
}

func (s *Server) toolsCall(ctx context.Context, c *call, r *jsonrpc2.Request, v values) (any, error) {
	name, a, err := named(c, r, &v)
	if err != nil {
		return nil, err
	}
	if s.Caller == nil {
		return nil, UnknownTool(name)
	}
	if v[5] != nil && s.experimental(c) {
		if err := s.wishes(ctx, c, name, v[5]); err != nil {
			return nil, err
		}
	}
	res, err := s.serve(ctx, c, r, target{what: 't', name: name, arguments: a, responses: v[3], state: v[4]})
	if err != nil {
		return nil, err
	}
	return callResult(c, res), nil
}

// callResult is the result of a tools/call as it is encoded.
func callResult(c *call, v any) any {
	if t, ok := v.(*CallToolResult); ok {
		v = c.revision().result(t)
	}
	return wholeResult(v)
}

func (s *Server) resourcesRead(ctx context.Context, c *call, r *jsonrpc2.Request, v values) (any, error) {
	uri, ok := stringValue(v[1])
	if !ok || uri == "" {
		return nil, jsonrpc2.ErrInvalidParams
	}
	contents, err := s.serve(ctx, c, r, target{what: 'r', name: uri, responses: v[2], state: v[3]})
	if err != nil {
		return nil, err
	}
	c.cachedBy(s.Cache.Read)
	if t, ok := contents.(resultTyper); ok {
		return t, nil
	}
	return listResult{name: "contents", list: c.revision().resourceContents(contents)}, nil
}

func (s *Server) promptsGet(ctx context.Context, c *call, r *jsonrpc2.Request, v values) (any, error) {
	name, a, err := named(c, r, &v)
	if err != nil {
		return nil, err
	}
	res, err := s.serve(ctx, c, r, target{what: 'p', name: name, arguments: a, responses: v[3], state: v[4]})
	if err != nil {
		return nil, err
	}
	if p, ok := res.(*PromptResult); ok {
		res = c.revision().promptResult(p)
	}
	return wholeResult(res), nil
}
