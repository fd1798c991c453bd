package logging

import (
	"encoding/json"
	"testing"
)

// checkText redacts each text as a string of a message and compares the decoded
// string.
func checkText(t *testing.T, rows []redaction) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Helper()
			want := row.want
			if want == same {
				want = row.in
			}
			redact := func(text string) string {
				line, err := json.Marshal(map[string]string{"a": text})
				if err != nil {
					t.Fatal(err)
				}
				var out map[string]string
				if err := json.Unmarshal(new(Redactor).Redact(line), &out); err != nil {
					t.Fatal(err)
				}
				return out["a"]
			}
			got := redact(row.in)
			if got != want {
				t.Errorf("\n in   %s\n got  %s\n want %s", row.in, got, want)
			}
			if again := redact(got); again != got {
				t.Errorf("a second time gives %s", again)
			}
		})
	}
}

func TestRedactCredentials(t *testing.T) {
	checkText(t, []redaction{
		{"bearer", "Bearer abc", "Bearer [redacted]"},
		{"basic", "Basic dXNlcjpw==", "Bearer [redacted]"},
		{"any case", "bEARER abc", "Bearer [redacted]"},
		{"in a sentence", "sent Bearer abc.def-ghi_j~k+l/m== to", "sent Bearer [redacted] to"},
		{"several blanks", "Bearer \t  abc", "Bearer [redacted]"},
		{"encoded blank", "auth=Bearer%20abc&x=1", "auth=Bearer [redacted]&x=1"},
		{"plus", "auth=Bearer+abc&x=1", "auth=Bearer [redacted]&x=1"},
		{"encoded twice", "a%20Bearer%20abc", "a%20Bearer [redacted]"},
		{"list", "Bearer abc, Basic def;Bearer ghi", "Bearer [redacted], Bearer [redacted];Bearer [redacted]"},
		{"quoted", `curl -H "x: Bearer abc" -H 'y: Bearer def'`, `curl -H "x: Bearer [redacted]" -H 'y: Bearer [redacted]'`},
		{"token quoted", `Bearer "abc"`, `Bearer "[redacted]"`},
		{"twice", "Authorization=Bearer Bearer abc", "Authorization=Bearer [redacted]"},
		{"twice, quoted", `Bearer basic "abc" d`, `Bearer [redacted]" d`},
		{"twice, then nothing", `Bearer bearer`, `Bearer [redacted]`},
		{"inside another token", "Bearer x?token=Bearer abc d", "Bearer [redacted] d"},
		{"escaped URL as a token", `Bearer https:\/\/u:p@h d`, `Bearer [redacted] d`},
		{"in JSON cut off", `{"a":{"b":"{\"h\":\"Bearer abc\"`, `{"a":{"b":"{\"h\":\"Bearer [redacted]\"`},
		{"glued", "xBearer abc", "xBearer [redacted]"},
		{"at the end", "a bearer", same},
		{"blank at the end", "a bearer ", same},
		{"no blank", "Bearerabc Bearer:abc bearers", same},
		{"other letters", "beamer abc, bear er abc, basics abc", same},
		{"no token", "Bearer , x", same},
	})
}

func TestRedactHeaderLines(t *testing.T) {
	checkText(t, []redaction{
		{"bearer", "Authorization: Bearer abc", "Authorization: Bearer [redacted]"},
		{"other scheme", "authorization: Digest username=u, response=abc", "authorization: [redacted]"},
		{"odd token", "Authorization: Basic user:p,w d", "Authorization: Bearer [redacted]"},
		{"cookie", "Cookie: a=b; c=d", "Cookie: [redacted]"},
		{"set-cookie", "Set-Cookie:a=b; Path=/", "Set-Cookie:[redacted]"},
		{"session", "Mcp-Session-Id: 123", "Mcp-Session-Id: [redacted]"},
		{"key", "X-API-Key: 123", "X-API-Key: [redacted]"},
		{"block", "GET / HTTP/1.1\r\nHost: h\r\nCookie: a=b\r\nAccept: x\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nCookie: [redacted]\r\nAccept: x\r\n\r\n"},
		{"indented", "x:\n  Cookie: a=b\n", "x:\n  Cookie: [redacted]\n"},
		{"lines of JSON cut off", `{"h":"Host: h\r\nCookie: a=b\r\nAccept: x`, `{"h":"Host: h\r\nCookie: [redacted]\r\nAccept: x`},
		{"string of JSON cut off", `{"h":"x\nCookie: a=b\", x`, `{"h":"x\nCookie: [redacted]\", x`},
		{"empty", "Cookie:\nAccept: x", same},
		{"not at the beginning", "the Cookie: a=b", same},
		{"other names", "Accept: x\nToken: abc\nCookies: x\nCookie jar: y", same},
		{"no colon", "Cookie", same},
	})
}

