package mcpotel_test

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/trace"

	"github.com/tandem-rpc/tandem/mcp"
	"github.com/tandem-rpc/tandem/mcp/mcpotel"
)

// A tool finds the trace of the client that called it in its context, and so does everything it calls.
func Example() {
	var box mcp.Toolbox
	mcp.AddTool(&box, mcp.Tool{Name: "trace"}, func(ctx context.Context, _ struct{}) (string, error) {
		return trace.SpanContextFromContext(ctx).TraceID().String(), nil
	})
	server := &mcp.Server{Name: "Traced", Version: "1.0.0"}
	box.Attach(server)
	mcpotel.Instrument(server, mcpotel.Options{}) // a Provider makes spans

	fmt.Printf("%s\n", server.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"trace","_meta":{
		"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}}`)))
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"0af7651916cd43dd8448eb211c80319c"}],"isError":false}}
}
