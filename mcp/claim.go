package mcp

import (
	"container/heap"
	"context"
	"errors"
	"sync"
	"time"
)

// Claimer makes sure that what a call does is done once, though a client may send the last round of it again, twice at the same time, or to another
// instance. Claim reports whether callID is claimed for the first time; it must remember it until then. An error means that nobody knows, and nothing
// is done. It is called by many goroutines at once.
type Claimer interface {
	Claim(ctx context.Context, callID string, until time.Time) (first bool, err error)
}

// ErrDone is returned by [Claim], and by a tool with SingleUse, when the call was done before.
var ErrDone = errors.New("already done")

// Claim says that what the call does is about to be done, and returns [ErrDone] if that was said before, in whatever round, by whatever copy of the
// request. It is for functions that ask and then do something that must not be done twice; call it after the last question.
func Claim(ctx context.Context) error {
	f := SessionFrom(ctx).flow(ctx)
	f.mu.Lock()
	if len(f.pending) > 0 {
		f.mu.Unlock()
		return ErrInputRequired
	}
	id, until := f.callID(), f.begun().Add(maxFlow)
	f.mu.Unlock()
	if f.server == nil {
		return nil // a call outside of a server is nobody's second one
	}
	first, err := f.server.claims.Claim(ctx, id, until)
	switch {
	case err != nil:
		return err
	case !first:
		return ErrDone
	}
	return nil
}

// MemoryClaimer is a Claimer for one process. The zero MemoryClaimer is ready to use.
type MemoryClaimer struct {
	// Max is how many claims it remembers, 0: a hundred thousand. When there is no room for another, Claim fails: to forget one would be to allow it again.
	Max int

	mu     sync.Mutex
	claims map[string]struct{}
	queue  claimQueue
}

var errClaims = errors.New("mcp: too many claims to remember")

// Claim implements [Claimer].
func (m *MemoryClaimer) Claim(_ context.Context, callID string, until time.Time) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for now := time.Now(); len(m.queue) > 0 && m.queue[0].until.Before(now); {
		delete(m.claims, heap.Pop(&m.queue).(claim).id)
	}
	if _, known := m.claims[callID]; known {
		return false, nil
	}
	most := m.Max
	if most <= 0 {
		most = 100_000
	}
	if len(m.claims) >= most {
		return false, errClaims
	}
	if m.claims == nil {
		m.claims = make(map[string]struct{})
	}
	m.claims[callID] = struct{}{}
	heap.Push(&m.queue, claim{callID, until})
	return true, nil
}

type claim struct {
	id    string
	until time.Time
}

// claimQueue is a heap, the first to be forgotten on top.
type claimQueue []claim

func (q claimQueue) Len() int           { return len(q) }
func (q claimQueue) Less(i, j int) bool { return q[i].until.Before(q[j].until) }
func (q claimQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *claimQueue) Push(x any)        { *q = append(*q, x.(claim)) }
func (q *claimQueue) Pop() any {
	old := *q
	last := old[len(old)-1]
	old[len(old)-1] = claim{}
	*q = old[:len(old)-1]
	return last
}
