package mcpauth

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/tandem-rpc/tandem/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// Keys are made once: RSA takes its time.
var (
	rsaKey    = sync.OnceValue(func() crypto.Signer { return must(rsa.GenerateKey(rand.Reader, 2048)) })
	weakKey   = sync.OnceValue(func() crypto.Signer { return must(rsa.GenerateKey(rand.Reader, 1024)) })
	p256Key   = sync.OnceValue(func() crypto.Signer { return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) })
	otherP256 = sync.OnceValue(func() crypto.Signer { return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) })
	p384Key   = sync.OnceValue(func() crypto.Signer { return must(ecdsa.GenerateKey(elliptic.P384(), rand.Reader)) })
	edKey     = sync.OnceValue(func() crypto.Signer { _, k, err := ed25519.GenerateKey(rand.Reader); return must(k, err) })
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// sign makes a compact JWS. Headers override what the signer writes, except alg.
func sign(key any, alg string, headers map[string]any, payload any) string {
	o := &jose.SignerOptions{ExtraHeaders: make(map[jose.HeaderKey]any)}
	for name, v := range headers {
		o.ExtraHeaders[jose.HeaderKey(name)] = v
	}
	signer := must(jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(alg), Key: key}, o))
	body, ok := payload.([]byte)
	if !ok {
		body = must(json.Marshal(payload))
	}
	return must(must(signer.Sign(body)).CompactSerialize())
}

// unsigned makes a compact JWS of any parts.
func unsigned(header, payload, signature string) string {
	e := base64.RawURLEncoding.EncodeToString
	return e([]byte(header)) + "." + e([]byte(payload)) + "." + e([]byte(signature))
}

const (
	testIssuer   = "https://as.example"
	testResource = "https://mcp.example/mcp"
)

// m is an object of JSON.
type m = map[string]any

// goodClaims are those of a token that is fine, at the time of the call, with changes.
func goodClaims(change m) m {
	now := time.Now()
	c := m{"iss": testIssuer, "sub": "ada", "client_id": "editor", "aud": testResource, "scope": "notes:read",
		"iat": now.Unix(), "exp": now.Add(10 * time.Minute).Unix()}
	for name, v := range change {
		if v == nil {
			delete(c, name)
		} else {
			c[name] = v
		}
	}
	return c
}

// authority is an authorization server: metadata, keys and introspection.
type authority struct {
	issuer string

	mu       sync.Mutex
	keys     []jose.JSONWebKey
	raw      string // in place of keys
	header   http.Header
	status   int            // in place of 200
	hits     map[string]int // by path
	metadata m              // changes to the document
	tokens   map[string]m   // introspection responses
	last     *http.Request  // with its form
	hold     chan struct{}  // answers wait for it to be closed
	arrived  chan struct{}  // gets one for each request that came, if there is room
}

func newAuthority(issuer string, keys ...jose.JSONWebKey) *authority {
	return &authority{issuer: issuer, keys: keys, hits: make(map[string]int), arrived: make(chan struct{}, 1000), tokens: make(map[string]m)}
}

// set changes the authority.
func (a *authority) set(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
}

func (a *authority) count(path string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.hits[path]
}

func (a *authority) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	a.mu.Lock()
	a.hits[r.URL.Path]++
	hold, status, header, raw, last := a.hold, a.status, a.header, a.raw, a.issuer
	keys := jose.JSONWebKeySet{Keys: append([]jose.JSONWebKey{}, a.keys...)}
	document := m{"issuer": last, "jwks_uri": last + "/jwks"}
	for name, v := range a.metadata {
		document[name] = v
	}
	answer, known := a.tokens[r.PostForm.Get("token")]
	a.last = r
	a.mu.Unlock()
	select {
	case a.arrived <- struct{}{}:
	default:
	}
	if hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done():
			return
		}
	}
	for name, values := range header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", "application/json")
	if status != 0 {
		w.WriteHeader(status)
		return
	}
	switch r.URL.Path {
	case wellKnownIssuer:
		_ = json.NewEncoder(w).Encode(document)
	case "/jwks":
		if raw != "" {
			_, _ = w.Write([]byte(raw))
			return
		}
		_ = json.NewEncoder(w).Encode(keys)
	case "/introspect":
		if !known {
			answer = m{"active": false}
		}
		_ = json.NewEncoder(w).Encode(answer)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// memory is an http.Client whose requests never leave the process, so that the clock of a synctest bubble goes on around them.
func memory(h http.Handler) *http.Client { return &http.Client{Transport: handlerTransport{h}} }

type handlerTransport struct{ h http.Handler }

func (t handlerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	w := httptest.NewRecorder()
	t.h.ServeHTTP(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

func public(key crypto.Signer, kid string) jose.JSONWebKey {
	return jose.JSONWebKey{Key: key.Public(), KeyID: kid, Use: "sig"}
}

func jwkSet(keys ...jose.JSONWebKey) []byte {
	return must(json.Marshal(jose.JSONWebKeySet{Keys: keys}))
}

// newResource is New for tests.
func newResource(t testing.TB, change func(*Options)) *Resource {
	t.Helper()
	o := Options{Resource: testResource, Issuers: []string{testIssuer}}
	if change != nil {
		change(&o)
	}
	if o.Verifier == nil {
		o.Verifier = must(NewJWT(JWTOptions{Issuers: []Issuer{{URL: testIssuer, Keys: jwkSet(public(p256Key(), "k1"))}}}))
	}
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// accessToken is a good one, with changes to its claims.
func accessToken(change m) string {
	return sign(p256Key(), "ES256", m{"kid": "k1", "typ": "at+jwt"}, goodClaims(change))
}

// request makes a request to the test resource.
func request(method, authorization string) *http.Request {
	r := httptest.NewRequest(method, "/mcp", nil)
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	return r
}

// serve runs a request through h.
func serve(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// whoami answers with the principal.
var whoami = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	p, ok := PrincipalFrom(r.Context())
	if !ok {
		fmt.Fprint(w, "nobody")
		return
	}
	fmt.Fprint(w, p.Subject)
})

// verifierFunc is a Verifier.
type verifierFunc func(ctx context.Context, token string, r *http.Request) (*Principal, error)

func (f verifierFunc) Verify(ctx context.Context, token string, r *http.Request) (*Principal, error) {
	return f(ctx, token, r)
}

// proof makes a DPoP proof for a token, with changes to claims and headers. A duration becomes the date that far from now.
func proof(key crypto.Signer, alg, token string, claimChange, headerChange m) string {
	sum := sha256.Sum256([]byte(token))
	c := m{"jti": rand.Text(), "htm": "POST", "htu": testResource, "iat": time.Now().Unix(), "ath": base64.RawURLEncoding.EncodeToString(sum[:])}
	h := m{"typ": "dpop+jwt", "jwk": jose.JSONWebKey{Key: key.Public()}}
	for name, v := range claimChange {
		if d, ok := v.(time.Duration); ok {
			v = time.Now().Add(d).Unix()
		}
		if v == nil {
			delete(c, name)
		} else {
			c[name] = v
		}
	}
	for name, v := range headerChange {
		if v == nil {
			delete(h, name)
		} else {
			h[name] = v
		}
	}
	return sign(key, alg, h, c)
}

// thumbprint is cnf.jkt of a key.
func thumbprint(key crypto.Signer) string {
	k := jose.JSONWebKey{Key: key.Public()}
	return base64.RawURLEncoding.EncodeToString(must(k.Thumbprint(crypto.SHA256)))
}

func mustURL(s string) *url.URL { return must(url.Parse(s)) }
