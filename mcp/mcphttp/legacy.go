package mcphttp

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
)

var (
	errMissingSession = invalidRequest("Missing Mcp-Session-Id")
	errNoSession      = &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "Session not found"}
)

// spoken looks at the revisions the server speaks: whether there are any with initialize, and the error for those that are not among them.
func (h *Handler) spoken() {
	all := append(append([]string(nil), mcp.ModernVersions...), mcp.Versions...)
	all = slices.DeleteFunc(all, func(v string) bool { return !h.server.Speaks(v) })
	h.legacy = slices.ContainsFunc(all, isLegacy)
	h.errVersion = (&jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "Unsupported protocol version"}).WithData(struct {
		Supported []string `json:"supported"`
	}{all})
}

// isLegacy reports whether a version is one with initialize that is spoken.
func (h *Handler) isLegacy(version string) bool { return isLegacy(version) && h.server.Speaks(version) }

// silentVersion is the revision of clients that do not say theirs (MCP 2025-06-18 transports).
const silentVersion = "2025-03-26"

// legacy serves a message of a revision with initialize.
func (p *post) legacy() {
	h := p.h
	if !p.checkVersion() {
		return
	}
	if p.m.Kind == jsonrpc2.KindRequest && p.m.Method == "initialize" && !h.o.Stateless {
		p.initialize()
		return
	}
	s := p.findSession()
	if s == nil {
		return
	}
	if s == nobody {
		p.withoutSession()
		return
	}
	s.follow(p)
	request := p.m.Kind == jsonrpc2.KindRequest
	ok, full := s.enter(request)
	switch {
	case !ok:
		p.refuse(http.StatusNotFound, errNoSession)
		return
	case full:
		p.busy(http.StatusTooManyRequests, "Too many requests of this session")
		return
	}
	defer func() {
		if !p.handed {
			s.leave(request)
		}
	}()
	if p.version != "" && p.version != s.mcp.Revision() {
		s.oddVersion(p.r.Context(), p.version)
	}
	switch p.m.Kind {
	case jsonrpc2.KindResponse:
		s.answer(p.r.Context(), p.m.ID, p.payload)
		accepted(p.w)
	case jsonrpc2.KindNotification:
		p.notify(legacy, s)
	default:
		p.request(s)
	}
}

// request serves a request or a batch in a session. To disconnect is not to cancel; the session ends what runs when it ends.
func (p *post) request(s *session) {
	x := p.exchange(legacy, s)
	if !p.acceptable(x) {
		return
	}
	x.Context = p.r.Context()
	x.serve(p)
}

// checkVersion looks at the version header, where there is one.
func (p *post) checkVersion() bool {
	if !p.twice && (p.version == "" && p.h.legacy || p.h.isLegacy(p.version)) {
		return true
	}
	p.refuse(http.StatusBadRequest, p.h.errVersion)
	return false
}

// nobody stands for serving without a session.
var nobody = new(session)

// findSession finds the session of a message, or nobody; nil: it was refused.
func (p *post) findSession() *session {
	h := p.h
	switch {
	case h.o.Stateless:
		return nobody
	case p.sid == "":
		return p.leniently(http.StatusBadRequest, errMissingSession, !h.o.RequireSession)
	}
	if isSessionID(p.sid) {
		if s := h.find(p.sid, p.key, false); s != nil {
			return s
		}
	}
	return p.leniently(http.StatusNotFound, errNoSession, h.o.AdoptUnknownSessions)
}

func (p *post) leniently(status int, e *jsonrpc2.Error, lenient bool) *session {
	if lenient && (p.m.Kind != jsonrpc2.KindRequest || needsNoSession(p.m.Method)) {
		return nobody
	}
	p.refuse(status, e)
	return nil
}

// withoutSession serves one message of a client that has no session.
func (p *post) withoutSession() {
	h := p.h
	if p.version == "" {
		p.version = silentVersion
	}
	defer p.group()()
	switch p.m.Kind {
	case jsonrpc2.KindResponse:
		h.report(p.r.Context(), errStray)
		accepted(p.w)
		return
	case jsonrpc2.KindNotification:
		p.notify(sessionless, nil)
		return
	}
	x := p.exchange(sessionless, nil)
	if !p.acceptable(x) {
		return
	}
	x.Context = joined{p.r.Context(), h.base}
	x.serve(p)
}

// joined has the values of a request and ends with the handler.
type joined struct {
	values context.Context
	context.Context
}

// Value asks base first: package context finds what it needs to end children of it there.
func (j joined) Value(key any) any {
	if v := j.Context.Value(key); v != nil {
		return v
	}
	return j.values.Value(key)
}

// initialize begins a session. An id the client still has of another is of no interest.
func (p *post) initialize() {
	h := p.h
	if h.phase.Load() != open {
		p.busy(http.StatusServiceUnavailable, errShuttingDown.Message)
		return
	}
	if !h.reserve(p.key) {
		p.busy(http.StatusServiceUnavailable, "Too many sessions")
		return
	}
	s, err := h.newSession(p.key)
	if err != nil {
		h.unreserve(p.key)
		h.report(p.r.Context(), err)
		p.refuse(http.StatusInternalServerError, jsonrpc2.ErrInternal)
		return
	}
	s.enter(true)
	defer s.leave(true)
	x := p.exchange(legacy, s)
	if !p.acceptable(x) {
		h.unreserve(p.key)
		return
	}
	s.follow(p)
	x.line = p.line
	x.Context = p.r.Context()
	// The id of the session goes into the headers, and is only good once the answer is there: nothing may be sent before.
	stream := x.accept.stream
	x.accept.stream = false
	out := h.observed(x, p.delivery(legacy, s, nil), p.line, p.unit, nil)
	x.accept.stream = stream
	switch {
	case !s.mcp.Initialized():
		h.unreserve(p.key)
		s.left.Store(true)
		s.end(ErrSessionEnded)
	case !h.add(s):
		h.unreserve(p.key)
		s.end(cancel.ErrClosing)
		out = appendError(nil, x.id, errShuttingDown)
	default:
		p.w.Header()[headerSession] = []string{s.id}
	}
	x.finish(out)
}

func (h *Handler) newSession(key string) (*session, error) {
	s := &session{h: h, id: newID(), principal: key, born: time.Now()}
	var err error
	s.mcp, err = h.server.NewSession(s)
	return s, err
}

// oddVersion reports, once, that a client's header says something else than was agreed on. It is served as agreed.
func (s *session) oddVersion(ctx context.Context, version string) {
	s.mu.Lock()
	first := !s.odd
	s.odd = true
	s.mu.Unlock()
	if first {
		s.h.report(ctx, fmt.Errorf("mcphttp: a session of revision %s gets messages that say %s", s.mcp.Revision(), quote(version)))
	}
}
