//go:build !race && !poison

package e2e

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/lsp"
)

type object = map[string]any

// pace is a person's. Nothing waits for it to be over but the next thing a client does.
func pace(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// editing is an editor at a server's standard input and output: somebody types, looks around, and types on before what was asked is there. It returns when ctx
// has ended and the server has been told to exit.
func editing(ctx context.Context, t *testing.T, folder string, in io.WriteCloser, out io.ReadCloser) {
	mux := new(jsonrpc2.Mux)
	mux.Fallback(jsonrpc2.HandlerFunc(func(context.Context, *jsonrpc2.Request) (any, error) { return nil, nil }))
	conn := jsonrpc2.NewConn(jsonrpc2.Open(pipes{out, in}, jsonrpc2.Header), mux, &jsonrpc2.Options{Cancel: cancel.NewRegistry(lsp.Cancel)})
	served := make(chan error, 1)
	go func() { served <- conn.Serve(context.Background()) }()
	whole := context.WithoutCancel(ctx)
	root, path := "file://"+filepath.ToSlash(folder), "file://"+filepath.ToSlash(filepath.Join(folder, "index.md"))
	doc := object{"uri": path}
	if err := conn.Call(whole, "initialize", object{"processId": nil, "rootUri": root, "capabilities": object{}, "clientInfo": object{"name": "Editor", "version": "1.0"},
		"initializationOptions": object{"apiKey": "CANARY"}}, nil); err != nil {
		t.Error(err)
	}
	_ = conn.Notify(whole, "initialized", object{})
	_ = conn.Notify(whole, "textDocument/didOpen", object{"textDocument": object{"uri": path, "languageId": "markdown", "version": 1,
		"text": "# Index\nsee [other](other.md) and [gone](missing.md)\n"}})
	for i := 2; pace(ctx, 90*time.Millisecond); i++ {
		at := object{"textDocument": doc, "position": object{"line": 1, "character": 8}}
		_ = conn.Notify(whole, "textDocument/didChange", object{"textDocument": object{"uri": path, "version": i},
			"contentChanges": []object{{"range": object{"start": object{"line": 2, "character": 0}, "end": object{"line": 2, "character": 0}}, "text": "word "}}})
		switch i % 6 {
		case 0:
			_ = conn.Call(whole, "textDocument/hover", at, nil)
		case 1: // given up, as soon as it is asked for
			asked, giveUp := context.WithCancel(whole)
			going := conn.Go(asked, "textDocument/completion", at)
			giveUp()
			_ = going.Wait(nil)
		case 2:
			_ = conn.Call(whole, "textDocument/documentSymbol", object{"textDocument": doc}, nil)
		case 3:
			_ = conn.Call(whole, "textDocument/semanticTokens/full", object{"textDocument": doc}, nil)
		case 4:
			_ = conn.Call(whole, "textDocument/rename", object{"textDocument": doc, "position": at["position"], "newName": "https://u:CANARY@h/"}, nil)
		default:
			_ = conn.Call(whole, "textDocument/completion", at, nil)
		}
	}
	if err := conn.Call(whole, "shutdown", nil, nil); err != nil {
		t.Error(err)
	}
	_ = conn.Notify(whole, "exit", nil)
	_ = conn.Close()
	<-served
}

// pipes are the standard output and input of a process as a stream.
type pipes struct {
	io.ReadCloser
	in io.WriteCloser
}

func (p pipes) Write(b []byte) (int, error) { return p.in.Write(b) }
func (p pipes) Close() error                { _ = p.in.Close(); return p.ReadCloser.Close() }

// agents are clients over HTTP: one with a session, one of the revision without. They work until ctx ends.
func agents(ctx context.Context, t *testing.T, url string) {
	var all sync.WaitGroup
	all.Go(func() {
		a := &httpAgent{t: t, url: url}
		a.post(object{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": object{"protocolVersion": "2025-11-25", "capabilities": object{"elicitation": object{}},
			"clientInfo": object{"name": "writer", "version": "2.1", "apiKey": "CANARY"}}})
		a.post(object{"jsonrpc": "2.0", "method": "notifications/initialized"})
		for i := 1; pace(ctx, 70*time.Millisecond); i++ {
			m := object{"jsonrpc": "2.0", "id": i}
			switch i % 7 {
			case 1:
				m["method"], m["params"] = "tools/call", object{"name": "read_note", "arguments": object{"slug": "index"}}
			case 2:
				m["method"], m["params"] = "tools/call", object{"name": "search", "arguments": object{"query": "text of the other", "token": "CANARY"}}
			case 3:
				m["method"] = "resources/list"
			case 4:
				m["method"], m["params"] = "no/such", object{"password": "CANARY", "html": "<img src=x onerror=alert(1)><b>bold</b>"}
			case 5: // the person is asked, and does not answer: the agent gives up
				a.giveUp(i, object{"name": "create_note", "arguments": object{"slug": "other", "text": "over"}})
				continue
			default:
				m["method"] = "tools/list"
			}
			a.post(m)
		}
		a.do(http.MethodDelete, nil, func(*http.Response) {})
	})
	all.Go(func() {
		a := &httpAgent{t: t, url: url, modern: true}
		for i := 1; pace(ctx, 110*time.Millisecond); i++ {
			a.post(object{"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": object{"name": "backlinks", "arguments": object{"slug": "other"},
				"_meta": object{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": object{},
					"io.modelcontextprotocol/clientInfo": object{"name": "reader", "version": "https://u:CANARY@h"}}}})
		}
	})
	all.Wait()
}

// httpAgent is one of them.
type httpAgent struct {
	t      *testing.T
	url    string
	id     string // of its session
	modern bool
}

// post sends a message and reads the answer to its end.
func (a *httpAgent) post(m object) {
	a.do(http.MethodPost, m, func(r *http.Response) { _, _ = io.Copy(io.Discard, r.Body) })
}

func (a *httpAgent) do(method string, m object, read func(*http.Response)) {
	text := ""
	if m != nil {
		text = asJSON(a.t, m)
	}
	r, err := http.NewRequestWithContext(context.Background(), method, a.url, strings.NewReader(text))
	if err != nil {
		a.t.Error(err)
		return
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if a.id != "" {
		r.Header.Set("Mcp-Session-Id", a.id)
	}
	if a.modern {
		r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		r.Header.Set("Mcp-Method", "tools/call")
		r.Header.Set("Mcp-Name", "backlinks")
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		a.t.Error(err)
		return
	}
	defer res.Body.Close()
	if id := res.Header.Get("Mcp-Session-Id"); id != "" {
		a.id = id
	}
	read(res)
}

// giveUp calls a tool, and cancels that when the server asks something.
func (a *httpAgent) giveUp(id int, params object) {
	a.do(http.MethodPost, object{"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}, func(r *http.Response) {
		buf := make([]byte, 4096)
		for text := ""; ; {
			n, err := r.Body.Read(buf)
			if text += string(buf[:n]); strings.Contains(text, "elicitation/create") {
				a.post(object{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": object{"requestId": id, "reason": "https://u:CANARY@h/"}})
				text = ""
			}
			if err != nil {
				return
			}
		}
	})
}
