package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// flow is a call that asks its client, over all its rounds: what was asked, what was answered, what was computed. In one entry the function of the call runs
// once. With an asker a question waits for its answer; without, it ends the entry, and the next one finds the answer.
type flow struct {
	server *Server
	call   *call // nil: none
	rev    revision
	terms  *terms                  // of the client; nil: those of the call, which are read when they are needed
	asker  asker                   // nil: there is no way to ask but in the answer
	replay bool                    // questions without an answer end the entry
	stop   context.CancelCauseFunc // ends the context of the entry; nil: there is none that it could end
	closed error                   // why nothing can be asked here

	mu      sync.Mutex // not held while a client is asked or a store is used
	id      string
	start   time.Time
	round   int // answers of type input_required so far
	resumed bool
	asked   map[string]*asked
	memos   map[string]json.RawMessage
	user    []byte                     // state of an InputRequired
	given   map[string]json.RawMessage // answers that came with this round

	// Of the entry:
	pending []*Question
	used    map[string][]byte // digests of the questions, by key
	count   map[string]int    // of questions without keys, by word
	loose   int               // of them in flight
	unread  int               // questions of earlier entries that were not asked again yet
	body    bool              // the part of an asking tool that must not ask
	fault   error             // wins over whatever the function returns
}

// asker carries a question to the client and waits for the answer. A call with initialize has one that sends a request; a task brings its own.
type asker interface {
	ask(ctx context.Context, key string, q *Question) (json.RawMessage, error)
}

// begun is when the call began. mu is held, or nobody else has f.
func (f *flow) begun() time.Time {
	if f.start.IsZero() {
		f.start = time.Now()
	}
	return f.start
}

// enter prepares the next entry.
func (f *flow) enter() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pending, f.used, f.count, f.loose, f.body = nil, nil, nil, 0, false
	f.unread = 0
	for _, a := range f.asked {
		if a.read = !f.replay || a.Plain; !a.read {
			f.unread++
		}
	}
}

// ask gets questions answered, or ends the entry.
func (f *flow) ask(ctx context.Context, qs []*Question) error {
	open, err := f.put(qs, false)
	for err == nil && len(open) > 0 {
		if f.replay {
			return f.leave(open)
		}
		err = f.fulfil(ctx, open)
		f.land(open)
		if err == nil {
			open, err = f.look(open)
		}
	}
	return err
}

// put notes that questions are asked, and returns those without an answer. A collecting caller asks on when some are.
func (f *flow) put(qs []*Question, collecting bool) (open []*Question, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.fault != nil:
		return nil, f.fault
	case len(f.pending) > 0 && !collecting:
		return nil, ErrInputRequired
	case f.body:
		return nil, f.broken(errors.New("mcp: the part of an asking tool that does the work has asked: it runs once, and must find the answers there"))
	case f.closed != nil:
		return nil, f.closed
	}
	for _, q := range qs {
		if q.err != nil {
			return nil, f.broken(q.err)
		}
	}
	if err := f.able(qs); err != nil {
		return nil, err
	}
	for _, q := range qs {
		if err := f.name(q); err != nil {
			return nil, f.broken(err)
		}
	}
	return f.lookup(qs)
}

// able reports what the client would have to be able to.
func (f *flow) able(qs []*Question) error {
	missing, offers := needs(0), f.offers()
	for _, q := range qs {
		missing |= q.needs &^ offers
		if q.several && !f.rev.richForms() {
			missing |= need(KindForm)
		}
	}
	if missing == 0 {
		return nil
	}
	e := &CapabilityError{Missing: missing.missing()}
	if f.asker == nil && !f.replay {
		e.cause = ErrNoSession
	}
	return e
}

// offers is what the client can be asked.
func (f *flow) offers() needs {
	switch {
	case f.terms != nil:
		return f.terms.offers()
	case f.call == nil || !f.call.modern():
		return 0
	}
	return f.call.asSession().now().offers()
}

// name gives a question its key and sees to it that a key stands for one question. mu is held.
func (f *flow) name(q *Question) error {
	if q.key == "" || q.auto {
		if f.loose > 0 {
			return errors.New("mcp: questions without keys are asked at the same time: give them keys, see Key")
		}
		if f.count == nil {
			f.count = make(map[string]int)
		}
		f.count[q.word]++
		q.key, q.auto = q.word+"-"+strconv.Itoa(f.count[q.word]), true
	}
	if f.used == nil {
		f.used = make(map[string][]byte)
	}
	if had, twice := f.used[q.key]; twice && !sameDigest(had, q.digest) {
		return fmt.Errorf("mcp: two different questions have the key %q", q.key)
	}
	f.used[q.key] = q.digest
	return nil
}

// look is lookup for questions that have been named.
func (f *flow) look(qs []*Question) ([]*Question, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lookup(qs)
}

// lookup finds the answers there are, and returns the questions without. mu is held.
func (f *flow) lookup(qs []*Question) (open []*Question, err error) {
	for _, q := range qs {
		done, err := f.find(q)
		if err != nil {
			return nil, err
		}
		if !done {
			open = append(open, q)
		}
	}
	if !f.replay {
		for _, q := range open {
			if q.auto {
				f.loose++
			}
		}
	}
	return open, nil
}

