package mcp

import (
	"sync"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

const (
	taskBurst  = 200  // requests about tasks that one principal may send at once
	taskRate   = 100  // and then in a second
	taskOwners = 4096 // that are remembered
)

var errTaskRate = &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: "Too many requests about tasks"}

// taskRates limits how often each principal asks about tasks. Clients without one are whoever holds the other end: nobody else suffers.
type taskRates struct {
	mu     sync.Mutex
	owners map[string]*bucket
}

type bucket struct {
	left float64
	at   time.Time
}

func (r *taskRates) allow(owner string) bool {
	if owner == "" {
		return true
	}
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.owners[owner]
	if b == nil {
		if len(r.owners) >= taskOwners {
			r.forget(now)
		}
		if r.owners == nil {
			r.owners = make(map[string]*bucket)
		}
		b = &bucket{left: taskBurst}
		r.owners[owner] = b
	} else {
		b.left = min(b.left+now.Sub(b.at).Seconds()*taskRate, taskBurst)
	}
	b.at = now
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

// forget drops who has a full bucket again, or everybody if that is nobody: more than so many at the same time are not limited.
func (r *taskRates) forget(now time.Time) {
	const full = taskBurst * time.Second / taskRate
	for owner, b := range r.owners {
		if now.Sub(b.at) > full {
			delete(r.owners, owner)
		}
	}
	if len(r.owners) >= taskOwners {
		clear(r.owners)
	}
}
