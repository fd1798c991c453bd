package lsptest

import (
	"encoding/json"
	"strconv"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/lsp"
)

// message is any message.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    jsonrpc2.Code   `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data,omitempty"`
	} `json:"error"`
}

// The engine is not at this end: a client of a test has to be able to send what makes no sense, and to see what comes of it.

// encode returns the text of params or a result, nil for none.
func encode(v any) (json.RawMessage, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case json.RawMessage:
		return v, nil
	}
	return lsp.Codec.Marshal(v)
}

// compose writes a request, or a notification if id is "".
func compose(id, method string, params []byte) []byte {
	b := []byte(`{"jsonrpc":"2.0",`)
	if id != "" {
		b = append(append(append(b, `"id":`...), id...), ',')
	}
	name, _ := json.Marshal(method)
	b = append(append(b, `"method":`...), name...)
	if params != nil {
		b = append(append(b, `,"params":`...), params...)
	}
	return append(b, '}')
}

// send sends a message in the order of the calls.
func (c *Client) send(id, method string, params []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sendLocked(compose(id, method, params))
}

// sendLocked never waits: a server that does not read shall not hold the test up.
func (c *Client) sendLocked(payload []byte) int {
	e := Entry{Sent: true, Payload: payload}
	_ = json.Unmarshal(payload, &e.message) // what is no message has none
	c.entries = append(c.entries, e)
	c.out = append(c.out, payload)
	c.pokeLocked()
	return len(c.entries) - 1
}

func (c *Client) poke() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pokeLocked()
}

func (c *Client) pokeLocked() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// writeAll writes what is sent until the connection ends.
func (c *Client) writeAll() {
	for {
		c.mu.Lock()
		out, gone := c.out, c.gone
		c.out = nil
		c.mu.Unlock()
		if len(out) > 0 {
			if c.end.Write(out...) != nil {
				return // and the reader learns why
			}
			continue
		}
		if gone {
			return
		}
		<-c.wake
	}
}

// readAll takes what the server sends until the connection ends.
func (c *Client) readAll() {
	for {
		payload, err := c.end.Read()
		if _, ok := err.(*jsonrpc2.MessageError); ok {
			continue // over the limit, which is ours
		}
		if err != nil {
			break
		}
		c.receive(append([]byte(nil), payload...))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
	for id, p := range c.waiting {
		p.err = ErrClosed
		close(p.done)
		delete(c.waiting, id)
	}
	c.arrivedLocked()
	c.pokeLocked()
}

func (c *Client) arrivedLocked() {
	close(c.arrived)
	c.arrived = make(chan struct{})
}

func (c *Client) receive(payload []byte) {
	e := Entry{Payload: payload}
	_ = json.Unmarshal(payload, &e.message)
	m := &e.message
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries = append(c.entries, e)
	switch {
	case m.Method != "" && m.ID != nil:
		c.work.Go(func() { c.reply(m) })
	case m.Method != "":
		c.notified(m)
	default:
		if p := c.waiting[string(m.ID)]; p != nil {
			delete(c.waiting, string(m.ID))
			p.result = m.Result
			if m.Error != nil {
				p.err = &jsonrpc2.Error{Code: m.Error.Code, Message: m.Error.Message, Data: m.Error.Data}
			}
			close(p.done)
		}
	}
	c.arrivedLocked()
}

func (c *Client) id() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	return strconv.FormatInt(c.last, 10)
}
