package vectors

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing/synctest"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// peer is a connection while a vector runs on it.
type peer struct {
	v      *Vector
	w      *witness
	conn   *jsonrpc2.Conn
	in     *io.PipeWriter
	out    *output
	served chan struct{} // closed when Serve has returned err
	err    error
	clock  *clock

	calls   map[string]*jsonrpc2.Pending
	refused map[string]error // calls that were refused before they were sent, by name
}

// runConn runs a vector through a Conn.
func runConn(v *Vector, f *fixture) (*observed, error) {
	p := &peer{
		v: v, w: new(witness), out: newOutput(v.Framing), served: make(chan struct{}),
		calls: map[string]*jsonrpc2.Pending{}, refused: map[string]error{},
	}
	mux, o, err := p.options(f)
	if err != nil {
		return nil, err
	}
	framing := jsonrpc2.Lines
	if v.Framing == "content-length" {
		framing = jsonrpc2.Header
	}
	// A pipe hands over each write as a read of its own, as far as the reader has room.
	read, write := io.Pipe()
	p.in = write
	p.conn = jsonrpc2.NewConn(jsonrpc2.Open(jsonrpc2.Join(read, p.out), framing), mux, o)
	if f.conventions {
		for _, c := range conventions {
			p.conn.OnCancel(c[0], c[1])
		}
	}
	p.clock = startClock(func() {
		_ = read.CloseWithError(errHangs)
		_ = p.conn.Close()
	})
	defer p.clock.t.Stop()
	go func() {
		defer close(p.served)
		p.err = p.conn.Serve(context.Background())
	}()

	err = p.converse()
	_ = write.Close()
	if ended := p.clock.wait("Serve does not return", p.served); err == nil {
		err = ended
	}
	if err != nil {
		_ = read.Close()
		_ = p.conn.Close()
	}
	got, bad := p.observe(f)
	return got, errors.Join(err, bad)
}

// options are those of the vector, and what the fixture needs.
func (p *peer) options(f *fixture) (*jsonrpc2.Mux, *jsonrpc2.Options, error) {
	o := p.v.options(p.w)
	if f.log {
		o.Tap = p.w.traffic(f)
	}
	if f.server == nil {
		return f.mux(p.w), o, nil
	}
	// An MCP server without the lifecycle of a session: its methods, codec and limits, and the two rules that hold without a session too.
	o.Report = nil
	s := f.server(p.w)
	if n := p.v.Opts.MaxBatchEntries; n != 0 {
		s.Batch = n
	}
	mux, err := s.Mount(o)
	if err != nil {
		return nil, nil, err
	}
	m := &messages{w: p.w, names: p.v.Contexts}
	o.Cancel, o.OnClose = nil, nil
	o.Tap, o.Capture = m, m.capture
	o.AdmitBatch = admitBatch
	o.Admit = func(ctx context.Context, r *jsonrpc2.Request) error {
		m.admit(r)
		return admitID(ctx, r)
	}
	return mux, o, nil
}

// options maps the vector's limits.
func (v *Vector) options(w *witness) *jsonrpc2.Options {
	return &jsonrpc2.Options{
		Report:     w.reporter,
		MaxFrame:   v.Opts.MaxMessageBytes,
		MaxHeader:  v.Opts.MaxHeaderBytes,
		MaxBatch:   v.Opts.MaxBatchEntries,
		MaxRunning: v.Opts.MaxConcurrentInbound,
		MaxPending: v.Opts.MaxConcurrentInbound,
	}
}

// messages gives each request the context of the message it came in.
type messages struct {
	w     *witness
	names []string
	n     int      // messages so far; for the goroutine that reads
	of    sync.Map // *jsonrpc2.Request: name
}

// Inbound counts messages.
func (m *messages) Inbound([]byte) { m.n++ }

// Outbound does nothing.
func (m *messages) Outbound([]byte) {}

func (m *messages) admit(r *jsonrpc2.Request) {
	if m.n <= len(m.names) {
		m.of.Store(r, m.names[m.n-1])
	}
}

func (m *messages) capture(ctx context.Context, r *jsonrpc2.Request) context.Context {
	name, _ := m.of.LoadAndDelete(r)
	text, _ := name.(string)
	return joined{ctx, m.w.context(text)}
}

// joined is a context with the values of a second one.
type joined struct {
	context.Context
	values context.Context
}

// Value looks in the second context first.
func (j joined) Value(key any) any {
	if v := j.values.Value(key); v != nil {
		return v
	}
	return j.Context.Value(key)
}

