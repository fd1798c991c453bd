package lsp

import (
	"context"
	"errors"
	"strconv"
	"sync"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Work describes something that takes long, for [Client.Begin].
type Work struct {
	Title       string // short, "Indexing"
	Message     string // what is being done now, "3/25 files"; may be empty
	Percent     bool   // reports will come with a percentage; else the client shows a bar without end
	Cancellable bool   // the client may offer a button, which ends [Progress.Context]
}

// Progress reports on work that takes long (LSP 3.18, "Work Done Progress"). Where the client cannot show it, reporting does nothing, so a handler need
// not ask. Methods may be called by many goroutines; a nil Progress does nothing.
type Progress struct {
	s     *session
	token protocol.ProgressToken
	limit context.Context // of the request whose token it is; nil: not bound to one
	ctx   context.Context
	stop  context.CancelCauseFunc

	mu      sync.Mutex // also held while sending, so that nothing follows the end
	armed   bool
	ended   bool
	percent bool
	last    uint32
}

// ErrProgressCancelled is the cause of [Progress.Context] when the user cancelled the work.
var ErrProgressCancelled = errors.New("lsp: work cancelled by the user")

// progresses are those that the client may cancel by their token.
type progresses struct {
	mu   sync.Mutex
	open map[protocol.ProgressToken]*Progress
	n    int
}

// Begin starts to report progress. In the handler of a request that carries a workDoneToken the first Begin reports under that token, and the progress
// ends at the latest with the handler. Else a token is made and the client asked to accept it (window/workDoneProgress/create), if it can; should it
// refuse, nothing is reported. Call End, on every path.
func (c *Client) Begin(ctx context.Context, w Work) *Progress {
	p := &Progress{s: c.s, percent: w.Percent}
	p.ctx, p.stop = context.WithCancelCause(ctx)
	if c.s == nil {
		return p
	}
	sc := scopeFrom(ctx)
	bound := false
	if sc != nil && sc.s == c.s && sc.in != nil && sc.in.work != nil {
		p.token, p.limit = sc.in.work, ctx
		bound = sc.in.used.CompareAndSwap(nil, p)
	}
	if !bound {
		p.token, p.limit = nil, nil
		if !c.create(ctx, p) {
			return p
		}
	}
	c.s.tasks.add(p)
	begin := &protocol.WorkDoneProgressBegin{Kind: "begin", Title: w.Title}
	if w.Message != "" {
		begin.Message = &w.Message
	}
	if w.Cancellable {
		begin.Cancellable = &w.Cancellable
	}
	if w.Percent {
		begin.Percentage = new(uint32)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended { // with the handler, which has not waited
		c.s.tasks.remove(p)
		return p
	}
	p.armed = true
	p.send(begin)
	return p
}

// create makes a token and has the client accept it.
func (c *Client) create(ctx context.Context, p *Progress) bool {
	if c.params == nil || c.params.Capabilities.Window == nil {
		return false
	}
	if can := c.params.Capabilities.Window.WorkDoneProgress; can == nil || !*can {
		return false
	}
	p.token = c.s.tasks.token()
	err := c.call(ctx, protocol.MethodWindowWorkDoneProgressCreate, &protocol.WorkDoneProgressCreateParams{Token: p.token}, nil)
	if err != nil { // then nothing may be sent under the token
		c.s.fail(ctx, nil, err)
		return false
	}
	return true
}

// Context ends when the user cancels the work, with cause [ErrProgressCancelled], when the progress ends, and with the context given to Begin.
func (p *Progress) Context() context.Context {
	if p == nil {
		return context.Background()
	}
	return p.ctx
}

// Report says what is being done now, and how much of it is done, in percent. The number is clamped to 0 to 100 and never goes back; it is not
// sent if [Work.Percent] was not set.
func (p *Progress) Report(message string, percent int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	report := &protocol.WorkDoneProgressReport{Kind: "report"}
	if message != "" {
		report.Message = &message
	}
	if p.percent {
		p.last = max(p.last, uint32(min(max(percent, 0), 100)))
		last := p.last
		report.Percentage = &last
	}
	p.send(report)
}

// End ends the progress. Nothing is sent under its token afterwards; a second End does nothing.
func (p *Progress) End(message string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	end := &protocol.WorkDoneProgressEnd{Kind: "end"}
	if message != "" {
		end.Message = &message
	}
	p.send(end)
	p.armed, p.ended = false, true
	p.mu.Unlock()
	p.stop(nil)
	if p.s != nil && p.token != nil {
		p.s.tasks.remove(p)
	}
}

// send sends a value of $/progress. A token of a request is dead once the request's handler has returned, whose context then has ended.
func (p *Progress) send(value any) {
	if !p.armed {
		return
	}
	ctx := p.s.ctx
	if p.limit != nil {
		if ctx = p.limit; ctx.Err() != nil && !p.owed(value) {
			return
		}
		ctx = context.WithoutCancel(ctx)
	}
	raw, err := Codec.Marshal(value)
	if err == nil {
		err = p.s.client.notify(ctx, protocol.MethodProgress, &protocol.ProgressParams{Token: p.token, Value: raw})
	}
	p.s.fail(ctx, nil, err)
}

// owed reports whether the value is the end, which is sent for a cancelled request too as long as its handler runs.
func (p *Progress) owed(value any) bool {
	_, end := value.(*protocol.WorkDoneProgressEnd)
	return end
}

func (t *progresses) token() protocol.ProgressToken {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n++
	return protocol.String("work-" + strconv.Itoa(t.n))
}

func (t *progresses) add(p *Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == nil {
		t.open = map[protocol.ProgressToken]*Progress{}
	}
	t.open[p.token] = p
}

func (t *progresses) remove(p *Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open[p.token] == p {
		delete(t.open, p.token)
	}
}

// cancelProgress handles window/workDoneProgress/cancel, beside everything else: the work may be what holds the lane up. A token that is not known, or no
// longer, is ignored.
func (s *session) cancelProgress(_ context.Context, r *jsonrpc2.Request) (any, error) {
	params := new(protocol.WorkDoneProgressCancelParams)
	if err := r.Decode(params); err != nil || params.Token == nil {
		return nil, err
	}
	t := &s.tasks
	t.mu.Lock()
	p := t.open[params.Token]
	t.mu.Unlock()
	if p != nil {
		p.stop(ErrProgressCancelled)
	}
	return nil, nil
}
