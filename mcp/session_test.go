package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

func TestCancelIsSilent(t *testing.T) {
	for _, id := range []string{`5`, `0`, `""`, `"x"`} {
		t.Run(id, func(t *testing.T) {
			started, ended := make(chan struct{}), make(chan error, 1)
			s := echoServer()
			s.Caller = func(ctx context.Context, _ string, _ Arguments) (any, error) {
				close(started)
				<-ctx.Done()
				ended <- context.Cause(ctx)
				return TextResult("too late"), nil
			}
			w := start(t, s, "2025-11-25")
			w.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"x"}}`)
			<-started
			// Others, the wrong type, nonsense: nothing happens.
			w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`,
				`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`,
				`{"jsonrpc":"2.0","method":"notifications/cancelled"}`)
			w.sync()
			w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"enough"}}`)
			var byPeer cancel.ByPeer
			if cause := <-ended; !errors.As(cause, &byPeer) || byPeer.Reason != "enough" {
				t.Errorf("cause %v", cause)
			}
			w.sync()
			w.sync()
			w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`) // it is done by now
			w.sync()
		})
	}
	t.Run("initialize cannot be cancelled", func(t *testing.T) {
		release := make(chan struct{})
		s := echoServer()
		s.Initializer = func(ctx context.Context, _ string, _ Arguments) error {
			<-release
			return ctx.Err()
		}
		w := host(t, s)
		w.send(hello, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		close(release)
		w.want(helloAnswer)
	})
}

func TestSessionTerms(t *testing.T) {
	type seen struct {
		client  Implementation
		caps    ClientCapabilities
		params  string
		caller  string
		session bool
	}
	got := make(chan seen, 1)
	s := &Server{Caller: func(ctx context.Context, _ string, _ Arguments) (any, error) {
		ses := SessionFrom(ctx)
		caller, _ := CallerFrom[string](ctx)
		got <- seen{ses.Client(), ses.Capabilities(), string(ses.Params()), caller, jsonrpc2.ConnFrom(ctx) != nil}
		return nil, nil
	}}
	captured, admitted := 0, 0
	w := host(t, s, func(o *jsonrpc2.Options) { // hooks that were set are kept
		o.Capture = func(ctx context.Context, _ *jsonrpc2.Request) context.Context {
			captured++
			return WithCaller(ctx, "caller")
		}
		o.Admit = func(_ context.Context, r *jsonrpc2.Request) error {
			admitted++
			if r.Method == "forbidden" {
				return jsonrpc2.Errorf(-1, "forbidden")
			}
			return nil
		}
		o.Cancel = cancel.NewRegistry(cancel.Convention{Method: "custom/cancel", Param: "id"})
	})
	params := `{"protocolVersion":"2025-06-18","capabilities":{"experimental":[],"sampling":{"tools":{}},"roots":null,"elicitation":{}},"clientInfo":{"name":"t","version":"0","title":"T"}}`
	w.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + params + `}`)
	w.recv()
	w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}`)
	w.recv()
	g := <-got
	if g.client.Name != "t" || g.client.Title != "T" || g.params != params || g.caller != "caller" || !g.session {
		t.Errorf("got %+v", g)
	}
	if string(g.caps.Sampling) != `{"tools":{}}` || g.caps.Roots != nil || g.caps.Experimental != nil || g.caps.Elicitation == nil {
		t.Errorf("got %+v", g.caps)
	}
	w.send(`{"jsonrpc":"2.0","id":3,"method":"forbidden"}`)
	w.want(`{"jsonrpc":"2.0","id":3,"error":{"code":-1,"message":"forbidden"}}`)
	if captured != 2 || admitted != 3 {
		t.Errorf("captured %d, admitted %d", captured, admitted)
	}
}

func TestNilSession(t *testing.T) {
	ctx := context.Background()
	ses := SessionFrom(ctx)
	if ses != nil || ses.Revision() != "" || ses.Client().Name != "" || ses.Params() != nil || ses.LogEnabled(LevelError) {
		t.Error("a session out of nothing")
	}
	if err := ses.Log(ctx, LevelError, "", 1); err != nil {
		t.Error(err)
	}
	if err := Progress(ctx, 1, 1, ""); err != nil {
		t.Error(err)
	}
	if err := ses.Notify(ctx, "x", nil); !errors.Is(err, ErrNoSession) {
		t.Error(err)
	}
	if err := ses.Call(ctx, "x", nil, nil); !errors.Is(err, ErrNoSession) {
		t.Error(err)
	}
}

// A tool may ask the client and wait, while everything else goes on.
func TestSessionCall(t *testing.T) {
	s := &Server{Caller: func(ctx context.Context, _ string, _ Arguments) (any, error) {
		var roots struct {
			Roots []struct{ URI string } `json:"roots"`
		}
		if err := SessionFrom(ctx).Call(ctx, "roots/list", nil, &roots); err != nil {
			return nil, err
		}
		return len(roots.Roots), nil
	}}
	w := start(t, s, "2025-11-25")
	w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`)
	w.want(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`)
	w.sync()
	w.send(`{"jsonrpc":"2.0","id":1,"result":{"roots":[{"uri":"file:///a"},{"uri":"file:///b"}]}}`)
	w.want(`{"jsonrpc":"2.0","id":1,"result":2}`)
	// When the request is cancelled the question is withdrawn, and the answer to it is of no interest.
	w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}`)
	w.want(`{"jsonrpc":"2.0","id":2,"method":"roots/list"}`)
	w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"no"}}`)
	if got := w.recv(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2`) {
		t.Errorf("got %s", got)
	}
	w.send(`{"jsonrpc":"2.0","id":2,"result":{}}`)
	w.sync()
}

