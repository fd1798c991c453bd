package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// trace notes what passes.
type trace struct {
	mu    sync.Mutex
	lines []string
}

func (t *trace) add(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, fmt.Sprintf(format, args...))
}

func (t *trace) take() (lines []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines, t.lines = t.lines, nil
	return lines
}

func (t *trace) incoming(name string) jsonrpc2.Middleware {
	return func(h jsonrpc2.Handler) jsonrpc2.Handler {
		return jsonrpc2.HandlerFunc(func(ctx context.Context, r *jsonrpc2.Request) (any, error) {
			v, err := h.Handle(ctx, r)
			t.add("%s %s %v", name, r.Method, err)
			return v, err
		})
	}
}

// tracedPeer notes what is sent.
type tracedPeer struct {
	Peer
	t    *trace
	name string
}

func (p tracedPeer) Call(ctx context.Context, method string, params, result any) error {
	err := p.Peer.Call(ctx, method, params, result)
	p.t.add("%s %s", p.name, method)
	return err
}

func (p tracedPeer) Notify(ctx context.Context, method string, params any) error {
	p.t.add("%s %s", p.name, method)
	return p.Peer.Notify(ctx, method, params)
}

func (t *trace) outgoing(name string) func(Peer) Peer {
	return func(p Peer) Peer { return tracedPeer{p, t, name} }
}

func TestMiddleware(t *testing.T) {
	in, out := new(trace), new(trace)
	var b Toolbox
	AddTool(&b, Tool{Name: "x"}, func(ctx context.Context, _ struct{}) (string, error) {
		return "done", SessionFrom(ctx).Notify(ctx, "notifications/custom", nil)
	})
	AddTool(&b, Tool{Name: "ping"}, func(ctx context.Context, _ struct{}) (string, error) { return "", SessionFrom(ctx).Ping(ctx) })
	s := &Server{
		Middleware: []jsonrpc2.Middleware{in.incoming("a"), in.incoming("b")},
		Outgoing:   []func(Peer) Peer{out.outgoing("a"), out.outgoing("b")},
		Extend: func(m *jsonrpc2.Mux) {
			m.HandleRequest("custom/method", jsonrpc2.HandlerFunc(func(context.Context, *jsonrpc2.Request) (any, error) { return map[string]int{"n": 1}, nil }))
		},
	}
	b.Attach(s)
	expect := func(t *testing.T, from *trace, want ...string) {
		t.Helper()
		if got := from.take(); !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
	const modern = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	t.Run("session", func(t *testing.T) {
		w := start(t, s, "2025-11-25")
		w.sync()
		in.take()
		w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`)
		w.want(`{"jsonrpc":"2.0","method":"notifications/custom"}`)
		w.want(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}],"isError":false}}`)
		expect(t, in, "b tools/call <nil>", "a tools/call <nil>")
		expect(t, out, "a notifications/custom", "b notifications/custom")
		w.send(`{"jsonrpc":"2.0","id":2,"method":"custom/method"}`)
		w.want(`{"jsonrpc":"2.0","id":2,"result":{"n":1}}`)
		expect(t, in, "b custom/method <nil>", "a custom/method <nil>")
		w.send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"ping"}}`)
		if got := w.recv(); !strings.Contains(got, `"method":"ping"`) {
			t.Fatalf("got %s", got)
		}
		w.send(`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`) // is a sign of life
		w.want(`{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":""}],"isError":false}}`)
		expect(t, out, "b ping", "a ping")
		in.take()
		// The same connection, the other era: results are dressed outside of the middleware, and the envelope is checked there.
		w.send(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"x",` + modern + `}}`)
		w.want(`{"jsonrpc":"2.0","method":"notifications/custom"}`)
		if got := w.recv(); !strings.Contains(got, `"resultType":"complete"`) {
			t.Errorf("got %s", got)
		}
		expect(t, in, "b tools/call <nil>", "a tools/call <nil>")
		expect(t, out, "a notifications/custom", "b notifications/custom")
		w.send(`{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1900-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}`)
		if _, code := errorCode(t, w.recv()); code != -32022 {
			t.Errorf("code %d", code)
		}
		expect(t, in)
	})
	t.Run("hosts", func(t *testing.T) {
		p := new(peer)
		got := s.HandleModern(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x",`+modern+`}}`), p)
		if !strings.Contains(string(got), "done") {
			t.Errorf("got %s", got)
		}
		expect(t, out, "a notifications/custom", "b notifications/custom")
		ses, err := s.NewSession(p)
		if err != nil {
			t.Fatal(err)
		}
		ses.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`))
		ses.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}`))
		expect(t, out, "a notifications/custom", "b notifications/custom")
		ses.Close(nil)
	})
	// What middleware refuses does not happen.
	refused := &Server{Middleware: []jsonrpc2.Middleware{func(h jsonrpc2.Handler) jsonrpc2.Handler {
		return jsonrpc2.HandlerFunc(func(ctx context.Context, r *jsonrpc2.Request) (any, error) {
			if r.Method == "tools/call" {
				return nil, InvalidParams("not today")
			}
			return h.Handle(ctx, r)
		})
	}}}
	if got := string(refused.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`))); !strings.Contains(got, "not today") {
		t.Errorf("got %s", got)
	}
}

func TestKeepAlive(t *testing.T) {
	const every = 30 * time.Second
	synctest.Test(t, func(t *testing.T) {
		var reported []error
		s := &Server{KeepAlive: every, Reporter: func(_ context.Context, _ *jsonrpc2.Request, err error) { reported = append(reported, err) }}
		w := start(t, s, "2025-11-25")
		for i := range 3 {
			begun := time.Now()
			got := <-w.in
			if want := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i+1); got != want {
				t.Fatalf("got %s, want %s", got, want)
			}
			if waited := time.Since(begun); waited != every {
				t.Errorf("pinged after %v", waited)
			}
			w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, i+1))
		}
		<-w.in // and is not answered
		begun := time.Now()
		<-w.conn.Done()
		if waited := time.Since(begun); waited != every {
			t.Errorf("closed after %v", waited)
		}
		if len(reported) != 1 || !errors.Is(reported[0], ErrSilent) {
			t.Errorf("reported %v", reported)
		}
		_ = w.end.Close()
		for range w.in {
		}
	})
	synctest.Test(t, func(t *testing.T) {
		// A session that ends is not pinged any more, and one that is off never is.
		for _, d := range []time.Duration{every, 0} {
			s := &Server{KeepAlive: d}
			calls := 0
			ses, err := s.NewSession(&peer{call: func(context.Context, string, any, any) error { calls++; return nil }})
			if err != nil {
				t.Fatal(err)
			}
			ses.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`))
			if d != 0 {
				ses.Close(nil)
			}
			time.Sleep(10 * every)
			if calls != 0 {
				t.Errorf("%v: %d calls", d, calls)
			}
		}
	})
}
