package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Session is one client as closures see it, which get it from their context with [SessionFrom]. Up to revision 2025-11-25 it lasts from initialize to
// the end of the connection, or of what a host calls a session. Since 2026-07-28 there are no sessions on the wire, and a Session is the one request
// it was got in: what the client is and can do is what that request says. All methods may be called by many goroutines at once, and on a nil Session,
// which is one without client: what would send does nothing.
type Session struct {
	server *Server
	way    atomic.Pointer[way] // to the client, since initialize
	terms  atomic.Pointer[terms]
	open   atomic.Bool   // initialize was answered with a result
	busy   atomic.Bool   // an initialize is being handled
	asking atomic.Uint32 // the revision the last initialize that was read will lead to
	level  atomic.Int32
	name   atomic.Pointer[string] // of the tool or prompt that was asked for last

	request     *call // the modern request it is; nil: a legacy session
	sessionless bool  // a legacy request without lifecycle

	feed feed // what it is told of changes
	logs lockedQuota

	listens atomic.Int32 // subscriptions/listen that are open on a connection

	beat  *time.Timer // until the client is pinged; under mu
	mu    sync.Mutex  // of what a host's session keeps
	ended error       // why it was closed
	calls *entryCall  // in flight
}

// way is a Peer in an atomic pointer.
type way struct{ Peer }

// terms is what initialize agreed on, or the envelope of a modern request says. It is never changed once stored.
type terms struct {
	revision     revision
	client       Implementation
	capabilities ClientCapabilities
	params       json.RawMessage
}

// SessionFrom returns the session that ctx, the context of a closure, belongs to; nil for a payload given to [Server.Handle].
func SessionFrom(ctx context.Context) *Session {
	c := callFrom(ctx)
	switch {
	case c == nil:
		return nil
	case c.modern():
		return c.asSession()
	}
	return c.session
}

// asSession is the Session of a modern request.
func (c *call) asSession() *Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.x.own == nil {
		ses := &Session{server: c.x.server, request: c}
		e := readMeta(c.x.meta)
		t := &terms{revision: c.rev}
		if c.x.meta != nil {
			t.client = readClient(bytes.Clone(e.client))
			t.capabilities = readCapabilities(bytes.Clone(e.capabilities))
		}
		ses.terms.Store(t)
		c.x.own = ses
	}
	return c.x.own
}

// Revision returns the protocol revision agreed on; "" before initialize.
func (ses *Session) Revision() string { return ses.now().revision.String() }

// Client returns what the client calls itself.
func (ses *Session) Client() Implementation { return ses.now().client }

// Capabilities returns what the client says it can do.
func (ses *Session) Capabilities() ClientCapabilities { return ses.now().capabilities }

// Params returns the raw params of initialize, for members that have no method here. They must not be changed. Since 2026-07-28 there are none.
func (ses *Session) Params() json.RawMessage { return ses.now().params }

// Initialized reports whether initialize was answered with a result, and the session has not ended.
func (ses *Session) Initialized() bool { return ses != nil && ses.open.Load() }

var noTerms = new(terms)

func (ses *Session) now() *terms {
	if ses != nil {
		if t := ses.terms.Load(); t != nil {
			return t
		}
	}
	return noTerms
}

// Notify sends a notification to the client. params must encode as an object, or be nil. Since 2026-07-28 it belongs to the request, and is dropped once
// that is answered.
func (ses *Session) Notify(ctx context.Context, method string, params any) error {
	if ses == nil {
		return ErrNoSession
	}
	if c := ses.request; c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if err := ctx.Err(); err != nil {
			return err
		}
		return c.send(method, params)
	}
	peer := ses.peer()
	if peer == nil {
		return ErrNoSession
	}
	return peer.Notify(ctx, method, params)
}

// Call sends a request to the client and waits for the result, which is decoded into result. It may be called inside a closure: waiting does
// not take a place from other requests. When ctx ends the client is told. Since 2026-07-28 a server sends no requests: [ErrNoRequests].
func (ses *Session) Call(ctx context.Context, method string, params, result any) error {
	if ses != nil && ses.request != nil {
		return ErrNoRequests
	}
	peer := ses.peer()
	if peer == nil {
		return ErrNoSession
	}
	return peer.Call(ctx, method, params, result)
}

func (ses *Session) peer() Peer {
	if ses == nil || !ses.open.Load() || ses.sessionless {
		return nil
	}
	if w := ses.way.Load(); w != nil {
		return w.Peer
	}
	return nil
}

// agree notes the terms of initialize, so that the Initializer finds them.
func (ses *Session) agree(peer Peer, rev revision, params json.RawMessage) {
	t := &terms{revision: rev, params: params}
	var v [2][]byte
	if pick(params, []string{"clientInfo", "capabilities"}, v[:]) {
		t.client = readClient(v[0])
		t.capabilities = readCapabilities(v[1])
	}
	ses.way.Store(&way{peer})
	ses.terms.Store(t)
}

// readClient takes what is well formed: a client that describes itself badly is still a client.
func readClient(raw []byte) (c Implementation) {
	if !isObject(raw) {
		return c
	}
	if c, plain := plainClient(raw); plain {
		return c
	}
	if jsonrpc2.DefaultCodec.Unmarshal(raw, &c) != nil {
		c = Implementation{}
		var n [2][]byte
		if pick(raw, []string{"name", "version"}, n[:]) {
			c.Name, _ = stringValue(n[0])
			c.Version, _ = stringValue(n[1])
		}
	}
	return c
}

// plainClient reads a description of nothing but text, as nearly all are, without the reflection that a decoder does when it meets a type for the
// first time.
func plainClient(raw []byte) (c Implementation, ok bool) {
	names := []string{"name", "title", "version", "description", "websiteUrl", "icons"}
	var v [6][]byte
	if !pick(raw, names, v[:]) || v[5] != nil {
		return c, false
	}
	for i, field := range []*string{&c.Name, &c.Title, &c.Version, &c.Description, &c.WebsiteURL} {
		if v[i] == nil {
			continue
		}
		if *field, ok = stringValue(v[i]); !ok {
			return c, false
		}
	}
	return c, true
}

// readCapabilities takes what is well formed: a capability that is no object counts as absent.
func readCapabilities(raw []byte) (c ClientCapabilities) {
	if !isObject(raw) {
		return c
	}
	var v [6][]byte
	if !pick(raw, []string{"roots", "sampling", "elicitation", "experimental", "tasks", "extensions"}, v[:]) {
		return c
	}
	for i, p := range []*json.RawMessage{&c.Roots, &c.Sampling, &c.Elicitation, &c.Experimental, &c.Tasks, &c.Extensions} {
		if isObject(v[i]) {
			*p = v[i]
		}
	}
	return c
}

// begin opens the session.
func (ses *Session) begin() error {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if ses.ended != nil {
		return ses.ended
	}
	ses.open.Store(true)
	ses.server.feeds.add(&ses.feed)
	ses.keepAlive()
	return nil
}

// end closes it. The first cause stays.
func (ses *Session) end(cause error) {
	ses.mu.Lock()
	if ses.ended == nil {
		ses.ended = cause
	}
	if ses.beat != nil {
		ses.beat.Stop()
	}
	ses.mu.Unlock()
	ses.open.Store(false)
	ses.server.feeds.remove(&ses.feed)
}
