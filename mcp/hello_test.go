package mcp

import (
	"encoding/json"
	"reflect"
	"testing"
)

// What a server says of itself is written member by member, and is what a decoder reads back.
func TestHelloMembers(t *testing.T) {
	type list struct {
		ListChanged bool `json:"listChanged"`
	}
	type can struct {
		Tools     *list `json:"tools"`
		Resources *struct {
			ListChanged bool `json:"listChanged"`
			Subscribe   bool `json:"subscribe"`
		} `json:"resources"`
		Prompts     *list          `json:"prompts"`
		Completions *struct{}      `json:"completions"`
		Logging     *struct{}      `json:"logging"`
		Tasks       any            `json:"tasks"`
		Extensions  map[string]any `json:"extensions"`
	}
	full := capabilities{
		Tools: listCapability{true}, Resources: &resourcesCapability{true, false}, Prompts: &listCapability{}, Completions: &struct{}{}, Logging: &struct{}{},
		Tasks: map[string]any{"a": true}, Extensions: map[string]any{"b/c": map[string]any{}},
	}
	name := Implementation{
		Name: `a "name"`, Title: "<t>", Version: "1\n", Description: "d\u2028", WebsiteURL: "https://example.com/?a&b", Icons: []Icon{{Src: "data:image/png;base64,", Sizes: []string{"any"}}},
	}
	for _, c := range []struct {
		name         string
		capabilities capabilities
		server       Implementation
		instructions string
	}{
		{"nothing", capabilities{}, Implementation{}, ""},
		{"everything", full, name, "do \\ this"},
	} {
		t.Run(c.name, func(t *testing.T) {
			holds := func(got can) {
				t.Helper()
				f := &c.capabilities
				switch {
				case got.Tools == nil || got.Tools.ListChanged != f.Tools.ListChanged,
					(got.Resources == nil) != (f.Resources == nil), (got.Prompts == nil) != (f.Prompts == nil),
					got.Resources != nil && (got.Resources.ListChanged != f.Resources.ListChanged || got.Resources.Subscribe != f.Resources.Subscribe),
					got.Completions == nil != (f.Completions == nil), got.Logging == nil != (f.Logging == nil),
					!reflect.DeepEqual(got.Tasks, f.Tasks), !reflect.DeepEqual(got.Extensions, f.Extensions):
					t.Errorf("capabilities %+v", got)
				}
			}
			text, err := json.Marshal(initializeResult{"2025-11-25", c.capabilities, c.server, c.instructions})
			if err != nil {
				t.Fatal(err)
			}
			var begun struct {
				ProtocolVersion, Instructions string
				Capabilities                  can
				ServerInfo                    Implementation
			}
			if err := json.Unmarshal(text, &begun); err != nil {
				t.Fatal(err, string(text))
			}
			holds(begun.Capabilities)
			if begun.ProtocolVersion != "2025-11-25" || begun.Instructions != c.instructions || !reflect.DeepEqual(begun.ServerInfo, c.server) {
				t.Errorf("initialize: %s", text)
			}
			text, err = json.Marshal(discoverResult{[]string{"a", "b"}, c.capabilities, c.instructions, c.server})
			if err != nil {
				t.Fatal(err)
			}
			var found struct {
				SupportedVersions []string
				Instructions      string
				Capabilities      can
				Meta              map[string]Implementation `json:"_meta"`
			}
			if err := json.Unmarshal(text, &found); err != nil {
				t.Fatal(err, string(text))
			}
			holds(found.Capabilities)
			if !reflect.DeepEqual(found.SupportedVersions, []string{"a", "b"}) || found.Instructions != c.instructions || !reflect.DeepEqual(found.Meta, map[string]Implementation{MetaServer: c.server}) {
				t.Errorf("discover: %s", text)
			}
		})
	}
	if _, err := json.Marshal(initializeResult{Capabilities: capabilities{Extensions: map[string]any{"x": func() {}}}}); err == nil {
		t.Error("an extension that cannot be encoded goes unnoticed")
	}
}

func TestReadClient(t *testing.T) {
	for _, c := range []struct {
		name, raw string
		want      Implementation
	}{
		{"plain", `{"name":"a","version":"1"}`, Implementation{Name: "a", Version: "1"}},
		{"all text", `{"name":"a","title":"\u0062","version":"1","description":"d","websiteUrl":"w","more":{}}`, Implementation{Name: "a", Title: "b", Version: "1", Description: "d", WebsiteURL: "w"}},
		{"icons", `{"name":"a","version":"1","icons":[{"src":"s"}]}`, Implementation{Name: "a", Version: "1", Icons: []Icon{{Src: "s"}}}},
		{"null", `{"name":"a","title":null,"version":"1"}`, Implementation{Name: "a", Version: "1"}},
		{"no text", `{"name":"a","title":5,"version":"1"}`, Implementation{Name: "a", Version: "1"}},
		{"no text at all", `{"name":[],"version":{}}`, Implementation{}},
		{"empty", `{}`, Implementation{}},
		{"no object", `[]`, Implementation{}},
		{"nothing", ``, Implementation{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := readClient([]byte(c.raw)); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v", got)
			}
		})
	}
}
