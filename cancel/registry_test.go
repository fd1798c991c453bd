package cancel

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

func TestFirstConventionIsSpoken(t *testing.T) {
	tests := []struct {
		name  string
		build func() *Registry
		want  string // method; "" for none
	}{
		{"nil", func() *Registry { return nil }, ""},
		{"zero", func() *Registry { return new(Registry) }, ""},
		{"no convention", func() *Registry { return NewRegistry() }, ""},
		{"one", func() *Registry { return NewRegistry(Convention{Method: "a", Param: "id"}) }, "a"},
		{"first of two", func() *Registry {
			return NewRegistry(Convention{Method: "a", Param: "id"}, Convention{Method: "b", Param: "id"})
		}, "a"},
		{"added", func() *Registry {
			r := new(Registry)
			r.Add(Convention{Method: "a", Param: "id"})
			r.Add(Convention{Method: "b", Param: "id"})
			return r
		}, "a"},
		{"only listening", func() *Registry {
			r := new(Registry)
			r.OnCancel("a", "id")
			return r
		}, ""},
		{"added after listening", func() *Registry {
			r := new(Registry)
			r.OnCancel("a", "id")
			r.Add(Convention{Method: "b", Param: "id"})
			return r
		}, "b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, ok := tt.build().Spoken()
			if c.Method != tt.want || ok != (tt.want != "") {
				t.Errorf("Spoken = %q, %v; want %q", c.Method, ok, tt.want)
			}
		})
	}
}

func TestLookup(t *testing.T) {
	r := NewRegistry(Convention{Method: "notifications/cancelled", Param: "requestId", Silent: true})
	r.OnCancel("cancel", "id")
	for method, param := range map[string]string{
		"notifications/cancelled": "requestId", "cancel": "id", "Cancel": "", "cancel ": "", "": "",
	} {
		for form, lookup := range map[string]func() (*Convention, bool){
			"bytes":  func() (*Convention, bool) { return r.Lookup([]byte(method)) },
			"string": func() (*Convention, bool) { return r.LookupString(method) },
		} {
			c, ok := lookup()
			if ok != (param != "") || (c == nil) == ok {
				t.Errorf("%s %q: found %v", form, method, ok)
			}
			if ok && (c.Param != param || c.Method != method) {
				t.Errorf("%s %q: %+v", form, method, *c)
			}
		}
	}
	for _, empty := range []*Registry{nil, new(Registry)} {
		if _, ok := empty.Lookup([]byte("cancel")); ok {
			t.Error("an empty registry knows a convention")
		}
		if _, ok := empty.LookupString("cancel"); ok {
			t.Error("an empty registry knows a convention")
		}
	}
}

func TestRegistrationMistakesPanic(t *testing.T) {
	known := Convention{Method: "$/cancelRequest", Param: "id"}
	tests := []struct {
		name string
		do   func()
		want string
	}{
		{"added twice", func() { NewRegistry(known, known) }, `duplicate registration of "$/cancelRequest"`},
		{"heard twice", func() { NewRegistry(known).OnCancel("$/cancelRequest", "other") }, `duplicate registration of "$/cancelRequest"`},
		{"no method", func() { new(Registry).OnCancel("", "id") }, "without a method"},
		{"no param", func() { new(Registry).OnCancel("cancel", "") }, `"cancel" without a param`},
		{"nil registry", func() { (*Registry)(nil).OnCancel("cancel", "id") }, "nil Registry"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			defer func() {
				if text := fmt.Sprint(recover()); !strings.Contains(text, tt.want) {
					t.Errorf("panic %q does not say %q", text, tt.want)
				}
			}()
			tt.do()
		})
	}
}

// A refused registration leaves the registry as it was, and unlocked.
func TestRegistryAfterPanic(t *testing.T) {
	r := NewRegistry(Convention{Method: "a", Param: "id"})
	func() {
		defer func() { _ = recover() }()
		r.OnCancel("a", "other")
	}()
	r.OnCancel("b", "id")
	if c, ok := r.LookupString("a"); !ok || c.Param != "id" {
		t.Errorf("a is %v, %v", c, ok)
	}
	if _, ok := r.LookupString("b"); !ok {
		t.Error("b was not registered")
	}
}

