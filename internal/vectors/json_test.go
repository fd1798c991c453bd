package vectors

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestCanonical(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`1`, `1.0`, true}, {`1`, `10e-1`, true}, {`100`, `1E2`, true}, {`1e+2`, `100.00`, true}, {`0`, `-0.0e5`, true},
		{`0.001`, `1e-3`, true}, {`-1`, `1`, false}, {`1`, `"1"`, false}, {`1e400`, `1e401`, false}, {`1e400`, `10e399`, true},
		{`9007199254740993`, `9007199254740992`, false}, {`9007199254740993`, `9007199254740993.0`, true},
		{`1e99999999999999999999`, `10e99999999999999999998`, true}, {`1.0000000000000000001`, `1`, false},
		{`{}`, `[]`, false}, {`null`, `{}`, false}, {`0`, `false`, false}, {`""`, `null`, false}, {`[null]`, `[]`, false},
		{`{"a":1,"b":2}`, ` { "b" : 2 , "a" : 1 } `, true}, {`{"a":1}`, `{"A":1}`, false}, {`{"a":null}`, `{}`, false},
		{`[1,2]`, `[2,1]`, false}, {`"\u0061\/"`, `"a/"`, true}, {`"\ud83d\ude00"`, `"😀"`, true}, {`"\ud800"`, `"\ufffd"`, false},
		{`"\ud800"`, `"\uD800"`, true}, {`"\ud800\ud800"`, `"\ud800"`, false}, {`"\u0000"`, `""`, false}, {`"\u00e9"`, `"e\u0301"`, false},
		{`{"\u0061":1}`, `{"a":1}`, true},
	} {
		if got := same(c.a, c.b); got != c.same {
			t.Errorf("%s and %s are the same: %t", c.a, c.b, got)
		}
	}
}

func TestCanonicalRefuses(t *testing.T) {
	for _, text := range []string{
		``, ` `, `{`, `[`, `[1`, `[1,`, `[1,]`, `[,]`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{a:1}`, `{"a":1,"a":1}`, `{"a":1,"\u0061":2}`, `01`, `-`, `+1`, `.5`,
		`1.`, `1e`, `1e+`, `0x1`, `NaN`, `nul`, `truefalse`, `1 2`, `"`, `"\`, `"\x"`, `"\u12"`, `"\u12g4"`, "\"\n\"", "\"\xff\"", `"a" b`, "\ufeff1",
		strings.Repeat("[", maxDepth+2) + strings.Repeat("]", maxDepth+2),
	} {
		if got, err := Canonical([]byte(text)); err == nil {
			t.Errorf("%.40q is %.40s", text, got)
		}
	}
}

// FuzzCanonical holds the reader to encoding/json: what is JSON there is JSON here, but for members that stand twice, invalid UTF-8 and depth; and a
// canonical text is its own canonical text.
func FuzzCanonical(f *testing.F) {
	for _, text := range []string{`{"a":[1,-2.50e3,"\ud83d\ude00\u00e9"],"b":null}`, `[[],{},""]`, `{"a":1,"a":2}`, `"\ud800\u0041"`, "\"\x7f\"", `1e-0`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := Canonical(text)
		if err != nil {
			if json.Valid(text) && !strings.Contains(err.Error(), "twice") && !strings.Contains(err.Error(), "UTF-8") && !strings.Contains(err.Error(), "deep") {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if !json.Valid(text) {
			t.Fatalf("%q is not JSON, got %s", text, got)
		}
		if !strings.Contains(got, "\xed") { // a lone surrogate has no spelling in UTF-8
			if again, err := Canonical([]byte(got)); err != nil || again != got {
				t.Errorf("%q is %s, again %s, %v", text, got, again, err)
			}
		}
	})
}
