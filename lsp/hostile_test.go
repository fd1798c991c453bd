package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// wire is a client that writes bytes of its own to a server and reads whole messages.
type wire struct {
	t    testing.TB
	conn net.Conn
	in   chan message
}

// message is one that the server has sent.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *jsonrpc2.Error `json:"error"`
}

// onWire serves srv on a byte stream and initializes it.
func onWire(t testing.TB, srv *Server, init string) *wire {
	t.Helper()
	ours, theirs := net.Pipe()
	o := new(jsonrpc2.Options)
	mux, err := srv.Mount(o)
	if err != nil {
		t.Fatal(err)
	}
	server := jsonrpc2.NewConn(jsonrpc2.Open(theirs, jsonrpc2.Header), mux, o)
	var done sync.WaitGroup
	done.Go(func() { _ = server.Serve(context.Background()) })
	w := &wire{t: t, conn: ours, in: make(chan message, 10_000)}
	done.Go(func() {
		reader := jsonrpc2.Open(ours, jsonrpc2.Header)
		for {
			b, err := reader.Read()
			if err != nil {
				return
			}
			var m message
			if err := json.Unmarshal(b, &m); err != nil {
				t.Errorf("%s: %v", b, err)
			}
			w.in <- m
		}
	})
	t.Cleanup(func() {
		_ = ours.Close()
		done.Wait()
	})
	w.write(w.frame(nil, `{"jsonrpc":"2.0","id":"init","method":"initialize","params":`+init+`}`))
	if m := w.next(); m.Error != nil {
		t.Fatal(m.Error)
	}
	w.write(w.frame(nil, `{"jsonrpc":"2.0","method":"initialized","params":{}}`))
	return w
}

func (w *wire) frame(dst []byte, body string) []byte {
	return fmt.Appendf(dst, "Content-Length: %d\r\n\r\n%s", len(body), body)
}

func (w *wire) write(b []byte) {
	w.t.Helper()
	_ = w.conn.SetWriteDeadline(time.Now().Add(time.Minute))
	if _, err := w.conn.Write(b); err != nil {
		w.t.Fatal(err)
	}
}

func (w *wire) next() message {
	w.t.Helper()
	return receive(w.t, w.in)
}

func opening(u string, text string) string {
	b, _ := json.Marshal(object("jsonrpc", "2.0", "method", "textDocument/didOpen", "params", object("textDocument", object("uri", u, "languageId", "x", "version", 1, "text", text))))
	return string(b)
}

