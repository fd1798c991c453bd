package mcpauth

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

var (
	// ErrInvalidToken is what a [Verifier] returns, wrapped or not, for a token that is no good: malformed, forged, expired, revoked, of a stranger.
	// The client is answered 401 and gets a new one (RFC 6750 section 3.1).
	ErrInvalidToken = errors.New("mcpauth: invalid access token")
	// ErrExpiredToken is an [ErrInvalidToken] whose time is over, and nothing else is wrong with it. The client is told.
	ErrExpiredToken = fmt.Errorf("%w: expired", ErrInvalidToken)
	// ErrUnavailable is what a Verifier returns, wrapped or not, when it cannot tell: the authorization server does not answer. The client is
	// answered 503 and keeps its token; a 401 would send every user to the login page.
	ErrUnavailable = errors.New("mcpauth: tokens cannot be verified now")
	// ErrNoPrincipal is returned by [Require] for a context without a principal. As a closure's error it becomes a JSON-RPC error with code -32600.
	ErrNoPrincipal error = noPrincipal{}
)

// Codes of the errors in challenges and bodies.
const (
	codeInvalidRequest    = "invalid_request"         // RFC 6750 section 3.1
	codeInvalidToken      = "invalid_token"           // RFC 6750 section 3.1
	codeInsufficientScope = "insufficient_scope"      // RFC 6750 section 3.1
	codeInvalidProof      = "invalid_dpop_proof"      // RFC 9449 section 7.1
	codeUseNonce          = "use_dpop_nonce"          // RFC 9449 section 9
	codeUnavailable       = "temporarily_unavailable" // RFC 6749 section 4.1.2.1
)

// Error is why a request was refused. [Options.Report] gets one for every refusal. Its text holds nothing of a token: what a peer sent appears
// in it quoted and clipped, or not at all.
type Error struct {
	// Status is the HTTP status: 400, 401, 403, 431 or 503.
	Status int
	// Code is the error code of the challenge, such as "invalid_token". Empty for a request without credentials, whose challenge has none
	// (RFC 6750 section 3.1).
	Code string
	// Description is the sentence the client gets, one of a fixed set.
	Description string
	// Scopes is all scopes the operation needs, for "insufficient_scope".
	Scopes []string
	// RetryAfter is how long the client should wait after a 503.
	RetryAfter time.Duration

	scheme string // whose challenge carries the error: bearer, dpop or "" for a plain offer of all
	nonce  string // a DPoP-Nonce to send along
	cause  error
}

// Error returns the whole story, for a log: status, code and the cause that the client does not get.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "mcpauth: request refused: %d", e.Status)
	if e.Code != "" {
		b.WriteString(" " + e.Code)
	}
	switch {
	case e.cause != nil:
		b.WriteString(": " + e.cause.Error())
	case e.Description != "":
		b.WriteString(": " + e.Description)
	}
	return b.String()
}

// Unwrap returns the cause, so that errors.Is(err, ErrInvalidToken) and the like work.
func (e *Error) Unwrap() error { return e.cause }

// ScopeError is returned by [Require] when the token does not allow what a request asks for. As a closure's error it becomes a JSON-RPC error
// with code -32600 and the scopes as data; the HTTP status and challenge of the answer are [Resource.Protect]'s business.
type ScopeError struct {
	// Required is all scopes of the operation, not only those that are missing: clients ask for exactly what a challenge names (MCP 2026-07-28,
	// authorization, scope challenge handling).
	Required []string
	// Missing is those of Required the token does not have.
	Missing []string
}

// Error names the missing scopes. They are the server's own words, not the client's.
func (e *ScopeError) Error() string {
	return "mcpauth: the access token lacks scope " + strings.Join(e.Missing, " ")
}

// Unwrap returns the *jsonrpc2.Error that goes on the wire.
func (e *ScopeError) Unwrap() error {
	return (&jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "Insufficient scope"}).WithData(struct {
		Error string `json:"error"`
		Scope string `json:"scope"`
	}{codeInsufficientScope, strings.Join(e.Required, " ")})
}

// noPrincipal is the type of ErrNoPrincipal: not itself a *jsonrpc2.Error, which errors.Is would find in every other of its code.
type noPrincipal struct{}

func (noPrincipal) Error() string { return "mcpauth: no principal" }
func (noPrincipal) Unwrap() error {
	return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: descNeeded}
}

// descNeeded is what a client without a token is told.
const descNeeded = "An access token is needed"

// HTTPStatus is the status an HTTP answer to the request should have if none was sent: 403.
func (e *ScopeError) HTTPStatus() int { return http.StatusForbidden }

// invalid is an ErrInvalidToken with the reason, for the log.
func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalidToken, fmt.Sprintf(format, args...))
}

// unavailable is an ErrUnavailable with its cause.
func unavailable(what string, cause error) error {
	return fmt.Errorf("%w: %s: %w", ErrUnavailable, what, cause)
}

// refusal makes the Error for what a Verifier returned.
func refusal(err error, scheme string) *Error {
	e := &Error{Status: http.StatusUnauthorized, Code: codeInvalidToken, Description: "The access token is not valid", scheme: scheme, cause: err}
	switch {
	case errors.Is(err, ErrExpiredToken):
		e.Description = "The access token has expired"
	case errors.Is(err, ErrInvalidToken):
	default:
		// An error that says nothing about the token: a 401 for it would loop.
		e.Status, e.Code, e.scheme = http.StatusServiceUnavailable, codeUnavailable, ""
		e.Description = "The access token cannot be verified at the moment"
		e.RetryAfter = retryAfter
	}
	return e
}

// retryAfter is what a 503 asks clients to wait. Keys are asked for again after retryFirst or refreshEvery.
const retryAfter = 5 * time.Second
