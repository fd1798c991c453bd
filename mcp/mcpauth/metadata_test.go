package mcpauth

import (
	"encoding/json"
	"net/http/httptest"
	"testing"
)

func TestMetadata(t *testing.T) {
	const deep, root = "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"
	shared := func(o *Options) { o.SharedHost = true }
	forward := func(o *Options) {
		o.ForwardIssuer = true
		o.Issuers = []string{"https://as.example/tenant", testIssuer}
	}
	atRoot := func(o *Options) { o.Resource = "https://mcp.example" }
	atSlash := func(o *Options) { o.Resource = "https://mcp.example/" }
	for _, c := range []struct {
		name    string
		options func(*Options)
		method  string
		path    string
		status  int
	}{
		{"at the path", nil, "GET", deep, 200},
		{"with a slash", nil, "GET", deep + "/", 200},
		{"HEAD", nil, "HEAD", deep, 200},
		{"at the root", nil, "GET", root, 200},
		{"at the root, shared host", shared, "GET", root, 404},
		{"at the path, shared host", shared, "GET", deep, 200},
		{"resource at the root", atRoot, "GET", root, 200},
		{"resource at the root, shared host", func(o *Options) { atRoot(o); shared(o) }, "GET", root, 200},
		{"resource at a slash", atSlash, "GET", root + "/", 200},
		{"another path", nil, "GET", deep + "/x", 404},
		{"another path, resource at the root", atRoot, "GET", deep, 404},
		{"another document", nil, "GET", "/.well-known/openid-configuration", 404},
		{"the issuer's, off", nil, "GET", wellKnownIssuer, 404},
		{"the issuer's", forward, "GET", wellKnownIssuer, 307},
		{"the issuer's below a path", forward, "GET", wellKnownIssuer + "/mcp", 404},
		{"preflight", nil, "OPTIONS", deep, 204},
		{"POST", nil, "POST", deep, 405},
		{"DELETE", nil, "DELETE", root, 405},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newResource(t, c.options)
			w := serve(r.Metadata(), httptest.NewRequest(c.method, c.path, nil))
			if w.Code != c.status {
				t.Fatalf("status %d, want %d: %s", w.Code, c.status, w.Body)
			}
			if w.Header().Get("Access-Control-Allow-Origin") != "*" || w.Header().Get("WWW-Authenticate") != "" {
				t.Errorf("headers %v", w.Header())
			}
			switch c.status {
			case 200:
				if w.Header().Get("Cache-Control") != "max-age=3600" || w.Header().Get("Content-Type") != "application/json" {
					t.Errorf("headers %v", w.Header())
				}
				if c.method == "HEAD" {
					if w.Body.Len() > 0 || w.Header().Get("Content-Length") == "0" {
						t.Errorf("HEAD: %q, %v", w.Body, w.Header())
					}
					return
				}
				var d document
				if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil || d.Resource != r.URI() || len(d.AuthorizationServers) == 0 {
					t.Errorf("%v: %s", err, w.Body)
				}
			case 307:
				if l := w.Header().Get("Location"); l != "https://as.example/.well-known/oauth-authorization-server/tenant" {
					t.Errorf("Location %s", l)
				}
			case 404, 405:
				if !json.Valid(w.Body.Bytes()) || w.Header().Get("Content-Type") != "application/json" {
					t.Errorf("not JSON: %v %s", w.Header(), w.Body)
				}
				if c.status == 405 && w.Header().Get("Allow") != "GET, HEAD, OPTIONS" {
					t.Errorf("Allow %q", w.Header().Get("Allow"))
				}
			}
		})
	}
}

func TestMetadataDocument(t *testing.T) {
	for _, c := range []struct {
		name    string
		options func(*Options)
		want    string
	}{
		{"least", nil, `{"resource":"https://mcp.example/mcp","authorization_servers":["https://as.example"],"bearer_methods_supported":["header"]}`},
		{"slash stays", func(o *Options) { o.Resource = "https://mcp.example/mcp/" }, `{"resource":"https://mcp.example/mcp/","authorization_servers":["https://as.example"],"bearer_methods_supported":["header"]}`},
		{"scopes", func(o *Options) { o.Scopes = []string{"a"} }, `{"resource":"https://mcp.example/mcp","authorization_servers":["https://as.example"],"scopes_supported":["a"],"bearer_methods_supported":["header"]}`},
		{"other scopes", func(o *Options) { o.Scopes, o.ScopesSupported = []string{"a"}, []string{"a", "b"} }, `{"resource":"https://mcp.example/mcp","authorization_servers":["https://as.example"],"scopes_supported":["a","b"],"bearer_methods_supported":["header"]}`},
		{"all", func(o *Options) {
			o.Name, o.Documentation, o.DPoP = "Notes", "https://docs.example", &DPoP{Required: true, Algorithms: []string{"ES256"}}
		}, `{"resource":"https://mcp.example/mcp","authorization_servers":["https://as.example"],"bearer_methods_supported":["header"],"resource_name":"Notes","resource_documentation":"https://docs.example","dpop_signing_alg_values_supported":["ES256"],"dpop_bound_access_tokens_required":true}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(newResource(t, c.options).document); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestMetadataURL(t *testing.T) {
	for resource, want := range map[string]string{
		"https://mcp.example":         "https://mcp.example/.well-known/oauth-protected-resource",
		"https://mcp.example/":        "https://mcp.example/.well-known/oauth-protected-resource",
		"https://mcp.example:8443/a/": "https://mcp.example:8443/.well-known/oauth-protected-resource/a",
		"http://localhost:8080/mcp":   "http://localhost:8080/.well-known/oauth-protected-resource/mcp",
		"https://mcp.example/a%2Fb":   "https://mcp.example/.well-known/oauth-protected-resource/a%2Fb",
	} {
		r := newResource(t, func(o *Options) { o.Resource = resource })
		if r.MetadataURL() != want {
			t.Errorf("%s: got %s, want %s", resource, r.MetadataURL(), want)
		}
		// What the challenge names is there.
		if w := serve(r.Metadata(), httptest.NewRequest("GET", r.MetadataURL(), nil)); w.Code != 200 {
			t.Errorf("%s: status %d at %s", resource, w.Code, r.MetadataURL())
		}
	}
}