// converse takes the steps of the vector.
func (p *peer) converse() error {
	for i, s := range p.v.steps {
		if err := p.take(s); err != nil {
			return fmt.Errorf("in, element %d, %q: %w", i, clip(p.v.In[i]), err)
		}
	}
	return nil
}

func (p *peer) take(s Step) error {
	switch s.Kind {
	case "":
		// A peer that has stopped reading is no failure: what it wrote and how it ended tells.
		if _, err := p.in.Write(s.Bytes); errors.Is(err, errHangs) {
			return err
		}
	case "@await":
		return p.await(s.Count)
	case "@eof":
		return p.in.Close()
	case "@join":
		return p.clock.wait("Serve does not return", p.served)
	case "@settled":
		call := p.calls[s.Names[0]]
		if call == nil {
			return errors.New("no such call")
		}
		return p.clock.wait("the call has no outcome", call.Done())
	default:
		synctest.Wait() // what was written before has been taken in
		return p.act(s)
	}
	return nil
}

// await waits until n messages have been written.
func (p *peer) await(n int) error {
	for {
		have, more := p.out.count()
		if have >= n {
			return nil
		}
		select {
		case <-more:
		case <-p.served:
			if have, _ := p.out.count(); have < n {
				return fmt.Errorf("the connection ended after %d messages", have)
			}
		case <-p.clock.over:
			return fmt.Errorf("%d messages have been written: %w", have, errHangs)
		}
	}
}

// act does something on the peer's own side.
func (p *peer) act(s Step) error {
	switch s.Kind {
	case "@close":
		return p.conn.Close()
	case "@cancel":
		call := p.calls[s.Names[0]]
		if call == nil {
			return errors.New("no such call")
		}
		call.Cancel()
	case "@request", "@request-cancelled":
		ctx := context.Background()
		if s.Ended[0] {
			ctx = ended
		}
		p.enter(s.Names[0], p.conn.Go(ctx, s.Calls[0].method, s.Calls[0].value()))
	case "@notify":
		_ = p.conn.Notify(context.Background(), s.Calls[0].method, s.Calls[0].value()) // out tells
	case "@batch":
		p.batch(s)
	default:
		return errors.New("unknown step")
	}
	return nil
}

func (p *peer) batch(s Step) {
	var entries []jsonrpc2.Entry
	var names []string
	for i, c := range s.Calls {
		e := jsonrpc2.Entry{Method: c.method, Params: c.value(), Notification: c.notify}
		if s.Ended[i] {
			e.Context = ended
		}
		entries = append(entries, e)
	}
	for _, name := range s.Names {
		if name != "" {
			names = append(names, name)
		}
	}
	calls, err := p.conn.Batch(context.Background(), entries...)
	for i, name := range names {
		if err != nil {
			p.refused[name] = err
		} else {
			p.enter(name, calls[i])
		}
	}
}

// value is the params as an argument: nil for none, which null says too.
func (l local) value() any {
	if l.params == nil || string(l.params) == "null" {
		return nil
	}
	return l.params
}

// enter keeps a call. One that has an error and was never sent was refused, unless that is because its context had ended.
func (p *peer) enter(name string, call *jsonrpc2.Pending) {
	p.calls[name] = call
	select {
	case <-call.Done():
		if _, err := call.Result(); err != nil && call.ID().IsZero() && !errors.Is(err, context.Canceled) {
			p.refused[name] = err
		}
	default:
	}
}

// observe collects what came of the run.
func (p *peer) observe(f *fixture) (*observed, error) {
	o := &observed{futures: map[string]string{}, ended: true, logged: f.log}
	var err, bad error
	o.out, bad = p.out.all()
	if bad != nil {
		bad = fmt.Errorf("the peer wrote %w", bad)
	}
	for name, call := range p.calls {
		if waited := p.clock.wait("call "+name+" has no outcome", call.Done()); waited != nil {
			err = errors.Join(err, waited)
			continue
		}
		o.futures[name] = outcome(call.Result())
	}
	for name, why := range p.refused {
		o.futures[name] = thrown(why)
	}
	select {
	case <-p.served:
		o.err = p.err
	default:
		o.ended = false
	}
	logErr := p.w.observe(o)
	return o, errors.Join(bad, err, logErr)
}

// observe adds what was seen from the inside.
func (w *witness) observe(o *observed) error {
	var err error
	if o.logged {
		o.log, err = w.records()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	o.seen, o.report, o.sessions = w.seen, w.report, w.sessions
	return err
}
