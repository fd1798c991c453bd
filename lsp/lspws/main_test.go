package lspws_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/internal/leak"
	"github.com/tandem-rpc/tandem/lsp"
	"github.com/tandem-rpc/tandem/lsp/lspws"
)

func TestMain(m *testing.M) { leak.Main(m) }

// patience is how long a test waits for what must come.
const patience = time.Minute

// reports collects what a Handler reports.
type reports struct {
	mu  sync.Mutex
	all []error
	now chan struct{}
}

func newReports() *reports { return &reports{now: make(chan struct{}, 64)} }

func (r *reports) add(_ context.Context, err error) {
	r.mu.Lock()
	r.all = append(r.all, err)
	r.mu.Unlock()
	select {
	case r.now <- struct{}{}:
	default:
	}
}

// wait returns the first report that has the text.
func (r *reports) wait(t *testing.T, text string) {
	t.Helper()
	late := time.After(patience)
	for {
		r.mu.Lock()
		for _, err := range r.all {
			if strings.Contains(err.Error(), text) {
				r.mu.Unlock()
				return
			}
		}
		r.mu.Unlock()
		select {
		case <-r.now:
		case <-late:
			t.Fatalf("nothing with %q is reported, but %v", text, r.all)
		}
	}
}

func (r *reports) none(t *testing.T) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.all) > 0 {
		t.Errorf("reported: %v", r.all)
	}
}

// start serves s at the URL it returns.
func start(t *testing.T, s lspws.Server, o *lspws.Options) (string, *lspws.Handler) {
	t.Helper()
	h := lspws.New(s, o)
	web := httptest.NewServer(h)
	t.Cleanup(func() {
		ctx, stop := context.WithTimeout(context.Background(), patience)
		defer stop()
		if err := h.Shutdown(ctx); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		web.Close()
	})
	return "ws" + strings.TrimPrefix(web.URL, "http"), h
}

// hoverer is a server whose hover says which text a document has.
func hoverer() *lsp.Server {
	return &lsp.Server{
		Name: "hoverer",
		Hover: func(ctx context.Context, p *protocol.HoverParams) (*protocol.Hover, error) {
			doc := lsp.SnapshotFrom(ctx).Document(p.TextDocument.URI)
			if doc == nil {
				return nil, lsp.RequestFailed("not open")
			}
			return &protocol.Hover{Contents: lsp.PlainText(doc.Text())}, nil
		},
	}
}

// socket is a client.
type socket struct {
	*websocket.Conn
	t   *testing.T
	ctx context.Context
}

func dial(t *testing.T, url string, o *websocket.DialOptions) *socket {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), patience)
	t.Cleanup(stop)
	c, _, err := websocket.Dial(ctx, url, o)
	if err != nil {
		t.Fatal(err)
	}
	c.SetReadLimit(-1)
	t.Cleanup(func() { _ = c.CloseNow() })
	return &socket{c, t, ctx}
}

func (s *socket) send(format string, args ...any) {
	s.t.Helper()
	if err := s.Write(s.ctx, websocket.MessageText, fmt.Appendf(nil, format, args...)); err != nil {
		s.t.Fatal(err)
	}
}

type answer struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func (s *socket) receive() answer {
	s.t.Helper()
	kind, b, err := s.Read(s.ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	var a answer
	if err := json.Unmarshal(b, &a); err != nil || kind != websocket.MessageText {
		s.t.Fatalf("%v message %.200q: %v", kind, b, err)
	}
	return a
}

// result is the result of the answer to id, which must be the next message.
func (s *socket) result(id int) string {
	s.t.Helper()
	a := s.receive()
	if string(a.ID) != fmt.Sprint(id) || a.Error != nil {
		s.t.Fatalf("want the result of %d, got %+v", id, a)
	}
	return string(a.Result)
}

func (s *socket) begin() {
	s.t.Helper()
	s.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}`)
	s.result(1)
	s.send(`{"jsonrpc":"2.0","method":"initialized","params":{}}`)
}

func (s *socket) open(uri, text string) {
	s.t.Helper()
	s.send(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":%q,"languageId":"plain","version":1,"text":%q}}}`, uri, text)
}

func (s *socket) hover(id int, uri string) string {
	s.t.Helper()
	s.send(`{"jsonrpc":"2.0","id":%d,"method":"textDocument/hover","params":{"textDocument":{"uri":%q},"position":{"line":0,"character":0}}}`, id, uri)
	var h struct {
		Contents struct {
			Value string `json:"value"`
		} `json:"contents"`
	}
	if err := json.Unmarshal([]byte(s.result(id)), &h); err != nil {
		s.t.Fatal(err)
	}
	return h.Contents.Value
}

// status reads until the socket is closed and returns the status that the server gave.
func (s *socket) status() websocket.StatusCode {
	s.t.Helper()
	for {
		if _, _, err := s.Read(s.ctx); err != nil {
			if errors.Is(err, context.DeadlineExceeded) {
				s.t.Fatal("the server does not close the socket")
			}
			return websocket.CloseStatus(err)
		}
	}
}
