package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
)

// This file holds all that differs between the revisions of MCP.

var (
	// Versions are the revisions that begin with initialize, newest first: those [Negotiate] chooses from.
	Versions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}
	// ModernVersions are the revisions without initialize, newest first: each request names its own in _meta.
	ModernVersions = []string{"2026-07-28"}
	// Both are for reading: nothing here looks at them.
)

// revision is a protocol revision; later ones compare greater. The zero revision is none.
type revision uint8

const (
	rev20241105 revision = 1 + iota
	rev20250326
	rev20250618
	rev20251125
	rev20260728

	newest = rev20251125 // of those with initialize
)

var revisionNames = [...]string{
	rev20241105: "2024-11-05", rev20250326: "2025-03-26", rev20250618: "2025-06-18", rev20251125: "2025-11-25", rev20260728: "2026-07-28",
}

// modern: no initialize, no sessions, no requests from the server; each request carries revision and capabilities in _meta, each result a type.
func (r revision) modern() bool { return r >= rev20260728 }

// span is the revisions that have a method.
type span struct{ from, to revision }

func (s span) has(r revision) bool { return s.from <= r && r <= s.to }

const lastRevision = rev20260728

// spanOf returns the revisions that have a method: all, where nothing else is said. (A map would have to be made by every program that starts.)
func spanOf(method string) span {
	switch method {
	case "initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "notifications/initialized":
		return span{rev20241105, rev20251125}
	case "notifications/elicitation/complete", "tasks/list", "tasks/result":
		return span{rev20251125, rev20251125}
	case "tasks/get", "tasks/cancel":
		return span{rev20251125, lastRevision}
	case "server/discover", "subscriptions/listen", "tasks/update":
		return span{rev20260728, lastRevision}
	}
	return span{rev20241105, lastRevision}
}

// String returns the name on the wire, "" for none.
func (r revision) String() string { return revisionNames[r] }

// Negotiate returns the revision to speak with a client that asked for requested: the same one if it is among [Versions], the newest
// otherwise, whatever type requested has (MCP lifecycle, version negotiation). Besides a string it understands raw JSON.
func Negotiate(requested any) string {
	var all revisions
	switch v := requested.(type) {
	case string:
		return all.negotiate(v).String()
	case json.RawMessage:
		if s, ok := stringValue(v); ok {
			return all.negotiate(s).String()
		}
	}
	return newest.String()
}

// revisions is a set of them; the zero value has all.
type revisions uint8

func (s revisions) has(r revision) bool { return r != 0 && (s == 0 || s>>r&1 != 0) }

// negotiate is Negotiate for a server that speaks these; 0: none of them begins with initialize.
func (s revisions) negotiate(requested string) revision {
	if r := revisionNamed(requested); !r.modern() && s.has(r) {
		return r
	}
	return s.newest()
}

// newest is the newest of them with initialize, 0 for none.
func (s revisions) newest() revision {
	for r := newest; r > 0; r-- {
		if s.has(r) {
			return r
		}
	}
	return 0
}

// newRevisions makes a set of names.
func newRevisions(names []string) (s revisions, err error) {
	for _, name := range names {
		r := revisionNamed(name)
		if r == 0 {
			return 0, fmt.Errorf("mcp: Server.Revisions has %q, which is no revision", clip(name))
		}
		s |= 1 << r
	}
	return s, nil
}

// names returns those of the set, newest first: the ones without initialize, or the others if there are none of those.
func (s revisions) names() []string {
	for _, all := range [...][]revision{{rev20260728}, {rev20251125, rev20250618, rev20250326, rev20241105}} {
		var names []string
		for _, r := range all {
			if s.has(r) {
				names = append(names, r.String())
			}
		}
		if names != nil {
			return names
		}
	}
	return nil
}

// revisionNamed returns the revision with that name, 0 for none.
func revisionNamed(name string) revision {
	for r, n := range revisionNames {
		if n == name && r != 0 {
			return revision(r)
		}
	}
	return 0
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

// anyStructured: structured content, and the schema of it, may be of any type since 2026-07-28; before they were objects.
func (r revision) anyStructured() bool { return r.modern() }

// icons: icons, and website and description of an implementation, came with 2025-11-25.
func (r revision) icons() bool { return r >= rev20251125 }

// elicitation came with 2025-06-18.
func (r revision) elicitation() bool { return r >= rev20250618 }

// richForms: titled choices, choices of several, defaults of all types, and the mode of an elicitation came with 2025-11-25.
func (r revision) richForms() bool { return r >= rev20251125 }

// urlMode: elicitation by a page came with 2025-11-25. There it has an elicitationId, and none since.
func (r revision) urlMode() bool { return r >= rev20251125 }

// samplingTools: tools in sampling, several blocks in a message of it, and the capabilities for both tools and context came with 2025-11-25.
func (r revision) samplingTools() bool { return r >= rev20251125 }

// form returns the requestedSchema of an elicitation as r can carry it.
func (r revision) form(schema []byte) []byte {
	if r.richForms() {
		return schema
	}
	return plainForm(schema)
}

// execution: tools say whether they can be tasks in 2025-11-25, and no more since.
func (r revision) execution() bool { return r == rev20251125 }

// extensions: the capability came with 2026-07-28.
func (r revision) extensions() bool { return r.modern() }

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
	if s, ok := t.OutputSchema.(outputSchema); ok {
		t.OutputSchema = s.of(r)
	}
	if !r.icons() {
		t.Icons = nil
	}
	if !r.execution() {
		t.Task = TaskNever
	}
	return t
}

