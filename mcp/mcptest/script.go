package mcptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// ErrScript is returned where a script has no answer left.
var ErrScript = errors.New("mcptest: the script has no answer to this question")

// A Question is what the user is asked (MCP ElicitRequest).
type Question struct {
	Key     string          // its name among the questions of the result, since 2026-07-28
	Message string          `json:"message"`
	Mode    string          `json:"mode"` // "form", also where the revision has no modes, or "url"
	Schema  json.RawMessage `json:"requestedSchema"`
	URL     string          `json:"url"`
	Params  json.RawMessage // all of it, as it came
}

// A Reply is what the user does (MCP ElicitResult). See [Accept], [Decline] and [Dismiss].
type Reply struct {
	Action  string `json:"action"`
	Content any    `json:"content,omitempty"`
}

// Accept fills in the form; nil sends it without content, which is how a URL is agreed to.
func Accept(content any) Reply { return Reply{"accept", content} }

// Decline says no.
func Decline() Reply { return Reply{Action: "decline"} }

// Dismiss closes the question without deciding.
func Dismiss() Reply { return Reply{Action: "cancel"} }

// Replies is a script for [Options.Elicit]: one reply after the other, then [ErrScript].
func Replies(replies ...Reply) func(context.Context, Question) (Reply, error) {
	var next atomic.Int64
	return func(_ context.Context, q Question) (Reply, error) {
		i := next.Add(1) - 1
		if i >= int64(len(replies)) {
			return Reply{}, fmt.Errorf("%w: %q", ErrScript, q.Message)
		}
		return replies[i], nil
	}
}

// A Message is what the client's model answers (MCP CreateMessageResult).
type Message struct {
	Role       string `json:"role"`
	Content    any    `json:"content"`
	Model      string `json:"model"`
	StopReason string `json:"stopReason,omitempty"`
}

// Says is a script for [Options.Sample]: the model answers these texts one after the other, then [ErrScript].
func Says(texts ...string) func(context.Context, json.RawMessage) (any, error) {
	var next atomic.Int64
	return func(context.Context, json.RawMessage) (any, error) {
		i := next.Add(1) - 1
		if i >= int64(len(texts)) {
			return nil, fmt.Errorf("%w: sampling/createMessage", ErrScript)
		}
		return Message{"assistant", map[string]string{"type": "text", "text": texts[i]}, "mcptest", "endTurn"}, nil
	}
}

// A Root is something the client has open (MCP Root).
type Root struct {
	URI  string `json:"uri"` // file://...
	Name string `json:"name,omitempty"`
}

// answer answers one question of the server, however that was asked.
func (c *Client) answer(ctx context.Context, key, method string, params json.RawMessage) (any, error) {
	switch {
	case method == "elicitation/create" && c.o.Elicit != nil:
		q := Question{Mode: "form"}
		if err := json.Unmarshal(params, &q); err != nil {
			return nil, fmt.Errorf("mcptest: %s: %w", method, err)
		}
		q.Key, q.Params = key, params
		return c.o.Elicit(ctx, q)
	case method == "sampling/createMessage" && c.o.Sample != nil:
		return c.o.Sample(ctx, params)
	case method == "roots/list" && c.o.Roots != nil:
		return map[string]any{"roots": c.o.Roots}, nil
	case method == "ping":
		return struct{}{}, nil
	}
	return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "the client has no " + method}
}

// reply answers a request of the server (revisions with initialize).
func (c *Client) reply(m *message) {
	v, err := c.answer(c.ctx, "", m.Method, m.Params)
	var result []byte
	if err == nil {
		result, err = json.Marshal(v)
	}
	out := append(append([]byte(`{"jsonrpc":"2.0","id":`), m.ID...), ',')
	if err == nil {
		out = append(append(out, `"result":`...), result...)
	} else {
		e := &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: err.Error()}
		_ = errors.As(err, &e)
		b, _ := json.Marshal(map[string]any{"code": e.Code, "message": e.Message})
		out = append(append(out, `"error":`...), b...)
	}
	_ = c.Send(append(out, '}'))
}
