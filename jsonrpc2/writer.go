package jsonrpc2

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// writer gathers messages and writes them in as few writes as do not keep the peer waiting. Whoever flushes first writes for all: others append
// and go on. The bytes of one message are always together.
type writer struct {
	t       Transport
	stream  *stream       // t, when it is one of ours: messages are framed as they are appended
	max     int           // MaxUnsent
	timeout time.Duration // of one write; 0: none
	fail    func(error)
	drain   func() // called, without the lock, when full ends

	full atomic.Bool // more than max bytes wait: append blocks

	mu      sync.Mutex
	buf     []byte // framed for a stream, else messages with their ends
	ends    []int
	spare   []byte
	busy    bool          // somebody is in flush's loop
	writing int           // bytes in the write under way; 0: none
	writes  uint64        // begun so far
	room    chan struct{} // closed when full ends; nil: nobody waits
	quiet   chan struct{} // closed when busy ends; nil: nobody waits
	sealed  error         // why nothing more is appended; what waits is written
	err     error         // why nothing more is written
}

const (
	frameRoom = 64       // more than any framing adds to a message
	flushSize = 64 << 10 // at so many bytes a burst is written, whatever the lot
	maxLot    = 64       // so many answers cost hardly more with one write less, and the first of them has waited for all
	spareSize = 4 << 20  // a larger buffer is left to the garbage collector
)

// nextLot is how many answers the reader gathers for its next write when so many requests are left of the burst that it has read. The first answer of
// a burst goes alone: it wakes the peer, which works on it while we go on. After that each write, which costs more than a short request, is for half
// of what is left: fewer let the peer sleep again and again, and more of them cost more than they bring forward.
func nextLot(left int) int { return min(max(1, (left+1)/2), maxLot) }

// append adds one message, given as parts, after waiting for room. It returns ctx's error if that ends first.
func (w *writer) append(ctx context.Context, parts ...[]byte) error {
	w.mu.Lock()
	for w.err == nil && w.sealed == nil && w.full.Load() {
		if w.room == nil {
			w.room = make(chan struct{})
		}
		room := w.room
		w.mu.Unlock()
		w.flush()
		select {
		case <-room:
		case <-ctx.Done():
			return ctx.Err()
		}
		w.mu.Lock()
	}
	defer w.mu.Unlock()
	return w.put(parts)
}

// appendNow is append for those who must not wait.
func (w *writer) appendNow(parts ...[]byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.put(parts)
}

// put adds one message. The lock is held.
func (w *writer) put(parts [][]byte) error {
	switch {
	case w.err != nil:
		return w.err
	case w.sealed != nil:
		return w.sealed
	}
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	if need := len(w.buf) + n + frameRoom; need > cap(w.buf) && n > flushSize {
		w.buf = slices.Grow(w.buf, need-len(w.buf)) // at once, not by doubling while it is copied
	}
	if w.stream != nil {
		w.buf = w.stream.appendOpen(w.buf, n)
	}
	for _, p := range parts {
		w.buf = append(w.buf, p...)
	}
	if w.stream != nil {
		w.buf = w.stream.appendEnd(w.buf)
	} else {
		w.ends = append(w.ends, len(w.buf))
	}
	if len(w.buf)+w.writing > w.max {
		w.full.Store(true)
	}
	return nil
}

// flush writes what waits, unless another goroutine is at it: that one will write ours too.
func (w *writer) flush() {
	w.mu.Lock()
	if w.busy || len(w.buf) == 0 || w.err != nil {
		w.mu.Unlock()
		return
	}
	w.busy = true
	for len(w.buf) > 0 && w.err == nil {
		b, ends := w.buf, w.ends
		w.buf, w.ends, w.spare = w.spare[:0], nil, nil
		w.writing = len(b)
		w.writes++
		w.mu.Unlock()

		err := w.write(b, ends)

		w.mu.Lock()
		w.writing = 0
		if cap(b) <= spareSize {
			w.spare = b
		}
		if err != nil && w.err == nil {
			w.err = err
		}
		if w.err != nil {
			w.buf, w.ends = nil, nil // nobody will get it
		}
		if w.full.Load() && (len(w.buf) <= w.max || w.err != nil) {
			w.makeRoom()
		}
	}
	w.busy = false
	if w.quiet != nil {
		close(w.quiet)
		w.quiet = nil
	}
	err := w.err
	w.mu.Unlock()
	if err != nil {
		w.fail(err)
	}
}

// makeRoom ends full. The lock is held, and given up for a moment.
func (w *writer) makeRoom() {
	w.full.Store(false)
	if w.room != nil {
		close(w.room)
		w.room = nil
	}
	w.mu.Unlock()
	w.drain()
	w.mu.Lock()
}

func (w *writer) write(b []byte, ends []int) error {
	if w.stream != nil {
		if w.timeout > 0 {
			if err := w.stream.setWriteDeadline(time.Now().Add(w.timeout)); err != nil && !errors.Is(err, os.ErrNoDeadline) {
				return fmt.Errorf("write deadline: %w", err)
			}
		}
		return w.stream.writeRaw(b)
	}
	frames := make([][]byte, len(ends))
	start := 0
	for i, end := range ends {
		frames[i] = b[start:end]
		start = end
	}
	return w.t.Write(frames...)
}

// seal makes all further appends fail with err, and wakes who waits. What has been appended is still written.
func (w *writer) seal(err error) {
	w.mu.Lock()
	w.sealed = err
	w.makeRoom()
	w.mu.Unlock()
}

// stop makes all further appends fail with err, drops what waits, and wakes who waits.
func (w *writer) stop(err error) {
	w.mu.Lock()
	if w.err == nil {
		w.err = err
	}
	w.makeRoom()
	w.mu.Unlock()
}

// underWay is the write under way, a number that no other has; 0: none.
func (w *writer) underWay() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.writing == 0 {
		return 0
	}
	return w.writes
}

// size returns how many bytes wait to be written.
func (w *writer) size() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.buf)
}

// busyNow reports whether somebody is writing.
func (w *writer) busyNow() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.busy
}

// settled waits until nobody is writing.
func (w *writer) settled() {
	w.mu.Lock()
	for w.busy {
		if w.quiet == nil {
			w.quiet = make(chan struct{})
		}
		quiet := w.quiet
		w.mu.Unlock()
		<-quiet
		w.mu.Lock()
	}
	w.mu.Unlock()
}