// A text of 50 MB is over the limit: one error, one word to the user, and everything goes on.
func TestTextOverTheLimit(t *testing.T) {
	w := onWire(t, &Server{Name: "big", Hover: showText}, plainInit)
	body := strings.Replace(opening("file:///big", "?"), "?", strings.Repeat("0123456789", 5_000_000), 1)
	w.write(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(body)))
	for b := []byte(body); len(b) > 0; {
		n := min(len(b), 1<<20)
		w.write(b[:n])
		b = b[n:]
	}
	w.write(w.frame(w.frame(nil, opening("file:///small", "small")), `{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///small"},"position":{"line":0,"character":0}}}`))
	var refused, shown, answered int
	for refused+shown+answered < 3 {
		switch m := w.next(); {
		case m.Error != nil && string(m.ID) == "null" && m.Error.Code == jsonrpc2.CodeInvalidRequest:
			refused++
		case m.Method == protocol.MethodWindowShowMessage && bytes.Contains(m.Params, []byte("16 MiB")):
			shown++
		case string(m.ID) == "1" && bytes.Contains(m.Result, []byte("small")):
			answered++
		default:
			t.Fatalf("got %+v", m)
		}
	}
	if refused != 1 || shown != 1 || answered != 1 {
		t.Errorf("%d refusals, %d messages, %d answers", refused, shown, answered)
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int]string{16 << 20: "16 MiB", 64 << 10: "64 KiB", 1000: "1000 bytes", 1<<20 + 1: "1048577 bytes"} {
		if got := size(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

// 500 documents in one write, while a handler waits for its settings: the answer gets through, the handler sees what it saw when it began, and a request
// behind them sees them all.
func TestManyOpenedWhileAHandlerWaits(t *testing.T) {
	w := onWire(t, &Server{Hover: func(ctx context.Context, p *protocol.HoverParams) (*protocol.Hover, error) {
		before := SnapshotFrom(ctx).Len()
		if p.Position.Line == 1 {
			var v any
			if err := ClientFrom(ctx).Setting(ctx, "x", &v); err != nil {
				return nil, err
			}
		}
		return &protocol.Hover{Contents: PlainText(fmt.Sprint(before, " ", SnapshotFrom(ctx).Len()))}, nil
	}}, `{"processId":null,"rootUri":null,"capabilities":{"workspace":{"configuration":true}}}`)
	const hover = `{"jsonrpc":"2.0","id":%d,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///a"},"position":{"line":%d,"character":0}}}`
	w.write(w.frame(nil, fmt.Sprintf(hover, 1, 1)))
	asked := w.next()
	if asked.Method != protocol.MethodWorkspaceConfiguration {
		t.Fatalf("got %+v", asked)
	}
	var all []byte
	for i := range 500 {
		all = w.frame(all, opening(fmt.Sprintf("file:///%d", i), strings.Repeat("text\n", 100)))
	}
	all = w.frame(all, fmt.Sprintf(hover, 2, 0))
	all = w.frame(all, `{"jsonrpc":"2.0","id":`+string(asked.ID)+`,"result":[1]}`)
	w.write(all)
	got := map[string]string{}
	for range 2 {
		m := w.next()
		got[string(m.ID)] = string(m.Result)
	}
	for id, want := range map[string]string{"1": "0 0", "2": "500 500"} {
		if !strings.Contains(got[id], `"`+want+`"`) {
			t.Errorf("request %s saw %s, want %s", id, got[id], want)
		}
	}
}

// Positions in requests: what is no whole number from 0 is refused, all else is clamped.
func TestOddPositions(t *testing.T) {
	const text = "ab\r\nc🌍d\n"
	p := connect(t, &Server{Hover: func(ctx context.Context, p *protocol.HoverParams) (*protocol.Hover, error) {
		d := SnapshotFrom(ctx).Document(p.TextDocument.URI)
		return &protocol.Hover{Contents: PlainText(fmt.Sprint(d.Offset(p.Position)))}, nil
	}})
	p.init(plainInit)
	p.open("file:///a", 1, text)
	for _, tt := range []struct {
		position string
		want     string // "": refused
	}{
		{`{"line":-1,"character":0}`, ""},
		{`{"line":0,"character":-1}`, ""},
		{`{"line":0.5,"character":0}`, ""},
		{`{"line":4294967296,"character":0}`, "11"},
		{`{"line":"0","character":0}`, ""},
		{`[0,0]`, ""},
		{`{"line":0,"character":1}`, "1"},
		{`{"line":0,"character":3}`, "2"}, // between CR and LF
		{`{"line":0,"character":99}`, "2"},
		{`{"line":1,"character":2}`, "5"}, // inside the pair
		{`{"line":1,"character":3}`, "9"},
		{`{"line":2,"character":0}`, "11"},
		{`{"line":2,"character":7}`, "11"},
		{`{"line":3,"character":0}`, "11"},
		{`{"line":4294967295,"character":4294967295}`, "11"},
	} {
		var h struct {
			Contents protocol.MarkupContent `json:"contents"`
		}
		err := p.try("textDocument/hover", json.RawMessage(`{"textDocument":{"uri":"file:///a"},"position":`+tt.position+`}`), &h)
		if tt.want == "" {
			if err == nil {
				t.Errorf("%s is at %q", tt.position, h.Contents.Value)
				continue
			}
			wantCode(t, err, jsonrpc2.CodeInvalidParams)
		} else if err != nil || h.Contents.Value != tt.want {
			t.Errorf("%s is at %q, %v; want %s", tt.position, h.Contents.Value, err, tt.want)
		}
	}
}
