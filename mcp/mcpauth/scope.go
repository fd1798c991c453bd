package mcpauth

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// isScope checks the syntax of a scope token (RFC 6749 section 3.3).
func isScope(s string) bool {
	for i := range len(s) {
		if b := s[i]; b < 0x21 || b > 0x7E || b == '"' || b == '\\' {
			return false
		}
	}
	return s != ""
}

// union returns all of a and those of b that are not in it.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// Require returns nil if the token of the request that ctx belongs to allows all of scopes, which is everything the operation needs. Otherwise it
// returns a *[ScopeError], or [ErrNoPrincipal] without a token, and the operation must not go on:
//
//	if err := mcpauth.Require(ctx, "notes:read", "notes:write"); err != nil {
//		return nil, err
//	}
//
// Behind [Resource.Protect] the demand also makes the HTTP answer a 403 whose challenge names all of scopes, so that the client can ask its user for
// them and come again (step-up, MCP 2026-07-28 authorization, runtime insufficient scope errors). For a request that was let in without a token
// ([Options.Anonymous]) it is a 401. This is not possible once a stream has begun, nor for one member of a batch: there the JSON-RPC error has to do.
// To ask without consequences use [Principal.Has].
//
// On transports without HTTP give the context a principal with [WithPrincipal]. Require may be called from any goroutine, and after the request.
func Require(ctx context.Context, scopes ...string) error {
	p, ok := PrincipalFrom(ctx)
	missing := p.missing(scopes)
	if ok && len(missing) == 0 {
		return nil
	}
	err := &ScopeError{Required: slices.Clone(scopes), Missing: missing}
	if d, ok := ctx.Value(demandKey{}).(*demand); ok {
		d.set(p, err)
	}
	if !ok {
		return ErrNoPrincipal
	}
	return err
}

type demandKey struct{}

// demand is what closures found missing while a request ran.
type demand struct {
	mu  sync.Mutex
	who *Principal  // nil: nobody
	err *ScopeError // nil: nothing
}

func withDemand(ctx context.Context, d *demand) context.Context {
	return context.WithValue(ctx, demandKey{}, d)
}

// set remembers a demand. Several in one request become one, since a client asks for exactly what the challenge names.
func (d *demand) set(p *Principal, err *ScopeError) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil {
		err = &ScopeError{Required: union(d.err.Required, err.Required), Missing: union(d.err.Missing, err.Missing)}
	}
	d.who, d.err = p, err
}

func (d *demand) get() (*Principal, *ScopeError) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.who, d.err
}

// answer is the ResponseWriter behind Protect. It holds the status back until the first byte of the body is there, and then makes it 403 if a
// scope was demanded and the body is one JSON object. The body stays: it is the JSON-RPC error, with the id of the request.
type answer struct {
	http.ResponseWriter
	request  *http.Request
	resource *Resource
	demand   demand
	status   int // held back; 0: none
	sent     bool
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// WriteHeader holds the status back, except for informational ones, which are no answer.
func (a *answer) WriteHeader(status int) {
	switch {
	case status >= 100 && status < 200 && status != http.StatusSwitchingProtocols:
		a.ResponseWriter.WriteHeader(status)
	case status == http.StatusSwitchingProtocols:
		a.sent = true
		a.ResponseWriter.WriteHeader(status)
	case a.status == 0:
		a.status = status
	}
}

// Write sends the status if that was not done, and body.
func (a *answer) Write(body []byte) (int, error) {
	if len(body) > 0 || a.sent {
		a.send(body)
	}
	if !a.sent {
		return 0, nil
	}
	return a.ResponseWriter.Write(body)
}

// FlushError sends what there is. A stream begins with it.
func (a *answer) FlushError() error {
	a.send(nil)
	return http.NewResponseController(a.ResponseWriter).Flush()
}

// Flush is FlushError for code that looks for an http.Flusher.
func (a *answer) Flush() { _ = a.FlushError() }

// finish sends a status that has no body.
func (a *answer) finish() {
	if a.status != 0 {
		a.send(nil)
	}
}

// send writes the status. begin is the first bytes of the body, if there are any.
func (a *answer) send(begin []byte) {
	if a.sent {
		return
	}
	a.sent = true
	if a.status == 0 {
		a.status = http.StatusOK
	}
	if p, err := a.demand.get(); err != nil && a.status < 300 && a.isObject(begin) {
		e := &Error{Status: http.StatusUnauthorized, Description: descNeeded, Scopes: err.Required, cause: ErrNoPrincipal}
		if p != nil {
			e = a.resource.insufficient(p, schemeOf(a.request), err)
		}
		a.resource.challenge(a.Header(), e)
		a.status = e.Status
		if report := a.resource.o.Report; report != nil {
			report(a.request.Context(), e)
		}
	}
	a.ResponseWriter.WriteHeader(a.status)
}

// isObject reports whether the answer is one JSON object, and so the answer to one request.
func (a *answer) isObject(begin []byte) bool {
	media, _, _ := strings.Cut(a.Header().Get("Content-Type"), ";")
	trimmed := strings.TrimLeft(string(begin[:min(len(begin), 64)]), " \t\r\n")
	return strings.EqualFold(strings.TrimSpace(media), "application/json") && strings.HasPrefix(trimmed, "{")
}

// schemeOf is the scheme the request used, which the challenge answers to.
func schemeOf(r *http.Request) string {
	if scheme, _, err := credentials(r); err == nil && scheme != "" {
		return scheme
	}
	return bearer
}
