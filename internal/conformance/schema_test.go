package conformance

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// definitions are the published JSON Schema of one revision, without its prose, made strict: where it lists the members of an object there are no others.
// The published ones leave all objects open, and so would not see that an older revision is sent what only a newer one knows.
type definitions struct {
	revision string
	key      string // the member they stand in
	raw      map[string]any
	doc      map[string]any
	resolved sync.Map // name -> func() *jsonschema.Resolved
}

func loadDefinitions(t *testing.T, revision string) *definitions {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "mcp", "testdata", "schema", revision+".facts.json"))
	if err != nil {
		t.Fatal(err)
	}
	d := &definitions{revision: revision, key: "$defs"}
	if err := json.Unmarshal(b, &d.doc); err != nil {
		t.Fatal(err)
	}
	if d.doc[d.key] == nil {
		d.key = "definitions"
	}
	d.raw = d.doc[d.key].(map[string]any)
	open := make(map[string]bool) // parts of an allOf, each of which sees the members of the others
	each(d.raw, func(m map[string]any) {
		parts, _ := m["allOf"].([]any)
		for _, p := range parts {
			p := p.(map[string]any)
			p["additionalProperties"] = true
			if ref, ok := p["$ref"].(string); ok {
				open[ref[strings.LastIndexByte(ref, '/')+1:]] = true
			}
		}
	})
	for name, def := range d.raw {
		if !open[name] && !strings.HasSuffix(name, "MetaObject") {
			shut(def)
		}
	}
	return d
}

// each visits all objects.
func each(v any, f func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		f(v)
		for _, x := range v {
			each(x, f)
		}
	case []any:
		for _, x := range v {
			each(x, f)
		}
	}
}

// shut makes a schema, and those in it, strict.
func shut(v any) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			shut(x)
		}
	case map[string]any:
		members, _ := v["properties"].(map[string]any)
		if _, says := v["additionalProperties"]; len(members) > 0 && !says {
			v["additionalProperties"] = false
		}
		for name, x := range members {
			if name != "inputSchema" && name != "outputSchema" && name != "_meta" { // open in fact
				shut(x)
			}
		}
		for name, x := range v {
			if name != "properties" {
				shut(x)
			}
		}
	}
}

