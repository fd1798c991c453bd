package cancel

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// Registry holds the conventions of a connection. Reading is lock-free and may
// go on while another goroutine adds a convention: every change publishes a new
// immutable table.
//
// The zero Registry is empty and ready to use. A nil *Registry is a valid
// registry for reading that has no convention; adding to it panics. A Registry
// must not be copied after first use, see [Registry.Clone].
type Registry struct {
	mu    sync.Mutex // held by writers only, so that none is lost
	table atomic.Pointer[table]
}

// table is never changed once published. Conventions are stored one by one, so
// that pointers handed out by an older table stay good for ever.
type table struct {
	spoken   *Convention // nil: none
	byMethod map[string]*Convention
}

// NewRegistry returns a registry with the given conventions. The first is the
// one spoken. It panics where [Registry.Add] would.
func NewRegistry(cs ...Convention) *Registry {
	r := new(Registry)
	for _, c := range cs {
		r.Add(c)
	}
	return r
}

// Add registers a convention in both directions: its notification is listened
// to, and if no convention was added before, it is the one that is spoken.
// Conventions registered by [Registry.OnCancel] do not count for that.
//
// Registrations belong to start-up, so mistakes panic: a method that is already
// registered, an empty Method, an empty Param.
func (r *Registry) Add(c Convention) { r.add(c, true) }

// OnCancel listens to notifications of the given method and takes the id of the
// request to cancel from the named member of their params. The handler of the
// cancelled request chooses the answer. OnCancel never sends: to speak a
// convention, give it to [NewRegistry] or [Registry.Add].
//
// It panics where Add would. It may be called while the connection runs and
// holds for every notification read afterwards.
func (r *Registry) OnCancel(method, param string) {
	r.add(Convention{Method: method, Param: param}, false)
}

func (r *Registry) add(c Convention, speak bool) {
	switch {
	case r == nil:
		panic("cancel: registration on a nil Registry")
	case c.Method == "":
		panic("cancel: convention without a method")
	case c.Param == "":
		panic(fmt.Sprintf("cancel: convention %q without a param", c.Method))
	}
	c.Exempt = slices.Clone(c.Exempt)

	r.mu.Lock()
	defer r.mu.Unlock()
	next := &table{byMethod: make(map[string]*Convention)}
	if old := r.table.Load(); old != nil {
		next.spoken = old.spoken
		for method, known := range old.byMethod {
			next.byMethod[method] = known
		}
	}
	if _, taken := next.byMethod[c.Method]; taken {
		panic(fmt.Sprintf("cancel: duplicate registration of %q", c.Method))
	}
	next.byMethod[c.Method] = &c
	if speak && next.spoken == nil {
		next.spoken = &c
	}
	r.table.Store(next)
}

// Lookup finds the convention whose notification has that method. The result
// is shared by all callers and must not be changed. It does not allocate.
func (r *Registry) Lookup(method []byte) (*Convention, bool) {
	if r == nil {
		return nil, false
	}
	t := r.table.Load()
	if t == nil {
		return nil, false
	}
	c, ok := t.byMethod[string(method)]
	return c, ok
}

// LookupString is [Registry.Lookup] for a method that is a string.
func (r *Registry) LookupString(method string) (*Convention, bool) {
	if r == nil {
		return nil, false
	}
	t := r.table.Load()
	if t == nil {
		return nil, false
	}
	c, ok := t.byMethod[method]
	return c, ok
}

// Spoken returns the convention this side uses to cancel its own requests, and
// false if there is none: then a caller that gives up tells the peer nothing.
// The Exempt list of the result is shared and must not be changed.
func (r *Registry) Spoken() (Convention, bool) {
	if r == nil {
		return Convention{}, false
	}
	t := r.table.Load()
	if t == nil || t.spoken == nil {
		return Convention{}, false
	}
	return *t.spoken, true
}

// Clone returns a registry with the same conventions. Later additions to one do
// not show in the other, which lets connections share a set of conventions and
// still add their own. A nil Registry gives an empty one.
func (r *Registry) Clone() *Registry {
	clone := new(Registry)
	if r != nil {
		clone.table.Store(r.table.Load())
	}
	return clone
}
