package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// DefaultAskTimeout is how long a function waits for an answer where Server.AskTimeout is 0.
const DefaultAskTimeout = 10 * time.Minute

// peerAsker sends requests to a client with initialize, on the stream of the call that asks.
type peerAsker struct{ session *Session }

func (a peerAsker) ask(ctx context.Context, _ string, q *Question) (json.RawMessage, error) {
	peer := a.session.peer()
	if peer == nil {
		return nil, ErrNoSession
	}
	limit := q.timeout
	if limit <= 0 {
		limit = a.session.server.AskTimeout
	}
	if limit <= 0 {
		limit = DefaultAskTimeout
	}
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var raw json.RawMessage
	err := peer.Call(waiting, q.method, json.RawMessage(q.params(a.session.now().revision)), &raw)
	switch {
	case err == nil:
		return raw, nil
	case ctx.Err() == nil && waiting.Err() != nil:
		return nil, ErrAskTimeout
	}
	return nil, clientFailure(q, err)
}

// codeRejected is what clients answer when the user refuses (MCP sampling, error handling).
const codeRejected jsonrpc2.Code = -1

// clientFailure is what an error answer of a client means. It is none that a function could return to its own client as it is.
func clientFailure(q *Question, err error) error {
	e, ok := errors.AsType[*jsonrpc2.Error](err)
	switch {
	case !ok:
		return err
	case e.Code == codeRejected, q.method == methodSample && strings.Contains(strings.ToLower(e.Message), "reject"):
		return ErrDeclined
	case e.Code == jsonrpc2.CodeMethodNotFound:
		return &CapabilityError{Missing: q.needs.missing()}
	}
	return &ClientError{Method: q.method, Code: e.Code, Message: e.Message}
}

// flow returns what is known of the call, from the first time that anybody asks for it.
func (c *call) flow() *flow {
	if f := c.asks.Load(); f != nil {
		return f
	}
	f := c.newFlow()
	if !c.asks.CompareAndSwap(nil, f) {
		return c.asks.Load()
	}
	return f
}

func (c *call) newFlow() *flow {
	f := &flow{}
	f.belong(c)
	return f
}

// belong makes the flow that of a call.
func (f *flow) belong(c *call) {
	f.call = c
	if c.modern() {
		f.server, f.rev = c.x.server, c.rev
		if f.asker = c.asker(); f.asker != nil {
			return
		}
		f.replay = true
		if !c.mayAsk() {
			f.closed = errAsksNowhere
		}
		return
	}
	f.of(c.session)
	if a := c.asker(); a != nil {
		f.asker = a
	}
}

// of makes the flow that of a session with initialize.
func (f *flow) of(ses *Session) {
	t := ses.now()
	f.server, f.rev = ses.server, t.revision
	if ses.peer() != nil {
		f.terms, f.asker = t, peerAsker{ses}
	}
}

// looseFlow is for what is asked outside of calls: of a session with initialize, or of nobody.
func (ses *Session) looseFlow() *flow {
	f := new(flow)
	if ses != nil {
		f.of(ses)
	}
	return f
}
