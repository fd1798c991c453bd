package mcptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tandem-rpc/tandem/mcp"
)

// maxPages bounds a list.
const maxPages = 10_000

// errPages: a list that has no end.
var errPages = errors.New("mcptest: the list has no end")

// list asks for all pages of a list.
func list[T any](ctx context.Context, c *Client, method, member string) ([]T, error) {
	var all []T
	params := map[string]any{}
	for range maxPages {
		var page map[string]json.RawMessage
		if err := c.Call(ctx, method, params, &page); err != nil {
			return nil, err
		}
		var items []T
		if err := json.Unmarshal(page[member], &items); err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		all = append(all, items...)
		cursor, more := page["nextCursor"]
		if !more {
			return all, nil
		}
		params["cursor"] = cursor
	}
	return nil, fmt.Errorf("%s: %w", method, errPages)
}

// Tools returns the tools, of all pages of tools/list. Schemas are json.RawMessage, as they came.
func (c *Client) Tools(ctx context.Context) ([]mcp.Tool, error) {
	type tool struct {
		mcp.Tool
		InputSchema  json.RawMessage `json:"inputSchema"`
		OutputSchema json.RawMessage `json:"outputSchema"`
	}
	raw, err := list[tool](ctx, c, "tools/list", "tools")
	tools := make([]mcp.Tool, len(raw))
	for i, t := range raw {
		if tools[i] = t.Tool; t.InputSchema != nil {
			tools[i].InputSchema = t.InputSchema
		}
		if t.OutputSchema != nil {
			tools[i].OutputSchema = t.OutputSchema
		}
	}
	return tools, err
}

// Resources returns the resources, of all pages of resources/list.
func (c *Client) Resources(ctx context.Context) ([]mcp.Resource, error) {
	return list[mcp.Resource](ctx, c, "resources/list", "resources")
}

// Templates returns the templates, of all pages of resources/templates/list.
func (c *Client) Templates(ctx context.Context) ([]mcp.Template, error) {
	return list[mcp.Template](ctx, c, "resources/templates/list", "resourceTemplates")
}

// Prompts returns the prompts, of all pages of prompts/list.
func (c *Client) Prompts(ctx context.Context) ([]mcp.Prompt, error) {
	return list[mcp.Prompt](ctx, c, "prompts/list", "prompts")
}

// CallTool runs a tool (tools/call). arguments is nil, which sends none, or encodes as an object. A tool that ran and failed is a result with IsError.
func (c *Client) CallTool(ctx context.Context, name string, arguments any) (*ToolResult, error) {
	params := map[string]any{"name": name}
	if arguments != nil {
		params["arguments"] = arguments
	}
	r := new(ToolResult)
	if err := c.Call(ctx, "tools/call", params, r); err != nil {
		return nil, err
	}
	return r, nil
}

// Read returns the contents of a resource (resources/read).
func (c *Client) Read(ctx context.Context, uri string) ([]Contents, error) {
	var r struct {
		Contents []Contents `json:"contents"`
	}
	err := c.Call(ctx, "resources/read", map[string]any{"uri": uri}, &r)
	return r.Contents, err
}

// Prompt builds a prompt (prompts/get).
func (c *Client) Prompt(ctx context.Context, name string, arguments map[string]string) (*Prompt, error) {
	params := map[string]any{"name": name}
	if arguments != nil {
		params["arguments"] = arguments
	}
	p := new(Prompt)
	if err := c.Call(ctx, "prompts/get", params, p); err != nil {
		return nil, err
	}
	return p, nil
}

// Complete returns what is suggested for an argument (completion/complete). Where r.Others is set they are sent as context.
func (c *Client) Complete(ctx context.Context, r mcp.CompleteRequest) (*Completion, error) {
	ref := map[string]any{"type": "ref/prompt", "name": r.Prompt}
	if r.Prompt == "" {
		ref = map[string]any{"type": "ref/resource", "uri": r.Template}
	}
	params := map[string]any{"ref": ref, "argument": map[string]any{"name": r.Name, "value": r.Value}}
	if r.Others != nil {
		params["context"] = map[string]any{"arguments": r.Others}
	}
	var answer struct {
		Completion Completion `json:"completion"`
	}
	if err := c.Call(ctx, "completion/complete", params, &answer); err != nil {
		return nil, err
	}
	return &answer.Completion, nil
}
