package mcptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
)

// ErrRounds is returned by [Client.Call] when the server has asked again and again.
var ErrRounds = errors.New("mcptest: the server does not stop asking")

// Notify sends a notification. params is nil or encodes as an object.
func (c *Client) Notify(method string, params any) error {
	p, err := c.params(params, "")
	if err != nil {
		return err
	}
	return c.Send(compose("", method, p))
}

// Request sends a request, with the _meta that the revision and the Options ask for beside what params have, and returns the result as it came. params
// is nil or encodes as an object. When ctx ends the request is cancelled. See [Client.Call] for requests whose results ask for input.
func (c *Client) Request(ctx context.Context, method string, params any) (json.RawMessage, error) {
	id := c.id()
	p, err := c.params(params, id)
	if err != nil {
		return nil, err
	}
	m, err := c.exchange(ctx, id, compose(id, method, p))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", method, err)
	case m.Error != nil:
		return nil, m.err()
	}
	return m.Result, nil
}

// err is the error of an error answer.
func (m *message) err() *jsonrpc2.Error {
	return &jsonrpc2.Error{Code: m.Error.Code, Message: m.Error.Message, Data: m.Error.Data}
}

// Call is [Client.Request] for callers that want the end of it: where the server answers that it needs input (since 2026-07-28), the answers come from the
// Options and the request is sent again with them; where the answer is a task, its result is waited for. The result is decoded into result; nil drops it.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	members, err := object(params)
	if err != nil {
		return err
	}
	for range maxRounds {
		raw, err := c.Request(ctx, method, members)
		if err != nil {
			return err
		}
		var ask inputRequired
		if err := json.Unmarshal(raw, &ask); err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		if ask.Type == "task" {
			if raw, err = c.follow(ctx, raw); err != nil {
				return fmt.Errorf("%s: %w", method, err)
			}
		}
		if ask.Type != "input_required" {
			if result == nil {
				return nil
			}
			if err := json.Unmarshal(raw, result); err != nil {
				return fmt.Errorf("%s: %w", method, err)
			}
			return nil
		}
		if members, err = c.answers(ctx, members, &ask); err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
	}
	return fmt.Errorf("%s: %w", method, ErrRounds)
}

// inputRequired is a result that asks (MCP 2026-07-28, patterns, multi round-trip requests).
type inputRequired struct {
	Type     string `json:"resultType"`
	Requests map[string]struct {
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	} `json:"inputRequests"`
	State *string `json:"requestState"`
}

// answers returns the params to send again.
func (c *Client) answers(ctx context.Context, members map[string]json.RawMessage, ask *inputRequired) (map[string]json.RawMessage, error) {
	next := make(map[string]json.RawMessage, len(members)+2)
	for name, v := range members {
		if name != "inputResponses" && name != "requestState" {
			next[name] = v
		}
	}
	if len(ask.Requests) > 0 {
		responses := make(map[string]any, len(ask.Requests))
		for key, q := range ask.Requests {
			v, err := c.answer(ctx, key, q.Method, q.Params)
			if err != nil {
				return nil, err
			}
			responses[key] = v
		}
		var err error
		if next["inputResponses"], err = json.Marshal(responses); err != nil {
			return nil, err
		}
	}
	if ask.State != nil {
		next["requestState"], _ = json.Marshal(*ask.State)
	}
	return next, nil
}

func (c *Client) id() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	return strconv.FormatInt(c.last, 10)
}

// exchange sends a request and waits for what is answered to key.
func (c *Client) exchange(ctx context.Context, key string, payload []byte) (*message, error) {
	if _, ok := ctx.Deadline(); !ok {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, c.o.Timeout)
		defer stop()
	}
	ch := make(chan *message, 1)
	c.mu.Lock()
	switch {
	case c.closed:
		c.mu.Unlock()
		return nil, ErrClosed
	case c.waiting[key] != nil:
		c.mu.Unlock()
		return nil, fmt.Errorf("mcptest: the id %s is in use", key)
	}
	c.waiting[key] = ch
	c.mu.Unlock()
	if err := c.Send(payload); err != nil {
		c.forget(key)
		return nil, err
	}
	select {
	case m, ok := <-ch:
		if !ok {
			return nil, ErrClosed
		}
		return m, nil
	case <-ctx.Done():
		c.forget(key)
		if key != batchKey {
			_ = c.Notify(mcp.Cancel.Method, map[string]any{"requestId": json.RawMessage(key), "reason": context.Cause(ctx).Error()})
		}
		return nil, context.Cause(ctx)
	}
}

func (c *Client) forget(key string) {
	c.mu.Lock()
	delete(c.waiting, key)
	c.mu.Unlock()
}

// object splits params into members.
func object(params any) (map[string]json.RawMessage, error) {
	members := make(map[string]json.RawMessage)
	if params == nil {
		return members, nil
	}
	b, err := json.Marshal(params)
	if err == nil {
		err = json.Unmarshal(b, &members)
	}
	if err != nil {
		return nil, fmt.Errorf("mcptest: params are no object: %w", err)
	}
	return members, nil
}

// params returns the text of the params, nil for none. id is that of the request, "" for a notification.
func (c *Client) params(params any, id string) ([]byte, error) {
	members, err := object(params)
	if err != nil {
		return nil, err
	}
	meta := make(map[string]json.RawMessage)
	put := func(name string, v any) {
		if meta[name], err = json.Marshal(v); err != nil {
			err = fmt.Errorf("mcptest: %s: %w", name, err)
		}
	}
	if c.o.modern() && id != "" {
		put(mcp.MetaVersion, c.o.Revision)
		put(mcp.MetaClient, c.o.Client)
		if err == nil {
			put(mcp.MetaCapabilities, c.o.capabilities())
		}
		if c.o.LogLevel != "" {
			put(mcp.MetaLevel, c.o.LogLevel)
		}
	}
	if c.o.Progress && id != "" {
		meta["progressToken"] = json.RawMessage(id)
	}
	if err != nil {
		return nil, err
	}
	if own := members["_meta"]; own != nil {
		if err := json.Unmarshal(own, &meta); err != nil {
			return nil, fmt.Errorf("mcptest: _meta is no object: %w", err)
		}
	}
	if len(meta) > 0 {
		if members["_meta"], err = json.Marshal(meta); err != nil {
			return nil, err
		}
	}
	if len(members) == 0 {
		return nil, nil
	}
	return json.Marshal(members)
}

// compose writes a request, or a notification if id is "".
func compose(id, method string, params []byte) []byte {
	b := []byte(`{"jsonrpc":"2.0",`)
	if id != "" {
		b = append(append(append(b, `"id":`...), id...), ',')
	}
	b = append(b, `"method":`...)
	name, _ := json.Marshal(method)
	b = append(b, name...)
	if params != nil {
		b = append(append(b, `,"params":`...), params...)
	}
	return append(b, '}')
}
