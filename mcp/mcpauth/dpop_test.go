package mcpauth

import (
	"context"
	"crypto"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// bound is a token for the key.
func bound(key crypto.Signer) string { return accessToken(m{"cnf": m{"jkt": thumbprint(key)}}) }

// prove makes a request with a token and a proof.
func prove(method, token string, proofs ...string) *http.Request {
	r := request(method, "DPoP "+token)
	r.Header["Dpop"] = proofs
	return r
}

func withDPoP(change func(*DPoP)) func(*Options) {
	return func(o *Options) {
		o.DPoP = new(DPoP)
		if change != nil {
			change(o.DPoP)
		}
	}
}

func TestDPoP(t *testing.T) {
	privateJWK := func() json.RawMessage { return must(jose.JSONWebKey{Key: edKey()}.MarshalJSON()) }
	for _, c := range []struct {
		name          string
		key           crypto.Signer
		alg           string
		claims, heads m
		status        int
	}{
		{"good", edKey(), "EdDSA", nil, nil, 200},
		{"type in capitals", edKey(), "EdDSA", nil, m{"typ": "DPoP+JWT"}, 200},
		{"another key", p256Key(), "ES256", nil, nil, 401},
		{"the right key shown, another used", p256Key(), "ES256", nil, m{"jwk": jose.JSONWebKey{Key: edKey().Public()}}, 401},
		{"no key", edKey(), "EdDSA", nil, m{"jwk": nil}, 401},
		{"a private key", edKey(), "EdDSA", nil, m{"jwk": privateJWK()}, 401},
		{"type of an access token", edKey(), "EdDSA", nil, m{"typ": "at+jwt"}, 401},
		{"no type", edKey(), "EdDSA", nil, m{"typ": nil}, 401},
		{"critical extension", edKey(), "EdDSA", nil, m{"crit": []string{"x"}, "x": 1}, 401},
		{"another method", edKey(), "EdDSA", m{"htm": "GET"}, nil, 401},
		{"method in small letters", edKey(), "EdDSA", m{"htm": "post"}, nil, 401},
		{"no method", edKey(), "EdDSA", m{"htm": nil}, nil, 401},
		{"another URL", edKey(), "EdDSA", m{"htu": "https://mcp.example/other"}, nil, 401},
		{"another host", edKey(), "EdDSA", m{"htu": "https://evil.example/mcp"}, nil, 401},
		{"another scheme", edKey(), "EdDSA", m{"htu": "http://mcp.example/mcp"}, nil, 401},
		{"user-info", edKey(), "EdDSA", m{"htu": "https://mcp.example@evil.example/mcp"}, nil, 401},
		{"no URL", edKey(), "EdDSA", m{"htu": nil}, nil, 401},
		{"URL in another spelling", edKey(), "EdDSA", m{"htu": "HTTPS://MCP.EXAMPLE:443/%6dcp/"}, nil, 200},
		{"URL with a query", edKey(), "EdDSA", m{"htu": testResource + "?a=b#c"}, nil, 200},
		{"old", edKey(), "EdDSA", m{"iat": -300 * time.Second}, nil, 200},
		{"too old", edKey(), "EdDSA", m{"iat": -301 * time.Second}, nil, 401},
		{"new", edKey(), "EdDSA", m{"iat": 300 * time.Second}, nil, 200},
		{"too new", edKey(), "EdDSA", m{"iat": 301 * time.Second}, nil, 401},
		{"without a date", edKey(), "EdDSA", m{"iat": nil}, nil, 401},
		{"date a string", edKey(), "EdDSA", m{"iat": "now"}, nil, 401},
		{"for another token", edKey(), "EdDSA", m{"ath": "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo"}, nil, 401},
		{"for no token", edKey(), "EdDSA", m{"ath": nil}, nil, 401},
		{"without a name", edKey(), "EdDSA", m{"jti": nil}, nil, 401},
		{"empty name", edKey(), "EdDSA", m{"jti": ""}, nil, 401},
		{"a long name", edKey(), "EdDSA", m{"jti": strings.Repeat("x", maxJTI+1)}, nil, 401},
		{"name a number", edKey(), "EdDSA", m{"jti": 5}, nil, 401},
		{"very long", edKey(), "EdDSA", m{"x": strings.Repeat("x", maxProof)}, nil, 401},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var report error
				r := newResource(t, func(o *Options) { withDPoP(nil)(o); o.Report = func(_ context.Context, err error) { report = err } })
				token := bound(edKey())
				w := serve(r.Protect(whoami), prove("POST", token, proof(c.key, c.alg, token, c.claims, c.heads)))
				if w.Code != c.status {
					t.Fatalf("status %d, want %d: %v", w.Code, c.status, report)
				}
				if c.status == 200 {
					return
				}
				want := []string{`DPoP error="invalid_dpop_proof", error_description="The DPoP proof is not valid", algs="RS256 PS256 ES256 ES384 EdDSA", ` + testMetadata}
				if got := w.Header().Values("WWW-Authenticate"); !reflect.DeepEqual(got, want) {
					t.Errorf("challenge %q", got)
				}
			})
		})
	}
}

