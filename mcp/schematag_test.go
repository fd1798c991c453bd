package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

type taggedFlat struct {
	Text  string  `json:"text,omitempty" minLength:"1" maxLength:"5" pattern:"^[^x]*$"`
	Count int     `json:"count" default:"7" minimum:"0" maximum:"100"`
	Small int8    `json:"small,omitempty" enum:"1,2,3"`
	Ratio float64 `json:"ratio,omitempty" exclusiveMinimum:"0" multipleOf:"0.5"`
	On    bool    `json:"on" default:"true"`
}

type inner struct {
	Unit string `json:"unit" enum:"C,F" default:"C" title:"Unit"`
	City string `json:"city" format:"city"`
}

type regional struct {
	Region string `json:"region" x-mcp-header:"Region"`
}

type taggedDeep struct {
	In     inner          `json:"in,omitzero"`
	Ptr    *inner         `json:"ptr,omitempty"`
	List   []inner        `json:"list,omitempty" minItems:"1" maxItems:"2"`
	Map    map[string]int `json:"map,omitempty" maxProperties:"1"`
	Tags   []string       `json:"tags" default:"[\"a\",\"b\"]" enum:"a,b,c" uniqueItems:"true"`
	Grid   [][]int        `json:"grid,omitempty" maximum:"9"`
	Maybe  *string        `json:"maybe,omitempty" enum:"x,y"`
	Factor *float64       `json:"factor" default:"1.5" minimum:"1"`
}

func TestTags(t *testing.T) {
	var b Toolbox
	AddTool(&b, Tool{Name: "flat"}, func(_ context.Context, in taggedFlat) (string, error) { return fmt.Sprintf("%+v", in), nil })
	AddTool(&b, Tool{Name: "deep"}, func(_ context.Context, in taggedDeep) (string, error) {
		out, err := json.Marshal(in)
		return string(out), err
	})
	bad := func(tool, why string) string { return toolError("Invalid arguments for tool " + tool + ": " + why) }
	for _, c := range []struct{ name, tool, arguments, want string }{
		{"defaults", "flat", `{}`, text("{Text: Count:7 Small:0 Ratio:0 On:true}")},
		{"defaults, overruled", "flat", `{"count":0,"on":false}`, text("{Text: Count:0 Small:0 Ratio:0 On:false}")},
		{"everything", "flat", `{"text":"abc","count":100,"small":2,"ratio":1.5}`, text("{Text:abc Count:100 Small:2 Ratio:1.5 On:true}")},
		{"escaped, the long way", "flat", `{"text":"\u0061\n"}`, text("{Text:a\n Count:7 Small:0 Ratio:0 On:true}")},
		{"too short", "flat", `{"text":""}`, bad("flat", "/text: want at least 1 characters, got 0")},
		{"too long", "flat", `{"text":"abcdef"}`, bad("flat", "/text: want at most 5 characters, got 6")},
		{"pattern", "flat", `{"text":"x"}`, bad("flat", `/text: want text that matches "^[^x]*$"`)},
		{"number of the enum", "flat", `{"small":4}`, bad("flat", "/small: want one of 1, 2, 3")},
		{"exclusive", "flat", `{"ratio":0}`, bad("flat", "/ratio: want a number above 0")},
		{"multiple", "flat", `{"ratio":0.7}`, bad("flat", "/ratio: want a number that is a multiple of 0.5")},
		{"everything wrong, in one go", "flat", `{"text":"xxxxxx","count":-1,"small":9,"other":1}`,
			bad("flat", `/count: want a number of at least 0; arguments: unknown member "other"; /small: want one of 1, 2, 3; /text: want at most 5 characters, got 6; /text: want text that matches "^[^x]*$"`)},
		{"null is no default", "flat", `{"count":null}`, bad("flat", "/count: want integer, got null")},
		{"deep defaults", "deep", `{}`, text(`{"in":{"unit":"C","city":""},"tags":["a","b"],"factor":1.5}`)},
		{"deep default beside a value", "deep", `{"in":{"city":"Oslo"},"tags":[],"factor":null}`, text(`{"in":{"unit":"C","city":"Oslo"},"tags":[],"factor":null}`)},
		{"no default behind a pointer", "deep", `{"ptr":{"city":"x"}}`, text(`{"in":{"unit":"C","city":""},"ptr":{"unit":"","city":"x"},"tags":["a","b"],"factor":1.5}`)},
		{"null where a pointer allows it", "deep", `{"maybe":null}`, text(`{"in":{"unit":"C","city":""},"tags":["a","b"],"factor":1.5}`)},
		{"in a field of a field", "deep", `{"in":{"unit":"K","city":"x"}}`, bad("deep", `/in/unit: want one of "C", "F"`)},
		{"behind a pointer", "deep", `{"ptr":{"unit":"K","city":"x"}}`, bad("deep", `/ptr/unit: want one of "C", "F"`)},
		{"items", "deep", `{"tags":["d"]}`, bad("deep", `/tags/0: want one of "a", "b", "c"`)},
		{"items of items", "deep", `{"grid":[[1,10]]}`, bad("deep", `/grid/0/1: want a number of at most 9`)},
		{"twice", "deep", `{"tags":["a","a"]}`, bad("deep", `/tags: want items that are all different`)},
		{"too few items", "deep", `{"list":[]}`, bad("deep", `/list: want at least 1 items, got 0`)},
		{"too many members", "deep", `{"map":{"a":1,"b":2}}`, bad("deep", `/map: want at most 1 members, got 2`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 2 { // no call leaves anything for the next
				if got := runTool(t, &b, c.tool, c.arguments); got != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
			}
		})
	}
}

