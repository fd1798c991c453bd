package mcptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
)

// connLink is a connection in memory, with the server at its other end.
type connLink struct {
	timeout time.Duration
	mu      sync.Mutex // one Write at a time
	end     jsonrpc2.Transport
	conn    *jsonrpc2.Conn
	work    sync.WaitGroup
}

func dialConn(c *Client, s *mcp.Server) (*connLink, error) {
	o := new(jsonrpc2.Options)
	mux, err := s.Mount(o)
	if err != nil {
		return nil, err
	}
	theirs, ours := jsonrpc2.Pipe()
	l := &connLink{timeout: c.o.Timeout, end: ours, conn: jsonrpc2.NewConn(theirs, mux, o)}
	l.work.Go(func() { _ = l.conn.Serve(c.o.Context) })
	l.work.Go(func() {
		for {
			payload, err := ours.Read()
			if err != nil {
				return
			}
			c.receive(payload)
		}
	})
	return l, nil
}

func (l *connLink) send(payload []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.end.Write(payload)
}

func (l *connLink) close() error {
	err := l.end.Close()
	_ = l.conn.Close()
	return errors.Join(err, within(l.timeout, &l.work))
}

// within waits for work to be done.
func within(timeout time.Duration, work *sync.WaitGroup) error {
	done := make(chan struct{})
	go func() {
		work.Wait()
		close(done)
	}()
	t := time.NewTimer(timeout)
	defer t.Stop()
	select {
	case <-done:
		return nil
	case <-t.C:
		return fmt.Errorf("mcptest: the server is not done %v after its client has gone", timeout)
	}
}

// hostLink does what a transport without connections does with its payloads.
type hostLink struct {
	client *Client
	server *mcp.Server
	work   sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	session *mcp.Session
	running map[string]context.CancelFunc // requests of the era without sessions, by id
	calls   map[string]chan *message      // of the server, by id
	last    int
}

// Notify implements mcp.Peer.
func (l *hostLink) Notify(ctx context.Context, method string, params any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return l.out("", method, params)
}

func (l *hostLink) out(id, method string, params any) (err error) {
	var p []byte
	if params != nil {
		if p, err = mcp.Encode(params); err != nil {
			return err
		}
	}
	l.client.receive(compose(id, method, p))
	return nil
}

// Call implements mcp.Peer.
func (l *hostLink) Call(ctx context.Context, method string, params, result any) error {
	ch := make(chan *message, 1)
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return ErrClosed
	}
	l.last++
	id := strconv.Quote("server-" + strconv.Itoa(l.last))
	l.calls[id] = ch
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.calls, id)
		l.mu.Unlock()
	}()
	if err := l.out(id, method, params); err != nil {
		return err
	}
	select {
	case m, ok := <-ch:
		switch {
		case !ok:
			return ErrClosed
		case m.Error != nil:
			return m.err()
		case result == nil:
			return nil
		}
		return json.Unmarshal(m.Result, result)
	case <-ctx.Done():
		_ = l.out("", mcp.Cancel.Method, map[string]any{"requestId": json.RawMessage(id)})
		return ctx.Err()
	}
}

func (l *hostLink) send(payload []byte) error {
	m, _ := mcp.Inspect(payload) // what is no JSON is for the server to refuse
	var sent message
	_ = json.Unmarshal(payload, &sent)
	modern := m.Modern || l.client.o.modern()
	switch {
	case m.Kind == jsonrpc2.KindResponse:
		l.mu.Lock()
		ch := l.calls[string(sent.ID)]
		delete(l.calls, string(sent.ID))
		l.mu.Unlock()
		if ch != nil {
			ch <- &sent
		}
		return nil
	case modern && m.Method == mcp.Cancel.Method:
		l.cancel(m.Params)
		return nil
	case modern:
		l.modern(string(sent.ID), payload)
		return nil
	}
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return ErrClosed
	}
	if l.session == nil {
		ses, err := l.server.NewSession(l)
		if err != nil {
			l.mu.Unlock()
			return err
		}
		l.session = ses
	}
	ses := l.session
	handle := func() {
		if out := ses.Handle(l.client.o.Context, payload); out != nil {
			l.client.receive(out)
		}
	}
	if m.Kind != jsonrpc2.KindNotification {
		l.work.Go(handle)
		l.mu.Unlock()
		return nil
	}
	l.mu.Unlock()
	handle()
	return nil
}

// modern gives the server a message of the era without sessions. The end of its context is how HTTP, too, cancels it.
func (l *hostLink) modern(id string, payload []byte) {
	ctx, stop := context.WithCancel(l.client.o.Context)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		stop()
		return
	}
	if id != "" {
		l.running[id] = stop
	}
	l.work.Go(func() {
		defer stop()
		out := l.server.HandleModern(ctx, payload, l)
		l.mu.Lock()
		delete(l.running, id)
		l.mu.Unlock()
		if out != nil {
			l.client.receive(out)
		}
	})
}

func (l *hostLink) cancel(params json.RawMessage) {
	var p struct {
		ID json.RawMessage `json:"requestId"`
	}
	_ = json.Unmarshal(params, &p)
	l.mu.Lock()
	stop := l.running[string(p.ID)]
	l.mu.Unlock()
	if stop != nil {
		stop()
	}
}

func (l *hostLink) close() error {
	l.mu.Lock()
	l.closed = true
	for _, stop := range l.running {
		stop()
	}
	for id, ch := range l.calls {
		close(ch)
		delete(l.calls, id)
	}
	ses := l.session
	l.mu.Unlock()
	if ses != nil {
		ses.Close(nil)
	}
	return within(l.client.o.Timeout, &l.work)
}
