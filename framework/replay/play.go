package replay

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/logging"
)

// Defaults of [Options].
const (
	DefaultPatience = 30 * time.Second
	DefaultSettle   = time.Second
)

// Options are the settings of a replay. The zero value and nil are ready to use.
type Options struct {
	// Ignore are members that may differ, for times, tokens and process ids: their names from the top of the message, joined by dots, as
	// "result.items.*.time" or "params.**.token"; * is one name or index, ** any number of them. METHOD: before it says in which message, for an
	// answer in the one to which request: "notes/read:result.version".
	Ignore []string
	// Null are members of recorded messages that are sent as null, written like Ignore; nil stands for "params.processId", as a server would end
	// because a process that was recorded has. Only names of one level after another are looked at, no *.
	Null []string
	// Opaque are members that hold a string without meaning, which may differ, written like Ignore. Where the client sent it back, it sends that of now.
	Opaque []string
	// Superseded are notifications of which only the last one counts, as a server may leave out others when it is busy: their method, and after a
	// colon the member that says about what, if there is one: "textDocument/publishDiagnostics:params.uri".
	Superseded []string
	// Redact lists names that hold secrets, as they were given to the recorder.
	Redact []string
	// Window is how far from its place a notification of the server may come: so many messages to the server earlier or later. 0: anywhere.
	Window int
	// Patience is how long an answer, or a request of the server, may take; DefaultPatience if 0. Settle is the same for notifications, which a
	// server may be free not to send; DefaultSettle if 0.
	Patience, Settle time.Duration
}

// Play sends what the server of a session received, in the same order, to the server at the other end of t, and compares what it sends with what is
// recorded. t is closed in the end.
//
// A message is sent when everything the server had sent before it then has been sent now, or is overdue. So requests that ran side by side do so
// again, and one that was made because of an answer is made after that answer. Answers are found by the id of the request, whatever their order;
// those to requests that the client cancelled may be errors, or missing, where they were not; requests of the server, whose ids may be others, by method and params, and are answered as they were; notifications are compared as a bag. Objects
// compare without regard to order, numbers by value, and whatever was taken out of the recording as a secret is like anything. Where the connection was
// over within Settle of the last message to the server, nobody knows what would have come; what comes now is no difference. Nor is what the server tells, in one of
// Superseded, after a message that came so late.
//
// The error is that of ctx, or of t when nothing could be sent; what the server does wrong is in the report, which is never nil.
func (s *Session) Play(ctx context.Context, t jsonrpc2.Transport, o *Options) (*Report, error) {
	if o == nil {
		o = new(Options)
	}
	p := &player{session: s, o: *o, t: t, report: new(Report), arrived: make(chan []byte, 64), over: make(chan struct{}), methods: map[string]string{}}
	p.cmp.redactor, p.cmp.tokens = logging.NewRedactor(o.Redact...), map[string]string{}
	for _, text := range o.Ignore {
		p.cmp.ignore = append(p.cmp.ignore, parsePath(text))
	}
	for _, text := range o.Opaque {
		p.cmp.opaque = append(p.cmp.opaque, parsePath(text))
	}
	p.superseded = map[string][]string{}
	for _, text := range o.Superseded {
		method, member, ok := strings.Cut(text, ":")
		p.superseded[method] = nil
		if ok {
			p.superseded[method] = strings.Split(member, ".")
		}
	}
	null := o.Null
	if null == nil {
		null = []string{"params.processId"}
	}
	for _, text := range null {
		p.null = append(p.null, parsePath(text))
	}
	if p.o.Patience <= 0 {
		p.o.Patience = DefaultPatience
	}
	if p.o.Settle <= 0 {
		p.o.Settle = DefaultSettle
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		p.read()
	}()
	err := p.run(ctx)
	close(p.over)
	_ = t.Close()
	<-read
	p.conclude()
	return p.report, err
}

// expected is a message of the server that was recorded.
type expected struct {
	part
	step   int // in the session
	sent   int // messages to the server before it
	found  bool
	missed bool   // waited for in vain
	about  string // of a notification of which only the last one counts: what it is about
	last   bool   // it is that one
}

// player is one replay.
type player struct {
	session *Session
	o       Options
	cmp     comparer
	null    []path
	t       jsonrpc2.Transport
	report  *Report
	arrived chan []byte // from the server; closed at its end
	over    chan struct{}

	want    []*expected
	extra   []came          // notifications that are none of those
	silent  map[string]int  // notifications that were waited for in vain, by method
	latest  map[string]came // the last notification about something
	total   int             // messages to be sent
	hurry   int             // the first of them that hurried is true of, from 1; 0: none is, and what comes after the end is a difference
	givenUp map[string]bool // requests that the client cancelled: they may be answered either way, or not

	superseded map[string][]string // methods of which only the last notification counts, with the member that says about what
	methods    map[string]string   // of requests, by the id they were sent with
	ids        map[string]string   // of the server's requests: recorded, and now
	sent       int
	ended      bool // the server has
}

// came is a notification of the server.
type came struct {
	part
	sent int
}

// read is the goroutine that reads, until the transport is closed.
func (p *player) read() {
	defer close(p.arrived)
	for {
		frame, err := p.t.Read()
		if err != nil {
			return
		}
		select {
		case p.arrived <- bytes.Clone(frame):
		case <-p.over:
			return
		}
	}
}