// find looks for the answer of one question. mu is held.
func (f *flow) find(q *Question) (done bool, err error) {
	a := f.asked[q.key]
	if a != nil {
		f.readOnce(a)
	}
	switch {
	case a == nil:
		a = &asked{Digest: q.digest, Method: q.method, read: true}
		if f.asked == nil {
			f.asked = make(map[string]*asked)
		}
		f.asked[q.key] = a
		if !q.unpinned {
			return false, nil
		}
	case !sameDigest(a.Digest, q.digest):
		// Whatever was answered was the answer to something else.
		*a = asked{Digest: q.digest, Method: q.method, Drift: a.Drift + 1, read: true}
		delete(f.given, q.key)
		if a.Drift >= maxDrift {
			return false, f.broken(fmt.Errorf("mcp: the question for key %q is not deterministic: it was another one in %d rounds", q.key, a.Drift))
		}
		return false, nil
	case a.failure != nil:
		return false, a.failure
	case a.Answer != nil:
		q.answer = a.Answer
		return true, nil
	}
	raw, ok := f.given[q.key]
	if !ok {
		return false, nil
	}
	delete(f.given, q.key)
	if err := q.check(raw); err != nil {
		return false, f.malformed(q.key)
	}
	if !q.fits(raw) {
		if a.Tries++; a.Tries > maxTries {
			return false, fmt.Errorf("%w (key %q)", ErrAnswer, q.key)
		}
		return false, nil
	}
	a.Answer, q.answer = raw, raw
	return true, nil
}

// readOnce notes that a question was asked again. mu is held.
func (f *flow) readOnce(a *asked) {
	if !a.read {
		a.read = true
		f.unread--
	}
}

// malformed is the error for an answer that is none. The value is the client's and is not repeated. mu is held.
func (f *flow) malformed(key string) error {
	if f.asker != nil {
		return fmt.Errorf("%w (key %q)", ErrAnswer, key)
	}
	f.fault = &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "Invalid params: inputResponses: " + strconv.Quote(clip(key)) + " is no answer to what was asked"}
	return f.fault
}

// broken notes an error of the program. mu is held.
func (f *flow) broken(err error) error {
	if f.fault == nil {
		f.fault = err
	}
	return f.fault
}

// leave ends the entry with questions open (S1): the function's context ends, nothing more is sent, and it is to return.
func (f *flow) leave(open []*Question) error {
	f.mu.Lock()
	if len(f.pending) > 0 { // somebody else was first
		f.mu.Unlock()
		return ErrInputRequired
	}
	f.pending = open
	f.mu.Unlock()
	if c := f.call; c != nil && f.stop != nil {
		c.mute()
		f.stop(ErrInputRequired)
	}
	return ErrInputRequired
}

// mute drops what the function still reports.
func (c *call) mute() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.modern() {
		c.token, c.done = "", true
	}
}

// land ends the flight of questions.
func (f *flow) land(qs []*Question) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, q := range qs {
		if q.auto && f.loose > 0 {
			f.loose--
		}
	}
}

// fulfil asks the client questions at the same time. The first failure gives up the others.
func (f *flow) fulfil(ctx context.Context, qs []*Question) error {
	defer hold(ctx)()
	if len(qs) == 1 {
		return f.carry(ctx, f.asker, qs[0])
	}
	asker := f.asker
	if r, ok := asker.(*taskRun); ok { // its client sees all of them at once
		group, err := r.group(qs)
		if err != nil {
			return err
		}
		defer group.end()
		asker = group
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make(chan error, len(qs))
	for _, q := range qs {
		go func() { errs <- f.carry(ctx, asker, q) }()
	}
	var first error
	for range qs {
		if err := <-errs; err != nil && first == nil {
			first = err
			cancel()
		}
	}
	return first
}

// pose asks the client one question. A panic of the way there is a failure: others may wait for the answer.
func (f *flow) pose(ctx context.Context, asker asker, q *Question) (raw json.RawMessage, err error) {
	defer f.server.caught(ctx, &err)
	return asker.ask(ctx, q.key, q)
}

// carry asks the client one question, unless somebody else is doing so, and puts the answer where lookup finds it.
func (f *flow) carry(ctx context.Context, asker asker, q *Question) error {
	f.mu.Lock()
	a := f.asked[q.key]
	if wait := a.flight; wait != nil {
		f.mu.Unlock()
		select {
		case <-wait:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if a.Answer != nil {
		f.mu.Unlock()
		return nil
	}
	landed := make(chan struct{})
	a.flight = landed
	f.mu.Unlock()
	raw, err := f.pose(ctx, asker, q)
	f.mu.Lock()
	defer f.mu.Unlock()
	a.flight = nil
	close(landed)
	if err == nil {
		if f.given == nil {
			f.given = make(map[string]json.RawMessage)
		}
		f.given[q.key] = raw
	}
	return err
}
