package mcp

import (
	"context"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

var uriParams = []string{"_meta", "uri"}

// subscribe answers resources/subscribe (MCP resources, subscriptions; revisions up to 2025-11-25).
func (s *Server) subscribe(ctx context.Context, c *call, _ *jsonrpc2.Request, v values) (any, error) {
	uri, ok := stringValue(v[1])
	if !ok || uri == "" {
		return nil, jsonrpc2.ErrInvalidParams
	}
	if c == nil || c.session.sessionless {
		return nil, jsonrpc2.ErrMethodNotFound // there is nobody to tell
	}
	if err := s.Subscriber(ctx, uri); err != nil {
		return nil, err
	}
	if !c.session.feed.subscribe(uri) {
		return nil, errSubscriptions
	}
	return emptyResult, nil
}

// unsubscribe answers resources/unsubscribe.
func (s *Server) unsubscribe(_ context.Context, c *call, _ *jsonrpc2.Request, v values) (any, error) {
	uri, ok := stringValue(v[1])
	if !ok || uri == "" {
		return nil, jsonrpc2.ErrInvalidParams
	}
	if c == nil || c.session.sessionless {
		return nil, jsonrpc2.ErrMethodNotFound
	}
	c.session.feed.unsubscribe(uri)
	return emptyResult, nil
}

var errSubscriptions = &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "Invalid params: too many subscriptions"}
