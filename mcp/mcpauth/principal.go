package mcpauth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strconv"
	"time"

	"github.com/tandem-rpc/tandem/mcp"
)

// Principal is who a request comes from, as a [Verifier] found it in the access token. The token itself is not in it and cannot be had: it was
// issued for this server and must go no further (MCP 2026-07-28, authorization, access token privilege restriction).
//
// A Principal may be shared by requests that run side by side. Nobody changes it, or the maps and slices in it.
type Principal struct {
	// Issuer is the authorization server that vouches for the rest, the claim iss; empty for tokens of [Static].
	Issuer string
	// Subject is the user, or the client itself for tokens without a user: the claim sub.
	Subject string
	// ClientID is the OAuth client that was given the token: the claim client_id (RFC 9068 section 2.2), else azp or cid.
	ClientID string
	// Scopes is what the token allows: the claims scope and scp. Ask with [Principal.Has], which knows about hierarchies of scopes.
	Scopes []string
	// Audience is for whom the token was made: the claim aud. [Resource.Protect] compares it.
	Audience []string
	// Expiry is when the token ends. Streams should end then too. The zero time means never.
	Expiry time.Time
	// Claims is every claim of the token, or every member of the introspection response, as JSON values: string, float64, bool, nil, []any,
	// map[string]any. It may be nil.
	Claims map[string]any
	// TokenHash is the SHA-256 of the token. It tells tokens of one principal apart without being one.
	TokenHash [sha256.Size]byte
	// KeyThumbprint is the RFC 7638 thumbprint of the key the client had to prove that it holds (RFC 9449 section 6.1, cnf.jkt). Empty for a
	// token that is not bound to a key.
	KeyThumbprint string
	// CertThumbprint is the base64url SHA-256 of the TLS certificate the token is bound to (RFC 8705 section 3.1, cnf.x5t#S256), or empty.
	CertThumbprint string

	local   bool // made by Static: the token names no audience because it can have no other
	oddCnf  bool // bound to something this package cannot check
	implies func(have, want string) bool
}

// Key identifies the principal: the same for every token of one issuer, subject and client, different for any other three. Bind sessions, tasks,
// sealed state and cache entries to it. It is 46 characters of base64url and says nothing about its parts.
//
// A token without a subject is known by its client alone: all users of that client then share the key.
//
// A nil Principal has the empty key, which no other has.
func (p *Principal) Key() string {
	if p == nil {
		return ""
	}
	h := sha256.New()
	for _, part := range [...]string{p.Issuer, p.Subject, p.ClientID} {
		// With lengths in front, no two lists of parts have the same bytes.
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write([]byte(part))
	}
	return "p1_" + base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// Has reports whether the token allows scope: by name, or because [Options.Implies] says that a scope it has implies this one. A nil Principal
// has no scopes.
func (p *Principal) Has(scope string) bool {
	if p == nil {
		return false
	}
	if slices.Contains(p.Scopes, scope) {
		return true
	}
	return p.implies != nil && slices.ContainsFunc(p.Scopes, func(have string) bool { return p.implies(have, scope) })
}

// missing returns those of want that p does not have.
func (p *Principal) missing(want []string) []string {
	var out []string
	for _, s := range want {
		if !p.Has(s) {
			out = append(out, s)
		}
	}
	return out
}

// String describes the principal for a log, names quoted. Claims are left out: they hold what users call private.
func (p *Principal) String() string {
	if p == nil {
		return "nobody"
	}
	s := "subject " + strconv.Quote(clip(p.Subject))
	if p.ClientID != "" {
		s += " client " + strconv.Quote(clip(p.ClientID))
	}
	if p.Issuer != "" {
		s += " of " + strconv.Quote(clip(p.Issuer))
	}
	return s
}

// GoString is String, so that %#v and debuggers' dumps stay as private as %v.
func (p *Principal) GoString() string { return p.String() }

// PrincipalFrom returns the principal of the request that ctx belongs to, and false if there is none: the handler is not behind
// [Resource.Protect], or the request was let in without a token ([Options.Anonymous]). It is the same as mcp.CallerFrom[*mcpauth.Principal].
func PrincipalFrom(ctx context.Context) (*Principal, bool) {
	p, ok := mcp.CallerFrom[*Principal](ctx)
	return p, ok && p != nil
}

// WithPrincipal returns a context for which [PrincipalFrom] returns p. Protect does this for requests; programs need it for transports without
// HTTP, such as stdio, where who calls is settled by the environment, and tests for closures that ask. It says to an mcphttp.Handler, too, what [Identify]
// would.
func WithPrincipal(ctx context.Context, p *Principal) context.Context {
	return mcp.WithCaller(mcp.WithCaller(ctx, p), mcp.Identity(p.identity))
}

func (p *Principal) identity() (key string, until time.Time) {
	if p == nil {
		return "", time.Time{}
	}
	return p.Key(), p.Expiry
}

// clip shortens what a peer sent, so that a message never carries more than a line of it.
func clip(s string) string {
	const most = 128
	if len(s) <= most {
		return s
	}
	for i := range s {
		if i > most {
			return s[:i] + "…"
		}
	}
	return s
}
