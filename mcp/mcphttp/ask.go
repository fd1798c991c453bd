package mcphttp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
)

// ask is a request to a client that waits for its response, which comes as a POST of its own.
type ask struct {
	on     *stream
	once   sync.Once
	done   chan struct{}
	result json.RawMessage
	err    error
}

func (a *ask) settle(result json.RawMessage, err error) {
	a.once.Do(func() {
		a.result, a.err = result, err
		close(a.done)
	})
}

// encodeMessage makes a request, or with id 0 a notification.
func encodeMessage(id int64, method string, params any) ([]byte, error) {
	b := make([]byte, 0, 128+len(method))
	b = append(b, `{"jsonrpc":"2.0",`...)
	if id != 0 {
		b = append(b, `"id":`...)
		b = append(strconv.AppendInt(b, id, 10), ',')
	}
	b = append(b, `"method":`...)
	b = appendString(b, method)
	if params != nil {
		p, err := mcp.Encode(params)
		if err != nil {
			return nil, fmt.Errorf("mcphttp: params of %q: %w", method, err)
		}
		if len(p) == 0 || p[0] != '{' && p[0] != '[' {
			return nil, fmt.Errorf("mcphttp: params of %q: %w", method, jsonrpc2.ErrParams)
		}
		b = append(append(b, `,"params":`...), p...)
	}
	return append(b, '}'), nil
}

// Call implements mcp.Peer: the request goes on the stream of the request it belongs to, else on the session's, where it may wait for the client to
// open that.
func (s *session) Call(ctx context.Context, method string, params, result any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	a := &ask{done: make(chan struct{})}
	s.mu.Lock()
	if s.ended != nil {
		s.mu.Unlock()
		return fmt.Errorf("%w: %w", jsonrpc2.ErrClosed, s.ended)
	}
	s.asked++
	id := s.asked
	s.mu.Unlock()
	m, err := encodeMessage(id, method, params)
	if err != nil {
		return err
	}
	s.mu.Lock()
	if s.ended != nil {
		a.settle(nil, jsonrpc2.ErrClosed)
	} else {
		if s.asks == nil {
			s.asks = make(map[int64]*ask)
		}
		s.asks[id] = a // before it is sent: the answer may be quick
	}
	s.mu.Unlock()
	on, err := s.send(ctx, m)
	if err != nil {
		s.forget(id)
		return err
	}
	s.mu.Lock()
	a.on = on
	s.mu.Unlock()
	if on.isLost() {
		s.streamLost(on) // before it was known what was on it
	}
	select {
	case <-a.done:
	case <-ctx.Done():
		if s.forget(id) != nil && !mcp.Cancel.Exempts(method) {
			s.giveUp(ctx, id)
		}
		a.settle(nil, ctx.Err())
	}
	if a.err != nil || result == nil {
		return a.err
	}
	if r, ok := result.(*json.RawMessage); ok {
		*r = a.result
		return nil
	}
	if err := jsonrpc2.DefaultCodec.Unmarshal(a.result, result); err != nil {
		return fmt.Errorf("mcphttp: result of %q: %w", method, err)
	}
	return nil
}

func (s *session) forget(id int64) *ask {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.asks[id]
	delete(s.asks, id)
	return a
}

// asking returns the number of the open request that an id means, which clients with one type of numbers may write as 1.0; 0, which is none, if there
// is no such request.
func (s *session) asking(id jsonrpc2.ID) int64 {
	if n, err := strconv.ParseInt(id.String(), 10, 64); err == nil {
		return n
	}
	if len(id.String()) > 32 {
		return 0 // none that means one of ours, but long to read
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := range s.asks {
		if jsonrpc2.NumberID(n).Equal(id) {
			return n
		}
	}
	return 0
}

// giveUp tells the client that a request is not waited for any more.
func (s *session) giveUp(ctx context.Context, id int64) {
	reason := ""
	var by cancel.ByPeer
	if errors.As(context.Cause(ctx), &by) {
		reason = by.Reason
	}
	params := json.RawMessage(mcp.Cancel.Params(strconv.AppendInt(nil, id, 10), reason))
	m, err := encodeMessage(0, mcp.Cancel.Method, params)
	if err == nil {
		_, err = s.send(context.WithoutCancel(ctx), m)
	}
	if err != nil && !errors.Is(err, jsonrpc2.ErrClosed) {
		s.h.report(ctx, fmt.Errorf("mcphttp: a client could not be told of a cancellation: %w", err))
	}
}

// streamLost fails what was asked on a stream that nobody will read any more.
func (s *session) streamLost(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, a := range s.asks {
		if a.on == st {
			delete(s.asks, id)
			a.settle(nil, ErrStreamLost)
		}
	}
}

// broken fails what an invalid message seems to answer: one with its id, and without a method. Else that would wait for an answer that has come.
func (s *session) broken(m *mcp.Message) {
	if m.Method != "" {
		return
	}
	if a := s.forget(s.asking(m.ID)); a != nil {
		a.settle(nil, jsonrpc2.ErrInvalidResponse)
	}
}

var errStray = errors.New("mcphttp: response to a request that is not open")

// answer gives the response of a client to who waits for it.
func (s *session) answer(ctx context.Context, id jsonrpc2.ID, payload []byte) {
	a := s.forget(s.asking(id))
	if a == nil {
		s.h.report(ctx, errStray)
		return
	}
	var r struct {
		Result json.RawMessage `json:"result"`
		Error  *struct {
			Code    jsonrpc2.Code   `json:"code"`
			Message *string         `json:"message"`
			Data    json.RawMessage `json:"data"`
		} `json:"error"`
	}
	switch err := jsonrpc2.DefaultCodec.Unmarshal(payload, &r); {
	case err != nil, r.Error != nil && r.Error.Message == nil, r.Error == nil && r.Result == nil:
		a.settle(nil, jsonrpc2.ErrInvalidResponse)
	case r.Error != nil:
		a.settle(nil, &jsonrpc2.Error{Code: r.Error.Code, Message: *r.Error.Message, Data: r.Error.Data})
	default:
		a.settle(r.Result, nil)
	}
}
