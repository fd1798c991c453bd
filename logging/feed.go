package logging

import (
	"context"
	"strconv"
	"sync"
	"time"
)

// DefaultMaxFeed is how many bytes of messages wait in a [Feed] where MaxQueued is zero.
const DefaultMaxFeed = 16 << 20

// Sink takes the records of a [Feed], one after the other and never two at once. It must not keep r; the strings in it may be kept. A panic in it
// loses the record.
type Sink interface {
	Record(r *Record)
}

// Flusher is implemented by sinks that gather records. Flush is called when none waits any more.
type Flusher interface{ Flush() }

// FeedOptions configure a [Feed]. The zero value is useful.
type FeedOptions struct {
	// Redact lists names that hold secrets, in addition to the built-in ones. See [NewRedactor].
	Redact []string
	// MaxMessage is the number of bytes of a redacted message that are kept. 0 or negative: all.
	MaxMessage int
	// MaxQueued is how many bytes of messages may wait for the sink, each counted with 200 more. What comes then is dropped and counted, and a
	// record of kind dropped says so. One whole message is always taken. 0 is DefaultMaxFeed.
	MaxQueued int
	// Process becomes a member of every record, if not empty.
	Process string
}

// Feed hands the traffic of any number of connections to a [Sink], without its secrets. Whoever sends or receives a message pays for a copy of it
// and for nothing else: a goroutine of the feed redacts it and calls the sink. A sink that is slow, a full disk or a viewer that sleeps, so never
// holds up a connection. It loses records instead, and a record says how many.
//
// A Feed is safe for concurrent use. It must be closed.
type Feed struct {
	sink     Sink
	redactor *Redactor
	limit    int // of a message; negative: none
	room     int
	process  string
	ended    chan struct{} // the goroutine has gone

	mu       sync.Mutex
	wake     sync.Cond // on mu: there is work, or the end
	asleep   bool
	closing  bool
	queue    queue
	size     int // bytes that wait or are being worked on
	sources  map[string]int
	dropping []*Source
	idle     []chan struct{} // closed when nothing waits any more
}

// queue is what waits. Short messages stand one behind the other in text; both slices are used again.
type queue struct {
	items []item
	text  []byte
}

// item is a record that is not made yet.
type item struct {
	source *Source
	time   time.Time
	kind   Kind
	out    bool
	own    []byte // the message, if it is long
	lo, hi int    // else: where it stands in the queue's text
	length int
	unit   uint64
	queued time.Duration
	run    time.Duration
}

const (
	itemSize   = 200
	longItem   = 32 << 10 // copied without the lock
	maxSources = 4096     // names that are remembered
	keepText   = 1 << 20  // capacity of a queue that is kept for the next time
)

// NewFeed returns a Feed for sink. Nil options are the zero FeedOptions.
func NewFeed(sink Sink, o *FeedOptions) *Feed {
	if o == nil {
		o = new(FeedOptions)
	}
	f := &Feed{sink: sink, redactor: NewRedactor(o.Redact...), limit: o.MaxMessage, room: o.MaxQueued,
		process: printable(o.Process, false), ended: make(chan struct{}), sources: map[string]int{}}
	if f.limit <= 0 {
		f.limit = -1
	}
	if f.room <= 0 {
		f.room = DefaultMaxFeed
	}
	f.wake.L = &f.mu
	go f.work()
	return f
}

// Source is one connection of a [Feed]. It satisfies the tap interface of package jsonrpc2. A nil *Source does nothing.
type Source struct {
	feed     *Feed
	name     string
	client   string
	protocol string
	cancels  []Cancel

	// Under the feed's lock.
	units   uint64
	dropped int
	bytes   int
	closed  bool
}

// Open begins a connection. Its name gets a number when it was used before. A nil *Feed gives a nil *Source.
func (f *Feed) Open(name, protocol string, cancels ...Cancel) *Source {
	return f.OpenFor("", name, protocol, cancels...)
}

// maxClient is how many bytes of a client's name are kept.
const maxClient = 200

// OpenFor is Open for a client that has said what it calls itself. The text may be anything: it is redacted, and shortened.
func (f *Feed) OpenFor(client, name, protocol string, cancels ...Cancel) *Source {
	if f == nil {
		return nil
	}
	if client != "" {
		client = printable(f.redactor.Text(client), false)
		if len(client) > maxClient {
			client = cut(client, maxClient) + "…"
		}
	}
	s := &Source{feed: f, name: printable(name, false), client: client, protocol: printable(protocol, false), cancels: cancels}
	f.mu.Lock()
	defer f.mu.Unlock()
	if s.name == "" {
		s.name = "connection"
	}
	s.name = f.unique(s.name)
	f.add(item{source: s, kind: KindOpen, time: time.Now()})
	return s
}

