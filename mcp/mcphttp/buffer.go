package mcphttp

import (
	"slices"
	"sync"
	"time"
)

// answerPool has memory for answers. That of large ones is in the handler's stock.
var answerPool = sync.Pool{New: func() any { b := make([]byte, 0, 1<<10); return &b }}

// Sizes of buffers that are kept: smaller ones are not worth it, and a larger one is left to the garbage collector.
const (
	minStocked = trusted + 1
	maxStocked = 4<<20 + 1
)

// stock has large buffers that are used again. A sync.Pool would do, but it loses them with each second garbage collection, and large messages make many:
// the runtime then gives their memory back to the system and gets it anew all the time. The zero value is empty.
type stock struct {
	mu      sync.Mutex
	free    [][]byte // the one that was used last is the last: it may be in a cache still
	bytes   int
	idle    int // so many of free, from the first on, nobody has needed since the last look
	looking bool
}

const (
	stockBytes = 16 << 20    // no more is kept
	stockPause = time.Second // what is not needed for so long is given back
)

// get returns an empty buffer for n bytes, nil if there is none.
func (s *stock) get(n int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.free) - 1; i >= 0; i-- {
		if b := s.free[i]; cap(b) >= n {
			s.free = slices.Delete(s.free, i, i+1)
			s.bytes -= cap(b)
			s.idle = min(s.idle, i)
			return b
		}
	}
	return nil
}

// put keeps a buffer, which nobody may look at any more.
func (s *stock) put(b []byte) {
	if cap(b) < minStocked || cap(b) > maxStocked {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes+cap(b) > stockBytes {
		return
	}
	s.free = append(s.free, b[:0])
	s.bytes += cap(b)
	if !s.looking {
		s.looking = true
		time.AfterFunc(stockPause, s.look)
	}
}

// look gives up what nobody has needed since the last time.
func (s *stock) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.free[:s.idle] {
		s.bytes -= cap(b)
	}
	s.free = slices.Delete(s.free, 0, s.idle)
	s.idle = len(s.free)
	if s.looking = s.idle > 0; s.looking {
		time.AfterFunc(stockPause, s.look)
	}
}
