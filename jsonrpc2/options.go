package jsonrpc2

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/tandem-rpc/tandem/cancel"
)

// Defaults of the limits in [Options].
const (
	DefaultMaxRunning = 1024
	DefaultMaxBatch   = 128
	DefaultMaxFrame   = 16 << 20
	DefaultMaxHeader  = 8 << 10
	DefaultMaxDepth   = 512
	DefaultMaxQueued  = 4 << 20
	DefaultMaxUnsent  = 1 << 20
)

// NoBatch as [Options.MaxBatch] refuses every batch.
const NoBatch = -1

// Options are the settings of a [Conn] or [Dispatcher]. The zero value and nil are ready to use. Functions in it are called by many goroutines
// at once and never with a lock held.
type Options struct {
	// Codec encodes and decodes payloads; nil is DefaultCodec.
	Codec Codec
	// Cancel holds the cancellation conventions of the connection; nil: none until Conn.OnCancel. One Registry can serve many connections.
	Cancel *cancel.Registry
	// Tap sees the raw traffic; nil: none.
	Tap Tap
	// Report is told what goes wrong without the peer being told: failures of handlers and notifications, results that cannot be encoded, late
	// or stray responses, errors of the peer without an id, units that cannot be parsed. r is nil when no request is concerned. A panic in it
	// is dropped.
	Report func(ctx context.Context, r *Request, err error)
	// Admit is asked about every request and notification in the order they came, before it is scheduled: an error refuses it (a request is
	// answered with it, a notification dropped). This is where a protocol keeps its lifecycle. It runs on the goroutine that reads and must
	// not block. Entries of a batch are asked about one by one, after AdmitBatch.
	Admit func(ctx context.Context, r *Request) error
	// AdmitBatch is asked about each batch as a whole, before anything of it runs: an error refuses it with one answer, id null. Invalid
	// entries are in the list too, with the method they name, if any. It runs on the goroutine that reads and must not block.
	AdmitBatch func(ctx context.Context, batch []*Request) error
	// Capture returns the context of a handler, derived from ctx. It runs in the order the messages came relative to all Ordered handlers: when
	// it runs for a message, every Ordered message before it has been handled and none after it, so what it captures is the state as of that
	// message's place in the stream. It must not block.
	Capture func(ctx context.Context, r *Request) context.Context
	// Observe is given one Event for each request and notification that was scheduled, after its handler returned.
	Observe func(Event)
	// OnClose is called once, when the connection has ended and all its handlers have returned, before Serve returns. err is what Serve returns.
	OnClose func(c *Conn, err error)

	// MaxRunning is the number of Concurrent handlers that run at once; more wait. A handler that waits for an outbound call does not count.
	MaxRunning int
	// MaxPending, if above 0, refuses requests beyond so many in flight (running and waiting) with code -32000. 0 never refuses.
	MaxPending int
	// Overloaded is the error of those requests, for protocols in which -32000 means something else; nil is the default.
	Overloaded *Error
	// MaxBatch is the number of entries a batch may have, in either direction; NoBatch (or any negative number) refuses all inbound batches.
	MaxBatch int
	// MaxFrame is the size of one message in bytes, in either direction. A longer one that comes in is skipped and answered with -32600.
	MaxFrame int
	// MaxHeader is the size in bytes of the header block of the Header framing.
	MaxHeader int
	// MaxDepth is how deep JSON may be nested; the outermost bracket is 1.
	MaxDepth int
	// LongStrings has the long strings of params decoded in the pass that checks them, for handlers that take them by [Request.LongStrings]. What they take
	// is counted as what MaxQueued counts.
	LongStrings bool
	// MaxQueued is how many bytes of messages may have been read and not started, each counted with 400 more for what remembers it. At that many the
	// connection stops reading, unless an outbound call waits for its response. One whole message is always taken.
	MaxQueued int
	// MaxUnsent is how many bytes of encoded messages may wait to be written; handlers wait to append more.
	MaxUnsent int
	// Linger is how long handlers go on after the end of the input before their contexts are cancelled. 0 cancels at once.
	Linger time.Duration
	// WriteTimeout ends the connection when the peer takes nothing for so long, on transports that have write deadlines, as sockets and pipes do.
	// 0 waits for ever: such a peer costs no more than MaxQueued and MaxUnsent, and hurts nobody else.
	WriteTimeout time.Duration
	// FlushTimeout bounds how long an ending connection waits for the last answers to be written; 0 is 5 s.
	FlushTimeout time.Duration
}

