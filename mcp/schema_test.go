package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestSchemaBounds(t *testing.T) {
	object := func(rest string) string { return `{"type":"object",` + rest + `}` }
	wide := `"properties":{` + strings.TrimSuffix(strings.Repeat(`"p":{},`, 1), ",")
	for i := range MaxSubschemas {
		wide += fmt.Sprintf(`,"p%d":{}`, i)
	}
	for _, c := range []struct{ name, text, why string }{
		{"reference to the network", object(`"properties":{"a":{"$ref":"https://127.0.0.1:1/s.json"}}`), "nothing is fetched"},
		{"reference to a file", object(`"properties":{"a":{"$ref":"file:///etc/passwd"}}`), "nothing is fetched"},
		{"reference beside", object(`"properties":{"a":{"$ref":"other.json#/a"}}`), "nothing is fetched"},
		{"reference to nowhere", object(`"properties":{"a":{"$ref":"#/$defs/b"}}`), "nothing is fetched"},
		{"reference to an unknown keyword", object(`"x":{"y":{}},"properties":{"a":{"$ref":"#/x/y"}}`), "nothing is fetched"},
		{"local reference", object(`"properties":{"a":{"$ref":"#/$defs/b"}},"$defs":{"b":{"type":"string"}}`), ""},
		{"reference with escapes", object(`"properties":{"a":{"$ref":"#/$defs/b~1c%20~0d"}},"$defs":{"b/c ~d":{"type":"string"}}`), ""},
		{"anchor", object(`"properties":{"a":{"$ref":"#here"}},"$defs":{"b":{"$anchor":"here","type":"string"}}`), ""},
		{"reference to an id inside", object(`"$id":"https://example.com/root","properties":{"a":{"$ref":"b"}},"$defs":{"b":{"$id":"b","type":"string"}}`), ""},
		{"recursive", object(`"properties":{"next":{"$ref":"#"}}`), ""},
		{"circular", object(`"$ref":"#"`), "leads back to itself"},
		{"circular over two", object(`"$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"anyOf":[{"$ref":"#/$defs/a"}]}}`), "leads back to itself"},
		{"circular in a definition", object(`"properties":{"x":{"not":{"$ref":"#/properties/x"}}}`), "leads back to itself"},
		{"dialect 2020-12", object(`"$schema":"https://json-schema.org/draft/2020-12/schema"`), ""},
		{"dialect draft-07", object(`"$schema":"http://json-schema.org/draft-07/schema#"`), ""},
		{"other dialect", object(`"$schema":"http://json-schema.org/draft-04/schema#"`), "dialect not supported"},
		{"too many", object(wide + "}"), "more than 2000 subschemas"},
		{"too long", object(`"description":"` + strings.Repeat("x", MaxSchemaSize) + `"`), "more than 262144"},
		{"ECMAScript's lookahead", object(`"properties":{"a":{"pattern":"(?=a)b"}}`), "pattern"},
		{"huge pattern", object(`"properties":{"a":{"pattern":"(abcdefghijklmnop){1000}"}}`), "too large"},
		{"pattern of names", object(`"patternProperties":{"(":{}}`), "pattern"},
		{"null", `null`, "schema"},
		{"wrong type of a keyword", object(`"required":"a"`), "schema"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := givenSchema(json.RawMessage(c.text))
			switch {
			case c.why == "" && err != nil:
				t.Error(err)
			case c.why != "" && (err == nil || !strings.Contains(err.Error(), c.why)):
				t.Errorf("got %v, want %q", err, c.why)
			case err == nil && string(s.text) != c.text:
				t.Errorf("text is %s", s.text)
			case err != nil && len(err.Error()) > 1000:
				t.Errorf("error of %d bytes", len(err.Error()))
			}
		})
	}
}

