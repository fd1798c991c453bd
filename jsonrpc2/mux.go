package jsonrpc2

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// Mux routes messages to handlers by exact method name. Requests and notifications have tables of their own, so one name can be in both: a
// request for a name that is only a notification is "Method not found", and a notification for a name that is only a request runs nothing.
//
// Methods can be added at any time, also while connections use the Mux. Names that begin with "rpc." are not special (JSON-RPC 2.0 section 8
// reserves them for extensions of the specification).
type Mux struct {
	mu         sync.Mutex
	now        table // what is registered, under mu
	middleware []Middleware
	view       atomic.Pointer[table] // now inside the middleware, never changed once stored; nil after a change
}

// table holds the routes by name.
type table struct {
	requests, notifications map[string]*route
	fallback                *route
}

// route is one registration, with what the scheduler has learnt about it.
type route struct {
	method string
	h      Handler
	order  Order // Ordered or Concurrent; fallback notifications are Ordered all the same
	trust  *trust
}

// NewMux returns a Mux without handlers: it answers every request "Method not found" and drops notifications.
func NewMux() *Mux {
	return &Mux{now: table{requests: map[string]*route{}, notifications: map[string]*route{}}}
}

// HandleRequest registers the handler of a request method. The order, if given, overrides [Auto]. It panics if the method already has one.
func (m *Mux) HandleRequest(method string, h Handler, order ...Order) {
	m.add("request", method, h, Concurrent, order)
}

// HandleNotification registers the handler of a notification method. It panics if the method already has one.
func (m *Mux) HandleNotification(method string, h Handler, order ...Order) {
	m.add("notification", method, h, Ordered, order)
}

// Fallback sets the handler of requests and notifications that have none of their own ([Request.ID] tells them apart). Fallback requests run
// [Concurrent], fallback notifications [Ordered]. A second call replaces the first.
func (m *Mux) Fallback(h Handler) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now.fallback = &route{h: h, order: Concurrent, trust: new(trust)}
	m.view.Store(nil)
}

// Use wraps all handlers, those already registered and those to come, in the middleware, which runs inside what earlier calls gave.
func (m *Mux) Use(mw ...Middleware) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.middleware = append(m.middleware, mw...)
	m.view.Store(nil)
}

// Methods returns the names registered for requests and for notifications, each sorted.
func (m *Mux) Methods() (requests, notifications []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.now.requests)), slices.Sorted(maps.Keys(m.now.notifications))
}

func (m *Mux) add(kind, method string, h Handler, order Order, given []Order) {
	if h == nil {
		panic(fmt.Sprintf("jsonrpc2: nil handler for %s %q", kind, method))
	}
	if len(given) > 0 && given[0] != Auto {
		order = given[0]
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	routes := m.now.requests
	if kind == "notification" {
		routes = m.now.notifications
	}
	if routes[method] != nil {
		panic(fmt.Sprintf("jsonrpc2: second handler for %s %q", kind, method))
	}
	routes[method] = &route{method: method, h: h, order: order, trust: new(trust)}
	m.view.Store(nil)
}

// routes returns the table to look up in, made anew after a change.
func (m *Mux) routes() *table {
	if t := m.view.Load(); t != nil {
		return t
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	t := &table{requests: make(map[string]*route, len(m.now.requests)), notifications: make(map[string]*route, len(m.now.notifications))}
	for name, r := range m.now.requests {
		t.requests[name] = m.wrap(r)
	}
	for name, r := range m.now.notifications {
		t.notifications[name] = m.wrap(r)
	}
	if m.now.fallback != nil {
		t.fallback = m.wrap(m.now.fallback)
	}
	m.view.Store(t)
	return t
}

func (m *Mux) wrap(r *route) *route {
	w := *r
	for _, mw := range slices.Backward(m.middleware) {
		w.h = mw(w.h)
	}
	return &w
}

// route finds who handles a message; nil: nobody.
func (m *Mux) route(method []byte, request bool) *route {
	t := m.routes()
	routes := t.notifications
	if request {
		routes = t.requests
	}
	if r := routes[string(method)]; r != nil {
		return r
	}
	return t.fallback
}

// empty reports whether there is no handler at all.
func (m *Mux) empty() bool {
	t := m.routes()
	return len(t.requests) == 0 && len(t.notifications) == 0 && t.fallback == nil
}
