package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// shade writes itself as text, as enumerations do.
type shade int

func (s shade) MarshalText() ([]byte, error) { return []byte([]string{"light", "dark"}[s]), nil }
func (s *shade) UnmarshalText(b []byte) error {
	for i, name := range []string{"light", "dark"} {
		if name == string(b) {
			*s = shade(i)
			return nil
		}
	}
	return fmt.Errorf("no shade")
}

// pair writes itself as JSON of another kind than its own.
type pair struct{ A, B int }

func (p pair) MarshalJSON() ([]byte, error)  { return fmt.Appendf(nil, "[%d,%d]", p.A, p.B), nil }
func (p *pair) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &[]*int{&p.A, &p.B}) }

type held[T any] struct {
	V T `json:"v"`
}

// typed is a type of argument and result, one good value and one that is none, "" if there is no such.
type typed struct {
	name, schema, good, bad string
	add                     func(b *Toolbox)
}

func typeCase[T any](name, schema, good, bad string) typed {
	return typed{name, schema, good, bad, func(b *Toolbox) {
		AddTool(b, Tool{Name: "x"}, func(_ context.Context, in held[T]) (held[T], error) { return in, nil })
	}}
}

// What a type is written as is what its schema says, in both directions, also for types that write themselves.
func TestTypesAsWritten(t *testing.T) {
	type counts map[string]int
	for _, c := range []typed{
		typeCase[time.Duration]("duration", `{"type":"string"}`, `"1m30s"`, `5`),
		typeCase[*time.Duration]("pointer to a duration", `{"type":["null","string"]}`, `null`, `5`),
		typeCase[time.Time]("time", `{"type":"string"}`, `"2026-07-28T00:00:00Z"`, `5`),
		typeCase[json.Number]("number", `{"type":"number"}`, `1.25`, `"1"`),
		typeCase[*big.Int]("large integer", `{"type":["null","integer"]}`, `123456789012345678901234567890`, `"1"`),
		typeCase[netip.Addr]("address", `{"type":"string"}`, `"127.0.0.1"`, `{}`),
		typeCase[net.IP]("old address", `{"type":"string"}`, `"127.0.0.1"`, `[127,0,0,1]`),
		typeCase[shade]("enumeration", `{"type":"string"}`, `"dark"`, `1`),
		typeCase[[]shade]("list of those", `{"type":["null","array"],"items":{"type":"string"}}`, `["dark","light"]`, `[1]`),
		typeCase[map[shade]int]("keys of those", `{"type":["null","object"],"additionalProperties":{"type":"integer"}}`, `{"dark":1}`, `{"dark":"x"}`),
		typeCase[pair]("JSON of its own", `true`, `[1,2]`, ``),
		typeCase[map[int]string]("numbers as keys", `{"type":["null","object"],"additionalProperties":{"type":"string"}}`, `{"3":"x"}`, `{"3":4}`),
		typeCase[map[uint8]map[int]bool]("of such maps", `{"type":["null","object"],"additionalProperties":{"type":["null","object"],"additionalProperties":{"type":"boolean"}}}`, `{"3":{"-1":true}}`, `{"3":{"4":5}}`),
		typeCase[map[string]int]("map", `{"type":["null","object"],"additionalProperties":{"type":"integer"}}`, `null`, `[]`),
		typeCase[counts]("map with a name", `{"type":["null","object"],"additionalProperties":{"type":"integer"}}`, `{"a":1}`, `5`),
		typeCase[[]map[string]int]("list of maps", `{"type":["null","array"],"items":{"type":["null","object"],"additionalProperties":{"type":"integer"}}}`, `[null,{"a":1}]`, `[5]`),
		typeCase[[]byte]("bytes", `{"type":["null","string"],"contentEncoding":"base64"}`, `"aGk="`, `[1]`),
		typeCase[struct {
			N int   `json:"n,string" minLength:"1"`
			B *bool `json:"b,omitempty,string"`
		}]("numbers as text", `{"type":"object","properties":{"n":{"type":"string","minLength":1},"b":{"type":["null","string"]}},"required":["n"],"additionalProperties":false}`, `{"n":"5"}`, `{"n":5}`),
		typeCase[struct {
			A []byte `json:"a" title:"First"`
			B []byte `json:"b" title:"Second"`
			C shade  `json:"c,omitempty" title:"Third"`
			D shade  `json:"d,omitempty"`
		}]("tags of one are not of another", `{"type":"object","properties":{"a":{"type":["null","string"],"title":"First","contentEncoding":"base64"},`+
			`"b":{"type":["null","string"],"title":"Second","contentEncoding":"base64"},"c":{"type":"string","title":"Third"},"d":{"type":"string"}},"required":["a","b"],"additionalProperties":false}`, `{"a":"aGk=","b":null,"c":"dark"}`, `{"a":1,"b":null}`),
	} {
		t.Run(c.name, func(t *testing.T) {
			var b Toolbox
			c.add(&b)
			list, _ := b.List(t.Context())
			for side, schema := range map[string]any{"input": list[0].InputSchema, "output": list[0].OutputSchema} {
				text, err := json.Marshal(schema)
				want := `{"type":"object","properties":{"v":` + c.schema + `},"required":["v"],"additionalProperties":false}`
				if err != nil || string(text) != want {
					t.Errorf("%s:\ngot  %s\nwant %s", side, text, want)
				}
			}
			got := runTool(t, &b, "x", `{"v":`+c.good+`}`)
			if !strings.Contains(got, `"structuredContent":{"v":`+c.good) && c.name != "tags of one are not of another" || strings.Contains(got, "isError\":true") || strings.Contains(got, `"error"`) {
				t.Errorf("good: %s", got)
			}
			if got := runTool(t, &b, "x", `{"v":`+c.bad+`}`); c.bad != "" && !strings.Contains(got, "Invalid arguments for tool x: /v") {
				t.Errorf("bad: %s", got)
			}
		})
	}
}

