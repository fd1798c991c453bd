package logging

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
)

// spellings are the forms in which a secret may appear in a log.
type spellings struct {
	lower []string // compared without regard to case
	exact []string
}

// spell lists a secret as it is, escaped for JSON, Go or a query, in
// hexadecimal, as the list of numbers that some loggers make of bytes, and in
// base64 at any offset.
func spell(secret string) spellings {
	var s spellings
	for _, form := range []string{
		secret, url.QueryEscape(secret), url.PathEscape(secret), strings.Trim(fmt.Sprintf("%+q", secret), `"`), strings.Trim(asJSON(secret), `"`),
		hex.EncodeToString([]byte(secret)),
	} {
		s.lower = append(s.lower, strings.ToLower(form))
	}
	numbers := strings.Trim(fmt.Sprint([]byte(secret)), "[]")
	s.exact = append(s.exact, numbers, strings.ReplaceAll(numbers, " ", ", "), strings.ReplaceAll(numbers, " ", ","))
	for offset := range 3 {
		// The characters that depend on the neighbours of the secret are left out.
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			form := enc.EncodeToString([]byte(strings.Repeat(" ", offset) + secret))
			s.exact = append(s.exact, form[(offset*8+5)/6:len(form)-2])
		}
	}
	slices.Sort(s.lower)
	s.lower = slices.Compact(s.lower)
	return s
}

// in returns the form in which the secret is in a text, or "".
func (s spellings) in(text []byte) string {
	lower := strings.ToLower(string(text))
	for _, form := range s.lower {
		if strings.Contains(lower, form) {
			return form
		}
	}
	for _, form := range s.exact {
		if bytes.Contains(text, []byte(form)) {
			return form
		}
	}
	return ""
}

// plants are the places where a secret may stand in a text.
var plants = []string{
	"https://user:%s@host/p", "https://%s@host", "redis://:%s@host:6379/0", "git+ssh://u:%s@h", "HTTPS://u:x%sy@h?a=1#b",
	`https:\/\/u:%s@h`, "to=https%%3A%%2F%%2Fu%%3A%s%%40h", "https://u:a/%s@h", "https://u:a?%s@h", "https://u:a#%s@h", "https://u:@%s@h",
	"https://h/?token=%s", "https://h/?a=1&api_key=%s&b=2", "https://h/cb#access_token=%s", "/p?pass%%77ord=%s", "/p?a=1&amp;X-Api-Key=%s",
	"?to=https%%3A%%2F%%2Fh%%3Ftoken%%3D%s%%26b", "?user[password]=%s", "x;Password=%s;y",
	"Bearer %s", "Basic %s", "bearer   %s", "auth=Bearer%%20%s", "auth=bearer+%s", "Bearer Bearer %s", "x?token=Bearer %s", `-H "Authorization: Bearer %s"`,
	`{"token":"%s"}`, `[{"a":{"Set-Cookie":["x","%s"]}}]`, ` {"u":"https://u:%s@h"}`,
}

// headers are those that take a whole line.
var headers = []string{"Authorization: %s", "Authorization: Digest a, b %s", "Cookie: a=%s; b", "Set-Cookie: x %s", "x-api-key:%s", "Mcp-Session-Id: %s"}

// members are those of a JSON object.
var members = []string{
	"authorization", "Proxy-Authorization", "apiKey", "x_api_key", "access_token", "refresh-token", "idToken", "TOKEN", "password", "passwd", "Secret",
	"client_secret", "cookie", "Set-Cookie", "credential", "credentials", "privateKey", "session_id", "Mcp-Session-Id", `pass\u0077ord`, `\u0041pi\u002dKey`, "extra",
}

// planted returns messages with the secret in every place: alone, in a sentence,
// as a name, escaped throughout, and in JSON in strings.
func planted(secret string) [][]byte {
	var lines []string
	quoted := asJSON(secret)
	for _, member := range members {
		for _, value := range []string{quoted, "[" + quoted + "]", `{"a":{"b":` + quoted + `}}`, `{` + quoted + `:1}`} {
			lines = append(lines,
				`{"jsonrpc":"2.0","id":1,"method":"m","params":{"`+member+`":`+value+`}}`,
				`[{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x","data":{"a":[{"`+member+`" : `+value+` } ]}}}]`)
		}
	}
	for i, plant := range append(append([]string{}, plants...), headers...) {
		text := fmt.Sprintf(plant, secret)
		texts := []string{text, "first\nsecond\n" + text + "\nlast"}
		if i < len(plants) {
			texts = append(texts, "see "+text+" there")
		}
		for _, text := range texts {
			for range 3 {
				lines = append(lines,
					`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":`+asJSON(text)+`}]}}`,
					`{`+asJSON(text)+`:1}`, `["x",[`+escapeAll(text)+`]]`, asJSON(text))
				text = `{"inner":[` + asJSON(text) + `]}`
			}
		}
	}
	out := make([][]byte, len(lines))
	for i, line := range lines {
		out[i] = []byte(line)
	}
	return out
}