// A schema can ask for work that grows exponentially with the depth of the value.
func TestSchemaCost(t *testing.T) {
	bomb := `{"type":"object","allOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}`
	s, err := givenSchema(json.RawMessage(bomb))
	if err != nil {
		t.Fatal(err)
	}
	nested := func(n int) []byte { return []byte(strings.Repeat(`{"a":`, n) + `{}` + strings.Repeat(`}`, n)) }
	if err := s.judge(nested(8), "x"); err != nil {
		t.Errorf("shallow: %v", err)
	}
	begun := time.Now()
	if err := s.judge(nested(200), "x"); err != errExpensive {
		t.Errorf("deep: %v", err)
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	// Many alternatives that all fail are explained in bounded time as well.
	fan := `{"oneOf":[{"type":"object","properties":{"a":{"$ref":"#"}},"required":["b"]},{"type":"object","properties":{"a":{"$ref":"#"}},"required":["c"]}]}`
	if s, err = givenSchema(json.RawMessage(fan)); err != nil {
		t.Fatal(err)
	}
	if err := s.judge(nested(14), "x"); err == nil || len(err.Error()) > 4000 {
		t.Errorf("got %v", err)
	}
	list := []byte("[" + strings.Repeat("1e0,", 500_000) + "1]")
	if s, err = givenSchema(json.RawMessage(`{"items":{"type":"integer","not":{"const":5}}}`)); err != nil {
		t.Fatal(err)
	}
	if err := s.judge(list, "x"); err != nil {
		t.Errorf("a long list is not expensive: %v", err)
	}
}

// An enum costs what its values cost, for each value that is compared with them, and so does it to say what is wrong.
func TestEnumCost(t *testing.T) {
	var names, numbers []string
	for i := range 5000 {
		names, numbers = append(names, fmt.Sprintf("%q", fmt.Sprint("v", i))), append(numbers, fmt.Sprint(i))
	}
	schemaOf := func(format string, values []string) *schema {
		s, err := givenSchema(json.RawMessage(fmt.Sprintf(format, strings.Join(values, ","))))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	repeated := func(item, last string, n int) []byte { return []byte("[" + strings.Repeat(item+",", n) + last + "]") }
	one, list := `{"enum":[%s]}`, `{"type":"array","items":{"enum":[%s]}}`
	for _, c := range []struct {
		name   string
		schema *schema
		value  []byte
		want   string // the beginning of the error; "": none
	}{
		{"a few", schemaOf(list, names), repeated(`"v4999"`, `"v\u0030"`, 100), ""},
		{"a few numbers", schemaOf(list, numbers), repeated("4999", "0e0", 30), ""},
		{"a few with a wrong one", schemaOf(list, names), repeated(`"v4999"`, `"x"`, 100), `/100: want one of "v0", `},
		{"many", schemaOf(list, names), repeated(`"v4999"`, `"v0"`, 300_000), ""},
		{"many numbers", schemaOf(list, numbers), repeated("4999", "0", 600_000), ""},
		{"many with a wrong one", schemaOf(list, names), repeated(`"v4999"`, `"x"`, 300_000), errExpensive.Error()},
		{"many numbers with a wrong one", schemaOf(list, numbers), repeated("4999", "-1", 600_000), errExpensive.Error()},
		{"a large value", schemaOf(one, names), repeated(`{"a":[1,"x"]}`, `{}`, 50_000), `x: want one of "v0", `},
		{"a member", schemaOf(`{"enum":[%s,{"a":[1,null,true,{}]}]}`, names), []byte(`{"a":[1.0,null,true,{}]}`), ""},
	} {
		begun := time.Now()
		err := c.schema.validate(c.value, "x")
		if got := fmt.Sprint(err); c.want == "" && err != nil || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %.100s, want %q", c.name, got, c.want)
		}
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("%s: took %v", c.name, took)
		}
	}
}

