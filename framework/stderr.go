package framework

import (
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	maxUnread  = 256 << 10              // bytes of log that wait for somebody to read standard error
	flushGrace = 500 * time.Millisecond // how long the end of the program waits while none of them is taken
)

// patient is standard error for a server whose parent may not read it. A pipe holds 64 KiB; then a write waits, and a log that waits holds up the
// messages. Here records wait in memory, and beyond maxUnread they are counted and dropped: the protocol is worth more than its log. An error of
// the descriptor, EPIPE mostly, loses the record and nothing else. Each Write is one record.
type patient struct {
	w io.Writer

	mu      sync.Mutex
	waiting [][]byte
	size    int // of them, and of those that are being written
	dropped int
	writing bool          // a goroutine is at it
	began   time.Time     // when the write that goes on did; zero: none does
	idle    chan struct{} // closed when that one is through
}

// Write never waits and never fails.
func (p *patient) Write(record []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.size+len(record) > maxUnread {
		p.dropped++
		return len(record), nil
	}
	p.waiting = append(p.waiting, append([]byte(nil), record...))
	p.size += len(record)
	if !p.writing {
		p.writing = true
		p.idle = make(chan struct{})
		go p.drain(p.idle)
	}
	return len(record), nil
}

// drain writes what waits and ends.
func (p *patient) drain(idle chan struct{}) {
	defer close(idle)
	written := 0
	for {
		p.mu.Lock()
		records, dropped := p.waiting, p.dropped
		p.waiting, p.dropped = nil, 0
		p.size -= written
		written = 0
		if len(records) == 0 && dropped == 0 {
			p.writing = false
			p.mu.Unlock()
			return
		}
		p.mu.Unlock()
		for _, r := range records {
			p.write(r)
			written += len(r)
		}
		if dropped > 0 {
			p.write(fmt.Appendf(nil, "%s: %d log records dropped: standard error was not read\n", program(), dropped))
		}
	}
}

// write writes one record, and notes when that began while it goes on.
func (p *patient) write(record []byte) {
	note := func(began time.Time) {
		p.mu.Lock()
		p.began = began
		p.mu.Unlock()
	}
	note(time.Now())
	_, _ = p.w.Write(record)
	note(time.Time{})
}

// flush waits for what was written before, but not for a reader that never comes: it gives up when a write takes as long as flushGrace, and does not
// mistake for that a machine so busy that the write has not begun.
func (p *patient) flush() {
	p.mu.Lock()
	idle, writing := p.idle, p.writing
	p.mu.Unlock()
	if !writing {
		return
	}
	t := time.NewTicker(flushGrace)
	defer t.Stop()
	for range 10 {
		select {
		case <-idle:
			return
		case <-t.C:
		}
		p.mu.Lock()
		stuck := !p.began.IsZero() && time.Since(p.began) >= flushGrace
		p.mu.Unlock()
		if stuck {
			return
		}
	}
}
