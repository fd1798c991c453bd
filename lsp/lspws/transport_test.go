package lspws_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/lsp/lspws"
)

// echo answers every request "x" with its params.
func echo() lspws.Server {
	return mounter(func(*jsonrpc2.Options) (*jsonrpc2.Mux, error) {
		m := jsonrpc2.NewMux()
		m.HandleRequest("x", jsonrpc2.HandlerFunc(func(_ context.Context, r *jsonrpc2.Request) (any, error) { return r.Params(), nil }))
		return m, nil
	})
}

// A message over the limit, and one that is binary, are answered and skipped.
func TestRefusedMessages(t *testing.T) {
	const limit = 1000
	url, _ := start(t, echo(), &lspws.Options{Options: jsonrpc2.Options{MaxFrame: limit}})
	c := dial(t, url, nil)
	for _, m := range []struct {
		name, want string
		kind       websocket.MessageType
		text       string
	}{
		{"just fits", "", websocket.MessageText, `{"jsonrpc":"2.0","id":1,"method":"x","params":["` + strings.Repeat("a", limit-51) + `"]}`},
		{"one byte more", "Message too large", websocket.MessageText, `{"jsonrpc":"2.0","id":1,"method":"x","params":["` + strings.Repeat("a", limit-50) + `"]}`},
		{"a lot more", "Message too large", websocket.MessageText, strings.Repeat("[", 50*limit)},
		{"binary", "Invalid Request", websocket.MessageBinary, `{"jsonrpc":"2.0","id":1,"method":"x"}`},
		{"empty", "Parse error", websocket.MessageText, ""},
		{"no JSON", "Parse error", websocket.MessageText, "{"},
		{"two messages", "Parse error", websocket.MessageText, `{"jsonrpc":"2.0","id":1,"method":"x"}{"jsonrpc":"2.0","id":2,"method":"x"}`},
		{"not UTF-8", "Parse error", websocket.MessageText, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":[\"\xff\"]}"},
		{"after all that", "", websocket.MessageText, `{"jsonrpc":"2.0","id":1,"method":"x","params":[]}`},
	} {
		if m.name == "just fits" && len(m.text) != limit {
			t.Fatalf("the message has %d bytes", len(m.text))
		}
		if err := c.Write(c.ctx, m.kind, []byte(m.text)); err != nil {
			t.Fatalf("%s: %v", m.name, err)
		}
		a := c.receive()
		got := ""
		if a.Error != nil {
			got = a.Error.Message
			if string(a.ID) != "null" {
				t.Errorf("%s: the error has the id %s", m.name, a.ID)
			}
		}
		if got != m.want {
			t.Errorf("%s: got %q, want %q", m.name, got, m.want)
		}
	}
}

// A message that never ends does end the connection.
func TestEndlessMessage(t *testing.T) {
	r := newReports()
	url, _ := start(t, echo(), &lspws.Options{Report: r.add, Options: jsonrpc2.Options{MaxFrame: 100}})
	c := dial(t, url, nil)
	go func() {
		w, err := c.Writer(c.ctx, websocket.MessageText)
		for err == nil {
			_, err = io.WriteString(w, strings.Repeat("a", 1000))
		}
	}()
	if a := c.receive(); a.Error == nil || a.Error.Message != "Message too large" {
		t.Errorf("got %+v", a)
	}
	if got := c.status(); got != websocket.StatusMessageTooBig {
		t.Errorf("closed with %v", got)
	}
	r.wait(t, "times the limit")
}

// A message may come in as many frames as the client likes.
func TestFragments(t *testing.T) {
	url, _ := start(t, echo(), nil)
	c := dial(t, url, nil)
	w, err := c.Writer(c.ctx, websocket.MessageText)
	if err != nil {
		t.Fatal(err)
	}
	text := `{"jsonrpc":"2.0","id":1,"method":"x","params":["` + strings.Repeat("é", 5000) + `"]}`
	for i := 0; i < len(text); i += 999 { // also within characters
		if _, err := io.WriteString(w, text[i:min(i+999, len(text))]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := c.result(1); got != `["`+strings.Repeat("é", 5000)+`"]` {
		t.Errorf("%d bytes came back", len(got))
	}
}

// Answers larger than what systems buffer get through whole, and a slow reader is no stall.
func TestLargeAnswer(t *testing.T) {
	url, _ := start(t, echo(), nil)
	c := dial(t, url, nil)
	want := `["` + strings.Repeat("0123456789", 1<<20) + `"]`
	c.send(`{"jsonrpc":"2.0","id":1,"method":"x","params":%s}`, want)
	if got := c.result(1); got != want {
		t.Errorf("%d bytes came back, want %d", len(got), len(want))
	}
}

// A client that answers pings is kept, however silent; one that does not is cut off.
func TestPing(t *testing.T) {
	const every = time.Second // in which a client must get to answer
	t.Run("answered", func(t *testing.T) {
		r := newReports()
		url, _ := start(t, echo(), &lspws.Options{Report: r.add, Ping: every})
		pings := make(chan struct{}, 100)
		c := dial(t, url, &websocket.DialOptions{OnPingReceived: func(context.Context, []byte) bool {
			select {
			case pings <- struct{}{}:
			default:
			}
			return true
		}})
		go func() {
			for range 3 {
				<-pings
			}
			_ = c.Write(c.ctx, websocket.MessageText, []byte(`{"jsonrpc":"2.0","id":1,"method":"x","params":[1]}`))
		}()
		if got := c.result(1); got != "[1]" {
			t.Errorf("got %s", got)
		}
		r.none(t)
	})
	t.Run("not answered", func(t *testing.T) {
		r := newReports()
		url, _ := start(t, echo(), &lspws.Options{Report: r.add, Ping: every})
		dial(t, url, nil) // reads nothing, so no ping either
		r.wait(t, "does not answer pings")
	})
}

// A connection that has paused reading, because its handlers do not keep up, is not taken for one whose client is gone.
func TestPingWhilePaused(t *testing.T) {
	const every = time.Second // in which a client must get to answer
	r := newReports()
	finish := make(chan struct{})
	s := mounter(func(o *jsonrpc2.Options) (*jsonrpc2.Mux, error) {
		o.MaxQueued = 1
		m := jsonrpc2.NewMux()
		m.HandleNotification("wait", jsonrpc2.HandlerFunc(func(context.Context, *jsonrpc2.Request) (any, error) { <-finish; return nil, nil }))
		m.HandleRequest("x", jsonrpc2.HandlerFunc(func(_ context.Context, r *jsonrpc2.Request) (any, error) { return r.Params(), nil }))
		return m, nil
	})
	url, _ := start(t, s, &lspws.Options{Report: r.add, Ping: every})
	c := dial(t, url, nil)
	for range 5 {
		c.send(`{"jsonrpc":"2.0","method":"wait"}`)
	}
	c.send(`{"jsonrpc":"2.0","id":1,"method":"x","params":[1]}`)
	time.AfterFunc(4*every, func() { close(finish) })
	if got := c.result(1); got != "[1]" {
		t.Errorf("got %s", got)
	}
	r.none(t)
}

// A client that takes nothing is cut off.
func TestStall(t *testing.T) {
	r := newReports()
	url, _ := start(t, echo(), &lspws.Options{Report: r.add, Ping: -1, Stall: 50 * time.Millisecond})
	c := dial(t, url, nil)
	text := []byte(`{"jsonrpc":"2.0","id":1,"method":"x","params":["` + strings.Repeat("a", 1<<20) + `"]}`)
	go func() {
		for c.Write(c.ctx, websocket.MessageText, text) == nil {
		}
	}()
	r.wait(t, "timeout")
}
