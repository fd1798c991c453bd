package mcpauth

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

const (
	wellKnown       = "/.well-known/oauth-protected-resource"   // RFC 9728 section 3
	wellKnownIssuer = "/.well-known/oauth-authorization-server" // RFC 8414 section 3
)

// document is protected resource metadata (RFC 9728 section 2).
type document struct {
	Resource             string   `json:"resource"`
	AuthorizationServers []string `json:"authorization_servers,omitempty"`
	ScopesSupported      []string `json:"scopes_supported,omitempty"`
	BearerMethods        []string `json:"bearer_methods_supported"`
	Name                 string   `json:"resource_name,omitempty"`
	Documentation        string   `json:"resource_documentation,omitempty"`
	DPoPAlgorithms       []string `json:"dpop_signing_alg_values_supported,omitempty"`
	DPoPRequired         bool     `json:"dpop_bound_access_tokens_required,omitempty"`
}

func (r *Resource) marshalMetadata() []byte {
	d := document{
		Resource: r.o.Resource, AuthorizationServers: r.o.Issuers, ScopesSupported: r.o.ScopesSupported,
		BearerMethods: []string{"header"}, Name: r.o.Name, Documentation: r.o.Documentation,
	}
	if r.dpop != nil {
		d.DPoPAlgorithms, d.DPoPRequired = r.dpop.names, r.o.DPoP.Required
	}
	out, err := json.Marshal(d)
	if err != nil {
		panic(err) // strings and bools
	}
	return out
}

// Metadata serves the protected resource metadata (RFC 9728, MCP 2026-07-28 authorization, protected resource metadata discovery) to everyone,
// without a token and to scripts of any origin. Mount it in front of what [Resource.Protect] guards:
//
//	mux.Handle("/.well-known/", resource.Metadata())
//
// It answers below /.well-known/oauth-protected-resource followed by the path of the resource, with and without a slash at the end, and at the root
// form without the path unless [Options.SharedHost]. Every other path is a 404 in JSON, which clients that probe for metadata insist on.
func (r *Resource) Metadata() http.Handler { return http.HandlerFunc(r.serveMetadata) }

func (r *Resource) serveMetadata(w http.ResponseWriter, req *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	path := strings.TrimSuffix(req.URL.Path, "/")
	issuer := path == wellKnownIssuer && r.o.ForwardIssuer && len(r.o.Issuers) > 0
	if !issuer && path != wellKnown+strings.TrimSuffix(r.uri.Path, "/") && (path != wellKnown || r.o.SharedHost) {
		writeJSON(w, req, http.StatusNotFound, oauthError{"not_found", "There is no such metadata"})
		return
	}
	switch req.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodOptions:
		h.Set("Access-Control-Allow-Methods", "GET, HEAD, OPTIONS")
		h.Set("Access-Control-Allow-Headers", "*, MCP-Protocol-Version, Authorization")
		h.Set("Access-Control-Max-Age", "600")
		w.WriteHeader(http.StatusNoContent)
		return
	default:
		h.Set("Allow", "GET, HEAD, OPTIONS")
		writeJSON(w, req, http.StatusMethodNotAllowed, oauthError{codeInvalidRequest, "The metadata can only be read"})
		return
	}
	if issuer {
		h.Set("Cache-Control", "max-age=3600")
		h.Set("Location", issuerMetadata(r.o.Issuers[0])[0])
		w.WriteHeader(http.StatusTemporaryRedirect)
		return
	}
	h.Set("Cache-Control", "max-age=3600")
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(r.document)))
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusOK)
	if req.Method != http.MethodHead {
		_, _ = w.Write(r.document)
	}
}

// issuerMetadata are the places of the metadata of an authorization server, in the order to try them (RFC 8414 section 3.1, OpenID Connect
// Discovery section 4.1, MCP 2026-07-28 authorization server discovery). The issuer has been checked to be a URL.
func issuerMetadata(issuer string) []string {
	u, err := url.Parse(issuer)
	if err != nil {
		return nil
	}
	origin, path := u.Scheme+"://"+u.Host, strings.TrimSuffix(u.EscapedPath(), "/")
	const oidc = "/.well-known/openid-configuration"
	if path == "" {
		return []string{origin + wellKnownIssuer, origin + oidc}
	}
	return []string{origin + wellKnownIssuer + path, origin + oidc + path, origin + path + oidc}
}

// oauthError is the body of a refusal (RFC 6749 section 5.2).
type oauthError struct {
	Error       string `json:"error"`
	Description string `json:"error_description,omitempty"`
}

// writeJSON answers with a JSON body.
func writeJSON(w http.ResponseWriter, req *http.Request, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and numbers
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	if req.Method != http.MethodHead {
		_, _ = w.Write(body)
	}
}
