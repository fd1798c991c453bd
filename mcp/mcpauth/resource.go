package mcpauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Verifier checks access tokens. [NewJWT] and [NewIntrospection] make the usual ones, [NewStatic] one for trying things out, and [Verifiers] puts
// several together.
//
// Verify returns the principal of a token that was issued by someone who is trusted, has not been altered or revoked, and is valid now; otherwise
// an error that wraps [ErrInvalidToken], or [ErrUnavailable] if that cannot be known. Anything else counts as ErrUnavailable. Whether the token is
// for this server ([Principal.Audience]), bound to a key ([Principal.KeyThumbprint]) and allows enough ([Principal.Scopes]) is left to
// [Resource.Protect]. Errors must not quote the token. r is the request, for verifiers that look at more of it; its body must not be read.
//
// Verify is called for every request, by many goroutines at once, and ends when ctx does.
type Verifier interface {
	Verify(ctx context.Context, token string, r *http.Request) (*Principal, error)
}

// Verifiers asks one Verifier after the other, and is the first principal found. If there is none and one of them could not tell, that is the answer.
type Verifiers []Verifier

// Verify implements [Verifier].
func (vs Verifiers) Verify(ctx context.Context, token string, r *http.Request) (*Principal, error) {
	err := invalid("no verifier knows it")
	for _, v := range vs {
		p, verr := v.Verify(ctx, token, r)
		switch {
		case verr == nil:
			return p, nil
		case !errors.Is(err, ErrInvalidToken): // one could not tell already
		case errors.Is(verr, ErrExpiredToken), !errors.Is(verr, ErrInvalidToken), !errors.Is(err, ErrExpiredToken):
			err = verr
		}
	}
	return nil, err
}

// Options say what a [Resource] is and which requests it lets through. Resource, Issuers and Verifier are needed, except that a server whose
// Verifier is a [Static] can do without Issuers.
type Options struct {
	// Resource is the canonical URI of the server (RFC 8707, RFC 9728 section 1.2): exactly what users put into their clients, such as
	// "https://mcp.example.com/mcp". https, or http on a loopback address; no query, no fragment. It is never derived from a request, whose Host
	// and proxies may say anything.
	Resource string
	// Issuers are the issuer identifiers of the authorization servers to get tokens from (authorization_servers of RFC 9728).
	Issuers []string
	// Verifier checks tokens.
	Verifier Verifier

	// Scopes is what every request needs. Single operations ask for more with [Require].
	Scopes []string
	// Implies says that a token with scope have may do what needs scope want. Nil: only scopes of the same name.
	Implies func(have, want string) bool
	// ChallengeUnion adds the scopes a token has to the challenge of a 403. Clients since revision 2026-07-28 ask for the union themselves; older
	// ones may lose what they had.
	ChallengeUnion bool

	// Audiences are accepted in the place of Resource: application ids of Entra, API names of Auth0.
	Audiences []string
	// AnyAudience accepts every token of a trusted issuer, whoever it was made for. A server that does this can be used by others to spend the
	// tokens of its users elsewhere, and the other way round: only for authorization servers that serve nothing else.
	AnyAudience bool

	// DPoP lets clients prove that a token is theirs (RFC 9449). Nil: tokens that are bound to a key are refused.
	DPoP *DPoP

	// Anonymous are JSON-RPC methods that may be called without a token, such as "server/discover" and "initialize". To see the method, the
	// body of a request without credentials is read, up to 64 KiB of it. A request with a bad token is refused whatever it calls.
	Anonymous []string

	// ScopesSupported is published as scopes_supported; nil: Scopes. Clients ask for all of them if a challenge names none, so keep it small.
	ScopesSupported []string
	// Name and Documentation are for people who are asked to let a client in (resource_name, resource_documentation).
	Name, Documentation string
	// SharedHost says that this host has other protected resources, so the metadata is not served below the root well-known path.
	SharedHost bool
	// ForwardIssuer redirects /.well-known/oauth-authorization-server, which clients of revision 2025-03-26 expect here, to the first of Issuers.
	ForwardIssuer bool

	// JSONRPCErrors makes the bodies of refusals JSON-RPC error objects without an id, code -32600, with the OAuth error as data. Otherwise they are
	// the OAuth error itself (RFC 6749 section 5.2). Status and challenge are what clients go by, and the same.
	JSONRPCErrors bool
	// MaxHeader is how many bytes of headers a request may have before it is answered 431. 0: 64 KiB.
	MaxHeader int
	// Report is told why a request was refused, an *[Error] without secrets, before the client is. It is called from the goroutines of requests.
	// Nil: nobody is told.
	Report func(ctx context.Context, err error)
}

// Resource is an OAuth 2.1 protected resource: an MCP server over HTTP that takes access tokens (MCP 2026-07-28, authorization). It has no state but
// caches and is safe for concurrent use.
type Resource struct {
	o         Options
	uri       *url.URL
	metadata  string          // URL of the metadata document
	document  []byte          // the document
	audiences map[string]bool // normal forms
	anonymous map[string]bool
	dpop      *prover // nil: off
	maxHeader int
}