func (r revision) resource(x Resource) Resource {
	if !r.structured() {
		x.Title, x.Meta, x.Annotations = "", nil, r.annotations(x.Annotations)
	}
	if !r.icons() {
		x.Icons = nil
	}
	return x
}

func (r revision) template(x Template) Template {
	if !r.structured() {
		x.Title, x.Meta, x.Annotations = "", nil, r.annotations(x.Annotations)
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

// annotations: lastModified came with 2025-06-18.
func (r revision) annotations(a *Annotations) *Annotations {
	if a == nil || a.LastModified == "" || r.structured() {
		return a
	}
	return &Annotations{Audience: a.Audience, Priority: a.Priority}
}

// result returns res as r can carry it. It copies what it has to change: the value belongs to the tool.
func (r revision) result(res *CallToolResult) *CallToolResult {
	if res == nil || r.modern() || r.icons() && (res.StructuredContent == nil || isObjectValue(res.StructuredContent)) {
		return res
	}
	out := *res
	if !r.structured() || !isObjectValue(res.StructuredContent) { // any other value came with 2026-07-28
		out.StructuredContent = nil
	}
	out.Content = r.contents(out.Content)
	return &out
}

// isObjectValue reports whether v encodes as an object, as far as its type tells.
func isObjectValue(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case encoded:
		return isObject(bytes.TrimSpace(v))
	case json.RawMessage:
		return isObject(bytes.TrimSpace(v))
	case json.Marshaler:
		return true // who knows
	}
	t := reflect.TypeOf(v)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct || t.Kind() == reflect.Map || t.Kind() == reflect.Interface
}

// promptResult returns p as r can carry it.
func (r revision) promptResult(p *PromptResult) *PromptResult {
	if p == nil || r.icons() {
		return p
	}
	out := *p
	out.Messages = slices.Clone(p.Messages)
	for i := range out.Messages {
		out.Messages[i].Content = r.content(out.Messages[i].Content)
	}
	return &out
}

// resourceContents returns what a Reader has returned as r can carry it.
func (r revision) resourceContents(v any) any {
	if r.structured() {
		return v
	}
	switch v := v.(type) {
	case []ResourceContents:
		v = slices.Clone(v)
		for i := range v {
			v[i].Meta = nil
		}
		return v
	case []*ResourceContents:
		out := make([]ResourceContents, 0, len(v))
		for _, c := range v {
			if c != nil {
				out = append(out, ResourceContents{URI: c.URI, MIMEType: c.MIMEType, Text: c.Text, Blob: c.Blob})
			}
		}
		return out
	}
	return v
}

// contents returns the blocks as r can carry them; what it does not know is replaced by text that says what was there.
func (r revision) contents(blocks []Content) []Content {
	if r.icons() {
		return blocks
	}
	out := make([]Content, len(blocks))
	for i, c := range blocks {
		out[i] = r.content(c)
	}
	return out
}

func (r revision) content(c Content) Content {
	if r.icons() {
		return c
	}
	switch c := c.(type) {
	case *TextContent:
		if c != nil && !r.structured() {
			return &TextContent{Text: c.Text, Annotations: r.annotations(c.Annotations)}
		}
	case *ImageContent:
		if c != nil && !r.structured() {
			return &ImageContent{Data: c.Data, MIMEType: c.MIMEType, Annotations: r.annotations(c.Annotations)}
		}
	case *AudioContent:
		switch {
		case c == nil:
		case !r.audio():
			return Text("[audio, " + c.MIMEType + "]")
		case !r.structured():
			return &AudioContent{Data: c.Data, MIMEType: c.MIMEType, Annotations: r.annotations(c.Annotations)}
		}
	case *EmbeddedResource:
		if c != nil && !r.structured() {
			out := &EmbeddedResource{Resource: c.Resource, Annotations: r.annotations(c.Annotations)}
			out.Resource.Meta = nil
			return out
		}
	case *ResourceLink:
		switch {
		case c == nil:
		case !r.structured():
			return Text(c.Name + ": " + c.URI)
		default:
			return &ResourceLink{Resource: r.resource(c.Resource)}
		}
	}
	return c
}
