package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

type address struct {
	Street string `json:"street"`
	Zip    *int   `json:"zip,omitempty"`
}

type order struct {
	City   string    `json:"city" jsonschema:"where to"`
	Days   uint8     `json:"days"`
	Ratio  float64   `json:"ratio,omitempty"`
	Rush   bool      `json:"rush,omitempty"`
	Tags   []string  `json:"tags,omitempty"`
	To     *address  `json:"to,omitempty"`
	When   time.Time `json:"when,omitzero"`
	Secret string    `json:"-"`
}

type flat struct {
	Text  string  `json:"text"`
	Count int     `json:"count,omitempty"`
	Small int8    `json:"small,omitempty"`
	Size  uint16  `json:"size,omitempty"`
	Ratio float32 `json:"ratio,omitempty"`
	On    bool    `json:"on,omitempty"`
}

// runTool runs a tool and returns the bytes of the answer.
func runTool(t *testing.T, b *Toolbox, name, arguments string) string {
	t.Helper()
	s := &Server{Lister: b.List, Caller: b.Call, Reporter: func(_ context.Context, _ *jsonrpc2.Request, err error) { t.Logf("reported: %v", err) }}
	payload := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `"}}`
	if arguments != "" {
		payload = strings.TrimSuffix(payload, "}}") + `,"arguments":` + arguments + `}}`
	}
	got := string(s.Handle(context.Background(), []byte(payload)))
	return strings.TrimSuffix(strings.TrimPrefix(got, `{"jsonrpc":"2.0","id":1,`), "}")
}

func text(s string) string {
	return `"result":{"content":[{"type":"text","text":` + string(appendString(nil, s)) + `}],"isError":false}`
}

func toolError(s string) string {
	return `"result":{"content":[{"type":"text","text":` + string(appendString(nil, s)) + `}],"isError":true}`
}