func TestComplaints(t *testing.T) {
	for _, c := range []struct{ name, schema, value, want string }{
		{"reference", `{"properties":{"a":{"$ref":"#/$defs/s"}},"$defs":{"s":{"type":"string"}}}`, `{"a":1}`, "/a: want string, got integer"},
		{"const", `{"properties":{"a":{"const":{"x":1}}}}`, `{"a":2}`, `/a: want {"x":1}`},
		{"all", `{"allOf":[{"required":["a"]},{"required":["b"]}]}`, `{}`, `v: missing the required member "a"; v: missing the required member "b"`},
		{"any", `{"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{}`, `v: fits none of the 2 alternatives (v: missing the required member "a", or v: missing the required member "b")`},
		{"any, one near", `{"properties":{"a":{"anyOf":[{"type":"null"},{"type":"string","maxLength":1}]}}}`, `{"a":"xx"}`, `/a: want at most 1 characters, got 2`},
		{"one, two fit", `{"oneOf":[{"type":"object"},{"minProperties":0}]}`, `{}`, `v: fits 2 of the alternatives, and must fit one`},
		{"not", `{"properties":{"a":{"not":{"type":"string"}}}}`, `{"a":"x"}`, `/a: is what the schema excludes`},
		{"false", `{"properties":{"a":false}}`, `{"a":"x"}`, `/a: is not allowed`},
		{"if then", `{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{"a":1}`, `v: missing the required member "b"`},
		{"if else", `{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{}`, `v: missing the required member "c"`},
		{"dependent", `{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, `v: missing the required member "b", which goes with "a"`},
		{"dependent schema", `{"dependentSchemas":{"a":{"properties":{"c":{"type":"null"}}}}}`, `{"a":1,"c":2}`, `/c: want null, got integer`},
		{"names", `{"propertyNames":{"pattern":"^a"}}`, `{"b":1}`, `v: member "b" has a name that is not allowed`},
		{"pattern of names", `{"patternProperties":{"^a":{"type":"string"}},"additionalProperties":false}`, `{"ab":1,"c":2}`, `/ab: want string, got integer; v: unknown member "c"`},
		{"prefix", `{"prefixItems":[{"type":"string"}],"items":{"type":"integer"}}`, `[1,"x"]`, `/0: want string, got integer; /1: want integer, got string`},
		{"contains", `{"contains":{"type":"string"},"minContains":2}`, `["a",1]`, `v: want at least 2 of the items that the schema asks for, got 1`},
		{"unique", `{"uniqueItems":true}`, `[{"a":1,"b":2},{"b":2,"a":1}]`, `v: want items that are all different`},
		{"unevaluated", `{"properties":{"a":{}},"unevaluatedProperties":false}`, `{"b":1}`, `v: the value does not match the schema`},
		{"no more than ten", `{"items":{"type":"string"}}`, `[1,2,3,4,5,6,7,8,9,10,11,12]`, `/0: want string, got integer; /1: want string, got integer; /2: want string, got integer; /3: want string, got integer; /4: want string, got integer; /5: want string, got integer; /6: want string, got integer; /7: want string, got integer; /8: want string, got integer; /9: want string, got integer`},
		{"no secret", `{"additionalProperties":{"enum":["a"],"type":"string"}}`, `{"password":"hunter2"}`, `/password: want one of "a"`},
		{"one, none fits", `{"oneOf":[{"type":"string"},{"type":"array"}]}`, `{}`, `v: fits none of the 2 alternatives (v: want string, got object, or v: want array, got object)`},
		{"one, near one", `{"oneOf":[{"type":"object","required":["a"]},{"type":"array"}]}`, `{}`, `v: missing the required member "a"`},
		{"fewest items", `{"minItems":2}`, `[1]`, `v: want at least 2 items, got 1`},
		{"most items", `{"maxItems":1}`, `[1,2]`, `v: want at most 1 items, got 2`},
		{"fewest members", `{"minProperties":2}`, `{"a":1}`, `v: want at least 2 members, got 1`},
		{"most members", `{"maxProperties":1}`, `{"a":1,"b":2}`, `v: want at most 1 members, got 2`},
		{"contains none", `{"contains":{"type":"string"}}`, `[1]`, `v: want at least 1 of the items that the schema asks for, got 0`},
		{"contains too many", `{"contains":{"type":"string"},"maxContains":1}`, `["a","b"]`, `v: want at most 1 of the items that the schema speaks of, got 2`},
		{"least", `{"minimum":1.5}`, `1`, `v: want a number of at least 1.5`},
		{"above", `{"exclusiveMinimum":1}`, `1`, `v: want a number above 1`},
		{"below", `{"exclusiveMaximum":1}`, `1`, `v: want a number below 1`},
		{"multiple", `{"multipleOf":3}`, `4`, `v: want a number that is a multiple of 3`},
		{"several types", `{"type":["string","null"]}`, `1`, `v: want string, got integer`},
		{"null alone", `{"type":"null"}`, `1`, `v: want null, got integer`},
		{"values of all kinds", `{"enum":[null,true,1.5,"a",[1],{"b":2}]}`, `2`, `v: want one of null, true, 1.5, "a", [1], {"b":2}`},
		{"names that need quotes", `{"additionalProperties":{"type":"string"}}`, `{"a/b":1,"c:d":2,"e;f":3,"g\"h":4,"i\u007fj":5,"k\u200el":6}`,
			`/"a/b": want string, got integer; /"c:d": want string, got integer; /"e;f": want string, got integer; /"g\"h": want string, got integer; /"i\x7fj": want string, got integer; /"k\u200el": want string, got integer`},
		{"draft-07 dependencies", `{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"],"c":{"required":["d"]}}}`, `{"a":1,"c":2}`,
			`v: missing the required member "b", which goes with "a"; v: missing the required member "d"`},
		{"said once", `{"allOf":[{"required":["a"]},{"required":["a"]}]}`, `{}`, `v: missing the required member "a"`},
		{"unevaluated items", `{"prefixItems":[{}],"unevaluatedItems":false}`, `[1,2]`, `v: the value does not match the schema`},
		{"draft-07 tuple", `{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}],"additionalItems":{"type":"null"}}`, `[1,2]`, `/0: want string, got integer; /1: want null, got integer`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := givenSchema(json.RawMessage(c.schema))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.validate([]byte(c.value), "v"); err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestHeaderAnnotations(t *testing.T) {
	for _, c := range []struct{ name, schema, want string }{
		{"none", `{"type":"object"}`, ""},
		{"some", `{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"Region"},"o":{"type":"object","properties":{"b":{"type":"integer","x-mcp-header":"Shard"}}}}}`, "Region Shard"},
		{"a property of that name", `{"type":"object","properties":{"x-mcp-header":{"type":"string"}}}`, ""},
		{"on the root", `{"type":"object","x-mcp-header":"A"}`, "error"},
		{"no token", `{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"a b"}}}`, "error"},
		{"empty", `{"type":"object","properties":{"a":{"type":"string","x-mcp-header":""}}}`, "error"},
		{"no string", `{"type":"object","properties":{"a":{"type":"string","x-mcp-header":1}}}`, "error"},
		{"twice", `{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}`, "error"},
		{"number", `{"type":"object","properties":{"a":{"type":"number","x-mcp-header":"A"}}}`, "error"},
		{"types", `{"type":"object","properties":{"a":{"type":["string","null"],"x-mcp-header":"A"}}}`, "error"},
		{"no type", `{"type":"object","properties":{"a":{"x-mcp-header":"A"}}}`, "error"},
		{"in items", `{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{"b":{"type":"string","x-mcp-header":"A"}}}}}}`, "error"},
		{"in an alternative", `{"type":"object","anyOf":[{"properties":{"b":{"type":"string","x-mcp-header":"A"}}}]}`, "error"},
		{"in a definition", `{"type":"object","$defs":{"d":{"properties":{"b":{"type":"string","x-mcp-header":"A"}}}}}`, "error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := givenSchema(json.RawMessage(c.schema))
			if err != nil {
				t.Fatal(err)
			}
			names, err := s.checkHeaders()
			got := strings.Join(names, " ")
			if err != nil {
				got = "error"
			}
			if got != c.want {
				t.Errorf("got %q %v, want %q", got, err, c.want)
			}
		})
	}
}

// Whatever is given as a schema is refused or taken, and whatever it is taken for ends.
func FuzzGivenSchema(f *testing.F) {
	for _, text := range []string{
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/b"}},"$defs":{"b":{"type":"string","pattern":"^a+$"}}}`,
		`{"$dynamicRef":"#x","$defs":{"y":{"$dynamicAnchor":"x","type":"array","items":{"$dynamicRef":"#x"}}}}`,
		`{"$id":"https://example.com/a","$ref":"b","$defs":{"b":{"$id":"b","anyOf":[{"$ref":"a#/$defs/c"},{"not":{}}]},"c":{"const":1}}}`,
		`{"allOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}],"unevaluatedProperties":false}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{"items":[{"type":"string"}],"additionalItems":false}},"dependencies":{"a":["b"],"c":{"$ref":"#/definitions/a"}}}`,
		`{"patternProperties":{"^a":{"multipleOf":0}},"propertyNames":{"maxLength":2},"contains":{"enum":[null,[1],{"a":2}]},"minContains":0,"uniqueItems":true}`,
		`{"oneOf":[{"if":{"type":"number"},"then":{"minimum":1e308},"else":{"exclusiveMaximum":-1e308}}],"prefixItems":[true,false],"unevaluatedItems":{"type":["null","boolean"]}}`,
	} {
		for _, value := range []string{`{"a":{"a":{}},"b":1}`, `[1,[1],{"a":2}]`, `"aaa"`, `null`, `1e308`} {
			f.Add([]byte(text), []byte(value))
		}
	}
	f.Fuzz(func(t *testing.T, text, value []byte) {
		if !json.Valid(text) || !json.Valid(value) || len(text) > 4000 || len(value) > 4000 {
			return
		}
		s, err := givenSchema(json.RawMessage(text))
		if err != nil {
			return
		}
		_, _ = s.checkHeaders()
		_, _ = wrapOutput(s)
		fits := s.judge(value, "v")
		if fits == nil && len(s.anatomy.refs) == 0 && s.anatomy.explain(s.source, mustValue(value), "v") != "" && !strings.Contains(string(text), `"$schema"`) {
			t.Errorf("%s fits %s, and yet: %s", value, text, s.anatomy.explain(s.source, mustValue(value), "v"))
		}
		if s.fast.accepts(value) && fits != nil {
			t.Errorf("%s accepts %s: %v", text, value, fits)
		}
	})
}

func mustValue(raw []byte) (v any) {
	if err := json.Unmarshal(raw, &v); err != nil {
		panic(err)
	}
	return v
}
