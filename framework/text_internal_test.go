package framework

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tandem-rpc/tandem/logging"
)

func TestScrub(t *testing.T) {
	type login struct{ User, Password string }
	red := logging.NewRedactor("licence")
	for name, test := range map[string]struct{ text, want string }{
		"nothing":          {"open notes.md: no such file", "open notes.md: no such file"},
		"map":              {fmt.Sprint(map[string]any{"password": "CANARY", "user": "u"}), "map[password:[redacted] user:u]"},
		"nested map":       {fmt.Sprint(map[string]any{"token": map[string]int{"CANARY": 1}, "z": 1}), "map[token:[redacted] z:1]"},
		"struct":           {fmt.Sprintf("%+v", login{"u", "CANARY"}), "{User:u Password:[redacted]}"},
		"Go syntax":        {fmt.Sprintf("%#v", login{"u", "CANARY"}), `framework.login{User:"u", Password:[redacted]}`},
		"header":           {fmt.Sprint(http.Header{"Authorization": {"Digest CANARY"}}), "map[Authorization:[redacted]]"},
		"bearer":           {"got Bearer CANARY", "got Bearer [redacted]"},
		"URL":              {"dial https://u:CANARY@host/p?a=1: refused", "dial https://[redacted]@host/p?a=1: refused"},
		"query":            {"get https://host/p?access_token=CANARY&b=2", "get https://host/p?access_token=[redacted]&b=2"},
		"JSON in prose":    {`no use for {"a":1,"api_key":"CAN\"ARY","b":2}`, `no use for {"a":1,"api_key":[redacted],"b":2}`},
		"JSON cut off":     {`no use for {"a":1,"client-secret":"CANARY and mo`, `no use for {"a":1,"client-secret":[redacted]`},
		"JSON in a string": {`"{\"password\":\"CANARY\",\"a\":1}"`, `"{\"password\":[redacted],\"a\":1}"`},
		"JSON array":       {`{"cookie":["CANARY","CANARY"],"a":1}`, `{"cookie":[redacted],"a":1}`},
		"number":           {`{"token":12345,"a":1}`, `{"token":[redacted],"a":1}`},
		"assignment":       {"PASSWORD=CANARY ./run", "PASSWORD=[redacted] ./run"},
		"sentence":         {"the token is missing", "the token is missing"},
		"name at the end":  {"no password:", "no password:"},
		"extra name":       {"licence: CANARY", "licence: [redacted]"},
		"one character":    {"token=,x", "token=[redacted]"},
	} {
		t.Run(name, func(t *testing.T) {
			got := scrub(red, test.text)
			if strings.Contains(got, "CANARY") || strings.Contains(got, "ARY") {
				t.Errorf("the secret is still there: %s", got)
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                    "plain",
		"two\nlines\tand a tab":    "two lines and a tab",
		"\x1b[31mred":              "?[31mred",
		"\u009b31m \u202e \u0085.": "?31m ?  .",
		"\xff":                     "\ufffd",
		strings.Repeat("é", 5000):  strings.Repeat("é", maxText/2) + "...",
	} {
		if got := oneLine(in); got != want {
			t.Errorf("%.20q: got %.40q, want %.40q", in, got, want)
		}
	}
}

func FuzzScrub(f *testing.F) {
	for _, s := range []string{"password=", `{"token":"x`, "secret:[", `cookie\\\":\\\"`, "token: map[", "a-token::==b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		_ = oneLine(scrub(nil, s)) // neither hangs nor panics
		if got := scrub(nil, s+" password=CANARY1"); strings.Contains(got, "CANARY1") {
			t.Errorf("%q keeps the secret: %q", s, got)
		}
	})
}
