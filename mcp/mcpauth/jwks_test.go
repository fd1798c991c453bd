package mcpauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// keyed is a verifier for tokens of an authority that is in memory.
func keyed(as *authority) *JWT {
	return must(NewJWT(JWTOptions{Issuers: []Issuer{{URL: as.issuer}}, Client: memory(as)}))
}

// check verifies a token signed with a key.
func check(v *JWT, key any, kid string) error {
	_, err := v.Verify(context.Background(), sign(key, "ES256", m{"kid": kid}, goodClaims(nil)), nil)
	return err
}

func TestKeysRotate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		as := newAuthority(testIssuer, public(p256Key(), "old"))
		v := keyed(as)
		if err := check(v, p256Key(), "old"); err != nil {
			t.Fatal(err)
		}
		as.set(func() { as.keys = []jose.JSONWebKey{public(otherP256(), "new")} })
		// Too early to ask again: the token is refused, not the server's fault.
		if err := check(v, otherP256(), "new"); !errors.Is(err, ErrInvalidToken) {
			t.Errorf("before %v: %v", refreshEvery, err)
		}
		time.Sleep(refreshEvery)
		if err := check(v, otherP256(), "new"); err != nil {
			t.Errorf("new key: %v", err)
		}
		if err := check(v, p256Key(), "old"); !errors.Is(err, ErrInvalidToken) {
			t.Errorf("withdrawn key: %v", err)
		}
		if n := as.count("/jwks"); n != 2 {
			t.Errorf("%d requests for keys, want 2", n)
		}
	})
}

// The authority was set up again and gave its new key the old name.
func TestKeysRotateUnderTheSameName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		as := newAuthority(testIssuer, public(p256Key(), "k"))
		v := keyed(as)
		if err := check(v, p256Key(), "k"); err != nil {
			t.Fatal(err)
		}
		as.set(func() { as.keys = []jose.JSONWebKey{public(otherP256(), "k")} })
		time.Sleep(refreshEvery)
		if err := check(v, otherP256(), "k"); err != nil {
			t.Error(err)
		}
	})
}

// Tokens with made-up kids cost the authority one request in 30 seconds, however many there are.
func TestUnknownKidStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		as := newAuthority(testIssuer, public(p256Key(), "k"))
		v := keyed(as)
		if err := check(v, p256Key(), "k"); err != nil {
			t.Fatal(err)
		}
		const minutes = 5
		var wg sync.WaitGroup
		for second := range minutes * 60 {
			for i := range 4 {
				wg.Go(func() {
					if err := check(v, otherP256(), fmt.Sprint("made up ", second, i)); !errors.Is(err, ErrInvalidToken) {
						t.Errorf("got %v", err)
					}
				})
			}
			wg.Wait()
			time.Sleep(time.Second)
		}
		if n, most := as.count("/jwks"), 1+minutes*2; n > most {
			t.Errorf("%d requests for keys, want at most %d", n, most)
		}
		if err := check(v, p256Key(), "k"); err != nil {
			t.Errorf("a good token after the storm: %v", err)
		}
	})
}

// Many requests at once, none with keys yet, make one request for keys.
func TestKeysAreFetchedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		as := newAuthority(testIssuer, public(p256Key(), "k"))
		as.hold = make(chan struct{})
		v := keyed(as)
		errs := make(chan error, 50)
		for range cap(errs) {
			go func() { errs <- check(v, p256Key(), "k") }()
		}
		// One who waits may go.
		ctx, cancel := context.WithCancel(context.Background())
		gone := make(chan error, 1)
		synctest.Wait()
		go func() {
			_, err := v.Verify(ctx, sign(p256Key(), "ES256", nil, goodClaims(nil)), nil)
			gone <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-gone; !errors.Is(err, ErrUnavailable) || !errors.Is(err, context.Canceled) {
			t.Errorf("who went away: %v", err)
		}
		close(as.hold)
		for range cap(errs) {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		if n := as.count("/jwks"); n != 1 {
			t.Errorf("%d requests for keys", n)
		}
	})
}

// The one that asks goes away; the others still get what it asked for.
func TestKeysOutliveTheirRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		as := newAuthority(testIssuer, public(p256Key(), "k"))
		as.hold = make(chan struct{})
		v := keyed(as)
		ctx, cancel := context.WithCancel(context.Background())
		first, second := make(chan error, 1), make(chan error, 1)
		go func() {
			_, err := v.Verify(ctx, sign(p256Key(), "ES256", nil, goodClaims(nil)), nil)
			first <- err
		}()
		synctest.Wait()
		go func() { second <- check(v, p256Key(), "k") }()
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(as.hold)
		<-first
		if err := <-second; err != nil {
			t.Error(err)
		}
	})
}

