package logging

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// same marks a row whose input must come out unchanged.
const same = "\x00"

type redaction struct{ name, in, want string }

func check(t *testing.T, r *Redactor, rows []redaction) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Helper()
			want := row.want
			if want == same {
				want = row.in
			}
			got := string(r.Redact([]byte(row.in)))
			if got != want {
				t.Errorf("\n in   %s\n got  %s\n want %s", row.in, got, want)
			}
			if got != Failed && !json.Valid([]byte(got)) {
				t.Errorf("output is not JSON: %s", got)
			}
			if again := string(r.Redact([]byte(got))); got != Failed && again != got {
				t.Errorf("a second time gives\n      %s\n from %s", again, got)
			}
		})
	}
}

func TestRedactNames(t *testing.T) {
	check(t, nil, []redaction{
		{"camel", `{"apiKey":"v","accessToken":"v"}`, `{"apiKey":"[redacted]","accessToken":"[redacted]"}`},
		{"snake", `{"api_key":"v","client_secret":"v"}`, `{"api_key":"[redacted]","client_secret":"[redacted]"}`},
		{"header", `{"X-Api-Key":"v","Mcp-Session-Id":"v","Set-Cookie":"v"}`, `{"X-Api-Key":"[redacted]","Mcp-Session-Id":"[redacted]","Set-Cookie":"[redacted]"}`},
		{"escaped", `{"ap\u0069Key":"v","pass\u0077ord":"v","\u0054oken":"v"}`, `{"ap\u0069Key":"[redacted]","pass\u0077ord":"[redacted]","\u0054oken":"[redacted]"}`},
		{"escaped separator", `{"api\u005fkey":"v","api\u002Dkey":"v"}`, `{"api\u005fkey":"[redacted]","api\u002Dkey":"[redacted]"}`},
		{"letters that fold into ASCII", `{"paſsword":"v","to\u212aen":"v"}`, `{"paſsword":"[redacted]","to\u212aen":"[redacted]"}`},
		{"separators only inside", `{"__to-ken--":"v"}`, `{"__to-ken--":"[redacted]"}`},
		{"any type", `{"token":{"a":[1]},"secret":[1,{"x":2}],"password":null,"idToken":-1.5e3,"cookie":false,"credential":true}`,
			`{"token":"[redacted]","secret":"[redacted]","password":"[redacted]","idToken":"[redacted]","cookie":"[redacted]","credential":"[redacted]"}`},
		{"empty values", `{"token":{},"secret":[],"password":""}`, `{"token":"[redacted]","secret":"[redacted]","password":"[redacted]"}`},
		{"secret in a secret", `{"token":{"secret":"v","password":{"token":1}},"a":1}`, `{"token":"[redacted]","a":1}`},
		{"every depth", `[{"a":[{"b":{"password":"v"}}]},{"error":{"data":{"token":"v"}}}]`, `[{"a":[{"b":{"password":"[redacted]"}}]},{"error":{"data":{"token":"[redacted]"}}}]`},
		{"twice", `{"token":"v","token":"w"}`, `{"token":"[redacted]","token":"[redacted]"}`},
		{"white space stays", "{ \"token\" :\t\"v\"\r\n, \"a\" : 1 }\n", "{ \"token\" :\t\"[redacted]\"\r\n, \"a\" : 1 }\n"},
		{"white space after a container", "{\"token\" : { \"a\" : 1 } \n }", "{\"token\" : \"[redacted]\" \n }"},

		{"parts of a name", `{"tokens":1,"tokenCount":2,"mytoken":3,"pass":4,"key":5,"":6,"-":7}`, same},
		{"name and NUL", `{"token\u0000":"v"}`, same},
		{"long name", `{"` + strings.Repeat("token", 100) + `":1}`, same},
		{"as a value", `{"method":"token","params":["secret","password=abc"]}`, same},
		{"long numbers", `{"a":9007199254740993,"b":1e400,"c":-0.0}`, same},
		{"escapes stay", `{"a":"\u00e9\/\ud83d\ude00\n\u0000","b":"\ud800 lone"}`, same},
		{"scalar lines", `"token"`, same},
		{"not a message", ` 12 `, same},
	})
}

