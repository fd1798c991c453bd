package mcp

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

func mustSchema(text string) *jsonschema.Schema {
	s := new(jsonschema.Schema)
	if err := json.Unmarshal([]byte(text), s); err != nil {
		panic(err)
	}
	return s
}

var compilable = []string{
	`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`,
	`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"number"},"c":{"type":["null","array"],"items":{"type":"boolean"}}}}`,
	`{"type":"object","additionalProperties":{"type":"integer","minimum":-1,"maximum":300}}`,
	`{"type":"object","properties":{"u":{"type":"string","enum":["C","F"]},"o":{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"]}},"description":"d"}`,
	`{"type":["object","array"],"items":{"items":{"type":"null"}},"properties":{"p":{"type":"array"}}}`,
	`{"properties":{"a":{},"b":true}}`,
	`{"type":"object","properties":{"a1":{"type":"string"},"a2":{"type":"string"},"a3":{"type":"string"},"a4":{"type":"string"},"a5":{"type":"string"},"a6":{"type":"string"},"a7":{"type":"string"},"a8":{"type":"string"},"a9":{"type":"integer"}},"required":["a9"],"additionalProperties":false}`,
	`{"type":"object","properties":{"s":{"type":"string","minLength":2,"maxLength":4},"p":{"type":["string","null"],"pattern":"^[a-z]+$"},"e":{"enum":["a",1,null,2.5]},"c":{"const":"x"}}}`,
	`{"type":"object","properties":{"n":{"type":"number","minimum":0.5,"exclusiveMaximum":9},"m":{"type":"integer","multipleOf":3,"exclusiveMinimum":-3},"l":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"integer"}}}}`,
	`{"minLength":3,"minimum":10,"minItems":2,"maxItems":3}`,
	`{"type":"object","properties":{"t":{"multipleOf":0.1},"z":{"minimum":2,"exclusiveMinimum":1,"maximum":5,"exclusiveMaximum":6}},"x-y":1,"$defs":{"a":{"type":"string"}}}`,
}

func TestCompileSubset(t *testing.T) {
	for _, text := range compilable {
		if compile(mustSchema(text)) == nil {
			t.Errorf("not compiled: %s", text)
		}
	}
	for _, text := range []string{
		`{"$ref":"#/$defs/a","$defs":{"a":{}}}`, `{"anyOf":[{"type":"string"}]}`, `{"type":"array","uniqueItems":true}`,
		`{"type":"object","properties":{"a":{"pattern":"(abc){100}"}}}`, `{"type":"object","required":["undescribed"]}`, `{"const":1,"enum":[1]}`, `{"not":{}}`,
		`{"type":"object","patternProperties":{"a":{}}}`, `{"type":"object","properties":{"a":{"not":{}}}}`,
	} {
		if compile(mustSchema(text)) != nil {
			t.Errorf("compiled: %s", text)
		}
	}
}

func TestAccepts(t *testing.T) {
	text, mixed, bounded, enum, many := compilable[0], compilable[1], compilable[2], compilable[3], compilable[6]
	texts, numbers, untyped, edges := compilable[7], compilable[8], compilable[9], compilable[10]
	for _, c := range []struct {
		schema, raw string
		want        bool
	}{
		{text, `{"text":"a"}`, true}, {text, " { \"text\" : \"a\\\"}\" } ", true},
		{text, `{}`, false}, {text, `{"text":1}`, false}, {text, `{"text":"a","x":1}`, false}, {text, `[]`, false}, {text, `null`, false},
		{text, `{"text":"a","text":"b"}`, false}, {text, `{"te\u0078t":"a"}`, false}, {text, `{"text":"a"}{}`, false}, {text, ``, false},
		{mixed, `{"a":1,"b":1.5,"c":[true,false],"more":[{}]}`, true}, {mixed, `{"a":-0,"b":1,"c":null}`, true}, {mixed, `{"c":[]}`, true},
		{mixed, `{"a":1.0}`, false}, {mixed, `{"a":1e2}`, false}, {mixed, `{"a":9007199254740993}`, false}, {mixed, `{"b":1e400}`, false}, {mixed, `{"c":[1]}`, false},
		{bounded, `{"x":-1,"y":300}`, true}, {bounded, `{"x":-2}`, false}, {bounded, `{"x":301}`, false}, {bounded, `{"\u0078":1}`, false},
		{enum, `{"u":"C","o":{"x":1}}`, true}, {enum, `{"u":"K"}`, false}, {enum, `{"u":"\u0043"}`, false}, {enum, `{"o":{}}`, false},
		{many, `{"a1":"x","a9":1}`, true}, {many, `{"a1":"x"}`, false}, {many, `{"a0":"x","a9":1}`, false}, {many, `{"a9":1,"a9":1}`, false},
		{texts, `{"s":"ab"}`, true}, {texts, `{"s":"äöü€"}`, true}, {texts, `{"s":"a"}`, false}, {texts, `{"s":"abcde"}`, false}, {texts, `{"s":"äöü€x"}`, false},
		{texts, `{"s":"\u0061b"}`, false}, {texts, `{"p":"ab","c":"x"}`, true}, {texts, `{"p":null}`, true}, {texts, `{"p":"AB"}`, false}, {texts, `{"c":"y"}`, false},
		{texts, `{"e":"a"}`, true}, {texts, `{"e":1}`, true}, {texts, `{"e":2.5}`, true}, {texts, `{"e":null}`, true}, {texts, `{"e":true}`, false}, {texts, `{"e":[]}`, false},
		{texts, `{"e":{}}`, false}, {texts, `{"e":"1"}`, false}, {texts, `{"e":2}`, false},
		{numbers, `{"n":0.5,"m":6,"l":[1,2]}`, true}, {numbers, `{"n":9}`, false}, {numbers, `{"n":8.99}`, true}, {numbers, `{"n":0.4}`, false}, {numbers, `{"m":-3}`, false},
		{numbers, `{"m":4}`, false}, {numbers, `{"l":[]}`, false}, {numbers, `{"l":[1,2,3]}`, false}, {numbers, `{"l":["a"]}`, false},
		{untyped, `"abc"`, true}, {untyped, `"ab"`, false}, {untyped, `10`, true}, {untyped, `9.5`, false}, {untyped, `[1,{}]`, true}, {untyped, `[1]`, false}, {untyped, `true`, true},
		{edges, `{"z":2}`, true}, {edges, `{"z":1.5}`, false}, {edges, `{"z":5}`, true}, {edges, `{"z":5.5}`, false},
	} {
		if got := compile(mustSchema(c.schema)).accepts([]byte(c.raw)); got != c.want {
			t.Errorf("%s on %s: %t", c.schema, c.raw, got)
		}
	}
	var none *node
	if none.accepts([]byte(`{}`)) {
		t.Error("no schema accepts")
	}
}

