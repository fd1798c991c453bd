package lspws_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/coder/websocket"
	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/lsp"
	"github.com/tandem-rpc/tandem/lsp/lspws"
)

// A server for editors in web pages. A program would have
//
//	http.Handle("/lsp", lspws.New(server, nil))
//	http.ListenAndServe("127.0.0.1:4389", nil)
func Example() {
	server := &lsp.Server{
		Name: "hello",
		Hover: func(context.Context, *protocol.HoverParams) (*protocol.Hover, error) {
			return &protocol.Hover{Contents: lsp.Markdown("**hello**")}, nil
		},
	}
	h := lspws.New(server, nil)
	web := httptest.NewServer(h)
	defer web.Close()
	ctx := context.Background()
	defer h.Shutdown(ctx)

	// The page, were it written in Go:
	c, _, err := websocket.Dial(ctx, web.URL, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.CloseNow()
	for _, m := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///a"},"position":{"line":0,"character":0}}}`,
	} {
		if err := c.Write(ctx, websocket.MessageText, []byte(m)); err != nil {
			fmt.Println(err)
			return
		}
		_, answer, err := c.Read(ctx)
		fmt.Printf("%.60s... %v\n", answer, err)
	}
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"capabilities":{"textDocum... <nil>
	// {"jsonrpc":"2.0","id":2,"result":{"contents":{"kind":"markdo... <nil>
}
