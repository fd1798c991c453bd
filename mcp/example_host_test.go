package mcp_test

import (
	"context"
	"fmt"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
)

// stdout is the way to a client that has no connection: here it prints what HTTP would write to the stream of the request.
type stdout struct{}

func (stdout) Notify(_ context.Context, method string, params any) error {
	b, err := mcp.Encode(params)
	fmt.Println("  ", method, string(b))
	return err
}

func (stdout) Call(context.Context, string, any, any) error { return mcp.ErrNoSession }

// A host looks at each payload and chooses: a request that names its revision needs no session, any other one does.
func Example_host() {
	var box mcp.Toolbox
	mcp.AddTool(&box, mcp.Tool{Name: "greet"}, func(ctx context.Context, in struct{ Name string }) (string, error) {
		return "Hello, " + in.Name + "!", mcp.Progress(ctx, 1, 1, "thought of a greeting")
	})
	server := &mcp.Server{Name: "Greeter", Version: "1.0.0", Lister: box.List, Caller: box.Call}
	defer server.Close()

	var session *mcp.Session
	handle := func(ctx context.Context, payload string) {
		var answer []byte
		switch m, err := mcp.Inspect([]byte(payload)); {
		case err != nil:
			fmt.Println("no JSON")
			return
		case m.Modern:
			answer = server.HandleModern(ctx, []byte(payload), stdout{})
		case m.Method == "initialize" && m.Kind == jsonrpc2.KindRequest:
			if session, err = server.NewSession(stdout{}); err != nil {
				fmt.Println(err)
				return
			}
			answer = session.Handle(ctx, []byte(payload))
		case session == nil || !session.Initialized():
			fmt.Println("no session")
			return
		default:
			answer = session.Handle(ctx, []byte(payload))
		}
		fmt.Println(string(answer))
	}
	ctx := context.Background()
	handle(ctx, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"Name":"Ada"}}}`)
	handle(ctx, `{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	handle(ctx, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"greet","arguments":{"Name":"Ada"},"_meta":{"progressToken":7}}}`)
	handle(ctx, `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"greet","arguments":{"Name":"Bob"},`+
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`)
	session.Close(nil)
	// Output:
	// no session
	// {"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":false}},"serverInfo":{"name":"Greeter","version":"1.0.0"}}}
	//    notifications/progress {"progressToken":7,"progress":1,"total":1,"message":"thought of a greeting"}
	// {"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"Hello, Ada!"}],"isError":false}}
	// {"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"Hello, Bob!"}],"isError":false,"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"Greeter","version":"1.0.0"}}}}
}