// What the compiled schema accepts jsonschema-go accepts, and a typed decode that takes the short way gives what the long way gives.
func FuzzCompiled(f *testing.F) {
	for i := range compilable {
		for _, raw := range []string{
			`{"text":"a"}`, `{"a":1,"b":2.5,"c":[true]}`, `{"x":3}`, `{"u":"C","o":{"x":1}}`, `[[null]]`, `{"a":{}}`, `{"a9":1}`, `{"a":1.0}`, `{"text":"a","text":1}`,
			`{"text":"\ud800","count":1,"small":127,"size":1,"ratio":1e3,"on":true}`, `{"count":01}`, `{"p":[],"p":1}`, `{}`,
			`{"s":"abc","p":"x","e":1,"c":"x"}`, `{"s":"\u00e4\ud83d\ude00","p":null,"e":null}`, `{"n":8.5,"m":-0,"l":[1]}`, `{"t":0.3,"z":2}`, `"abc"`, `10.5`, `[1,2]`, `-0`,
		} {
			f.Add(i, []byte(raw))
		}
	}
	var schemas []*schema
	for _, text := range compilable {
		s, err := givenSchema(json.RawMessage(text))
		if err != nil {
			f.Fatal(err)
		}
		schemas = append(schemas, s)
	}
	in, err := newInput(reflect.TypeFor[flat](), nil)
	if err != nil || in.flat == nil {
		f.Fatal("not flat", err)
	}
	long := in
	long.flat = nil
	tagged, err := newInput(reflect.TypeFor[taggedFlat](), nil)
	if err != nil || tagged.flat == nil {
		f.Fatal("not flat", err)
	}
	taggedLong := tagged
	taggedLong.flat = nil
	f.Fuzz(func(t *testing.T, i int, raw []byte) {
		if !json.Valid(raw) || !utf8.Valid(raw) || depth(raw) > 500 {
			return
		}
		s := schemas[max(i%len(schemas), -(i%len(schemas)))]
		if s.fast.accepts(raw) {
			if err := s.judge(raw, "arguments"); err != nil {
				t.Errorf("%s accepts %s: %v", s.text, raw, err)
			}
		}
		var short, full flat
		errShort, errLong := in.decode(Arguments{raw: raw}, &short), long.decode(Arguments{raw: raw}, &full)
		if (errShort == nil) != (errLong == nil) || errShort == nil && short != full {
			t.Errorf("%s: short %+v %v, long %+v %v", raw, short, errShort, full, errLong)
		}
		var a, b taggedFlat
		errShort, errLong = tagged.decode(Arguments{raw: raw}, &a), taggedLong.decode(Arguments{raw: raw}, &b)
		if (errShort == nil) != (errLong == nil) || errShort == nil && a != b {
			t.Errorf("%s: short %+v %v, long %+v %v", raw, a, errShort, b, errLong)
		}
	})
}

var arguments4K = func() []byte {
	line := `\"The quick brown fox\" jumps over\nthe lazy dog, 24 \u00b0C and a <b>tag</b>. `
	return []byte(`{"text":"` + strings.Repeat(line, 4096/len(line)) + `"}`)
}()

func BenchmarkAccepts(b *testing.B) {
	n := compile(mustSchema(compilable[0]))
	for _, c := range []struct {
		name string
		raw  []byte
	}{{"small", []byte(`{"text":"hello, world"}`)}, {"4KiB", arguments4K}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !n.accepts(c.raw) {
					b.Fatal("no")
				}
			}
		})
	}
}

func TestAcceptsDoesNotAllocate(t *testing.T) {
	n := compile(mustSchema(compilable[0]))
	raw := []byte(`{"text":"hello, world"}`)
	if allocs := testing.AllocsPerRun(100, func() { n.accepts(raw) }); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
