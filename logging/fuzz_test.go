package logging

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzRedact plants a secret in every place between texts the fuzzer chose. It
// never comes out, and JSON stays JSON.
func FuzzRedact(f *testing.F) {
	f.Add("", "", uint(0))
	f.Add("see", "there", uint(3))
	f.Add("BeArer", "%", uint(77))  // a token inside a token
	f.Add("BeArer", "%", uint(109)) // a token that is an escaped URL
	f.Add(`{"a":"`, `"}`, uint(0x105))
	f.Add("https://a:", "@", uint(7))
	f.Add("Bearer", "&token=", uint(0x211))
	f.Add("?token=bearer ", "a://b:c/", uint(19))
	f.Add("😀\\u0000", "Cookie:", uint(24))
	f.Add("Authorization: Basic", "\\\"", uint(0x30a))
	const secret = "CANARY7f3a9Z"
	r, forms := NewRedactor("extra"), spell(secret)
	f.Fuzz(func(t *testing.T, before, after string, place uint) {
		if strings.Contains(before+after, "CANARY") {
			return
		}
		before, after = strings.ToValidUTF8(before, "?"), strings.ToValidUTF8(after, "?")
		depth := int(place>>8) % (maxNested + 1)
		place &= 0xff
		var line string
		if n := int(place) % (len(plants) + len(members)); n < len(plants) {
			// JSON counts as a secret's place only if it is the whole string.
			if text := fmt.Sprintf(plants[n], secret); plants[n][0] == '{' || plants[n][0] == '[' || plants[n][0] == ' ' {
				line = `{` + asJSON(before) + `:[` + asJSON(after) + `,` + asJSON(text) + `]}`
				depth = min(depth, maxNested-1)
			} else {
				line = `{"a":[` + asJSON(before+" "+text+" "+after) + `]}`
			}
		} else {
			line = `{` + asJSON(before) + `:[` + asJSON(after) + `,{"` + members[n-len(plants)] + `":[` + asJSON(secret+after) + `]}]}`
		}
		for range depth {
			line = `[` + asJSON(before) + `,` + asJSON(line) + `]`
		}
		out := r.Redact([]byte(line))
		if !json.Valid(out) {
			t.Fatalf("%s\nbecomes no JSON: %s", line, out)
		}
		if form := forms.in(out); form != "" {
			t.Fatalf("%s\nleaks %s: %s", line, form, out)
		}
	})
}

// FuzzRedactAnything feeds arbitrary bytes. Redact agrees with encoding/json on
// what is JSON, changes nothing but values and strings, and ends.
func FuzzRedactAnything(f *testing.F) {
	for _, seed := range []string{
		`{"token":1}`, `["https://u:p@h"]`, `[1,{"a":null}]`, `{"a" : "\u0062earer x"}`, `01`, `"\ud800"`, "[\"\xff\"]", `{"{\"token\":1}":"[]"}`, `-0.1E+2 `,
	} {
		f.Add([]byte(seed))
	}
	r := NewRedactor("extra")
	f.Fuzz(func(t *testing.T, line []byte) {
		out, ok := r.Append(nil, line)
		if want := json.Valid(line) && utf8.Valid(line); ok != want {
			t.Fatalf("%q taken for JSON: %v", line, ok)
		}
		if !ok {
			if string(out) != Failed {
				t.Fatalf("%q becomes %q", line, out)
			}
			return
		}
		if !json.Valid(out) || !utf8.Valid(out) {
			t.Fatalf("%q becomes no JSON: %q", line, out)
		}
		if !bytes.Contains(out, []byte(Redacted)) && !bytes.Equal(out, line) {
			t.Fatalf("%q becomes %q, though nothing was redacted", line, out)
		}
		_ = printable(string(out), true)
	})
}