func TestRedactExtraNames(t *testing.T) {
	r := NewRedactor("requestState", "custom-SECRET_name", "Größe", "", "--", strings.Repeat("long", 30))
	check(t, r, []redaction{
		{"added", `{"requestState":"v","request_state":"v","RequestState":"v"}`, `{"requestState":"[redacted]","request_state":"[redacted]","RequestState":"[redacted]"}`},
		{"folded", `{"customSecretName":"v"}`, `{"customSecretName":"[redacted]"}`},
		{"beyond ASCII", `{"GRÖSSE":1,"grö\u00dfe":1,"GRÖẞE":1}`, `{"GRÖSSE":1,"grö\u00dfe":"[redacted]","GRÖẞE":"[redacted]"}`},
		{"longer than the built-in ones", `{"` + strings.Repeat("Long_", 30) + `":1}`, `{"` + strings.Repeat("Long_", 30) + `":"[redacted]"}`},
		{"built-in ones stay", `{"token":"v"}`, `{"token":"[redacted]"}`},
		{"empty names add nothing", `{"":1,"-":2,"_":3}`, same},
		{"as a parameter", `["/x?request_state=v&y=1"]`, `["/x?request_state=[redacted]&y=1"]`},
	})
	check(t, new(Redactor), []redaction{
		{"others do not know them", `{"requestState":"v","token":"v"}`, `{"requestState":"v","token":"[redacted]"}`},
	})
}

func TestSecret(t *testing.T) {
	r := NewRedactor("taskId")
	for name, want := range map[string]bool{
		"Authorization": true, "task_id": true, "X-API-KEY": true, "user": false, "": false, "%74oken": false, `\u0074oken`: false,
	} {
		if r.Secret(name) != want {
			t.Errorf("Secret(%q) = %v", name, !want)
		}
	}
	if (*Redactor)(nil).Secret("taskId") || !(*Redactor)(nil).Secret("token") {
		t.Error("a nil redactor knows other names than the built-in ones")
	}
}

func TestRedactJSONInStrings(t *testing.T) {
	// nest writes text as a JSON string in an array, n times.
	nest := func(text string, n int) string {
		for range n {
			b, err := json.Marshal([]string{text})
			if err != nil {
				t.Fatal(err)
			}
			text = string(b)
		}
		return text
	}
	check(t, nil, []redaction{
		{"object", `["{\"token\":\"abc\"}"]`, `["{\"token\":\"[redacted]\"}"]`},
		{"array", `{"a":"[{\"token\":[1,2]}]"}`, `{"a":"[{\"token\":\"[redacted]\"}]"}`},
		{"white space around", `["\n {\"token\":\"abc\"} \t"]`, `["\n {\"token\":\"[redacted]\"} \t"]`},
		{"other spellings stay", `["{\u0022token\"\u003a\"abc\",\"b\":\"\u00e9\\/\"}"]`, `["{\u0022token\"\u003a\"[redacted]\",\"b\":\"\u00e9\\/\"}"]`},
		{"name escaped twice", `["{\"\\u0074oken\":\"abc\"}"]`, `["{\"\\u0074oken\":\"[redacted]\"}"]`},
		{"two deep", nest(`{"token":"abc","n":1}`, 2), nest(`{"token":"[redacted]","n":1}`, 2)},
		{"three deep", nest(`{"token":"abc","n":1}`, 3), nest(`{"token":"[redacted]","n":1}`, 3)},
		{"three deep, URL inside", nest(`{"u":"https://u:p@h/"}`, 3), nest(`{"u":"https://[redacted]@h/"}`, 3)},
		{"four deep is text, which has members too", nest(`{"token":"abc","a":"b"}`, 4), nest(`{"token":"[redacted]","a":"b"}`, 4)},
		{"four deep, other spellings are not known", nest(`{"\u0074oken":true}`, 4), same},
		{"four deep, URL inside", nest(`{"u":"https://u:p@h/"}`, 4), nest(`{"u":"https://[redacted]@h/"}`, 4)},
		{"as a name", `{"{\"token\":\"abc\"}":1}`, `{"{\"token\":\"[redacted]\"}":1}`},
		{"surrogates before it", `["[\"\ud83d\ude00\ud800\",{\"token\":1}]"]`, `["[\"\ud83d\ude00\ud800\",{\"token\":\"[redacted]\"}]"]`},
		{"broken JSON is text", `["{\"token\":\"abc\"","{\"u\":\"https://u:p@h\""]`, `["{\"token\":\"[redacted]\"","{\"u\":\"https://[redacted]@h\""]`},
		{"scalars are text", `["\"token\"","12","null"]`, same},
		{"empty ones", `["{}","[]","{","["," "]`, same},
	})
}

