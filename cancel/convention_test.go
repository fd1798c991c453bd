package cancel

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestID(t *testing.T) {
	tests := []struct {
		name   string
		params string
		want   string
		ok     bool
	}{
		{"number", `{"id":7}`, `7`, true},
		{"zero", `{"id":0}`, `0`, true},
		{"negative", `{"id":-1}`, `-1`, true},
		{"fraction kept", `{"id":7.0}`, `7.0`, true},
		{"exponent kept", `{"id":1e400}`, `1e400`, true},
		{"long integer kept", `{"id":9007199254740993}`, `9007199254740993`, true},
		{"string", `{"id":"a"}`, `"a"`, true},
		{"empty string", `{"id":""}`, `""`, true},
		{"string with escapes kept", `{"id":"\u0061\"}"}`, `"\u0061\"}"`, true},
		{"null", `{"id":null}`, `null`, true},
		{"space everywhere", " \t\r\n{ \"x\" : [ 1 ] , \"id\" :\n7 } ", `7`, true},
		{"after nested values", `{"a":{"id":1,"b":[{"id":2}]},"s":"\\\"{","id":3}`, `3`, true},
		{"escaped name", `{"\u0069d":7}`, `7`, true},
		{"value after name", `{"reason":"id","id":4}`, `4`, true},

		{"absent params", ``, ``, false},
		{"null params", `null`, ``, false},
		{"positional params", `[7]`, ``, false},
		{"positional object", `[{"id":7}]`, ``, false},
		{"string params", `"id"`, ``, false},
		{"empty object", `{}`, ``, false},
		{"missing", `{"requestId":7}`, ``, false},
		{"other case", `{"ID":7,"Id":7}`, ``, false},
		{"longer name", `{"id\u0000":7,"idx":7}`, ``, false},
		{"shorter name", `{"i":7,"":8}`, ``, false},
		{"second level", `{"x":{"id":7}}`, ``, false},
		{"inside a string", `{"x":"\"id\":7"}`, ``, false},
		{"twice", `{"id":7,"id":7}`, ``, false},
		{"twice by escape", `{"id":7,"\u0069\u0064":8}`, ``, false},
		{"true", `{"id":true}`, ``, false},
		{"false", `{"id":false}`, ``, false},
		{"object", `{"id":{}}`, ``, false},
		{"array", `{"id":[7]}`, ``, false},
	}
	c := Convention{Method: "$/cancelRequest", Param: "id"}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := c.ID([]byte(tt.params))
			if string(got) != tt.want || ok != tt.ok {
				t.Errorf("ID(%s) = %q, %v; want %q, %v", tt.params, got, ok, tt.want, tt.ok)
			}
		})
	}
}

func TestIDAliasesParams(t *testing.T) {
	c := Convention{Param: "id"}
	params := []byte(`{"id":7}`)
	id, _ := c.ID(params)
	params[6] = '8'
	if string(id) != "8" {
		t.Errorf("id = %s after params changed, want the same memory", id)
	}
}

