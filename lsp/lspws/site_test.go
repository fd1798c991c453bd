package lspws_test

import (
	"context"
	"net"
	"testing"

	"github.com/coder/websocket"

	"github.com/tandem-rpc/tandem/lsp"
	"github.com/tandem-rpc/tandem/lsp/lspws"
)

func TestSite(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	site := &lspws.Site{Server: &lsp.Server{Name: "here"}, Path: "/lsp"}
	if got, want := site.URL(ln.Addr()), "ws://"+ln.Addr().String()+"/lsp"; got != want {
		t.Errorf("URL is %s, want %s", got, want)
	}
	serving, end := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- site.Serve(serving, ln, nil) }()
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	if _, r, err := websocket.Dial(ctx, "ws://"+ln.Addr().String()+"/elsewhere", nil); err == nil || r == nil || r.StatusCode != 404 {
		t.Errorf("another path: %v", err)
	}
	c, _, err := websocket.Dial(ctx, site.URL(ln.Addr()), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	if err := c.Write(ctx, websocket.MessageText, []byte(`{"jsonrpc":"2.0","id":1,"method":"shutdown"}`)); err != nil {
		t.Fatal(err)
	}
	if _, m, err := c.Read(ctx); err != nil || string(m) != `{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"Server not initialized"}}` {
		t.Errorf("got %s, %v", m, err)
	}
	end()
	if _, _, err := c.Read(ctx); websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("the socket ends with %v", err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}
