package mcp_test

import (
	"context"
	"fmt"

	"github.com/tandem-rpc/tandem/framework"
	"github.com/tandem-rpc/tandem/mcp"
)

type Greeting struct {
	Name  string `json:"name" jsonschema:"who to greet"`
	Times int    `json:"times,omitempty" jsonschema:"how often, once if not given"`
}

// greet is the tool: its arguments have been checked before it runs, and an error it returns is one the model reads.
func greet(ctx context.Context, in Greeting) (string, error) {
	if in.Name == "" {
		return "", fmt.Errorf("tell me who")
	}
	text := ""
	for i := range max(in.Times, 1) {
		_ = mcp.Progress(ctx, float64(i+1), float64(in.Times), "")
		text += "Hello, " + in.Name + "! "
	}
	return text, nil
}

// A whole server, as a client starts it on standard input and output.
func Example_hello() {
	var box mcp.Toolbox
	mcp.AddTool(&box, mcp.Tool{Name: "greet", Description: "Say hello to somebody."}, greet)
	server := &mcp.Server{Name: "hello", Version: "1.0.0"}
	box.Attach(server)
	framework.Main(server)
}

func ExampleAddTool() {
	type trip struct {
		From string `json:"from" jsonschema:"where it begins"`
		Days int    `json:"days"`
	}
	type offer struct {
		Price float64 `json:"price"`
	}
	var box mcp.Toolbox
	mcp.AddTool(&box, mcp.Tool{Name: "quote", Description: "What a trip costs."}, func(_ context.Context, in trip) (offer, error) {
		if in.Days > 30 {
			return offer{}, fmt.Errorf("at most 30 days")
		}
		return offer{Price: 99.5 * float64(in.Days)}, nil
	})
	s, ctx := &mcp.Server{Name: "Trips", Version: "1.0.0", Lister: box.List, Caller: box.Call}, context.Background()
	handle(ctx, s, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	handle(ctx, s, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"quote","arguments":{"from":"Lisbon","days":2}}}`)
	handle(ctx, s, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"quote","arguments":{"from":"Lisbon","days":"two"}}}`)
	handle(ctx, s, `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"quote","arguments":{"from":"Lisbon","days":31}}}`)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"quote","description":"What a trip costs.","inputSchema":{"type":"object","properties":{"from":{"type":"string","description":"where it begins"},"days":{"type":"integer"}},"required":["from","days"],"additionalProperties":false},"outputSchema":{"type":"object","properties":{"price":{"type":"number"}},"required":["price"],"additionalProperties":false}}]}}
	// {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"{\"price\":199}"}],"structuredContent":{"price":199},"isError":false}}
	// {"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"Invalid arguments for tool quote: /days: want integer, got string"}],"isError":true}}
	// {"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"at most 30 days"}],"isError":true}}
}
