package mcp

import (
	"context"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

var (
	completeNames = []string{"_meta", "ref", "argument", "context"}
	refNames      = []string{"type", "name", "uri"}
	argumentNames = []string{"name", "value"}
	contextNames  = []string{"arguments"}
)

// complete answers completion/complete (MCP server utilities, completion).
func (s *Server) complete(ctx context.Context, _ *call, _ *jsonrpc2.Request, v values) (any, error) {
	q, ok := completeRequest(v[1], v[2], v[3])
	if !ok {
		return nil, jsonrpc2.ErrInvalidParams
	}
	found, err := s.Completer(ctx, q)
	if err != nil {
		return nil, err
	}
	if found == nil {
		found = new(Completion)
	}
	return found, nil
}

func completeRequest(ref, argument, context []byte) (q CompleteRequest, ok bool) {
	var rv [3][]byte
	var av [2][]byte
	if !pick(ref, refNames, rv[:]) || !pick(argument, argumentNames, av[:]) {
		return q, false
	}
	kind, _ := stringValue(rv[0])
	switch kind {
	case "ref/prompt":
		q.Prompt, ok = stringValue(rv[1])
	case "ref/resource":
		q.Template, ok = stringValue(rv[2])
	}
	if !ok {
		return q, false
	}
	if q.Name, ok = stringValue(av[0]); !ok {
		return q, false
	}
	if q.Value, ok = stringValue(av[1]); !ok {
		return q, false
	}
	if context == nil {
		return q, true
	}
	var cv [1][]byte
	if !pick(context, contextNames, cv[:]) || cv[0] != nil && !isObject(cv[0]) {
		return q, false
	}
	for o := (object{b: cv[0]}); ; {
		name, value, more := o.next()
		if !more {
			return q, true
		}
		if text, isText := stringValue(value); isText {
			if q.Others == nil {
				q.Others = make(map[string]string)
			}
			q.Others[unquoted(name)] = text
		}
	}
}
