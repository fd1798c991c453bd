package lspws

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync"

	"github.com/coder/websocket"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Handler serves a language server over WebSocket. It is made by [New]; all methods may be called by many goroutines at once.
type Handler struct {
	s Server
	o Options

	mu      sync.Mutex
	closing bool
	live    map[*session]struct{}
	gone    chan struct{} // closed when closing and live is empty
}

// session is one connection.
type session struct {
	t    *transport
	stop context.CancelFunc
	conn *jsonrpc2.Conn // nil where Options.Serve is in charge
}

var (
	errBusy = errors.New("lspws: too many connections")
	errAway = errors.New("lspws: shutting down")
)

// New makes a Handler that serves s, one session for each socket. A nil o is the zero Options. s may be nil where Options.Serve is set.
func New(s Server, o *Options) *Handler {
	h := &Handler{s: s, live: make(map[*session]struct{}), gone: make(chan struct{})}
	if o != nil {
		h.o = *o
	}
	h.o.fill()
	return h
}

// ServeHTTP makes a socket of the request and serves it until it ends. What is no WebSocket request is refused as RFC 6455 section 4.2 says; a Host or an
// Origin that is not allowed with status 403; and one connection too many with 503.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	if err := h.o.admit(r); err != nil {
		h.o.Report(ctx, err)
		http.Error(w, "Host or Origin is not allowed", http.StatusForbidden)
		return
	}
	ses := &session{stop: stop}
	if err := h.enter(ses); err != nil {
		h.o.Report(ctx, err)
		http.Error(w, "Try again later", http.StatusServiceUnavailable)
		return
	}
	defer h.leave(ses)
	below := &hijacker{ResponseWriter: w, stall: h.o.Stall}
	// The guard has looked at the origin. Compression costs more than it saves on the way an editor is reached.
	ws, err := websocket.Accept(below, r, &websocket.AcceptOptions{Subprotocols: h.o.Subprotocols, InsecureSkipVerify: true})
	if err != nil {
		h.o.Report(ctx, fmt.Errorf("lspws: no WebSocket: %w", err))
		return // and has been told so
	}
	ws.SetReadLimit(-1) // ours does not end the connection
	t := &transport{ws: ws, wire: below.wire, max: h.o.Options.MaxFrame}
	defer func() { _ = ws.CloseNow() }() // also where the session never began
	var own sync.WaitGroup
	defer own.Wait()
	defer stop()
	if h.o.Ping > 0 {
		own.Go(func() { t.keepAlive(ctx, h.o.Ping) })
	}
	if err := h.serve(ctx, ses, t); err != nil && !h.isClosing() {
		h.o.Report(ctx, err)
	}
}

// serve runs one session. A panic of the server's is its own end only.
func (h *Handler) serve(ctx context.Context, ses *session, t *transport) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("lspws: serve: %w", &jsonrpc2.PanicError{Value: v, Stack: debug.Stack()})
			t.shut(websocket.StatusInternalError)
		}
	}()
	if h.o.Serve != nil {
		h.begin(ses, t, nil)
		err = h.o.Serve(ctx, t)
		_ = t.Close() // it has been unless it was never used
		return err
	}
	o := h.o.Options
	mux, err := h.s.Mount(&o)
	if err != nil {
		t.shut(websocket.StatusInternalError)
		return fmt.Errorf("lspws: mount: %w", err)
	}
	conn := jsonrpc2.NewConn(t, mux, &o)
	h.begin(ses, t, conn)
	return conn.Serve(ctx)
}

func (h *Handler) enter(ses *session) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closing:
		return errAway
	case h.o.MaxConns > 0 && len(h.live) >= h.o.MaxConns:
		return fmt.Errorf("%w: the limit is %d", errBusy, h.o.MaxConns)
	}
	h.live[ses] = struct{}{}
	return nil
}

// begin has Shutdown know the session's connection. One that began meanwhile ends at once.
func (h *Handler) begin(ses *session, t *transport, conn *jsonrpc2.Conn) {
	h.mu.Lock()
	ses.t, ses.conn = t, conn
	closing := h.closing
	h.mu.Unlock()
	if closing {
		t.away.Store(true)
		ses.stop()
	}
}

func (h *Handler) leave(ses *session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.live, ses)
	if h.closing && len(h.live) == 0 {
		h.endLocked()
	}
}

func (h *Handler) endLocked() {
	select {
	case <-h.gone:
	default:
		close(h.gone)
	}
}

func (h *Handler) isClosing() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closing
}

// Shutdown ends all connections, which an [http.Server] does not do with those that have become sockets: nothing more is read from them, handlers that run
// may finish, what they answer is sent, and clients get the status 1001. It returns nil when all have ended. When ctx ends first, the contexts of the handlers
// left are cancelled, their connections closed, and ctx's error is returned. New clients are answered with status 503. It may be called more than once.
//
// Where Options.Serve is set it is for whoever serves to end the sessions, a Runtime by its own Shutdown at the same time: here the end is only waited for until
// ctx ends.
func (h *Handler) Shutdown(ctx context.Context) error {
	h.mu.Lock()
	h.closing = true
	if len(h.live) == 0 {
		h.endLocked()
	}
	var all []session
	for ses := range h.live {
		all = append(all, *ses)
	}
	h.mu.Unlock()
	for _, ses := range all {
		if ses.t == nil {
			continue // it has not begun, and will see that it came too late
		}
		ses.t.away.Store(true)
		if ses.conn != nil {
			go func() { _ = ses.conn.Shutdown(ctx) }() // its error is ctx's
		}
	}
	select {
	case <-h.gone:
		return nil
	case <-ctx.Done():
	}
	for _, ses := range all {
		ses.stop()
	}
	return ctx.Err()
}
