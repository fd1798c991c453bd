package framework_test

import (
	"context"
	"errors"
	"os"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/framework"
	"github.com/tandem-rpc/tandem/lsp"
	"github.com/tandem-rpc/tandem/mcp"
	"github.com/tandem-rpc/tandem/mcp/mcphttp"
)

var editors = &lsp.Server{Name: "shared", Version: "1.0.0"}

type Note struct {
	URI  uri.URI `json:"uri" jsonschema:"the document, which is open in an editor"`
	Text string  `json:"text" jsonschema:"what to add at its end"`
}

// add is the agent's tool: what it adds appears where the person types, saved or not.
func add(ctx context.Context, in Note) (string, error) {
	for c := range editors.Clients() {
		if doc := c.Documents().Document(in.URI); doc != nil {
			end := len(doc.Text())
			edit, err := new(lsp.Edits).Change(doc, protocol.TextEdit{Range: doc.Range(end, end), NewText: in.Text}).For(c)
			if err != nil {
				return "", err
			}
			return "Added.", c.ApplyEdit(ctx, "Add", edit)
		}
	}
	return "", errors.New("no editor has it open")
}

func Example_together() {
	var box mcp.Toolbox
	mcp.AddTool(&box, mcp.Tool{Name: "add", Description: "Add text to an open document."}, add)
	agents := &mcp.Server{Name: "shared", Version: "1.0.0"}
	box.Attach(agents)
	rt := framework.Runtime{Beside: []framework.Endpoint{{Address: os.Getenv("MCP_ADDRESS"), Web: &mcphttp.Site{Server: agents}}}}
	rt.Main(editors) // on standard input and output
}
