package notes

import "slices"

// A top keeps the best of what it is offered, those that come first in the order
// of compare. It lets the list grow to twice the limit and then cuts it, which
// costs less than sorting everything.
type top[T any] struct {
	limit   int
	compare func(a, b T) int
	list    []T
	cut     bool // there were more than the limit, and the last of the list is the worst that counts
}

// hopeless reports whether x comes behind enough others.
func (t *top[T]) hopeless(x T) bool { return t.cut && t.compare(t.list[t.limit-1], x) < 0 }

func (t *top[T]) offer(x T) {
	if t.hopeless(x) {
		return
	}
	if t.list = append(t.list, x); len(t.list)/2 > t.limit {
		t.finish()
	}
}

// finish returns the best in order.
func (t *top[T]) finish() []T {
	slices.SortFunc(t.list, t.compare)
	if len(t.list) > t.limit {
		t.list, t.cut = t.list[:t.limit], true
	}
	return t.list
}