func TestRegistryKeepsItsOwnCopy(t *testing.T) {
	c := Convention{Method: "a", Param: "id", Exempt: []string{"initialize"}}
	r := NewRegistry(c)
	c.Exempt[0] = "changed"
	if known, _ := r.LookupString("a"); !known.Exempts("initialize") {
		t.Error("a change by the caller reached the registry")
	}
}

func TestClone(t *testing.T) {
	base := NewRegistry(Convention{Method: "a", Param: "id"})
	clone := base.Clone()
	clone.OnCancel("b", "id")
	base.OnCancel("c", "id")
	for _, tt := range []struct {
		name   string
		r      *Registry
		method string
		want   bool
	}{
		{"base", base, "a", true}, {"base", base, "b", false}, {"base", base, "c", true},
		{"clone", clone, "a", true}, {"clone", clone, "b", true}, {"clone", clone, "c", false},
	} {
		if _, ok := tt.r.LookupString(tt.method); ok != tt.want {
			t.Errorf("%s knows %q: %v", tt.name, tt.method, ok)
		}
	}
	if c, ok := clone.Spoken(); !ok || c.Method != "a" {
		t.Errorf("clone speaks %q, %v", c.Method, ok)
	}
	empty := (*Registry)(nil).Clone()
	empty.OnCancel("x", "id")
	if _, ok := empty.LookupString("x"); !ok {
		t.Error("the clone of a nil registry is not usable")
	}
}

// Readers run beside writers: run with -race. Whatever was registered before a
// reader looked must be found, and pointers of older tables stay valid.
func TestRegistryConcurrently(t *testing.T) {
	const writers, each = 4, 50
	r := NewRegistry(Convention{Method: "first", Param: "id"})
	first, _ := r.LookupString("first")
	var writing, reading sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		reading.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if c, ok := r.Lookup([]byte("first")); !ok || c != first || c.Param != "id" {
					t.Errorf("first is %v, %v", c, ok)
					return
				}
				if c, ok := r.Spoken(); !ok || c.Method != "first" {
					t.Errorf("spoken is %q, %v", c.Method, ok)
					return
				}
			}
		})
	}
	for w := range writers {
		writing.Go(func() {
			for i := range each {
				method := fmt.Sprintf("m/%d/%d", w, i)
				if i%2 == 0 {
					r.OnCancel(method, "id")
				} else {
					r.Add(Convention{Method: method, Param: "id"})
				}
				if _, ok := r.LookupString(method); !ok {
					t.Errorf("%s not found by its writer", method)
				}
			}
		})
	}
	writing.Wait()
	close(stop)
	reading.Wait()
	for w := range writers {
		for i := range each {
			if _, ok := r.LookupString(fmt.Sprintf("m/%d/%d", w, i)); !ok {
				t.Fatalf("registration %d of writer %d was lost", i, w)
			}
		}
	}
}

func TestByPeer(t *testing.T) {
	ctx, end := context.WithCancelCause(t.Context())
	end(ByPeer{Method: "cancel", Reason: "left\nforged"})
	cause := context.Cause(ctx)
	var byPeer ByPeer
	if !errors.As(cause, &byPeer) || byPeer.Method != "cancel" {
		t.Errorf("cause is %v", cause)
	}
	if wrapped := fmt.Errorf("read: %w", cause); !errors.Is(wrapped, context.Canceled) {
		t.Error("a peer's cancel is no context.Canceled")
	}
	if errors.Is(cause, context.DeadlineExceeded) || errors.Is(cause, ErrClosing) {
		t.Error("a peer's cancel passes for another cause")
	}
	if want := `request cancelled by peer with "cancel": "left\nforged"`; cause.Error() != want {
		t.Errorf("text is %s, want %s", cause, want)
	}
	if want := `request cancelled by peer with "cancel"`; (ByPeer{Method: "cancel"}).Error() != want {
		t.Errorf("text is %s, want %s", ByPeer{Method: "cancel"}, want)
	}
}