// A burst of changes becomes few notifications for who reads, none for who has not initialized, and holds up nobody.
func TestChanged(t *testing.T) {
	s := echoServer()
	s.ListChanged = true
	w, silent := host(t, s), host(t, s)
	w.send(hello)
	if got := w.recv(); !strings.Contains(got, `"tools":{"listChanged":true}`) {
		t.Errorf("got %s", got)
	}
	for range 500 {
		s.Changed(Tools)
	}
	s.Changed(Prompts)
	s.Changed(lists)
	var tools, prompts int
	for prompts == 0 || tools == 0 {
		switch m := w.recv(); m {
		case `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`:
			tools++
		case `{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`:
			prompts++
		default:
			t.Fatalf("got %s", m)
		}
	}
	silent.sync()
	if err := w.close(); err != nil {
		t.Errorf("Serve: %v", err)
	}
	s.feeds.mu.Lock()
	n := len(s.feeds.all)
	s.feeds.mu.Unlock()
	if n != 0 {
		t.Errorf("%d sessions left", n)
	}
	s.Changed(Tools) // to nobody

	quiet := echoServer()
	q := start(t, quiet, "2025-11-25")
	quiet.Changed(Tools) // was not promised
	q.sync()
}

// The end of the input is the end of the session, and no error.
func TestSessionEnds(t *testing.T) {
	ended := make(chan error, 1)
	w := start(t, echoServer(), "2025-11-25", func(o *jsonrpc2.Options) {
		o.OnClose = func(_ *jsonrpc2.Conn, err error) { ended <- err }
	})
	w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hang"}}`)
	w.sync()
	if err := w.close(); err != nil {
		t.Errorf("Serve: %v", err)
	}
	if err := <-ended; err != nil {
		t.Errorf("OnClose: %v", err)
	}
}

func TestExtend(t *testing.T) {
	s := echoServer()
	s.Extend = func(m *jsonrpc2.Mux) {
		m.HandleRequest("custom/sum", jsonrpc2.Call(func(ctx context.Context, n *[]int) (int, error) {
			if SessionFrom(ctx) == nil {
				return 0, ErrNoSession
			}
			return (*n)[0] + (*n)[1], nil
		}))
	}
	w := host(t, s)
	w.send(`{"jsonrpc":"2.0","id":1,"method":"custom/sum","params":[1,2]}`)
	w.want(`{"jsonrpc":"2.0","id":1,` + notInitialized)
	w.send(hello)
	w.recv()
	w.send(`{"jsonrpc":"2.0","id":1,"method":"custom/sum","params":[1,2]}`)
	w.want(`{"jsonrpc":"2.0","id":1,"result":3}`)
}

func TestFrontEnd(t *testing.T) {
	s := echoServer()
	if s.Protocol() != "mcp" || s.Framing() != jsonrpc2.Lines || !slices.EqualFunc(s.Conventions(), []cancel.Convention{Cancel}, func(a, b cancel.Convention) bool { return a.Method == b.Method }) {
		t.Error("not the front end it should be")
	}
	// The runtime may have put the convention in already.
	o := &jsonrpc2.Options{Cancel: cancel.NewRegistry(Cancel)}
	if _, err := s.Mount(o); err != nil {
		t.Fatal(err)
	}
	if c, ok := o.Cancel.Spoken(); !ok || c.Method != "notifications/cancelled" {
		t.Errorf("spoken: %+v", c)
	}
}

// A hundred hanging tools hold up neither each other nor a new one; all end with their cancellation and none answers.
func TestHangingTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := start(t, echoServer(), "2025-11-25")
		for i := range 100 {
			w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"hang"}}`, i))
		}
		w.sync()
		for i := range 100 {
			w.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i))
		}
		synctest.Wait()
		w.sync()
		w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":[1, 2]}}}`)
		got := w.recv()
		var m struct {
			Result struct{ A []int }
		}
		if err := json.Unmarshal([]byte(got), &m); err != nil || len(m.Result.A) != 2 {
			t.Errorf("got %s", got)
		}
		w.close()
	})
}
