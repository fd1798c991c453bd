package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// Long texts are decoded when the message is read. Tools get the same of them as of short ones, whatever stands beside them.
func TestLongTexts(t *testing.T) {
	type pair struct {
		A    string `json:"a"`
		N    int    `json:"n,omitempty"`
		B    string `json:"b,omitempty"`
		Many string `json:"mäny,omitempty"`
	}
	var box Toolbox
	AddTool(&box, Tool{Name: "typed"}, func(_ context.Context, p pair) (string, error) { return p.A + "|" + p.B + "|" + p.Many, nil })
	box.Add(Tool{Name: "raw"}, func(_ context.Context, a Arguments) (any, error) {
		first, _ := a.Text("a")
		second, _ := a.Text("b")
		third, _ := a.Text("mäny")
		return TextResult(first + "|" + second + "|" + third), nil
	})
	s := &Server{Lister: box.List, Caller: box.Call}
	long := strings.Repeat("line with \"quotes\", tab\t, größer 測試 😀 \\ and more\n", 40)
	tests := []struct{ name, a, b, many string }{
		{"short", "x", "y", "z"},
		{"long and short", long, "y", ""},
		{"short and long", "", long, long[:600]},
		{"all long", long, long + long, strings.Repeat("\n", 3000)},
		{"looks like an end", long + `"}}`, `"` + long, `\` + long},
	}
	for _, tt := range tests {
		for _, tool := range []string{"typed", "raw"} {
			t.Run(tt.name+", "+tool, func(t *testing.T) {
				quoted := func(s string) string { b, _ := json.Marshal(s); return string(b) }
				args := fmt.Sprintf(`"name":%q,"arguments":{ "a" : %s ,"b":%s,"n":3,"mäny":%s}`, tool, quoted(tt.a), quoted(tt.b), quoted(tt.many))
				payload := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + args + `}}`
				in, err := Inspect([]byte(payload))
				if err != nil {
					t.Fatal(err)
				}
				answers := map[string][]byte{
					"payload": s.Handle(t.Context(), []byte(payload)),
					"deliver": s.Deliver(t.Context(), Delivery{Message: &in, Revision: Versions[0]}, nil),
					"modern":  s.HandleModern(t.Context(), []byte(modern("1", "tools/call", ","+args)), nil),
					"batch":   bytes.Trim(s.Handle(t.Context(), []byte("["+payload+"]")), "[]"),
				}
				for way, answer := range answers {
					var got struct {
						Result struct {
							Content []struct{ Text string }
							IsError bool
						}
					}
					if err := json.Unmarshal(answer, &got); err != nil || got.Result.IsError || len(got.Result.Content) != 1 {
						t.Fatalf("%s: %v in %.200s", way, err, answer)
					}
					if want := tt.a + "|" + tt.b + "|" + tt.many; got.Result.Content[0].Text != want {
						t.Errorf("%s: %.200q, want %.200q", way, got.Result.Content[0].Text, want)
					}
				}
			})
		}
	}
}

// The values that the codec says to be one line are, and what may not be is looked at.
func TestOneLine(t *testing.T) {
	ugly := "a\nb\r\n\u2028\x00\""
	raw := RawContent("{\n\"type\":\"text\",\"text\":\"x\"}")
	s := &Server{Name: ugly}
	s.once.Do(s.build)
	tests := []struct {
		name string
		v    any
		want bool
	}{
		{"text", TextResult(ugly), true},
		{"blocks of text", &CallToolResult{Content: []Content{Text(ugly), &TextContent{Text: ugly}}}, true},
		{"failure", ErrorResult(ugly), true},
		{"modern text", &extra{server: s, result: TextResult(ugly)}, true},
		{"raw block", &CallToolResult{Content: []Content{Text("x"), raw}}, false},
		{"structured", &CallToolResult{StructuredContent: json.RawMessage("{\n}")}, false},
		{"meta", &CallToolResult{Meta: Meta{"x": json.RawMessage("{\n}")}}, false},
		{"meta of a block", &CallToolResult{Content: []Content{&TextContent{Meta: Meta{"x": json.RawMessage("{\n}")}}}}, false},
		{"nil", (*CallToolResult)(nil), false},
		{"modern raw block", &extra{server: s, result: &CallToolResult{Content: []Content{raw}}}, false},
		{"anything", json.RawMessage("[\n]"), false},
	}
	c := newCodec(nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := c.OneLine(tt.v)
			if got != tt.want {
				t.Errorf("OneLine is %v", got)
			}
			if b, err := c.Append(nil, tt.v); got && (err != nil || bytes.ContainsRune(b, '\n')) {
				t.Errorf("%q, %v", b, err)
			}
		})
	}
}
