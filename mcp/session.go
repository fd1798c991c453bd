package mcp

import (
	"context"
	"encoding/json"
	"sync/atomic"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Session is one client of a hosted connection, from initialize to the end. Closures get it from their context with [SessionFrom]. All methods
// may be called by many goroutines at once, and on a nil Session, which is one without client: what would send does nothing.
type Session struct {
	server *Server
	conn   atomic.Pointer[jsonrpc2.Conn]
	terms  atomic.Pointer[terms]
	open   atomic.Bool   // initialize was answered with a result
	asked  atomic.Int32  // initialize requests that were read and not yet handled
	asking atomic.Uint32 // the revision the last of them will lead to
	level  atomic.Int32
	name   atomic.Pointer[string] // of the tool or prompt that was asked for last

	changed [lists]atomic.Bool // a notification of that list is on its way
}

// terms is what initialize agreed on. It is never changed once stored.
type terms struct {
	revision     revision
	client       Implementation
	capabilities ClientCapabilities
	params       json.RawMessage
}

// SessionFrom returns the session that ctx, the context of a closure, belongs to; nil for a payload given to [Server.Handle].
func SessionFrom(ctx context.Context) *Session {
	if c := callFrom(ctx); c != nil {
		return c.session
	}
	return nil
}

// Revision returns the protocol revision agreed on; "" before initialize.
func (ses *Session) Revision() string { return ses.now().revision.String() }

// Client returns what the client calls itself.
func (ses *Session) Client() Implementation { return ses.now().client }

// Capabilities returns what the client says it can do.
func (ses *Session) Capabilities() ClientCapabilities { return ses.now().capabilities }

// Params returns the raw params of initialize, for members that have no method here. They must not be changed.
func (ses *Session) Params() json.RawMessage { return ses.now().params }

var noTerms = new(terms)

func (ses *Session) now() *terms {
	if ses != nil {
		if t := ses.terms.Load(); t != nil {
			return t
		}
	}
	return noTerms
}

// Notify sends a notification to the client. params must encode as an object, or be nil.
func (ses *Session) Notify(ctx context.Context, method string, params any) error {
	conn := ses.peer()
	if conn == nil {
		return ErrNoSession
	}
	return conn.Notify(ctx, method, params)
}

// Call sends a request to the client and waits for the result, which is decoded into result. It may be called inside a closure: waiting does
// not take a place from other requests. When ctx ends the client is told.
func (ses *Session) Call(ctx context.Context, method string, params, result any) error {
	conn := ses.peer()
	if conn == nil {
		return ErrNoSession
	}
	return conn.Call(ctx, method, params, result)
}

func (ses *Session) peer() *jsonrpc2.Conn {
	if ses == nil || !ses.open.Load() {
		return nil
	}
	return ses.conn.Load()
}

// agree notes the terms of initialize, so that the Initializer finds them.
func (ses *Session) agree(conn *jsonrpc2.Conn, rev revision, params json.RawMessage) {
	t := &terms{revision: rev, params: params}
	var v [2][]byte
	if pick(params, []string{"clientInfo", "capabilities"}, v[:]) {
		if isObject(v[0]) {
			// A client that describes itself badly is still a client.
			if jsonrpc2.DefaultCodec.Unmarshal(v[0], &t.client) != nil {
				t.client = Implementation{}
				var n [2][]byte
				if pick(v[0], []string{"name", "version"}, n[:]) {
					t.client.Name, _ = stringValue(n[0])
					t.client.Version, _ = stringValue(n[1])
				}
			}
		}
		t.capabilities = readCapabilities(v[1])
	}
	ses.conn.Store(conn)
	ses.terms.Store(t)
}

// readCapabilities takes what is well formed: a capability that is no object counts as absent.
func readCapabilities(raw []byte) (c ClientCapabilities) {
	if !isObject(raw) {
		return c
	}
	var v [5][]byte
	if !pick(raw, []string{"roots", "sampling", "elicitation", "experimental", "tasks"}, v[:]) {
		return c
	}
	for i, p := range []*json.RawMessage{&c.Roots, &c.Sampling, &c.Elicitation, &c.Experimental, &c.Tasks} {
		if isObject(v[i]) {
			*p = v[i]
		}
	}
	return c
}

// begin opens the session.
func (ses *Session) begin() {
	s := ses.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions == nil {
		s.sessions = make(map[*Session]struct{})
	}
	s.sessions[ses] = struct{}{}
	ses.open.Store(true)
}

// end closes it.
func (ses *Session) end() {
	s := ses.server
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, ses)
	ses.open.Store(false)
}

// List names one of the lists a server can have.
type List uint8

// The lists whose changes can be announced.
const (
	Tools List = iota
	Resources
	Prompts
	lists
)

var changedMethods = [lists]string{"notifications/tools/list_changed", "notifications/resources/list_changed", "notifications/prompts/list_changed"}

// Changed tells all sessions that a list has changed (MCP list_changed), if [Server.ListChanged] promised that. It does not wait: a session gets
// one notification for all the changes made until it could be sent.
func (s *Server) Changed(l List) {
	if !s.ListChanged || l >= lists {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for ses := range s.sessions {
		if ses.changed[l].CompareAndSwap(false, true) {
			go ses.announce(l)
		}
	}
}

func (ses *Session) announce(l List) {
	ses.changed[l].Store(false)
	// The connection ends the wait when it closes; nobody is left to be told then.
	_ = ses.Notify(context.Background(), changedMethods[l], nil)
}
