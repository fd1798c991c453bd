package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// InputRequired is what a Caller, a Prompter or a Reader returns, as result, when it needs answers of the client to go on: it asks, and is called again with
// the same arguments. Then [Received] has the answers, and the State. It is the plain form of asking, a state machine that the program writes itself; see
// [AddAskingTool] and [Session.Ask] for those that need none. In revision 2026-07-28 it is the answer to the request (MCP 2026-07-28, patterns, MRTR); for
// clients with initialize it becomes requests to them.
type InputRequired struct {
	// Requests are the questions, by keys of the program's choice.
	Requests map[string]*Question
	// State is kept for the next round. It is sealed, and good for this call only. InputRequired with a State and no Requests means "call again, later";
	// it cannot be told to clients with initialize, which get an error.
	State []byte
}

var errAsksNothing = errors.New("mcp: InputRequired has neither Requests nor State")

// plain notes the questions of an InputRequired.
func (f *flow) plain(in *InputRequired) ([]*Question, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if in == nil || len(in.Requests) == 0 && in.State == nil {
		return nil, errAsksNothing
	}
	qs := make([]*Question, 0, len(in.Requests))
	for _, key := range slices.Sorted(maps.Keys(in.Requests)) {
		q := in.Requests[key]
		if q == nil {
			return nil, fmt.Errorf("mcp: InputRequired has no question for key %q", key)
		}
		if q.err != nil {
			return nil, q.err
		}
		q.key, q.auto = key, false
		qs = append(qs, q)
	}
	if err := f.able(qs); err != nil {
		return nil, err
	}
	if f.closed != nil {
		return nil, f.closed
	}
	for _, q := range qs {
		a := &asked{Digest: q.digest, Method: q.method, Plain: true, read: true}
		if q.schema != nil {
			a.Schema = q.schema.text
		}
		if had := f.asked[q.key]; had != nil && had.Answer == nil && sameDigest(had.Digest, q.digest) {
			a.Tries = had.Tries
		}
		if f.asked == nil {
			f.asked = make(map[string]*asked)
		}
		f.asked[q.key] = a
	}
	f.user = in.State
	return qs, nil
}

// absorb takes the answers of a round that belong to questions known from the state: those that are none of their kind are refused before anything runs,
// those to an InputRequired are recorded.
func (f *flow) absorb() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key, raw := range f.given {
		a := f.asked[key]
		if a == nil {
			continue
		}
		if a.Answer != nil { // the record wins
			delete(f.given, key)
			continue
		}
		if checkAnswer(a.Method, raw) != nil {
			return f.malformed(key)
		}
		if !a.Plain {
			continue
		}
		delete(f.given, key)
		if a.Schema != nil {
			s, err := givenSchema(a.Schema)
			if err != nil {
				return err
			}
			if q := (Question{schema: s}); !q.fits(raw) {
				if a.Tries++; a.Tries > maxTries {
					return fmt.Errorf("%w (key %q)", ErrAnswer, key)
				}
				continue
			}
		}
		a.Answer = raw
	}
	return nil
}

// Responses are the answers to an [InputRequired].
type Responses struct {
	answers map[string]*asked
	// State is what the InputRequired had, nil if there was none.
	State []byte
}

// Received returns the answers of all earlier rounds of the call that ctx belongs to, empty ones in the first round. Only answers to what was asked are there:
// who has not been asked cannot answer.
func Received(ctx context.Context) Responses {
	c := callFrom(ctx)
	if c == nil {
		return Responses{}
	}
	f := c.asks.Load()
	if f == nil {
		return Responses{}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	r := Responses{answers: make(map[string]*asked, len(f.asked)), State: f.user}
	for key, a := range f.asked {
		if a.Answer != nil {
			r.answers[key] = &asked{Method: a.Method, Answer: a.Answer}
		}
	}
	return r
}

func (r Responses) raw(key, method string) json.RawMessage {
	if a := r.answers[key]; a != nil && a.Method == method {
		return a.Answer
	}
	return nil
}

// Elicited returns the answer to a form or a page, nil if there is none yet. To decline is an answer: do not ask again.
func (r Responses) Elicited(key string) *ElicitResult {
	if raw := r.raw(key, methodElicit); raw != nil {
		e, _ := parseElicit(raw)
		return e
	}
	return nil
}

// Message returns the message of the client's model, nil if there is none yet.
func (r Responses) Message(key string) *CreateMessageResult {
	if raw := r.raw(key, methodSample); raw != nil {
		m, _ := parseMessage(raw)
		return m
	}
	return nil
}

// Roots returns the client's roots, and false if they are not there yet.
func (r Responses) Roots(key string) ([]Root, bool) {
	if raw := r.raw(key, methodRoots); raw != nil {
		roots, err := parseRoots(raw)
		return roots, err == nil
	}
	return nil, false
}

// inputRequired is the answer that asks.
type inputRequired struct {
	questions []*Question
	state     string
}

func (*inputRequired) resultType() string { return "input_required" }

func (r *inputRequired) appendJSON(dst []byte) ([]byte, error) {
	dst = append(dst, '{')
	if len(r.questions) > 0 {
		comma := byte('{')
		dst = append(dst, `"inputRequests":`...)
		for _, q := range r.questions {
			dst = append(dst, comma)
			comma = ','
			dst = appendString(dst, q.key)
			dst = appendString(append(dst, `:{"method":`...), q.method)
			dst = append(append(dst, `,"params":`...), q.params(lastRevision)...)
			dst = append(dst, '}')
		}
		dst = append(dst, "},"...)
	}
	dst = appendString(append(dst, `"requestState":`...), r.state)
	return append(dst, '}'), nil
}
