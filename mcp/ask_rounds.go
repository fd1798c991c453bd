package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// target is a request that may ask: what is called, and what a retry brings.
type target struct {
	what      byte   // 't', 'p' or 'r'
	name      string // or URI
	arguments Arguments
	responses []byte // inputResponses
	state     []byte // requestState
}

func (t *target) method() string {
	switch t.what {
	case 't':
		return "tools/call"
	case 'p':
		return "prompts/get"
	}
	return "resources/read"
}

func (t *target) run(s *Server, ctx context.Context) (any, error) {
	switch t.what {
	case 't':
		return s.Caller(ctx, t.name, t.arguments)
	case 'p':
		return s.Prompter(ctx, t.name, t.arguments)
	}
	return s.Reader(ctx, t.name)
}

// digest is that of what is called, and with what: neither the answers of the client belong to it, nor _meta.
func (t *target) digest() []byte {
	raw := t.arguments.raw
	if len(raw) == 0 {
		raw = emptyResult
	}
	h := sha256.New()
	writeText(h, t.method())
	writeText(h, t.name)
	digestJSON(h, raw)
	return h.Sum(nil)[:digestSize]
}

// grace is how long a function may go on after it has asked, before the client gets the question without it.
const grace = 5 * time.Second

// errAnswered closes a flow whose request was answered.
var errAnswered = fmt.Errorf("%w: the request was answered", ErrNoRequests)

// serve runs the function of a request that may ask, once or more often.
func (s *Server) serve(ctx context.Context, c *call, r *jsonrpc2.Request, t target) (any, error) {
	if c.modern() {
		return s.round(ctx, c, r, &t)
	}
	if s.ReplayLegacy && c != nil {
		return s.rounds(ctx, c, r, t, nil, nil, true)
	}
	res, err := t.run(s, ctx)
	if err == nil && (c == nil || c.asks.Load() == nil) {
		if _, asks := res.(*InputRequired); !asks {
			return res, nil
		}
	}
	return s.rounds(ctx, c, r, t, res, err, false)
}

// round is one round of a modern call: each is a request of its own.
func (s *Server) round(ctx context.Context, c *call, r *jsonrpc2.Request, t *target) (any, error) {
	c.x.mayAsk = true
	f, err := s.resume(ctx, c, r, t)
	if err != nil {
		return s.outcome(c, t, err)
	}
	if f == nil && !c.x.able { // it can be asked nothing
		res, err := t.run(s, ctx)
		return s.conclude(ctx, c, r, c.asks.Load(), t, res, err)
	}
	if f == nil {
		f = c.newFlow()
	}
	entry, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	f.stop = stop
	f.enter()
	c.asks.Store(f)
	var res any
	if f.resumed || s.askers.known(t) {
		res, err = s.aside(entry, r, f, t)
	} else { // most never ask, and a goroutine for each is not free
		res, err = t.run(s, entry)
	}
	return s.conclude(ctx, c, r, f, t, res, err)
}

var errResponses = &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "Invalid params: inputResponses must be an object"}

// resume continues a call with what a retry brings; nil: this is the first round.
func (s *Server) resume(ctx context.Context, c *call, r *jsonrpc2.Request, t *target) (*flow, error) {
	given, err := readResponses(t.responses, peek(r, c))
	if err != nil || given == nil && t.state == nil {
		return nil, err
	}
	f := new(flow)
	if t.state != nil {
		token, ok := stringValue(t.state)
		if !ok {
			return nil, errState
		}
		if f, err = s.unseal(ctx, token, t); err != nil {
			s.report(ctx, r, err)
			return nil, errState
		}
	}
	f.belong(c)
	f.given, f.resumed = given, true
	return f, f.absorb()
}

// readResponses reads inputResponses; nil: there are none.
func readResponses(raw, params []byte) (map[string]json.RawMessage, error) {
	if raw == nil {
		// null is not the same as nothing, and pick does not tell one from the other.
		if bytes.Contains(params, []byte(`"inputResponses"`)) && hasMember(params, "inputResponses") {
			return nil, errResponses
		}
		return nil, nil
	}
	if !isObject(raw) {
		return nil, errResponses
	}
	given := make(map[string]json.RawMessage)
	for o := (object{b: bytes.Clone(raw)}); ; {
		name, value, ok := o.next()
		if !ok {
			return given, nil
		}
		key := unquoted(name)
		if _, twice := given[key]; twice {
			return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "Invalid params: inputResponses has " + strconv.Quote(clip(key)) + " twice"}
		}
		given[key] = value
	}
}

func hasMember(raw []byte, name string) bool {
	for o := (object{b: raw}); ; {
		n, _, ok := o.next()
		if !ok || sameName(n, name) {
			return ok
		}
	}
}

type result struct {
	v   any
	err error
}

