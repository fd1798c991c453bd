package mcpauth

import (
	"crypto"
	"net/http"
	"testing"
)

// discard is a ResponseWriter that costs nothing.
type discard struct{ h http.Header }

func (d discard) Header() http.Header         { return d.h }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}

func BenchmarkProtect(b *testing.B) {
	ok := []byte("{}")
	inner := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(ok) })
	run := func(name string, v Verifier, token string) {
		b.Run(name, func(b *testing.B) {
			h := newResource(b, func(o *Options) { o.Verifier = v; o.Scopes = []string{"notes:read"} }).Protect(inner)
			r := request("POST", "Bearer "+token)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			w := discard{http.Header{}}
			if rec := serve(h, r); rec.Code != 200 {
				b.Fatal(rec.Code, rec.Body)
			}
			b.ReportAllocs()
			for b.Loop() {
				h.ServeHTTP(w, r)
			}
		})
	}
	run("static", must(NewStatic(StaticToken{Token: "0123456789abcdef", Scopes: []string{"notes:read"}})), "0123456789abcdef")
	for alg, key := range map[string]crypto.Signer{"RS256": rsaKey(), "ES256": p256Key(), "EdDSA": edKey()} {
		for name, size := range map[string]int{"": 0, ", no cache": -1} {
			v := must(NewJWT(JWTOptions{CacheSize: size, Issuers: []Issuer{{URL: testIssuer, Keys: jwkSet(public(key, "k"))}}}))
			run(alg+name, v, sign(key, alg, m{"kid": "k"}, goodClaims(nil)))
		}
	}
}

func BenchmarkDPoP(b *testing.B) {
	token := bound(p256Key())
	h := newResource(b, withDPoP(func(d *DPoP) { d.Replays = forgetful{} })).Protect(whoami)
	r := prove("POST", token, proof(p256Key(), "ES256", token, nil, nil))
	w := discard{http.Header{}}
	if rec := serve(h, r); rec.Code != 200 {
		b.Fatal(rec.Code)
	}
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(w, r)
	}
}
