package lsp

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

func TestMember(t *testing.T) {
	tests := []struct{ object, name, want string }{
		{`{"a":1,"b":{"a":2},"c":[{"a":3}]}`, "a", `1`},
		{`{"b":{"a":2},"a":"x\"}"}`, "a", `"x\"}"`},
		{" { \"x\" : [ 1 , { } ] , \"a\" :\n[ \"]\" ] } ", "a", `[ "]" ]`},
		{`{"a":1,"a":2}`, "a", `2`},
		{`{"A":1}`, "a", ``},
		{`{"\u0061":7}`, "a", `7`},
		{`{"a":null}`, "a", ``},
		{`{"a":true}`, "a", `true`},
		{`{}`, "a", ``},
		{`[]`, "a", ``},
		{`"a"`, "a", ``},
		{``, "a", ``},
		{`{"a"`, "a", ``},
		{`{"a":`, "a", ``},
	}
	for _, tt := range tests {
		if got := string(member([]byte(tt.object), tt.name)); got != tt.want {
			t.Errorf("member(%s, %q) = %s, want %s", tt.object, tt.name, got, tt.want)
		}
	}
}

func TestNextElement(t *testing.T) {
	for _, tt := range []struct {
		array string
		want  []string
	}{
		{`[]`, nil},
		{`[ ]`, nil},
		{`[1]`, []string{`1`}},
		{` [ {"a":[1,2]} , "x,]" ,3 ]`, []string{`{"a":[1,2]}`, `"x,]"`, `3`}},
		{`null`, nil},
		{`{"a":1}`, nil},
		{`[1],"b":2}`, []string{`1`}},
		{`null,"b":[2]}`, nil},
		{``, nil},
	} {
		var got []string
		for e, i := nextElement([]byte(tt.array), 0); e != nil; e, i = nextElement([]byte(tt.array), i) {
			got = append(got, string(e))
		}
		if strings.Join(got, "|") != strings.Join(tt.want, "|") {
			t.Errorf("%s has the elements %q, want %q", tt.array, got, tt.want)
		}
	}
}

func TestUinteger(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want int
		ok   bool
	}{
		{"0", 0, true}, {"17", 17, true}, {"5.0", 5, true}, {"2e0", 2, true}, {"1e2", 100, true},
		{"2147483647", math.MaxInt32, true}, {"4294967295", math.MaxInt32, true},
		{"4294967296", 0, false}, {"-1", 0, false}, {"-0", 0, true}, {"1.5", 0, false}, {"1e400", 0, false},
		{`"1"`, 0, false}, {"null", 0, false}, {"{}", 0, false}, {"", 0, false}, {"true", 0, false},
	} {
		if got, ok := uinteger([]byte(tt.in)); ok != tt.ok || ok && got != tt.want {
			t.Errorf("uinteger(%s) = %d, %v; want %d, %v", tt.in, got, ok, tt.want, tt.ok)
		}
	}
}

func TestText(t *testing.T) {
	for _, in := range []string{`"plain"`, `""`, `"a\nb\tc\rd"`, `"\u00e9\ud83c\udf0d\"\\\/\b\f"`, `"\n\n\n"`, `"x\ud83cy"`, `"\udf0d"`, `"\ud83c\n"`, `"\ud83c\ud83c\udf0d"`, `"世 🌍"`} {
		var want string
		if err := json.Unmarshal([]byte(in), &want); err != nil {
			t.Fatal(err)
		}
		if got, ok := text([]byte(in)); got != want || !ok {
			t.Errorf("text(%s) = %q, %v; want %q", in, got, ok, want)
		}
	}
	for _, in := range []string{`1`, `null`, `{}`, ``, `"`} {
		if _, ok := text([]byte(in)); ok {
			t.Errorf("text(%s) is one", in)
		}
	}
}

// Against encoding/json for what is valid; for the rest it is enough to return.
func FuzzParams(f *testing.F) {
	for _, s := range []string{`{"a":{"b":[1,"x\u00e9",{}]},"c":"\ud83c\udf0d"}`, `{"a":`, `[1,`, `"\u`, `{"a":"\`, `[[[`, `}`, `{"a":1,}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		n := 0
		for e, i := nextElement(b, 0); e != nil; e, i = nextElement(b, i) {
			if n++; n > len(b)+1 {
				t.Fatal("nextElement does not end")
			}
		}
		member(b, "a")
		_, _ = uinteger(b)
		s, isText := text(b)
		if !utf8.Valid(b) { // the engine refuses it
			return
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(b, &object) == nil && object != nil {
			got := member(b, "a")
			if want := strings.TrimSpace(string(object["a"])); string(got) != want && want != "null" && strings.Count(string(b), `"a"`) < 2 {
				t.Errorf("member a of %q is %q, want %q", b, got, want)
			}
		}
		var want string
		if isText && json.Unmarshal(b, &want) == nil && b[len(b)-1] == '"' && s != want {
			t.Errorf("text(%q) = %q, want %q", b, s, want)
		}
	})
}

func BenchmarkUnquote(b *testing.B) {
	quoted, err := json.Marshal(strings.Repeat("\tfmt.Println(\"hello\") // größe\n", 4000))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(quoted)))
	for b.Loop() {
		unquote(quoted)
	}
}

// The end of a long text with many escapes is found in linear time: a text of 8 MB in milliseconds, not in minutes.
func TestSkipLongString(t *testing.T) {
	text := []byte(`"` + strings.Repeat(`some line of text\n`, 8<<20/19) + `\"" tail`)
	start := time.Now()
	if end := jsonrpc2.SkipString(text, 0); string(text[end:]) != " tail" {
		t.Errorf("it ends at %d of %d", end, len(text))
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}