// Name is the name of the connection in the records.
func (s *Source) Name() string {
	if s == nil {
		return ""
	}
	return s.name
}

// Inbound takes a message that was received. It does not keep frame.
func (s *Source) Inbound(frame []byte) { s.message(frame, false) }

// Outbound takes a message that is sent. It does not keep frame.
func (s *Source) Outbound(frame []byte) { s.message(frame, true) }

func (s *Source) message(frame []byte, out bool) {
	if s == nil {
		return
	}
	i := item{source: s, time: time.Now(), out: out, length: len(frame)}
	if len(frame) > longItem {
		if !s.feed.hasRoom(s, len(frame), out) {
			return
		}
		i.own = append([]byte(nil), frame...)
	}
	f := s.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	if !out {
		s.units++
		i.unit = s.units
	}
	if !f.fits(len(frame)) {
		f.drop(s, len(frame))
		return
	}
	if i.own == nil {
		i.lo = len(f.queue.text)
		f.queue.text = append(f.queue.text, frame...)
		i.hi = len(f.queue.text)
	}
	f.add(i)
}

// Timing tells how long a message waited and ran: unit is its number on this connection, see jsonrpc2.Event, 0 if not known; id is the JSON text of
// the request's id, empty for a notification.
func (s *Source) Timing(unit uint64, id string, queued, run time.Duration) {
	if s == nil || unit == 0 && id == "" {
		return
	}
	f := s.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.fits(len(id)) {
		return // its message was dropped as well, or will be
	}
	i := item{source: s, time: time.Now(), kind: KindTiming, unit: unit, queued: queued, run: run, lo: len(f.queue.text)}
	f.queue.text = append(f.queue.text, id...)
	i.hi = len(f.queue.text)
	f.add(i)
}

// Close ends the connection. why is for a reader, empty if it ended in good order; it is redacted like any text.
func (s *Source) Close(why string) {
	if s == nil {
		return
	}
	f := s.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	f.add(item{source: s, kind: KindClose, time: time.Now(), own: []byte(why)})
}

// unique makes a name that was used before another one. The lock is held.
func (f *Feed) unique(name string) string {
	n, used := f.sources[name]
	if len(f.sources) < maxSources || used {
		f.sources[name] = n + 1
	} else { // names of so many connections are not remembered: each further one gets a number
		n = f.sources[""] + 1
		f.sources[""] = n
	}
	if n == 0 {
		return name
	}
	return name + "#" + strconv.Itoa(n+1)
}

// fits reports whether a message of n bytes may wait. The lock is held.
func (f *Feed) fits(n int) bool { return !f.closing && (f.size == 0 || f.size+n+itemSize <= f.room) }

// hasRoom is fits before a long message is copied: what would not fit is counted here.
func (f *Feed) hasRoom(s *Source, n int, out bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fits(n) {
		return true
	}
	if !out {
		s.units++
	}
	f.drop(s, n)
	return false
}

// drop counts a message that does not fit. The lock is held.
func (f *Feed) drop(s *Source, n int) {
	if f.closing {
		return
	}
	if s.dropped == 0 {
		f.dropping = append(f.dropping, s)
	}
	s.dropped++
	s.bytes += n
}

// add lets an item wait. The lock is held.
func (f *Feed) add(i item) {
	if f.closing {
		return
	}
	f.size += max(i.hi-i.lo, len(i.own)) + itemSize
	f.queue.items = append(f.queue.items, i)
	if f.asleep {
		f.asleep = false
		f.wake.Signal()
	}
}

// Flush waits until the sink has got everything that was there when it was called, or ctx ends.
func (f *Feed) Flush(ctx context.Context) error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	if f.size == 0 && len(f.dropping) == 0 {
		f.mu.Unlock()
		return nil
	}
	done := make(chan struct{})
	f.idle = append(f.idle, done)
	f.mu.Unlock()
	select {
	case <-done:
		return nil
	case <-f.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close ends the feed: what waits goes to the sink and nothing new is taken. It returns when that is done, or ctx ends; then the rest follows as the
// sink takes it. Sources may go on being used, to no effect.
func (f *Feed) Close(ctx context.Context) error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	f.closing = true
	f.asleep = false
	f.wake.Signal()
	f.mu.Unlock()
	select {
	case <-f.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
