package mcphttp

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
)

// RegisterSSE serves the transport of revision 2024-11-05 beside the other, HTTP with SSE, for clients that know nothing newer: a GET of stream, "/sse" for
// one, opens a stream that lasts as long as the session, and what the client sends is POSTed to messages, "/messages" for one. Both must be paths that
// nothing else is at: clients take the first event of such a stream for the sign of this transport.
//
// Hosts, Origins, callers and limits are those of the Handler. Nothing of it is resumed.
func (h *Handler) RegisterSSE(mux *http.ServeMux, stream, messages string) {
	mux.Handle(stream, h.guarded(http.MethodGet, func(w http.ResponseWriter, r *http.Request, key string, until time.Time) {
		h.openSSE(w, r, key, until, messages)
	}))
	mux.Handle(messages, h.guarded(http.MethodPost, h.postSSE))
}

// guarded is the way of a request to f: the checks all have.
func (h *Handler) guarded(method string, f func(http.ResponseWriter, *http.Request, string, time.Time)) http.Handler {
	var inner http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.active.Add(1)
		defer h.leave()
		if h.phase.Load() == closed {
			h.busy(w, http.StatusServiceUnavailable, "", errShuttingDown.Message)
			return
		}
		key, until, ok := h.caller(w, r)
		switch {
		case !ok:
		case r.Method != method:
			h.methodNotAllowed(w, method+", OPTIONS")
		default:
			f(w, owned(r, key), key, until)
		}
	})
	if h.o.Protect != nil {
		inner = h.o.Protect(inner)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, body := follow(r)
		if r = h.admitAnywhere(w, r); r != nil {
			inner.ServeHTTP(w, r)
		}
		body.linger(w)
	})
}

// openSSE begins a session and its stream.
func (h *Handler) openSSE(w http.ResponseWriter, r *http.Request, key string, until time.Time, messages string) {
	switch {
	case len(r.Header["Accept"]) > 0 && !parseAccept(r.Header["Accept"]).stream:
		h.refuse(w, http.StatusNotAcceptable, "", invalidRequest("Accept must list "+streamMedia))
		return
	case h.phase.Load() != open:
		h.busy(w, http.StatusServiceUnavailable, "", errShuttingDown.Message)
		return
	case !h.reserve(key):
		h.busy(w, http.StatusServiceUnavailable, "", "Too many sessions")
		return
	}
	s, err := h.newSession(key)
	if err != nil {
		h.unreserve(key)
		h.report(r.Context(), err)
		h.refuse(w, http.StatusInternalServerError, "", jsonrpc2.ErrInternal)
		return
	}
	s.old = true
	s.enter(false)
	defer s.leave(false)
	if !h.add(s) {
		h.unreserve(key)
		h.busy(w, http.StatusServiceUnavailable, "", errShuttingDown.Message)
		return
	}
	o := newOutlet(w, h.o.WriteTimeout, nil)
	// A relative address has no host that a proxy could have changed.
	o.first = "event: endpoint\ndata: " + messages + "?sessionId=" + url.QueryEscape(s.id) + "\n\n"
	st := s.standalone()
	st.mu.Lock()
	st.attach(o, nil)
	st.expire(until)
	st.mu.Unlock()
	_ = o.rc.SetReadDeadline(time.Time{}) // http.Server.ReadTimeout is not for streams
	select {
	case <-o.done:
	case <-r.Context().Done():
		st.mu.Lock()
		st.detach(o)
		st.mu.Unlock()
		<-o.done
	}
	s.left.Store(true)
	h.close(s, ErrSessionEnded) // the stream is the session
}

// postSSE takes a message. Its answer goes on the stream.
func (h *Handler) postSSE(w http.ResponseWriter, r *http.Request, key string, _ time.Time) {
	var s *session
	if id := r.URL.Query()["sessionId"]; len(id) == 1 && isSessionID(id[0]) {
		s = h.find(id[0], key, true)
	}
	if s == nil {
		h.refuse(w, http.StatusNotFound, "", errNoSession)
		return
	}
	p := h.newPost(w, r)
	defer p.done()
	if !p.read() {
		return
	}
	m := p.m
	request := m.Kind == jsonrpc2.KindRequest || m.Kind == jsonrpc2.KindBatch
	s.follow(p)
	entered, full := s.enter(request)
	switch {
	case !entered:
		p.refuse(http.StatusNotFound, errNoSession)
		return
	case full:
		p.busy(http.StatusTooManyRequests, "Too many requests of this session")
		return
	}
	switch m.Kind {
	case jsonrpc2.KindResponse:
		s.answer(r.Context(), m.ID, p.payload)
		s.leave(false)
		accepted(w)
		return
	case jsonrpc2.KindNotification:
		p.notify(legacy, s)
		s.leave(false)
		return
	case jsonrpc2.KindInvalid:
		s.broken(&m)
		s.leave(false)
		p.refuse(http.StatusBadRequest, jsonrpc2.ErrInvalidRequest)
		return
	}
	// The answer to the POST is not the answer to the request, and must not wait for it: the next message may be its cancellation. That must find it,
	// so it is begun before. What changes the session is done before: it holds for the next message.
	ctx := context.WithoutCancel(r.Context())
	begun, done := make(chan struct{}), make(chan struct{})
	begin := sync.OnceFunc(func() { close(begun) })
	if changesSession(m.Method) {
		begin = func() {}
	}
	h.active.Add(1)
	line, unit := p.line, p.unit
	go func() {
		defer h.leave()
		defer s.leave(true)
		defer close(done)
		s.reply(ctx, &m, line, unit, begin)
	}()
	select {
	case <-begun:
	case <-done:
	case <-r.Context().Done():
	}
	accepted(w)
}

// changesSession reports whether a request changes what the session is told of others.
func changesSession(method string) bool {
	switch method {
	case "initialize", "logging/setLevel", "resources/subscribe", "resources/unsubscribe":
		return true
	}
	return false
}

// reply serves a request whose answer goes on the session's own stream.
func (s *session) reply(ctx context.Context, m *mcp.Message, l *line, unit uint64, begin func()) {
	out := s.h.observed(ctx, mcp.Delivery{Message: m, Session: s.mcp, Begun: begin}, l, unit, nil)
	if out == nil {
		return
	}
	if err := s.standalone().push(ctx, out); err != nil && !errors.Is(err, jsonrpc2.ErrClosed) {
		s.h.report(ctx, err)
	}
}
