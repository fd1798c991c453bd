package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// initializeResult has the members in the order of the specification's examples.
type initializeResult struct {
	ProtocolVersion string
	Capabilities    capabilities
	ServerInfo      Implementation
	Instructions    string
}

type capabilities struct {
	Tools       listCapability
	Resources   *resourcesCapability
	Prompts     *listCapability
	Completions *struct{}
	Logging     *struct{}
	Tasks       any
	Extensions  map[string]any
}

type listCapability struct {
	ListChanged bool
}

type resourcesCapability struct {
	ListChanged bool
	Subscribe   bool
}

// appendJSON writes what reflection would: it is the first thing a client waits for, and reflection on a type for the first time takes as long as starting
// a thread.
func (r initializeResult) appendJSON(dst []byte) (_ []byte, err error) {
	dst = appendString(append(dst, `{"protocolVersion":`...), r.ProtocolVersion)
	if dst, err = r.Capabilities.appendTo(append(dst, `,"capabilities":`...)); err != nil {
		return dst, err
	}
	if dst, err = r.ServerInfo.appendTo(append(dst, `,"serverInfo":`...)); err != nil {
		return dst, err
	}
	return append(appendText(dst, "instructions", r.Instructions), '}'), nil
}

// MarshalJSON is for middleware that looks at results.
func (r initializeResult) MarshalJSON() ([]byte, error) { return r.appendJSON(nil) }

func (c *capabilities) appendTo(dst []byte) (_ []byte, err error) {
	dst = c.Tools.appendTo(append(dst, `{"tools":`...))
	if r := c.Resources; r != nil {
		dst = strconv.AppendBool(append(dst, `,"resources":{"listChanged":`...), r.ListChanged)
		dst = append(strconv.AppendBool(append(dst, `,"subscribe":`...), r.Subscribe), '}')
	}
	if c.Prompts != nil {
		dst = c.Prompts.appendTo(append(dst, `,"prompts":`...))
	}
	if c.Completions != nil {
		dst = append(dst, `,"completions":{}`...)
	}
	if c.Logging != nil {
		dst = append(dst, `,"logging":{}`...)
	}
	if c.Tasks != nil {
		if dst, err = appendValue(append(dst, `,"tasks":`...), c.Tasks); err != nil {
			return dst, err
		}
	}
	if len(c.Extensions) > 0 {
		if dst, err = appendValue(append(dst, `,"extensions":`...), c.Extensions); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

func (c listCapability) appendTo(dst []byte) []byte {
	return append(strconv.AppendBool(append(dst, `{"listChanged":`...), c.ListChanged), '}')
}

func (i *Implementation) appendTo(dst []byte) (_ []byte, err error) {
	dst = appendString(append(dst, `{"name":`...), i.Name)
	dst = appendText(dst, "title", i.Title)
	dst = appendString(append(dst, `,"version":`...), i.Version)
	dst = appendText(appendText(dst, "description", i.Description), "websiteUrl", i.WebsiteURL)
	if len(i.Icons) > 0 {
		if dst, err = appendValue(append(dst, `,"icons":`...), i.Icons); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// appendText appends a member that is left out if it is empty.
func appendText(dst []byte, name, text string) []byte {
	if text == "" {
		return dst
	}
	dst = append(append(append(dst, ',', '"'), name...), '"', ':')
	return appendString(dst, text)
}

// hello is the answer to initialize. Only a hosted session can carry notifications, so only there are they promised.
func (s *Server) hello(rev revision, hosted bool) initializeResult {
	return initializeResult{
		ProtocolVersion: rev.String(),
		Capabilities:    s.capabilities(rev, hosted),
		ServerInfo:      s.implementation(rev),
		Instructions:    s.Instructions,
	}
}

func (s *Server) capabilities(rev revision, hosted bool) capabilities {
	changes := listCapability{ListChanged: hosted && s.ListChanged}
	c := capabilities{Tools: changes}
	if s.hasResources() {
		c.Resources = &resourcesCapability{ListChanged: changes.ListChanged, Subscribe: hosted && s.subscribes()}
	}
	if s.hasPrompts() {
		c.Prompts = &changes
	}
	if s.Completer != nil && rev.completions() {
		c.Completions = &struct{}{}
	}
	if s.Logging && hosted {
		c.Logging = &struct{}{}
	}
	if rev.extensions() {
		c.Extensions = s.extensions()
	}
	return c
}

// maxHello is how many bytes the params of initialize may have: they are kept as long as the session.
const maxHello = 64 << 10

// initialize answers initialize (MCP lifecycle). Without a session any protocolVersion is negotiated and nothing is stored; a session refuses
// one that is no string, and a second initialize.
func (s *Server) initialize(ctx context.Context, c *call, r *jsonrpc2.Request, _ values) (any, error) {
	if s.spoken.newest() == 0 { // it has no revision that begins so
		name, _ := stringValue(wished(peek(r, nil)))
		return nil, s.unsupported(name)
	}
	if c == nil || c.session.sessionless {
		rev := s.requested(peek(r, nil))
		if err := s.initializer(ctx, rev, r); err != nil {
			return nil, err
		}
		return s.hello(rev, false), nil
	}
	ses := c.session
	if !ses.busy.CompareAndSwap(false, true) {
		return nil, errInitialized
	}
	defer ses.busy.Store(false)
	if ses.open.Load() {
		return nil, errInitialized
	}
	raw := bytes.Clone(peek(r, c)) // not the buffer it came in, which may be much larger
	rev, err := s.demanded(raw)
	if err != nil {
		return nil, err
	}
	if len(raw) > maxHello {
		return nil, InvalidParams("Invalid params: more than %d bytes", maxHello)
	}
	ses.agree(c.peer(), rev, raw)
	c.rev = rev
	if err := s.initializer(ctx, rev, r); err != nil {
		ses.terms.Store(nil)
		return nil, err
	}
	if err := ses.begin(); err != nil {
		return nil, hidden{err}
	}
	h := s.hello(rev, true)
	h.Capabilities.Tasks = s.experimentalCapability(ctx, rev)
	return h, nil
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
func (s *Server) requested(params []byte) revision {
	if name, ok := stringValue(wished(params)); ok {
		return s.spoken.negotiate(name)
	}
	return s.spoken.newest()
}

// wished is the raw protocolVersion of params, nil if there is none.
func wished(params []byte) []byte {
	var v [1][]byte
	if isObject(params) && pick(params, []string{"protocolVersion"}, v[:]) {
		return v[0]
	}
	return nil
}

// demanded is requested for a session, which insists on a string if there is anything; null counts as absent.
func (s *Server) demanded(params json.RawMessage) (revision, error) {
	if params == nil {
		return s.spoken.newest(), nil
	}
	var v [1][]byte
	if !pick(params, []string{"protocolVersion"}, v[:]) {
		return 0, jsonrpc2.ErrInvalidParams
	}
	if v[0] == nil {
		return s.spoken.newest(), nil
	}
	name, ok := stringValue(v[0])
	if !ok {
		return 0, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "Invalid params: protocolVersion must be a string"}
	}
	return s.spoken.negotiate(name), nil
}
