package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
)

// everything returns one of each thing that a server can send, with every member set.
func everything() *Server {
	yes, half, size := true, 0.5, int64(3)
	note := &Annotations{Audience: []Role{RoleUser}, Priority: &half, LastModified: "2025-01-01T00:00:00Z"}
	icons := []Icon{{Src: "https://example.com/i.png", MIMEType: "image/png", Sizes: []string{"any"}, Theme: "light"}}
	meta := Meta{"com.example/k": 1}
	resource := Resource{URI: "a:b", Name: "r", Title: "R", Description: "d", MIMEType: "text/plain", Size: &size, Annotations: note, Icons: icons, Meta: meta}
	contents := ResourceContents{URI: "a:b", MIMEType: "text/plain", Text: "abc", Meta: meta}
	blocks := []Content{
		&TextContent{Text: "t", Annotations: note, Meta: meta}, &ImageContent{Data: []byte("i"), MIMEType: "image/png", Annotations: note, Meta: meta},
		&AudioContent{Data: []byte("a"), MIMEType: "audio/wav", Annotations: note, Meta: meta}, &ResourceLink{Resource: resource},
		&EmbeddedResource{Resource: contents, Annotations: note, Meta: meta},
	}
	s := full()
	s.Title, s.Description, s.WebsiteURL, s.Icons = "T", "D", "https://example.com", icons
	s.ListChanged = true
	s.Subscriber = func(context.Context, string) error { return nil }
	s.Extensions = map[string]any{"com.example/x": struct{}{}}
	s.Lister = func(context.Context) ([]Tool, error) {
		return []Tool{{
			Name: "t", Title: "T", Description: "d", InputSchema: emptyObjectSchema, OutputSchema: emptyObjectSchema, Icons: icons, Meta: meta,
			Annotations: &ToolAnnotations{Title: "T", ReadOnlyHint: &yes},
		}}, nil
	}
	s.Caller = func(_ context.Context, name string, _ Arguments) (any, error) {
		return &CallToolResult{Content: blocks, StructuredContent: map[string]int{"a": 1}, Meta: meta}, nil
	}
	s.Resources = func(context.Context) ([]Resource, error) { return []Resource{resource}, nil }
	s.Templates = func(context.Context) ([]Template, error) {
		return []Template{{URITemplate: "a:{b}", Name: "t", Title: "T", Description: "d", MIMEType: "text/plain", Annotations: note, Icons: icons, Meta: meta}}, nil
	}
	s.Reader = func(_ context.Context, uri string) (any, error) {
		if uri == "pointers" {
			return []*ResourceContents{&contents, nil}, nil
		}
		return []ResourceContents{contents, {URI: "a:c", Blob: []byte("x"), Meta: meta}}, nil
	}
	s.Prompts = func(context.Context) ([]Prompt, error) {
		return []Prompt{{Name: "p", Title: "P", Description: "d", Arguments: []PromptArgument{{Name: "a", Title: "A", Description: "d", Required: true}}, Icons: icons, Meta: meta}}, nil
	}
	s.Prompter = func(context.Context, string, Arguments) (any, error) {
		r := &PromptResult{Description: "d", Meta: meta}
		for _, b := range blocks {
			r.Messages = append(r.Messages, PromptMessage{Role: RoleUser, Content: b})
		}
		return r, nil
	}
	return s
}

var everyRequest = map[string]string{
	"tools/list": ``, "tools/call": `,"name":"t"`, "resources/list": ``, "resources/templates/list": ``, "resources/read": `,"uri":"a:b"`,
	"prompts/list": ``, "prompts/get": `,"name":"p"`, "completion/complete": `,"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}`,
}

