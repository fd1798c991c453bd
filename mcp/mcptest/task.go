package mcptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// ErrTaskCancelled is returned by [Client.Call] when the task that its result was to come from has been cancelled.
var ErrTaskCancelled = errors.New("mcptest: the task was cancelled")

// task is a task as the extension io.modelcontextprotocol/tasks shows it.
type task struct {
	ID     string          `json:"taskId"`
	Status string          `json:"status"`
	Poll   int64           `json:"pollIntervalMs"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    jsonrpc2.Code   `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
	inputRequired
}

// follow waits for the end of a task, answers what it asks, and returns its result. When ctx ends, so does the task.
func (c *Client) follow(ctx context.Context, created json.RawMessage) (json.RawMessage, error) {
	if _, ok := ctx.Deadline(); !ok {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, c.o.Timeout)
		defer stop()
	}
	raw := created
	for {
		var t task
		if err := json.Unmarshal(raw, &t); err != nil {
			return nil, err
		}
		switch t.Status {
		case "completed":
			if t.Result != nil {
				return t.Result, nil
			}
		case "failed":
			if t.Error == nil {
				return nil, fmt.Errorf("mcptest: a task has failed without error: %s", raw)
			}
			return nil, &jsonrpc2.Error{Code: t.Error.Code, Message: t.Error.Message, Data: t.Error.Data}
		case "cancelled":
			return nil, ErrTaskCancelled
		}
		about := map[string]json.RawMessage{"taskId": quote(t.ID)}
		if len(t.Requests) > 0 {
			update, err := c.answers(ctx, about, &t.inputRequired)
			if err == nil {
				_, err = c.Request(ctx, "tasks/update", update)
			}
			if err != nil {
				return nil, errors.Join(err, c.abandon(about))
			}
		} else {
			wait := time.NewTimer(max(time.Duration(t.Poll), 1) * time.Millisecond)
			select {
			case <-wait.C:
			case <-ctx.Done():
				wait.Stop()
				return nil, errors.Join(context.Cause(ctx), c.abandon(about))
			}
		}
		var err error
		if raw, err = c.Request(ctx, "tasks/get", about); err != nil {
			if ctx.Err() != nil {
				err = errors.Join(err, c.abandon(about))
			}
			return nil, err
		}
	}
}

// abandon cancels a task whose result nobody waits for any more.
func (c *Client) abandon(about map[string]json.RawMessage) error {
	_, err := c.Request(c.ctx, "tasks/cancel", about)
	return err
}

func quote(s string) json.RawMessage {
	b, _ := json.Marshal(s)
	return b
}