func TestDPoPPresentation(t *testing.T) {
	token, plain := bound(edKey()), accessToken(nil)
	good := func() string { return proof(edKey(), "EdDSA", token, nil, nil) }
	required := withDPoP(func(d *DPoP) { d.Required = true })
	offered := func(e string) []string {
		return []string{"Bearer " + e + testMetadata, `DPoP algs="RS256 PS256 ES256 ES384 EdDSA", ` + testMetadata}
	}
	for _, c := range []struct {
		name      string
		options   func(*Options)
		request   *http.Request
		status    int
		challenge []string
	}{
		{"nothing", withDPoP(nil), request("POST", ""), 401, offered("")},
		{"nothing, required", required, request("POST", ""), 401, offered("")[1:]},
		{"a plain token", withDPoP(nil), request("POST", "Bearer "+plain), 200, nil},
		{"a plain token, required", required, request("POST", "Bearer "+plain), 401, nil},
		{"a plain token as DPoP", withDPoP(nil), prove("POST", plain, proof(edKey(), "EdDSA", plain, nil, nil)), 401, nil},
		{"a bound token as Bearer", withDPoP(nil), request("POST", "Bearer "+token), 401, offered(`error="invalid_token", error_description="The access token is not valid", `)},
		{"a bound token as Bearer, with a proof", withDPoP(nil), func() *http.Request {
			r := prove("POST", token, good())
			r.Header.Set("Authorization", "Bearer "+token)
			return r
		}(), 401, nil},
		{"a bound token where there is no DPoP", nil, prove("POST", token, good()), 401, []string{"Bearer " + testMetadata}},
		{"no proof", withDPoP(nil), prove("POST", token), 401, nil},
		{"two proofs", withDPoP(nil), prove("POST", token, good(), good()), 401, nil},
		{"two proofs in one", withDPoP(nil), prove("POST", token, good()+", "+good()), 401, nil},
		{"garbage", withDPoP(nil), prove("POST", token, "x.y.z"), 401, nil},
		{"alg none", withDPoP(nil), prove("POST", token, unsigned(`{"typ":"dpop+jwt","alg":"none"}`, `{}`, "")), 401, nil},
		{"scheme in small letters", required, func() *http.Request {
			r := prove("POST", token, good())
			r.Header.Set("Authorization", "dpop "+token)
			return r
		}(), 200, nil},
		{"an algorithm that is off", withDPoP(func(d *DPoP) { d.Algorithms = []string{"ES256"} }), prove("POST", token, good()), 401, nil},
		{"scope missing", func(o *Options) { withDPoP(nil)(o); o.Scopes = []string{"x"} }, prove("POST", token, good()), 403, []string{
			`Bearer scope="x", ` + testMetadata,
			`DPoP error="insufficient_scope", error_description="The access token does not allow this operation", scope="x", algs="RS256 PS256 ES256 ES384 EdDSA", ` + testMetadata,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := serve(newResource(t, c.options).Protect(whoami), c.request)
			if w.Code != c.status {
				t.Fatalf("status %d, want %d: %v", w.Code, c.status, w.Header())
			}
			if got := w.Header().Values("WWW-Authenticate"); c.challenge != nil && !reflect.DeepEqual(got, c.challenge) {
				t.Errorf("challenge\ngot  %q\nwant %q", got, c.challenge)
			}
		})
	}
}

func TestDPoPReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		token := bound(edKey())
		h := newResource(t, withDPoP(nil)).Protect(whoami)
		once := proof(edKey(), "EdDSA", token, nil, nil)
		status := func(p string) int { return serve(h, prove("POST", token, p)).Code }
		if got := status(once); got != 200 {
			t.Fatalf("first: %d", got)
		}
		for _, wait := range []time.Duration{0, time.Second, proofWindow - 2*time.Second, 10 * time.Second, proofWindow} {
			time.Sleep(wait)
			if got := status(once); got != 401 {
				t.Errorf("again, %v later: %d", wait, got)
			}
		}
		if got := status(proof(edKey(), "EdDSA", token, nil, nil)); got != 200 {
			t.Errorf("another: %d", got)
		}
	})
}

// A proof that is refused for another reason does not count as used, and takes no memory.
func TestDPoPRefusedIsNotRemembered(t *testing.T) {
	mem := NewReplays(0).(*replays)
	r := newResource(t, withDPoP(func(d *DPoP) { d.Replays = mem }))
	token := bound(edKey())
	p := proof(edKey(), "EdDSA", token, nil, nil)
	if w := serve(r.Protect(whoami), prove("DELETE", token, p)); w.Code != 401 || mem.n != 0 {
		t.Errorf("status %d, %d remembered", w.Code, mem.n)
	}
	if w := serve(r.Protect(whoami), prove("POST", token, p)); w.Code != 200 || mem.n != 1 {
		t.Errorf("status %d, %d remembered", w.Code, mem.n)
	}
}

func TestDPoPNonce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		token := bound(edKey())
		h := newResource(t, withDPoP(func(d *DPoP) { d.Nonce = true })).Protect(whoami)
		send := func(nonce any) (status int, fresh string) {
			w := serve(h, prove("POST", token, proof(edKey(), "EdDSA", token, m{"nonce": nonce}, nil)))
			if w.Code == 401 && !strings.Contains(w.Header().Get("WWW-Authenticate"), `DPoP error="use_dpop_nonce"`) {
				t.Errorf("challenge %v", w.Header())
			}
			return w.Code, w.Header().Get("DPoP-Nonce")
		}
		status, nonce := send(nil)
		if status != 401 || nonce == "" {
			t.Fatalf("without: %d %q", status, nonce)
		}
		for _, c := range []struct {
			name   string
			wait   time.Duration
			nonce  any
			status int
			fresh  bool
		}{
			{"at once", 0, nonce, 200, false},
			{"again: it is not single use", 0, nonce, 200, false},
			{"later", nonceRenew, nonce, 200, true},
			{"too late", nonceRenew, nonce, 401, true},
			{"made up", 0, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", 401, true},
			{"altered", 0, "B" + nonce[1:], 401, true},
			{"cut", 0, nonce[:len(nonce)-1], 401, true},
			{"a number", 0, 5, 401, true},
		} {
			time.Sleep(c.wait)
			if status, fresh := send(c.nonce); status != c.status || (fresh != "") != c.fresh {
				t.Errorf("%s: %d %q, want %d", c.name, status, fresh, c.status)
			}
		}
	})
}

// Servers that share the secrets accept each other's nonces, and the secret can be changed.
func TestNonceKeys(t *testing.T) {
	a, b := []byte(strings.Repeat("a", 32)), []byte(strings.Repeat("b", 32))
	now := time.Now()
	old, both, other := must(newNonces([][]byte{a})), must(newNonces([][]byte{b, a})), must(newNonces(nil))
	nonce := old.mint(now)
	if _, ok := both.check(nonce, now); !ok {
		t.Error("the second key is not accepted")
	}
	if _, ok := old.check(both.mint(now), now); ok {
		t.Error("new nonces are not made with the first key")
	}
	if _, ok := other.check(nonce, now); ok {
		t.Error("a stranger's nonce is accepted")
	}
	if _, ok := old.check(nonce[:8]+"\n"+nonce[8:], now); ok {
		t.Error("a nonce with a line end in it is accepted")
	}
	if _, ok := old.check(old.mint(now.Add(time.Hour)), now); ok {
		t.Error("a nonce of the future is accepted")
	}
}

