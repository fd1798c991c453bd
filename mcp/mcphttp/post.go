package mcphttp

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
)

// post is a POST on its way through the checks. It is used again for another when this is answered.
type post struct {
	h       *Handler
	w       http.ResponseWriter
	r       *http.Request
	key     string // of the principal
	until   time.Time
	slow    slowBody
	payload []byte
	m       mcp.Message
	version string // of the header; "" if there is none, or more than one
	twice   bool   // there is more than one
	sid     string
	line    *line  // whose it is
	unit    uint64 // its number there
	lent    bool   // the payload is nobody's after the answer, unless it was taken
	handed  bool   // a goroutine of its own leaves the session
}

var posts = sync.Pool{New: func() any { return new(post) }}

// newPost returns a post. done is called when nobody looks at it any more.
func (h *Handler) newPost(w http.ResponseWriter, r *http.Request) *post {
	p := posts.Get().(*post)
	p.h, p.w, p.r = h, w, r
	return p
}

func (p *post) done() {
	if p.lent && !p.m.Taken() {
		scribble(p.payload)
		p.h.stock.put(p.payload)
	}
	*p = post{}
	posts.Put(p)
}

func (h *Handler) post(w http.ResponseWriter, r *http.Request, key string, until time.Time) {
	p := h.newPost(w, r)
	defer p.done()
	if !p.read() {
		return
	}
	p.key, p.until = key, until
	var ok bool
	if p.version, ok = single(r.Header[headerVersion]); !ok {
		p.twice = true
	}
	if v := r.Header[headerSession]; len(v) > 0 {
		if p.sid, ok = single(v); !ok {
			p.sid = "\x00" // nobody's
		}
	}
	p.dispatch()
}

// byteOrderMark may be ignored at the beginning of a text (RFC 8259 section 8.1), as it is at the beginning of other transports.
var byteOrderMark = []byte("\ufeff")

// read reads the message, or refuses it.
func (p *post) read() (ok bool) {
	h, w, r := p.h, p.w, p.r
	if !isJSON(r.Header["Content-Type"]) {
		h.refuse(w, http.StatusUnsupportedMediaType, "", invalidRequest("Content-Type must be application/json"))
		return false
	}
	if !isIdentity(r.Header["Content-Encoding"]) {
		h.refuse(w, http.StatusUnsupportedMediaType, "", invalidRequest("Content-Encoding is not supported"))
		return false
	}
	var err error
	if p.payload, err = h.readBody(w, r, &p.slow); err != nil {
		h.refuseBody(w, err)
		return false
	}
	p.payload = bytes.TrimPrefix(p.payload, byteOrderMark)
	h.inbound(p.payload)
	if p.m, err = mcp.Inspect(p.payload); err != nil {
		p.answer(http.StatusBadRequest, "", jsonrpc2.ErrParse)
		return false
	}
	return true
}

func (h *Handler) refuseBody(w http.ResponseWriter, err error) {
	status, what := http.StatusBadRequest, "the body could not be read"
	w.Header()["Connection"] = []string{"close"} // the rest of it is not read
	switch {
	case errors.Is(err, errSlow) && h.phase.Load() != open:
		h.busy(w, http.StatusServiceUnavailable, "", errShuttingDown.Message)
		return
	case errors.Is(err, errTooLarge):
		status, what = http.StatusRequestEntityTooLarge, "the body is too large"
	case errors.Is(err, errSlow):
		status, what = http.StatusRequestTimeout, "the body came too slowly"
	}
	h.refuse(w, status, "", invalidRequest(what))
}

func isModern(version string) bool { return slices.Contains(mcp.ModernVersions, version) }
func isLegacy(version string) bool { return slices.Contains(mcp.Versions, version) }

// dispatch finds the era of a message.
func (p *post) dispatch() {
	// A client whose header names a revision without sessions, and that has none, belongs to it; whoever keeps a session belongs to that.
	byHeader := p.sid == "" && isModern(p.version)
	switch {
	case p.m.Kind == jsonrpc2.KindBatch:
		p.batch(byHeader)
	case p.m.Kind == jsonrpc2.KindInvalid:
		if s := p.h.find(p.sid, p.key, false); s != nil {
			s.follow(p)
			s.broken(&p.m)
		}
		p.refuse(http.StatusBadRequest, jsonrpc2.ErrInvalidRequest)
	case p.m.Kind == jsonrpc2.KindRequest && p.m.ID.IsNull():
		if !p.m.Modern && !byHeader {
			p.answer(http.StatusBadRequest, "null", jsonrpc2.ErrInvalidRequest)
			return
		}
		p.answer(http.StatusBadRequest, "", jsonrpc2.ErrInvalidRequest)
	case p.m.Modern, byHeader, p.sid == "" && p.m.Kind == jsonrpc2.KindRequest && p.modernOnly():
		p.modern()
	default:
		p.legacy()
	}
}

