package framework

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Web is a protocol that is spoken over HTTP. A listener can have one beside its front ends: connections that begin with the line of an HTTP request
// are its. Like a [FrontEnd] it is satisfied without importing this package; [mcphttp.Site] is one. Its methods must be safe for concurrent use.
//
// [mcphttp.Site]: https://pkg.go.dev/github.com/tandem-rpc/tandem/mcp/mcphttp#Site
type Web interface {
	// Protocol and Conventions are those of [FrontEnd].
	Protocol() string
	Conventions() []cancel.Convention
	// Serve answers the connections of l until ctx ends, then ends them in good order, which should take seconds and not minutes, and returns. What l
	// accepts has been read from, which cannot be seen. o has Tap, Report and Observe where the runtime wants them, as for Mount.
	Serve(ctx context.Context, l net.Listener, o *jsonrpc2.Options) error
	// A Web may have a method URL(net.Addr) string too: where it is found when l listens there, for people to read.
}

// Sessioned is implemented by a [Web] that can tell the sessions of its clients apart. What passes in each is then a connection of its own for [Runtime.Feeds].
type Sessioned interface {
	// ServeSessions is called in place of Serve. The Tap, Report and Observe of o are then for what all sessions have in common, the log and the metrics.
	// session, if not nil, is to be called when a session begins, at the latest before its first message: id tells it from others, and is no secret; client is
	// what the client calls itself, if it has. The options it returns have the Tap and Observe of that session; end is to be called when that has ended, with
	// why if not in good order. What belongs to no session may have one with the id "".
	ServeSessions(ctx context.Context, l net.Listener, o *jsonrpc2.Options, session func(id, client string) (*jsonrpc2.Options, func(error))) error
}

// web is a Web that serves what one listener gives it.
type web struct {
	handed chan net.Conn
	addr   net.Addr
	over   <-chan struct{} // nothing more will come
}

// startWeb begins to serve w beside the front ends of a listener. stop ends it in good order and waits for that.
func (rt *Runtime) startWeb(ctx context.Context, ln net.Listener, w Web, name string) (l *web, stop func(), err error) {
	serving, cancel := context.WithCancel(ctx)
	// It is a session of the runtime, so that Shutdown finds it and waits.
	s := &session{rwc: nothing{closer(cancel)}, log: rt.logger(), over: make(chan struct{})}
	if err := rt.add(s); err != nil {
		cancel()
		return nil, nil, err
	}
	l = &web{handed: make(chan net.Conn), addr: ln.Addr(), over: serving.Done()}
	log := rt.logger().With("protocol", w.Protocol(), "connection", name)
	o := rt.options(w, log, place{name: name})
	serve, fed := w.Serve, func(error) {}
	if each, ok := w.(Sessioned); ok {
		session := rt.feedSessions(w, place{name: name})
		serve = func(ctx context.Context, l net.Listener, o *jsonrpc2.Options) error {
			return each.ServeSessions(ctx, l, o, session)
		}
	} else {
		fed = rt.feed(o, w, place{name: name})
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer rt.remove(s)
		defer cancel() // it may have failed: connections must not wait for it
		err := contain(func() error { return serve(serving, l, o) })
		fed(nil)
		if err != nil && !errors.Is(err, net.ErrClosed) && ctx.Err() == nil {
			log.Warn("serving HTTP failed", "error", rt.text(err))
		}
	}()
	return l, func() { cancel(); <-done }, nil
}

type closer func()

func (c closer) Close() error { c(); return nil }

// give hands over a connection, or closes it where nobody serves any more.
func (l *web) give(c net.Conn) {
	select {
	case l.handed <- c:
	case <-l.over:
		_ = c.Close()
	}
}

// Accept implements net.Listener.
func (l *web) Accept() (net.Conn, error) {
	select {
	case c := <-l.handed:
		return c, nil
	case <-l.over:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. The listener below is not the web's to close.
func (l *web) Close() error { return nil }

// Addr implements net.Listener.
func (l *web) Addr() net.Addr { return l.addr }

// begun is a connection of which the beginning has been read already.
type begun struct {
	net.Conn
	first   []byte
	closing sync.Once
	onClose func()
}

func (c *begun) Read(p []byte) (int, error) {
	if len(c.first) == 0 {
		return c.Conn.Read(p)
	}
	n := copy(p, c.first)
	c.first = c.first[n:]
	return n, nil
}

func (c *begun) Close() error {
	err := c.Conn.Close()
	c.closing.Do(func() {
		if c.onClose != nil {
			c.onClose()
		}
	})
	return err
}

// longestMethod bounds the name of an HTTP method, and of a header field that is looked at.
const longestMethod = 64

// speaksHTTP reads the first bytes of c until they say whether it begins with an HTTP request: a word and a blank, where the other framings have a header
// field with its colon, or a message. The error is that of the read; a peer has as long as patience.
func speaksHTTP(c *begun, patience time.Duration) (bool, error) {
	_ = c.SetReadDeadline(time.Now().Add(patience))
	defer func() { _ = c.SetReadDeadline(time.Time{}) }()
	var buf [longestMethod]byte
	for n := 0; n < len(buf); {
		got, err := c.Conn.Read(buf[n:])
		for i, b := range buf[n : n+max(0, got)] {
			switch {
			case 'A' <= b && b <= 'Z' || 'a' <= b && b <= 'z' || b == '-':
				continue
			}
			n += max(0, got)
			c.first = append(c.first, buf[:n]...)
			return b == ' ' && n-got+i > 0, nil
		}
		n += max(0, got)
		if err != nil {
			c.first = append(c.first, buf[:n]...)
			if errors.Is(err, io.EOF) {
				err = nil // whoever serves it says what is missing
			}
			return false, err
		}
	}
	c.first = append(c.first, buf[:]...)
	return false, nil
}
