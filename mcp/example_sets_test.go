package mcp_test

import (
	"context"
	"fmt"

	"github.com/tandem-rpc/tandem/mcp"
)

// Tags of the fields of a tool's input say what the type does not. They are shown to the model, and enforced: it gets to read what was wrong.
func ExampleAddTool_tags() {
	type forecast struct {
		City string `json:"city" jsonschema:"where" minLength:"1"`
		Days int    `json:"days" minimum:"1" maximum:"14" default:"3"`
		Unit string `json:"unit,omitempty" enum:"C,F"`
	}
	var box mcp.Toolbox
	mcp.AddTool(&box, mcp.Tool{Name: "forecast"}, func(_ context.Context, in forecast) (string, error) {
		return fmt.Sprintf("%d sunny days in %s", in.Days, in.City), nil
	})
	server := &mcp.Server{}
	box.Attach(server)
	handle(context.Background(), server, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"forecast","arguments":{"city":"Lisbon"}}}`)
	handle(context.Background(), server, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"forecast","arguments":{"days":15,"unit":"K"}}}`)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"3 sunny days in Lisbon"}],"isError":false}}
	// {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"Invalid arguments for tool forecast: arguments: missing the required member \"city\"; /days: want a number of at most 14; /unit: want one of \"C\", \"F\""}],"isError":true}}
}

// A set finds who reads a resource, by its URI or by a template, and who suggests values for a variable.
func ExampleResourceSet() {
	var notes mcp.ResourceSet
	notes.Add(mcp.Resource{URI: "note://welcome", Name: "welcome", MIMEType: "text/plain"}, func(context.Context) (any, error) {
		return "Welcome!", nil
	})
	notes.AddTemplate(mcp.Template{
		URITemplate: "note://{year}/{slug}", Name: "note",
		Complete: map[string]mcp.Suggest{"year": mcp.SuggestFrom("2025", "2026")},
	}, func(_ context.Context, _ string, v mcp.Variables) (any, error) {
		if v.Text("slug") != "deploy" {
			return nil, nil // there is no such note
		}
		return "Deploys of " + v.Text("year"), nil
	})
	server := &mcp.Server{}
	notes.Attach(server)
	handle(context.Background(), server, `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"note://2026/deploy"}}`)
	handle(context.Background(), server, `{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"note://2026/other"}}`)
	handle(context.Background(), server, `{"jsonrpc":"2.0","id":3,"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":"note://{year}/{slug}"},"argument":{"name":"year","value":"202"}}}`)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"contents":[{"uri":"note://2026/deploy","text":"Deploys of 2026"}]}}
	// {"jsonrpc":"2.0","id":2,"error":{"code":-32002,"message":"Resource not found","data":{"uri":"note://2026/other"}}}
	// {"jsonrpc":"2.0","id":3,"result":{"completion":{"values":["2025","2026"],"total":2}}}
}

// The arguments of a prompt are the fields of a struct. What does not fit is refused before the function runs.
func ExampleAddPrompt() {
	type review struct {
		Code string `json:"code" jsonschema:"what to review"`
		Lang string `json:"lang,omitempty" enum:"go,rust"`
	}
	var prompts mcp.PromptSet
	mcp.AddPrompt(&prompts, mcp.Prompt{Name: "review"}, func(_ context.Context, in review) (string, error) {
		return "Please review: " + in.Code, nil
	})
	server := &mcp.Server{}
	prompts.Attach(server)
	handle(context.Background(), server, `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"review","arguments":{"code":"x++"}}}`)
	handle(context.Background(), server, `{"jsonrpc":"2.0","id":2,"method":"prompts/get","params":{"name":"review","arguments":{"lang":"go"}}}`)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"messages":[{"role":"user","content":{"type":"text","text":"Please review: x++"}}]}}
	// {"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Invalid arguments for prompt review: arguments: missing the required member \"code\""}}
}