// A map that is nil has no members, and what is no map is not made one.
func TestNilResults(t *testing.T) {
	var b Toolbox
	AddTool(&b, Tool{Name: "map"}, func(context.Context, struct{}) (map[string]int, error) { return nil, nil })
	AddTool(&b, Tool{Name: "inside"}, func(context.Context, struct{}) (held[map[string]int], error) { return held[map[string]int]{}, nil })
	AddTool(&b, Tool{Name: "list"}, func(context.Context, struct{}) ([]int, error) { return nil, nil })
	AddTool(&b, Tool{Name: "pointer"}, func(context.Context, struct{}) (*held[int], error) { return nil, nil })
	for name, want := range map[string]string{
		"map":     `"result":{"content":[{"type":"text","text":"{}"}],"structuredContent":{},"isError":false}`,
		"inside":  `"result":{"content":[{"type":"text","text":"{\"v\":null}"}],"structuredContent":{"v":null},"isError":false}`,
		"list":    `"result":{"content":[{"type":"text","text":"{\"result\":null}"}],"structuredContent":{"result":null},"isError":false}`,
		"pointer": `"error":{"code":-32603,"message":"Internal error"}`, // there is nothing that the schema would allow
	} {
		if got := runTool(t, &b, name, ""); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, want)
		}
	}
}

// Defaults are read as arguments are.
func TestDefaultsAsWritten(t *testing.T) {
	type in struct {
		Wait  time.Duration `json:"wait" default:"90s"`
		Shade shade         `json:"shade" default:"dark"`
	}
	var b Toolbox
	AddTool(&b, Tool{Name: "x"}, func(_ context.Context, in in) (string, error) { return fmt.Sprint(in.Wait, int(in.Shade)), nil })
	for arguments, want := range map[string]string{``: "1m30s 1", `{"wait":"2s","shade":"light"}`: "2s 0", `{"wait":"1h"}`: "1h0m0s 1"} {
		if got := runTool(t, &b, "x", arguments); got != text(want) {
			t.Errorf("%s: %s", arguments, got)
		}
	}
	if got := runTool(t, &b, "x", `{"wait":"soon"}`); !strings.Contains(got, `"isError":true`) || strings.Contains(got, "soon") {
		t.Errorf("got %s", got)
	}
}

// lenient takes its members in a way of its own.
type lenient struct {
	City string `json:"city"`
}

func (l *lenient) UnmarshalJSON(b []byte) error {
	var v struct{ City string }
	err := json.Unmarshal(b, &v)
	l.City = "city of " + v.City
	return err
}

// Arguments are members, also of a type that decodes itself; a result is what the type makes of itself.
func TestTypeDecodesItself(t *testing.T) {
	var b Toolbox
	AddTool(&b, Tool{Name: "in"}, func(_ context.Context, in lenient) (string, error) { return in.City, nil })
	AddTool(&b, Tool{Name: "pointer"}, func(_ context.Context, in *lenient) (string, error) { return in.City, nil })
	AddTool(&b, Tool{Name: "out"}, func(context.Context, struct{}) (pair, error) { return pair{1, 2}, nil })
	list, _ := b.List(t.Context())
	if text, _ := json.Marshal(list[0].InputSchema); string(text) != `{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false}` {
		t.Errorf("got %s", text)
	}
	for name, want := range map[string]string{"in": text("city of Bonn"), "pointer": text("city of Bonn")} {
		if got := runTool(t, &b, name, `{"city":"Bonn"}`); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := runTool(t, &b, "in", `{"city":5}`); !strings.Contains(got, "/city: want string") {
		t.Errorf("got %s", got)
	}
	if got := runTool(t, &b, "out", ``); !strings.Contains(got, `"structuredContent":{"result":[1,2]}`) {
		t.Errorf("got %s", got)
	}
}
