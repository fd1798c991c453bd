package mcp

import (
	"context"
	"sync"
	"time"
)

// List names one of the lists a server can have.
type List uint8

// The lists whose changes can be announced.
const (
	Tools List = iota
	Resources
	Prompts
	lists
)

var changedMethods = [lists]string{"notifications/tools/list_changed", "notifications/resources/list_changed", "notifications/prompts/list_changed"}

const updatedMethod = "notifications/resources/updated"

const (
	// feedPause is how long a feed is silent after it has told something: what changes meanwhile is told once.
	feedPause = 15 * time.Millisecond
	// maxSubscriptions is how many resources one session, or one subscriptions/listen, may have subscribed to.
	maxSubscriptions = 1000
)

// Changed tells all who may want to know that a list has changed (MCP list_changed), if [Server.ListChanged] promised that: sessions, and since
// 2026-07-28 who has asked for it by subscriptions/listen. It does not wait: a client gets one notification for all the changes made until it
// could be sent, and at most one in 15 ms.
func (s *Server) Changed(l List) {
	if !s.ListChanged || l >= lists {
		return
	}
	s.feeds.each(func(f *feed) { f.change(l) })
}

// Updated tells who has subscribed to a resource that it can be read anew (MCP resources, subscriptions), if [Server.Subscriber] is set: sessions that
// sent resources/subscribe, and since 2026-07-28 who has named the URI to subscriptions/listen. It does not wait, as Changed.
func (s *Server) Updated(uri string) {
	if s.Subscriber == nil {
		return
	}
	s.feeds.each(func(f *feed) { f.update(uri) })
}

// feeds are those of a server who are told of changes.
type feeds struct {
	mu     sync.Mutex
	all    map[*feed]struct{}
	closed bool
}

func (s *feeds) add(f *feed) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed && f.listen {
		return false
	}
	if s.all == nil {
		s.all = make(map[*feed]struct{})
	}
	s.all[f] = struct{}{}
	return true
}

func (s *feeds) remove(f *feed) {
	s.mu.Lock()
	delete(s.all, f)
	s.mu.Unlock()
	f.close()
}

func (s *feeds) each(do func(*feed)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for f := range s.all {
		do(f)
	}
}

// feed is one who is told of changes: a legacy session, or a subscriptions/listen. The zero feed of a session wants all lists and no resource. While
// nothing changes it is no goroutine and no timer.
type feed struct {
	listen bool // of a subscriptions/listen
	send   func(method, uri string)
	over   func() // ends a listen

	mu     sync.Mutex
	wants  [lists]bool         // of a listen
	uris   map[string]struct{} // subscribed
	lists  [lists]bool         // to be told
	dirty  map[string]struct{} // to be told
	held   bool                // something else comes first: the acknowledgement
	busy   bool                // being told, or in the pause after that
	closed bool
	pause  *time.Timer
}

func (f *feed) change(l List) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.listen && !f.wants[l] {
		return
	}
	f.lists[l] = true
	f.wake()
}

func (f *feed) update(uri string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.uris[uri]; !ok {
		return
	}
	if f.dirty == nil {
		f.dirty = make(map[string]struct{})
	}
	f.dirty[uri] = struct{}{}
	f.wake()
}

// wake starts telling. mu is held.
func (f *feed) wake() {
	if f.busy || f.closed || f.held || f.lists == [lists]bool{} && len(f.dirty) == 0 {
		return
	}
	f.busy = true
	go f.tell()
}

// release tells what has changed before it was called.
func (f *feed) release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held = false
	f.wake()
}

// tell sends what there is, and begins the pause.
func (f *feed) tell() {
	f.mu.Lock()
	changed, dirty := f.lists, f.dirty
	f.lists, f.dirty = [lists]bool{}, nil
	f.mu.Unlock()
	for l, yes := range changed {
		if yes {
			f.send(changedMethods[l], "")
		}
	}
	for uri := range dirty {
		f.mu.Lock()
		_, still := f.uris[uri]
		f.mu.Unlock()
		if still {
			f.send(updatedMethod, uri)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.pause = time.AfterFunc(feedPause, f.rested)
	}
}

func (f *feed) rested() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.busy, f.pause = false, nil
	f.wake()
}

func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.uris, f.dirty = nil, nil
	if f.pause != nil {
		f.pause.Stop()
	}
}

// subscribe notes a URI. It reports false if there are too many.
func (f *feed) subscribe(uri string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.uris[uri]; !ok && len(f.uris) >= maxSubscriptions {
		return false
	}
	if f.uris == nil {
		f.uris = make(map[string]struct{})
	}
	f.uris[uri] = struct{}{}
	return true
}

func (f *feed) unsubscribe(uri string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.uris, uri)
	if len(f.uris) == 0 {
		f.uris = nil
	}
}

// tell sends a session what its feed has to say. The connection ends the wait when it closes; nobody is left to be told then.
func (ses *Session) tell(method, uri string) {
	var params any
	if uri != "" {
		params = updatedParams(uri)
	}
	var err error
	defer ses.server.caught(context.Background(), &err) // it is a goroutine's of ours, and the host's Peer may be anything
	err = ses.Notify(context.Background(), method, params)
}

func updatedParams(uri string) encoded {
	return append(appendString([]byte(`{"uri":`), uri), '}')
}
