package lsp

import (
	"context"
	"encoding/json"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

var errNoCommand = &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "Invalid params: no such command"}

// commands serves workspace/executeCommand where there are any.
func (s *session) commands() jsonrpc2.Handler {
	if len(s.srv.Commands) == 0 {
		return nil
	}
	return handlerOf(byMethod()[protocol.MethodWorkspaceExecuteCommand], s.srv.execute)
}

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

// saves serves textDocument/didSave where it is of interest.
func (s *session) saves() jsonrpc2.Handler {
	if s.srv.DidSave == nil {
		return nil
	}
	return own((*session).didSave)(s)
}