// New checks the options and returns the resource they describe. The slices and the DPoP of o must not be changed any more.
func New(o Options) (*Resource, error) {
	uri, err := parseResource(o.Resource)
	if err != nil {
		return nil, configError("Options.Resource", err)
	}
	if o.Verifier == nil {
		return nil, configError("Options.Verifier", errors.New("it is needed"))
	}
	if _, static := o.Verifier.(*Static); len(o.Issuers) == 0 && !static {
		return nil, configError("Options.Issuers", errors.New("at least one is needed (RFC 9728 as MCP profiles it)"))
	}
	for _, issuer := range o.Issuers {
		if _, err := parseHTTPS(issuer); err != nil {
			return nil, configError("Options.Issuers", fmt.Errorf("%q: %w", issuer, err))
		}
	}
	if o.ScopesSupported == nil {
		o.ScopesSupported = o.Scopes
	}
	for name, scopes := range map[string][]string{"Scopes": o.Scopes, "ScopesSupported": o.ScopesSupported} {
		for _, s := range scopes {
			if !isScope(s) {
				return nil, configError("Options."+name, fmt.Errorf("%q is no scope token (RFC 6749 section 3.3)", s))
			}
		}
	}
	r := &Resource{
		o: o, uri: uri, maxHeader: o.MaxHeader,
		metadata:  uri.Scheme + "://" + uri.Host + wellKnown + strings.TrimSuffix(uri.EscapedPath(), "/"),
		audiences: map[string]bool{normalAudience(o.Resource): true},
		anonymous: make(map[string]bool),
	}
	if r.maxHeader == 0 {
		r.maxHeader = maxHeader
	}
	for _, a := range o.Audiences {
		if a == "" {
			return nil, configError("Options.Audiences", errors.New("an empty audience"))
		}
		r.audiences[normalAudience(a)] = true
	}
	for _, m := range o.Anonymous {
		r.anonymous[m] = true
	}
	if o.DPoP != nil {
		if r.dpop, err = newProver(o.DPoP, uri); err != nil {
			return nil, configError("Options.DPoP", err)
		}
	}
	r.document = r.marshalMetadata()
	return r, nil
}

// URI is the canonical URI of the resource, as configured.
func (r *Resource) URI() string { return r.o.Resource }

// MetadataURL is where clients find [Resource.Metadata], the URL in every challenge.
func (r *Resource) MetadataURL() string { return r.metadata }

// forUs reports whether a token was made for this resource (RFC 8707, RFC 9068 section 4).
func (r *Resource) forUs(p *Principal) bool {
	if r.o.AnyAudience || p.local {
		return true
	}
	for _, a := range p.Audience {
		if r.audiences[normalAudience(a)] {
			return true
		}
	}
	return false
}

// challenges are the WWW-Authenticate values for e: one for each scheme a client may use, the error in that it did use.
func (r *Resource) challenges(e *Error) []string {
	var schemes []string
	if r.dpop == nil || !r.o.DPoP.Required {
		schemes = append(schemes, bearer)
	}
	if r.dpop != nil {
		schemes = append(schemes, dpop)
	}
	if e.Code == codeInvalidProof || e.Code == codeUseNonce {
		schemes = []string{dpop}
	}
	scope := e.Scopes
	if scope == nil {
		scope = r.o.Scopes
	}
	out := make([]string, 0, len(schemes))
	for _, s := range schemes {
		c := Challenge{Scheme: s}
		if e.Code != "" && (e.scheme == s || len(schemes) == 1) {
			c.Params = append(c.Params, Param{"error", e.Code})
			if e.Description != "" {
				c.Params = append(c.Params, Param{"error_description", e.Description})
			}
		}
		if len(scope) > 0 {
			c.Params = append(c.Params, Param{"scope", strings.Join(scope, " ")})
		}
		if s == dpop {
			c.Params = append(c.Params, Param{"algs", strings.Join(r.dpop.names, " ")})
		}
		c.Params = append(c.Params, Param{"resource_metadata", r.metadata})
		out = append(out, c.String())
	}
	return out
}

// refuse answers a request with e (RFC 6750 section 3, RFC 9728 section 5.1).
func (r *Resource) refuse(w http.ResponseWriter, req *http.Request, e *Error) {
	if r.o.Report != nil {
		r.o.Report(req.Context(), e)
	}
	h := w.Header()
	switch e.Status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden:
		r.challenge(h, e)
	case http.StatusServiceUnavailable:
		h.Set("Retry-After", strconv.Itoa(max(1, int(e.RetryAfter.Seconds()))))
	}
	code := e.Code
	if code == "" {
		code = "unauthorized" // RFC 6750 wants no code in the challenge; a body without one would be no help
	}
	body := oauthError{code, e.Description}
	if r.o.JSONRPCErrors {
		writeJSON(w, req, e.Status, rpcAnswer{"2.0", rpcError{jsonrpc2.CodeInvalidRequest, e.Description, body}})
		return
	}
	writeJSON(w, req, e.Status, body)
}

// rpcAnswer is a JSON-RPC error response to a request whose id is not known. MCP leaves the id out then.
type rpcAnswer struct {
	Version string   `json:"jsonrpc"`
	Error   rpcError `json:"error"`
}

type rpcError struct {
	Code    jsonrpc2.Code `json:"code"`
	Message string        `json:"message"`
	Data    oauthError    `json:"data"`
}

// challenge sets the headers of a challenge, and lets scripts of other origins read them.
func (r *Resource) challenge(h http.Header, e *Error) {
	h["Www-Authenticate"] = r.challenges(e)
	if e.nonce == "" && e.Code == "" && r.dpop != nil && r.dpop.nonces != nil {
		e.nonce = r.dpop.nonces.mint(time.Now()) // saves the client a round
	}
	if e.nonce != "" {
		h.Set("DPoP-Nonce", e.nonce)
	}
	h.Set("Cache-Control", "no-store")
	expose(h)
}

// expose adds our headers to those that CORS lets scripts see, unless they are there.
func expose(h http.Header) {
	const name = "Access-Control-Expose-Headers"
	have := strings.ToLower(strings.Join(h.Values(name), ","))
	for _, want := range [...]string{"WWW-Authenticate", "DPoP-Nonce"} {
		if !strings.Contains(have, strings.ToLower(want)) {
			h.Add(name, want)
		}
	}
}
