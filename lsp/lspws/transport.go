package lspws

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

const (
	closeGrace = 2 * time.Second // for the client to answer a close frame
	keepSize   = 1 << 20         // a larger buffer is not kept for the next message
	skipFactor = 64              // a message of more than so many times the limit ends the connection
)

var (
	errGone   = errors.New("lspws: the connection was lost")
	errSilent = errors.New("lspws: the client does not answer pings")
	errLong   = fmt.Errorf("lspws: a message of more than %d times the limit", skipFactor)
)

// transport is a socket as [jsonrpc2.Transport].
type transport struct {
	ws   *websocket.Conn
	wire *wire
	max  int

	buf  []byte
	rest io.Reader // of a message that was refused
	err  error     // of the last Read

	reading atomic.Bool
	away    atomic.Bool // the server goes, not the session
	closed  atomic.Bool
	once    sync.Once
	mu      sync.Mutex
	cause   error // why the connection was cut
}

// Read returns the next text message. The end of the socket in good order is io.EOF.
func (t *transport) Read() ([]byte, error) {
	if t.err != nil {
		return nil, t.err
	}
	t.reading.Store(true)
	defer t.reading.Store(false)
	m, err := t.read()
	if _, ok := err.(*jsonrpc2.MessageError); err != nil && !ok {
		t.err, t.buf = t.ended(err), nil
		return nil, t.err
	}
	return m, err
}

func (t *transport) read() ([]byte, error) {
	if t.rest != nil {
		n, err := io.CopyN(io.Discard, t.rest, int64(skipFactor-1)*int64(t.max))
		switch {
		case err == nil && n > 0:
			t.shut(websocket.StatusMessageTooBig)
			return nil, errLong
		case err != io.EOF:
			return nil, err
		}
		t.rest = nil
	}
	kind, r, err := t.ws.Reader(context.Background())
	if err != nil {
		return nil, err
	}
	if kind != websocket.MessageText {
		t.rest = r
		return nil, &jsonrpc2.MessageError{Code: jsonrpc2.CodeInvalidRequest, Reason: "Invalid Request", Detail: "a binary message"}
	}
	b := t.buf[:0]
	if cap(b) > keepSize || cap(b) == 0 {
		b = make([]byte, 0, 4<<10)
	}
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case len(b) > t.max:
			t.rest, t.buf = r, nil
			return nil, &jsonrpc2.MessageError{
				Code: jsonrpc2.CodeInvalidRequest, Reason: "Message too large", Detail: fmt.Sprintf("over the limit of %d bytes", t.max), Limit: t.max,
			}
		case err == io.EOF:
			t.buf = b
			return b, nil
		case err != nil:
			return nil, err
		}
	}
}

// ended is what Read returns when nothing more will come.
func (t *transport) ended(err error) error {
	t.mu.Lock()
	cause := t.cause
	t.mu.Unlock()
	switch code := websocket.CloseStatus(err); {
	case cause != nil:
		return cause
	case err == errLong:
		return err
	case t.closed.Load(), code == websocket.StatusNormalClosure, code == websocket.StatusGoingAway, code == websocket.StatusNoStatusRcvd:
		return io.EOF
	case code != -1:
		return fmt.Errorf("lspws: the client closed the connection: %w", err) // the reason stands quoted in it
	case errors.Is(err, io.EOF):
		return errGone // without a word, and that is no end in good order
	}
	return fmt.Errorf("%w: %w", errGone, err)
}

// Write sends each frame as a text message.
func (t *transport) Write(frames ...[]byte) error {
	for _, f := range frames {
		if err := t.ws.Write(context.Background(), websocket.MessageText, f); err != nil {
			if t.closed.Load() {
				return io.ErrClosedPipe
			}
			return fmt.Errorf("lspws: write: %w", err)
		}
	}
	return nil
}

// Close tells the client and waits a little for its answer.
func (t *transport) Close() error {
	code := websocket.StatusNormalClosure
	if t.away.Load() {
		code = websocket.StatusGoingAway
	}
	t.shut(code)
	return nil
}

func (t *transport) shut(code websocket.StatusCode) {
	t.once.Do(func() {
		t.closed.Store(true)
		late := time.AfterFunc(closeGrace, func() { _ = t.wire.Conn.Close() })
		defer late.Stop()
		_ = t.ws.Close(code, "") // whoever does not answer is gone
	})
}

// cutOff ends the connection without a word.
func (t *transport) cutOff(cause error) {
	t.mu.Lock()
	if t.cause == nil {
		t.cause = cause
	}
	t.mu.Unlock()
	_ = t.wire.Conn.Close()
}

// keepAlive asks a client from which nothing comes whether it is there, until ctx ends. Only a Read can see the answer, so a connection that does not read
// at the moment, as it has too much to do, proves nothing.
func (t *transport) keepAlive(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	seen := t.wire.received.Load()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := t.wire.received.Load()
		if now != seen || !t.reading.Load() || t.wire.writing.Load() {
			seen = now
			continue
		}
		asking, stop := context.WithTimeout(ctx, every)
		err := t.ws.Ping(asking)
		stop()
		now = t.wire.received.Load()
		if err != nil && ctx.Err() == nil && now == seen && t.reading.Load() && !t.wire.writing.Load() {
			t.cutOff(errSilent)
			return
		}
		seen = now
	}
}