func TestRedactUserInfo(t *testing.T) {
	checkText(t, []redaction{
		{"user and password", "https://user:pass@example.com/path", "https://[redacted]@example.com/path"},
		{"user alone", "https://user@example.com", "https://[redacted]@example.com"},
		{"password alone", "redis://:pw@h:6379/0", "redis://[redacted]@h:6379/0"},
		{"any scheme", "Postgres+SSL://u:p@db/x git+ssh://u@h a1.b-c://u:p@h", "Postgres+SSL://[redacted]@db/x git+ssh://[redacted]@h a1.b-c://[redacted]@h"},
		{"in a sentence", "see https://u:p@h/, twice https://u:p@h.", "see https://[redacted]@h/, twice https://[redacted]@h."},
		{"in brackets", "[x](https://u:p@h) <https://u:p@h>", "[x](https://[redacted]@h) <https://[redacted]@h>"},
		{"glued", "url=https://u:p@h", "url=https://[redacted]@h"},
		{"digit before the scheme", "1https://u:p@h", "1https://[redacted]@h"},
		{"encoded", "https://u:p%40%2Fw@h", "https://[redacted]@h"},
		{"second at", "https://u:p@ss@h/x", "https://[redacted]@h/x"},
		{"slash in the password", "see https://user:pa/ss@host", "see https://[redacted]@host"},
		{"slash first", "https://user:/ss@host/x", "https://[redacted]@host/x"},
		{"question mark in the password", "https://user:pa?ss@host/x@y", "https://[redacted]@host/x@y"},
		{"number sign in the password", "https://user:pa#ss@host", "https://[redacted]@host"},
		{"slash and at in the password", "https://user:p/a@b@host/x", "https://[redacted]@host/x"},
		{"quote in the password", `https://user:p"a<b>c@host`, "https://[redacted]@host"},
		{"backslash in the password", `https://user:a\b@host`, "https://[redacted]@host"},
		{"beyond ASCII", "https://üser:pä😀@host", "https://[redacted]@host"},
		{"at before the slash", "https://user:pa@/ss@host", "https://[redacted]@host"},
		{"number that is no port", "https://user:123456/x@host", "https://[redacted]@host"},
		{"JSON-escaped", `{"u":"https:\/\/u:p@h`, `{"u":"https:\/\/[redacted]@h`},
		{"JSON-escaped twice", `https:\\/\\/u:p@h`, `https:\\/\\/[redacted]@h`},
		{"in a parameter", "/r?to=https%3A%2F%2Fu%3Ap%40h%2Fx&a=b@c", "/r?to=https%3A%2F%2F[redacted]%40h%2Fx&a=b@c"},
		{"in a parameter, half encoded", "/r?to=https:%2f%2fu:p@h&a=1", "/r?to=https:%2f%2f[redacted]@h&a=1"},

		{"in the query", "https://host?mail=a@b", same},
		{"in the fragment", "https://host#a@b", same},
		{"in the path", "https://example.com/a@b https://h:8080/@scope/pkg", same},
		{"empty", "https://@h/", same},
		{"IPv6", "http://[::1]/a@b http://[fe80::1%25eth0]:80/a@b", same},
		{"no scheme", "//u:p@h u:p@h mailto:a@b.c git@github.com:x/y", same},
		{"no letter in the scheme", "1://u:p@h", same},
		{"one slash", "https:/u:p@h", same},
		{"a file of Windows", "file://C:/Users/a@b/doc.md file:///c%3A/a@b", same},
		{"at in a later word", "http://localhost:x/ a@b", same},
		{"encoded, in the path", "to=https%3A%2F%2Fh%2Fa%40b", same},
		{"at the very end", "https://", same},
	})
}

func TestRedactParameters(t *testing.T) {
	checkText(t, []redaction{
		{"query", "https://h/p?token=abc", "https://h/p?token=[redacted]"},
		{"second", "https://h/p?a=1&api_key=abc&b=2", "https://h/p?a=1&api_key=[redacted]&b=2"},
		{"fragment", "https://h/cb#access_token=abc&state=1", "https://h/cb#access_token=[redacted]&state=1"},
		{"query before a fragment", "/p?token=abc#top", "/p?token=[redacted]#top"},
		{"relative", "?password=abc", "?password=[redacted]"},
		{"encoded name", "/p?%74oken=abc&api%5Fkey=d&pass%77ord=e", "/p?%74oken=[redacted]&api%5Fkey=[redacted]&pass%77ord=[redacted]"},
		{"case", "/p?API-KEY=abc", "/p?API-KEY=[redacted]"},
		{"in a sentence", "get /p?token=abc failed", "get /p?token=[redacted] failed"},
		{"in HTML", `<a href="/p?a=1&amp;token=abc">x</a>`, `<a href="/p?a=1&amp;token=[redacted]">x</a>`},
		{"credentials as a value", "/p?authorization=Bearer abc&x=1", "/p?authorization=[redacted]&x=1"},
		{"credentials encoded", "/p?authorization=Bearer%20abc&x=1", "/p?authorization=[redacted]&x=1"},
		{"index", "/p?user[password]=abc&u%5Btoken%5D=d", "/p?user[password]=[redacted]&u%5Btoken%5D=[redacted]"},
		{"equals in the value", "/p?token=a=b==&c", "/p?token=[redacted]&c"},
		{"semicolon in the value", "/p?token=a;b", "/p?token=[redacted]"},
		{"URL in a parameter", "/r?to=https%3A%2F%2Fh%3Fa%3D1%26token%3Dabc%26b%3D2&c=3", "/r?to=https%3A%2F%2Fh%3Fa%3D1%26token%3D[redacted]%26b%3D2&c=3"},
		{"form", "token=abc&a=1", "token=[redacted]&a=1"},
		{"connection string", "Server=x;Password=abc;User=y", "Server=x;Password=[redacted];User=y"},
		{"user-info as well", "https://u:p@h?token=abc", "https://[redacted]@h?token=[redacted]"},

		{"no value", "/p?token=&a=1", same},
		{"no equals", "/p?token&a=1", same},
		{"other names", "/p?tokens=1&q=token&x=secret", same},
		{"not a query", "password=abc", same},
		{"name in another word", "what? token=abc", same},
		{"broken encoding", "/p?%7=1&%zz=2&%", same},
	})
}

