package mcphttp

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// kept is how many buffers and bytes it has.
func (s *stock) kept() (buffers, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.free), s.bytes
}

func TestStock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s stock
		if b := s.get(1); b != nil {
			t.Fatal("an empty stock has something")
		}
		s.put(make([]byte, 0, minStocked-1))
		s.put(make([]byte, 0, maxStocked+1))
		if len(s.free) != 0 {
			t.Fatal("it keeps what is too small, or too large")
		}
		older, newer := make([]byte, 5, minStocked), make([]byte, 5, 2*minStocked)
		s.put(older)
		s.put(newer)
		if b := s.get(minStocked); len(b) != 0 || &b[:1][0] != &newer[0] {
			t.Error("what was used last is not given first")
		}
		if b := s.get(minStocked + 1); b != nil {
			t.Error("a buffer that is too small was given")
		}
		if b := s.get(minStocked); &b[:1][0] != &older[0] || s.bytes != 0 {
			t.Error("a buffer was lost")
		}
		for range 2 * stockBytes / maxStocked {
			s.put(make([]byte, 0, maxStocked))
		}
		if s.bytes > stockBytes || s.bytes < stockBytes-maxStocked {
			t.Errorf("%d bytes are kept", s.bytes)
		}
	})
}

// What is used again and again stays, and what is not goes.
func TestStockGivesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s stock
		for range 3 {
			s.put(make([]byte, 0, minStocked))
		}
		for range 5 {
			time.Sleep(stockPause / 2)
			s.put(s.get(1))
		}
		if n, bytes := s.kept(); n != 1 || bytes != minStocked {
			t.Errorf("%d buffers, %d bytes, are kept for one that is used", n, bytes)
		}
		time.Sleep(3 * stockPause)
		if n, bytes := s.kept(); n != 0 || bytes != 0 {
			t.Errorf("%d buffers, %d bytes, are kept for nobody", n, bytes)
		}
		s.put(make([]byte, 0, minStocked))
		time.Sleep(3 * stockPause)
		if n, _ := s.kept(); n != 0 {
			t.Error("it does not look any more")
		}
	})
}

// Large answers and small ones take turns, of several clients at once: each gets its own.
func TestLargeAnswersTakeTurns(t *testing.T) {
	f := serve(t, &Options{MaxBody: 8 << 20})
	c := f.connect("2025-11-25")
	sizes := []int{1, 100 << 10, 300 << 10, 10, 5 << 20, 80 << 10}
	var all sync.WaitGroup
	for client := range 4 {
		all.Go(func() {
			for i := range sizes {
				n := sizes[(i+client)%len(sizes)]
				text := strings.Repeat(string(rune('a'+client*len(sizes)+i%len(sizes))), n)
				if a := c.post(call("1", "echo", `{"name":"`+text+`"}`)); a.status != 200 || !strings.Contains(a.body, `[{"type":"text","text":"`+text+`"}]`) {
					t.Errorf("a text of %d bytes: status %d, and %d bytes came back", n, a.status, len(a.body))
				}
			}
		})
	}
	all.Wait()
}
