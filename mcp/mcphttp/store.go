package mcphttp

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"
)

// ErrNoEvents is returned by [EventStore.After] when events it was asked for are not kept any more, or never were.
var ErrNoEvents = errors.New("mcphttp: events are not kept")

// EventStore keeps the events of streams, so that a client whose response broke gets the rest with its next (MCP streamable HTTP, resumability). Events
// of one stream are given to it in order and one at a time; those of many streams at once. What it is given it must not change.
//
// A store may forget: a client that comes back for what is gone is told so. It should not block for long: who sends on the stream waits.
type EventStore interface {
	// Append keeps an event, ready to be written. seq is 1 for the first of a stream, and one more for each after.
	Append(ctx context.Context, session, stream string, seq uint64, event []byte) error
	// After returns the events of a stream behind the one with number seq, in order; seq may be 0, and the number of the last. If any of them
	// is gone it returns ErrNoEvents.
	After(ctx context.Context, session, stream string, seq uint64) ([][]byte, error)
	// Close forgets a stream, or all of a session if stream is "".
	//
	// A panic of any of them counts as an error.
	Close(ctx context.Context, session, stream string) error
}

// keep, kept and forget ask the store, which is called where locks are held: a panic in it is a failure like others.
func (h *Handler) keep(session, stream string, seq uint64, event []byte) (err error) {
	defer recovered(&err)
	return h.o.Events.Append(context.Background(), session, stream, seq, event)
}

func (h *Handler) kept(ctx context.Context, session, stream string, seq uint64) (events [][]byte, err error) {
	defer recovered(&err)
	return h.o.Events.After(ctx, session, stream, seq)
}

func (h *Handler) forget(session, stream string) (err error) {
	defer recovered(&err)
	return h.o.Events.Close(context.Background(), session, stream)
}

func recovered(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("panic: %v", v)
	}
}

// MemoryStore is an [EventStore] in memory, and bounded: what is oldest goes first. The zero value is ready to use. It must not be copied after
// first use.
type MemoryStore struct {
	// StreamEvents and StreamBytes bound what is kept of one stream; 0 is 256 events and 1 MiB.
	StreamEvents, StreamBytes int
	// Bytes bounds all streams together; 0 is 64 MiB. Above it the streams that were written to least recently are forgotten.
	Bytes int

	mu       sync.Mutex
	size     int
	sessions map[string]map[string]*keptStream
	recent   list.List // of *keptStream, the one written last in front
}

type keptStream struct {
	session, name string
	first         uint64 // number of events[0]
	events        [][]byte
	size          int
	place         *list.Element
}

// Append implements EventStore.
func (m *MemoryStore) Append(_ context.Context, session, stream string, seq uint64, event []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.sessions[session][stream]
	if k == nil {
		k = &keptStream{session: session, name: stream, first: seq}
		k.place = m.recent.PushFront(k)
		if m.sessions == nil {
			m.sessions = make(map[string]map[string]*keptStream)
		}
		if m.sessions[session] == nil {
			m.sessions[session] = make(map[string]*keptStream, 1)
		}
		m.sessions[session][stream] = k
	} else {
		m.recent.MoveToFront(k.place)
	}
	k.events = append(k.events, event)
	m.grow(k, len(event))
	for len(k.events) > or(m.StreamEvents, 256) || k.size > or(m.StreamBytes, 1<<20) {
		m.grow(k, -len(k.events[0]))
		k.events[0] = nil
		k.events = k.events[1:]
		k.first++
	}
	for m.size > or(m.Bytes, 64<<20) {
		m.forget(m.recent.Back().Value.(*keptStream))
	}
	return nil
}

func (m *MemoryStore) grow(k *keptStream, n int) {
	k.size += n
	m.size += n
}

// After implements EventStore.
func (m *MemoryStore) After(_ context.Context, session, stream string, seq uint64) ([][]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.sessions[session][stream]
	switch {
	case k == nil && seq == 0:
		return nil, nil // nothing was sent
	case k == nil || seq+1 < k.first || seq >= k.first+uint64(len(k.events)):
		return nil, ErrNoEvents
	}
	return append([][]byte(nil), k.events[seq+1-k.first:]...), nil
}

// Close implements EventStore.
func (m *MemoryStore) Close(_ context.Context, session, stream string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if stream != "" {
		if k := m.sessions[session][stream]; k != nil {
			m.forget(k)
		}
		return nil
	}
	for _, k := range m.sessions[session] {
		m.forget(k)
	}
	return nil
}

func (m *MemoryStore) forget(k *keptStream) {
	m.grow(k, -k.size)
	m.recent.Remove(k.place)
	delete(m.sessions[k.session], k.name)
	if len(m.sessions[k.session]) == 0 {
		delete(m.sessions, k.session)
	}
}

func or(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}
