package mcphttp

import (
	"encoding/base64"
	"strings"
	"testing"
)

func TestAccept(t *testing.T) {
	both, js, stream, none := accepts{true, true}, accepts{true, false}, accepts{false, true}, accepts{}
	for _, c := range []struct {
		name   string
		values []string
		want   accepts
	}{
		{"missing", nil, both},
		{"empty", []string{""}, both},
		{"both", []string{"application/json, text/event-stream"}, both},
		{"both the other way", []string{"text/event-stream,application/json"}, both},
		{"both in two headers", []string{"application/json", "text/event-stream"}, both},
		{"letters", []string{"Application/JSON, TEXT/event-stream"}, both},
		{"parameters", []string{"application/json; charset=utf-8 ; q=0.5, text/event-stream;q=1.0"}, both},
		{"anything", []string{"*/*"}, both},
		{"any application", []string{"application/*"}, both},
		{"any text", []string{"text/*"}, stream},
		{"JSON only", []string{"application/json"}, js},
		{"stream only", []string{"text/event-stream"}, stream},
		{"a page", []string{"text/html,application/xhtml+xml"}, none},
		{"a page, then anything", []string{"text/html, */*;q=0.1"}, both},
		{"nothing", []string{"*/*;q=0"}, none},
		{"JSON refused", []string{"application/json;q=0, */*"}, stream},
		{"JSON refused afterwards", []string{"*/*, application/json;q=0.000"}, stream},
		{"stream refused", []string{"application/*, text/event-stream;q=0"}, js},
		{"stream refused before", []string{"text/event-stream;q=0, application/*"}, js},
		{"no substring", []string{"xapplication/json, text/event-streams"}, none},
		{"inside a quoted string", []string{`text/plain;x="application/json, text/event-stream"`}, none},
		{"JSON of another kind", []string{"application/problem+json"}, none},
		{"commas", []string{",, application/json,,"}, js},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := parseAccept(c.values); got != c.want {
				t.Errorf("%q: %+v, want %+v", c.values, got, c.want)
			}
		})
	}
}

func TestContentType(t *testing.T) {
	for _, c := range []struct {
		values []string
		want   bool
	}{
		{nil, true}, {[]string{"application/json"}, true}, {[]string{"application/json; charset=utf-8"}, true}, {[]string{`Application/JSON ;charset="UTF-8"`}, true},
		{[]string{"application/json;charset=utf8; x=y"}, true}, {[]string{"application/json; charset=latin1"}, false}, {[]string{"text/plain"}, false},
		{[]string{"application/json-rpc"}, false}, {[]string{"application/x-www-form-urlencoded"}, false}, {[]string{""}, true},
		{[]string{"application/json", "text/plain"}, false}, {[]string{"text/plain; application/json"}, false},
	} {
		if got := isJSON(c.values); got != c.want {
			t.Errorf("%q: %v", c.values, got)
		}
	}
	for value, want := range map[string]bool{"identity": true, "": true, "Identity, identity": true, "gzip": false, "identity, gzip": false} {
		if got := isIdentity([]string{value}); got != want {
			t.Errorf("encoding %q: %v", value, got)
		}
	}
}

func TestDecodeValue(t *testing.T) {
	for _, c := range []struct {
		in, want string
		ok       bool
	}{
		{"plain", "plain", true},
		{"  spaces\t", "spaces", true},
		{"=?base64?SGVsbG8=?=", "Hello", true},
		{"=?base64?SGVsbG8?=", "", false},
		{"=?base64?SGVs!!!bG8=?=", "", false},
		{"=?base64??=", "", true},
		{"=?base64?=", "=?base64?=", true}, // too short for both ends
		{"=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?=", true},
		{"SGVsbG8=?=", "SGVsbG8=?=", true},
		{"=?base64?SGVsbG8=", "=?base64?SGVsbG8=", true},
		{"=?base64?/w==?=", "", false}, // not UTF-8
		{"=?base64?SGV=?=", "", false}, // bits behind the end
		{"=?base64?SGVs\tbG8=?=", "", false},
		{"caf\u00e9", "", false},
		{"a\x7fb", "", false},
		{"a\tb", "a\tb", true},
		{"=?base64?" + base64.StdEncoding.EncodeToString([]byte("=?base64?SGVsbG8=?=")) + "?=", "=?base64?SGVsbG8=?=", true},
	} {
		if got, ok := decodeValue(c.in); got != c.want || ok != c.ok {
			t.Errorf("%q: %q %v", c.in, got, ok)
		}
	}
}

func FuzzHeaders(f *testing.F) {
	f.Add("application/json, text/event-stream;q=0", "=?base64?SGVsbG8=?=")
	f.Add(`text/*;x="a,b\"";q=0.000, */*`, "=?base64?=")
	f.Add(";;;,,,\"", "1_2")
	f.Fuzz(func(t *testing.T, a, v string) {
		parseAccept([]string{a})
		parseAccept([]string{a, v})
		isJSON([]string{a})
		isIdentity([]string{v})
		got, ok := decodeValue(v)
		if ok && !strings.HasPrefix(strings.Trim(v, " \t"), codedPrefix) && got != strings.Trim(v, " \t") {
			t.Errorf("%q became %q", v, got)
		}
		if stream, _, ok := parseEventID(v); ok && stream == "" {
			t.Errorf("event id %q", v)
		}
	})
}
