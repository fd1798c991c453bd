package framework

import (
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	maxUnread  = 256 << 10              // bytes of log that wait for somebody to read standard error
	flushGrace = 200 * time.Millisecond // how long the end of the program waits for them
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
			_, _ = p.w.Write(r)
			written += len(r)
		}
		if dropped > 0 {
			_, _ = fmt.Fprintf(p.w, "%s: %d log records dropped: standard error was not read\n", program(), dropped)
		}
	}
}

// flush waits for what was written before, but not for a reader that never comes.
func (p *patient) flush() {
	p.mu.Lock()
	idle, writing := p.idle, p.writing
	p.mu.Unlock()
	if !writing {
		return
	}
	t := time.NewTimer(flushGrace)
	defer t.Stop()
	select {
	case <-idle:
	case <-t.C:
	}
}
