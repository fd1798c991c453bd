package mcpauth

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

func TestPrincipalKey(t *testing.T) {
	keys := make(map[string]string)
	for _, p := range []*Principal{
		nil,
		{},
		{Issuer: "a", Subject: "b", ClientID: "c"},
		{Issuer: "a", Subject: "bc"},
		{Issuer: "ab", Subject: "c"},
		{Issuer: "abc"},
		{Subject: "abc"},
		{ClientID: "abc"},
		{Issuer: "a", Subject: "b"},
		{Issuer: "a", ClientID: "b"},
		{Issuer: "a\x00b"},
		{Issuer: "a", Subject: "\x00b"},
	} {
		k := p.Key()
		if other, ok := keys[k]; ok {
			t.Errorf("%v and %s have one key", p, other)
		}
		keys[k] = p.String()
		if p != nil && (len(k) != 46 || strings.Trim(k, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "") {
			t.Errorf("key %q", k)
		}
	}
	// It stays when the token, and what it allows, changes. It is written down in places that outlive this program.
	p := &Principal{Issuer: "https://as.example", Subject: "ada", ClientID: "editor"}
	q := &Principal{Issuer: "https://as.example", Subject: "ada", ClientID: "editor", Scopes: []string{"x"}, KeyThumbprint: "y", TokenHash: digest{1}}
	if p.Key() != q.Key() || p.Key() != "p1_fryagqaR1IRibIqDxoERzREoH6pnW9ooS4cActmtK9k" {
		t.Errorf("%s %s", p.Key(), q.Key())
	}
}

func TestPrincipalHas(t *testing.T) {
	p := &Principal{Scopes: []string{"a", "admin"}}
	if !p.Has("a") || p.Has("b") || p.Has("") || (*Principal)(nil).Has("a") {
		t.Error("by name")
	}
	p.implies = func(have, want string) bool { return have == "admin" && want == "b" }
	if !p.Has("b") || p.Has("c") {
		t.Error("by hierarchy")
	}
}

func TestPrincipalString(t *testing.T) {
	for want, p := range map[string]*Principal{
		"nobody":                                nil,
		`subject "ada"`:                         {Subject: "ada", Claims: map[string]any{"email": "ada@example.org"}},
		`subject "" client "x" of "https://as"`: {ClientID: "x", Issuer: "https://as"},
		`subject "a\nb\x1b[31m"`:                {Subject: "a\nb\x1b[31m"},
		`subject "` + strings.Repeat("ü", 65) + "…\"": {Subject: strings.Repeat("ü", 1000)},
	} {
		if got := p.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got := fmt.Sprintf("%#v", p); got != want {
			t.Errorf("GoString: %s", got)
		}
	}
}

func TestPrincipalFrom(t *testing.T) {
	if p, ok := PrincipalFrom(context.Background()); ok || p != nil {
		t.Error("one out of nothing")
	}
	want := &Principal{Subject: "ada"}
	if p, ok := PrincipalFrom(WithPrincipal(context.Background(), want)); !ok || p != want {
		t.Error("another")
	}
}