func asJSON(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// escapeAll writes every character of an ASCII text as \uXXXX.
func escapeAll(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s {
		fmt.Fprintf(&b, `\u%04X`, c)
	}
	b.WriteByte('"')
	return b.String()
}

// No secret reaches a log, in either format, whichever place it is planted in,
// and neither does a line that breaks off or goes wrong before or after it.
func TestCanary(t *testing.T) {
	const secret = "CANARY7f3a9Z"
	forms := spell(secret)
	var sinks []struct {
		name string
		out  *bytes.Buffer
		tap  tap
	}
	add := func(name string, build func(*bytes.Buffer) tap) {
		out := new(bytes.Buffer)
		sinks = append(sinks, struct {
			name string
			out  *bytes.Buffer
			tap  tap
		}{name, out, build(out)})
	}
	extra := []string{"extra"}
	for _, inJSON := range []bool{false, true} {
		add(fmt.Sprintf("hclog, JSON %v", inJSON), func(w *bytes.Buffer) tap {
			return NewTraffic(newLogger(w, hclog.Trace, inJSON), &Options{Redact: extra})
		})
	}
	for name, limit := range map[string]int{"recorder": 0, "recorder, short": 40} {
		add(name, func(w *bytes.Buffer) tap { return newFlushedTap(t, w, &FeedOptions{Redact: extra, MaxMessage: limit}) })
	}

	for _, line := range planted(secret) {
		if !json.Valid(line) {
			t.Fatalf("the test plants no JSON: %s", line)
		}
		spoilt := [][]byte{
			line, line[:len(line)-1], line[1:], append([]byte("x"), line...), append(line[:len(line):len(line)], ' ', '}'),
			append(line[:len(line):len(line)], 0xff), append([]byte("\ufeff"), line...),
			insert(line, 1, "\x01"), insert(line, len(line)/2, "\x01"), insert(line, len(line)-1, "\x01"), append(append(line[:len(line):len(line)], '\n'), line...),
		}
		if !bytes.Contains(line, []byte(`\`)) { // escapes have no upper case
			spoilt = append(spoilt, bytes.ToUpper(line))
		}
		for _, frame := range spoilt {
			for _, s := range sinks {
				s.out.Reset()
				s.tap.Inbound(frame)
				s.tap.Outbound(frame)
				if s.out.Len() == 0 {
					t.Fatalf("%s wrote nothing", s.name)
				}
				if form := forms.in(s.out.Bytes()); form != "" {
					t.Errorf("%s: %s in the record of %s\n%s", s.name, form, frame, s.out)
				}
			}
		}
	}
}

func insert(b []byte, i int, s string) []byte {
	return append(append(b[:i:i], s...), b[i:]...)
}

// The check itself must find what it looks for.
func TestSpellingsAreFound(t *testing.T) {
	const secret = "CANARY7f3a9Z"
	for _, text := range []string{
		secret, "x" + strings.ToLower(secret), hex.EncodeToString([]byte("a" + secret)), fmt.Sprint([]byte(secret + "x")),
		base64.StdEncoding.EncodeToString([]byte(secret)), base64.StdEncoding.EncodeToString([]byte("a" + secret)), base64.URLEncoding.EncodeToString([]byte("ab" + secret + "c")),
	} {
		if spell(secret).in([]byte(text)) == "" {
			t.Errorf("not found in %s", text)
		}
	}
	if form := spell(secret).in([]byte("nothing here")); form != "" {
		t.Errorf("found %s in nothing", form)
	}
}

// Secrets that have more than one spelling: what is compared is decoded, so the
// spelling does not matter.
func TestCanarySpellings(t *testing.T) {
	for _, secret := range []string{`a"b\c<d>&é%41CANARY`, "CANARY\u2028\u0085x", "CANARY😀\x01"} {
		for _, member := range members {
			for _, value := range []string{asJSON(secret), `[` + asJSON(secret) + `]`} {
				line := `{"a":{"` + member + `":` + value + `}}`
				for range 3 {
					if out := NewRedactor("extra").Redact([]byte(line)); bytes.Contains(out, []byte("CANARY")) || !json.Valid(out) {
						t.Errorf("%s in %s", out, line)
					}
					line = `{"text":` + asJSON(line) + `}`
				}
			}
		}
	}
}
