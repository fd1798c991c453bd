package mcpauth

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
)

func TestJWTAlgorithms(t *testing.T) {
	as := newAuthority("")
	server := httptest.NewServer(as)
	defer server.Close()
	as.issuer = server.URL
	as.keys = []jose.JSONWebKey{public(rsaKey(), "rsa"), public(p256Key(), "p256"), public(p384Key(), "p384"), public(edKey(), "ed"), public(weakKey(), "weak")}
	v := must(NewJWT(JWTOptions{Issuers: []Issuer{{URL: server.URL}}}))
	for _, c := range []struct {
		alg, kid string
		key      any
		want     error
	}{
		{"RS256", "rsa", rsaKey(), nil},
		{"PS256", "rsa", rsaKey(), nil},
		{"ES256", "p256", p256Key(), nil},
		{"ES384", "p384", p384Key(), nil},
		{"EdDSA", "ed", edKey(), nil},
		{"RS512", "rsa", rsaKey(), ErrInvalidToken},         // not in the default list
		{"RS256", "weak", weakKey(), ErrInvalidToken},       // below 2048 bits
		{"RS256", "p256", rsaKey(), ErrInvalidToken},        // the kid of a key of another type
		{"ES256", "p256", otherP256(), ErrInvalidToken},     // somebody else's key
		{"RS256", "nobody's", rsaKey(), ErrInvalidToken},    // a kid that is not there
		{"ES256", "", p256Key(), nil},                       // no kid: the keys that fit are tried
		{"HS256", "rsa", make([]byte, 32), ErrInvalidToken}, // symmetric
	} {
		t.Run(c.alg+" "+c.kid, func(t *testing.T) {
			headers := m{}
			if c.kid != "" {
				headers["kid"] = c.kid
			}
			p, err := v.Verify(context.Background(), sign(c.key, c.alg, headers, goodClaims(m{"iss": server.URL})), nil)
			if !errors.Is(err, c.want) {
				t.Fatalf("got %v, want %v", err, c.want)
			}
			if err == nil && (p.Subject != "ada" || p.Issuer != server.URL || p.ClientID != "editor" || !slices.Equal(p.Scopes, []string{"notes:read"})) {
				t.Errorf("principal %+v", *p)
			}
		})
	}
	if n := as.count("/jwks"); n != 1 {
		t.Errorf("keys were fetched %d times, want once: bad tokens came within %v", n, refreshEvery)
	}
}

