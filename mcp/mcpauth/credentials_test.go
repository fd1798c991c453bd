package mcpauth

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

func TestTokenInQuery(t *testing.T) {
	for query, want := range map[string]bool{
		"":                                       false,
		"a=b":                                    false,
		"access_token=x":                         true,
		"access_token":                           true,
		"access_token=":                          true,
		"a=b&access_token=x":                     true,
		"a=b;access_token=x":                     true,
		"access%5Ftoken=x":                       true,
		"%61ccess_token=x":                       true,
		"%zz&access_token=x":                     true,
		"Access_Token=x":                         false,
		"x[access_token]=x":                      false,
		"a=access_token":                         false,
		"a=%26access_token":                      false,
		strings.Repeat("a", 10000):               false,
		"%61%63%63%65%73%73%5f%74%6f%6b%65%6e=x": true,
	} {
		if got := tokenInQuery(&url.URL{RawQuery: query}); got != want {
			t.Errorf("%.60q: %v", query, got)
		}
	}
}

func TestIsB64Token(t *testing.T) {
	for s, want := range map[string]bool{"a": true, "a==": true, "aZ09-._~+/": true, "": false, "=": false, "a=b": false, "a b": false, "a,b": false, "a\x00": false, "é": false, "a\n": false} {
		if isB64Token(s) != want {
			t.Errorf("%q", s)
		}
	}
}

func TestHeaderSize(t *testing.T) {
	if n := headerSize(http.Header{"Ab": {"cd", "e"}}); n != len("Ab: cd\r\nAb: e\r\n") {
		t.Error(n)
	}
}

// Nothing that is not a token, and nothing that is not said to be one, comes out of a request.
func FuzzCredentials(f *testing.F) {
	f.Add("Bearer abc", "", "")
	f.Add("bearer  abc= ", "access_token=x", "")
	f.Add("DPoP a.b.c", "a=b&c=d", "x")
	f.Add("Basic YTpi", "%zz", "Bearer x")
	f.Add("Bearer", ";&", "")
	f.Fuzz(func(t *testing.T, header, query, second string) {
		r := &http.Request{URL: &url.URL{RawQuery: query}, Header: http.Header{"Authorization": {header}}}
		if second != "" {
			r.Header["Authorization"] = append(r.Header["Authorization"], second)
		}
		scheme, token, err := credentials(r)
		if token == "" {
			return
		}
		switch {
		case err != nil || second != "" || scheme != bearer && scheme != dpop || !isB64Token(token) || len(token) > maxToken:
			t.Fatalf("%q %q %q: %q %q %v", header, query, second, scheme, token, err)
		case !strings.HasPrefix(strings.ToLower(header), strings.ToLower(scheme)+" ") || !strings.Contains(header, token):
			t.Fatalf("%q: %q %q", header, scheme, token)
		}
		if q, _ := url.ParseQuery(query); q.Has("access_token") {
			t.Fatalf("%q: with a token in the query", query)
		}
	})
}

// The whole way of a request with hostile headers: it is refused, and nothing of it comes back.
func FuzzProtect(f *testing.F) {
	key := edKey()
	r := newResource(f, withDPoP(func(d *DPoP) { d.Nonce = true }))
	h := r.Protect(whoami)
	token := accessToken(m{"cnf": m{"jkt": thumbprint(key)}})
	f.Add("DPoP "+token, proof(key, "EdDSA", token, nil, nil))
	f.Add("Bearer "+token, "")
	f.Add("Bearer "+unsigned(`{"alg":"none"}`, `{"iss":"https://as.example"}`, ""), "a.b.c")
	f.Add("Bearer "+unsigned(`{"alg":"ES256","kid":"k1"}`, `{"iss":"https://as.example","exp":99999999999}`, "x"), "")
	f.Fuzz(func(t *testing.T, authorization, dpop string) {
		req := httptest.NewRequest("POST", "/mcp", nil)
		req.Header["Authorization"] = []string{authorization}
		req.Header["Dpop"] = []string{dpop}
		w := serve(h, req)
		// No nonce of ours can be guessed, so nobody gets in.
		if w.Code < 400 || w.Code >= 500 && w.Code != 503 {
			t.Fatalf("status %d", w.Code)
		}
		if _, err := ParseChallenges(w.Header().Values("WWW-Authenticate")); err != nil {
			t.Fatalf("%v", w.Header())
		}
	})
}
