package mcphttp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-rpc/tandem/mcp"
)

func TestMemoryStore(t *testing.T) {
	ctx := context.Background()
	m := &MemoryStore{StreamEvents: 4, StreamBytes: 40, Bytes: 100}
	add := func(session, stream string, from, to int) {
		t.Helper()
		for i := from; i <= to; i++ {
			if err := m.Append(ctx, session, stream, uint64(i), fmt.Appendf(nil, "event %04d", i)); err != nil { // 10 bytes
				t.Fatal(err)
			}
		}
	}
	after := func(session, stream string, seq int) string {
		events, err := m.After(ctx, session, stream, uint64(seq))
		if err != nil {
			if !errors.Is(err, ErrNoEvents) {
				t.Error(err)
			}
			return "gone"
		}
		s := []string{}
		for _, e := range events {
			s = append(s, strings.TrimPrefix(string(e), "event 000"))
		}
		return strings.Join(s, " ")
	}
	add("a", "1", 1, 6)
	for seq, want := range map[int]string{0: "gone", 1: "gone", 2: "3 4 5 6", 5: "6", 6: "", 7: "gone"} {
		if got := after("a", "1", seq); got != want {
			t.Errorf("after %d: %q, want %q", seq, got, want)
		}
	}
	if got := after("b", "1", 0); got != "" {
		t.Errorf("nothing was sent: %q", got)
	}
	if got := after("b", "1", 1); got != "gone" {
		t.Errorf("unknown: %q", got)
	}
	add("a", "2", 1, 4)
	add("b", "3", 1, 3) // 110 bytes: the stream that was not written to for longest goes
	if got := after("a", "1", 6) + after("a", "2", 2) + after("b", "3", 0); got != "gone3 41 2 3" || m.size != 70 {
		t.Errorf("%q, %d bytes", got, m.size)
	}
	if err := m.Append(ctx, "b", "3", 4, make([]byte, 50)); err != nil {
		t.Fatal(err)
	}
	if got := after("b", "3", 3); got != "gone" {
		t.Errorf("an event over the limit: %q", got)
	}
	_ = m.Close(ctx, "a", "2")
	_ = m.Close(ctx, "a", "none")
	add("b", "4", 1, 2)
	_ = m.Close(ctx, "b", "")
	_ = m.Close(ctx, "b", "")
	if m.size != 0 || len(m.sessions) != 0 || m.recent.Len() != 0 {
		t.Errorf("%d bytes, %v", m.size, m.sessions)
	}
}

// A client that comes back for what is gone is told so.
func TestResumeBeforeGap(t *testing.T) {
	f := serve(t, &Options{Events: &MemoryStore{StreamEvents: 2}})
	c := f.connect("2025-11-25")
	a := c.post(call("1", "steps", `{}`))
	for i, want := range []int{400, 400, 200, 200, 200} {
		got := c.do("GET", "", c.headers(header{"Last-Event-Id": a.events[i].id}))
		if got.status != want {
			t.Errorf("after event %d: %d %s", i, got.status, got.body)
		}
	}
}

// Of the streams that are over only so many are kept.
func TestMaxStreams(t *testing.T) {
	f := serve(t, &Options{MaxStreams: 2})
	c := f.connect("2025-11-25")
	var ids []string
	for range 4 {
		a := c.post(call("1", "steps", `{}`))
		ids = append(ids, a.events[0].id)
	}
	for i, want := range []int{400, 400, 200, 200} {
		if a := c.do("GET", "", c.headers(header{"Last-Event-Id": ids[i]})); a.status != want {
			t.Errorf("stream %d: %d", i, a.status)
		}
	}
	if n := len(f.h.o.Events.(*MemoryStore).sessions[c.id]); n != 2 {
		t.Errorf("%d streams are kept", n)
	}
}

