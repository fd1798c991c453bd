package mcphttp

import (
	"context"
	"crypto/sha256"
	"net"
	"sync"
	"time"
)

// lines are those of clients without sessions. Whose a request is can only be guessed then: by who called, from which address, with which name. Two clients may
// be alike in all that, so requests with the same id that run at the same time are on different lines.
type lines struct {
	mu     sync.Mutex
	groups map[group][]*lane
	n      int
	none   *line // what belongs to nobody
	over   bool
}

// group is what requests of one client have in common.
type group struct {
	principal, host string
	client          [sha256.Size]byte // of its name, which may be long
}

// lane is a line with what runs on it.
type lane struct {
	line    *line
	group   group
	running map[string]struct{} // ids
	used    time.Time
}

const (
	maxLanes     = 1024 // of all groups: what comes then is nobody's
	maxGroupLane = 64   // of one
)

// nobody returns the line of what belongs to nobody. It begins when there is something.
func (t *lines) nobody(h *Handler) *line {
	t.mu.Lock()
	l := t.none
	if l != nil || t.over {
		t.mu.Unlock()
		return l
	}
	l = new(line)
	t.none = l
	l.mu.Lock() // nobody gets ahead of its beginning
	t.mu.Unlock()
	l.begin(h, "", "")
	return l
}

// take finds the lane of a message, and keeps its id from others until it is put back. nil: nobody looks, or there are too many.
func (t *lines) take(p *post) *lane {
	h := p.h
	if h.o.Session == nil {
		return nil
	}
	host, _, err := net.SplitHostPort(p.r.RemoteAddr)
	if err != nil {
		host = p.r.RemoteAddr
	}
	client, id := clientOf(&p.m), p.m.ID.String()
	g := group{p.key, host, sha256.Sum256([]byte(client))}
	t.mu.Lock()
	var found *lane
	for _, a := range t.groups[g] {
		if _, running := a.running[id]; !running || id == "" {
			found = a
			break
		}
	}
	var gone *lane
	if found == nil && len(t.groups[g]) < maxGroupLane && !t.over {
		if t.n >= maxLanes {
			gone = t.oldest()
		}
		if t.n < maxLanes {
			found = &lane{line: new(line), group: g, running: map[string]struct{}{}}
			if t.groups == nil {
				t.groups = map[group][]*lane{}
			}
			t.groups[g] = append(t.groups[g], found)
			t.n++
			found.line.mu.Lock()
		}
	}
	fresh := found != nil && found.used.IsZero()
	if found != nil {
		found.used = time.Now()
		if id != "" {
			found.running[id] = struct{}{}
		}
	}
	t.mu.Unlock()
	if gone != nil {
		gone.line.close(nil)
	}
	if fresh {
		found.line.begin(h, StatelessID, client)
		h.sweeping()
	}
	return found
}

// put gives an id back.
func (t *lines) put(a *lane, id string) {
	if a == nil || id == "" {
		return
	}
	t.mu.Lock()
	delete(a.running, id)
	a.used = time.Now()
	t.mu.Unlock()
}

// oldest takes out the lane that was idle longest, nil if none is idle. mu is held.
func (t *lines) oldest() *lane {
	var old *lane
	for _, all := range t.groups {
		for _, a := range all {
			if len(a.running) == 0 && (old == nil || a.used.Before(old.used)) {
				old = a
			}
		}
	}
	if old != nil {
		t.remove(old)
	}
	return old
}

// remove takes a lane out. mu is held.
func (t *lines) remove(a *lane) {
	all := t.groups[a.group]
	for i := range all {
		if all[i] == a {
			all = append(all[:i:i], all[i+1:]...)
			break
		}
	}
	if t.groups[a.group] = all; len(all) == 0 {
		delete(t.groups, a.group)
	}
	t.n--
}

// left reports whether there are any lanes.
func (t *lines) left() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.n > 0
}

// retire ends lanes that have been idle since before.
func (t *lines) retire(before time.Time) {
	t.mu.Lock()
	var old []*lane
	for _, all := range t.groups {
		for _, a := range all {
			if len(a.running) == 0 && a.used.Before(before) {
				old = append(old, a)
			}
		}
	}
	for _, a := range old {
		t.remove(a)
	}
	t.mu.Unlock()
	for _, a := range old {
		a.line.close(nil)
	}
}

// close ends all lines.
func (t *lines) close() {
	t.mu.Lock()
	var all []*line
	for _, g := range t.groups {
		for _, a := range g {
			all = append(all, a.line)
		}
	}
	if t.none != nil {
		all = append(all, t.none)
	}
	t.groups, t.none, t.n, t.over = nil, nil, 0, true
	t.mu.Unlock()
	for _, l := range all {
		l.close(nil)
	}
}

// group says that a message belongs to a client without session. done is called when it is answered.
func (p *post) group() (done func()) {
	if p.h.o.Session == nil {
		return nothing
	}
	a := p.h.lines.take(p)
	if a == nil {
		p.seen(p.h.stray())
		return nothing
	}
	p.seen(a.line)
	id := p.m.ID.String()
	return func() { p.h.lines.put(a, id) }
}

func nothing() {}

// gone notes it when the client goes away, where that cancels the request, until present is called.
func (x *exchange) gone(p *post) (present func()) {
	if x.line == nil || x.era != modern {
		return nothing
	}
	l, id, ctx := x.line, x.id, p.r.Context()
	stop := context.AfterFunc(ctx, func() { l.gaveUp(id) })
	return func() {
		if stop() && ctx.Err() != nil { // the function knew before
			l.gaveUp(id)
		}
	}
}

// sweeping sees to it that what is idle ends.
func (h *Handler) sweeping() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sweep == nil && h.phase.Load() == open {
		h.sweep = time.AfterFunc(h.sweepEvery(), h.sweepSessions)
	}
}
