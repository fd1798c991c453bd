package mcphttp

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
)

// session is a client of a revision with initialize. While it does nothing it is no goroutine and no timer.
type session struct {
	h         *Handler
	id        string
	principal string
	old       bool // of the transport of 2024-11-05: all it gets goes on one stream
	mcp       *mcp.Session
	born      time.Time
	used      atomic.Int64 // when its last request ended, as Unix nanoseconds
	line      atomic.Pointer[line]
	left      atomic.Bool // the client has ended it

	mu      sync.Mutex
	ended   error
	active  int // requests that run, and streams that are open
	running int // requests of those
	odd     bool
	own     *stream   // nil until there is one
	streams []*stream // with ids: those that run, and those that are over and may be taken up
	asks    map[int64]*ask
	asked   int64 // the last id used
}

// enter begins a request; a session that has ended lets none in. It is left with leave.
func (s *session) enter(request bool) (ok, full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended != nil {
		return false, false
	}
	if request {
		if s.running >= s.h.o.MaxRequests {
			return true, true
		}
		s.running++
	}
	s.active++
	return true, false
}

func (s *session) leave(request bool) {
	now := time.Now().UnixNano()
	s.used.Store(now)
	s.mu.Lock()
	s.active--
	if request {
		s.running--
	}
	ended := s.ended
	if s.active > 0 {
		ended = nil
	}
	s.mu.Unlock()
	if ended != nil {
		s.unfollow(ended)
	}
}

// idle reports since when the session has had neither request nor stream; false if it has.
func (s *session) idle() (since time.Time, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Unix(0, s.used.Load()), s.active == 0 && s.ended == nil
}

// expire ends the session if it has been idle since before. It has ended then, for whoever comes next, and is to be shut.
func (s *session) expire(before time.Time, cause error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active > 0 || s.ended != nil || s.used.Load() > before.UnixNano() {
		return false
	}
	s.ended = cause
	return true
}

// mark ends the session, whatever it does.
func (s *session) mark(cause error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended != nil {
		return false
	}
	s.ended = cause
	return true
}

// end ends the session. Whoever calls has taken it out of the table. It reports false if it had ended.
func (s *session) end(cause error) bool {
	if !s.mark(cause) {
		return false
	}
	s.shut(cause)
	return true
}

// shut is what follows the end: what runs is cancelled with cause, what is open is closed.
func (s *session) shut(cause error) {
	s.mu.Lock()
	streams, own, asks, idle := s.streams, s.own, s.asks, s.active == 0
	s.streams, s.asks = nil, nil
	s.mu.Unlock()
	if idle {
		defer s.unfollow(cause)
	}
	s.mcp.Close(cause)
	for _, a := range asks {
		a.settle(nil, fmt.Errorf("%w: %w", jsonrpc2.ErrClosed, cause))
	}
	if own != nil {
		own.end(true, 0)
	}
	for _, st := range streams {
		st.mu.Lock()
		over := st.over
		st.mu.Unlock()
		if over {
			st.end(true, 0) // a client that has taken it up; the others end with their answers
		}
	}
	if s.h.o.Events != nil && (len(streams) > 0 || own != nil) {
		if err := s.h.forget(s.id, ""); err != nil {
			s.h.report(context.Background(), fmt.Errorf("mcphttp: event store: %w", err))
		}
	}
}

// keeps reports whether the session's streams have ids.
func (s *session) keeps() bool { return s.h.o.Events != nil && !s.old }

// primes reports whether streams begin with an event that has nothing but an id. Clients of earlier revisions would take it for a message.
func (s *session) primes() bool { return s.keeps() && s.mcp.Revision() >= "2025-11-25" }

// standalone returns the stream of the session itself.
func (s *session) standalone() *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.own == nil {
		s.own = &stream{h: s.h, session: s, own: true, over: s.ended != nil}
		if s.keeps() {
			s.own.name = s.h.streamName()
		}
	}
	return s.own
}

// open makes the stream of a request.
func (s *session) open() *stream {
	st := &stream{h: s.h, session: s}
	if !s.keeps() {
		st.gone = func() { s.streamLost(st) }
		return st
	}
	st.name = s.h.streamName()
	s.mu.Lock()
	if s.ended == nil {
		s.streams = append(s.streams, st)
	}
	s.mu.Unlock()
	return st
}

// streamKept is how long a stream that is over is kept for a client that did not get the end of it.
const streamKept = time.Minute

// retire forgets streams that are over: those that ended before a time, and the oldest of more than are kept.
func (s *session) retire(before time.Time) {
	s.mu.Lock()
	old := s.outdated(before)
	s.mu.Unlock()
	s.discard(old)
}

// outdated takes out the streams that retire forgets. mu is held.
func (s *session) outdated(before time.Time) (old []*stream) {
	over := 0
	for i := len(s.streams) - 1; i >= 0; i-- { // the latest first
		st := s.streams[i]
		st.mu.Lock()
		if st.over && st.out == nil {
			if over++; over > s.h.o.MaxStreams || st.ended.Before(before) {
				old = append(old, st)
			}
		}
		st.mu.Unlock()
	}
	if len(old) > 0 {
		s.streams = slices.DeleteFunc(s.streams, func(st *stream) bool { return slices.Contains(old, st) })
		if len(s.streams) == 0 {
			s.streams = nil
		}
	}
	return old
}

// discard has the store forget streams.
func (s *session) discard(old []*stream) {
	for _, st := range old {
		if err := s.h.forget(s.id, st.name); err != nil {
			s.h.report(context.Background(), fmt.Errorf("mcphttp: event store: %w", err))
		}
	}
}

// stream finds a stream by name.
func (s *session) stream(name string) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.own != nil && s.own.name == name {
		return s.own
	}
	for _, st := range s.streams {
		if st.name == name {
			return st
		}
	}
	return nil
}

// Notify implements mcp.Peer: a notification goes on the stream of the request it belongs to, else on the session's.
func (s *session) Notify(ctx context.Context, method string, params any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m, err := encodeMessage(0, method, params)
	if err != nil {
		return err
	}
	_, err = s.send(ctx, m)
	return err
}

// send puts a message on the stream ctx leads to.
func (s *session) send(ctx context.Context, m []byte) (*stream, error) {
	if x := exchangeFrom(ctx); x != nil && x.session == s {
		st, err := x.streamFor(false)
		switch {
		case err != nil:
			return nil, err
		case st != nil:
			return st, st.push(ctx, m)
		}
		// The request is answered, and what goes on in its name is the session's.
	}
	st := s.standalone()
	return st, st.push(ctx, m)
}
