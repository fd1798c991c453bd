package mcp

import "encoding/json"

// This file holds all that differs between the revisions of MCP.

// Versions are the protocol revisions this package speaks, newest first. It is for reading: [Negotiate] does not look at it.
var Versions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// revision is a protocol revision; later ones compare greater. The zero revision is none.
type revision uint8

const (
	rev20241105 revision = 1 + iota
	rev20250326
	rev20250618
	rev20251125

	newest = rev20251125
)

var revisionNames = [...]string{rev20241105: "2024-11-05", rev20250326: "2025-03-26", rev20250618: "2025-06-18", rev20251125: "2025-11-25"}

// String returns the name on the wire, "" for none.
func (r revision) String() string { return revisionNames[r] }

// Negotiate returns the revision to speak with a client that asked for requested: the same one if it is among [Versions], the newest
// otherwise, whatever type requested has (MCP lifecycle, version negotiation). Besides a string it understands raw JSON.
func Negotiate(requested any) string {
	switch v := requested.(type) {
	case string:
		return negotiate(v).String()
	case json.RawMessage:
		if s, ok := stringValue(v); ok {
			return negotiate(s).String()
		}
	}
	return newest.String()
}

func negotiate(requested string) revision {
	for r, name := range revisionNames {
		if name == requested && r != 0 {
			return revision(r)
		}
	}
	return newest
}

// batches: JSON-RPC batches came with 2025-03-26 and went with 2025-06-18.
func (r revision) batches() bool { return r == rev20250326 }

// completions: the capability came with 2025-03-26. The method is answered in every revision.
func (r revision) completions() bool { return r >= rev20250326 }

// progressMessage: the message of a progress notification came with 2025-03-26.
func (r revision) progressMessage() bool { return r >= rev20250326 }

// audio: audio content and tool annotations came with 2025-03-26.
func (r revision) audio() bool { return r >= rev20250326 }

// structured: outputSchema, structuredContent, resource links, titles and _meta on definitions came with 2025-06-18.
func (r revision) structured() bool { return r >= rev20250618 }

// icons: icons, and website and description of an implementation, came with 2025-11-25.
func (r revision) icons() bool { return r >= rev20251125 }

// tool returns t with what r does not know taken out, and the input schema that the protocol requires put in.
func (r revision) tool(t Tool) Tool {
	if t.InputSchema == nil {
		t.InputSchema = emptyObjectSchema
	}
	if !r.audio() {
		t.Annotations = nil
	}
	if !r.structured() {
		t.Title, t.OutputSchema, t.Meta = "", nil, nil
	}
	if !r.icons() {
		t.Icons = nil
	}
	return t
}

func (r revision) resource(x Resource) Resource {
	if !r.structured() {
		x.Title, x.Meta = "", nil
	}
	if !r.icons() {
		x.Icons = nil
	}
	return x
}

func (r revision) template(x Template) Template {
	if !r.structured() {
		x.Title, x.Meta = "", nil
	}
	if !r.icons() {
		x.Icons = nil
	}
	return x
}

func (r revision) prompt(x Prompt) Prompt {
	if !r.structured() {
		x.Title, x.Meta = "", nil
		for i, a := range x.Arguments {
			if a.Title != "" {
				x.Arguments = append([]PromptArgument(nil), x.Arguments...)
				for j := i; j < len(x.Arguments); j++ {
					x.Arguments[j].Title = ""
				}
				break
			}
		}
	}
	if !r.icons() {
		x.Icons = nil
	}
	return x
}

func (r revision) implementation(x Implementation) Implementation {
	if !r.structured() {
		x.Title = ""
	}
	if !r.icons() {
		x.Description, x.WebsiteURL, x.Icons = "", "", nil
	}
	return x
}

// result returns res as r can carry it. It copies what it has to change: the value belongs to the tool.
func (r revision) result(res *CallToolResult) *CallToolResult {
	if r.structured() || res == nil {
		return res
	}
	out := *res
	out.StructuredContent = nil
	out.Content = r.contents(out.Content)
	return &out
}

// contents replaces blocks unknown to r by text that says what was there.
func (r revision) contents(blocks []Content) []Content {
	for i := range blocks {
		if _, known := r.content(blocks[i]); !known {
			out := append([]Content(nil), blocks...)
			for ; i < len(out); i++ {
				out[i], _ = r.content(out[i])
			}
			return out
		}
	}
	return blocks
}

func (r revision) content(c Content) (_ Content, known bool) {
	switch c := c.(type) {
	case *AudioContent:
		if !r.audio() {
			return Text("[audio, " + c.MIMEType + "]"), false
		}
	case *ResourceLink:
		if !r.structured() {
			return Text(c.Name + ": " + c.URI), false
		}
	}
	return c, true
}
