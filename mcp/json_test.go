package mcp

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPick(t *testing.T) {
	for _, c := range []struct {
		raw  string
		a, b string
		ok   bool
	}{
		{`{}`, "", "", true},
		{`{"a":1}`, "1", "", true},
		{"{ \"b\" :\t[1,{\"a\":2}] , \"a\":\"x,}\" }", `"x,}"`, `[1,{"a":2}]`, true},
		{`{"a":"\\","b":"\\\""}`, `"\\"`, `"\\\""`, true},
		{`{"a":null,"b":-1e5}`, "", "-1e5", true},
		{`{"x":{"a":1},"b":true}`, "", "true", true},
		{`{"\u0061":1}`, "1", "", true},
		{`{"a":1,"a":1}`, "", "", false},
		{`{"a":null,"a":1}`, "", "", false},
		{`{"x":1,"x":2}`, "", "", true},
		{`[]`, "", "", false}, {`"a"`, "", "", false}, {``, "", "", false},
	} {
		var v [2][]byte
		ok := pick([]byte(c.raw), []string{"a", "b"}, v[:])
		if ok != c.ok || ok && (string(v[0]) != c.a || string(v[1]) != c.b) {
			t.Errorf("%s: %q %q %t", c.raw, v[0], v[1], ok)
		}
	}
}

// On what is not JSON the readers may answer anything but must end, inside the slice.
func FuzzReaders(f *testing.F) {
	for _, s := range []string{`{"a":1}`, `{"a`, `{"a":`, `{"a":"\`, `{"a":[`, `{{{{`, `}`, `{"a":}`, `{"a" 1}`, "\"\\u12", `{"a":"\ud800\udc00"}`, `{,}`, `:::`} {
		f.Add([]byte(s))
	}
	n := compile(mustSchema(`{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}},"b":{"type":"object","properties":{}}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var v [1][]byte
		pick(raw, []string{"a"}, v[:])
		RawArguments(raw).Text("a")
		n.accepts(raw)
		depth(raw)
		stringValue(raw)
		unquote(raw)
		if json.Valid(raw) && utf8.Valid(raw) {
			var m map[string]json.RawMessage
			got, ok := RawArguments(raw).Lookup("a")
			if json.Unmarshal(raw, &m) == nil && m != nil {
				want, there := m["a"]
				if ok != there || ok && string(got) != string(want) {
					t.Errorf("%s: got %q %t, want %q %t", raw, got, ok, want, there)
				}
			}
			var s string
			if json.Unmarshal(raw, &s) == nil && raw[0] == '"' {
				if got, ok := stringValue(raw); !ok || got != s {
					t.Errorf("%s: got %q, want %q", raw, got, s)
				}
			}
		}
	})
}

// Strings go out so that they come back, and like encoding/json without HTML escapes would write them but for shorter escapes.
func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "a\"\\\n\t\r\x00\x1f", "é\u2028<>&", "\xff\xfe", "a\xe2\x82", strings.Repeat("x\\", 100)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out := appendString(nil, s)
		if !json.Valid(out) || !utf8.Valid(out) {
			t.Fatalf("%q: %q is not JSON", s, out)
		}
		var back string
		if err := json.Unmarshal(out, &back); err != nil || back != strings.ToValidUTF8(s, "\ufffd") && utf8.ValidString(s) {
			t.Errorf("%q came back as %q", s, back)
		}
		if got, ok := stringValue(out); !ok || got != back {
			t.Errorf("%q: stringValue says %q", out, got)
		}
	})
}
