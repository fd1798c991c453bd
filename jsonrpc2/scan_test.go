package jsonrpc2

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// grammarCases are JSON texts and whether they are well formed. Each is tried as
// it is, as a member of an object and as an entry of an array.
var grammarCases = []struct {
	name string
	text string
	ok   bool
}{
	{"null", "null", true},
	{"true", "true", true},
	{"false", "false", true},
	{"literal cut", "nul", false},
	{"literal too long", "nulll", false},
	{"literal in capitals", "True", false},
	{"NaN", "NaN", false},
	{"Infinity", "-Infinity", false},

	{"zero", "0", true},
	{"negative zero", "-0", true},
	{"integer", "1234567890", true},
	{"fraction", "-12.5", true},
	{"exponent", "1e5", true},
	{"exponent in capitals", "1E+05", true},
	{"negative exponent", "1.25e-7", true},
	{"beyond a double", "1e400", true},
	{"leading zero", "01", false},
	{"negative leading zero", "-01", false},
	{"two zeros", "00", false},
	{"only a sign", "-", false},
	{"plus sign", "+1", false},
	{"no digit before the point", ".5", false},
	{"no digit after the point", "1.", false},
	{"point before the exponent", "1.e5", false},
	{"no digit in the exponent", "1e", false},
	{"no digit after the sign", "1e+", false},
	{"hexadecimal", "0x10", false},
	{"underscore", "1_000", false},
	{"two points", "1.2.3", false},

	{"empty string", `""`, true},
	{"short string", `"abc"`, true},
	{"string of eight", `"abcdefgh"`, true},
	{"all escapes", `"\"\\\/\b\f\n\r\t\u00e9\uABCD"`, true},
	{"lone high surrogate", `"\ud800"`, true},
	{"lone low surrogate", `"\udc00x"`, true},
	{"surrogate pair", `"\ud83d\ude00"`, true},
	{"escape of another letter", `"\a"`, false},
	{"escape of a quote style", `"\'"`, false},
	{"escape in capitals", `"\U0041"`, false},
	{"hexadecimal escape", `"\x41"`, false},
	{"short unicode escape", `"\u004"`, false},
	{"bad first digit in unicode escape", `"\ug000"`, false},
	{"bad digit in unicode escape", `"\u00g0"`, false},
	{"bad last digit in unicode escape", `"\u000/"`, false},
	{"unicode escape across the quote", `"\u00"00"`, false},
	{"escape at the end", `"\`, false},
	{"escaped quote at the end", `"abc\"`, false},
	{"open string", `"abc`, false},
	{"open long string", `"abcdefghijklmnop`, false},
	{"raw tab in a string", "\"a\tb\"", false},
	{"raw line feed in a string", "\"a\nb\"", false},
	{"raw NUL in a string", "\"a\x00b\"", false},
	{"raw 0x1f in a string", "\"abcdefghij\x1f\"", false},
	{"raw DEL in a string", "\"a\x7fb\"", true},
	{"line separators in a string", "\"\u2028\u2029\u0085\"", true},
	{"single quotes", `'a'`, false},

	{"two bytes", "\"\u00e9\"", true},
	{"three bytes", "\"\u6e2c\u8a66\"", true},
	{"four bytes", "\"\U0001F600\"", true},
	{"highest", "\"\U0010FFFF\"", true},
	{"before the surrogates", "\"\ud7ff\"", true},
	{"after the surrogates", "\"\ue000\"", true},
	{"mixed with ASCII", "\"aaaaaaa\u00e9bbbbbbbb\u6e2ccc\U0001F600\"", true},
	{"lone continuation", "\"\x80\"", false},
	{"0xff", "\"\xff\"", false},
	{"0xfe", "\"abcdefghi\xfe\"", false},
	{"overlong slash in two", "\"\xc0\xaf\"", false},
	{"overlong last letter in two", "\"\xc1\xbf\"", false},
	{"overlong in three", "\"\xe0\x9f\xbf\"", false},
	{"overlong in four", "\"\xf0\x8f\xbf\xbf\"", false},
	{"encoded surrogate", "\"\xed\xa0\x80\"", false},
	{"above the highest", "\"\xf4\x90\x80\x80\"", false},
	{"far above the highest", "\"\xf5\x80\x80\x80\"", false},
	{"five bytes", "\"\xf8\x88\x80\x80\x80\"", false},
	{"two bytes cut by the quote", "\"\xc3\"", false},
	{"three bytes cut by the quote", "\"\xe6\xb8\"", false},
	{"four bytes cut by the quote", "\"\xf0\x9f\x98\"", false},
	{"four bytes cut by the end", "\"\xf0\x9f", false},
	{"Latin-1", "\"caf\xe9 au lait\"", false},
	{"invalid outside of strings", "\xff", false},

	{"empty array", "[]", true},
	{"empty array with space", "[ \t\r\n]", true},
	{"array", "[1,2,3]", true},
	{"array with space", "[ 1 , 2\n, 3 ]", true},
	{"nested arrays", "[[],[[]],[1,[2]]]", true},
	{"trailing comma in array", "[1,]", false},
	{"leading comma in array", "[,1]", false},
	{"only a comma in array", "[,]", false},
	{"two commas in array", "[1,,2]", false},
	{"missing comma in array", "[1 2]", false},
	{"open array", "[1,2", false},
	{"open array after comma", "[1,", false},
	{"open empty array", "[", false},
	{"array closed as object", "[1}", false},
	{"empty array closed as object", "[}", false},
	{"array with a member", `["a":1]`, false},

	{"empty object", "{}", true},
	{"empty object with space", "{ \t\r\n}", true},
	{"object", `{"a":1,"b":[2],"c":{"d":null}}`, true},
	{"object with space", "{ \"a\" : 1 ,\n\"b\" : 2 }", true},
	{"empty name", `{"":1}`, true},
	{"repeated name", `{"a":1,"a":2}`, true},
	{"trailing comma in object", `{"a":1,}`, false},
	{"leading comma in object", `{,"a":1}`, false},
	{"only a comma in object", `{,}`, false},
	{"missing comma in object", `{"a":1 "b":2}`, false},
	{"missing colon", `{"a" 1}`, false},
	{"two colons", `{"a"::1}`, false},
	{"missing value", `{"a":}`, false},
	{"missing name", `{:1}`, false},
	{"only a name", `{"a"}`, false},
	{"number as name", `{1:1}`, false},
	{"bare name", `{a:1}`, false},
	{"bad escape in name", `{"\q":1}`, false},
	{"invalid UTF-8 in name", "{\"\xff\":1}", false},
	{"open object", `{"a":1`, false},
	{"open object after colon", `{"a":`, false},
	{"open object after name", `{"a"`, false},
	{"open object after comma", `{"a":1,`, false},
	{"open empty object", "{", false},
	{"object closed as array", `{"a":1]`, false},
	{"empty object closed as array", "{]", false},

	{"nothing", "", false},
	{"only space", " \t\r\n", false},
	{"comment", "1/**/", false},
	{"line comment", "//\n1", false},
	{"closing bracket", "]", false},
	{"comma", ",", false},
	{"value after object", "{}0", false},
	{"value after array", "[]0", false},
	{"bracket after object", "{}}", false},
	{"value after string", `"a""b"`, false},
	{"vertical tab", "\v1", false},
	{"form feed", "1\f", false},
	{"no-break space", "\u00a01", false},
	{"byte order mark", "\ufeff1", false},
	{"NUL", "\x001", false},
	{"NUL after", "1\x00", false},
}

func TestGrammar(t *testing.T) {
	for _, c := range grammarCases {
		t.Run(c.name, func(t *testing.T) {
			for _, around := range []string{"%", " \t\r\n% \n", `{"a":%}`, `{"a": % ,"b":1}`, "[%]", "[0,% ,1]", `[{"x":[%]}]`} {
				text := strings.Replace(around, "%", c.text, 1)
				// What is broken alone may be whole inside ("[" + "]x[" + "]"): the
				// standard library has the last word there.
				want := json.Valid([]byte(text)) && utf8.ValidString(text)
				if around == "%" && want != c.ok {
					t.Fatalf("the table is wrong about %q", text)
				}
				if got := validValue([]byte(text), 512); got != want {
					t.Errorf("validValue(%q) = %v, want %v", text, got, want)
				}
				var e envelope
				_, err := scanMessage([]byte(text), 512, &e)
				if (err == nil) != want {
					t.Errorf("scanMessage(%q): %v, want ok %v", text, err, want)
				}
			}
		})
	}
}

func TestDepth(t *testing.T) {
	nest := func(open, inside, end string, n int) string {
		return strings.Repeat(open, n) + inside + strings.Repeat(end, n)
	}
	for _, limit := range []int{0, 1, 2, 63, 64, 65, 66, 128, 129, 512, 576, 577, 2000} {
		for _, n := range []int{0, 1, 2, 62, 63, 64, 65, 66, 127, 128, 129, 130, 511, 512, 513, 576, 577, 578, 640, 641, 1999, 2000, 2001} {
			for name, text := range map[string]string{
				"arrays":  nest("[", "1", "]", n),
				"objects": nest(`{"a":`, "1", "}", n),
				"mixed":   nest(`[{"a":`, "[]", "}]", (n-1)/2) + strings.Repeat(" ", (n-1)&1),
			} {
				depth := n
				if name == "mixed" {
					if depth = 1 + (n-1)/2*2; n == 0 {
						continue
					}
				}
				if got, want := validValue([]byte(text), limit), depth <= limit; got != want {
					t.Errorf("%s: depth %d at limit %d: %v, want %v", name, depth, limit, got, want)
				}
				var e envelope
				_, err := scanMessage([]byte(text), limit, &e)
				var se *syntaxError
				if want := depth <= limit; (err == nil) != want {
					t.Errorf("%s: scan at depth %d, limit %d: %v", name, depth, limit, err)
				} else if err != nil && (!errors.As(err, &se) || se.Reason != "nested too deep") {
					t.Errorf("%s: depth %d at limit %d: wrong error %v", name, depth, limit, err)
				}
			}
		}
	}
}

// TestDepthKinds closes deep brackets by the wrong kind, at each level.
func TestDepthKinds(t *testing.T) {
	const n = 700
	var open, end []byte
	var ends []int
	for i := range n {
		if i%3 == 0 || i%64 == 5 {
			open = append(open, `{"k":`...)
			end = append([]byte{'}'}, end...)
		} else {
			open = append(open, '[')
			end = append([]byte{']'}, end...)
		}
	}
	text := append(append(open, '0'), end...)
	for i := range end {
		ends = append(ends, len(open)+1+i)
	}
	if !validValue(text, n) || !json.Valid(text) {
		t.Fatal("the nested text is refused")
	}
	for _, at := range ends {
		text[at] ^= ']' ^ '}'
		if validValue(text, n) {
			t.Fatalf("a wrong bracket at %d is accepted", at)
		}
		text[at] ^= ']' ^ '}'
	}
}

// TestHostileNesting makes sure that texts which kill recursive decoders cost
// neither stack nor time.
func TestHostileNesting(t *testing.T) {
	const n = 16 << 20
	for name, text := range map[string][]byte{
		"open arrays":    bytes.Repeat([]byte("["), n),
		"open objects":   bytes.Repeat([]byte(`{"a":`), n/5),
		"closed arrays":  append(bytes.Repeat([]byte("["), n/2), bytes.Repeat([]byte("]"), n/2)...),
		"inside params":  append([]byte(`{"jsonrpc":"2.0","id":1,"method":"m","params":`), bytes.Repeat([]byte("["), n)...),
		"inside a batch": append([]byte(`[{"x":`), bytes.Repeat([]byte("["), n)...),
	} {
		var e envelope
		_, err := scanMessage(text, 512, &e)
		var se *syntaxError
		if !errors.As(err, &se) || e.id != nil || e.raw != nil {
			t.Fatalf("%s: got %v", name, err)
		}
		if se.Offset > 4096 {
			t.Errorf("%s: read on to byte %d", name, se.Offset)
		}
	}
	// Without a limit the same text only costs memory for the bits.
	if text := append(bytes.Repeat([]byte("["), 1<<20), bytes.Repeat([]byte("]"), 1<<20)...); !validValue(text, 1<<20) {
		t.Error("legal nesting is refused")
	}
}

func TestSyntaxError(t *testing.T) {
	for _, c := range []struct {
		name, text string
		offset     int
		reason     string
	}{
		{"empty", "", 0, "unexpected end"},
		{"cut", `{"jsonrpc":"2.0","method`, 24, "unexpected end"},
		{"garbage", "hello", 0, "unexpected character"},
		{"literal", "[1, nul]", 4, "malformed literal"},
		{"number", `{"id":01}`, 6, "malformed number"},
		{"control character", "{\"id\":\"a\nb\"}", 8, "control character in string"},
		{"escape", `{"id":"abcdefghijk\q"}`, 18, "malformed escape in string"},
		{"UTF-8", "{\"id\":\"abcdefghijk\xff\"}", 18, "invalid UTF-8"},
		{"trailing comma", `{"a":1},`, 8 - 1, "more than one value"},
		{"second message", `{} {}`, 3, "more than one value"},
		{"NUL after", "{}\x00", 2, "more than one value"},
		{"missing colon", `{"id" 1}`, 6, "unexpected character"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := envelope{id: []byte("stale"), bad: "stale"}
			isBatch, err := scanMessage([]byte(c.text), 512, &e)
			var se *syntaxError
			if !errors.As(err, &se) {
				t.Fatalf("error is %v", err)
			}
			if isBatch || se.Offset != c.offset || se.Reason != c.reason {
				t.Errorf("got %v, %d %q, want %d %q", isBatch, se.Offset, se.Reason, c.offset, c.reason)
			}
			if e.id != nil || e.bad != "" || e.kind != kindInvalid {
				t.Errorf("the envelope of a broken text holds something: %+v", e)
			}
			if len(c.text) > 0 && strings.Contains(err.Error(), c.text) {
				t.Errorf("the error quotes the text: %v", err)
			}
		})
	}
}

