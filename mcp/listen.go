package mcp

import (
	"context"
	"errors"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

const acknowledgedMethod = "notifications/subscriptions/acknowledged"

// maxListens is how many subscriptions/listen one connection may have open.
const maxListens = 16

var (
	listenParams = []string{"_meta", "notifications"}
	listenKinds  = []string{"toolsListChanged", "resourcesListChanged", "promptsListChanged", "resourceSubscriptions"} // in the order of List
)

var (
	errListens = &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "Invalid params: too many subscriptions/listen"}
	errFilter  = &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "Invalid params: notifications must be an object of booleans, resourceSubscriptions a list of URIs"}
	errClosed  = &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: "Server shutting down"}
)

// listen answers subscriptions/listen (MCP 2026-07-28, patterns, subscriptions): it tells the client what it asked for until the client has enough,
// or the server ends, which is when it is answered. The first message is the acknowledgement of what will be told.
func (s *Server) listen(ctx context.Context, c *call, r *jsonrpc2.Request, v values) (any, error) {
	tasks, err := s.taskFeed(ctx, c, v[1])
	if err != nil {
		return nil, err
	}
	defer tasks.end()
	f := &feed{listen: true, held: true}
	uris, ok := f.ask(v[1])
	if !ok {
		return nil, errFilter
	}
	if len(uris) > maxSubscriptions {
		return nil, errSubscriptions
	}
	peer := c.peer()
	if peer == nil {
		return nil, jsonrpc2.ErrMethodNotFound // there is no stream to tell anything on
	}
	if c.x.entry == nil {
		if c.session.listens.Add(1) > maxListens {
			c.session.listens.Add(-1)
			return nil, errListens
		}
		defer c.session.listens.Add(-1)
	}
	id, _ := r.ID()
	meta := `"_meta":{"` + MetaSubscription + `":` + id.String() + `}`
	f.send = func(method, uri string) {
		p := append([]byte{'{'}, meta...)
		if uri != "" {
			p = append(p, `,"uri":`...)
			p = appendString(p, uri)
		}
		var err error
		defer s.caught(ctx, &err)
		c.mu.Lock()
		defer c.mu.Unlock()
		err = c.send(method, encoded(append(p, '}')))
	}
	over := make(chan struct{})
	f.over = func() { close(over) }
	granted := tasks.grant(s.grant(ctx, f, uris))
	if !s.feeds.add(f) { // before the acknowledgement: what changes from now on is told after it
		return nil, errClosed
	}
	defer s.feeds.remove(f)
	p := append([]byte{'{'}, meta...)
	p = append(append(p, `,"notifications":`...), granted...)
	c.mu.Lock()
	err = c.send(acknowledgedMethod, encoded(append(p, '}')))
	c.mu.Unlock()
	if err != nil {
		return nil, err
	}
	f.release()
	var closing <-chan struct{}
	conn := jsonrpc2.ConnFrom(ctx)
	if conn != nil {
		closing = conn.Closing()
	}
	tasks.tell(ctx, c, meta) // what has changed before the client listened
	for listening := true; listening; {
		changed, rested := tasks.due()
		select {
		case <-changed:
			tasks.tell(ctx, c, meta)
		case <-rested:
			if tasks.rested() {
				tasks.tell(ctx, c, meta)
			}
		case <-over:
			listening = false
		case <-closing:
			listening = false
		case <-ctx.Done():
			if !errors.Is(context.Cause(ctx), cancel.ErrClosing) {
				return nil, ctx.Err()
			}
			listening = false
		}
	}
	s.feeds.remove(f) // nothing follows the result
	if conn != nil && ctx.Err() == nil {
		// On a connection clients that heed only the notification are told as well; the result comes first, so that it is not taken for a cancellation.
		context.AfterFunc(ctx, func() {
			_ = conn.Notify(context.Background(), Cancel.Method, encoded(Cancel.Params([]byte(id.String()), "")))
		})
	}
	return encoded(`{` + meta + `}`), nil
}

// ask reads what a client wants to be told. It reports false for what is no filter.
func (f *feed) ask(raw []byte) (uris []string, ok bool) {
	var v [4][]byte
	if !pick(raw, listenKinds, v[:]) {
		return nil, false
	}
	for l := range lists {
		switch string(v[l]) {
		case "true":
			f.wants[l] = true
		case "", "false":
		default:
			return nil, false
		}
	}
	if v[3] == nil {
		return nil, true
	}
	return stringList(v[3])
}

// grant keeps of what the client wants what the server will tell, and returns it as the acknowledgement says it. What is not granted is left out without
// a reason: it would tell what exists.
func (s *Server) grant(ctx context.Context, f *feed, uris []string) []byte {
	has := [lists]bool{Tools: true, Resources: s.hasResources(), Prompts: s.hasPrompts()}
	granted := []byte{'{'}
	for l := range lists {
		if f.wants[l] = f.wants[l] && s.ListChanged && has[l]; f.wants[l] {
			granted = append(appendString(granted, listenKinds[l]), `:true,`...)
		}
	}
	list := []byte{'['}
	if s.subscribes() {
		for _, uri := range uris {
			if _, twice := f.uris[uri]; twice || s.Subscriber(ctx, uri) != nil {
				continue
			}
			f.subscribe(uri)
			list = append(appendString(list, uri), ',')
		}
	}
	if len(list) > 1 {
		list[len(list)-1] = ']'
		granted = append(append(appendString(granted, listenKinds[3]), ':'), list...)
		granted = append(granted, ',')
	}
	if len(granted) > 1 {
		granted[len(granted)-1] = '}'
		return granted
	}
	return append(granted, '}')
}

// Close says that the server is going away. Each subscriptions/listen that is open is answered, and later ones are refused; everything else goes on. It
// does not wait for the answers to be written. Connections and hosts end in their own ways.
func (s *Server) Close() {
	s.feeds.mu.Lock()
	var open []*feed
	s.feeds.closed = true
	for f := range s.feeds.all {
		if f.listen {
			open = append(open, f)
			delete(s.feeds.all, f)
		}
	}
	s.feeds.mu.Unlock()
	for _, f := range open {
		f.over()
	}
}