func TestRedactionFails(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	var rows []redaction
	for name, in := range map[string]string{
		"nothing": ``, "blank": ` `, "cut": `{"password":"CANARY"`, "cut in a string": `{"a":"CANARY`, "cut in an escape": `{"a":"\`,
		"two values": `{"a":1}{"a":2}`, "trailing word": `{} CANARY`, "comma": `[1,]`, "comma first": `[,1]`, "comma in object": `{"a":1,}`,
		"no colon": `{"a" 1}`, "no value": `{"a":}`, "no name": `{1:2}`, "wrong bracket": `[1}`, "closed too often": `[]]`, "bare close": `]`,
		"wrong literal": `nul`, "long literal": `nulll`, "capitals": `True`, "leading zero": `01`, "plus": `+1`, "bare minus": `-`,
		"point": `1.`, "exponent": `1e+`, "hex": `0x1`, "single quotes": `{'a':1}`, "raw control": "[\"a\x01\"]", "raw newline": "[\"a\n\"]",
		"wrong escape": `["\x41"]`, "short unicode escape": `["\u12"]`, "wrong unicode escape": `["\u12G4"]`, "invalid UTF-8": "[\"\xff\"]",
		"surrogate in UTF-8": "[\"\xed\xa0\x80\"]", "byte order mark": "\ufeff{}", "not JSON": `GET / HTTP/1.1`, "comment": `{}//x`,
		"broken inside a secret": `{"token":[CANARY],"a":1}`, "run of brackets": strings.Repeat("[", 4<<20), "run of objects": strings.Repeat(`{"a":`, 1<<20),
		"too deep": deep(MaxNesting + 1), "run in a secret": `{"token":` + strings.Repeat("[", 4<<20),
	} {
		rows = append(rows, redaction{name, in, Failed})
	}
	check(t, nil, rows)
	check(t, nil, []redaction{{"deep enough", deep(MaxNesting), same}})
	if out, ok := new(Redactor).Append([]byte("x"), []byte("{")); ok || string(out) != "x"+Failed {
		t.Errorf("Append of a broken message = %q, %v", out, ok)
	}
	if out, ok := new(Redactor).Append([]byte("x"), []byte(`{"token":1}`)); !ok || string(out) != `x{"token":"[redacted]"}` {
		t.Errorf("Append = %q, %v", out, ok)
	}
}

// A run of brackets inside a string must not be tried over and over, nor end the
// process.
func TestDeepTextInStrings(t *testing.T) {
	run, _ := json.Marshal([]string{strings.Repeat("[", 1<<20)})
	check(t, nil, []redaction{{"brackets", string(run), same}})
}

func TestRedactDoesNotAlias(t *testing.T) {
	line := []byte(`{"a":1}`)
	out := new(Redactor).Redact(line)
	line[2] = 'x'
	if string(out) != `{"a":1}` {
		t.Errorf("the result changed with the input: %s", out)
	}
}

func TestText(t *testing.T) {
	r := NewRedactor("pin")
	for in, want := range map[string]string{
		"dial https://u:p@h/x failed":       "dial https://[redacted]@h/x failed",
		`{"token":"abc","a":"{\"pin\":1}"}`: `{"token":"[redacted]","a":"{\"pin\":\"[redacted]\"}"}`,
		"get /x?pin=12: refused":            "get /x?pin=[redacted] refused",
		"plain text\n":                      "plain text\n",
		"":                                  "",
		"bad \xff https://u:p@h":            "bad \xff https://[redacted]@h",
	} {
		if got := r.Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

// Inputs that make naive rules walk to the end again and again. A quadratic rule
// takes minutes here, a linear one milliseconds.
func TestRedactIsLinear(t *testing.T) {
	const size = 256 << 10
	for _, unit := range []string{
		"a://", "a://b:c/", "a://b:/", "a:", "?", "&", "&token=", "?a", "bearer ", "basic+", "Bearer\"", "bearer%20", "%3A%2F%2F", "a%3A%2F%2F",
		"%3f", "\n", "\nCookie", "\nCookie:", "a://@", "@", "a://b:c@", "a://b@/", "a:\\", "\\", "[", "{", `{\"a\":`, `\"`, `\\\"`, ":", "x", "é", "\\u00e9",
		"?token=bearer ", ";a=", "https:\\/\\/a:b", "a://[", "%5d=", "]=", "?a[b]=", `"`, `"token":`, `"token":"`, "'token':1", `\\\"token\\\":\"`, `\u0026`, "\\u0026", `"token":[`, `"token":["`,
	} {
		inside, _ := json.Marshal(strings.Repeat(unit, size/len(unit)))
		start := time.Now()
		out := new(Redactor).Redact(inside)
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%q repeated takes %v", unit, took)
		}
		if !json.Valid(out) {
			t.Errorf("%q repeated gives no JSON", unit)
		}
	}
}