// run walks through the session.
func (p *player) run(ctx context.Context) error {
	p.ids, p.silent, p.latest = map[string]string{}, map[string]int{}, map[string]came{}
	p.expectAll()
	for i := range p.session.steps {
		st := &p.session.steps[i]
		if st.remark != "" {
			p.report.Skipped++
			continue
		}
		if !st.in {
			continue
		}
		if err := p.await(ctx, i); err != nil {
			return err
		}
		if p.ended {
			p.report.add(Difference{What: Ended, Step: i + 1, Method: st.method()})
			return nil
		}
		for _, part := range st.parts {
			if part.kind == jsonrpc2.KindRequest {
				p.methods[part.id] = part.method
			}
		}
		if err := p.t.Write(p.cmp.current(p.outgoing(st))); err != nil {
			if p.sent == 0 {
				return fmt.Errorf("replay: %w", err)
			}
			p.report.add(Difference{What: Ended, Step: i + 1, Method: st.method()})
			return nil
		}
		p.sent++
		p.report.Sent++
	}
	if err := p.await(ctx, len(p.session.steps)); err != nil {
		return err
	}
	return p.drain(ctx)
}

func (st *step) method() string {
	if len(st.parts) == 0 {
		return ""
	}
	return st.parts[0].method
}

// expectAll notes what the server sent.
func (p *player) expectAll() {
	sent := 0
	methods, last := map[string]string{}, map[string]*expected{}
	for i, st := range p.session.steps {
		if st.in {
			if sent++; p.hurry == 0 && p.session.hurried(&st, p.o.Settle) {
				p.hurry = sent
			}
			for _, part := range st.parts {
				if part.kind == jsonrpc2.KindRequest {
					methods[part.id] = part.method
				}
			}
			continue
		}
		for _, part := range st.parts {
			if part.kind == jsonrpc2.KindResponse {
				part.method = methods[part.id]
				if part.id == "" || part.id == "null" {
					p.report.Skipped++ // an answer to what was no message
					continue
				}
			}
			w := &expected{part: part, step: i, sent: sent}
			if part.kind == jsonrpc2.KindNotification {
				if w.about = p.about(part); w.about != "" {
					if before := last[w.about]; before != nil {
						before.last = false
					}
					w.last, last[w.about] = true, w
				}
			}
			p.want = append(p.want, w)
		}
	}
	p.givenUp = p.session.givenUp()
	p.total = sent
}

// await waits until what the server sent before a step has come, or is overdue.
func (p *player) await(ctx context.Context, before int) error {
	limit := time.NewTimer(p.o.Patience)
	defer limit.Stop()
	settle := time.NewTimer(p.o.Settle)
	defer settle.Stop()
	for {
		select { // what is there already counts, however late it is
		case text, ok := <-p.arrived:
			if ok {
				p.take(text)
				settle.Reset(p.o.Settle)
				continue
			}
			p.ended, p.arrived = true, nil
			return nil
		default:
		}
		answers, notes := p.open(before)
		if answers+notes == 0 || p.ended {
			return nil
		}
		var late <-chan time.Time
		if answers == 0 {
			late = settle.C
		}
		select {
		case text, ok := <-p.arrived:
			if !ok {
				p.ended, p.arrived = true, nil
				return nil
			}
			p.take(text)
			settle.Reset(p.o.Settle)
			limit.Reset(p.o.Patience)
		case <-late:
			p.miss(before)
			return nil
		case <-limit.C:
			p.miss(before)
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// maxSilent is how many notifications of one method are waited for in vain. A server that does not send them any more will not send the next ones.
const maxSilent = 3

// open counts what is still to come before a step. Where another notification of the method has come, it is taken to be there, and changed.
func (p *player) open(before int) (answers, notes int) {
	var others map[string]int
	for _, w := range p.want {
		if w.step >= before {
			break
		}
		switch {
		case w.found || w.missed:
		case w.kind == jsonrpc2.KindResponse && p.givenUp[w.id]:
			notes++ // there may be none
		case w.kind != jsonrpc2.KindNotification:
			answers++
		case p.silent[w.method] >= maxSilent:
		default:
			if others == nil {
				others = map[string]int{}
				for _, one := range p.extra {
					others[one.method]++
				}
			}
			if others[w.method] > 0 && !w.last {
				others[w.method]--
				continue
			}
			notes++
		}
	}
	return answers, notes
}

// miss gives up waiting, not looking.
func (p *player) miss(before int) {
	for _, w := range p.want {
		if w.step < before && !w.found && !w.missed {
			w.missed = true
			if w.kind == jsonrpc2.KindNotification {
				p.silent[w.method]++
			}
		}
	}
}

// drain takes what comes beyond the end of the recording, until nothing has come for a moment.
func (p *player) drain(ctx context.Context) error {
	quiet := time.NewTimer(p.o.Settle / 4)
	defer quiet.Stop()
	limit := time.NewTimer(p.o.Patience)
	defer limit.Stop()
	for {
		select {
		case text, ok := <-p.arrived:
			if !ok {
				p.arrived = nil
				return nil
			}
			p.take(text)
			quiet.Reset(p.o.Settle / 4)
		case <-quiet.C:
			return nil
		case <-limit.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