func TestMembers(t *testing.T) {
	collect := func(text string) (got []string) {
		for name, value := range members([]byte(text)) {
			got = append(got, string(name)+"="+string(value))
		}
		return got
	}
	for _, c := range []struct {
		name, text string
		want       string
	}{
		{"empty", "{}", ""},
		{"not an object", "[1]", ""},
		{"string", `"{}"`, ""},
		{"nothing", "", ""},
		{"plain", `{"a":1,"b":"x,}","c":[{"d":2}],"e":{"a":3}}`, `a=1 b="x,}" c=[{"d":2}] e={"a":3}`},
		{"spaces", " { \"a\" : 1 ,\n\"b\" : null } ", "a=1 b=null"},
		{"escapes stay", `{"\u0061":"\n"}`, `\u0061="\n"`},
		{"duplicates", `{"a":1,"a":2}`, "a=1 a=2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(collect(c.text), " "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	for name := range members([]byte(`{"a":1,"b":2}`)) {
		if string(name) != "a" {
			t.Error("went on after break")
		}
		break
	}
	// Texts that were never checked end the walk, they do not crash it.
	text := `{"a":[1,{"b":"\u0041"}],"c":1e5}`
	for i := range text {
		collect(text[:i])
		collect(text[:i] + "}" + text[i:])
	}
}

func TestMembersAllocation(t *testing.T) {
	text := []byte(`{"code":-32601,"message":"Method not found","data":{"a":[1,2,3]}}`)
	var code []byte
	if n := testing.AllocsPerRun(100, func() {
		for name, value := range members(text) {
			if nameIs(name, "code") {
				code = value
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if string(code) != "-32601" {
		t.Errorf("code is %s", code)
	}
}
