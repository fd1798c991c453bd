package mcptest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
)

// ErrClosed is returned by methods of a [Client] that was closed.
var ErrClosed = errors.New("mcptest: the client is closed")

// A Client is one client of a server. Make one with [New] or [Dial]. Its methods may be called by many goroutines at once.
//
// An error answer of the server is returned as a *[jsonrpc2.Error].
type Client struct {
	o     Options
	link  link
	ctx   context.Context // of answers that are being given
	stop  context.CancelFunc
	asked sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	last    int64                      // id that was given out
	waiting map[string]chan<- *message // by the text of the id; by batchKey
	entries []Entry
	arrived chan struct{} // closed when something has come
	read    map[string]int

	server struct {
		Info         mcp.Implementation         `json:"serverInfo"`
		Capabilities map[string]json.RawMessage `json:"capabilities"`
		Instructions string                     `json:"instructions"`
	}
}

const (
	batchKey  = "[]"   // stands for the id of an answer to a batch
	nobodyKey = "null" // and this of an error that belongs to no request
)

// link is the way to the server. What comes back is given to the client's receive.
type link interface {
	send(payload []byte) error
	close() error
}

// message is any message.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    jsonrpc2.Code   `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
	raw []byte
}

// New makes a client for a test, and closes it at the end of that. It fails the test if that cannot be done. A nil o is the zero Options.
func New(t testing.TB, s *mcp.Server, o *Options) *Client {
	t.Helper()
	c, err := Dial(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// Dial makes a client and introduces it: by initialize and what follows it, or by server/discover. A nil o is the zero Options.
func Dial(ctx context.Context, s *mcp.Server, o *Options) (*Client, error) {
	c := &Client{waiting: make(map[string]chan<- *message), arrived: make(chan struct{}), read: make(map[string]int)}
	if o != nil {
		c.o = *o
	}
	c.o.fill()
	c.ctx, c.stop = context.WithCancel(context.WithoutCancel(ctx))
	var err error
	if c.o.Hosted {
		c.link = &hostLink{client: c, server: s, running: make(map[string]context.CancelFunc), calls: make(map[string]chan *message)}
	} else if c.link, err = dialConn(c, s); err != nil {
		c.stop()
		return nil, err
	}
	if err := c.begin(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// begin introduces the client.
func (c *Client) begin(ctx context.Context) error {
	if c.o.modern() {
		if err := c.Call(ctx, "server/discover", nil, &c.server); err != nil {
			return fmt.Errorf("mcptest: server/discover: %w", err)
		}
		return nil
	}
	var answer struct {
		Version string `json:"protocolVersion"`
	}
	raw, err := c.Request(ctx, "initialize", map[string]any{
		"protocolVersion": c.o.Revision, "capabilities": c.o.capabilities(), "clientInfo": c.o.Client,
	})
	if err == nil {
		err = errors.Join(json.Unmarshal(raw, &answer), json.Unmarshal(raw, &c.server))
	}
	switch {
	case err != nil:
		return fmt.Errorf("mcptest: initialize: %w", err)
	case answer.Version != c.o.Revision:
		return fmt.Errorf("mcptest: initialize: the server answers revision %q to %q", answer.Version, c.o.Revision)
	}
	if err := c.Notify("notifications/initialized", nil); err != nil || c.o.LogLevel == "" {
		return err
	}
	_, err = c.Request(ctx, "logging/setLevel", map[string]any{"level": c.o.LogLevel})
	return err
}

// Info is what the server calls itself. Since 2026-07-28 it is in _meta of every result.
func (c *Client) Info() mcp.Implementation { return c.server.Info }

// Capabilities are those of the server, raw, by name.
func (c *Client) Capabilities() map[string]json.RawMessage { return c.server.Capabilities }

// Instructions are what the server says to the client's model.
func (c *Client) Instructions() string { return c.server.Instructions }

// Revision is the one that is spoken.
func (c *Client) Revision() string { return c.o.Revision }

// Modern reports whether the revision has no initialize: 2026-07-28 and later.
func (c *Client) Modern() bool { return c.o.modern() }

// Close ends the client, as one that goes away, and waits for the server to be done with it, at most [Options.Timeout]. Closing again does nothing.
func (c *Client) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	close(c.arrived)
	for key, ch := range c.waiting {
		close(ch)
		delete(c.waiting, key)
	}
	c.mu.Unlock()
	c.stop()
	err := c.link.close()
	c.asked.Wait()
	return err
}

// Send sends a payload as it is, whether it makes sense or not, and waits for nothing. What comes of it is in the transcript.
func (c *Client) Send(payload []byte) error {
	payload = bytes.Clone(payload)
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return ErrClosed
	}
	c.entries = append(c.entries, Entry{Sent: true, Payload: payload})
	c.mu.Unlock()
	return c.link.send(payload)
}

// Raw sends a payload as it is and returns what is answered: to a request the response with its id, to a batch the array, to what is no message the
// error. For notifications, responses and batches of those it does not wait.
func (c *Client) Raw(ctx context.Context, payload []byte) ([]byte, error) {
	key := answerKey(payload)
	if key == "" {
		return nil, c.Send(payload)
	}
	m, err := c.exchange(ctx, key, payload)
	if err != nil {
		return nil, err
	}
	return m.raw, nil
}

// answerKey says what an answer is recognised by, "" if there will be none.
func answerKey(payload []byte) string {
	var all []message
	if json.Unmarshal(payload, &all) == nil && len(all) > 0 {
		for _, m := range all {
			if !m.silent() {
				return batchKey
			}
		}
		return ""
	}
	var one message
	if json.Unmarshal(payload, &one) != nil {
		return nobodyKey
	}
	switch {
	case one.silent():
		return ""
	case one.ID == nil:
		return nobodyKey
	}
	return string(one.ID)
}

// silent says that a message has no answer: it is a notification or a response.
func (m *message) silent() bool {
	return m.ID == nil && m.Method != "" || m.Method == "" && (m.Result != nil || m.Error != nil)
}

// receive takes what the server has sent.
func (c *Client) receive(payload []byte) {
	m := message{raw: bytes.Clone(payload)}
	key := batchKey
	if err := json.Unmarshal(m.raw, &m); err == nil {
		key = string(m.ID)
	}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return
	}
	c.entries = append(c.entries, Entry{Payload: m.raw, method: m.Method, notification: m.ID == nil && m.Method != "", params: m.Params})
	if m.Method == "" && m.ID == nil && m.Error != nil {
		key = nobodyKey
	}
	if key == nobodyKey && c.waiting[key] == nil && len(c.waiting) == 1 {
		for key = range c.waiting { // it can be meant for no other
		}
	}
	if ch := c.waiting[key]; ch != nil && m.Method == "" {
		delete(c.waiting, key)
		ch <- &m
	}
	if m.Method != "" && m.ID != nil {
		c.asked.Go(func() { c.reply(&m) })
	}
	c.mu.Unlock()
	if m.Method != "" && m.ID == nil && c.o.Notified != nil {
		c.o.Notified(Notification{m.Method, m.Params})
	}
	c.mu.Lock()
	if !c.closed {
		close(c.arrived)
		c.arrived = make(chan struct{})
	}
	c.mu.Unlock()
}
