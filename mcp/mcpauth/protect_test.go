package mcpauth

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tandem-rpc/tandem/mcp"
)

const testMetadata = `resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/mcp"`

func TestProtect(t *testing.T) {
	good := accessToken(nil)
	down := errors.New("connection refused")
	for _, c := range []struct {
		name      string
		options   func(*Options)
		request   func(*http.Request)
		auth      string
		status    int
		challenge []string // nil: none
		body      string
	}{
		{name: "good", auth: "Bearer " + good, status: 200, body: "ada"},
		{name: "scheme in capitals", auth: "BEARER " + good, status: 200, body: "ada"},
		{name: "blanks", auth: "bearer   " + good + " ", status: 200, body: "ada"},
		{
			name: "none", status: 401, challenge: []string{"Bearer " + testMetadata},
			body: `{"error":"unauthorized","error_description":"An access token is needed"}`,
		},
		{
			name: "none, scopes needed", options: func(o *Options) { o.Scopes = []string{"a", "b"} },
			status: 401, challenge: []string{`Bearer scope="a b", ` + testMetadata},
		},
		{name: "another scheme", auth: "Basic YTpi", status: 401, challenge: []string{"Bearer " + testMetadata}},
		{name: "DPoP where there is none", auth: "DPoP " + good, status: 401, challenge: []string{"Bearer " + testMetadata}},
		{
			name: "no token after the scheme", auth: "Bearer", status: 400,
			challenge: []string{`Bearer error="invalid_request", error_description="The Authorization header is malformed", ` + testMetadata},
			body:      `{"error":"invalid_request","error_description":"The Authorization header is malformed"}`,
		},
		{name: "two tokens", auth: "Bearer a, Bearer b", status: 400},
		{name: "not a token", auth: "Bearer \"x\"", status: 400},
		{name: "beyond ASCII", auth: "Bearer tökén", status: 400},
		{name: "padding only", auth: "Bearer ====", status: 400},
		{name: "too long", auth: "Bearer " + strings.Repeat("a", maxToken+1), status: 400},
		{
			name: "two headers", auth: "Bearer " + good, request: func(r *http.Request) { r.Header.Add("Authorization", "Bearer "+good) }, status: 400,
			body: `{"error":"invalid_request","error_description":"There must be one Authorization header"}`,
		},
		{
			name: "token in the query", request: func(r *http.Request) { r.URL.RawQuery = "access_token=" + good }, status: 400,
			body: `{"error":"invalid_request","error_description":"Access tokens are accepted in the Authorization header only"}`,
		},
		{name: "token in the query too", auth: "Bearer " + good, request: func(r *http.Request) { r.URL.RawQuery = "a=%zz&access%5ftoken=x" }, status: 400},
		{name: "an innocent query", auth: "Bearer " + good, request: func(r *http.Request) { r.URL.RawQuery = "xaccess_token=1&access_tokens=2" }, status: 200},
		{name: "token in a form", request: func(r *http.Request) {
			r.Method = "POST"
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Body = http.NoBody
		}, status: 401},
		{name: "headers too large", auth: "Bearer " + good, request: func(r *http.Request) { r.Header.Set("X", strings.Repeat("x", maxHeader)) }, status: 431},
		{name: "headers too large for this server", options: func(o *Options) { o.MaxHeader = 100 }, auth: "Bearer " + good, status: 431},
		{
			name: "forged", auth: "Bearer " + sign(otherP256(), "ES256", m{"kid": "k1"}, goodClaims(nil)), status: 401,
			challenge: []string{`Bearer error="invalid_token", error_description="The access token is not valid", ` + testMetadata},
			body:      `{"error":"invalid_token","error_description":"The access token is not valid"}`,
		},
		{
			name: "expired", auth: "Bearer " + accessToken(m{"exp": 1}), status: 401,
			challenge: []string{`Bearer error="invalid_token", error_description="The access token has expired", ` + testMetadata},
		},
		{
			name: "for another resource", auth: "Bearer " + accessToken(m{"aud": "https://other.example"}), status: 401,
			challenge: []string{`Bearer error="invalid_token", error_description="The access token is for another resource", ` + testMetadata},
		},
		{name: "for nobody", auth: "Bearer " + accessToken(m{"aud": nil}), status: 401},
		{name: "for several", auth: "Bearer " + accessToken(m{"aud": []string{"x", testResource}}), status: 200},
		{name: "for us in another spelling", auth: "Bearer " + accessToken(m{"aud": "HTTPS://MCP.example:443/mcp"}), status: 200},
		{name: "for the path below", auth: "Bearer " + accessToken(m{"aud": testResource + "/x"}), status: 401},
		{name: "for the origin", auth: "Bearer " + accessToken(m{"aud": "https://mcp.example"}), status: 401},
		{
			name: "for the origin, accepted", options: func(o *Options) { o.Audiences = []string{"https://mcp.example"} },
			auth: "Bearer " + accessToken(m{"aud": "https://mcp.example/"}), status: 200,
		},
		{name: "an application id", options: func(o *Options) { o.Audiences = []string{"api://1234"} }, auth: "Bearer " + accessToken(m{"aud": "api://1234"}), status: 200},
		{name: "any audience", options: func(o *Options) { o.AnyAudience = true }, auth: "Bearer " + accessToken(m{"aud": nil}), status: 200},
		{
			name: "scope missing", options: func(o *Options) { o.Scopes = []string{"notes:read", "notes:write"} }, auth: "Bearer " + good, status: 403,
			challenge: []string{`Bearer error="insufficient_scope", error_description="The access token does not allow this operation", scope="notes:read notes:write", ` + testMetadata},
			body:      `{"error":"insufficient_scope","error_description":"The access token does not allow this operation"}`,
		},
		{
			name: "scope missing, union", options: func(o *Options) { o.Scopes = []string{"notes:write"}; o.ChallengeUnion = true }, auth: "Bearer " + good, status: 403,
			challenge: []string{`Bearer error="insufficient_scope", error_description="The access token does not allow this operation", scope="notes:read notes:write", ` + testMetadata},
		},
		{
			name: "scope implied", options: func(o *Options) {
				o.Scopes = []string{"notes:list"}
				o.Implies = func(have, want string) bool { return have == "notes:read" && want == "notes:list" }
			}, auth: "Bearer " + good, status: 200,
		},
		{
			name: "verifier down", options: func(o *Options) {
				o.Verifier = verifierFunc(func(context.Context, string, *http.Request) (*Principal, error) { return nil, down })
			}, auth: "Bearer " + good, status: 503,
			body: `{"error":"temporarily_unavailable","error_description":"The access token cannot be verified at the moment"}`,
		},
		{name: "verifier without an answer", options: func(o *Options) {
			o.Verifier = verifierFunc(func(context.Context, string, *http.Request) (*Principal, error) { return nil, nil })
		}, auth: "Bearer " + good, status: 503},
		{name: "bound to a key", auth: "Bearer " + accessToken(m{"cnf": m{"jkt": "x"}}), status: 401},
		{name: "bound to a certificate", auth: "Bearer " + accessToken(m{"cnf": m{"x5t#S256": "x"}}), status: 401},
		{name: "bound to something else", auth: "Bearer " + accessToken(m{"cnf": m{"kid": "x"}}), status: 401},
		{name: "bound to nothing", auth: "Bearer " + accessToken(m{"cnf": m{}}), status: 401},
		{name: "OPTIONS", request: func(r *http.Request) { r.Method = "OPTIONS" }, auth: "Bearer " + good, status: 200, body: "nobody"},
		{name: "DELETE", request: func(r *http.Request) { r.Method = "DELETE" }, status: 401},
		{name: "POST", request: func(r *http.Request) { r.Method = "POST" }, status: 401},
		{name: "HEAD", request: func(r *http.Request) { r.Method = "HEAD" }, status: 401},
	} {
		t.Run(c.name, func(t *testing.T) {
			var reports []string
			r := newResource(t, func(o *Options) {
				o.Report = func(_ context.Context, err error) { reports = append(reports, err.Error()) }
				if c.options != nil {
					c.options(o)
				}
			})
			req := request("GET", c.auth)
			if c.request != nil {
				c.request(req)
			}
			w := serve(r.Protect(whoami), req)
			if w.Code != c.status {
				t.Fatalf("status %d, want %d: %s %v", w.Code, c.status, w.Body, reports)
			}
			if got := w.Header().Values("WWW-Authenticate"); c.challenge != nil && !reflect.DeepEqual(got, c.challenge) {
				t.Errorf("challenge\ngot  %q\nwant %q", got, c.challenge)
			}
			if c.body != "" && w.Body.String() != c.body {
				t.Errorf("body %s, want %s", w.Body, c.body)
			}
			if refused := c.status != 200; refused != (len(reports) == 1) {
				t.Errorf("%d reports: %v", len(reports), reports)
			}
			if c.status == 200 {
				return
			}
			if ct := w.Header().Get("Content-Type"); ct != "application/json" {
				t.Errorf("Content-Type %q", ct)
			}
			if body := w.Body.Bytes(); req.Method != "HEAD" && !json.Valid(body) || req.Method == "HEAD" && len(body) > 0 {
				t.Errorf("body %s", body)
			}
			has := len(w.Header().Values("WWW-Authenticate")) > 0
			if want := c.status < 431; has != want {
				t.Errorf("challenge %v", w.Header())
			}
			if has && !strings.Contains(strings.Join(w.Header().Values("Access-Control-Expose-Headers"), ","), "WWW-Authenticate") {
				t.Errorf("scripts cannot see the challenge: %v", w.Header())
			}
			if c.status == 503 && w.Header().Get("Retry-After") != "5" {
				t.Errorf("Retry-After %q", w.Header().Get("Retry-After"))
			}
			// Whatever happened, nobody hears what was sent.
			said := fmt.Sprint(reports, w.Header(), w.Body)
			for _, secret := range strings.FieldsFunc(c.auth, func(r rune) bool { return r == ' ' || r == '.' || r == ',' }) {
				if len(secret) > 20 && strings.Contains(said, secret) {
					t.Errorf("a part of the token in %s", said)
				}
			}
		})
	}
}

