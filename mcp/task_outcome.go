package mcp

import (
	"errors"
	"fmt"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// settle stores the outcome, unless the task has ended otherwise meanwhile.
func (r *taskRun) settle() {
	k := r.tasker
	ctx, cancel := aside(r.call)
	defer cancel()
	over := r.call.Err() != nil // somebody has ended it, and stored that
	var result, wire []byte
	message := ""
	if r.err == nil {
		result, r.err = r.encode(r.value)
	}
	if r.err != nil {
		if _, panicked := errors.AsType[*jsonrpc2.PanicError](r.err); over && !panicked {
			return // it gave up, as it should
		}
		wire, message = r.wire(r.err)
	}
	_, err := r.change(ctx, r.outcome(result, wire, message))
	if errors.Is(err, ErrTasksFull) && result != nil {
		r.err = fmt.Errorf("mcp: result of a task: %w", err)
		wire, message = r.wire(r.err)
		_, err = r.change(ctx, r.outcome(nil, wire, message))
	}
	switch {
	case err == nil:
		r.stored = true
	case gone(err): // it had ended, or is another's: what comes late is dropped
	default:
		// It counts as failed when its time is over, whoever asks.
		k.server.report(r.call, nil, fmt.Errorf("mcp: outcome of a task: %w", err))
	}
}

func (r *taskRun) outcome(result, wire []byte, message string) func(*Task) error {
	return func(t *Task) error {
		if wire != nil {
			t.Status, t.Error, t.Message = TaskFailed, wire, message
			return nil
		}
		t.Status, t.Result, t.ToolFailed = TaskCompleted, result, toolFailed(r.value)
		return nil
	}
}

func toolFailed(v any) bool {
	t, ok := v.(*CallToolResult)
	return ok && t != nil && t.IsError
}

// encode is the result as the call would have been answered.
func (r *taskRun) encode(v any) (_ []byte, err error) {
	defer func() {
		if p := recover(); p != nil { // a MarshalJSON of the user's
			err = panicked(p)
		}
	}()
	c := r.call
	switch v.(type) {
	case resultTyper, *InputRequired:
		return nil, fmt.Errorf("mcp: a task cannot end with a %T", v)
	}
	v = callResult(c, v)
	if c.modern() {
		v = &extra{server: r.tasker.server, result: v}
	}
	b, err := newCodec(nil).Append(nil, v)
	switch {
	case err != nil:
		return nil, fmt.Errorf("mcp: result of a task, of type %T: %w", r.value, err)
	case len(b) > r.tasker.conf.MaxResult:
		return nil, fmt.Errorf("mcp: result of a task: %w", jsonrpc2.ErrTooLarge)
	}
	return oneLine(b), nil
}

// wire is the error of the task, and a message for people. What is not meant for the client is reported.
func (r *taskRun) wire(err error) (wire []byte, message string) {
	err = r.call.failure(err)
	e, ok := errors.AsType[*jsonrpc2.Error](err)
	if !ok || e == nil {
		r.tasker.server.report(r.call, nil, err)
		return taskBroken, "Internal error"
	}
	b, err := appendWireError(nil, e)
	if err != nil {
		r.tasker.server.report(r.call, nil, err)
		return taskBroken, "Internal error"
	}
	return b, truncate(e.Message, maxTaskMessage)
}
