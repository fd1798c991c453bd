package mcptest

import (
	"context"
	"encoding/json"

	"github.com/tandem-rpc/tandem/mcp"
)

// Watch asks to be told when lists change, and when the resources with these URIs do: by subscriptions/listen since 2026-07-28, else by
// resources/subscribe; lists need no asking there. It returns when the server has agreed, and the function ends it. What has changed comes as
// notifications, see [Client.Notification].
func (c *Client) Watch(ctx context.Context, lists []mcp.List, uris ...string) (stop func(), err error) {
	if c.o.modern() {
		return c.listen(ctx, lists, uris)
	}
	for i, uri := range uris {
		if _, err := c.Request(ctx, "resources/subscribe", map[string]any{"uri": uri}); err != nil {
			c.unwatch(uris[:i])
			return nil, err
		}
	}
	return func() { c.unwatch(uris) }, nil
}

func (c *Client) unwatch(uris []string) {
	for _, uri := range uris {
		_, _ = c.Request(context.Background(), "resources/unsubscribe", map[string]any{"uri": uri})
	}
}

func (c *Client) listen(ctx context.Context, lists []mcp.List, uris []string) (func(), error) {
	const acknowledged = "notifications/subscriptions/acknowledged"
	filter := make(map[string]any)
	for _, l := range lists {
		filter[[...]string{mcp.Tools: "toolsListChanged", mcp.Resources: "resourcesListChanged", mcp.Prompts: "promptsListChanged"}[l]] = true
	}
	if len(uris) > 0 {
		filter["resourceSubscriptions"] = uris
	}
	id := c.id()
	params, err := c.params(map[string]any{"notifications": filter}, id)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil, ErrClosed
	}
	from := len(c.entries)
	ended := make(chan struct{})
	life, end := context.WithCancel(c.ctx)
	ctx, giveUp := context.WithCancelCause(ctx)
	c.asked.Go(func() {
		defer close(ended)
		// Without the deadline that a request has otherwise: it ends when it is told to.
		m, err := c.exchange(forever{life}, id, compose(id, "subscriptions/listen", params))
		if err == nil && m.Error != nil {
			err = m.err()
		}
		giveUp(err)
	})
	c.mu.Unlock()
	_, _, err = c.await(ctx, from, func(e *Entry) bool {
		var told struct {
			Meta map[string]json.RawMessage `json:"_meta"`
		}
		return e.method == acknowledged && json.Unmarshal(e.params, &told) == nil && string(told.Meta[mcp.MetaSubscription]) == id
	})
	stop := func() { end(); <-ended }
	if err != nil {
		stop()
		return nil, err
	}
	return stop, nil
}