// What is behind Protect has the principal and not the token.
func TestProtectKeepsTheToken(t *testing.T) {
	r := newResource(t, nil)
	token := accessToken(nil)
	req := request("GET", "Bearer "+token)
	req.Header.Set("DPoP", "x")
	req.Header.Set("Accept", "text/event-stream")
	var seen *http.Request
	serve(r.Protect(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = r })), req)
	if seen.Header.Get("Authorization") != "" || seen.Header.Get("DPoP") != "" || seen.Header.Get("Accept") == "" {
		t.Errorf("headers %v", seen.Header)
	}
	if req.Header.Get("Authorization") == "" {
		t.Error("the request of the caller was changed")
	}
	p, ok := PrincipalFrom(seen.Context())
	if !ok || p.Subject != "ada" || p.TokenHash != sha256.Sum256([]byte(token)) {
		t.Fatalf("%v", p)
	}
	if q, ok := mcp.CallerFrom[*Principal](seen.Context()); !ok || q != p {
		t.Error("mcp.CallerFrom has another")
	}
	for _, text := range []string{fmt.Sprint(p), fmt.Sprintf("%+v %#v", p, p), fmt.Sprintf("%+v", *p)} {
		for part := range strings.SplitSeq(token, ".") {
			if strings.Contains(text, part) {
				t.Errorf("a part of the token in %s", text)
			}
		}
	}
}

