package framework

import (
	"context"
	"errors"
	"runtime"
	"slices"

	"github.com/hashicorp/go-hclog"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/logging"
)

// options are those of one connection: a copy of the runtime's with its hooks added. What is off is not there.
func (rt *Runtime) options(fe protocol, log hclog.Logger, at place) *jsonrpc2.Options {
	o := rt.Options
	conventions := fe.Conventions()
	if o.Cancel == nil {
		o.Cancel = cancel.NewRegistry(conventions...)
	}
	switch {
	case o.Linger < 0:
		o.Linger = 0
	case o.Linger == 0:
		o.Linger = at.linger
	}
	redact := rt.Redact
	if s, ok := fe.(Secretive); ok {
		redact = slices.Concat(redact, s.Secrets())
	}
	if log.IsDebug() {
		o.Tap = jsonrpc2.Taps(logging.NewTraffic(rt.Logger, &logging.Options{Redact: redact, Protocol: fe.Protocol(), Connection: at.name}), o.Tap)
	}
	if rt.Logger != nil {
		o.Report = reporter(log, logging.NewRedactor(redact...), o.Report)
	}
	if rt.Metrics != nil {
		o.Observe = observer(rt.Metrics, conventions, o.Observe)
	}
	return &o
}

// protocol is what a FrontEnd and a Web have in common.
type protocol interface {
	Protocol() string
	Conventions() []cancel.Convention
}

// observer counts messages. A cancelled one is told by the code it was answered with, or, where cancelled requests are not answered, by the missing
// answer: any result has at least a byte.
func observer(m *Metrics, conventions []cancel.Convention, next func(jsonrpc2.Event)) func(jsonrpc2.Event) {
	return func(e jsonrpc2.Event) {
		m.observe(e, slices.ContainsFunc(conventions, func(c cancel.Convention) bool {
			if c.Silent {
				return !e.Notification && e.Code == 0 && e.Out == 0
			}
			return e.Code != 0 && c.Code == int64(e.Code)
		}))
		if next != nil {
			next(e)
		}
	}
}

type reportFunc = func(ctx context.Context, r *jsonrpc2.Request, err error)

// reporter logs what the engine reports: a panic as an error with its stack, anything else as a warning. The texts come from handlers and may
// quote anything, so they are scrubbed.
func reporter(log hclog.Logger, red *logging.Redactor, next reportFunc) reportFunc {
	return func(ctx context.Context, r *jsonrpc2.Request, err error) {
		args := make([]any, 0, 8)
		if r != nil {
			args = append(args, "method", quote(scrub(red, r.Method)))
		}
		if p, ok := errors.AsType[*jsonrpc2.PanicError](err); ok {
			args = append(args, "panic", quote(scrub(red, panicText(p))), "stack", string(p.Stack))
			log.Error("handler panicked", args...)
		} else {
			log.Warn("message failed", append(args, "error", quote(scrub(red, errorText(err))))...)
		}
		if next != nil {
			next(ctx, r, err)
		}
	}
}

// panicText describes the value given to panic. The runtime's own errors say what happened and hold no data; the text of others is shown with
// their type.
func panicText(p *jsonrpc2.PanicError) string {
	if e, ok := p.Value.(runtime.Error); ok {
		return e.Error()
	}
	return p.Error()
}

// errorText is the text of an error, also of one whose Error method panics.
func errorText(err error) (text string) {
	if err == nil {
		return ""
	}
	defer func() {
		if recover() != nil {
			text = "error without text"
		}
	}()
	return err.Error()
}
