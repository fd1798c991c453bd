package mcphttp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tandem-rpc/tandem/mcp"
)

const annotated = `{"type":"object","properties":{
	"region":{"type":"string","x-mcp-header":"Region"},
	"level":{"type":"integer","x-mcp-header":"level"},
	"dry":{"type":"boolean","x-mcp-header":"Dry"},
	"deep":{"type":"object","properties":{"er":{"type":"string","x-mcp-header":"Deeper"}}},
	"x-mcp-header":{"type":"string"},
	"list":{"type":"array","items":{"type":"object","properties":{"no":{"type":"string","x-mcp-header":"No"}}}},
	"any":{"x-mcp-header":"Any"},"many":{"type":["string"],"x-mcp-header":"Many"},"number":{"type":"number","x-mcp-header":"Number"},"plain":{"type":"string"}},
	"$defs":{"d":{"properties":{"no":{"type":"string","x-mcp-header":"Def"}}}}}`

func TestReadParams(t *testing.T) {
	got := map[string]string{}
	for _, p := range readParams([]byte(annotated)) {
		got[p.header] = strings.Join(p.path, ".") + " " + p.kind
	}
	want := map[string]string{"Mcp-Param-Region": "region string", "Mcp-Param-Level": "level integer", "Mcp-Param-Dry": "dry boolean", "Mcp-Param-Deeper": "deep.er string"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v", got)
	}
	if ps := readParams([]byte(strings.Repeat(`{"properties":{"x-mcp-header":`, 600) + "{}" + strings.Repeat("}}", 600))); ps != nil {
		t.Errorf("%v", ps)
	}
}

// What a header repeats must be the argument (MCP 2026-07-28, streamable HTTP, custom headers).
func TestParams(t *testing.T) {
	f := serveWith(t, nil, func(f *fixture) {
		// A Toolbox would refuse the annotations that do not count.
		tool := mcp.Tool{Name: "annotated", Description: "Have headers.", InputSchema: json.RawMessage(annotated)}
		f.srv.Lister = func(context.Context) ([]mcp.Tool, error) { return []mcp.Tool{{Name: "other"}, tool}, nil }
		f.srv.Caller = func(context.Context, string, mcp.Arguments) (any, error) { return mcp.TextResult("ok"), nil }
	})
	for _, c := range []struct {
		name, arguments string
		header          header
		bad             bool
	}{
		{name: "nothing", arguments: `{}`},
		{name: "nulls", arguments: `{"region":null,"level":null,"deep":null}`},
		{name: "not annotated", arguments: `{"plain":"x","number":1,"any":"x","x-mcp-header":"x"}`},
		{name: "equal", arguments: `{"region":"eu"}`, header: header{"Mcp-Param-Region": "eu"}},
		{name: "other letters in the header's name", arguments: `{"region":"eu"}`, header: header{"MCP-PARAM-REGION": "eu"}},
		{name: "missing", arguments: `{"region":"eu"}`, bad: true},
		{name: "other value", arguments: `{"region":"eu"}`, header: header{"Mcp-Param-Region": "us"}, bad: true},
		{name: "other letters", arguments: `{"region":"eu"}`, header: header{"Mcp-Param-Region": "EU"}, bad: true},
		{name: "header without argument", arguments: `{}`, header: header{"Mcp-Param-Region": "eu"}, bad: true},
		{name: "header with null", arguments: `{"region":null}`, header: header{"Mcp-Param-Region": "null"}, bad: true},
		{name: "escapes in the body", arguments: `{"reg\u0069on":"e\u0075"}`, header: header{"Mcp-Param-Region": "eu"}},
		{name: "encoded", arguments: `{"region":"Hello"}`, header: header{"Mcp-Param-Region": "=?base64?SGVsbG8=?="}},
		{name: "bad padding", arguments: `{"region":"Hello"}`, header: header{"Mcp-Param-Region": "=?base64?SGVsbG8?="}, bad: true},
		{name: "bad alphabet", arguments: `{"region":"Hello"}`, header: header{"Mcp-Param-Region": "=?base64?SGVs!!!bG8=?="}, bad: true},
		{name: "no prefix is a literal", arguments: `{"region":"SGVsbG8=?="}`, header: header{"Mcp-Param-Region": "SGVsbG8=?="}},
		{name: "no suffix is a literal", arguments: `{"region":"=?base64?SGVsbG8="}`, header: header{"Mcp-Param-Region": "=?base64?SGVsbG8="}},
		{name: "other letters of the prefix are a literal", arguments: `{"region":"=?BASE64?SGVsbG8=?="}`, header: header{"Mcp-Param-Region": "=?BASE64?SGVsbG8=?="}},
		{name: "empty", arguments: `{"region":""}`, header: header{"Mcp-Param-Region": ""}},
		{name: "empty, encoded", arguments: `{"region":""}`, header: header{"Mcp-Param-Region": "=?base64??="}},
		{name: "beyond ASCII", arguments: `{"region":"caf\u00e9"}`, header: header{"Mcp-Param-Region": "=?base64?Y2Fmw6k=?="}},
		{name: "integer", arguments: `{"level":42}`, header: header{"Mcp-Param-Level": "42"}},
		{name: "integer written otherwise", arguments: `{"level":42.0}`, header: header{"Mcp-Param-Level": "42"}},
		{name: "integer with a fraction in the header", arguments: `{"level":42}`, header: header{"Mcp-Param-Level": "42.0"}},
		{name: "negative", arguments: `{"level":-42}`, header: header{"Mcp-Param-Level": "-42"}},
		{name: "exponent in the body", arguments: `{"level":4.2e1}`, header: header{"Mcp-Param-Level": "42"}},
		{name: "other integer", arguments: `{"level":42}`, header: header{"Mcp-Param-Level": "43"}, bad: true},
		{name: "no integer", arguments: `{"level":42}`, header: header{"Mcp-Param-Level": "0x2a"}, bad: true},
		{name: "largest", arguments: `{"level":9007199254740991}`, header: header{"Mcp-Param-Level": "9007199254740991"}},
		{name: "too large", arguments: `{"level":9007199254740993}`, header: header{"Mcp-Param-Level": "9007199254740993"}, bad: true},
		{name: "boolean", arguments: `{"dry":true}`, header: header{"Mcp-Param-Dry": "true"}},
		{name: "boolean of other letters", arguments: `{"dry":true}`, header: header{"Mcp-Param-Dry": "True"}, bad: true},
		{name: "below", arguments: `{"deep":{"er":"x"}}`, header: header{"Mcp-Param-Deeper": "x"}},
		{name: "below, missing", arguments: `{"deep":{"er":"x"}}`, bad: true},
		{name: "not where it should be", arguments: `{"deep":5}`},
		{name: "of another type", arguments: `{"region":5,"level":"x","dry":1}`},
		{name: "twice", arguments: `{"region":"us","region":"eu"}`, header: header{"Mcp-Param-Region": "eu"}, bad: true},
		{name: "twice, once escaped", arguments: `{"region":"us","reg\u0069on":"eu"}`, header: header{"Mcp-Param-Region": "eu"}, bad: true},
		{name: "twice above", arguments: `{"deep":{"er":"x"},"deep":{}}`, bad: true},
		{name: "twice elsewhere", arguments: `{"x":1,"x":2,"region":"eu"}`, header: header{"Mcp-Param-Region": "eu"}},
		{name: "unknown header", arguments: `{}`, header: header{"Mcp-Param-Whatever": "x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := modernHeader("tools/call", "annotated")
			for k, v := range c.header {
				h[k] = v
			}
			a := f.do("POST", modernRequest("1", "tools/call", `,"name":"annotated","arguments":`+c.arguments), h)
			if c.bad {
				want{400, "-32020", "1"}.check(t, a)
			} else {
				want{200, "", "1"}.check(t, a)
			}
			// Revisions with initialize know nothing of it.
			a = f.do("POST", request("1", "tools/call", `{"name":"annotated","arguments":`+c.arguments+`}`), c.header)
			want{200, "", "1"}.check(t, a)
		})
	}
	h := modernHeader("tools/call", "annotated")
	h["Mcp-Param-Region"] = "eu"
	body := modernRequest("1", "tools/call", `,"name":"annotated","arguments":{"region":"eu"}`)
	for second, status := range map[string]int{"eu": 200, "us": 400} {
		if got := f.twice(body, h, "Mcp-Param-Region", second); got != status {
			t.Errorf("twice, %s: %d", second, got)
		}
	}
	if n := len(f.h.params.of); n != 1 {
		t.Errorf("%d schemas are kept", n)
	}
}

