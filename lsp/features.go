package lsp

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// feature is one row of the routing table: a request of the client that a field of Server serves. One table drives registration and capabilities, so
// neither can be forgotten.
type feature struct {
	method    string
	handler   func(*Server) jsonrpc2.Handler // nil result: not served
	advertise func(*protocol.ServerCapabilities, *Server)
}

func feat[P, R any](method string, field func(*Server) func(context.Context, *P) (R, error), advertise func(*protocol.ServerCapabilities, *Server)) feature {
	return feature{
		method: method,
		handler: func(s *Server) jsonrpc2.Handler {
			if f := field(s); f != nil {
				return call(f)
			}
			return nil
		},
		advertise: advertise,
	}
}

// call makes a handler of a function of the Server: it lends the request's progress token to the scope, and ends what was reported under it.
func call[P, R any](f func(context.Context, *P) (R, error)) jsonrpc2.Handler {
	token := tokenOf[P]()
	if token == nil {
		return jsonrpc2.Call(f)
	}
	return jsonrpc2.Call(func(ctx context.Context, p *P) (R, error) {
		if t := token(p); t != nil {
			if sc := scopeFrom(ctx); sc != nil {
				sc.token = t
				defer func() { sc.used.End("") }()
			}
		}
		return f(ctx, p)
	})
}

// capabilities are those that follow from the fields that are set.
func (s *Server) capabilities() protocol.ServerCapabilities {
	yes, change := true, protocol.TextDocumentSyncKindIncremental
	docs := &protocol.TextDocumentSyncOptions{OpenClose: &yes, Change: &change}
	if s.DidSave != nil {
		docs.Save = protocol.Boolean(true)
	}
	c := protocol.ServerCapabilities{TextDocumentSync: docs}
	for _, f := range features {
		if f.advertise != nil && f.handler(s) != nil {
			f.advertise(&c, s)
		}
	}
	if len(s.Commands) > 0 {
		c.ExecuteCommandProvider.Commands = slices.Sorted(maps.Keys(s.Commands))
	}
	return c
}

var errNoCommand = &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "Invalid params: no such command"}

// execute serves workspace/executeCommand.
func (s *Server) execute(ctx context.Context, p *protocol.ExecuteCommandParams) (any, error) {
	f := s.Commands[p.Command]
	if f == nil {
		return nil, errNoCommand
	}
	args := make([]json.RawMessage, len(p.Arguments))
	for i, a := range p.Arguments {
		args[i] = json.RawMessage(a)
	}
	return f(ctx, args)
}