// TestDefinitions makes sure that the check of the wire would find what it is there for.
func TestDefinitions(t *testing.T) {
	tests := []struct {
		name, revision, asked, payload string
		ok                             bool
	}{
		{"result", "2025-11-25", "tools/call", `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"x"}]}}`, true},
		{"result without content", "2025-11-25", "tools/call", `{"jsonrpc":"2.0","id":1,"result":{}}`, false},
		{"content of a later revision", "2024-11-05", "tools/call", `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"audio","data":"","mimeType":"audio/wav"}]}}`, false},
		{"member of a later revision", "2025-11-25", "tools/list", `{"jsonrpc":"2.0","id":1,"result":{"tools":[],"ttlMs":0}}`, false},
		{"title in an earlier revision", "2025-03-26", "tools/list", `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"x","title":"X","inputSchema":{"type":"object"}}]}}`, false},
		{"title", "2025-06-18", "tools/list", `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"x","title":"X","inputSchema":{"type":"object","$defs":{}}}]}}`, true},
		{"no resultType", "2026-07-28", "tools/call", `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`, false},
		{"no cache hints", "2026-07-28", "tools/list", `{"jsonrpc":"2.0","id":1,"result":{"tools":[],"resultType":"complete"}}`, false},
		{"cache hints", "2026-07-28", "tools/list", `{"jsonrpc":"2.0","id":1,"result":{"tools":[],"resultType":"complete","ttlMs":0,"cacheScope":"private"}}`, true},
		{"question", "2026-07-28", "tools/call", `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}}`, true},
		{"question of no kind", "2026-07-28", "tools/call", `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"ping"}}}}`, false},
		{"empty", "2025-11-25", "ping", `{"jsonrpc":"2.0","id":1,"result":{}}`, true},
		{"not empty", "2025-11-25", "ping", `{"jsonrpc":"2.0","id":1,"result":{"ok":true}}`, false},
		{"task", "2025-11-25", "tasks/get", `{"jsonrpc":"2.0","id":1,"result":{"taskId":"1","status":"working","createdAt":"","lastUpdatedAt":"","ttl":null}}`, true},
		{"task without ttl", "2025-11-25", "tasks/get", `{"jsonrpc":"2.0","id":1,"result":{"taskId":"1","status":"working","createdAt":"","lastUpdatedAt":""}}`, false},
		{"error", "2025-03-26", "x", `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"x"}}`, true},
		{"error without message", "2025-03-26", "x", `{"jsonrpc":"2.0","id":1,"error":{"code":-32601}}`, false},
		{"missing capability", "2026-07-28", "x", `{"jsonrpc":"2.0","id":1,"error":{"code":-32021,"message":"x","data":{"requiredCapabilities":{"sampling":{}}}}}`, true},
		{"missing capability without data", "2026-07-28", "x", `{"jsonrpc":"2.0","id":1,"error":{"code":-32021,"message":"x"}}`, false},
		{"progress", "2025-11-25", "", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,"message":"x"}}`, true},
		{"progress with a message too early", "2024-11-05", "", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,"message":"x"}}`, false},
		{"progress without token", "2025-11-25", "", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":null,"progress":1}}`, false},
		{"unknown notification", "2025-11-25", "", `{"jsonrpc":"2.0","method":"notifications/what"}`, false},
		{"request", "2025-11-25", "", `{"jsonrpc":"2.0","id":1,"method":"roots/list"}`, true},
		{"request where there are none", "2026-07-28", "", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, false},
		{"another version of JSON-RPC", "2025-11-25", "ping", `{"jsonrpc":"1.0","id":1,"result":{}}`, false},
	}
	all := make(map[string]*definitions)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if all[tt.revision] == nil {
				all[tt.revision] = loadDefinitions(t, tt.revision)
			}
			if err := all[tt.revision].message([]byte(tt.payload), tt.asked); (err == nil) != tt.ok {
				t.Errorf("got %v, want it accepted: %v", err, tt.ok)
			}
		})
	}
}

// has reports whether there is a definition.
func (d *definitions) has(name string) bool { return d.raw[name] != nil }

// validate checks a value against a definition.
func (d *definitions) validate(name string, value json.RawMessage) error {
	if !d.has(name) {
		return fmt.Errorf("revision %s has no %s", d.revision, name)
	}
	once, _ := d.resolved.LoadOrStore(name, sync.OnceValues(func() (*jsonschema.Resolved, error) {
		parts := make(map[string]any)
		d.reach(name, parts)
		b, err := json.Marshal(map[string]any{"$schema": d.doc["$schema"], d.key: parts, "$ref": "#/" + d.key + "/" + name})
		if err != nil {
			return nil, err
		}
		s := new(jsonschema.Schema)
		if err := json.Unmarshal(b, s); err != nil {
			return nil, err
		}
		return s.Resolve(nil)
	}))
	schema, err := once.(func() (*jsonschema.Resolved, error))()
	if err != nil {
		return fmt.Errorf("schema %s of %s: %w", name, d.revision, err)
	}
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return err
	}
	if err := schema.Validate(v); err != nil {
		return fmt.Errorf("no %s of %s: %w", name, d.revision, err)
	}
	return nil
}

// reach collects a definition and those it refers to.
func (d *definitions) reach(name string, into map[string]any) {
	if into[name] != nil {
		return
	}
	into[name] = d.raw[name]
	each(d.raw[name], func(m map[string]any) {
		if ref, ok := m["$ref"].(string); ok {
			d.reach(ref[strings.LastIndexByte(ref, '/')+1:], into)
		}
	})
}