func TestJWTClaims(t *testing.T) {
	v := must(NewJWT(JWTOptions{Issuers: []Issuer{{URL: testIssuer, Keys: jwkSet(public(p256Key(), "k1"))}, {URL: "https://two.example", Keys: jwkSet(public(otherP256(), "k1"))}}}))
	now := time.Now()
	at := func(d time.Duration) int64 { return now.Add(d).Unix() }
	for _, c := range []struct {
		name    string
		claims  m
		headers m
		want    error
	}{
		{"plain", nil, nil, nil},
		{"expired a little", m{"exp": at(-30 * time.Second)}, nil, nil},
		{"expired", m{"exp": at(-61 * time.Second)}, nil, ErrExpiredToken},
		{"exp missing", m{"exp": nil}, nil, ErrInvalidToken},
		{"exp a string", m{"exp": "tomorrow"}, nil, ErrInvalidToken},
		{"exp negative", m{"exp": -1}, nil, ErrInvalidToken},
		{"exp enormous", m{"exp": 1e300}, nil, ErrInvalidToken},
		{"exp with a fraction", m{"exp": float64(at(time.Minute)) + 0.5}, nil, nil},
		{"nbf soon", m{"nbf": at(30 * time.Second)}, nil, nil},
		{"nbf later", m{"nbf": at(90 * time.Second)}, nil, ErrInvalidToken},
		{"iat soon", m{"iat": at(30 * time.Second)}, nil, nil},
		{"iat later", m{"iat": at(90 * time.Second)}, nil, ErrInvalidToken},
		{"iat missing", m{"iat": nil}, nil, nil},
		{"issuer of a stranger", m{"iss": "https://evil.example"}, nil, ErrInvalidToken},
		{"issuer with a slash", m{"iss": testIssuer + "/"}, nil, ErrInvalidToken},
		{"issuer missing", m{"iss": nil}, nil, ErrInvalidToken},
		{"issuer a number", m{"iss": 5}, nil, ErrInvalidToken},
		{"another issuer's name with this issuer's key", m{"iss": "https://two.example"}, nil, ErrInvalidToken},
		{"no subject", m{"sub": nil}, nil, nil},
		{"no client", m{"client_id": nil}, nil, nil},
		{"neither", m{"sub": nil, "client_id": nil}, nil, ErrInvalidToken},
		{"subject an object", m{"sub": m{}}, nil, ErrInvalidToken},
		{"audience with a number", m{"aud": []any{testResource, 5}}, nil, ErrInvalidToken},
		{"scope an object", m{"scope": m{}}, nil, ErrInvalidToken},
		{"cnf a string", m{"cnf": "x"}, nil, ErrInvalidToken},
		{"cnf.jkt a number", m{"cnf": m{"jkt": 5}}, nil, ErrInvalidToken},
		{"type JWT", nil, m{"typ": "JWT"}, nil},
		{"type with its tree", nil, m{"typ": "application/AT+JWT"}, nil},
		{"type missing", nil, m{"typ": nil}, nil},
		{"type of a logout token", nil, m{"typ": "logout+jwt"}, ErrInvalidToken},
		{"type of a proof", nil, m{"typ": "dpop+jwt"}, ErrInvalidToken},
		{"an ID token by nonce", m{"nonce": "n"}, m{"typ": "JWT"}, ErrInvalidToken},
		{"an ID token by at_hash", m{"at_hash": "h"}, m{"typ": nil}, ErrInvalidToken},
		{"an access token with a nonce", m{"nonce": "n"}, m{"typ": "at+jwt"}, nil},
		{"critical extension", nil, m{"crit": []string{"exp"}, "exp": 1}, ErrInvalidToken},
		{"unencoded payload", nil, m{"crit": []string{"b64"}, "b64": true}, ErrInvalidToken},
		{"kid a number", nil, m{"kid": 7}, ErrInvalidToken},
	} {
		t.Run(c.name, func(t *testing.T) {
			headers := m{"kid": "k1", "typ": "at+jwt"}
			for name, v := range c.headers {
				if headers[name] = v; v == nil {
					delete(headers, name)
				}
			}
			_, err := v.Verify(context.Background(), sign(p256Key(), "ES256", headers, goodClaims(c.claims)), nil)
			if !errors.Is(err, c.want) || c.want == nil && err != nil {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestJWTMalformed(t *testing.T) {
	v := must(NewJWT(JWTOptions{Issuers: []Issuer{{URL: testIssuer, Keys: jwkSet(public(p256Key(), "k1"))}}}))
	good := accessToken(nil)
	head, body, sig, _ := split(good)
	for name, token := range map[string]string{
		"empty":                  "",
		"opaque":                 "abcdef",
		"two parts":              head + "." + body,
		"four parts":             good + "." + sig,
		"alg none, no signature": unsigned(`{"alg":"none"}`, `{"iss":"`+testIssuer+`","sub":"ada","exp":9999999999}`, ""),
		"alg None":               unsigned(`{"alg":"None"}`, `{"iss":"`+testIssuer+`","sub":"ada","exp":9999999999}`, ""),
		"signature cut":          head + "." + body + ".",
		"signature of zeros":     head + "." + body + "." + strings.Repeat("A", len(sig)),
		"another payload":        unsigned(`{"alg":"ES256","kid":"k1"}`, `{"iss":"`+testIssuer+`","sub":"eve","exp":9999999999}`, "x"),
		"padding":                head + "=." + body + "." + sig,
		"claims are an array":    sign(p256Key(), "ES256", nil, []byte(`[1]`)),
		"claims are null":        sign(p256Key(), "ES256", nil, []byte(`null`)),
		"a claim twice":          sign(p256Key(), "ES256", nil, []byte(`{"iss":"`+testIssuer+`","iss":"`+testIssuer+`","sub":"a","exp":9999999999}`)),
		"something after":        sign(p256Key(), "ES256", nil, []byte(`{"iss":"`+testIssuer+`","sub":"a","exp":9999999999} {}`)),
		"names in capitals":      sign(p256Key(), "ES256", nil, []byte(`{"ISS":"`+testIssuer+`","sub":"a","exp":9999999999}`)),
		"deep":                   sign(p256Key(), "ES256", nil, []byte(`{"iss":"`+testIssuer+`","sub":"a","exp":9999999999,"x":`+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)+`}`)),
		"too long":               sign(p256Key(), "ES256", nil, goodClaims(m{"x": strings.Repeat("x", maxToken)})),
		"a JWS in JSON":          `{"payload":"` + body + `","protected":"` + head + `","signature":"` + sig + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			if p, err := v.Verify(context.Background(), token, nil); !errors.Is(err, ErrInvalidToken) || p != nil {
				t.Errorf("got %v, %v", p, err)
			}
		})
	}
	if _, err := v.Verify(context.Background(), good, nil); err != nil {
		t.Errorf("the good one: %v", err)
	}
}

// The public key must not serve as a secret for HS256, in any of its spellings.
func TestJWTPublicKeyAsSecret(t *testing.T) {
	set := jwkSet(public(rsaKey(), "k1"))
	v := must(NewJWT(JWTOptions{Issuers: []Issuer{{URL: testIssuer, Keys: set}}}))
	secret := append(must(public(rsaKey(), "k1").MarshalJSON()), make([]byte, 32)...)
	if _, err := v.Verify(context.Background(), sign(secret, "HS256", m{"kid": "k1"}, goodClaims(nil)), nil); !errors.Is(err, ErrInvalidToken) {
		t.Errorf("got %v", err)
	}
}

// A key in the token's own header says nothing about who made it.
func TestJWTEmbeddedKey(t *testing.T) {
	v := must(NewJWT(JWTOptions{Issuers: []Issuer{{URL: testIssuer, Keys: jwkSet(public(p256Key(), "k1"))}}}))
	token := sign(otherP256(), "ES256", m{"jwk": jose.JSONWebKey{Key: otherP256().Public(), KeyID: "k1"}, "kid": "k1"}, goodClaims(nil))
	if _, err := v.Verify(context.Background(), token, nil); !errors.Is(err, ErrInvalidToken) {
		t.Errorf("got %v", err)
	}
}

func TestJWTStrictAndLeeway(t *testing.T) {
	keys := jwkSet(public(p256Key(), "k1"))
	strict := must(NewJWT(JWTOptions{Issuers: []Issuer{{URL: testIssuer, Keys: keys}}, Strict: true, Leeway: -1}))
	for _, c := range []struct {
		name, typ string
		claims    m
		want      error
	}{
		{"access token", "at+jwt", nil, nil},
		{"JWT", "JWT", nil, ErrInvalidToken},
		{"no leeway", "at+jwt", m{"exp": time.Now().Add(-2 * time.Second).Unix()}, ErrExpiredToken},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := strict.Verify(context.Background(), sign(p256Key(), "ES256", m{"typ": c.typ}, goodClaims(c.claims)), nil); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestJWTPrincipal(t *testing.T) {
	v := must(NewJWT(JWTOptions{Issuers: []Issuer{{URL: testIssuer, Keys: jwkSet(public(p256Key(), "k1"))}}}))
	for _, c := range []struct {
		name   string
		claims m
		scopes []string
		client string
	}{
		{"scope", m{"scope": "a b"}, []string{"a", "b"}, "editor"},
		{"scp string", m{"scope": nil, "scp": "a b"}, []string{"a", "b"}, "editor"},
		{"scp array", m{"scope": nil, "scp": []string{"a", "b"}}, []string{"a", "b"}, "editor"},
		{"both", m{"scope": "a", "scp": []string{"b"}}, []string{"a", "b"}, "editor"},
		{"malformed ones", m{"scope": "a \"b\" c\\d é e"}, []string{"a", "e"}, "editor"},
		{"none", m{"scope": nil}, nil, "editor"},
		{"azp", m{"client_id": nil, "azp": "web"}, []string{"notes:read"}, "web"},
		{"cid", m{"client_id": nil, "cid": "okta"}, []string{"notes:read"}, "okta"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := v.Verify(context.Background(), accessToken(c.claims), nil)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(p.Scopes, c.scopes) || p.ClientID != c.client {
				t.Errorf("scopes %q client %q", p.Scopes, p.ClientID)
			}
			if p.Expiry.IsZero() || p.TokenHash == (digest{}) || p.Claims["iss"] != testIssuer {
				t.Errorf("%+v", *p)
			}
		})
	}
}

func TestNewJWTRefuses(t *testing.T) {
	for name, o := range map[string]JWTOptions{
		"no issuer":           {},
		"not a URL":           {Issuers: []Issuer{{URL: "as.example"}}},
		"plain http":          {Issuers: []Issuer{{URL: "http://as.example"}}},
		"issuer twice":        {Issuers: []Issuer{{URL: testIssuer}, {URL: testIssuer}}},
		"keys by http":        {Issuers: []Issuer{{URL: testIssuer, KeysURL: "http://as.example/jwks"}}},
		"keys with user-info": {Issuers: []Issuer{{URL: testIssuer, KeysURL: "https://a:b@as.example/jwks"}}},
		"none":                {Issuers: []Issuer{{URL: testIssuer, Algorithms: []string{"none"}}}},
		"symmetric":           {Issuers: []Issuer{{URL: testIssuer, Algorithms: []string{"ES256", "HS256"}}}},
		"keys that are none":  {Issuers: []Issuer{{URL: testIssuer, Keys: []byte("{}")}}},
		"no usable key":       {Issuers: []Issuer{{URL: testIssuer, Keys: jwkSet(public(weakKey(), "w"))}}},
		"a private key":       {Issuers: []Issuer{{URL: testIssuer, Keys: jwkSet(jose.JSONWebKey{Key: p256Key()})}}},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := NewJWT(o)
			if err == nil || v != nil {
				t.Fatal("accepted")
			}
			if !strings.HasPrefix(err.Error(), "mcpauth: JWTOptions.Issuers") || strings.Contains(err.Error(), "a:b@") {
				t.Errorf("unhelpful: %v", err)
			}
		})
	}
}

func TestVerifiers(t *testing.T) {
	down := errors.New("down")
	static := must(NewStatic(StaticToken{Token: "0123456789abcdef", Subject: "ada"}))
	fails := func(err error) Verifier {
		return verifierFunc(func(context.Context, string, *http.Request) (*Principal, error) { return nil, err })
	}
	for _, c := range []struct {
		name  string
		vs    Verifiers
		token string
		want  error
	}{
		{"first", Verifiers{static, fails(down)}, "0123456789abcdef", nil},
		{"second", Verifiers{fails(ErrInvalidToken), static}, "0123456789abcdef", nil},
		{"second after one that is down", Verifiers{fails(down), static}, "0123456789abcdef", nil},
		{"none", Verifiers{fails(ErrInvalidToken), static}, "x", ErrInvalidToken},
		{"down first", Verifiers{fails(down), static}, "x", down},
		{"down last", Verifiers{static, fails(down)}, "x", down},
		{"expired first", Verifiers{fails(ErrExpiredToken), static}, "x", ErrExpiredToken},
		{"expired last", Verifiers{static, fails(ErrExpiredToken)}, "x", ErrExpiredToken},
		{"empty", nil, "x", ErrInvalidToken},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := c.vs.Verify(context.Background(), c.token, nil)
			if !errors.Is(err, c.want) || (p != nil) != (c.want == nil) {
				t.Errorf("got %v, %v", p, err)
			}
		})
	}
}

// What is remembered of a token ends with it, and with the keys that it was checked with.
func TestJWTCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		as := newAuthority(testIssuer, public(p256Key(), "k"))
		v := keyed(as)
		token := sign(p256Key(), "ES256", m{"kid": "k"}, goodClaims(nil))
		short := sign(p256Key(), "ES256", m{"kid": "k"}, goodClaims(m{"exp": time.Now().Add(2 * time.Minute).Unix()}))
		first, err := v.Verify(t.Context(), token, nil)
		again, err2 := v.Verify(t.Context(), token, nil)
		if err != nil || err2 != nil || first != again {
			t.Fatalf("not remembered: %v %v", err, err2)
		}
		if err := ask(v, short); err != nil {
			t.Error(err)
		}
		time.Sleep(3 * time.Minute)
		if err := ask(v, short); !errors.Is(err, ErrExpiredToken) {
			t.Errorf("expired: %v", err)
		}
		as.set(func() { as.keys = nil })
		time.Sleep(2 * time.Minute)
		if err := ask(v, token); !errors.Is(err, ErrInvalidToken) {
			t.Errorf("its key is withdrawn: %v", err)
		}
	})
}
