package mcp

import (
	"context"
	"encoding/json"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// initializeResult has the members in the order of the specification's examples.
type initializeResult struct {
	ProtocolVersion string         `json:"protocolVersion"`
	Capabilities    capabilities   `json:"capabilities"`
	ServerInfo      Implementation `json:"serverInfo"`
	Instructions    string         `json:"instructions,omitempty"`
}

type capabilities struct {
	Tools       listCapability       `json:"tools"`
	Resources   *resourcesCapability `json:"resources,omitempty"`
	Prompts     *listCapability      `json:"prompts,omitempty"`
	Completions *struct{}            `json:"completions,omitempty"`
	Logging     *struct{}            `json:"logging,omitempty"`
}

type listCapability struct {
	ListChanged bool `json:"listChanged"`
}

type resourcesCapability struct {
	ListChanged bool `json:"listChanged"`
	Subscribe   bool `json:"subscribe"`
}

// hello is the answer to initialize. Only a hosted session can carry notifications, so only there are they promised.
func (s *Server) hello(rev revision, hosted bool) initializeResult {
	changes := listCapability{ListChanged: hosted && s.ListChanged}
	res := initializeResult{
		ProtocolVersion: rev.String(),
		Capabilities:    capabilities{Tools: changes},
		ServerInfo: rev.implementation(Implementation{
			Name: s.Name, Title: s.Title, Version: s.Version, Description: s.Description, WebsiteURL: s.WebsiteURL, Icons: s.Icons,
		}),
		Instructions: s.Instructions,
	}
	if s.hasResources() {
		res.Capabilities.Resources = &resourcesCapability{ListChanged: changes.ListChanged}
	}
	if s.hasPrompts() {
		res.Capabilities.Prompts = &changes
	}
	if s.Completer != nil && rev.completions() {
		res.Capabilities.Completions = &struct{}{}
	}
	if s.Logging && hosted {
		res.Capabilities.Logging = &struct{}{}
	}
	return res
}

// initialize answers initialize (MCP lifecycle). Without a session any protocolVersion is negotiated and nothing is stored; a session refuses
// one that is no string, and a second initialize.
func (s *Server) initialize(ctx context.Context, c *call, r *jsonrpc2.Request) (any, error) {
	if c == nil {
		rev := requested(r.Params())
		if err := s.initializer(ctx, rev, r); err != nil {
			return nil, err
		}
		return s.hello(rev, false), nil
	}
	ses := c.session
	defer ses.asked.Add(-1)
	if ses.open.Load() {
		return nil, errInitialized
	}
	raw := r.Params()
	rev, err := demanded(raw)
	if err != nil {
		return nil, err
	}
	ses.agree(jsonrpc2.ConnFrom(ctx), rev, raw)
	if err := s.initializer(ctx, rev, r); err != nil {
		ses.terms.Store(nil)
		return nil, err
	}
	ses.begin()
	return s.hello(rev, true), nil
}

// initializer runs the Initializer. Whatever it fails with is the server's trouble: "Internal error", reported.
func (s *Server) initializer(ctx context.Context, rev revision, r *jsonrpc2.Request) error {
	if s.Initializer == nil {
		return nil
	}
	params := Arguments{}
	if raw := r.Params(); isObject(raw) {
		params.raw = raw
	}
	if err := s.Initializer(ctx, rev.String(), params); err != nil {
		return hidden{err}
	}
	return nil
}

// hidden is an error that must not choose its answer: it keeps a *jsonrpc2.Error inside from being found.
type hidden struct{ err error }

func (h hidden) Error() string { return "mcp: Initializer: " + h.err.Error() }

// requested returns the revision for params of initialize, whatever they are.
func requested(params []byte) revision {
	var v [1][]byte
	if isObject(params) && pick(params, []string{"protocolVersion"}, v[:]) {
		if s, ok := stringValue(v[0]); ok {
			return negotiate(s)
		}
	}
	return newest
}

// demanded is requested for a session, which insists on a string if there is anything; null counts as absent.
func demanded(params json.RawMessage) (revision, error) {
	if params == nil {
		return newest, nil
	}
	var v [1][]byte
	if !pick(params, []string{"protocolVersion"}, v[:]) {
		return 0, jsonrpc2.ErrInvalidParams
	}
	if v[0] == nil {
		return newest, nil
	}
	s, ok := stringValue(v[0])
	if !ok {
		return 0, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "Invalid params: protocolVersion must be a string"}
	}
	return negotiate(s), nil
}