// aside runs the function of a call that may end early: what goes on after it has asked is not waited for for ever (S3).
func (s *Server) aside(ctx context.Context, r *jsonrpc2.Request, f *flow, t *target) (any, error) {
	done := make(chan result, 1)
	own := *t
	if own.arguments.req != nil { // it may outlive the request
		r.Params()
		own.arguments.req = nil
	}
	go func() {
		out := result{nil, errors.New("mcp: the function has ended its goroutine")}
		defer func() {
			if p := recover(); p != nil {
				out = result{nil, &jsonrpc2.PanicError{Value: p, Stack: debug.Stack()}}
			}
			done <- out
		}()
		out.v, out.err = own.run(s, ctx)
	}()
	select {
	case out := <-done:
		return out.v, out.err
	case <-ctx.Done():
	}
	if !f.asks() { // cancelled by the client
		out := <-done
		return out.v, out.err
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case out := <-done:
		return out.v, out.err
	case <-late.C:
		s.report(ctx, r, fmt.Errorf("mcp: %s %q goes on %v after it has asked, without looking at its context", t.method(), t.name, grace))
		return nil, ErrInputRequired
	}
}

func (f *flow) asks() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.pending) > 0
}

// conclude makes the answer of a round of what the function has returned.
func (s *Server) conclude(ctx context.Context, c *call, r *jsonrpc2.Request, f *flow, t *target, res any, err error) (any, error) {
	plain, explicit := res.(*InputRequired)
	if explicit = explicit && err == nil; f == nil {
		if !explicit {
			if err != nil {
				return s.outcome(c, t, err)
			}
			return res, nil
		}
		f = c.flow()
	}
	if _, panicked := errors.AsType[*jsonrpc2.PanicError](err); panicked {
		return nil, err
	}
	f.mu.Lock()
	fault, pending, resumed := f.fault, f.pending, f.resumed
	f.mu.Unlock()
	if resumed {
		c.uncached()
	}
	switch {
	case fault != nil:
		return nil, fault
	case len(pending) > 0:
		s.askers.add(t)
		if err == nil {
			s.swallowed(ctx, r, t)
		}
	case explicit:
		if pending, err = f.plain(plain); err != nil {
			return s.outcome(c, t, err)
		}
	case err != nil:
		return s.outcome(c, t, err)
	default:
		f.close()
		return res, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = errAnswered
	if f.round++; f.round > maxRounds {
		return s.outcome(c, t, ErrRounds)
	}
	token, err := s.seal(ctx, f, t)
	if err != nil {
		return nil, err
	}
	return &inputRequired{pending, token}, nil
}

func (f *flow) close() {
	f.mu.Lock()
	f.closed = errAnswered
	f.mu.Unlock()
}

// rounds goes on with a call of a client with initialize, whose function has returned res and err, until it asks no more: the client is sent what was asked,
// and the function called again. With again, it is called for the first time, too, and runs as in revision 2026-07-28.
func (s *Server) rounds(ctx context.Context, c *call, r *jsonrpc2.Request, t target, res any, err error, again bool) (any, error) {
	var f *flow
	if c == nil {
		f = &flow{server: s, rev: newest}
	} else {
		f = c.flow()
	}
	run := func() {
		entry := ctx
		if again {
			var stop context.CancelCauseFunc
			entry, stop = context.WithCancelCause(ctx)
			defer stop(nil)
			f.replay, f.stop = true, stop
		}
		f.enter()
		res, err = t.run(s, entry)
	}
	if again {
		run()
	}
	for {
		f.mu.Lock()
		fault, pending := f.fault, f.pending
		f.mu.Unlock()
		plain, explicit := res.(*InputRequired)
		explicit = explicit && err == nil
		switch {
		case fault != nil:
			return nil, fault
		case len(pending) > 0:
			if err == nil {
				s.swallowed(ctx, r, &t)
			}
			explicit = false
		case explicit:
			if pending, err = f.plain(plain); err != nil {
				return s.outcome(c, &t, err)
			}
			if len(pending) == 0 {
				return s.outcome(c, &t, errBusy)
			}
		case err != nil:
			return s.outcome(c, &t, err)
		default:
			return res, nil
		}
		if f.round++; f.round > maxRounds {
			return s.outcome(c, &t, ErrRounds)
		}
		if err := f.fulfil(ctx, pending); err != nil {
			if explicit || ctx.Err() != nil {
				return s.outcome(c, &t, err)
			}
			f.fail(pending, err)
		}
		if f, err = s.handOn(ctx, c, f, &t); err != nil {
			return s.outcome(c, &t, err)
		}
		run()
	}
}

// fail lets what was asked fail when it is asked again.
func (f *flow) fail(qs []*Question, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, q := range qs {
		if _, ok := f.given[q.key]; !ok {
			f.asked[q.key].failure = err
		}
	}
}

// handOn passes a call from one round to the next as the client of 2026-07-28 would, through the sealed state.
func (s *Server) handOn(ctx context.Context, c *call, f *flow, t *target) (*flow, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	token, err := s.seal(ctx, f, t)
	if err != nil {
		return nil, err
	}
	next, err := s.unseal(ctx, token, t)
	if err != nil {
		return nil, err
	}
	for key, a := range f.asked {
		if a.failure != nil {
			next.asked[key].failure = a.failure
		}
	}
	next.given = f.given
	next.belong(c)
	c.asks.Store(next)
	return next, next.absorb()
}

var errBusy = errors.New("busy, retry later")