func TestRedactMembersInText(t *testing.T) {
	checkText(t, []redaction{
		{"after words", `refused: {"token":"abc","a":1}`, `refused: {"token":"[redacted]","a":1}`},
		{"cut off", `{"a":{"api_key": "abc`, `{"a":{"api_key": "[redacted]`},
		{"lines", "{\"token\":\"abc\"}\n{\"token\":\"def\"}", "{\"token\":\"[redacted]\"}\n{\"token\":\"[redacted]\"}"},
		{"escaped quotes", `got {\"token\":\"a\\\"bc\",\"a\":1}`, `got {\"token\":\"[redacted]\",\"a\":1}`},
		{"quotes inside", `x {"token":"a\"b\\","a":1}`, `x {"token":"[redacted]","a":1}`},
		{"other quotes", `{'token': 'abc', 'a': 1}`, `{'token': '[redacted]', 'a': 1}`},
		{"number", `x {"token":-12.5,"a":1}`, `x {"token":[redacted],"a":1}`},
		{"list", `x {"cookie":["a]","b\"]",{"c":"]"}],"a":1}`, `x {"cookie":[redacted],"a":1}`},
		{"object, escaped", `x {\"token\":{\"a\":\"}\\\"}\"},\"b\":1}`, `x {\"token\":[redacted],\"b\":1}`},
		{"list cut off", `x {"cookie":["a","b`, `x {"cookie":[redacted]`},
		{"escaped name", `x {"\u0074oken":"abc"}`, `x {"\u0074oken":"[redacted]"}`},
		{"parameter after an escape", `x "/p?a=1\u0026token\u003dabc\u0026b"`, `x "/p?a=1\u0026token\u003d[redacted]\u0026b"`},

		{"code", `m := {"token": next(), 'secret': x}`, same},
		{"empty", `x {"token":""}`, same},
		{"other names", `x {"tokens":"abc","a":"token"}`, same},
		{"no name", `the "token": it's`, same},
		{"sentence", `don't say "token", say 'secret'`, same},
		{"at the end", `x {"token":`, same},
		{"escape at the end", `x {"token":\`, same},
	})
}

func TestRedactInNames(t *testing.T) {
	check(t, nil, []redaction{
		{"URL", `{"https://u:p@h":1}`, `{"https://[redacted]@h":1}`},
		{"bearer", `{"Bearer abc":{"Bearer def":1}}`, `{"Bearer [redacted]":{"Bearer [redacted]":1}}`},
		{"parameter", `{"/x?token=abc":"/x?token=def"}`, `{"/x?token=[redacted]":"/x?token=[redacted]"}`},
	})
}

// What is found in decoded strings is cut out of the written ones.
func TestRedactEscapedStrings(t *testing.T) {
	check(t, nil, []redaction{
		{"solidus", `["https:\/\/u:p@h\/x"]`, `["https:\/\/[redacted]@h\/x"]`},
		{"solidus as code", `["https:\u002f\u002Fu:p\u0040h"]`, `["https:\u002f\u002F[redacted]\u0040h"]`},
		{"name of a parameter", `["?pass\u0077ord=abc"]`, `["?pass\u0077ord=[redacted]"]`},
		{"word", `["B\u0065arer\u0020abc\u002C x"]`, `["Bearer [redacted]\u002C x"]`},
		{"in the secret", `["Bearer a\u0062c d","https://u:\"\\\ud83d\ude00@h"]`, `["Bearer [redacted] d","https://[redacted]@h"]`},
		{"around it", `["\ud83d\ude00\n\"https://u:p@h\"\ud800é\t"]`, `["\ud83d\ude00\n\"https://[redacted]@h\"\ud800é\t"]`},
		{"line", `["a\r\nCookie: \u0061=b\r\nc"]`, `["a\r\nCookie: [redacted]\r\nc"]`},
	})
}
