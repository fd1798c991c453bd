package mcp

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// outcome is what the client gets when a function has returned an error: what is said of asking is no internal error.
func (s *Server) outcome(c *call, t *target, err error) (any, error) {
	if e, ok := errors.AsType[*jsonrpc2.Error](err); ok {
		return nil, errorOf(e, err)
	}
	var code jsonrpc2.Code
	var text string
	missing, incapable := errors.AsType[*CapabilityError](err)
	switch {
	case incapable:
		if c.modern() {
			return nil, missing.wire()
		}
		code, text = jsonrpc2.CodeInternalError, missing.Error()
	case errors.Is(err, ErrDeclined), errors.Is(err, ErrCancelled):
		code, text = codeRejected, ErrDeclined.Error()
		if errors.Is(err, ErrCancelled) {
			text = ErrCancelled.Error()
		}
	case errors.Is(err, ErrAnswer):
		code, text = jsonrpc2.CodeInvalidParams, "the answers do not fit what was asked"
	case errors.Is(err, ErrRounds):
		code, text = jsonrpc2.CodeInternalError, "too many rounds of questions"
	case errors.Is(err, ErrAskTimeout):
		code, text = jsonrpc2.CodeInternalError, "the user did not answer in time"
	case errors.Is(err, ErrDone):
		code, text = jsonrpc2.CodeInternalError, ErrDone.Error()
	case errors.Is(err, errBusy):
		code, text = jsonrpc2.CodeInternalError, errBusy.Error()
	default:
		return nil, err
	}
	if t.what == 't' {
		return ErrorResult(text), nil
	}
	return nil, &jsonrpc2.Error{Code: code, Message: text}
}

// errorOf keeps what wraps a protocol error, for the Reporter.
func errorOf(e *jsonrpc2.Error, err error) error {
	if e == nil {
		return jsonrpc2.ErrInternal
	}
	return err
}

// mostTargets bounds what is remembered of functions.
const mostTargets = 1000

// targets is a bounded set of functions.
type targets struct {
	mu   sync.RWMutex
	seen map[targetKey]struct{}
}

type targetKey struct {
	what byte
	name string
}

// add reports whether t was not there. Where there is no room for another it counts as known.
func (s *targets) add(t *target) bool {
	if s.known(t) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = make(map[targetKey]struct{})
	}
	before := len(s.seen)
	s.seen[targetKey{t.what, t.name}] = struct{}{}
	return len(s.seen) > before
}

func (s *targets) known(t *target) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, known := s.seen[targetKey{t.what, t.name}]
	return known || len(s.seen) >= mostTargets
}

// swallowed reports, once for each, a function that has asked and then returned a result as if it had the answer.
func (s *Server) swallowed(ctx context.Context, r *jsonrpc2.Request, t *target) {
	if s.swallowers.add(t) {
		s.report(ctx, r, fmt.Errorf("mcp: %s %q: ErrInputRequired swallowed: the function has asked and must return the error it got", t.method(), clip(t.name)))
	}
}