// A session that does nothing keeps nothing of what it did.
func TestStreamsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := new(MemoryStore)
		h := New(newServer(&fixture{t: t}), &Options{Events: m})
		id := directWith(h, "POST", initialize, nil).Header().Get("Mcp-Session-Id")
		for range 3 {
			directWith(h, "POST", call("1", "steps", `{}`), header{"Mcp-Session-Id": id})
		}
		s := h.find(id, "", false)
		kept := func() (streams, bytes int) {
			s.mu.Lock()
			defer s.mu.Unlock()
			m.mu.Lock()
			defer m.mu.Unlock()
			return len(s.streams), m.size
		}
		if n, size := kept(); n != 3 || size == 0 {
			t.Errorf("%d streams, %d bytes", n, size)
		}
		time.Sleep(2*streamKept + time.Second)
		synctest.Wait()
		if n, size := kept(); n != 0 || size != 0 {
			t.Errorf("%d streams, %d bytes", n, size)
		}
		directWith(h, "DELETE", "", header{"Mcp-Session-Id": id})
		time.Sleep(2 * time.Minute)
	})
}

// failing is a store that does not work.
type failing struct{}

func (failing) Append(context.Context, string, string, uint64, []byte) error {
	return errors.New("disk full")
}
func (failing) After(context.Context, string, string, uint64) ([][]byte, error) {
	return nil, errors.New("disk full")
}
func (failing) Close(context.Context, string, string) error { return errors.New("disk full") }

// Without its store a stream is still a stream.
func TestFailingStore(t *testing.T) {
	f := serve(t, &Options{Events: failing{}})
	c := f.connect("2025-11-25")
	a := c.post(call("1", "steps", `{}`))
	if len(a.events) != 5 || !f.reported("disk full") {
		t.Errorf("%+v", a)
	}
	if a := c.do("GET", "", c.headers(header{"Last-Event-Id": a.events[1].id})); a.status != 400 {
		t.Errorf("%+v", a)
	}
	c.do("DELETE", "", c.headers())
}

// What a session is told while it has no stream waits, bounded, and the same is not said twice.
func TestPending(t *testing.T) {
	for _, keep := range []bool{false, true} {
		t.Run(fmt.Sprint("keep ", keep), func(t *testing.T) {
			f := serve(t, &Options{NoEvents: !keep})
			c := f.connect("2025-06-18")
			s := f.h.find(c.id, "", false)
			for i := range maxPending + 10 {
				for range 2 {
					if !keep || i%2 == 0 {
						_ = s.Notify(context.Background(), "notifications/x", map[string]int{"i": i})
					}
				}
			}
			s.own.mu.Lock()
			n := len(s.own.queue)
			s.own.mu.Unlock()
			if n != maxPending {
				t.Errorf("%d wait", n)
			}
			r := c.stream("GET", "")
			for range n {
				r.message()
			}
			f.srv.Changed(mcp.Tools)
			if m := r.message(); member(m, "method") != `"notifications/tools/list_changed"` {
				t.Errorf("%s", m)
			}
		})
	}
}

type late func()

func (f late) overdue() { f() }

func TestWatch(t *testing.T) {
	for _, locked := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			l := &watch{period: time.Second, locked: locked}
			var mu sync.Mutex
			var due []int
			is := func(want string) {
				t.Helper()
				synctest.Wait()
				mu.Lock()
				defer mu.Unlock()
				if fmt.Sprint(due) != want {
					t.Errorf("%v, want %s", due, want)
				}
			}
			enter := func(w *watched, n int) {
				w.owner = late(func() { mu.Lock(); due = append(due, n); mu.Unlock() })
				l.enter(w, time.Now())
			}
			all := make([]watched, 5)
			for i := range all {
				enter(&all[i], i)
				time.Sleep(300 * time.Millisecond)
				if i == 2 {
					l.leave(&all[1])
					l.leave(&all[1])
				}
			}
			time.Sleep(600 * time.Millisecond) // 2.1 s
			is("[0 2 3]")
			l.leave(&all[4])
			time.Sleep(2 * time.Second)
			is("[0 2 3]")
			if l.armed || l.head != nil || l.tail != nil {
				t.Errorf("%+v", l)
			}
			enter(new(watched), 9)
			time.Sleep(1100 * time.Millisecond)
			is("[0 2 3 9]")
			l.enter(&watched{owner: late(func() { t.Error("stopped") })}, time.Now())
			l.stop()
			l.enter(&watched{owner: late(func() { t.Error("stopped") })}, time.Now())
			time.Sleep(time.Minute)
		})
	}
	(&watch{}).leave(new(watched))
	(&watch{}).enter(new(watched), time.Now())
}