// An authority that hangs when keys are due holds up the one that asks it.
func TestKeysWhileOneAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		as := newAuthority(testIssuer, public(p256Key(), "k"))
		v := keyed(as)
		if err := check(v, p256Key(), "k"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(minFresh)
		as.set(func() { as.hold = make(chan struct{}) })
		start, first := time.Now(), make(chan error, 1)
		go func() { first <- check(v, p256Key(), "k") }()
		synctest.Wait()
		if err := check(v, p256Key(), "k"); err != nil || time.Since(start) != 0 {
			t.Errorf("another: %v after %v", err, time.Since(start))
		}
		if err := <-first; err != nil || time.Since(start) != fetchTime {
			t.Errorf("the one: %v after %v", err, time.Since(start))
		}
	})
}

func TestKeysGoStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		as := newAuthority(testIssuer, public(p256Key(), "k"))
		as.header = http.Header{"Cache-Control": {"public, max-age=600"}}
		v := keyed(as)
		if err := check(v, p256Key(), "k"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(9 * time.Minute)
		if err := check(v, p256Key(), "k"); err != nil || as.count("/jwks") != 1 {
			t.Errorf("fresh: %v, %d requests", err, as.count("/jwks"))
		}
		as.set(func() { as.status = http.StatusBadGateway })
		time.Sleep(2 * time.Minute)
		if err := check(v, p256Key(), "k"); err != nil {
			t.Errorf("stale, authority down: %v", err)
		}
		// A key that is not among the old ones may well exist: that is no reason to send anyone to the login page.
		if err := check(v, otherP256(), "other"); !errors.Is(err, ErrUnavailable) {
			t.Errorf("unknown key, authority down: %v", err)
		}
		// A bad signature by a known key is bad in any case.
		if err := check(v, otherP256(), "k"); !errors.Is(err, ErrInvalidToken) {
			t.Errorf("bad signature, authority down: %v", err)
		}
		time.Sleep(staleFor)
		if err := check(v, p256Key(), "k"); !errors.Is(err, ErrUnavailable) {
			t.Errorf("too stale: %v", err)
		}
		as.set(func() { as.status = 0 })
		time.Sleep(refreshEvery)
		if err := check(v, p256Key(), "k"); err != nil {
			t.Errorf("authority up again: %v", err)
		}
	})
}

func TestKeysAtTheBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		as := newAuthority(testIssuer, public(p256Key(), "k"))
		as.status = http.StatusServiceUnavailable
		v := keyed(as)
		for range 20 {
			if err := check(v, p256Key(), "k"); !errors.Is(err, ErrUnavailable) {
				t.Fatalf("got %v", err)
			}
		}
		if n := as.count(wellKnownIssuer); n != 1 {
			t.Errorf("asked %d times", n)
		}
		as.set(func() { as.status = 0 })
		time.Sleep(retryFirst)
		if err := check(v, p256Key(), "k"); err != nil {
			t.Errorf("after %v: %v", retryFirst, err)
		}
	})
}

// An authority that withdraws all its keys means it.
func TestKeysAllWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		as := newAuthority(testIssuer, public(p256Key(), "k"))
		v := keyed(as)
		if err := check(v, p256Key(), "k"); err != nil {
			t.Fatal(err)
		}
		as.set(func() { as.raw = `{"keys":[]}` })
		time.Sleep(minFresh)
		if err := check(v, p256Key(), "k"); !errors.Is(err, ErrInvalidToken) {
			t.Errorf("got %v", err)
		}
	})
}

// A panic while fetching is the caller's, and leaves nothing locked.
func TestKeysPanic(t *testing.T) {
	calls := 0
	c := &keyCache{fetch: func(context.Context) (*keySet, time.Duration, error) { calls++; panic("transport") }}
	func() {
		defer func() { _ = recover() }()
		_, _ = c.current(context.Background())
		t.Error("no panic")
	}()
	if _, err := c.current(context.Background()); !errors.Is(err, ErrUnavailable) || calls != 1 {
		t.Errorf("got %v after %d calls", err, calls)
	}
}

func TestFreshness(t *testing.T) {
	for _, c := range []struct {
		header string
		want   time.Duration
	}{
		{"", minFresh},
		{"max-age=3600", time.Hour},
		{"public, max-age=3600, must-revalidate", time.Hour},
		{"Max-Age=\"7200\"", 2 * time.Hour},
		{"max-age=1", minFresh},
		{"max-age=2000000000", maxFresh},
		{"max-age=99999999999999999999", minFresh},
		{"max-age=-5", minFresh},
		{"no-store", minFresh},
		{"max-age=3600, no-cache", minFresh},
		{"s-maxage=3600", minFresh},
	} {
		if got := freshness(http.Header{"Cache-Control": {c.header}}); got != c.want {
			t.Errorf("%q: got %v, want %v", c.header, got, c.want)
		}
	}
}

