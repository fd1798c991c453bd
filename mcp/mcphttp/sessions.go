package mcphttp

import (
	"crypto/rand"
	"encoding/base64"
	"strconv"
	"time"
)

// evictable is how long a session must have been idle to make place for another.
const evictable = time.Minute

// newID is 128 random bits (MCP transports, session ids: unguessable, visible ASCII).
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// isSessionID: 0x21 to 0x7E, and not endless.
func isSessionID(s string) bool {
	for i := range len(s) {
		if s[i] < 0x21 || s[i] > 0x7E {
			return false
		}
	}
	return s != "" && len(s) <= 128
}

// streamName is different for all streams of the handler, so that the id of an event says whose it is.
func (h *Handler) streamName() string { return strconv.FormatUint(h.names.Add(1), 36) }

// reserve takes a place for a session of a principal, making one if need be. Who got it gives it back or fills it.
func (h *Handler) reserve(principal string) bool {
	h.mu.Lock()
	var victims []*session
	ok := true
	if principal != "" && h.principals[principal] >= h.o.MaxPerCaller {
		ok = h.evict(principal, &victims)
	}
	if ok && len(h.sessions)+h.reserved >= h.o.MaxSessions {
		ok = h.evict("", &victims)
	}
	if ok {
		h.reserved++
		if principal != "" {
			h.principals[principal]++
		}
	}
	h.mu.Unlock()
	for _, s := range victims {
		s.shut(ErrSessionEnded)
	}
	return ok
}

// evict takes out the session that has been idle longest, of one principal or of all, if that is long enough. It looks at all of them, but for
// strangers not again before another can have been idle that long. mu is held.
func (h *Handler) evict(principal string, victims *[]*session) bool {
	now := time.Now()
	if principal == "" && now.Before(h.noVictim) {
		return false
	}
	var victim *session
	var since time.Time
	for _, s := range h.sessions {
		if principal != "" && s.principal != principal {
			continue
		}
		if t, ok := s.idle(); ok && (victim == nil || t.Before(since)) {
			victim, since = s, t
		}
	}
	if victim != nil && victim.expire(now.Add(-evictable), ErrSessionEnded) {
		h.remove(victim)
		*victims = append(*victims, victim)
		return true
	}
	if principal == "" {
		h.noVictim = now.Add(evictable)
		if victim != nil {
			h.noVictim = since.Add(evictable)
		}
	}
	return false
}

// unreserve gives a place back.
func (h *Handler) unreserve(principal string) {
	h.mu.Lock()
	h.reserved--
	h.forgetPrincipal(principal)
	h.mu.Unlock()
}

// add fills a place. It reports false when the handler is shutting down.
func (h *Handler) add(s *session) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.phase.Load() != open {
		return false
	}
	h.reserved--
	h.sessions[s.id] = s
	h.relief.came(len(h.sessions))
	if h.sweep == nil {
		h.sweep = time.AfterFunc(h.sweepEvery(), h.sweepSessions)
	}
	return true
}

// remove takes a session out of the table. mu is held.
func (h *Handler) remove(s *session) bool {
	if h.sessions[s.id] != s {
		return false
	}
	delete(h.sessions, s.id)
	h.relief.went(len(h.sessions))
	h.forgetPrincipal(s.principal)
	return true
}

func (h *Handler) forgetPrincipal(principal string) {
	if principal == "" {
		return
	}
	if h.principals[principal]--; h.principals[principal] <= 0 {
		delete(h.principals, principal)
	}
}

// find returns the session of a principal; that of another is as one that is not there.
func (h *Handler) find(id, principal string, old bool) *session {
	h.mu.RLock()
	s := h.sessions[id]
	h.mu.RUnlock()
	if s == nil || s.principal != principal || s.old != old {
		return nil
	}
	return s
}

// close ends a session, once.
func (h *Handler) close(s *session, cause error) bool {
	h.mu.Lock()
	ok := h.remove(s)
	h.mu.Unlock()
	return ok && s.end(cause)
}

// Sessions returns how many sessions there are.
func (h *Handler) Sessions() int {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return len(h.sessions)
}

func (h *Handler) sweepEvery() time.Duration {
	return min(max(h.o.SessionTimeout/4, 50*time.Millisecond), time.Minute)
}

// sweepSessions ends sessions that are idle, or are, too long, and forgets streams that are over.
func (h *Handler) sweepSessions() {
	now := time.Now()
	h.lines.retire(now.Add(-h.o.SessionTimeout))
	var ends []*session
	old := make(map[*session][]*stream)
	h.mu.Lock()
	for _, s := range h.sessions {
		if s.expire(now.Add(-h.o.SessionTimeout), ErrSessionEnded) || h.o.MaxSessionAge > 0 && now.Sub(s.born) >= h.o.MaxSessionAge && s.mark(ErrSessionEnded) {
			h.remove(s)
			ends = append(ends, s)
			continue
		}
		s.mu.Lock()
		if streams := s.outdated(now.Add(-streamKept)); streams != nil {
			old[s] = streams
		}
		s.mu.Unlock()
	}
	switch {
	case h.sweep == nil: // shut down
	case len(h.sessions) == 0 && !h.lines.left():
		h.sweep = nil
	default:
		h.sweep.Reset(h.sweepEvery())
	}
	h.mu.Unlock()
	for s, streams := range old {
		s.discard(streams)
	}
	for _, s := range ends {
		s.shut(ErrSessionEnded)
	}
}
