package mcpauth

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// Limits of what a request may carry before anything of it is believed, in bytes.
const (
	maxToken  = 16 << 10 // an access token
	maxProof  = 8 << 10  // a DPoP proof
	maxHeader = 64 << 10 // all headers, if Options.MaxHeader is 0
)

// The schemes, as we write them.
const (
	bearer = "Bearer"
	dpop   = "DPoP"
)

var (
	errTokenInQuery = errors.New("mcpauth: an access token in the query")
	errTwoHeaders   = errors.New("mcpauth: more than one Authorization header")
	errTokenSyntax  = errors.New("mcpauth: malformed Authorization header")
	errTokenSize    = errors.New("mcpauth: the access token is too long")
	errHeaderSize   = errors.New("mcpauth: the headers are too large")
)

// credentials returns scheme and token of a request. No token and no error: there is none, or of a scheme that is not ours (RFC 6750 section 2.1,
// RFC 9449 section 7.1). The header is the only place a token is taken from; one in the query is an error (MCP 2026-07-28, authorization, token
// requirements), and bodies are not read.
func credentials(r *http.Request) (scheme, token string, err error) {
	if tokenInQuery(r.URL) {
		return "", "", errTokenInQuery
	}
	values := r.Header["Authorization"]
	switch len(values) {
	case 0:
		return "", "", nil
	case 1:
	default:
		return "", "", errTwoHeaders
	}
	name, rest, _ := strings.Cut(values[0], " ")
	switch {
	case strings.EqualFold(name, bearer):
		scheme = bearer
	case strings.EqualFold(name, dpop):
		scheme = dpop
	default:
		return "", "", nil
	}
	token = strings.Trim(rest, " ")
	switch {
	case len(token) > maxToken:
		return "", "", errTokenSize
	case !isB64Token(token):
		return "", "", errTokenSyntax
	}
	return scheme, token, nil
}

// isB64Token checks the syntax of RFC 6750 section 2.1: 1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"=".
func isB64Token(s string) bool {
	body := strings.TrimRight(s, "=")
	if body == "" {
		return false
	}
	for i := range len(body) {
		if !isToken68(body[i]) {
			return false
		}
	}
	return true
}

// tokenInQuery looks for the parameter access_token, however its name is encoded and whatever parameters stand before it. url.ParseQuery would
// stop caring at the first that it dislikes.
func tokenInQuery(u *url.URL) bool {
	if u.RawQuery == "" {
		return false
	}
	for part := range strings.FieldsFuncSeq(u.RawQuery, func(r rune) bool { return r == '&' || r == ';' }) {
		name, _, _ := strings.Cut(part, "=")
		if len(name) > len("access_token")*3 {
			continue // longer than the name with every byte encoded
		}
		if n, err := url.QueryUnescape(name); err == nil && n == "access_token" {
			return true
		}
	}
	return false
}

// headerSize is what the headers of r come to on the wire, roughly, and at least.
func headerSize(h http.Header) int {
	n := 0
	for name, values := range h {
		for _, v := range values {
			n += len(name) + len(v) + 4
		}
	}
	return n
}
