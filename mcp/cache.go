package mcp

import (
	"context"
	"time"
)

// CacheHint says how long a client may keep a result, and whether it may be shown to other users (MCP 2026-07-28, caching). The zero hint is the safe
// one: not at all, and private. Clients of other revisions do not get it.
type CacheHint struct {
	TTL    time.Duration // in whole milliseconds; 0 or less: it is stale at once
	Public bool          // the same for all callers. It must not be set for what depends on who asks
}

// Caching holds the hints of the results that carry them, unless [SetCache] says otherwise.
type Caching struct {
	Discover, Tools, Prompts, Resources, Templates, Read CacheHint
}

// SetCache sets the hint of the result that the request of ctx will get, for closures whose results differ: a Reader that knows how long a resource
// lives, a Lister whose list depends on the caller. It does nothing where results carry no hints, and nothing after the closure has returned.
func SetCache(ctx context.Context, h CacheHint) {
	c := callFrom(ctx)
	if !c.modern() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.done {
		c.x.hint = &h
	}
}

// uncached says that the result must not be kept, whatever else is said: it answers a retry (MCP 2026-07-28, patterns, MRTR).
func (c *call) uncached() {
	if c.modern() {
		c.x.stale = true
	}
}

// cachedBy sets what is said for the method's results where no closure says more.
func (c *call) cachedBy(h CacheHint) {
	if c.modern() {
		c.mu.Lock()
		if c.x.hint == nil {
			c.x.hint = &h
		}
		c.mu.Unlock()
	}
}

func (x *extra) cacheHint() CacheHint {
	if x.hint == nil || x.stale {
		return CacheHint{}
	}
	return *x.hint
}
