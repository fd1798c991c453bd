package jsonrpc2

import (
	"io"
	"sync"
)

// pipeRoom is how many bytes, and pipeMessages how many messages, one direction of a Pipe holds before Write waits. One message of any size
// always goes in.
const (
	pipeRoom     = 1 << 20
	pipeMessages = 4096
)

// Pipe returns two connected transports in memory, for tests and for peers in the same process: what is written to one is read from the other.
// Each direction holds 1 MiB in at most 4096 messages, but always one; more makes Write wait for the other side to read. After Close on one side the other side
// reads what is still there and then gets io.EOF; Write on either returns [io.ErrClosedPipe], and so does one that waits. Messages are copied
// when they are written.
//
// There are no bytes between messages, and so no framing, that could be lost, and no limit on a message other than the one its receiver sets.
func Pipe() (a, b Transport) {
	x, y := newQueue(), newQueue()
	return &pipeEnd{in: x, out: y}, &pipeEnd{in: y, out: x}
}

type pipeEnd struct{ in, out *queue }

func (p *pipeEnd) Read() ([]byte, error) { return p.in.take() }

func (p *pipeEnd) Write(frames ...[]byte) error {
	for _, f := range frames {
		if err := p.out.put(append([]byte(nil), f...)); err != nil {
			return err
		}
	}
	return nil
}

func (p *pipeEnd) Close() error {
	p.in.close(true)
	p.out.close(false)
	return nil
}

// Buffered is what Transport says about it.
func (p *pipeEnd) Buffered() int {
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	return p.in.size
}

// queue is one direction.
type queue struct {
	mu       sync.Mutex
	changed  sync.Cond
	messages [][]byte
	size     int
	closed   bool
}

func newQueue() *queue {
	q := new(queue)
	q.changed.L = &q.mu
	return q
}

func (q *queue) put(m []byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && len(q.messages) > 0 && (q.size+len(m) > pipeRoom || len(q.messages) >= pipeMessages) {
		q.changed.Wait()
	}
	if q.closed {
		return io.ErrClosedPipe
	}
	q.messages = append(q.messages, m)
	q.size += len(m)
	q.changed.Broadcast()
	return nil
}

func (q *queue) take() ([]byte, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && len(q.messages) == 0 {
		q.changed.Wait()
	}
	if len(q.messages) == 0 {
		return nil, io.EOF
	}
	m := q.messages[0]
	q.messages[0] = nil
	q.messages = q.messages[1:]
	q.size -= len(m)
	q.changed.Broadcast()
	return m, nil
}

// close ends the direction. The reader's side also drops what is in it.
func (q *queue) close(drop bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	if drop {
		q.messages, q.size = nil, 0
	}
	q.changed.Broadcast()
}
