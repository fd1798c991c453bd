package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strconv"
	"time"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

var taskParams = []string{"_meta", "taskId", "inputResponses", "cursor"}

var (
	errTaskID = &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "Invalid params: taskId must be a string"}
	// The same for what never was, has expired, and is somebody else's.
	errUnknownTask = &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "Invalid params: unknown task"}
)

// registerTasks adds the methods of tasks, if they are on. They look at their params themselves: that the extension is declared comes first.
func (s *Server) registerTasks(add func(string, method, ...jsonrpc2.Order)) {
	if s.tasks == nil {
		return
	}
	add("tasks/get", method{run: (*Server).taskGet, names: taskParams, lenient: true})
	add("tasks/update", method{run: (*Server).taskUpdate, names: taskParams, lenient: true})
	add("tasks/cancel", method{run: (*Server).taskCancel, names: taskParams, lenient: true})
	if s.Tasks.Experimental {
		add("tasks/result", method{run: (*Server).taskResult, names: taskParams, lenient: true})
		add("tasks/list", method{run: (*Server).taskList, names: taskParams, lenient: true})
	}
}

// extensions are the extensions of the server's capabilities.
func (s *Server) extensions() map[string]any {
	if s.tasks == nil {
		return s.Extensions
	}
	all := maps.Clone(s.Extensions)
	if all == nil {
		all = make(map[string]any, 1)
	}
	if all[TasksExtension] == nil {
		all[TasksExtension] = struct{}{}
	}
	return all
}

// tool is a tool as a list shows it.
func (s *Server) tool(r revision, t Tool) Tool {
	if s.tasks == nil || !s.Tasks.Experimental {
		t.Task = TaskNever // whoever sees it would believe that the server speaks that protocol
	}
	return r.tool(t)
}

// mayTasks checks that a request may be about tasks at all, and then that its params are an object without a member twice.
func (s *Server) mayTasks(ctx context.Context, c *call, r *jsonrpc2.Request) (owner string, v values, err error) {
	switch {
	case c.modern():
		if !c.declaresTasks() {
			return "", v, tasksMissing().wire()
		}
	case !s.experimental(c):
		return "", v, jsonrpc2.ErrMethodNotFound
	}
	if raw := peek(r, c); raw != nil && !pick(raw, taskParams, v[:]) {
		return "", v, jsonrpc2.ErrInvalidParams
	}
	owner, _ = PrincipalFrom(ctx)
	if !s.tasks.rates.allow(owner) {
		return "", v, errTaskRate
	}
	return owner, v, nil
}

// task finds the task of a request, in the order that clients are told what is wrong: the extension, the id, the task.
func (s *Server) task(ctx context.Context, c *call, r *jsonrpc2.Request) (*Task, values, error) {
	owner, v, err := s.mayTasks(ctx, c, r)
	if err != nil {
		return nil, v, err
	}
	id, ok := stringValue(v[1])
	if !ok || id == "" {
		return nil, v, errTaskID
	}
	if len(id) > maxTaskID {
		return nil, v, errUnknownTask
	}
	t, err := s.tasks.load(ctx, owner, id, !c.modern())
	if errors.Is(err, ErrNoTask) {
		return nil, v, errUnknownTask
	}
	return &t, v, err
}

// load reads a task, and fails it if nobody else did: its time is over, or who worked on it is dead.
func (k *tasker) load(ctx context.Context, owner, id string, experimental bool) (Task, error) {
	t, err := k.store.Get(ctx, owner, id)
	if err != nil {
		return t, err
	}
	if t.Experimental != experimental || t.Owner != owner {
		return Task{}, ErrNoTask
	}
	if t.Status.Terminal() {
		return t, nil
	}
	now := time.Now()
	var wire encoded
	var message string
	switch {
	case !now.Before(t.deadline()):
		wire, message = taskExpired, "Task expired"
	case !t.Lease.IsZero() && now.After(t.Lease):
		if k.resume(ctx, &t) {
			return t, nil
		}
		wire, message = taskInterrupted, "Task interrupted"
	default:
		return t, nil
	}
	if err := k.fail(ctx, id, wire, message); err != nil && !errors.Is(err, errTaskOver) {
		return Task{}, err
	}
	k.halt(id, errTaskExpired)
	return k.store.Get(ctx, owner, id)
}

// taskGet answers tasks/get.
func (s *Server) taskGet(ctx context.Context, c *call, r *jsonrpc2.Request, _ values) (any, error) {
	t, _, err := s.task(ctx, c, r)
	if err != nil {
		return nil, err
	}
	if !c.modern() {
		return experimentalTask{*t}, nil
	}
	return detailedTask{*t}, nil
}

var errTaskAnswers = &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "Invalid params: inputResponses must be an object"}

// taskUpdate answers tasks/update: it delivers answers to what a task has asked for, all of them or, if one is none, nothing. What was not asked for, or
// not any more, is ignored; and so is everything once the task has ended.
func (s *Server) taskUpdate(ctx context.Context, c *call, r *jsonrpc2.Request, _ values) (any, error) {
	t, v, err := s.task(ctx, c, r)
	if err != nil {
		return nil, err
	}
	answers, err := readAnswers(v[2])
	if err != nil {
		return nil, err
	}
	_, err = s.tasks.change(ctx, t.ID, func(t *Task) error {
		some := false
		for i := range t.Requests {
			q := &t.Requests[i]
			raw, given := answers[q.Key]
			if !given || q.Answer != nil {
				continue
			}
			if checkAnswer(q.Method, raw) != nil {
				return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "Invalid params: inputResponses: " + strconv.Quote(clip(q.Key)) + " is no answer to what was asked"}
			}
			q.Answer, some = raw, true
		}
		if !some {
			return errTaskSame
		}
		return nil
	})
	return acknowledge(err)
}

// readAnswers reads inputResponses. The values are copies.
func readAnswers(raw []byte) (map[string]json.RawMessage, error) {
	if !isObject(raw) {
		return nil, errTaskAnswers
	}
	answers := make(map[string]json.RawMessage)
	for o := (object{b: bytes.Clone(raw)}); ; {
		name, value, ok := o.next()
		if !ok {
			return answers, nil
		}
		key := unquoted(name)
		if _, twice := answers[key]; twice {
			return nil, errTaskAnswers
		}
		answers[key] = value
	}
}

// acknowledge is the answer to what was done to a task: nothing but that it was.
func acknowledge(err error) (any, error) {
	switch {
	case err == nil, errors.Is(err, errTaskSame), errors.Is(err, errTaskOver):
		return emptyResult, nil
	case errors.Is(err, ErrNoTask):
		return nil, errUnknownTask
	}
	return nil, err
}

// taskCancel answers tasks/cancel: the task has ended, whether or not the work heeds it.
func (s *Server) taskCancel(ctx context.Context, c *call, r *jsonrpc2.Request, _ values) (any, error) {
	t, _, err := s.task(ctx, c, r)
	if err != nil {
		return nil, err
	}
	now, err := s.tasks.change(ctx, t.ID, func(t *Task) error {
		t.Status = TaskCancelled
		return nil
	})
	if err == nil {
		s.tasks.halt(t.ID, cancel.ByPeer{Method: r.Method})
	}
	if c.modern() {
		return acknowledge(err)
	}
	switch {
	case errors.Is(err, errTaskOver):
		return nil, errTaskEnded
	case errors.Is(err, ErrNoTask):
		return nil, errUnknownTask
	case err != nil:
		return nil, err
	}
	return experimentalTask{now}, nil
}
