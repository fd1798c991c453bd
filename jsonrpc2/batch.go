package jsonrpc2

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/tandem-rpc/tandem/cancel"
)

// UnitError is what [Options.Report] gets for a unit of input that is not a valid message. Its text is ours and holds nothing of the unit.
type UnitError struct {
	Reason string // what is wrong, and where if that is known

	cause error
}

// Error returns the reason.
func (e *UnitError) Error() string { return "jsonrpc2: invalid message: " + e.Reason }

// Unwrap returns the [*MessageError] with which the transport skipped the unit, or nil.
func (e *UnitError) Unwrap() error { return e.cause }

var (
	errStrayResponse = errors.New("jsonrpc2: response to no request of ours")
	errBatchDropped  = errors.New("jsonrpc2: entry of a batch of responses is not a response")
)

// judgeBatch looks at a whole batch (JSON-RPC 2.0 section 6) before anything of it runs. It is a batch of responses if it has some and neither
// requests nor notifications; refused is not nil if nothing of it may run.
func (c *config) judgeBatch(ctx context.Context, frame []byte, entries int) (responses bool, refused *Error) {
	if c.MaxBatch < 0 || entries == 0 || entries > c.MaxBatch {
		return false, ErrInvalidRequest
	}
	var e envelope
	var all []*Request
	calls := false
	scanBatch(frame, &e, func() bool {
		responses = responses || e.response
		calls = calls || e.kind == kindRequest || e.kind == kindNotification
		if c.AdmitBatch != nil {
			all = append(all, &Request{Method: methodName(&e), id: e.id, params: e.params, codec: c.codec})
		}
		return true
	})
	responses = responses && !calls
	if c.AdmitBatch != nil && !responses {
		if err := c.guard(func() error { return c.AdmitBatch(ctx, all) }); err != nil {
			return false, c.refusalOf(ctx, nil, err)
		}
	}
	return responses, nil
}

// entry is one answer of a batch; without a member none is owed.
type entry struct {
	r *Request // what it answers: of an invalid entry just the id
	outcome
}

// appendBatch writes the answers as one array, or nothing if there are none. While the array is over the limit its largest result becomes an
// Internal error, and is reported.
func (c *config) appendBatch(ctx context.Context, dst []byte, entries []entry) []byte {
	for size := batchLen(entries); size > c.MaxFrame; size = batchLen(entries) {
		largest := -1
		for i := range entries {
			if e := &entries[i]; e.member != nil && e.code == 0 && (largest < 0 || len(e.body) > len(entries[largest].body)) {
				largest = i
			}
		}
		if largest < 0 || len(entries[largest].body) <= len(internalOutcome.body) {
			break
		}
		c.report(ctx, entries[largest].r, fmt.Errorf("answer to %q in a batch: %w", entries[largest].r.Method, ErrTooLarge))
		entries[largest].outcome = internalOutcome
	}
	open := byte('[')
	for i := range entries {
		if e := &entries[i]; e.member != nil {
			dst = append(dst, open)
			dst = e.appendResponse(dst, e.r.id)
			open = ','
		}
	}
	if open == '[' {
		return dst
	}
	return append(dst, ']')
}

func batchLen(entries []entry) int {
	n := 1
	for i := range entries {
		if e := &entries[i]; e.member != nil {
			n += e.responseLen(e.r.id) + 1
		}
	}
	return n
}

// handleBatch answers a batch without a connection.
func (d *Dispatcher) handleBatch(ctx context.Context, frame []byte, n int) []byte {
	responses, refused := d.c.judgeBatch(ctx, frame, n)
	if refused != nil {
		return refusal(nullID, refused)
	}
	if responses {
		d.c.report(ctx, nil, errStrayResponse)
		return nil
	}
	answers := make([]entry, n)
	scope := new(scope)
	slots := make(chan struct{}, d.c.MaxRunning)
	var running sync.WaitGroup
	var e envelope
	i := -1
	scanBatch(frame, &e, func() bool {
		i++
		a := &answers[i]
		switch {
		case e.response:
			d.c.report(ctx, nil, errStrayResponse)
			return true
		case e.kind == kindInvalid:
			d.c.report(ctx, nil, &UnitError{Reason: e.bad})
			*a = entry{&Request{id: orNull(e.id)}, fixedOutcome(ErrInvalidRequest)}
			return true
		}
		m := &dispatched{Context: ctx, Request: Request{Method: methodName(&e), id: e.id, params: e.params, codec: d.c.codec}}
		r := &m.Request
		route, refused := d.admit(ctx, r, scope)
		switch {
		case r.IsNotification():
			if route != nil {
				d.run(m, route, nil)
			}
		case refused != nil:
			*a = entry{r, fixedOutcome(refused)}
		case route.order == Ordered:
			*a = entry{r, d.run(m, route, nil)}
		default:
			done := scope.add(m)
			slots <- struct{}{}
			running.Go(func() {
				defer func() { <-slots }()
				defer done()
				*a = entry{r, d.run(m, route, nil)}
			})
		}
		return true
	})
	running.Wait()
	return d.c.appendBatch(ctx, nil, answers)
}

// scope lets a cancellation reach the requests before it in the same batch.
type scope struct {
	mu   sync.Mutex
	open []*scoped
}

// scoped is one such request.
type scoped struct {
	id     ID
	method string
	conv   atomic.Pointer[cancel.Convention] // the one it was cancelled by
	cancel context.CancelCauseFunc
}

// add says that a request can be cancelled from now on, and returns what ends that.
func (s *scope) add(m *dispatched) (done func()) {
	ctx, stop := context.WithCancelCause(m.Context)
	id, _ := m.ID()
	m.Context, m.scoped = ctx, &scoped{id: id, method: m.Method, cancel: stop}
	s.mu.Lock()
	s.open = append(s.open, m.scoped)
	s.mu.Unlock()
	return func() { stop(nil) }
}

// cancel cancels the requests so far that the params of a cancellation name. Outside a batch s is nil and there are none.
func (s *scope) cancel(conv *cancel.Convention, params []byte) {
	raw, ok := conv.ID(params)
	if s == nil || !ok {
		return
	}
	id := ID{string(raw)}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.open {
		if q.id.Equal(id) && !conv.Exempts(q.method) {
			if conv.Silent || conv.Code != 0 { // of several that answer, the first decides
				q.conv.CompareAndSwap(nil, conv)
			}
			q.cancel(cancel.ByPeer{Method: conv.Method, Reason: conv.Why(params)})
		}
	}
}
