package mcptest

import (
	"encoding/json"
	"strings"

	"github.com/tandem-rpc/tandem/mcp"
)

// A ToolResult is what a tool has answered (MCP CallToolResult).
type ToolResult struct {
	Content    []Block                    `json:"content"`
	Structured json.RawMessage            `json:"structuredContent"`
	IsError    bool                       `json:"isError"`
	Meta       map[string]json.RawMessage `json:"_meta"`
}

// Text returns the text blocks, one a line.
func (r *ToolResult) Text() string { return text(r.Content) }

// Decode decodes the structured content.
func (r *ToolResult) Decode(v any) error { return json.Unmarshal(r.Structured, v) }

// A Block is a block of content of any type (MCP ContentBlock): which members are set depends on the type.
type Block struct {
	Type     string          `json:"type"` // text, image, audio, resource, resource_link
	Text     string          `json:"text"`
	Data     []byte          `json:"data"`
	MIMEType string          `json:"mimeType"`
	Resource *Contents       `json:"resource"`
	URI      string          `json:"uri"`
	Name     string          `json:"name"`
	Raw      json.RawMessage `json:"-"` // all of it, as it came
}

// UnmarshalJSON implements json.Unmarshaler.
func (b *Block) UnmarshalJSON(p []byte) error {
	type block Block
	if err := json.Unmarshal(p, (*block)(b)); err != nil {
		return err
	}
	b.Raw = append(json.RawMessage(nil), p...)
	return nil
}

func text(blocks []Block) string {
	var lines []string
	for _, b := range blocks {
		if b.Type == "text" {
			lines = append(lines, b.Text)
		}
	}
	return strings.Join(lines, "\n")
}

// Contents is what a resource holds (MCP TextResourceContents and BlobResourceContents).
type Contents struct {
	URI      string `json:"uri"`
	MIMEType string `json:"mimeType"`
	Text     string `json:"text"`
	Blob     []byte `json:"blob"` // nil if it is a text
}

// A Prompt is what a prompt has become (MCP GetPromptResult).
type Prompt struct {
	Description string          `json:"description"`
	Messages    []PromptMessage `json:"messages"`
}

// A PromptMessage is one message of a prompt.
type PromptMessage struct {
	Role    mcp.Role `json:"role"`
	Content Block    `json:"content"`
}

// Text returns the texts of the messages, one a line.
func (p *Prompt) Text() string {
	var blocks []Block
	for _, m := range p.Messages {
		blocks = append(blocks, m.Content)
	}
	return text(blocks)
}

// Completion is what has been suggested (MCP CompleteResult).
type Completion struct {
	Values  []string `json:"values"`
	Total   int      `json:"total"`
	HasMore bool     `json:"hasMore"`
}
