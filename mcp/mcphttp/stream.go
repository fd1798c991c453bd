package mcphttp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// stream is a sequence of messages to a client, written as server-sent events to one response at a time. That of a request ends with its answer;
// that of a session does not. With a name its events have ids and are kept, and a client that lost the response takes it up in another.
//
// Whoever sends only puts an event into the queue. What is there is written by a goroutine that exists while there is something to write, so a stream
// that waits is a timer, and one that is slow holds up only itself.
type stream struct {
	h       *Handler
	session *session // nil: of a request without
	line    *line    // of a request without; that of the session is its own
	name    string
	own     bool   // of the session, not of a request
	gone    func() // called on a goroutine of its own when a response broke and nothing keeps what was sent

	mu      sync.Mutex
	out     *outlet // nil: there is none now
	busy    *outlet // what drain writes to, or will; it lets go of it
	queue   [][]byte
	size    int // of the queue, in bytes
	seq     uint64
	over    bool          // nothing comes behind the queue
	ended   time.Time     // when it was over
	leave   bool          // the response ends behind the queue, the stream goes on
	silent  bool          // a heartbeat is due
	lost    bool          // gone was called
	faults  []error       // to be reported once mu is free
	room    chan struct{} // closed when there is room in the queue; nil: nobody waits
	beat    *time.Timer
	expires *time.Timer // of a response whose caller is known until then
}

const (
	// maxPending is how many messages wait for a client that has no stream open, beside what a store keeps.
	maxPending = 32
	// maxUnsent is how many bytes may wait to be written on a stream; one message always may.
	maxUnsent = 1 << 20
)

var errQueueFull = errors.New("mcphttp: too many messages wait for a client: one was dropped")

func (s *stream) full() bool {
	return len(s.queue) >= s.h.o.MaxQueued || len(s.queue) > 0 && s.size > maxUnsent
}

// push sends a message. One of a request waits for room until ctx ends, and so does all there is on the stream of an old session; what belongs to no
// request does not wait.
func (s *stream) push(ctx context.Context, message []byte) error {
	s.mu.Lock()
	err := s.enqueue(ctx, message)
	if err == nil {
		s.start()
	}
	s.tell(ctx)
	if err == nil {
		s.h.outbound(message)
	}
	return err
}

// tell unlocks mu, and reports what was found out while it was held.
func (s *stream) tell(ctx context.Context) {
	faults := s.faults
	s.faults = nil
	s.mu.Unlock()
	for _, err := range faults {
		s.h.report(ctx, err)
	}
}

// enqueue waits for room and appends. mu is held.
func (s *stream) enqueue(ctx context.Context, message []byte) error {
	for (!s.own || s.session.old) && !s.over && s.out != nil && s.full() {
		if s.room == nil {
			s.room = make(chan struct{})
		}
		room := s.room
		s.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
		}
		s.mu.Lock()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	switch {
	case s.over:
		return jsonrpc2.ErrClosed
	case s.lost:
		return ErrStreamLost
	}
	return s.append(message)
}

// append puts a message where it is written from. mu is held.
func (s *stream) append(message []byte) error {
	if s.name != "" {
		s.seq++
	}
	event := appendEvent(make([]byte, 0, len(message)+64), s.name, s.seq, message)
	kept := false
	if s.name != "" {
		// The store is asked under the lock: what it keeps must have the order of what is written.
		err := s.h.keep(s.session.id, s.name, s.seq, event)
		if kept = err == nil; !kept {
			s.faults = append(s.faults, fmt.Errorf("mcphttp: event store: %w", err))
		}
	}
	switch {
	case s.out != nil && s.own && s.full():
		s.drop() // its reader has stopped; what is kept it can come back for
		if !kept {
			return errQueueFull
		}
		s.record(message)
		return nil
	case s.out == nil && s.own:
		if s.name == "" && slices.ContainsFunc(s.queue, func(e []byte) bool { return string(e) == string(event) }) {
			return nil // it says the same
		}
		if len(s.queue) >= maxPending || s.size > maxUnsent {
			s.size -= len(s.queue[0])
			s.queue = slices.Delete(s.queue, 0, 1)
			if !kept {
				s.faults = append(s.faults, errQueueFull)
			}
		}
	case s.out == nil && kept:
		s.record(message)
		return nil
	case s.out == nil:
		return ErrStreamLost
	}
	s.queue = append(s.queue, event)
	s.size += len(event)
	s.record(message)
	return nil
}

// record notes what is on its way now. mu is held: the order is that of the stream, and the answer to a question comes after it.
func (s *stream) record(message []byte) {
	l := s.line
	if s.session != nil {
		l = s.session.line.Load()
	}
	l.outbound(message)
}