func TestTagsShown(t *testing.T) {
	for _, c := range []struct {
		t    reflect.Type
		want string
	}{
		{reflect.TypeFor[taggedFlat](), `{"type":"object","properties":{"text":{"type":"string","minLength":1,"maxLength":5,"pattern":"^[^x]*$"},"count":{"type":"integer","default":7,"minimum":0,"maximum":100},"small":{"type":"integer","enum":[1,2,3],"minimum":-128,"maximum":127},"ratio":{"type":"number","multipleOf":0.5,"exclusiveMinimum":0},"on":{"type":"boolean","default":true}},"additionalProperties":false}`},
		{reflect.TypeFor[inner](), `{"type":"object","properties":{"unit":{"type":"string","title":"Unit","default":"C","enum":["C","F"]},"city":{"type":"string","format":"city"}},"required":["city"],"additionalProperties":false}`},
		{reflect.TypeFor[regional](), `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}},"required":["region"],"additionalProperties":false}`},
	} {
		s, _, err := inferSchema(c.t, true)
		if err != nil {
			t.Fatal(err)
		}
		var got, want any
		if json.Unmarshal(s.text, &got) != nil || json.Unmarshal([]byte(c.want), &want) != nil {
			t.Fatalf("not JSON: %s %s", s.text, c.want)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got  %s\nwant %s", s.text, c.want)
		}
	}
}

func TestBadTags(t *testing.T) {
	for _, c := range []struct {
		t   reflect.Type
		why string
	}{
		{reflect.TypeFor[struct {
			A int `minLength:"1"`
		}](), "field A of struct"},
		{reflect.TypeFor[struct {
			A string `minimum:"1"`
		}](), "the tag minimum is for numbers"},
		{reflect.TypeFor[struct {
			A int `minimum:"one"`
		}](), `"one" is no number`},
		{reflect.TypeFor[struct {
			A int `minimum:"NaN"`
		}](), `"NaN" is no number`},
		{reflect.TypeFor[struct {
			A string `maxLength:"-1"`
		}](), `"-1" is no count`},
		{reflect.TypeFor[struct {
			A int `enum:"1,b"`
		}](), `"b" is no number`},
		{reflect.TypeFor[struct {
			A bool `enum:"true"`
		}](), "the tag enum is for text and numbers"},
		{reflect.TypeFor[struct {
			A string `pattern:"("`
		}](), "pattern"},
		{reflect.TypeFor[struct {
			A string `pattern:"(?=a)"`
		}](), "pattern"},
		{reflect.TypeFor[struct {
			A int `default:"x"`
		}](), "not JSON"},
		{reflect.TypeFor[struct {
			A int `default:"\"x\""`
		}](), "want"},
		{reflect.TypeFor[struct {
			A int `default:"5" maximum:"4"`
		}](), "maximum"},
		{reflect.TypeFor[struct {
			A map[string]int `default:"{}"`
		}](), "the tag default is for"},
		{reflect.TypeFor[struct {
			B []struct {
				A int `minItems:"1"`
			}
		}](), "the tag minItems is for lists"},
	} {
		if _, err := newInput(c.t, nil); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%v: %v, want %q", c.t, err, c.why)
		}
	}
}
