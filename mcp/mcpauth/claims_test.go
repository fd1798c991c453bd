package mcpauth

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

func TestClaimsDate(t *testing.T) {
	for _, c := range []struct {
		name string
		v    any
		want time.Time
		ok   bool
		bad  bool
	}{
		{"whole", 1700000000.0, time.Unix(1700000000, 0), true, false},
		{"with a fraction", 1700000000.5, time.Unix(1700000000, 5e8), true, false},
		{"zero", 0.0, time.Unix(0, 0), true, false},
		{"null", nil, time.Time{}, false, false},
		{"negative", -1.0, time.Time{}, false, true},
		{"beyond all years", 1e18, time.Time{}, false, true},
		{"a string", "1700000000", time.Time{}, false, true},
		{"an object", m{}, time.Time{}, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok, err := claims{"exp": c.v}.date("exp")
			if !got.Equal(c.want) || ok != c.ok || (err != nil) != c.bad {
				t.Errorf("got %v, %v, %v", got, ok, err)
			}
		})
	}
}

// Errors about claims name them and do not quote them: they go to logs.
func TestClaimsErrors(t *testing.T) {
	for name, c := range map[string]claims{
		"iss":                {"iss": []any{"secret"}},
		"aud":                {"aud": []any{"x", m{"secret": 1}}},
		"scope":              {"scope": m{"secret": 1}},
		"cnf":                {"cnf": "secret"},
		"cnf.jkt":            {"cnf": m{"jkt": []any{"secret"}}},
		"cnf.x5t#S256":       {"cnf": m{"x5t#S256": ""}},
		"neither a subject":  {"iss": "x"},
		"client_id is not":   {"client_id": 5.0},
		"azp is not a strin": {"azp": []any{"secret"}},
	} {
		_, err := c.principal()
		if !errors.Is(err, ErrInvalidToken) || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := parseClaims([]byte(`{"a":"secret`)); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("of the parser: %v", err)
	}
}

// One token has one spelling: no line breaks, no padding, no bits that are not looked at.
func TestSegment(t *testing.T) {
	for s, want := range map[string]bool{"": true, "QQ": true, "QR": false, "QQ==": false, "Q": false, "QQ\n": false, "Q\rQ": false, "Q+": false, "Q_": false, "_w": true} {
		if _, ok := segment(s); ok != want {
			t.Errorf("%q: want %v", s, want)
		}
	}
}

func TestFits(t *testing.T) {
	for _, c := range []struct {
		key  any
		only string // the alg of the JWK
		alg  string
		want bool
	}{
		{rsaKey().Public(), "", "RS256", true},
		{rsaKey().Public(), "", "PS512", true},
		{rsaKey().Public(), "RS256", "RS256", true},
		{rsaKey().Public(), "RS256", "PS256", false},
		{rsaKey().Public(), "", "ES256", false},
		{rsaKey().Public(), "", "EdDSA", false},
		{p256Key().Public(), "", "ES256", true},
		{p256Key().Public(), "", "ES384", false},
		{p256Key().Public(), "", "ES512", false},
		{p256Key().Public(), "", "RS256", false},
		{p384Key().Public(), "", "ES384", true},
		{edKey().Public(), "", "EdDSA", true},
		{edKey().Public(), "", "ES256", false},
		{[]byte("secret"), "", "HS256", false},
	} {
		k := &jose.JSONWebKey{Key: c.key, Algorithm: c.only}
		if fits(k, c.alg) != c.want {
			t.Errorf("%T %s for %s: want %v", c.key, c.only, c.alg, c.want)
		}
	}
}