func TestAddToolInput(t *testing.T) {
	var b Toolbox
	AddTool(&b, Tool{Name: "order"}, func(_ context.Context, in order) (string, error) {
		out, err := json.Marshal(in)
		return string(out), err
	})
	AddTool(&b, Tool{Name: "flat"}, func(_ context.Context, in flat) (string, error) { return fmt.Sprintf("%+v", in), nil })
	AddTool(&b, Tool{Name: "none"}, func(context.Context, struct{}) (string, error) { return "ran", nil })
	AddTool(&b, Tool{Name: "map"}, func(_ context.Context, in map[string]int) (string, error) { return fmt.Sprint(in), nil })
	AddTool(&b, Tool{Name: "any"}, func(_ context.Context, in any) (string, error) { return fmt.Sprint(in), nil })
	AddTool(&b, Tool{Name: "raw", InputSchema: json.RawMessage(`{"type":"object","required":["a"]}`)}, func(_ context.Context, in json.RawMessage) (string, error) {
		return string(in), nil
	})
	AddTool(&b, Tool{Name: "choice", InputSchema: &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{
		"unit": {Type: "string", Enum: []any{"C", "F"}},
		"n":    {Type: "integer", Minimum: jsonschema.Ptr(1.0), Maximum: jsonschema.Ptr(3.0)},
		"s":    {Type: "string", MinLength: jsonschema.Ptr(2), Pattern: "^a"},
	}}}, func(_ context.Context, in map[string]any) (string, error) { return fmt.Sprint(in), nil })

	for _, c := range []struct{ name, tool, arguments, want string }{
		{"all", "order", `{"city":"a\"b","days":3,"ratio":1.5,"rush":true,"tags":["x"],"to":{"street":"s","zip":1}}`, text(`{"city":"a\"b","days":3,"ratio":1.5,"rush":true,"tags":["x"],"to":{"street":"s","zip":1}}`)},
		{"integer written as a decimal", "order", `{"city":"a","days":3.0}`, text(`{"city":"a","days":3}`)},
		{"missing", "order", `{"days":3}`, toolError(`Invalid arguments for tool order: arguments: missing the required member "city"`)},
		{"wrong type", "order", `{"city":5,"days":3}`, toolError(`Invalid arguments for tool order: /city: want string, got integer`)},
		{"null for a string", "order", `{"city":null,"days":3}`, toolError(`Invalid arguments for tool order: /city: want string, got null`)},
		{"null for a list and a pointer", "order", `{"city":"a","days":3,"tags":null,"to":null}`, text(`{"city":"a","days":3}`)},
		{"nested", "order", `{"city":"a","days":3,"to":{"street":1}}`, toolError(`Invalid arguments for tool order: /to/street: want string, got integer`)},
		{"in a list", "order", `{"city":"a","days":3,"tags":["a",2]}`, toolError(`Invalid arguments for tool order: /tags/1: want string, got integer`)},
		{"unknown", "order", `{"city":"a","days":3,"City":"b"}`, toolError(`Invalid arguments for tool order: arguments: unknown member "City"`)},
		{"unknown, forged", "order", `{"city":"a","days":3,"x\n\"y":1}`, toolError(`Invalid arguments for tool order: arguments: unknown member "x\n\"y"`)},
		{"out of bounds", "order", `{"city":"a","days":256}`, toolError(`Invalid arguments for tool order: /days: want a number of at most 255`)},
		{"negative", "order", `{"city":"a","days":-1}`, toolError(`Invalid arguments for tool order: /days: want a number of at least 0`)},
		{"beyond all numbers", "order", `{"city":"a","days":1,"ratio":1e999}`, toolError(`Invalid arguments for tool order: a number is out of range`)},
		{"a value is never repeated", "order", `{"city":["hunter2"],"days":1}`, toolError(`Invalid arguments for tool order: /city: want string, got array`)},
		{"flat", "flat", `{"text":"a\u00e9\n","count":-7,"small":-128,"size":65535,"ratio":0.5,"on":true}`, text("{Text:aé\n Count:-7 Small:-128 Size:65535 Ratio:0.5 On:true}")},
		{"flat, spaces", "flat", " { \"text\" : \"a\" ,\t\"on\" : false } ", text("{Text:a Count:0 Small:0 Size:0 Ratio:0 On:false}")},
		{"flat, escaped name", "flat", `{"te\u0078t":"a"}`, text("{Text:a Count:0 Small:0 Size:0 Ratio:0 On:false}")},
		{"flat, twice", "flat", `{"text":"a","text":"b"}`, toolError(`Invalid arguments for tool flat: /text: the member is there twice`)},
		{"flat, integer with an exponent", "flat", `{"text":"a","count":3e2,"size":1.0}`, text("{Text:a Count:300 Small:0 Size:1 Ratio:0 On:false}")},
		{"a time that is none", "order", `{"city":"a","days":3,"when":"soon"}`, toolError("Invalid arguments for tool order: when: want time.Time")},
		{"flat, too small", "flat", `{"text":"a","small":-129}`, toolError(`Invalid arguments for tool flat: /small: want a number of at least -128`)},
		{"flat, text for a number", "flat", `{"text":"a","count":"1"}`, toolError(`Invalid arguments for tool flat: /count: want integer, got string`)},
		{"flat, number for text", "flat", `{"text":1}`, toolError(`Invalid arguments for tool flat: /text: want string, got integer`)},
		{"flat, fraction for an integer", "flat", `{"text":"a","count":1.5}`, toolError(`Invalid arguments for tool flat: /count: want integer, got number`)},
		{"flat, partly set before it fails", "flat", `{"text":"a","count":3,"x":1}`, toolError(`Invalid arguments for tool flat: arguments: unknown member "x"`)},
		{"no arguments, absent", "none", ``, text("ran")},
		{"no arguments, null", "none", `null`, text("ran")},
		{"no arguments, empty", "none", `{}`, text("ran")},
		{"no arguments, some", "none", `{"a":1}`, toolError(`Invalid arguments for tool none: arguments: unknown member "a"`)},
		{"absent, but one is required", "flat", ``, toolError(`Invalid arguments for tool flat: arguments: missing the required member "text"`)},
		{"map", "map", `{"a":1,"b":2}`, text("map[a:1 b:2]")},
		{"map, wrong value", "map", `{"a":1,"b c":"x"}`, toolError(`Invalid arguments for tool map: /"b c": want integer, got string`)},
		{"any", "any", `{"a":1}`, text("map[a:1]")},
		{"raw", "raw", `{"a": [1]}`, text(`{"a": [1]}`)},
		{"raw, schema", "raw", `{"b":1}`, toolError(`Invalid arguments for tool raw: arguments: missing the required member "a"`)},
		{"enum", "choice", `{"unit":"C"}`, text("map[unit:C]")},
		{"enum, other", "choice", `{"unit":"K"}`, toolError(`Invalid arguments for tool choice: /unit: want one of "C", "F"`)},
		{"bounds", "choice", `{"n":4}`, toolError(`Invalid arguments for tool choice: /n: want a number of at most 3`)},
		{"length", "choice", `{"s":"a"}`, toolError(`Invalid arguments for tool choice: /s: want at least 2 characters, got 1`)},
		{"pattern", "choice", `{"s":"bb"}`, toolError(`Invalid arguments for tool choice: /s: want text that matches "^a"`)},
		{"unknown tool", "radar", `{}`, `"error":{"code":-32602,"message":"Unknown tool: radar"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := runTool(t, &b, c.tool, c.arguments)
			if c.name == "all" || c.name == "integer written as a decimal" || c.name == "null for a list and a pointer" {
				got = strings.Replace(got, `,\"when\":\"0001-01-01T00:00:00Z\"`, "", 1)
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestAddToolOutput(t *testing.T) {
	type point struct {
		X int      `json:"x"`
		L []string `json:"l"`
	}
	var b Toolbox
	fail := errors.New("disk full")
	AddTool(&b, Tool{Name: "string"}, func(context.Context, struct{}) (string, error) { return "s", nil })
	AddTool(&b, Tool{Name: "struct"}, func(context.Context, struct{}) (point, error) { return point{X: 1}, nil })
	AddTool(&b, Tool{Name: "pointer"}, func(context.Context, struct{}) (*point, error) { return &point{L: []string{"<"}}, nil })
	AddTool(&b, Tool{Name: "map"}, func(context.Context, struct{}) (map[string]int, error) { return map[string]int{"b": 1, "a": 2}, nil })
	AddTool(&b, Tool{Name: "int"}, func(context.Context, struct{}) (int, error) { return 0, nil })
	AddTool(&b, Tool{Name: "slice"}, func(context.Context, struct{}) ([]int, error) { return []int{1, 2}, nil })
	AddTool(&b, Tool{Name: "any object"[:3]}, func(context.Context, struct{}) (any, error) { return map[string]any{"a": nil}, nil })
	AddTool(&b, Tool{Name: "any-list"}, func(context.Context, struct{}) (any, error) { return []int{1}, nil })
	AddTool(&b, Tool{Name: "any-nil"}, func(context.Context, struct{}) (any, error) { return nil, nil })
	AddTool(&b, Tool{Name: "any-result"}, func(context.Context, struct{}) (any, error) { return ErrorResult("no"), nil })
	AddTool(&b, Tool{Name: "result"}, func(context.Context, struct{}) (*CallToolResult, error) {
		return &CallToolResult{Content: []Content{Text("a"), nil, Text("b")}, Meta: Meta{"k": 1}}, nil
	})
	AddTool(&b, Tool{Name: "result-value"}, func(context.Context, struct{}) (CallToolResult, error) {
		return CallToolResult{Content: []Content{Image("image/png", []byte{1})}}, nil
	})
	AddTool(&b, Tool{Name: "result-nil"}, func(context.Context, struct{}) (*CallToolResult, error) { return nil, nil })
	AddTool(&b, Tool{Name: "content"}, func(context.Context, struct{}) (Content, error) { return Audio("audio/wav", nil), nil })
	AddTool(&b, Tool{Name: "contents"}, func(context.Context, struct{}) ([]Content, error) {
		return []Content{&ResourceLink{Resource{URI: "u", Name: "n"}}, &EmbeddedResource{Resource: ResourceContents{URI: "u", Blob: []byte{}}}, RawContent(`{"type":"new"}`)}, nil
	})
	AddTool(&b, Tool{Name: "nothing"}, func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil })
	AddTool(&b, Tool{Name: "fails"}, func(context.Context, struct{}) (point, error) { return point{X: 1}, fail })
	AddTool(&b, Tool{Name: "refuses"}, func(context.Context, struct{}) (string, error) {
		return "", fmt.Errorf("wrapped: %w", jsonrpc2.Errorf(-7, "refused"))
	})
	AddTool(&b, Tool{Name: "panics"}, func(context.Context, struct{}) (string, error) { panic("secret") })
	small := json.RawMessage(`{"type":"object","properties":{"x":{"type":"integer","maximum":5}},"required":["x"]}`)
	AddTool(&b, Tool{Name: "schema", OutputSchema: small}, func(context.Context, struct{}) (*CallToolResult, error) {
		return &CallToolResult{StructuredContent: map[string]int{"x": 5}}, nil
	})
	AddTool(&b, Tool{Name: "schema-broken", OutputSchema: small}, func(context.Context, struct{}) (any, error) { return map[string]int{"x": 6}, nil })
	AddTool(&b, Tool{Name: "schema-forgotten", OutputSchema: small}, func(context.Context, struct{}) (*CallToolResult, error) {
		return &CallToolResult{Content: []Content{Text("only text")}}, nil
	})
	AddTool(&b, Tool{Name: "schema-error", OutputSchema: small}, func(context.Context, struct{}) (any, error) { return ErrorResult("no"), nil })
	AddTool(&b, Tool{Name: "unencodable"}, func(context.Context, struct{}) (any, error) { return func() {}, nil })

	both := func(s string) string {
		return `"result":{"content":[{"type":"text","text":` + string(appendString(nil, s)) + `}],"structuredContent":` + s + `,"isError":false}`
	}
	const internal = `"error":{"code":-32603,"message":"Internal error"}`
	for _, c := range []struct{ tool, want string }{
		{"string", text("s")},
		{"struct", both(`{"x":1,"l":null}`)},
		{"pointer", both(`{"x":0,"l":["<"]}`)},
		{"map", both(`{"a":2,"b":1}`)},
		{"int", both(`{"result":0}`)},
		{"slice", both(`{"result":[1,2]}`)},
		{"any", both(`{"a":null}`)},
		{"any-list", text(`[1]`)},
		{"any-nil", `"result":{"content":[],"isError":false}`},
		{"any-result", toolError("no")},
		{"result", `"result":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"isError":false,"_meta":{"k":1}}`},
		{"result-value", `"result":{"content":[{"type":"image","data":"AQ==","mimeType":"image/png"}],"isError":false}`},
		{"result-nil", `"result":{"content":[],"isError":false}`},
		{"content", `"result":{"content":[{"type":"audio","data":"","mimeType":"audio/wav"}],"isError":false}`},
		{"contents", `"result":{"content":[{"type":"resource_link","uri":"u","name":"n"},{"type":"resource","resource":{"uri":"u","blob":""}},{"type":"new"}],"isError":false}`},
		{"nothing", `"result":{"content":[],"isError":false}`},
		{"fails", toolError("disk full")},
		{"refuses", `"error":{"code":-7,"message":"refused"}`},
		{"panics", internal},
		{"schema", both(`{"x":5}`)},
		{"schema-broken", internal},
		{"schema-forgotten", internal},
		{"schema-error", toolError("no")},
		{"unencodable", internal},
	} {
		t.Run(c.tool, func(t *testing.T) {
			if got := runTool(t, &b, c.tool, ""); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestSchemasShown(t *testing.T) {
	var b Toolbox
	AddTool(&b, Tool{Name: "a"}, func(context.Context, order) (address, error) { return address{}, nil })
	AddTool(&b, Tool{Name: "b"}, func(context.Context, struct{}) ([]int, error) { return nil, nil })
	AddTool(&b, Tool{Name: "c", InputSchema: json.RawMessage(`{ "type": "object",  "x-y": 1 }`)}, func(context.Context, any) (any, error) { return nil, nil })
	AddTool(&b, Tool{Name: "d"}, func(context.Context, map[string]string) (string, error) { return "", nil })
	b.Add(Tool{Name: "e"}, func(context.Context, Arguments) (any, error) { return nil, nil })
	AddTool(&b, Tool{Name: "f"}, func(context.Context, *flat) (json.RawMessage, error) { return nil, nil })
	list, err := b.List(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][2]string{}
	for _, tool := range list {
		in, _ := json.Marshal(tool.InputSchema)
		out, _ := json.Marshal(tool.OutputSchema)
		got[tool.Name] = [2]string{string(in), string(out)}
	}
	want := map[string][2]string{
		"a": {`{"type":"object","properties":{"city":{"type":"string","description":"where to"},"days":{"type":"integer","minimum":0,"maximum":255},"ratio":{"type":"number"},"rush":{"type":"boolean"},"tags":{"type":["null","array"],"items":{"type":"string"}},"to":{"type":["null","object"],"properties":{"street":{"type":"string"},"zip":{"type":["null","integer"]}},"required":["street"],"additionalProperties":false},"when":{"type":"string"}},"required":["city","days"],"additionalProperties":false}`,
			`{"type":"object","properties":{"street":{"type":"string"},"zip":{"type":["null","integer"]}},"required":["street"],"additionalProperties":false}`},
		"b": {`{"type":"object","properties":{},"additionalProperties":false}`,
			`{"type":"object","properties":{"result":{"type":["null","array"],"items":{"type":"integer"}}},"required":["result"]}`},
		"c": {`{"type":"object","x-y":1}`, `null`},
		"d": {`{"type":"object","properties":{},"additionalProperties":{"type":"string"}}`, `null`},
		"e": {`{"type":"object","properties":{}}`, `null`},
		"f": {`{"type":"object","properties":{"text":{"type":"string"},"count":{"type":"integer"},"small":{"type":"integer","minimum":-128,"maximum":127},"size":{"type":"integer","minimum":0,"maximum":65535},"ratio":{"type":"number"},"on":{"type":"boolean"}},"required":["text"],"additionalProperties":false}`, `null`},
	}
	for name, w := range want {
		for i, side := range []string{"input", "output"} {
			if got[name][i] != w[i] {
				t.Errorf("%s %s:\ngot  %s\nwant %s", name, side, got[name][i], w[i])
			}
		}
	}
}

func TestToolNames(t *testing.T) {
	for _, c := range []struct{ name, why string }{
		{"", "must not be empty"}, {"New Tool", `has ' '`}, {"a\\b", `has '\\'`}, {"a/b", ""}, {"café", `has 'é'`}, {"a\nb", `has '\n'`}, {"a\xffb", "has"},
		{strings.Repeat("a", 129), "129 bytes long, more than 128"},
		{strings.Repeat("a", 128), ""}, {"a.b", ""}, {"A-b_9", ""},
		{"taken", "second tool"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b Toolbox
			b.Add(Tool{Name: "taken"}, func(context.Context, Arguments) (any, error) { return nil, nil })
			defer func() {
				got := fmt.Sprint(recover())
				if c.why == "" && got != "<nil>" || !strings.Contains(got, c.why) {
					t.Errorf("panic %q, want %q", got, c.why)
				}
				if strings.Contains(got, "\n") {
					t.Errorf("raw name in %q", got)
				}
			}()
			AddTool(&b, Tool{Name: c.name}, func(context.Context, struct{}) (string, error) { return "", nil })
		})
	}
}

func TestBadTools(t *testing.T) {
	none := func(context.Context, struct{}) (string, error) { return "", nil }
	raw := func(context.Context, Arguments) (any, error) { return nil, nil }
	deep := strings.Repeat(`{"items":`, 70) + `{}` + strings.Repeat(`}`, 70)
	for _, c := range []struct {
		name string
		add  func(b *Toolbox)
		why  string
	}{
		{"no function", func(b *Toolbox) { AddTool[struct{}, string](b, Tool{Name: "x"}, nil) }, "without a function"},
		{"no raw function", func(b *Toolbox) { b.Add(Tool{Name: "x"}, nil) }, "without a function"},
		{"input is no object", func(b *Toolbox) {
			AddTool(b, Tool{Name: "x"}, func(context.Context, int) (string, error) { return "", nil })
		}, "must have the type object"},
		{"input has a channel", func(b *Toolbox) {
			AddTool(b, Tool{Name: "x"}, func(context.Context, struct{ C chan int }) (string, error) { return "", nil })
		}, "input of tool"},
		{"output has a channel", func(b *Toolbox) {
			AddTool(b, Tool{Name: "x"}, func(context.Context, struct{}) (struct{ C chan int }, error) { return struct{ C chan int }{}, nil })
		}, "output of tool"},
		{"schema is no object schema", func(b *Toolbox) { AddTool(b, Tool{Name: "x", InputSchema: json.RawMessage(`{"type":"string"}`)}, none) }, "must have the type object"},
		{"output schema is no schema", func(b *Toolbox) { AddTool(b, Tool{Name: "x", OutputSchema: json.RawMessage(`true`)}, none) }, "must be an object"},
		{"raw schema is no object schema", func(b *Toolbox) { b.Add(Tool{Name: "x", InputSchema: json.RawMessage(`{}`)}, raw) }, "must have the type object"},
		{"raw output schema", func(b *Toolbox) { b.Add(Tool{Name: "x", OutputSchema: json.RawMessage(`{"type":5}`)}, raw) }, "output of tool"},
		{"header on a number", func(b *Toolbox) {
			b.Add(Tool{Name: "x", InputSchema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"number","x-mcp-header":"A"}}}`)}, raw)
		}, "x-mcp-header"},
		{"icon", func(b *Toolbox) { b.Add(Tool{Name: "x", Icons: []Icon{{Src: "javascript:alert(1)"}}}, raw) }, "icon 0"},
		{"timeout", func(b *Toolbox) { b.Add(Tool{Name: "x", Timeout: -1}, raw) }, "must not be negative"},
		{"tag", func(b *Toolbox) {
			AddTool(b, Tool{Name: "x"}, func(context.Context, struct {
				A int `pattern:"a"`
			}) (string, error) {
				return "", nil
			})
		}, "the tag pattern is for text"},
		{"schema is no JSON", func(b *Toolbox) { AddTool(b, Tool{Name: "x", InputSchema: json.RawMessage(`{`)}, none) }, "schema"},
		{"schema from the network", func(b *Toolbox) {
			AddTool(b, Tool{Name: "x", InputSchema: json.RawMessage(`{"type":"object","properties":{"a":{"$ref":"https://127.0.0.1:1/schema"}}}`)}, none)
		}, "schema"},
		{"schema without end", func(b *Toolbox) {
			AddTool(b, Tool{Name: "x", InputSchema: json.RawMessage(`{"type":"object","properties":{"a":` + deep + `}}`)}, none)
		}, "more than 64"},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, c.why) || !strings.Contains(got, `"x"`) {
					t.Errorf("panic %q, want %q", got, c.why)
				}
			}()
			c.add(new(Toolbox))
		})
	}
}

// Tools come and go while others list and call.
func TestToolboxChanges(t *testing.T) {
	var b Toolbox
	if list, err := b.List(context.Background()); len(list) != 0 || err != nil {
		t.Errorf("empty: %v %v", list, err)
	}
	ok := func(context.Context, Arguments) (any, error) { return 1, nil }
	b.Add(Tool{Name: "b"}, ok)
	b.Add(Tool{Name: "a"}, ok)
	list, _ := b.List(context.Background())
	if len(list) != 2 || list[0].Name != "a" {
		t.Errorf("not in order: %v", list)
	}
	list[0].Name = "changed" // the slice is the caller's
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			name := fmt.Sprint("t", i)
			for range 50 {
				b.Add(Tool{Name: name}, ok)
				if v, err := b.Call(context.Background(), name, RawArguments(nil)); v != 1 || err != nil {
					t.Error(v, err)
				}
				list, _ := b.List(context.Background())
				if !reflect.DeepEqual(list[0].Name, "a") {
					t.Errorf("first is %s", list[0].Name)
				}
				if b.Remove(name, name) != 1 {
					t.Error("not removed")
				}
			}
		})
	}
	wg.Wait()
	var e *jsonrpc2.Error
	if _, err := b.Call(context.Background(), "t0", RawArguments(nil)); !errors.As(err, &e) || e.Message != "Unknown tool: t0" {
		t.Errorf("got %v", err)
	}
}

// A tool that gives up because it was cancelled has no result; one that hits a deadline of its own has.
func TestToolContexts(t *testing.T) {
	var b Toolbox
	AddTool(&b, Tool{Name: "x"}, func(ctx context.Context, _ struct{}) (string, error) {
		return "", context.DeadlineExceeded
	})
	ctx, stop := context.WithCancel(context.Background())
	if v, err := b.Call(ctx, "x", RawArguments(nil)); err != nil || !v.(*CallToolResult).IsError {
		t.Errorf("own deadline: %v %v", v, err)
	}
	stop()
	if v, err := b.Call(ctx, "x", RawArguments(nil)); v != nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cancelled: %v %v", v, err)
	}
}
