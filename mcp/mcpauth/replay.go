package mcpauth

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Replays remembers DPoP proofs that were used. Several servers for one resource need one they share, or [DPoP.Nonce].
type Replays interface {
	// First reports whether key was not given before, and remembers it until then. Two calls at one time must not both be first. An error makes
	// the request a 503. key is a digest of the client's key and the proof's jti.
	First(ctx context.Context, key [32]byte, until time.Time) (bool, error)
}

// ErrReplaysFull is returned by the memory of [NewReplays] when it is full of proofs that are not yet too old to be used again.
var ErrReplaysFull = errors.New("mcpauth: too many DPoP proofs to remember")

const (
	defaultReplays = 1 << 20
	replayBucket   = 30 * time.Second
)

// NewReplays returns a [Replays] in memory, for at most size proofs; 0 is 1,048,576, which are about 50 MiB when it is full and enough for 3,000
// requests a second with the default window. Full, it refuses: forgetting would let through what it is there for. It is safe for concurrent use and
// needs no cleaning up.
func NewReplays(size int) Replays {
	if size <= 0 {
		size = defaultReplays
	}
	return &replays{size: size, buckets: make(map[int64]map[replayKey]struct{})}
}

// replayKey is half a digest: no two of a million will meet.
type replayKey [16]byte

// replays keeps keys in buckets by the time they end, each thrown away as a whole.
type replays struct {
	size int

	mu      sync.Mutex
	n       int
	buckets map[int64]map[replayKey]struct{}
	swept   int64 // buckets below are gone
}

// First implements [Replays].
func (m *replays) First(_ context.Context, key [32]byte, until time.Time) (bool, error) {
	k := replayKey(key[:16])
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sweep(bucketOf(time.Now()))
	for _, b := range m.buckets {
		if _, seen := b[k]; seen {
			return false, nil
		}
	}
	if m.n >= m.size {
		return false, ErrReplaysFull
	}
	at := bucketOf(until)
	if m.buckets[at] == nil {
		m.buckets[at] = make(map[replayKey]struct{})
	}
	m.buckets[at][k] = struct{}{}
	m.n++
	return true, nil
}

// sweep throws away the buckets that have ended.
func (m *replays) sweep(now int64) {
	if now <= m.swept {
		return
	}
	for at, b := range m.buckets {
		if at < now {
			m.n -= len(b)
			delete(m.buckets, at)
		}
	}
	m.swept = now
}

func bucketOf(t time.Time) int64 { return t.Unix() / int64(replayBucket/time.Second) }
