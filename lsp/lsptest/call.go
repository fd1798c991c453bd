package lsptest

import (
	"encoding/json"
	"fmt"
	"time"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/lsp"
)

// Pending is a request that has been sent. Its methods may be called by any goroutine.
type Pending struct {
	c      *Client
	id     string
	method string
	done   chan struct{}
	result json.RawMessage // both are written before done is closed
	err    error
}

// Go sends a request and does not wait for its answer. params are raw JSON, nil for none, or encoded with [lsp.Codec].
func (c *Client) Go(method string, params any) *Pending {
	p := &Pending{c: c, id: c.id(), method: method, done: make(chan struct{})}
	raw, err := encode(params)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err != nil:
		p.err = fmt.Errorf("params: %w", err)
		close(p.done)
	case c.gone:
		p.err = ErrClosed
		close(p.done)
	default:
		c.waiting[p.id] = p
		c.sendLocked(compose(p.id, method, raw))
	}
	return p
}

// Cancel tells the server that nobody wants the answer any more ($/cancelRequest). The answer comes all the same, an error with code -32800 if all is well, and
// [Pending.Wait] returns it.
func (p *Pending) Cancel() {
	p.c.send("", lsp.Cancel.Method, []byte(`{"id":`+p.id+`}`))
}

// Done is closed when the answer is there.
func (p *Pending) Done() <-chan struct{} { return p.done }

// Wait waits for the answer, at most [Options.Timeout], and decodes the result; a nil result drops it. An error answer is returned as a *[jsonrpc2.Error].
func (p *Pending) Wait(result any) error {
	late := time.NewTimer(p.c.o.Timeout)
	defer late.Stop()
	select {
	case <-p.done:
	case <-late.C:
		p.c.mu.Lock()
		delete(p.c.waiting, p.id)
		p.c.mu.Unlock()
		return fmt.Errorf("lsptest: %s: no answer within %v", p.method, p.c.o.Timeout)
	}
	if p.err != nil {
		return p.err
	}
	return decode(p.method, p.result, result)
}

func decode(method string, raw json.RawMessage, result any) error {
	switch result := result.(type) {
	case nil:
		return nil
	case *json.RawMessage:
		*result = raw
		return nil
	}
	if err := lsp.Codec.Unmarshal(raw, result); err != nil {
		return fmt.Errorf("lsptest: %s: the result does not decode as %T: %s", method, result, cut(raw))
	}
	return nil
}

func cut(raw []byte) string {
	if len(raw) > tailLine {
		return string(raw[:tailLine]) + "..."
	}
	return string(raw)
}

// Try sends a request and waits for its answer. An error answer is returned as a *[jsonrpc2.Error].
func (c *Client) Try(method string, params, result any) error {
	return c.Go(method, params).Wait(result)
}

// Call is [Client.Try] for requests that must not fail.
func (c *Client) Call(method string, params, result any) {
	c.t.Helper()
	if err := c.Try(method, params, result); err != nil {
		c.fail("%s: %v", method, err)
	}
}

// Refused is Call for requests that must fail. It returns the error answer, which must have that code.
func (c *Client) Refused(code jsonrpc2.Code, method string, params any) *jsonrpc2.Error {
	c.t.Helper()
	var raw json.RawMessage
	err := c.Try(method, params, &raw)
	answer, ok := err.(*jsonrpc2.Error)
	switch {
	case err == nil:
		c.fail("%s: want code %d, got the result %s", method, int64(code), cut(raw))
	case !ok:
		c.fail("%s: want code %d, got: %v", method, int64(code), err)
	case answer.Code != code:
		c.fail("%s: want code %d, got %d: %s", method, int64(code), int64(answer.Code), answer.Message)
	}
	return answer
}

// Request is [Client.Call] with the result as its own.
//
//	locations := lsptest.Request[[]protocol.Location](c, protocol.MethodTextDocumentReferences, params)
func Request[R any](c *Client, method string, params any) R {
	c.t.Helper()
	var r R
	c.Call(method, params, &r)
	return r
}

// Notify sends a notification.
func (c *Client) Notify(method string, params any) {
	c.t.Helper()
	raw, err := encode(params)
	if err != nil {
		c.fail("%s: params: %v", method, err)
	}
	c.send("", method, raw)
}

// Send sends bytes as a message, whatever they are. What comes of it is in the transcript.
func (c *Client) Send(payload string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sendLocked([]byte(payload))
}

// syncMethod is a request that New adds to the server's.
const syncMethod = "$/lsptest/sync"

// Sync waits until the server has handled all notifications that were sent. It needs a server that New has mounted.
func (c *Client) Sync() {
	c.t.Helper()
	c.Call(syncMethod, nil, nil) // requests start after the notifications before them
}

// Notification returns the params of the next notification of a method: the first call returns the first that came since the beginning, also before the call,
// and so on. It waits for one.
func (c *Client) Notification(method string) json.RawMessage {
	c.t.Helper()
	var params json.RawMessage
	c.await(method, func() bool {
		for i := c.read[method]; i < len(c.entries); i++ {
			if e := &c.entries[i]; !e.Sent && e.message.ID == nil && e.message.Method == method {
				params, c.read[method] = e.message.Params, i+1
				return true
			}
		}
		c.read[method] = len(c.entries)
		return false
	})
	return params
}

// Next is [Client.Notification] with the params decoded.
//
//	shown := lsptest.Next[protocol.ShowMessageParams](c, protocol.MethodWindowShowMessage)
func Next[P any](c *Client, method string) P {
	c.t.Helper()
	var p P
	raw := c.Notification(method)
	if err := lsp.Codec.Unmarshal(raw, &p); err != nil {
		c.fail("%s: the params do not decode as %T: %s", method, p, cut(raw))
	}
	return p
}

// Shown are the messages that the user has been shown so far (window/showMessage).
func (c *Client) Shown() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []string
	for _, e := range c.entries {
		if !e.Sent && e.message.Method == protocol.MethodWindowShowMessage {
			var p protocol.ShowMessageParams
			_ = lsp.Codec.Unmarshal(e.message.Params, &p)
			all = append(all, p.Message)
		}
	}
	return all
}

// Count is how many requests and notifications of a method the server has sent so far.
func (c *Client) Count(method string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, e := range c.entries {
		if !e.Sent && e.message.Method == method {
			n++
		}
	}
	return n
}

// Await waits until the server has sent n requests and notifications of a method.
func (c *Client) Await(method string, n int) {
	c.t.Helper()
	c.await(fmt.Sprintf("%d times %s", n, method), func() bool {
		got := 0
		for _, e := range c.entries {
			if !e.Sent && e.message.Method == method {
				got++
			}
		}
		return got >= n
	})
}
