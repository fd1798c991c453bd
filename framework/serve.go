package framework

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// After an error Accept is tried again, first soon and then once a second: what makes it fail, mostly that no file descriptor is left, passes.
const (
	acceptFirstDelay = 5 * time.Millisecond
	acceptMaxDelay   = time.Second
)

// Serve accepts connections and serves each like [Runtime.ServeConn], side by side, until the listener is closed, [Runtime.Shutdown] is called,
// or ctx ends. It closes the listener, and returns when the last of its connections has ended. What goes wrong on one connection is logged and
// touches no other. It returns nil after Shutdown, ctx's error after ctx ended, and an error that wraps [net.ErrClosed] when somebody else closed
// the listener. Other errors of Accept are logged, and it is tried again.
//
// Anyone who can connect can call every method. [Listen] makes listeners that only this machine, or only this user, can reach.
//
// A peer that connects has a minute to choose among several front ends by its first byte. Connections that begin with an HTTP request go to
// [Runtime.Web]; where there is none, and messages are lines, they are closed: any web page can send such a request to a local port.
func (rt *Runtime) Serve(ctx context.Context, ln net.Listener, fes ...FrontEnd) error {
	return rt.serveListener(ctx, ln, Endpoint{FrontEnds: fes, Web: rt.Web})
}

func (rt *Runtime) serveListener(ctx context.Context, ln net.Listener, e Endpoint) error {
	if len(e.FrontEnds) == 0 && e.Web == nil {
		_ = ln.Close()
		return ErrNoFrontEnd
	}
	if err := rt.listen(ln); err != nil {
		_ = ln.Close()
		return err
	}
	defer rt.unlisten(ln)
	stop := context.AfterFunc(ctx, func() { _ = ln.Close() })
	defer stop()
	var connections sync.WaitGroup
	defer connections.Wait()
	var http *web
	if e.Web != nil {
		l, stop, err := rt.startWeb(ctx, ln, e.Web, ln.Addr().Network()+"-http")
		if err != nil {
			return err
		}
		defer stop()
		http = l
	}

	delay := time.Duration(0)
	for {
		c, err := ln.Accept()
		switch {
		case err == nil:
			delay = 0
		case ctx.Err() != nil:
			return ctx.Err()
		case rt.isClosing():
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		default:
			delay = min(max(2*delay, acceptFirstDelay), acceptMaxDelay)
			rt.logger().Warn("accept failed, trying again", "error", rt.text(err), "delay", delay)
			if !wait(ctx, delay) {
				return ctx.Err()
			}
			continue
		}
		if !rt.claim() {
			rt.logger().Warn("connection refused: too many", "limit", rt.maxConns())
			_ = c.Close()
			continue
		}
		connections.Go(func() { rt.serveAccepted(ctx, c, e.FrontEnds, http) })
	}
}

// detectTime is how long a peer may be silent before it has said what it speaks.
const detectTime = time.Minute

func (rt *Runtime) serveAccepted(ctx context.Context, c net.Conn, fes []FrontEnd, http *web) {
	if http != nil {
		known := &begun{Conn: c, onClose: rt.unclaim}
		is, err := len(fes) == 0, error(nil)
		if !is {
			stop := context.AfterFunc(ctx, func() { _ = c.Close() })
			is, err = speaksHTTP(known, detectTime)
			stop()
		}
		switch {
		case err != nil:
			rt.logger().Debug("a peer said nothing", "error", rt.text(err))
			_ = known.Close()
			return
		case is:
			http.give(known)
			return
		}
		c = known
	} else {
		defer rt.unclaim()
	}
	network := c.LocalAddr().Network()
	at := place{name: fmt.Sprintf("%s-%d", network, rt.number.Add(1)), public: network != "unix", detect: detectTime}
	_, err := rt.serve(ctx, c, at, fes)
	if err != nil && ctx.Err() == nil && !errors.Is(err, ErrShutdown) {
		rt.logger().Warn("connection failed", "connection", at.name, "error", rt.text(err))
	}
}

// wait waits and reports whether ctx lasted.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

func (rt *Runtime) listen(ln net.Listener) error {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if rt.closing {
		return ErrShutdown
	}
	if rt.listeners == nil {
		rt.listeners = map[net.Listener]struct{}{}
	}
	rt.listeners[ln] = struct{}{}
	return nil
}

func (rt *Runtime) unlisten(ln net.Listener) {
	_ = ln.Close()
	rt.mu.Lock()
	defer rt.mu.Unlock()
	delete(rt.listeners, ln)
}

func (rt *Runtime) isClosing() bool {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return rt.closing
}

func (rt *Runtime) maxConns() int {
	if rt.MaxConns == 0 {
		return DefaultMaxConns
	}
	return rt.MaxConns
}

// claim takes one of the connections that MaxConns allows.
func (rt *Runtime) claim() bool {
	most := rt.maxConns()
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if most > 0 && rt.accepted >= most {
		return false
	}
	rt.accepted++
	return true
}

func (rt *Runtime) unclaim() {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.accepted--
}
