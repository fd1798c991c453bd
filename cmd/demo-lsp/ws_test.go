package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/hashicorp/go-hclog"

	"github.com/tandem-rpc/tandem/framework"
	"github.com/tandem-rpc/tandem/internal/editor"
)

// An editor in a web page sees the sample's broken link; when the program ends it is told.
func TestWebSocket(t *testing.T) {
	ln, err := framework.Listen("127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	d := editor.New("demo-lsp")
	defer d.Close()
	rt := &framework.Runtime{Logger: hclog.NewNullLogger()}
	serving, end := context.WithCancel(context.Background())
	defer end()
	served := make(chan error, 1)
	rt.Web = webSocket(rt, d.LSP())
	go func() { served <- rt.Serve(serving, ln) }()

	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	c, _, err := websocket.Dial(ctx, "ws://"+ln.Addr().String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	for _, m := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}`,
		`{"jsonrpc":"2.0","method":"initialized","params":{}}`,
		`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///sample/x.md","languageId":"markdown","version":1,"text":"[a](nowhere.md)"}}}`,
	} {
		if err := c.Write(ctx, websocket.MessageText, []byte(m)); err != nil {
			t.Fatal(err)
		}
	}
	for found := false; !found; {
		_, m, err := c.Read(ctx)
		if err != nil {
			t.Fatal(err)
		}
		found = strings.Contains(string(m), "publishDiagnostics") && strings.Contains(string(m), "nowhere.md")
	}
	go func() { _ = rt.Shutdown(ctx) }() // as Config.Run does
	for err == nil {
		_, _, err = c.Read(ctx)
	}
	if code := websocket.CloseStatus(err); code != websocket.StatusGoingAway && code != websocket.StatusNormalClosure {
		t.Errorf("the socket ends with %v", err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}