func TestParseKeySet(t *testing.T) {
	key := func(k jose.JSONWebKey) string { return string(must(k.MarshalJSON())) }
	with := func(k jose.JSONWebKey, member string) string {
		return strings.TrimSuffix(key(k), "}") + "," + member + "}"
	}
	p256 := jose.JSONWebKey{Key: p256Key().Public(), KeyID: "k"}
	for _, c := range []struct {
		name, set string
		want      int // -1: an error
	}{
		{"one", `{"keys":[` + key(p256) + `]}`, 1},
		{"empty", `{"keys":[]}`, 0},
		{"other members", `{"keys":[` + with(p256, `"x5c":["garbage"],"foo":{"a":[1]}`) + `],"more":1}`, 1},
		{"unknown kinds are skipped", `{"keys":[{"kty":"AKP","alg":"ML-DSA-44","pub":"x"},{"kty":"OKP","crv":"X25519","x":"AA"},{},5,null,"x",` + key(p256) + `]}`, 1},
		{"for encryption", `{"keys":[` + with(p256, `"use":"enc"`) + `]}`, 0},
		{"operations", `{"keys":[` + with(p256, `"key_ops":["sign"]`) + `,` + with(p256, `"key_ops":["verify"]`) + `]}`, 1},
		{"private", `{"keys":[` + key(jose.JSONWebKey{Key: p256Key()}) + `]}`, 0},
		{"symmetric", `{"keys":[{"kty":"oct","k":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}]}`, 0},
		{"not on the curve", `{"keys":[{"kty":"EC","crv":"P-256","x":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","y":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE"}]}`, 0},
		{"very many", `{"keys":[` + strings.Repeat(key(p256)+",", 500) + key(p256) + `]}`, maxKeys},
		{"no keys", `{}`, -1},
		{"null", `{"keys":null}`, -1},
		{"an object", `{"keys":{}}`, -1},
		{"not JSON", `<html>`, -1},
		{"twice", `{"keys":[],"keys":[]}`, -1},
		{"deep", `{"keys":` + strings.Repeat("[", 100000) + strings.Repeat("]", 100000) + `}`, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := parseKeySet([]byte(c.set))
			if got := -1; err == nil {
				if got = len(s.keys); got != c.want {
					t.Errorf("%d keys, want %d", got, c.want)
				}
			} else if c.want != -1 {
				t.Error(err)
			}
		})
	}
}

func TestDiscovery(t *testing.T) {
	// An issuer with a path, whose metadata is at the third place only.
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	defer server.Close()
	issuer := server.URL + "/tenant"
	keys := jwkSet(public(p256Key(), "k"))
	document := `{"issuer":"` + issuer + `","jwks_uri":"` + server.URL + `/keys"}`
	mux.HandleFunc("/tenant/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, document) })
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(keys) })
	token := sign(p256Key(), "ES256", nil, goodClaims(m{"iss": issuer}))

	for _, c := range []struct {
		name, document string
		want           error
	}{
		{"good", document, nil},
		{"of another issuer", strings.Replace(document, "/tenant", "", 1), ErrUnavailable},
		{"without keys", `{"issuer":"` + issuer + `"}`, ErrUnavailable},
		{"keys by http", `{"issuer":"` + issuer + `","jwks_uri":"http://keys.example/"}`, ErrUnavailable},
		{"no JSON", `hello`, ErrUnavailable},
		{"an array", `[]`, ErrUnavailable},
	} {
		t.Run(c.name, func(t *testing.T) {
			document = c.document
			v := must(NewJWT(JWTOptions{Issuers: []Issuer{{URL: issuer}}}))
			if _, err := v.Verify(context.Background(), token, nil); !errors.Is(err, c.want) || c.want == nil && err != nil {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestIssuerMetadata(t *testing.T) {
	for issuer, want := range map[string]string{
		"https://a.example":    "https://a.example/.well-known/oauth-authorization-server https://a.example/.well-known/openid-configuration",
		"https://a.example/":   "https://a.example/.well-known/oauth-authorization-server https://a.example/.well-known/openid-configuration",
		"https://a.example/t1": "https://a.example/.well-known/oauth-authorization-server/t1 https://a.example/.well-known/openid-configuration/t1 https://a.example/t1/.well-known/openid-configuration",
	} {
		if got := strings.Join(issuerMetadata(issuer), " "); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", issuer, got, want)
		}
	}
}

func TestCheckJWKS(t *testing.T) {
	for _, c := range []struct {
		issuer, where string
		ok            bool
	}{
		{"https://as.example", "https://keys.example/jwks", true},
		{"https://as.example", "https://127.0.0.1/jwks", false},
		{"https://as.example", "http://localhost:9000/jwks", false},
		{"http://localhost:8080", "http://127.0.0.1:8080/jwks", true},
		{"https://as.example", "file:///etc/passwd", false},
		{"https://as.example", "//as.example/jwks", false},
	} {
		if err := checkJWKS(c.issuer, c.where); (err == nil) != c.ok {
			t.Errorf("%s of %s: %v", c.where, c.issuer, err)
		}
	}
}
