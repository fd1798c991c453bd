package mcphttp

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/tandem-rpc/tandem/cancel"
)

// Shutdown ends the handler in good order. No session and no subscription begins any more; subscriptions/listen are answered, streams of sessions
// closed; what runs has [Options.Grace], then its contexts are cancelled, with cause [cancel.ErrClosing], and what is not answered then is answered with
// an error. It returns when everything has ended, or with ctx's error when that ends; then nothing is waited for.
//
// It does not close the connections: that is the business of the http.Server, whose Shutdown should be called first. [Handler.Serve] does both.
func (h *Handler) Shutdown(ctx context.Context) error {
	h.phase.CompareAndSwap(open, draining)
	h.mu.Lock()
	h.relief.stop()
	if h.sweep != nil {
		h.sweep.Stop()
		h.sweep = nil
	}
	for x := h.modern; x != nil; x = x.next {
		if x.listen {
			x.stop(cancel.ErrClosing)
		}
	}
	all := make([]*session, 0, len(h.sessions))
	for _, s := range h.sessions {
		all = append(all, s)
	}
	h.mu.Unlock()
	for _, s := range all {
		s.mu.Lock()
		own, idle := s.own, s.running == 0
		s.mu.Unlock()
		switch {
		case s.old && idle:
			h.close(s, cancel.ErrClosing)
		case own != nil && !s.old:
			own.end(false, max(h.o.Retry, time.Second))
		}
	}
	grace, stop := context.WithTimeout(ctx, h.o.Grace)
	defer stop()
	if !h.wait(grace) {
		h.cut()
	}
	err := error(nil)
	if !h.wait(ctx) {
		err = ctx.Err()
	}
	h.phase.Store(closed)
	h.cut()
	h.lines.close()
	h.bodies.stop()
	h.waits.stop()
	return err
}

// wait waits until nothing runs.
func (h *Handler) wait(ctx context.Context) bool {
	for h.active.Load() > 0 {
		select {
		case <-h.quiet:
		case <-ctx.Done():
			return false
		}
	}
	select {
	case h.quiet <- struct{}{}: // another Shutdown may wait too
	default:
	}
	return true
}

// cut ends everything that runs.
func (h *Handler) cut() {
	h.stop(cancel.ErrClosing)
	h.bodies.rush()
	h.mu.Lock()
	for x := h.modern; x != nil; x = x.next {
		x.stop(cancel.ErrClosing)
	}
	all := h.sessions
	h.sessions = make(map[string]*session)
	clear(h.principals)
	h.mu.Unlock()
	for _, s := range all {
		s.end(cancel.ErrClosing)
	}
}

// NewServer returns an http.Server for a handler, with limits that suit streams: headers have 64 KiB and ten seconds, idle connections two minutes; there is no
// WriteTimeout, which would cut streams off, they have their own.
func NewServer(handler http.Handler) *http.Server {
	return &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 120 * time.Second, MaxHeaderBytes: DefaultMaxHeader}
}

// Serve serves srv, in whose handler h stands somewhere, on a listener until ctx ends, then shuts both down in good order, for which it takes as long as
// [Options.Grace] and some seconds more. It returns nil after a shutdown, else what the server failed with.
func (h *Handler) Serve(ctx context.Context, l net.Listener, srv *http.Server) error {
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	select {
	case err := <-failed:
		_ = h.Shutdown(canceled())
		return err
	case <-ctx.Done():
	}
	end, stop := context.WithTimeout(context.WithoutCancel(ctx), h.o.Grace+5*time.Second)
	defer stop()
	h.phase.CompareAndSwap(open, draining)
	accept := make(chan struct{})
	go func() {
		defer close(accept)
		_ = srv.Shutdown(end) // closes the listener at once, then waits for the connections
	}()
	err := h.Shutdown(end)
	<-accept
	_ = srv.Close()
	if e := <-failed; e != nil && !errors.Is(e, http.ErrServerClosed) {
		err = e
	}
	return err
}

func canceled() context.Context {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	return ctx
}