// named returns the definition of the requests or notifications of a method; suffix is "Request" or "Notification".
func (d *definitions) named(method, suffix string) string {
	for name, def := range d.raw {
		members, _ := def.(map[string]any)["properties"].(map[string]any)
		m, _ := members["method"].(map[string]any)
		if m["const"] == method && strings.HasSuffix(name, suffix) {
			return name
		}
	}
	return ""
}

// methods returns the methods of one of ClientRequest, ServerRequest, ServerNotification.
func (d *definitions) methods(union string) (all []string) {
	parts, ok := d.raw[union].(map[string]any)["anyOf"].([]any)
	if !ok {
		parts = []any{d.raw[union]}
	}
	for _, p := range parts {
		def := p.(map[string]any)
		if ref, ok := def["$ref"].(string); ok {
			def = d.raw[ref[strings.LastIndexByte(ref, '/')+1:]].(map[string]any)
		}
		all = append(all, def["properties"].(map[string]any)["method"].(map[string]any)["const"].(string))
	}
	slices.Sort(all)
	return all
}

// message checks a message of the server. asked is the method of the request that a response belongs to.
func (d *definitions) message(payload []byte, asked string) error {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(payload, &m); err != nil {
		return err
	}
	switch {
	case string(m["jsonrpc"]) != `"2.0"`:
		return fmt.Errorf("jsonrpc is %s", m["jsonrpc"])
	case m["method"] != nil:
		var method string
		if err := json.Unmarshal(m["method"], &method); err != nil {
			return err
		}
		suffix := "Request"
		if m["id"] == nil {
			suffix = "Notification"
		}
		name := d.named(method, suffix)
		if name == "" {
			return fmt.Errorf("revision %s has no such message", d.revision)
		}
		if members := d.raw[name].(map[string]any)["properties"].(map[string]any); members["jsonrpc"] == nil {
			delete(m, "jsonrpc")
			delete(m, "id")
		}
		b, err := json.Marshal(m)
		if err != nil {
			return err
		}
		return d.validate(name, b)
	case m["error"] != nil:
		return d.validate(d.failure(m["error"]), payload)
	}
	name := d.result(asked, m["result"])
	if name == "EmptyResult" {
		if err := empty(m["result"]); err != nil {
			return err
		}
	}
	return d.validate(name, m["result"])
}

// failure returns the definition of an error answer.
func (d *definitions) failure(e json.RawMessage) string {
	var v struct{ Code int }
	_ = json.Unmarshal(e, &v)
	name := map[int]string{
		-32020: "HeaderMismatchError", -32021: "MissingRequiredClientCapabilityError", -32022: "UnsupportedProtocolVersionError",
		-32042: "URLElicitationRequiredError",
	}[v.Code]
	switch {
	case d.has(name):
		return name
	case d.has("JSONRPCErrorResponse"):
		return "JSONRPCErrorResponse"
	}
	return "JSONRPCError"
}

// result returns the definition of the result of a method.
func (d *definitions) result(method string, result json.RawMessage) string {
	var v struct {
		Type string `json:"resultType"`
		Task json.RawMessage
	}
	_ = json.Unmarshal(result, &v)
	name := strings.TrimSuffix(d.named(method, "Request"), "Request") + "Result"
	switch {
	case v.Type == "input_required":
		return "InputRequiredResult"
	case v.Task != nil && d.has("CreateTaskResult"):
		return "CreateTaskResult"
	case d.has(name):
		return name
	}
	return "EmptyResult"
}

func empty(result json.RawMessage) error {
	var v map[string]json.RawMessage
	if err := json.Unmarshal(result, &v); err != nil {
		return err
	}
	for name := range v {
		if name != "_meta" && name != "resultType" {
			return fmt.Errorf("an empty result has a member %q", name)
		}
	}
	return nil
}
