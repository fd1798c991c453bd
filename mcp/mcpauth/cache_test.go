package mcpauth

import (
	"testing"
	"time"
)

func TestExpiring(t *testing.T) {
	now := time.Now()
	c := newExpiring[string](2)
	has := func(key byte, at time.Time, want string) {
		t.Helper()
		if v, ok := c.load(digest{key}, at); v != want || ok != (want != "") {
			t.Errorf("%c: %q %v, want %q", key, v, ok, want)
		}
	}
	c.store(digest{'a'}, "A", now.Add(time.Minute))
	c.store(digest{'b'}, "B", now.Add(time.Hour))
	has('a', now, "A") // used last, so b makes room
	c.store(digest{'c'}, "C", now.Add(time.Hour))
	has('b', now, "")
	has('a', now, "A")
	has('c', now, "C")
	has('a', now.Add(time.Minute), "")
	has('a', now, "") // gone for good
	c.store(digest{'c'}, "C2", now.Add(time.Hour))
	has('c', now, "C2")
	if len(c.entries) != 1 || c.order.Len() != 1 {
		t.Errorf("%d entries, %d in order", len(c.entries), c.order.Len())
	}
}