// start lets what there is be written. mu is held.
func (s *stream) start() {
	if s.busy == nil && s.out != nil {
		s.busy = s.out
		go s.drain()
	}
}

// attach makes o the response the stream is written to, beginning with replay if that is not nil, else with what waited. A response it had ends. mu
// is held.
func (s *stream) attach(o *outlet, replay [][]byte) {
	s.detach(s.out)
	s.out = o
	if replay != nil {
		s.queue, s.size = replay, 0
		for _, e := range replay {
			s.size += len(e)
		}
	}
	o.prepare()
	o.last = time.Now()
	switch {
	case s.h.o.Heartbeat < 0:
	case s.beat == nil:
		s.beat = time.AfterFunc(s.h.o.Heartbeat, s.pulse)
	default:
		s.beat.Reset(s.h.o.Heartbeat)
	}
	s.start()
}

// detach takes a response from the stream, if it still has it; its done is closed when it is no longer written to. mu is held.
func (s *stream) detach(o *outlet) {
	if o == nil || s.out != o {
		return
	}
	s.out, s.leave, s.silent = nil, false, false
	if s.beat != nil {
		s.beat.Stop()
	}
	if s.expires != nil {
		s.expires.Stop()
		s.expires = nil
	}
	if !s.own {
		s.queue, s.size = nil, 0 // kept, or lost
	}
	s.wake()
	if s.busy == o {
		o.hurry() // drain lets go of it
		return
	}
	o.release()
}

// drop detaches a response that broke or is too slow. mu is held.
func (s *stream) drop() {
	s.detach(s.out)
	if s.name == "" && !s.own && !s.lost {
		s.lost = true
		if s.gone != nil {
			go s.gone()
		}
	}
}

// wake lets those go on that wait for room. mu is held.
func (s *stream) wake() {
	if s.room != nil {
		close(s.room)
		s.room = nil
	}
}

// drain writes until there is nothing more. busy is set before it is called.
func (s *stream) drain() {
	var buf []byte
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		o := s.out
		if s.busy != o {
			s.busy.release() // it was detached meanwhile
			s.busy = o
		}
		if o == nil {
			return
		}
		if len(s.queue) == 0 && !o.fresh && !s.silent {
			s.busy = nil
			if s.over || s.leave {
				s.detach(o)
			}
			return
		}
		buf = buf[:0]
		if s.silent && len(s.queue) == 0 && !o.fresh {
			buf = append(buf, comment...)
		}
		for _, e := range s.queue {
			buf = append(buf, e...)
		}
		fresh := o.fresh
		s.queue, s.size, s.silent, o.fresh = nil, 0, false, false
		s.wake()
		s.mu.Unlock()
		err := o.write(fresh, buf)
		now := time.Now()
		s.mu.Lock()
		o.last = now
		if err != nil && s.out == o {
			s.drop()
		}
	}
}

// finish sends the last message, nil for none. It returns when that is written, or somebody else is writing.
func (s *stream) finish(last []byte) (err error) {
	s.mu.Lock()
	switch {
	case s.over:
		err = jsonrpc2.ErrClosed
	case last == nil:
	case s.lost:
		err = ErrStreamLost
	default:
		err = s.append(last)
	}
	s.over, s.ended = true, time.Now()
	drain := s.out != nil && s.busy == nil
	if drain {
		s.busy = s.out
	}
	s.tell(context.Background())
	if last != nil && err == nil {
		s.h.outbound(last)
	}
	if drain {
		s.drain()
	}
	return err
}

// end ends the response once what is queued is written, with how long the client should wait before it comes back if that is above 0. over: nothing
// comes after that.
func (s *stream) end(over bool, retry time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = s.over || over
	if s.out == nil {
		return
	}
	s.leave = true
	if retry > 0 {
		s.queue = append(s.queue, appendRetry(nil, retry))
	}
	s.start()
}

// expire ends the response when the time is over for which its caller is known. mu is held.
func (s *stream) expire(until time.Time) {
	if !until.IsZero() {
		s.expires = time.AfterFunc(time.Until(until), func() { s.end(false, 0) })
	}
}

// pulse is called when a heartbeat may be due.
func (s *stream) pulse() {
	s.mu.Lock()
	if s.out == nil {
		s.mu.Unlock()
		return
	}
	every := s.h.o.Heartbeat
	quiet := time.Since(s.out.last)
	if s.busy != nil || quiet < every {
		s.beat.Reset(max(every-quiet, every/8))
		s.mu.Unlock()
		return
	}
	s.silent = true
	s.busy = s.out
	s.beat.Reset(every)
	s.mu.Unlock()
	s.drain()
}

// isLost reports whether what was sent can have been lost, and is not kept.
func (s *stream) isLost() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost
}
