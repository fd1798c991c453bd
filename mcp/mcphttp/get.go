package mcphttp

import (
	"net/http"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

var errEventID = invalidRequest("unknown event id")

// target finds the session a GET or DELETE is about, or refuses it.
func (h *Handler) target(w http.ResponseWriter, r *http.Request, key string) *session {
	version, one := single(r.Header[headerVersion])
	if h.o.Stateless || !h.legacy || isModern(version) {
		h.methodNotAllowed(w, postMethods)
		return nil
	}
	if r.Method == http.MethodGet && len(r.Header["Accept"]) > 0 && !parseAccept(r.Header["Accept"]).stream {
		h.refuse(w, http.StatusNotAcceptable, "", invalidRequest("Accept must list "+streamMedia))
		return nil
	}
	if !one || version != "" && !h.isLegacy(version) {
		h.refuse(w, http.StatusBadRequest, "", h.errVersion)
		return nil
	}
	sid, one := single(r.Header[headerSession])
	if sid == "" && one {
		h.refuse(w, http.StatusBadRequest, "", errMissingSession)
		return nil
	}
	if one && isSessionID(sid) {
		if s := h.find(sid, key, false); s != nil {
			return s
		}
	}
	h.refuse(w, http.StatusNotFound, "", errNoSession)
	return nil
}

// get opens the stream of a session, or takes up one that broke (MCP streamable HTTP, listening for messages; resumability).
func (h *Handler) get(w http.ResponseWriter, r *http.Request, key string, until time.Time) {
	s := h.target(w, r, key)
	if s == nil {
		return
	}
	if h.phase.Load() != open {
		h.busy(w, http.StatusServiceUnavailable, "", errShuttingDown.Message)
		return
	}
	if ok, _ := s.enter(false); !ok {
		h.refuse(w, http.StatusNotFound, "", errNoSession)
		return
	}
	defer s.leave(false)
	last, one := single(r.Header[headerLast])
	if !one {
		h.refuse(w, http.StatusBadRequest, "", errEventID)
		return
	}
	o := newOutlet(w, h.o.WriteTimeout, nil)
	o.first = comment // some proxies hold the headers back until there is a body
	st := s.standalone()
	if last == "" || !s.keeps() {
		if s.primes() {
			st.mu.Lock()
			o.first += string(appendPriming(nil, st.name, st.behind(), h.o.Retry))
		} else {
			st.mu.Lock()
		}
		st.attach(o, nil)
	} else {
		var err *jsonrpc2.Error
		if st, err = s.resume(r, last, o); err != nil {
			h.refuse(w, http.StatusBadRequest, "", err)
			return
		}
	}
	st.expire(until)
	if st.over {
		st.leave = true
	}
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
	if !st.own {
		s.retire(time.Time{})
	}
}

// behind is the number of the last event that a client which takes the stream up now will not get. mu is held.
func (s *stream) behind() uint64 { return s.seq - min(s.seq, uint64(len(s.queue))) }

// resume attaches o to the stream that the id of an event names, behind that event. The stream is returned locked.
func (s *session) resume(r *http.Request, last string, o *outlet) (*stream, *jsonrpc2.Error) {
	name, seq, ok := parseEventID(last)
	if !ok {
		return nil, errEventID
	}
	st := s.stream(name)
	if st == nil {
		return nil, errEventID
	}
	st.mu.Lock()
	if seq > st.seq {
		st.mu.Unlock()
		return nil, errEventID
	}
	events, err := s.h.kept(r.Context(), s.id, name, seq)
	if err != nil || uint64(len(events)) != st.seq-seq {
		st.mu.Unlock()
		if err != nil {
			s.h.report(r.Context(), err)
		}
		return nil, errEventID
	}
	if events == nil {
		events = [][]byte{}
	}
	st.attach(o, events)
	return st, nil
}

// delete ends a session (MCP streamable HTTP, session management).
func (h *Handler) delete(w http.ResponseWriter, r *http.Request, key string) {
	s := h.target(w, r, key)
	if s == nil {
		return
	}
	s.left.Store(true)
	if !h.close(s, ErrSessionEnded) {
		h.refuse(w, http.StatusNotFound, "", errNoSession)
		return
	}
	w.WriteHeader(http.StatusOK)
}
