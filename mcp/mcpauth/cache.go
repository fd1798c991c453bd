package mcpauth

import (
	"container/list"
	"crypto/sha256"
	"sync"
	"time"
)

// digest is the SHA-256 of a token. Caches know tokens by it, so that a dump of memory shows none.
type digest = [sha256.Size]byte

// expiring is a cache of at most size entries, each with its end. The one not used for the longest time makes room.
type expiring[V any] struct {
	size int

	mu      sync.Mutex
	entries map[digest]*list.Element
	order   list.List // of *expiringEntry[V], last used first
}

type expiringEntry[V any] struct {
	key digest
	v   V
	end time.Time
}

func newExpiring[V any](size int) *expiring[V] {
	return &expiring[V]{size: size, entries: make(map[digest]*list.Element)}
}

func (c *expiring[V]) load(key digest, now time.Time) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	el := c.entries[key]
	if el == nil {
		return v, false
	}
	e := el.Value.(*expiringEntry[V])
	if !now.Before(e.end) {
		c.remove(el)
		return v, false
	}
	c.order.MoveToFront(el)
	return e.v, true
}

func (c *expiring[V]) store(key digest, v V, end time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if el := c.entries[key]; el != nil {
		c.remove(el)
	}
	for len(c.entries) >= c.size {
		c.remove(c.order.Back())
	}
	c.entries[key] = c.order.PushFront(&expiringEntry[V]{key, v, end})
}

func (c *expiring[V]) remove(el *list.Element) {
	delete(c.entries, c.order.Remove(el).(*expiringEntry[V]).key)
}

// flights makes one of the calls that want the same at the same time.
type flights[V any] struct {
	mu  sync.Mutex
	now map[digest]*flight[V]
}

type flight[V any] struct {
	done chan struct{}
	v    V
	err  error
}

// join returns the flight for key and whether the caller must fly it, and then land it.
func (f *flights[V]) join(key digest) (*flight[V], bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fl := f.now[key]; fl != nil {
		return fl, false
	}
	if f.now == nil {
		f.now = make(map[digest]*flight[V])
	}
	fl := &flight[V]{done: make(chan struct{})}
	f.now[key] = fl
	return fl, true
}

func (f *flights[V]) land(key digest) {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.now[key].done)
	delete(f.now, key)
}
