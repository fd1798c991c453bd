package mcphttp

import (
	"sync"
	"time"
)

// watch calls who stays in it longer than a period. Most do not, so there is one timer for all, which is set about once a period; a timer for each
// would cost more than the rest of what is done for a small request.
type watch struct {
	period time.Duration
	locked bool // overdue is called with mu held: whoever has left is not called

	mu         sync.Mutex
	head, tail *watched // the oldest first
	timer      *time.Timer
	armed      bool
	over       bool // rush was called
}

// watched is one in a watch. It goes in once.
type watched struct {
	owner      interface{ overdue() }
	since      time.Time
	in         bool
	prev, next *watched
}

// enter begins to watch. A period of 0 or less watches nobody.
func (l *watch) enter(w *watched, now time.Time) {
	if l.period <= 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		w.owner.overdue()
		return
	}
	w.since, w.in = now, true
	if w.prev = l.tail; w.prev != nil {
		w.prev.next = w
	} else {
		l.head = w
	}
	l.tail = w
	if l.armed {
		return
	}
	l.armed = true
	if l.timer == nil {
		l.timer = time.AfterFunc(l.period, l.tick)
	} else {
		l.timer.Reset(l.period)
	}
}

// leave ends it, if overdue was not called.
func (l *watch) leave(w *watched) {
	if l.period <= 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remove(w)
}

func (l *watch) remove(w *watched) {
	if !w.in {
		return
	}
	if w.prev != nil {
		w.prev.next = w.next
	} else {
		l.head = w.next
	}
	if w.next != nil {
		w.next.prev = w.prev
	} else {
		l.tail = w.prev
	}
	w.in, w.prev, w.next = false, nil, nil
}

func (l *watch) tick() {
	now := time.Now()
	var due []*watched
	l.mu.Lock()
	for w := l.head; w != nil && now.Sub(w.since) >= l.period; w = l.head {
		l.remove(w)
		if l.locked {
			w.owner.overdue()
		} else {
			due = append(due, w)
		}
	}
	if l.armed = l.head != nil; l.armed {
		l.timer.Reset(l.period - now.Sub(l.head.since))
	}
	l.mu.Unlock()
	for _, w := range due {
		w.owner.overdue()
	}
}

// rush calls all there are, and whoever comes later. It is for a watch that is locked.
func (l *watch) rush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	for w := l.head; w != nil; w = l.head {
		l.remove(w)
		w.owner.overdue()
	}
}

// stop ends the timer; nobody is called any more.
func (l *watch) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
	}
	l.armed = true // it is not set again
}