// A principal that a verifier shares is not changed by the resources that use it.
func TestProtectCopiesThePrincipal(t *testing.T) {
	shared := &Principal{Subject: "ada", Audience: []string{testResource}}
	v := verifierFunc(func(context.Context, string, *http.Request) (*Principal, error) { return shared, nil })
	r := newResource(t, func(o *Options) { o.Verifier, o.Implies = v, func(string, string) bool { return true } })
	if w := serve(r.Protect(whoami), request("GET", "Bearer x")); w.Code != 200 {
		t.Fatal(w.Code)
	}
	if shared.implies != nil || shared.TokenHash != (digest{}) {
		t.Error("changed")
	}
}

// A token bound to a client certificate is good on a connection with it (RFC 8705 section 3).
func TestProtectCertificate(t *testing.T) {
	cert := &x509.Certificate{Raw: []byte("the certificate")}
	sum := sha256.Sum256(cert.Raw)
	token := accessToken(m{"cnf": m{"x5t#S256": base64.RawURLEncoding.EncodeToString(sum[:])}})
	r := newResource(t, nil)
	for _, c := range []struct {
		name string
		tls  *tls.ConnectionState
		want int
	}{
		{"with it", &tls.ConnectionState{PeerCertificates: []*x509.Certificate{cert}}, 200},
		{"with another", &tls.ConnectionState{PeerCertificates: []*x509.Certificate{{Raw: []byte("another")}}}, 401},
		{"without", &tls.ConnectionState{}, 401},
		{"plain", nil, 401},
	} {
		t.Run(c.name, func(t *testing.T) {
			req := request("GET", "Bearer "+token)
			req.TLS = c.tls
			if w := serve(r.Protect(whoami), req); w.Code != c.want {
				t.Errorf("status %d, want %d", w.Code, c.want)
			}
		})
	}
}