// Behind proxies the URL a client uses is configuration.
func TestDPoPURL(t *testing.T) {
	token := bound(edKey())
	for _, c := range []struct {
		name    string
		url     func(*http.Request) string
		htu     string
		handler func(http.Handler) http.Handler
		status  int
	}{
		{"prefix stripped here", nil, "https://mcp.example/mcp", func(h http.Handler) http.Handler { return http.StripPrefix("/mcp", h) }, 200},
		{"configured", func(*http.Request) string { return "https://front.example/x" }, "https://front.example/x", nil, 200},
		{"configured, the inner one shown", func(*http.Request) string { return "https://front.example/x" }, "https://mcp.example/mcp", nil, 401},
		{"configured badly", func(*http.Request) string { return "" }, "https://mcp.example/mcp", nil, 401},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newResource(t, withDPoP(func(d *DPoP) { d.URL = c.url })).Protect(whoami)
			if c.handler != nil {
				h = c.handler(h)
			}
			req := prove("POST", token, proof(edKey(), "EdDSA", token, m{"htu": c.htu}, nil))
			req.Header.Set("X-Forwarded-Host", "evil.example")
			req.Host = "evil.example"
			if w := serve(h, req); w.Code != c.status {
				t.Errorf("status %d, want %d", w.Code, c.status)
			}
		})
	}
}

type brokenReplays struct{}

func (brokenReplays) First(context.Context, [32]byte, time.Time) (bool, error) {
	return true, errors.New("the store is down")
}

// Not knowing whether a proof was used is not the client's fault, and no reason to accept it.
func TestDPoPStoreDown(t *testing.T) {
	token := bound(edKey())
	h := newResource(t, withDPoP(func(d *DPoP) { d.Replays = brokenReplays{} })).Protect(whoami)
	if w := serve(h, prove("POST", token, proof(edKey(), "EdDSA", token, nil, nil))); w.Code != 503 {
		t.Errorf("status %d", w.Code)
	}
}

func TestReplays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewReplays(3).(*replays)
		first := func(name byte, life time.Duration) (bool, error) {
			return r.First(context.Background(), digest{name}, time.Now().Add(life))
		}
		for _, name := range []byte("abc") {
			if ok, err := first(name, time.Duration(name-'a'+1)*time.Minute); !ok || err != nil {
				t.Fatalf("%c: %v %v", name, ok, err)
			}
		}
		if ok, err := first('a', time.Minute); ok || err != nil {
			t.Errorf("again: %v %v", ok, err)
		}
		if ok, err := first('d', time.Minute); ok || !errors.Is(err, ErrReplaysFull) {
			t.Errorf("full: %v %v", ok, err)
		}
		time.Sleep(59 * time.Second)
		if ok, _ := first('a', time.Minute); ok {
			t.Error("forgotten too early")
		}
		other := NewReplays(0)
		for _, later := range []time.Duration{0, 10 * time.Second, 31 * time.Second} {
			time.Sleep(later)
			if ok, _ := other.First(t.Context(), digest{9}, time.Now().Add(45*time.Second-later)); ok != (later == 0) {
				t.Errorf("first %v later: %v", later, ok)
			}
		}
		time.Sleep(replayBucket)
		if ok, err := first('d', time.Minute); !ok || err != nil {
			t.Errorf("after one was forgotten: %v %v", ok, err)
		}
		time.Sleep(time.Hour)
		if ok, _ := first('b', time.Minute); !ok || r.n != 1 || len(r.buckets) != 1 {
			t.Errorf("%d in %d buckets after an hour", r.n, len(r.buckets))
		}
	})
}

// Of many requests with one proof at one time, one gets through.
func TestReplaysRace(t *testing.T) {
	r := NewReplays(0)
	const n = 64
	wins := make(chan bool, n)
	for range n {
		go func() {
			ok, _ := r.First(context.Background(), digest{1}, time.Now().Add(time.Minute))
			wins <- ok
		}()
	}
	won := 0
	for range n {
		if <-wins {
			won++
		}
	}
	if won != 1 {
		t.Errorf("%d were first", won)
	}
}

// forgetful lets every proof be the first.
type forgetful struct{}

func (forgetful) First(context.Context, [32]byte, time.Time) (bool, error) { return true, nil }

// The first challenge brings a nonce along.
func TestDPoPNonceAtOnce(t *testing.T) {
	token := bound(edKey())
	h := newResource(t, withDPoP(func(d *DPoP) { d.Nonce = true })).Protect(whoami)
	nonce := serve(h, request("POST", "")).Header().Get("DPoP-Nonce")
	if w := serve(h, prove("POST", token, proof(edKey(), "EdDSA", token, m{"nonce": nonce}, nil))); nonce == "" || w.Code != 200 {
		t.Errorf("nonce %q: status %d", nonce, w.Code)
	}
}