// Names that need care: characters outside the basic plane come as one rune or
// as two escapes, and half a pair is neither of them nor U+FFFD.
func TestIDOfUnusualNames(t *testing.T) {
	tests := []struct {
		name, param, params string
		ok                  bool
	}{
		{"astral raw", "😀", `{"😀":1}`, true},
		{"astral escaped", "😀", `{"\ud83d\uDE00":1}`, true},
		{"half a pair", "\ufffd", `{"\ud83d":1}`, false},
		{"second half", "\ufffd", `{"\ude00":1}`, false},
		{"pair of first halves", "\ufffd\ufffd", `{"\ud83d\ud83d":1}`, false},
		{"replacement character", "\ufffd", `{"\ufffd":1}`, true},
		{"replacement character after escape", "/\ufffd", "{\"\\/\ufffd\":1}", true},
		{"every short escape", "\"\\/\b\f\n\r\t", `{"\"\\\/\b\f\n\r\t":1}`, true},
		{"escape beyond the name", "id", `{"id\u0000":1}`, false},
		{"name beyond the escape", "id", `{"\u0069":1}`, false},
		{"raw beyond the name", "i", `{"ix\u0064":1}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := Convention{Param: tt.param}
			if _, ok := c.ID([]byte(tt.params)); ok != tt.ok {
				t.Errorf("ID(%s) found: %v, want %v", tt.params, ok, tt.ok)
			}
		})
	}
}

// The engine validates params first. A caller that does not must get nonsense
// at worst, never a panic.
func TestInvalidParamsDoNotPanic(t *testing.T) {
	c := Convention{Param: "id", Reason: "why"}
	whole := `{"\u0069d":{"a":["\\",1]},"why":"\ud83d\ude00\n","id":"x"}`
	for i := range len(whole) + 1 {
		for _, tail := range []string{"", "\\", "\"", "\\u", "\\ud83d\\", "}", "]"} {
			params := []byte(whole[:i] + tail)
			c.ID(params)
			c.Why(params)
		}
	}
}

func TestDeepParams(t *testing.T) {
	c := Convention{Param: "id"}
	deep := bytes.Repeat([]byte("["), 4<<20)
	params := append([]byte(`{"x":`), deep...)
	if _, ok := c.ID(params); ok {
		t.Error("found an id in a run of brackets")
	}
	params = append(append(params, bytes.Repeat([]byte("]"), 4<<20)...), `,"id":7}`...)
	if id, ok := c.ID(params); !ok || string(id) != "7" {
		t.Errorf("ID after a deep value = %q, %v", id, ok)
	}
}

func TestWhy(t *testing.T) {
	euros := strings.Repeat("€", 100) // 3 bytes each: 85 fit into 256
	tests := []struct {
		name, reason, params, want string
	}{
		{"plain", "reason", `{"requestId":1,"reason":"user left"}`, "user left"},
		{"decoded", "reason", `{"reason":"a\"\\\/\n\u20ac\ud83d\ude00"}`, "a\"\\/\n€😀"},
		{"half a pair", "reason", `{"reason":"a\ud83dz"}`, "a\ufffdz"},
		{"empty", "reason", `{"reason":""}`, ""},
		{"absent", "reason", `{"requestId":1}`, ""},
		{"null", "reason", `{"reason":null}`, ""},
		{"number", "reason", `{"reason":12}`, ""},
		{"object", "reason", `{"reason":{"a":"b"}}`, ""},
		{"twice", "reason", `{"reason":"a","reason":"b"}`, ""},
		{"other case", "reason", `{"Reason":"a"}`, ""},
		{"no such member in the convention", "", `{"":"a","reason":"b"}`, ""},
		{"positional", "reason", `["reason"]`, ""},
		{"cut", "reason", `{"reason":"` + strings.Repeat("x", 300) + `"}`, strings.Repeat("x", MaxReason)},
		{"not cut", "reason", `{"reason":"` + strings.Repeat("x", MaxReason) + `"}`, strings.Repeat("x", MaxReason)},
		{"cut at a rune", "reason", `{"reason":"` + euros + `"}`, strings.Repeat("€", 85)},
		{"cut at an escaped rune", "reason", `{"reason":"` + strings.Repeat(`\u20ac`, 100) + `"}`, strings.Repeat("€", 85)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := Convention{Reason: tt.reason}
			if got := c.Why([]byte(tt.params)); got != tt.want {
				t.Errorf("Why = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestParams(t *testing.T) {
	tests := []struct {
		name       string
		c          Convention
		id, reason string
		want       string
	}{
		{"number", Convention{Param: "id"}, `7`, "", `{"id":7}`},
		{"string", Convention{Param: "id"}, `"a\u0062"`, "", `{"id":"a\u0062"}`},
		{"long integer", Convention{Param: "id"}, `9007199254740993`, "", `{"id":9007199254740993}`},
		{"reason", Convention{Param: "requestId", Reason: "reason"}, `7`, "timed out", `{"requestId":7,"reason":"timed out"}`},
		{"reason not given", Convention{Param: "requestId", Reason: "reason"}, `7`, "", `{"requestId":7}`},
		{"reason unknown to the protocol", Convention{Param: "id"}, `7`, "timed out", `{"id":7}`},
		{"reason escaped", Convention{Param: "id", Reason: "why"}, `7`, "a\"\\\n<\x01é", `{"id":7,"why":"a\"\\\n<\u0001é"}`},
		{"names escaped", Convention{Param: `i"d`, Reason: "w\n"}, `7`, "x", `{"i\"d":7,"w\n":"x"}`},
		{"no id", Convention{Param: "id"}, ``, "", `{"id":null}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(tt.c.Params([]byte(tt.id), tt.reason)); got != tt.want {
				t.Errorf("Params = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestParamsAlwaysValid(t *testing.T) {
	c := Convention{Param: "id", Reason: "why"}
	for _, reason := range []string{"\xff\xfe", "a\x00b", "\u2028\u0085", "\xed\xa0\x80", "</script>"} {
		got := c.Params([]byte("1"), reason)
		if !json.Valid(got) || !utf8.Valid(got) {
			t.Errorf("reason %q gives %q", reason, got)
		}
		if why := c.Why(got); why != strings.ToValidUTF8(why, "") || why == "" {
			t.Errorf("reason %q comes back as %q", reason, why)
		}
	}
}

func TestExempts(t *testing.T) {
	c := Convention{Exempt: []string{"initialize", "ping"}}
	for method, want := range map[string]bool{"initialize": true, "ping": true, "Initialize": false, "init": false, "": false} {
		if c.Exempts(method) != want {
			t.Errorf("Exempts(%q) = %v", method, !want)
		}
	}
	if new(Convention).Exempts("") {
		t.Error("the zero convention exempts the empty method")
	}
}

func TestText(t *testing.T) {
	if got := new(Convention).Text(); got != "Request cancelled" {
		t.Errorf("default text = %q", got)
	}
	if got := (&Convention{Message: "Stopped"}).Text(); got != "Stopped" {
		t.Errorf("text = %q", got)
	}
}

func TestNoAllocation(t *testing.T) {
	c := Convention{Method: "m", Param: "id", Exempt: []string{"initialize"}}
	r := NewRegistry(c)
	params := []byte(`{"x":{"y":[1,2,3]},"\u0069d":"abc"}`)
	method := []byte("m")
	n := testing.AllocsPerRun(100, func() {
		found, ok := r.Lookup(method)
		if !ok {
			t.Fatal("not found")
		}
		if _, ok := found.ID(params); !ok || found.Exempts("x") {
			t.Fatal("wrong answer")
		}
	})
	if n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func BenchmarkID(b *testing.B) {
	c := Convention{Param: "requestId"}
	for name, params := range map[string]string{
		"plain": `{"requestId":1234567}`,
		"late":  `{"_meta":{"a":["b",{"c":"d"}]},"reason":"the user closed the window","requestId":"abc-def"}`,
	} {
		b.Run(name, func(b *testing.B) {
			data := []byte(params)
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := c.ID(data); !ok {
					b.Fatal("no id")
				}
			}
		})
	}
}
