package mcpauth

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestStatic(t *testing.T) {
	v := must(NewStatic(
		StaticToken{Token: "the-token-of-ada-1", Subject: "ada", Scopes: []string{"r", "w"}},
		StaticToken{Token: "the-token-of-grace", Subject: "grace"},
		StaticToken{Token: "a-token-of-somebody"},
	))
	for _, c := range []struct{ token, subject string }{
		{"the-token-of-ada-1", "ada"},
		{"the-token-of-grace", "grace"},
		{"a-token-of-somebody", "token-"},
		{"the-token-of-ada-", ""},
		{"the-token-of-ada-12", ""},
		{"The-token-of-ada-1", ""},
		{"", ""},
	} {
		p, err := v.Verify(context.Background(), c.token, nil)
		if (err == nil) != (c.subject != "") || err != nil && !errors.Is(err, ErrInvalidToken) {
			t.Errorf("%q: %v", c.token, err)
		}
		if err == nil && (!strings.HasPrefix(p.Subject, c.subject) || !p.Expiry.IsZero()) {
			t.Errorf("%q: %v", c.token, p)
		}
	}
	// Behind Protect no audience is compared: a static token has none, and can have none.
	r := newResource(t, func(o *Options) { o.Verifier, o.Issuers, o.Scopes = v, nil, []string{"w"} })
	for token, want := range map[string]int{"the-token-of-ada-1": 200, "the-token-of-grace": 403, "the-token-of-nobody": 401} {
		if w := serve(r.Protect(whoami), request("GET", "Bearer "+token)); w.Code != want {
			t.Errorf("%s: status %d, want %d", token, w.Code, want)
		}
	}
}

func TestReadTokens(t *testing.T) {
	const secret = "4f1c0d7e9a6b4c0f8d2e5a7b9c1d3e5f"
	for _, c := range []struct{ name, file, problem string }{
		{"good", "# tokens\n\n" + secret + "  ada notes:read\tnotes:write\r\n9b8a7c6d5e4f3a2b1c0d9e8f7a6b5c4d\n", ""},
		{"no end of line", secret, ""},
		{"empty", "", "no tokens"},
		{"comments only", "# x\n #y\n", "no tokens"},
		{"short", "# x\nshort-secret ada", "line 2: it is shorter than 16"},
		{"odd characters", secret + `"x`, "line 1: it has characters"},
		{"a scope that is none", secret + ` ada a"b`, "line 1: a scope"},
		{"twice", secret + "\n" + secret, "token 2: it is there twice"},
		{"too large", strings.Repeat("# x\n", maxTokenFile/4+1), "larger than 1 MiB"},
		{"a line too large", strings.Repeat("#", maxTokenFile+10), "token"},
		{"too many", func() string {
			var b strings.Builder
			for i := range maxStatic + 1 {
				b.WriteString("token-number-" + string(rune('a'+i%26)) + strings.Repeat("x", i/26) + "0000\n")
			}
			return b.String()
		}(), "at most 1000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := ReadTokens(strings.NewReader(c.file))
			if c.problem == "" {
				if err != nil {
					t.Fatal(err)
				}
				if err := ask(v, secret); err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.problem) || strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "short-secret") {
				t.Errorf("got %v, want %s", err, c.problem)
			}
		})
	}
}

func TestReadTokenFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "tokens")
	if _, err := ReadTokenFile(name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := os.WriteFile(name, []byte("0123456789abcdef ada"), 0o600); err != nil {
		t.Fatal(err)
	}
	v, err := ReadTokenFile(name)
	if err != nil || ask(v, "0123456789abcdef") != nil {
		t.Error(err)
	}
}