// Each revision gets the members it has, wherever they stand, and no other.
func TestMembersByRevision(t *testing.T) {
	since := map[string]revision{ // of names that are unknown before
		"annotations.title": rev20250326, "readOnlyHint": rev20250326, "completions": rev20250326,
		"title": rev20250618, "outputSchema": rev20250618, "structuredContent": rev20250618, "lastModified": rev20250618, "resource_link": rev20250618,
		"icons": rev20251125, "websiteUrl": rev20251125,
		"resultType": rev20260728, "ttlMs": rev20260728, "cacheScope": rev20260728, "extensions": rev20260728, "supportedVersions": rev20260728, MetaServer: rev20260728,
	}
	seen := map[string]revision{} // the first revision that a name was sent in
	var walk func(rev revision, path string, v any)
	note := func(rev revision, name string) {
		if r, ok := seen[name]; !ok || rev < r {
			seen[name] = rev
		}
	}
	walk = func(rev revision, path string, v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				walk(rev, path, x)
			}
		case map[string]any:
			for name, x := range v {
				if name == "title" && path == "annotations" {
					name = "annotations.title" // is older than the other titles
				}
				note(rev, name)
				if name == "_meta" && rev < rev20250618 && path != "result" {
					t.Errorf("%s: _meta in %s", rev, path)
				}
				walk(rev, name, x)
			}
		case string:
			if v == "resource_link" || v == "audio" {
				note(rev, v)
			}
		}
	}
	for rev := rev20241105; rev <= lastRevision; rev++ {
		s := everything()
		ask := func(method, members string) string {
			if rev.modern() {
				return string(s.HandleModern(context.Background(), []byte(modern("1", method, members)), nil))
			}
			return string(s.HandleSessionless(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{"x":1`+members+`}}`), nil, rev.String()))
		}
		requests := map[string]string{}
		for method, members := range everyRequest {
			requests[method] = members
		}
		if rev.modern() {
			requests["server/discover"] = ``
		} else {
			requests["initialize"] = `,"protocolVersion":"` + rev.String() + `"`
		}
		for method, members := range requests {
			var m struct {
				Result map[string]any
			}
			got := ask(method, members)
			if err := json.Unmarshal([]byte(got), &m); err != nil || m.Result == nil {
				t.Fatalf("%s, %s: %s", rev, method, got)
			}
			walk(rev, "result", m.Result)
		}
	}
	since["audio"] = rev20250326
	for name, rev := range since {
		if got := seen[name]; got != rev {
			t.Errorf("%s: first sent in %q, want %q", name, got, rev)
		}
	}
}

// What a revision cannot carry is said in words.
func TestContentByRevision(t *testing.T) {
	s := everything()
	texts := func(rev string) (out []string) {
		var m struct {
			Result struct{ Content []struct{ Type, Text string } }
		}
		got := s.HandleSessionless(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}`), nil, rev)
		if err := json.Unmarshal(got, &m); err != nil {
			t.Fatal(err)
		}
		for _, c := range m.Result.Content {
			out = append(out, c.Type+":"+c.Text)
		}
		return out
	}
	for rev, want := range map[string][]string{
		"2024-11-05": {"text:t", "image:", "text:[audio, audio/wav]", "text:r: a:b", "resource:"},
		"2025-03-26": {"text:t", "image:", "audio:", "text:r: a:b", "resource:"},
		"2025-06-18": {"text:t", "image:", "audio:", "resource_link:", "resource:"},
		"2025-11-25": {"text:t", "image:", "audio:", "resource_link:", "resource:"},
	} {
		if got := texts(rev); !slices.Equal(got, want) {
			t.Errorf("%s: %q", rev, got)
		}
	}
	// The program's own values are as they were.
	v, _ := s.Caller(context.Background(), "", Arguments{})
	if b := v.(*CallToolResult).Content; len(b[0].(*TextContent).Meta) == 0 || b[0].(*TextContent).Annotations.LastModified == "" || len(b[3].(*ResourceLink).Icons) == 0 || len(b[4].(*EmbeddedResource).Resource.Meta) == 0 {
		t.Error("changed")
	}
	got := s.HandleSessionless(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"pointers"}}`), nil, "2024-11-05")
	if want := `{"jsonrpc":"2.0","id":1,"result":{"contents":[{"uri":"a:b","mimeType":"text/plain","text":"abc"}]}}`; string(got) != want {
		t.Errorf("got %s", got)
	}
}

// Structured content is an object before 2026-07-28, and anything since.
func TestStructuredContentByRevision(t *testing.T) {
	type object struct{ A int }
	for _, c := range []struct {
		name   string
		value  any
		object bool
	}{
		{"struct", object{1}, true}, {"pointer", &object{1}, true}, {"map", map[string]int{}, true}, {"raw object", json.RawMessage(` {"a":1}`), true},
		{"own object", encoded(`{}`), true}, {"list", []int{1}, false}, {"number", 1, false}, {"text", "x", false}, {"raw list", json.RawMessage(`[1]`), false},
		{"raw null", json.RawMessage(`null`), false}, {"own list", encoded(`[]`), false}, {"boolean", true, false},
	} {
		s := &Server{Caller: func(context.Context, string, Arguments) (any, error) {
			return &CallToolResult{StructuredContent: c.value}, nil
		}}
		for rev := rev20241105; rev <= lastRevision; rev++ {
			var got string
			if rev.modern() {
				got = string(s.HandleModern(context.Background(), []byte(modern("1", "tools/call", `,"name":"x"`)), nil))
			} else {
				got = string(s.HandleSessionless(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`), nil, rev.String()))
			}
			there := member(t, got, "result", "structuredContent") != ""
			if want := rev.modern() || rev.structured() && c.object; there != want {
				t.Errorf("%s in %s: %s", c.name, rev, got)
			}
		}
	}
}