// modernOnly: a probe of a new client that has left out what says so.
func (p *post) modernOnly() bool {
	return p.m.Method == "server/discover" || p.m.Method == "subscriptions/listen"
}

func (p *post) refuse(status int, e *jsonrpc2.Error) {
	id := ""
	if p.m.Kind != jsonrpc2.KindNotification && !p.m.ID.IsNull() {
		id = p.m.ID.String()
	}
	p.answer(status, id, e)
}

// answer refuses the message under an id that is not, or not always, its own.
func (p *post) answer(status int, id string, e *jsonrpc2.Error) {
	p.seen(p.h.stray())
	p.h.reply(p.w, p.line, status, appendError(nil, id, e))
}

// busy is refuse for what may be tried again.
func (p *post) busy(status int, message string) {
	p.w.Header()["Retry-After"] = retryLater
	p.refuse(status, &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: message})
}

var errResponse = invalidRequest("this revision has no requests that could be answered")

// modern serves a message of 2026-07-28 or later: no session, and what its headers say is checked against what it says itself.
func (p *post) modern() {
	h := p.h
	defer p.group()()
	switch p.m.Kind {
	case jsonrpc2.KindResponse:
		p.refuse(http.StatusBadRequest, errResponse)
		return
	case jsonrpc2.KindNotification:
		// Nothing is defined for them; to cancel is to close the request's response.
		p.notify(modern, nil)
		return
	}
	if status, err := h.modernProblem(p.r, &p.m); err != nil {
		p.refuse(status, err)
		return
	}
	x := p.exchange(modern, nil)
	x.listen = p.m.Method == "subscriptions/listen"
	if !p.acceptable(x) {
		return
	}
	x.Context, x.stop = context.WithCancelCause(p.r.Context())
	defer x.stop(nil)
	if !h.begin(x, p.key) {
		if h.phase.Load() != open {
			p.busy(http.StatusServiceUnavailable, errShuttingDown.Message)
			return
		}
		p.refuse(http.StatusOK, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "Invalid params: too many subscriptions/listen"})
		return
	}
	defer h.end(x, p.key)
	x.serve(p)
}

func (p *post) exchange(e era, s *session) *exchange {
	return &exchange{h: p.h, w: p.w, era: e, session: s, accept: parseAccept(p.r.Header["Accept"]), id: p.m.ID.String(), until: p.until, line: p.line}
}

// delivery says where the message goes.
func (p *post) delivery(e era, s *session, peer mcp.Peer) mcp.Delivery {
	d := mcp.Delivery{Message: &p.m, Revision: p.version, Peer: peer}
	switch {
	case s != nil:
		d.Session = s.mcp
	case e == modern:
		d.Revision = mcp.ModernVersions[0] // what the message says is checked behind
	}
	return d
}

// notify hands over a notification. What it leads to has no stream of its own.
func (p *post) notify(e era, s *session) {
	p.h.observed(context.WithoutCancel(p.r.Context()), p.delivery(e, s, nil), p.line, p.unit, nil)
	accepted(p.w)
}

// acceptable refuses a request whose answer the client would not take.
func (p *post) acceptable(x *exchange) bool {
	if x.accept.stream || x.accept.json && !x.listen {
		return true
	}
	p.refuse(http.StatusNotAcceptable, invalidRequest("Accept must list "+bothMedia))
	return false
}

// begin notes a modern request, so that a shutdown finds it. It reports false if it may not begin.
func (h *Handler) begin(x *exchange, key string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if x.listen {
		most := h.o.MaxListens
		if key == "" {
			most = h.o.MaxSessions
		}
		if h.phase.Load() != open || h.listens[key] >= most {
			return false
		}
		h.listens[key]++
	}
	if x.next = h.modern; x.next != nil {
		x.next.prev = x
	}
	h.modern = x
	return true
}

func (h *Handler) end(x *exchange, key string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if x.prev != nil {
		x.prev.next = x.next
	} else {
		h.modern = x.next
	}
	if x.next != nil {
		x.next.prev = x.prev
	}
	if x.listen {
		if h.listens[key]--; h.listens[key] <= 0 {
			delete(h.listens, key)
		}
	}
}

// needsNoSession reports whether a request may be served without the session it belongs to.
func needsNoSession(method string) bool {
	switch method {
	case "ping", "tools/call", "prompts/get", "resources/read", "completion/complete":
		return true
	}
	return strings.HasSuffix(method, "/list") && !strings.HasPrefix(method, "tasks/")
}
