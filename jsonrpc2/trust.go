package jsonrpc2

import (
	"sync/atomic"
	"time"
)

// trust is what is known of a method's run times. The goroutine that reads runs a handler itself only when the method has earned that, by runs on
// workers that were quick; one slow run costs several quick ones, and a run during which the reader had to be replaced costs many.
type trust struct {
	score atomic.Int32
	fine  atomic.Int32 // of the next stall
}

const (
	quick       = 50 * time.Microsecond // a run within it is quick
	trustEarned = 8                     // the score that lets a method run on the reader
	trustKnown  = 32                    // the score at which asking for ctx.Done is not taken for waiting
	trustMost   = 64
	slowRun     = 16
	firstFine   = 64
	lastFine    = 1 << 16
)

func (t *trust) earned() bool    { return t.score.Load() >= trustEarned }
func (t *trust) wellKnown() bool { return t.score.Load() >= trustKnown }

// ran notes a run's time. Scores are approximate: a lost update does no harm.
func (t *trust) ran(d time.Duration) {
	s := t.score.Load()
	switch {
	case d > quick:
		if s > -slowRun {
			t.score.Store(max(s-slowRun, -slowRun))
		}
	case s < trustMost:
		t.score.Store(s + 1)
	}
}

// stalled notes that a handler held the reader up.
func (t *trust) stalled() {
	fine := t.fine.Load()
	t.score.Store(-fine)
	t.fine.Store(min(max(2*fine, firstFine), lastFine))
}