// Schemas come in many forms; lists can fail.
func TestParamsOfSchemas(t *testing.T) {
	var c params
	var m map[string]any
	_ = json.Unmarshal([]byte(annotated), &m)
	for name, schema := range map[string]any{"raw": json.RawMessage(annotated), "map": m, "pointer": &m} {
		for range 2 {
			if got := len(c.find(schema)); got != 4 {
				t.Errorf("%s: %d", name, got)
			}
		}
	}
	for _, schema := range []any{nil, json.RawMessage(nil), json.RawMessage(`{}`), 5, json.RawMessage(`"x-mcp-header"`), func() {}} {
		if got := c.find(schema); got != nil {
			t.Errorf("%v: %v", schema, got)
		}
	}
	for i := range maxSchemas + 10 {
		c.find(json.RawMessage(fmt.Sprintf(`{"properties":{"p%d":{"type":"string","x-mcp-header":"P"}}}`, i)))
	}
	if len(c.of) > maxSchemas {
		t.Errorf("%d schemas are kept", len(c.of))
	}
	for name, lister := range map[string]func(context.Context) ([]mcp.Tool, error){
		"none":   nil,
		"fails":  func(context.Context) ([]mcp.Tool, error) { return nil, fmt.Errorf("down") },
		"panics": func(context.Context) ([]mcp.Tool, error) { panic("asked for") },
	} {
		t.Run(name, func(t *testing.T) {
			f := serveWith(t, nil, func(f *fixture) { f.srv.Lister = lister })
			a := f.do("POST", modernRequest("1", "tools/call", `,"name":"echo","arguments":{}`), modernHeader("tools/call", "echo"))
			if a.status != 200 {
				t.Errorf("%+v", a)
			}
		})
	}
}
