package mcpauth

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// How long an answer of the introspection endpoint is used, and for how many tokens.
const (
	activeFor    = 60 * time.Second
	inactiveFor  = 5 * time.Second
	cachedTokens = 10_000
	maxAsking    = 64 // requests on their way
)

// IntrospectionOptions are the options of [NewIntrospection].
type IntrospectionOptions struct {
	// Endpoint is the URL of the introspection endpoint. https, or http on a loopback address.
	Endpoint string
	// Issuer is the issuer identifier of the authorization server. An answer that names another is refused; one that names none gets it.
	Issuer string
	// ClientID and ClientSecret are this server's own credentials, sent with HTTP Basic (RFC 6749 section 2.3.1).
	ClientID, ClientSecret string
	// InBody sends them as client_id and client_secret instead.
	InBody bool
	// Authorize authenticates the request in another way, in place of ClientID: it may set headers, such as a bearer token. It is called from many
	// goroutines.
	Authorize func(*http.Request) error
	// Leeway, Client and AllowPrivate are as in [JWTOptions].
	Leeway       time.Duration
	Client       *http.Client
	AllowPrivate bool
	// CacheSize is how many tokens are remembered, for at most a minute if they are good and five seconds if not. 0: 10,000 of each. Negative:
	// none, every request asks.
	CacheSize int
}

// Introspection is a [Verifier] that asks the authorization server about each token (RFC 7662), for tokens that mean nothing to anyone else. A
// token that is withdrawn may be accepted for another minute.
//
// Requests for one token at one time become one; at most 64 are on their way, more wait. It is safe for concurrent use. Call Close when
// done with it, to close connections that are kept for the next request.
type Introspection struct {
	o        IntrospectionOptions
	leeway   time.Duration
	fetcher  *fetcher
	active   *expiring[*Principal] // nil: none
	inactive *expiring[error]
	flights  flights[*Principal]
	asking   chan struct{}
}

// NewIntrospection checks the options and returns the verifier.
func NewIntrospection(o IntrospectionOptions) (*Introspection, error) {
	if _, err := parseHTTPS(o.Endpoint); err != nil {
		return nil, configError("IntrospectionOptions.Endpoint", err)
	}
	if o.Issuer == "" {
		return nil, configError("IntrospectionOptions.Issuer", errors.New("it is needed"))
	}
	// RFC 7662 section 2.1: the endpoint must require authorization, or it could be used to look for tokens.
	if (o.ClientID == "") == (o.Authorize == nil) {
		return nil, configError("IntrospectionOptions.ClientID", errors.New("either it or Authorize is needed"))
	}
	v := &Introspection{o: o, leeway: leeway(o.Leeway), fetcher: newFetcher(o.Client, o.AllowPrivate, true), asking: make(chan struct{}, maxAsking)}
	if o.CacheSize == 0 {
		o.CacheSize = cachedTokens
	}
	if o.CacheSize > 0 {
		// Apart, so that made-up tokens do not push good ones out.
		v.active, v.inactive = newExpiring[*Principal](o.CacheSize), newExpiring[error](o.CacheSize)
	}
	return v, nil
}

// Close closes idle connections to the authorization server. The verifier can still be used.
func (v *Introspection) Close() error {
	v.fetcher.client.CloseIdleConnections()
	return nil
}

// Verify implements [Verifier]. It may wait for the authorization server, up to 10 seconds.
func (v *Introspection) Verify(ctx context.Context, token string, _ *http.Request) (*Principal, error) {
	if len(token) > maxToken {
		return nil, invalid("it is too long")
	}
	key := sha256.Sum256([]byte(token))
	if v.active != nil {
		now := time.Now()
		if p, ok := v.active.load(key, now); ok {
			return p, nil
		}
		if err, ok := v.inactive.load(key, now); ok {
			return nil, err
		}
	}
	f, first := v.flights.join(key)
	if first {
		f.err = unavailable("introspection", errors.New("a panic while asking"))
		defer v.flights.land(key)
		f.v, f.err = v.ask(ctx, token, key)
		return f.v, f.err
	}
	select {
	case <-f.done:
		return f.v, f.err
	case <-ctx.Done():
		return nil, unavailable("introspection", context.Cause(ctx))
	}
}

// ask asks and remembers the answer. The client going away does not end it: others may wait for it, and it is short.
func (v *Introspection) ask(ctx context.Context, token string, key digest) (*Principal, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTime)
	defer cancel()
	select {
	case v.asking <- struct{}{}:
		defer func() { <-v.asking }()
	case <-ctx.Done():
		return nil, unavailable("introspection", errors.New("too many requests on their way"))
	}
	body, err := v.post(ctx, token)
	if err != nil {
		return nil, unavailable("introspection", err)
	}
	now := time.Now()
	p, end, err := v.judge(body, now)
	if err == nil {
		p.TokenHash = key
	}
	switch {
	case v.active == nil:
	case err == nil:
		v.active.store(key, p, end)
	case errors.Is(err, ErrInvalidToken):
		v.inactive.store(key, err, now.Add(inactiveFor))
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// post sends the token (RFC 7662 section 2.1).
func (v *Introspection) post(ctx context.Context, token string) ([]byte, error) {
	form := url.Values{"token": {token}, "token_type_hint": {"access_token"}}
	if v.o.InBody {
		form.Set("client_id", v.o.ClientID)
		form.Set("client_secret", v.o.ClientSecret)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, v.o.Endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, errors.New("mcpauth: not a URL")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	switch {
	case v.o.Authorize != nil:
		if err := v.o.Authorize(req); err != nil {
			return nil, err
		}
	case !v.o.InBody:
		req.SetBasicAuth(url.QueryEscape(v.o.ClientID), url.QueryEscape(v.o.ClientSecret))
	}
	body, _, err := v.fetcher.do(req, replySize)
	return body, err
}

// judge reads the answer (RFC 7662 section 2.2) and says until when it holds. One that is not understood says nothing about the token.
func (v *Introspection) judge(body []byte, now time.Time) (*Principal, time.Time, error) {
	var end time.Time
	c, err := parseClaims(body)
	if err != nil {
		return nil, end, unavailable("introspection: the answer", err)
	}
	active, ok := c["active"].(bool)
	if !ok {
		return nil, end, unavailable("introspection: the answer", errors.New("active is not a boolean"))
	}
	if !active {
		return nil, end, invalid("it is not active")
	}
	expiry, err := c.window(now, v.leeway, false)
	if err != nil {
		return nil, end, err
	}
	p, err := c.principal()
	if err != nil {
		return nil, end, err
	}
	if p.Issuer == "" {
		p.Issuer = v.o.Issuer
	}
	if p.Issuer != v.o.Issuer {
		return nil, end, invalid("the issuer %q is not trusted", clip(p.Issuer))
	}
	p.Expiry = expiry
	end = now.Add(activeFor)
	if limit := expiry.Add(v.leeway); !expiry.IsZero() && limit.Before(end) {
		end = limit
	}
	return p, end, nil
}
