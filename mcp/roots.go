package mcp

import (
	"context"
	"encoding/json"
	"errors"
)

const methodRoots = "roots/list"

// Root is a directory or file that the client lets the server work on (MCP Root).
type Root struct {
	URI  string `json:"uri"`
	Name string `json:"name,omitempty"`
}

// RootsQuestion asks for the client's roots, for [Session.Ask] and [InputRequired].
func RootsQuestion(o ...AskOption) *Question {
	return newQuestion(methodRoots, "roots", need(KindRoots), []byte(`{}`), nil, o)
}

// Roots asks the client for its roots (MCP roots/list). See [Session.Ask] for what that means in each era.
func (ses *Session) Roots(ctx context.Context, o ...AskOption) ([]Root, error) {
	q := RootsQuestion(o...)
	if err := ses.Ask(ctx, q); err != nil {
		return nil, err
	}
	return q.Roots(), nil
}

var errNoRoots = errors.New("no list of roots")

// parseRoots reads a ListRootsResult.
func parseRoots(raw []byte) ([]Root, error) {
	var v [1][]byte
	if !pick(raw, []string{"roots"}, v[:]) || len(v[0]) == 0 || v[0][0] != '[' {
		return nil, errNoRoots
	}
	var items []json.RawMessage
	if json.Unmarshal(v[0], &items) != nil {
		return nil, errNoRoots
	}
	roots := make([]Root, 0, len(items))
	for _, item := range items {
		var m [2][]byte
		if !pick(item, []string{"uri", "name"}, m[:]) {
			return nil, errNoRoots
		}
		uri, ok := stringValue(m[0])
		name, named := stringValue(m[1])
		if !ok || m[1] != nil && !named {
			return nil, errNoRoots
		}
		roots = append(roots, Root{URI: uri, Name: name})
	}
	return roots, nil
}
