package lsp

import (
	"context"
	"sync"
)

// seat is one of diagnoser.slots, taken by a run of Server.Diagnose that nobody asked for. A run that waits for the client lends its seat to another:
// else a client that does not answer, or asks a person, would have no document diagnosed any more once as many runs wait as there are seats.
type seat struct {
	of chan struct{}

	mu      sync.Mutex
	waiting int // calls of the client that go on
	held    bool
	left    bool
}

type seatKey struct{}

// sit waits for a seat. It returns nil if the session ends before there is one.
func (d *diagnoser) sit() *seat {
	select {
	case d.slots <- struct{}{}:
		return &seat{of: d.slots, held: true}
	case <-d.s.ctx.Done():
		return nil
	}
}

// leave gives the seat up.
func (s *seat) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left = true; s.held {
		s.held = false
		<-s.of
	}
}

// lend gives the seat of a run to others until back is called, which waits for one, unless the run is to end.
func lend(ctx context.Context) (back func()) {
	s, _ := ctx.Value(seatKey{}).(*seat)
	if s == nil {
		return func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting++; s.held {
		s.held = false
		<-s.of
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.waiting--; s.waiting > 0 || s.left {
			return
		}
		select {
		case s.of <- struct{}{}:
			s.held = true
		case <-ctx.Done():
		}
	}
}
