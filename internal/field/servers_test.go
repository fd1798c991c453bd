package field

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/lsp"
	"github.com/tandem-rpc/tandem/mcp"
)

// plain is a peer without a protocol. Its methods are ping, echo, wait (until it is cancelled), null, panic, boom and shout; its notifications note
// and seen. It cancels by "cancel" with "id" and answers what was cancelled with -32800.
func plain(o *jsonrpc2.Options) (*jsonrpc2.Mux, error) {
	o.Cancel = cancel.NewRegistry(cancel.Convention{Method: "cancel", Param: "id", Code: -32800})
	m := jsonrpc2.NewMux()
	for name, f := range map[string]jsonrpc2.HandlerFunc{
		"ping":  func(context.Context, *jsonrpc2.Request) (any, error) { return "pong", nil },
		"echo":  func(_ context.Context, r *jsonrpc2.Request) (any, error) { return r.Params(), nil },
		"null":  func(context.Context, *jsonrpc2.Request) (any, error) { return nil, nil },
		"boom":  func(context.Context, *jsonrpc2.Request) (any, error) { return nil, errors.New("secret") },
		"panic": func(context.Context, *jsonrpc2.Request) (any, error) { panic("secret") },
		"wait": func(ctx context.Context, _ *jsonrpc2.Request) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	} {
		m.HandleRequest(name, f)
	}
	m.HandleNotification("note", jsonrpc2.HandlerFunc(func(context.Context, *jsonrpc2.Request) (any, error) { return nil, nil }))
	return m, nil
}

// tools is an MCP server whose tools are echo, slow (until it is cancelled), noargs, fail and progress, which sends three notifications.
func tools() *mcp.Server {
	type text struct {
		T string `json:"t,omitempty"`
	}
	var box mcp.Toolbox
	mcp.AddTool(&box, mcp.Tool{Name: "echo"}, func(_ context.Context, in text) (string, error) { return in.T, nil })
	mcp.AddTool(&box, mcp.Tool{Name: "noargs"}, func(context.Context, struct{}) (string, error) { return "ran", nil })
	mcp.AddTool(&box, mcp.Tool{Name: "fail"}, func(context.Context, struct{}) (string, error) { return "", errors.New("out of paper") })
	mcp.AddTool(&box, mcp.Tool{Name: "slow"}, func(ctx context.Context, _ struct{}) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	})
	mcp.AddTool(&box, mcp.Tool{Name: "progress"}, func(ctx context.Context, _ struct{}) (string, error) {
		for i := range 3 {
			if err := mcp.Progress(ctx, float64(i+1), 3, ""); err != nil {
				return "", err
			}
		}
		return "done", nil
	})
	return &mcp.Server{Name: "field", Version: "1", Lister: box.List, Caller: box.Call}
}

const (
	mcpHello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`
	mcpReady = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	lspHello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}`
)

// startMCP is a session of tools() with the handshake done.
func startMCP(t *testing.T, s *mcp.Server) *talk {
	t.Helper()
	k := listen(t, jsonrpc2.Lines, s.Mount)
	k.send(mcpHello, mcpReady)
	expect(t, "initialize", k.heard(), `"hello":ok`)
	return k
}

// call is a tools/call.
func call(id, tool, arguments string) string {
	params := `{"name":"` + tool + `"`
	if arguments != "" {
		params += `,"arguments":` + arguments
	}
	return request(id, "tools/call", params+"}")
}

// editor is a language server whose hover answers with the document as it sees it.
func editor() *lsp.Server {
	return &lsp.Server{Hover: func(ctx context.Context, p *protocol.HoverParams) (*protocol.Hover, error) {
		d := lsp.SnapshotFrom(ctx).Document(p.TextDocument.URI)
		if d == nil {
			return nil, lsp.RequestFailed("not open")
		}
		text, err := json.Marshal(struct {
			Version int32
			Text    string
		}{d.Version(), d.Text()})
		return &protocol.Hover{Contents: protocol.String(text)}, err
	}}
}

// startLSP is a session of a language server with the handshake done.
func startLSP(t *testing.T, s *lsp.Server, set ...func(*jsonrpc2.Options)) *talk {
	t.Helper()
	k := listen(t, jsonrpc2.Header, s.Mount, set...)
	k.send(lspHello, note("initialized", "{}"))
	expect(t, "initialize", k.heard(), `"hello":ok`)
	return k
}

// document asks for the text of a document, which the hover of editor answers with.
func (k *talk) document(uri string) (version int32, text string) {
	k.t.Helper()
	k.send(request("1", "textDocument/hover", `{"textDocument":{"uri":"`+uri+`"},"position":{"line":0,"character":0}}`))
	for _, m := range k.heard() {
		var h struct {
			ID     json.RawMessage
			Result struct{ Contents string }
		}
		if json.Unmarshal([]byte(m), &h) != nil || string(h.ID) != "1" {
			continue // a log message
		}
		var d struct {
			Version int32
			Text    string
		}
		if err := json.Unmarshal([]byte(h.Result.Contents), &d); err != nil {
			k.t.Fatalf("%v: %s", err, m)
		}
		return d.Version, d.Text
	}
	k.t.Fatal("no answer to hover")
	return 0, ""
}
