package mcptest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
	"github.com/tandem-rpc/tandem/mcp/mcptest"
)

// greeter is a server to test.
func greeter() *mcp.Server {
	var box mcp.Toolbox
	type in struct {
		Name string `json:"name"`
	}
	mcp.AddTool(&box, mcp.Tool{Name: "greet", Description: "Say hello."}, func(_ context.Context, in in) (string, error) {
		return "Hello, " + in.Name + "!", nil
	})
	return &mcp.Server{Name: "Greeter", Version: "1.0.0", Lister: box.List, Caller: box.Call}
}

// In a test [mcptest.New] takes the *testing.T and closes the client at its end.
func Example() {
	ctx := context.Background()
	c, err := mcptest.Dial(ctx, greeter(), &mcptest.Options{Revision: "2025-06-18"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	tools, err := c.Tools(ctx)
	fmt.Println(tools[0].Name, err)
	got, err := c.CallTool(ctx, "greet", map[string]any{"name": "Ada"})
	fmt.Println(got.Text(), err)
	got, err = c.CallTool(ctx, "greet", nil)
	fmt.Println(got.IsError, err)
	_, err = c.CallTool(ctx, "part", nil)
	var answer *jsonrpc2.Error
	fmt.Println(errors.As(err, &answer), answer.Code)

	// Output:
	// greet <nil>
	// Hello, Ada! <nil>
	// true <nil>
	// true Invalid params
}

// A transcript shows what was said on the wire.
func ExampleClient_Transcript() {
	ctx := context.Background()
	c, err := mcptest.Dial(ctx, greeter(), &mcptest.Options{Revision: "2025-11-25", Hosted: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	if _, err := c.CallTool(ctx, "greet", map[string]any{"name": "Ada"}); err != nil {
		fmt.Println(err)
	}
	for _, e := range c.Transcript() {
		fmt.Println(e)
	}
	// Output:
	// -> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{},"clientInfo":{"name":"mcptest","version":"1.0.0"},"protocolVersion":"2025-11-25"}}
	// <- {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":false}},"serverInfo":{"name":"Greeter","version":"1.0.0"}}}
	// -> {"jsonrpc":"2.0","method":"notifications/initialized"}
	// -> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"arguments":{"name":"Ada"},"name":"greet"}}
	// <- {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"Hello, Ada!"}],"isError":false}}
}

// A test of a server in every revision, with what is said on the wire kept in files.
func ExampleEverywhere() {
	_ = func(t *testing.T) {
		mcptest.Everywhere(t, func(t *testing.T, o mcptest.Options) {
			c := mcptest.New(t, greeter(), &o)
			got, err := c.CallTool(t.Context(), "greet", map[string]any{"name": "Ada"})
			if err != nil || got.Text() != "Hello, Ada!" {
				t.Fatalf("greet: %+v, %v", got, err)
			}
			if !o.Hosted {
				c.Golden(t, "testdata/greet-"+o.Revision+".txt")
			}
		})
	}
}
