package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
)

func TestMemberTwice(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", `{}`, ""},
		{"none", `{"a":1,"b":{"a":1,"b":[{"a":1},{"a":2}]}}`, ""},
		{"a value", `"a"`, ""},
		{"names in a text", `{"a":"{\"a\":1,\"a\":2}"}`, ""},
		{"outside", `{"a":1,"b":2,"a":1}`, "/a"},
		{"one escaped", `{"a":1,"\u0061":2}`, "/a"},
		{"inside", `{"o":{"a":1,"a":2}}`, "/o/a"},
		{"in a list", ` [ 1 , { "a" : [ [ ] , { "b" : 1 , "b" : 2 } ] } ] `, "/1/a/1/b"},
		{"another case is another name", `{"a":1,"A":2}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := memberTwice([]byte(c.text)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func FuzzMemberTwice(f *testing.F) {
	for _, s := range []string{`{"a":{"b":1,"b":2}}`, `[{"a":1},{"a":1}]`, `[[],[1,2],{}]`, `{"\ud800":1,"\ud801":2}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !json.Valid(text) || depth(text) > 512 {
			return
		}
		var again bytes.Buffer
		var v any
		if json.Unmarshal(text, &v) != nil {
			return
		}
		_ = json.NewEncoder(&again).Encode(v) // has none twice, whatever text has
		if at := memberTwice(again.Bytes()); at != "" {
			t.Errorf("%s: %s", again.Bytes(), at)
		}
		_ = memberTwice(text)
	})
}

// Of a member that is there twice the schema would see one, and the function both.
func TestArgumentsTwice(t *testing.T) {
	type opts struct {
		N    int    `json:"n,omitempty" maximum:"10"`
		Mode string `json:"mode,omitempty"`
	}
	type in struct {
		O opts    `json:"o"`
		P *opts   `json:"p,omitempty"`
		L []opts  `json:"l,omitempty"`
		M string  `json:"m,omitempty"`
		F float64 `json:"f,omitempty" maximum:"10"`
	}
	open := json.RawMessage(`{"type":"object","properties":{"o":{"type":"object","properties":{"n":{"maximum":10}}},"f":{"maximum":10}},"anyOf":[{},{}]}`)
	for tool, given := range map[string]any{"inferred": nil, "given": open} {
		var box Toolbox
		AddTool(&box, Tool{Name: "t", InputSchema: given}, func(_ context.Context, v in) (in, error) {
			if v.O.N > 10 || v.P != nil && v.P.N > 10 || v.F > 10 || len(v.L) > 0 && v.L[0].N > 10 {
				t.Errorf("%s: got %+v", tool, v)
			}
			return v, nil
		})
		for _, a := range []string{
			`{"o":{"n":99,"mode":"x"},"o":{"mode":"y"}}`, `{"o":{"n":99,"n":1}}`, `{"o":{"n":1,"n":99}}`, `{"o":{},"p":{"n":99},"p":{}}`,
			`{"o":{},"l":[{"n":99}],"l":[{}]}`, `{"o":{},"f":99,"f":1}`, `{"o":{},"f":99,"\u0066":1}`,
		} {
			res, err := box.Call(t.Context(), "t", Arguments{raw: []byte(a)})
			r, ok := res.(*CallToolResult)
			if text := textOf(r); err != nil || !ok || !r.IsError || !strings.Contains(text, "twice") && !strings.Contains(text, "at most 10") {
				t.Errorf("%s: %s: %+v %v", tool, a, res, err)
			}
		}
	}
}

func textOf(r *CallToolResult) string {
	if r == nil || len(r.Content) == 0 {
		return ""
	}
	text, _ := r.Content[0].(*TextContent)
	if text == nil {
		return ""
	}
	return text.Text
}
