package mcp

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
)

// MemoryTasks is a TaskStore for one process, which is also a [TaskWatcher] and a [TaskLister]. The zero MemoryTasks is ready to use; it must not be copied
// after that. It is no goroutine; tasks that have expired are forgotten within a minute.
type MemoryTasks struct {
	// Max is how many tasks there may be, those that have ended and can still be read included. 0: a thousand.
	Max int
	// PerOwner is how many tasks one principal may have that have not ended, 0: twenty. In all it may have ten times as many. Clients without a principal
	// cannot be told apart, and have only the other limits.
	PerOwner int
	// MaxBytes is about how much memory all of it may take, 0: 64 MiB. A result that does not fit fails its task.
	MaxBytes int

	mu      sync.Mutex
	tasks   map[string]*Task
	owners  map[string]*ownedTasks
	bytes   int
	watched map[string]map[chan struct{}]struct{}
	sweeper *time.Timer // nil: there is nothing to sweep
}

// ownedTasks counts those of one principal.
type ownedTasks struct{ all, open int }

const sweepPause = time.Minute

func orInt(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}

// Create implements [TaskStore].
func (m *MemoryTasks) Create(_ context.Context, t Task) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, taken := m.tasks[t.ID]; taken {
		return ErrTaskExists
	}
	if !m.room(&t) {
		m.sweep(time.Now())
		if !m.room(&t) {
			return ErrTasksFull
		}
	}
	t = t.clone()
	t.Version = 1
	if m.tasks == nil {
		m.tasks = make(map[string]*Task)
		m.owners = make(map[string]*ownedTasks)
	}
	m.tasks[t.ID] = &t
	m.count(&t, 1)
	if m.sweeper == nil {
		m.sweeper = time.AfterFunc(sweepPause, m.swept)
	}
	return nil
}

// room reports whether there is room for another task. mu is held.
func (m *MemoryTasks) room(t *Task) bool {
	if len(m.tasks) >= orInt(m.Max, 1000) || m.bytes+t.size() > m.maxBytes() {
		return false
	}
	o := m.owners[t.Owner]
	if t.Owner == "" || o == nil {
		return true
	}
	most := orInt(m.PerOwner, 20)
	return o.open < most && o.all < 10*most
}

func (m *MemoryTasks) maxBytes() int { return orInt(m.MaxBytes, 64<<20) }

// count adds a task to the sums, or takes it out. mu is held.
func (m *MemoryTasks) count(t *Task, n int) {
	m.bytes += n * t.size()
	o := m.owners[t.Owner]
	if o == nil {
		o = new(ownedTasks)
		m.owners[t.Owner] = o
	}
	o.all += n
	if !t.Status.Terminal() {
		o.open += n
	}
	if o.all == 0 {
		delete(m.owners, t.Owner)
	}
}

// Get implements [TaskStore].
func (m *MemoryTasks) Get(_ context.Context, owner, id string) (Task, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tasks[id]
	if t == nil || t.Owner != owner || !time.Now().Before(t.Expires) {
		return Task{}, ErrNoTask
	}
	return t.clone(), nil
}

// Update implements [TaskStore].
func (m *MemoryTasks) Update(ctx context.Context, id string, f func(*Task) error) (Task, error) {
	for {
		m.mu.Lock()
		t := m.tasks[id]
		m.mu.Unlock()
		if t == nil || !time.Now().Before(t.Expires) {
			return Task{}, ErrNoTask
		}
		next := t.clone() // what is stored is not changed, only replaced
		if err := f(&next); err != nil {
			return Task{}, err
		}
		if stored, err := m.swap(t, next.clone()); err != nil || stored {
			next.Version = t.Version + 1
			return next, err
		}
		if err := ctx.Err(); err != nil {
			return Task{}, err
		}
	}
}

// swap stores next in place of t if that is still there.
func (m *MemoryTasks) swap(t *Task, next Task) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tasks[t.ID] != t {
		return false, nil
	}
	if grown := next.size() - t.size(); grown > 0 && m.bytes+grown > m.maxBytes() {
		return false, ErrTasksFull
	}
	next.ID, next.Owner, next.Version = t.ID, t.Owner, t.Version+1
	m.count(t, -1)
	m.count(&next, 1)
	m.tasks[t.ID] = &next
	m.tell(t.ID)
	return true, nil
}

// Delete implements [TaskStore].
func (m *MemoryTasks) Delete(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.remove(id)
	return nil
}

func (m *MemoryTasks) remove(id string) {
	if t := m.tasks[id]; t != nil {
		delete(m.tasks, id)
		m.count(t, -1)
		m.tell(id)
	}
}

// swept runs once a minute as long as there are tasks.
func (m *MemoryTasks) swept() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sweep(time.Now())
	if len(m.tasks) == 0 {
		m.sweeper = nil
		return
	}
	m.sweeper.Reset(sweepPause)
}

func (m *MemoryTasks) sweep(now time.Time) {
	for id, t := range m.tasks {
		if !now.Before(t.Expires) {
			m.remove(id)
		}
	}
}

// Watch implements [TaskWatcher].
func (m *MemoryTasks) Watch(ctx context.Context, ids []string) (<-chan struct{}, error) {
	changed := make(chan struct{}, 1)
	ids = slices.Clone(ids)
	m.mu.Lock()
	for _, id := range ids {
		if m.watched == nil {
			m.watched = make(map[string]map[chan struct{}]struct{})
		}
		if m.watched[id] == nil {
			m.watched[id] = make(map[chan struct{}]struct{})
		}
		m.watched[id][changed] = struct{}{}
	}
	m.mu.Unlock()
	context.AfterFunc(ctx, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, id := range ids {
			if delete(m.watched[id], changed); len(m.watched[id]) == 0 {
				delete(m.watched, id)
			}
		}
	})
	return changed, nil
}

// tell wakes those who watch a task. mu is held.
func (m *MemoryTasks) tell(id string) {
	for c := range m.watched[id] {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

var errTaskCursor = errors.New("mcp: unknown cursor")

// List implements [TaskLister].
func (m *MemoryTasks) List(_ context.Context, owner, cursor string, n int) ([]Task, string, error) {
	var after string
	if cursor != "" {
		text, err := cursorEncoding.DecodeString(cursor)
		if err != nil || strings.ContainsAny(cursor, "\r\n") || len(text) <= len(cursorTime) {
			return nil, "", errTaskCursor
		}
		after = string(text)
	}
	now := time.Now()
	var page []Task
	m.mu.Lock()
	for _, t := range m.tasks {
		if t.Owner == owner && now.Before(t.Expires) && t.cursor() > after {
			page = append(page, *t)
		}
	}
	m.mu.Unlock()
	slices.SortFunc(page, func(a, b Task) int { return cmp.Compare(a.cursor(), b.cursor()) })
	next := ""
	if n = max(n, 1); len(page) > n {
		page = page[:n:n]
		next = cursorEncoding.EncodeToString([]byte(page[n-1].cursor()))
	}
	for i := range page {
		page[i] = page[i].clone()
	}
	return page, next, nil
}

const cursorTime = "20060102150405.000000000"

// cursor is a text that sorts by age, and is nobody else's.
func (t *Task) cursor() string {
	var b strings.Builder
	b.WriteString(t.Created.UTC().Format(cursorTime))
	b.WriteString(t.ID)
	return b.String()
}
