package lsptest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Exchange is a request of a recording, with its answer then and now.
type Exchange struct {
	Method string
	Params json.RawMessage
	Result json.RawMessage // of this server; nil for an error
	Err    error           // a *[jsonrpc2.Error], or what is wrong without an answer

	Recorded    json.RawMessage // the result that is recorded; nil for an error, and where none is
	RecordedErr *jsonrpc2.Error
}

// Replayed is what came of a [Replay].
type Replayed struct {
	Client    *Client // closed; its transcript is there to look at
	Exchanges []Exchange
}

// Misunderstood are the exchanges in which the server did not understand the editor: it answered that the request makes no sense (-32700, -32600, -32602), or
// failed (-32603), or did not answer. That it does not have a method (-32601) is no misunderstanding.
func (r *Replayed) Misunderstood() []Exchange {
	var all []Exchange
	for _, e := range r.Exchanges {
		if e.Err == nil {
			continue
		}
		answer, ok := errors.AsType[*jsonrpc2.Error](e.Err)
		if ok && !slices.Contains([]jsonrpc2.Code{jsonrpc2.CodeParseError, jsonrpc2.CodeInvalidRequest, jsonrpc2.CodeInvalidParams, jsonrpc2.CodeInternalError}, answer.Code) {
			continue
		}
		all = append(all, e)
	}
	return all
}

// Replay has a server go through the session that an editor had with another one. What the editor said is sent byte for byte, in its order, and not before the
// answers have come that it had when it said so; the last ones are waited for. Requests of the server are answered as the editor answered them, where it was asked
// the same, and else by the script of the Options, leniently. A message of the editor that the server does not understand fails the test, and so does
// what New lets fail it. The preset and the like play no part.
func Replay(t T, s Server, rec *Recording, o *Options) *Replayed {
	t.Helper()
	var opts Options
	if o != nil {
		opts = *o
	}
	opts.Manual, opts.Lenient = true, true
	opts.Answer = answersOf(rec, opts.Answer)
	c := New(t, s, &opts)
	r := &Replayed{Client: c}
	pending := make(map[string]*Pending)
	places := make(map[string]int)
	exited := false
	for _, e := range rec.Messages {
		m := &e.message
		switch {
		case e.Sent && m.Method == protocol.MethodExit:
			exited = true
			c.Send(string(e.Payload))
		case e.Sent && m.Method != "" && m.ID != nil:
			if m.Method == protocol.MethodInitialize {
				c.assume(m.Params)
			}
			id := string(m.ID)
			if pending[id] != nil {
				t.Fatalf("lsptest: the recording has the id %s twice", id)
			}
			places[id] = len(r.Exchanges)
			r.Exchanges = append(r.Exchanges, Exchange{Method: m.Method, Params: m.Params})
			pending[id] = c.goRaw(id, m.Method, e.Payload)
		case e.Sent && m.Method != "":
			c.Send(string(e.Payload))
		case e.Sent: // an answer to the recorded server; see answersOf
		case m.Method == "" && m.ID != nil:
			id := string(m.ID)
			p := pending[id]
			if p == nil {
				continue
			}
			x := &r.Exchanges[places[id]]
			x.Recorded = m.Result
			if m.Error != nil {
				x.RecordedErr = &jsonrpc2.Error{Code: m.Error.Code, Message: m.Error.Message, Data: m.Error.Data}
			}
			x.Err = p.Wait(&x.Result)
			delete(pending, id)
		}
	}
	for id, p := range pending {
		x := &r.Exchanges[places[id]]
		if x.Err = p.Wait(&x.Result); exited && errors.Is(x.Err, ErrClosed) {
			x.Err = nil // nobody waited for it then either
		}
	}
	if exited {
		if err := c.wait(func() bool { return c.gone }); err != nil {
			t.Errorf("lsptest: the server does not close the connection after exit: %v", err)
		}
	}
	c.Close()
	for _, x := range r.Misunderstood() {
		t.Errorf("lsptest: %s %s: %v", x.Method, cut(x.Params), x.Err)
	}
	return r
}

// goRaw sends a request as it is.
func (c *Client) goRaw(id, method string, payload []byte) *Pending {
	p := &Pending{c: c, id: id, method: method, done: make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		p.err = ErrClosed
		close(p.done)
		return p
	}
	c.waiting[id] = p
	c.sendLocked(payload)
	return p
}

// assume takes the capabilities of the params of an initialize request for those of the client.
func (c *Client) assume(params json.RawMessage) {
	var said struct {
		Capabilities any `json:"capabilities"`
	}
	_ = json.Unmarshal(params, &said)
	c.can = said.Capabilities
}

// answersOf has a handler for each method that the editor was asked. Of several answers to one question the first comes first, and the last again and again.
func answersOf(rec *Recording, own map[string]func(context.Context, json.RawMessage) (any, error)) map[string]func(context.Context, json.RawMessage) (any, error) {
	type question struct{ method, params string }
	questions := make(map[string]question)
	answers := make(map[question][]*message)
	for i := range rec.Messages {
		e := &rec.Messages[i]
		switch m := &e.message; {
		case !e.Sent && m.Method != "" && m.ID != nil:
			questions[string(m.ID)] = question{m.Method, compact(m.Params)}
		case e.Sent && m.Method == "" && m.ID != nil:
			q := questions[string(m.ID)]
			answers[q] = append(answers[q], m)
		}
	}
	var mu sync.Mutex
	all := make(map[string]func(context.Context, json.RawMessage) (any, error))
	for q := range answers {
		all[q.method] = func(_ context.Context, params json.RawMessage) (any, error) {
			mu.Lock()
			defer mu.Unlock()
			q := question{q.method, compact(params)}
			as := answers[q]
			if len(as) == 0 {
				return nil, errUnasked
			}
			a := as[0]
			if len(as) > 1 {
				answers[q] = as[1:]
			}
			if a.Error != nil {
				return nil, &jsonrpc2.Error{Code: a.Error.Code, Message: a.Error.Message, Data: a.Error.Data}
			}
			if a.Result == nil || bytes.Equal(a.Result, []byte("null")) {
				return nil, nil
			}
			return a.Result, nil
		}
	}
	for method, f := range own {
		all[method] = f
	}
	return all
}

// errUnasked says that the script of the Options is to answer.
var errUnasked = errors.New("lsptest: the editor was not asked this")

// Methods are the methods of the requests and notifications that the editor sent, in order.
func (r *Recording) Methods() []string {
	var all []string
	for _, e := range r.Messages {
		if e.Sent && e.message.Method != "" {
			all = append(all, e.message.Method)
		}
	}
	return all
}

// Params returns the params of the first message of the editor with that method, nil if there is none.
func (r *Recording) Params(method string) json.RawMessage {
	for _, e := range r.Messages {
		if e.Sent && e.message.Method == method {
			return e.message.Params
		}
	}
	return nil
}