// All of it over a real connection, with keys from a real authority.
func TestProtectEndToEnd(t *testing.T) {
	as := newAuthority("")
	issuer := httptest.NewServer(as)
	defer issuer.Close()
	as.issuer, as.keys = issuer.URL, append(as.keys, public(edKey(), "ed"))
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	defer server.Close()
	r, err := New(Options{
		Resource: server.URL + "/mcp", Issuers: []string{issuer.URL},
		Verifier: must(NewJWT(JWTOptions{Issuers: []Issuer{{URL: issuer.URL}}})),
	})
	if err != nil {
		t.Fatal(err)
	}
	mux.Handle("/.well-known/", r.Metadata())
	mux.Handle("/mcp", r.Protect(whoami))
	client := server.Client()

	// As a client finds its way: challenge, metadata, issuer, keys.
	resp := must(client.Get(server.URL + "/mcp"))
	resp.Body.Close()
	challenges := must(ParseChallenges(resp.Header.Values("WWW-Authenticate")))
	if resp.StatusCode != 401 || len(challenges) != 1 {
		t.Fatalf("%d %v", resp.StatusCode, challenges)
	}
	resp = must(client.Get(challenges[0].Param("resource_metadata")))
	var doc document
	if err := json.NewDecoder(resp.Body).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if doc.Resource != server.URL+"/mcp" || len(doc.AuthorizationServers) != 1 || doc.AuthorizationServers[0] != issuer.URL {
		t.Errorf("%+v", doc)
	}
	for _, c := range []struct {
		aud    string
		status int
	}{{doc.Resource, 200}, {issuer.URL, 401}} {
		req := must(http.NewRequest("GET", doc.Resource, nil))
		req.Header.Set("Authorization", "Bearer "+sign(edKey(), "EdDSA", m{"kid": "ed"}, goodClaims(m{"iss": issuer.URL, "aud": c.aud})))
		resp := must(client.Do(req))
		resp.Body.Close()
		if resp.StatusCode != c.status {
			t.Errorf("audience %s: status %d, want %d", c.aud, resp.StatusCode, c.status)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	static := must(NewStatic(StaticToken{Token: "0123456789abcdef"}))
	other := verifierFunc(nil)
	for name, o := range map[string]Options{
		"nothing":             {},
		"no verifier":         {Resource: testResource, Issuers: []string{testIssuer}},
		"no issuer":           {Resource: testResource, Verifier: other},
		"an issuer by http":   {Resource: testResource, Verifier: static, Issuers: []string{"http://as.example"}},
		"relative":            {Resource: "/mcp", Verifier: static},
		"plain http":          {Resource: "http://mcp.example/mcp", Verifier: static},
		"query":               {Resource: testResource + "?a=b", Verifier: static},
		"empty query":         {Resource: testResource + "?", Verifier: static},
		"fragment":            {Resource: testResource + "#a", Verifier: static},
		"user-info":           {Resource: "https://a:b@mcp.example/mcp", Verifier: static},
		"no host":             {Resource: "https:///mcp", Verifier: static},
		"port only":           {Resource: "https://:443/mcp", Verifier: static},
		"a blank":             {Resource: "https://mcp.example/a b", Verifier: static},
		"a line":              {Resource: "https://mcp.example/\r\nX: y", Verifier: static},
		"beyond ASCII":        {Resource: "https://mcp.example/é", Verifier: static},
		"not a URL":           {Resource: "https://%zz", Verifier: static},
		"scope with a blank":  {Resource: testResource, Verifier: static, Scopes: []string{"a b"}},
		"scope with a quote":  {Resource: testResource, Verifier: static, Scopes: []string{`a"b`}},
		"empty scope":         {Resource: testResource, Verifier: static, ScopesSupported: []string{""}},
		"empty audience":      {Resource: testResource, Verifier: static, Audiences: []string{""}},
		"proofs by HS256":     {Resource: testResource, Verifier: static, DPoP: &DPoP{Algorithms: []string{"HS256"}}},
		"an endless window":   {Resource: testResource, Verifier: static, DPoP: &DPoP{Window: 48 * time.Hour}},
		"short nonce secrets": {Resource: testResource, Verifier: static, DPoP: &DPoP{Nonce: true, NonceKeys: [][]byte{[]byte("short")}}},
	} {
		t.Run(name, func(t *testing.T) {
			if r, err := New(o); err == nil || r != nil {
				t.Error("accepted")
			} else if !strings.HasPrefix(err.Error(), "mcpauth: Options.") || strings.Contains(err.Error(), "a:b@") {
				t.Errorf("unhelpful: %v", err)
			}
		})
	}
	for _, uri := range []string{"http://localhost:8080/mcp", "http://127.0.0.1/mcp", "http://[::1]:80", "https://mcp.example", "https://mcp.example/a/"} {
		if _, err := New(Options{Resource: uri, Verifier: static}); err != nil {
			t.Errorf("%s: %v", uri, err)
		}
	}
}

func TestError(t *testing.T) {
	e := refusal(fmt.Errorf("wrapped: %w", ErrExpiredToken), bearer)
	if e.Status != 401 || !errors.Is(e, ErrInvalidToken) || e.Error() != "mcpauth: request refused: 401 invalid_token: wrapped: mcpauth: invalid access token: expired" {
		t.Errorf("%v", e)
	}
	if e := (&Error{Status: 401, Description: "An access token is needed"}).Error(); e != "mcpauth: request refused: 401: An access token is needed" {
		t.Error(e)
	}
}

func TestJSONRPCErrors(t *testing.T) {
	r := newResource(t, func(o *Options) { o.JSONRPCErrors = true })
	for auth, want := range map[string]string{
		"":         `{"jsonrpc":"2.0","error":{"code":-32600,"message":"An access token is needed","data":{"error":"unauthorized","error_description":"An access token is needed"}}}`,
		"Bearer x": `{"jsonrpc":"2.0","error":{"code":-32600,"message":"The access token is not valid","data":{"error":"invalid_token","error_description":"The access token is not valid"}}}`,
	} {
		w := serve(r.Protect(whoami), request("POST", auth))
		if w.Code != 401 || w.Body.String() != want || !strings.HasPrefix(w.Header().Get("WWW-Authenticate"), "Bearer ") {
			t.Errorf("%q: %d %s %v", auth, w.Code, w.Body, w.Header())
		}
	}
}
