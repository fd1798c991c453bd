package mcpauth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/http"
)

// Protect lets only requests with a good access token through to next. The principal is in the context of those ([PrincipalFrom]); the token is
// not: the Authorization and DPoP headers are taken off, so that nothing behind can pass it on or log it.
//
// Refused requests are answered (RFC 6750 section 3, MCP 2026-07-28 authorization, error handling): 401 without a token or with a bad one, 403 when
// it does not allow enough, 400 for malformed headers and tokens in the query, 431 for headers beyond [Options.MaxHeader], 503 when the
// verifier cannot tell. All but the last two carry a challenge with the address of the metadata. Bodies are JSON objects with error and
// error_description.
//
// OPTIONS requests go through without a principal: browsers send no credentials with them. Checks of Host and Origin belong in front of Protect.
//
// The ResponseWriter next gets supports http.ResponseController. What a closure demands with [Require] becomes a 403 with a challenge as long as
// the answer has not begun, and is not a batch or a stream.
func (r *Resource) Protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodOptions {
			next.ServeHTTP(w, withoutCredentials(req.Context(), req))
			return
		}
		p, e := r.authorize(w, req)
		if e != nil && (e.Code != "" || len(r.anonymous) == 0 || !r.admitsAnonymous(w, req)) {
			r.refuse(w, req, e)
			return
		}
		out := &answer{ResponseWriter: w, request: req, resource: r}
		ctx := withDemand(req.Context(), &out.demand)
		if p != nil {
			ctx = WithPrincipal(ctx, p)
		}
		next.ServeHTTP(out, withoutCredentials(ctx, req))
		out.finish()
	})
}

// authorize decides about a request. Cheap checks come first: nothing is parsed before its size is known, nobody is asked about a token that
// cannot be one.
func (r *Resource) authorize(w http.ResponseWriter, req *http.Request) (*Principal, *Error) {
	if headerSize(req.Header) > r.maxHeader {
		return nil, &Error{Status: http.StatusRequestHeaderFieldsTooLarge, Code: codeInvalidRequest, Description: "The request headers are too large", cause: errHeaderSize}
	}
	scheme, token, err := credentials(req)
	if err != nil {
		return nil, &Error{Status: http.StatusBadRequest, Code: codeInvalidRequest, Description: describe(err), scheme: scheme, cause: err}
	}
	if token == "" || scheme == dpop && r.dpop == nil {
		return nil, &Error{Status: http.StatusUnauthorized, Description: descNeeded}
	}
	p, err := r.o.Verifier.Verify(req.Context(), token, req)
	if err == nil && p == nil {
		err = errors.New("mcpauth: the verifier returned neither a principal nor an error")
	}
	if err != nil {
		return nil, refusal(err, scheme)
	}
	own := *p // verifiers may share theirs
	own.implies = r.o.Implies
	own.TokenHash = sha256.Sum256([]byte(token))
	if !r.forUs(&own) {
		return nil, &Error{Status: http.StatusUnauthorized, Code: codeInvalidToken, Description: "The access token is for another resource", scheme: scheme,
			cause: invalid("made for another audience")}
	}
	if e := r.confirm(w, req, scheme, &own); e != nil {
		return nil, e
	}
	if missing := own.missing(r.o.Scopes); len(missing) > 0 {
		return nil, r.insufficient(&own, scheme, &ScopeError{Required: r.o.Scopes, Missing: missing})
	}
	return &own, nil
}

// confirm checks that who presents the token is who it was given to, if the token says so (RFC 9449 section 7, RFC 8705 section 3).
func (r *Resource) confirm(w http.ResponseWriter, req *http.Request, scheme string, p *Principal) *Error {
	fail := func(why string) *Error { return refusal(invalid("%s", why), scheme) }
	if p.oddCnf {
		return fail("bound in a way that is not supported")
	}
	if want := p.CertThumbprint; want != "" {
		if req.TLS == nil || len(req.TLS.PeerCertificates) == 0 {
			return fail("bound to a certificate, presented without")
		}
		sum := sha256.Sum256(req.TLS.PeerCertificates[0].Raw)
		if subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(want)) != 1 {
			return fail("bound to another certificate")
		}
	}
	switch {
	case p.KeyThumbprint == "" && scheme == dpop:
		return fail("not bound to a key, presented as DPoP")
	case p.KeyThumbprint == "" && r.dpop != nil && r.o.DPoP.Required:
		return fail("not bound to a key, and only such are accepted")
	case p.KeyThumbprint == "":
		return nil
	case scheme != dpop:
		// The downgrade of RFC 9449 section 7.2: a stolen token without its key.
		return fail("bound to a key, presented as Bearer")
	}
	fresh, e := r.dpop.check(req, p)
	if fresh != "" && e == nil {
		w.Header().Set("DPoP-Nonce", fresh)
		expose(w.Header())
	}
	return e
}

// insufficient is the 403 of step-up (RFC 6750 section 3.1, MCP 2026-07-28 authorization, scope challenge handling).
func (r *Resource) insufficient(p *Principal, scheme string, s *ScopeError) *Error {
	scopes := s.Required
	if r.o.ChallengeUnion {
		scopes = union(p.Scopes, scopes)
	}
	return &Error{Status: http.StatusForbidden, Code: codeInsufficientScope, Description: "The access token does not allow this operation",
		Scopes: scopes, scheme: scheme, cause: s}
}

// describe says in our words what was wrong with the headers.
func describe(err error) string {
	switch {
	case errors.Is(err, errTokenInQuery):
		return "Access tokens are accepted in the Authorization header only"
	case errors.Is(err, errTwoHeaders):
		return "There must be one Authorization header"
	case errors.Is(err, errTokenSize):
		return "The access token is too long"
	}
	return "The Authorization header is malformed"
}

// withoutCredentials returns a copy of req that has none, with the context ctx.
func withoutCredentials(ctx context.Context, req *http.Request) *http.Request {
	out := req.WithContext(ctx)
	out.Header = make(http.Header, len(req.Header))
	for name, values := range req.Header {
		if name != "Authorization" && name != "Dpop" {
			out.Header[name] = values
		}
	}
	return out
}