// Tap sees every message as it is on the wire, without framing: what comes in before it is parsed, what goes out before it is written. It is
// called by many goroutines at once with no lock held, so outbound records may stand in another order than the writes; it must not keep or
// change frame.
type Tap interface {
	Inbound(frame []byte)
	Outbound(frame []byte)
}

// Taps gives the traffic to each of several. Those that are nil are left out; it is nil when none is left.
func Taps(to ...Tap) Tap {
	var some taps
	for _, t := range to {
		if t != nil {
			some = append(some, t)
		}
	}
	switch len(some) {
	case 0:
		return nil
	case 1:
		return some[0]
	}
	return some
}

type taps []Tap

func (t taps) Inbound(frame []byte) {
	for _, to := range t {
		to.Inbound(frame)
	}
}

func (t taps) Outbound(frame []byte) {
	for _, to := range t {
		to.Outbound(frame)
	}
}

// Event is what [Options.Observe] gets.
type Event struct {
	Method       string        // "" for what has no route
	ID           ID            // of a request; zero for a notification
	Unit         uint64        // the call of Tap.Inbound that showed the message, counted from 1 on each connection; 0 where there is no connection
	Notification bool          // no answer was owed
	Queued       time.Duration // from being read to the start of the handler
	Run          time.Duration // from the start of the handler to its return
	In, Out      int           // bytes of params and of the result or error
	Code         Code          // of the error answered, 0 for a result
}

// config is Options with the defaults filled in.
type config struct {
	Options
	codec  Codec
	append AppendCodec // codec, if it can append
	line   LineCodec   // codec, if it knows what has no line feeds
}

func (o *Options) config() *config {
	c := new(config)
	if o != nil {
		c.Options = *o
	}
	def := func(p *int, v int) {
		if *p <= 0 {
			*p = v
		}
	}
	def(&c.MaxRunning, DefaultMaxRunning)
	if c.MaxBatch == 0 {
		c.MaxBatch = DefaultMaxBatch
	}
	def(&c.MaxFrame, DefaultMaxFrame)
	def(&c.MaxHeader, DefaultMaxHeader)
	def(&c.MaxDepth, DefaultMaxDepth)
	def(&c.MaxQueued, DefaultMaxQueued)
	def(&c.MaxUnsent, DefaultMaxUnsent)
	if c.Overloaded == nil {
		c.Overloaded = errOverload
	}
	if c.FlushTimeout <= 0 {
		c.FlushTimeout = 5 * time.Second
	}
	if c.codec = c.Codec; c.codec == nil {
		c.codec = DefaultCodec
	}
	c.append, _ = c.codec.(AppendCodec)
	c.line, _ = c.codec.(LineCodec)
	if c.Cancel == nil {
		c.Cancel = cancel.NewRegistry()
	}
	return c
}

// report calls Report, if there is one, and survives it.
func (c *config) report(ctx context.Context, r *Request, err error) {
	if c.Report == nil {
		return
	}
	defer func() { _ = recover() }()
	c.Report(ctx, r, err)
}

// guard calls a hook of the front end and makes an error of a panic.
func (c *config) guard(hook func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{Value: p, Stack: debug.Stack()}
		}
	}()
	return hook()
}

// capture calls Capture, if there is one. A panic in it is reported, and the handler gets ctx.
func (c *config) capture(ctx context.Context, r *Request) (captured context.Context) {
	if c.Capture == nil {
		return ctx
	}
	defer func() {
		if p := recover(); p != nil {
			captured = ctx
			c.report(ctx, r, &PanicError{Value: p, Stack: debug.Stack()})
		}
	}()
	return c.Capture(ctx, r)
}

// observe calls Observe, if there is one, and survives it.
func (c *config) observe(e Event) {
	if c.Observe == nil {
		return
	}
	defer func() { _ = recover() }()
	c.Observe(e)
}

// inbound shows a frame to the Tap, if there is one, and survives it; outbound does the same.
func (c *config) inbound(frame []byte) {
	if c.Tap != nil {
		defer func() { _ = recover() }()
		c.Tap.Inbound(frame)
	}
}

func (c *config) outbound(frame []byte) {
	if c.Tap != nil {
		defer func() { _ = recover() }()
		c.Tap.Outbound(frame)
	}
}
