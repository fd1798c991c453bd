package mcpauth

import (
	"net/http"
	"testing"
)

func TestNormalAudience(t *testing.T) {
	for s, want := range map[string]string{
		"https://host":               "https://host",
		"https://host/":              "https://host",
		"HTTPS://Host:443/":          "https://host",
		"http://host:80":             "http://host",
		"http://host:443":            "http://host:443",
		"https://host:8443/":         "https://host:8443",
		"https://host/a/":            "https://host/a/",
		"https://host/A?b#c":         "https://host/A?b#c",
		"https://host//":             "https://host//",
		"api://1234":                 "api://1234",
		"API://1234":                 "API://1234",
		"urn:a:B":                    "urn:a:B",
		"":                           "",
		"https://":                   "https://",
		"https:///":                  "https:///",
		"https://[::1]:443/":         "https://[::1]",
		"https://host?x":             "https://host?x",
		"b0e2a0c8-1234-ABCD":         "b0e2a0c8-1234-ABCD",
		"https://host.example/%2F":   "https://host.example/%2F",
		"https://user@host.example/": "https://user@host.example",
	} {
		if got := normalAudience(s); got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	}
}

func TestNormalTarget(t *testing.T) {
	for s, want := range map[string]string{
		"https://host/mcp":            "https://host/mcp",
		"HTTPS://HOST:443/mcp/":       "https://host/mcp",
		"https://host/mcp//":          "https://host/mcp/",
		"https://host":                "https://host",
		"https://host/":               "https://host",
		"https://host/a?b=c#d":        "https://host/a",
		"https://host?b":              "https://host",
		"https://host/%6Dcp%2fx%2F%e": "https://host/mcp%2Fx%2F%e",
		"https://host/%zz%":           "https://host/%zz%",
		"https://host/%2":             "https://host/%2",
		"https://host/%25%36%44":      "https://host/%256D",
		"https://user@host/mcp":       "",
		"ftp://host/mcp":              "",
		"/mcp":                        "",
		"":                            "",
	} {
		if got, _ := normalTarget(s); got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	}
}

func TestRequestPath(t *testing.T) {
	for _, c := range []struct{ uri, path, want string }{
		{"/mcp?a=b", "/mcp", "/mcp"},
		{"/outer/mcp", "/mcp", "/outer/mcp"},
		{"", "/a b", "/a%20b"},
		{"https://host/mcp", "/mcp", "/mcp"},
		{"*", "*", "*"},
	} {
		u := mustURL("https://host")
		u.Path = c.path
		if got := requestPath(&http.Request{RequestURI: c.uri, URL: u}); got != c.want {
			t.Errorf("%q: got %q", c.uri, got)
		}
	}
}

func TestIsLoopback(t *testing.T) {
	for host, want := range map[string]bool{"localhost": true, "LOCALHOST.": true, "127.0.0.1": true, "127.9.9.9": true, "::1": true, "::ffff:127.0.0.1": true, "localhost.evil.example": false, "127.0.0.1.evil.example": false, "10.0.0.1": false, "": false, "0": false} {
		if isLoopback(host) != want {
			t.Errorf("%q: want %v", host, want)
		}
	}
}

func FuzzNormal(f *testing.F) {
	for _, s := range []string{"https://host/", "HTTP://a:80/%6d?x#y", "urn:x", "https://h/%%41"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		// The normal form of a normal form is itself, or comparing would depend on who wrote first.
		if a := normalAudience(s); normalAudience(a) != a && a != s {
			t.Errorf("%q: %q, then %q", s, a, normalAudience(a))
		}
		if n, ok := normalTarget(s); ok {
			if again, ok := normalTarget(n); !ok && n != "" {
				t.Errorf("%q: %q is none", s, n)
			} else if len(again) > len(n) {
				t.Errorf("%q: %q, then %q", s, n, again)
			}
		}
	})
}
