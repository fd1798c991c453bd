package mcpauth

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// defaultLeeway is how far clocks may differ.
const defaultLeeway = time.Minute

// Issuer is an authorization server whose tokens a [JWT] accepts.
type Issuer struct {
	// URL is the issuer identifier, exactly as the claim iss has it, slash at the end included.
	URL string
	// KeysURL is where its keys are, a JWK Set. Empty: where its metadata says (RFC 8414, else OpenID Connect Discovery).
	KeysURL string
	// Keys is a JWK Set in JSON, for keys that are known beforehand. Nothing is fetched then.
	Keys []byte
	// Algorithms are those its signatures may have. Empty: RS256, PS256, ES256, ES384 and EdDSA. Symmetric ones and none cannot be had.
	Algorithms []string
}

// JWTOptions are the options of [NewJWT].
type JWTOptions struct {
	// Issuers are those trusted, at least one. Their keys are kept apart.
	Issuers []Issuer
	// Strict accepts tokens with the type at+jwt only (RFC 9068 section 4). Otherwise JWT and none at all will do, which is what most
	// authorization servers write; ID tokens are refused all the same.
	Strict bool
	// Leeway is how far the clocks of server and issuer may differ. 0: one minute. Negative: not at all.
	Leeway time.Duration
	// Client makes the requests for keys. Nil: one without proxy that connects to public addresses only. Time, size and redirects are bounded
	// whichever it is.
	Client *http.Client
	// AllowPrivate lets the default client connect to private addresses. Issuers on a loopback address need no permission.
	AllowPrivate bool
	// CacheSize is how many tokens that were found good are remembered, so that their signatures need not be checked again. It changes nothing
	// else: new keys of the issuer, and the end of the token, end it. 0: 1,000. Negative: none.
	CacheSize int
}

// JWT is a [Verifier] for access tokens that are signed JSON Web Tokens (RFC 9068), with the keys their issuers publish.
//
// Keys are fetched when they are first needed and kept as long as Cache-Control says, between 5 minutes and 24 hours. A token with an unknown kid,
// or a bad signature, makes it look for new keys, at most every 30 seconds, with one request for all that wait. When the issuer is down old keys
// are used for up to 24 more hours.
//
// A token is good if its algorithm is allowed, its type is that of an access token, its signature is made with a key of the issuer it names, exp is
// there and not reached, nbf and iat are not in the future, and it names a subject or a client. The audience is compared by [Resource.Protect], and by
// nobody if Verify is called alone.
//
// It is safe for concurrent use, and starts no goroutines.
type JWT struct {
	issuers map[string]*issuer
	strict  bool
	leeway  time.Duration
	good    *expiring[verified] // nil: none
}

// verified is a token that was found good with the keys of that time.
type verified struct {
	who *Principal
	is  *issuer
	set *keySet
}

// cachedJWTs is the default of JWTOptions.CacheSize. Claims of a token take some ten times its size.
const cachedJWTs = 1000

type issuer struct {
	keys  keyCache
	algs  []jose.SignatureAlgorithm
	names []string
}

// NewJWT checks the options and returns the verifier. Nothing is fetched yet.
func NewJWT(o JWTOptions) (*JWT, error) {
	if len(o.Issuers) == 0 {
		return nil, configError("JWTOptions.Issuers", errors.New("at least one is needed"))
	}
	v := &JWT{issuers: make(map[string]*issuer), strict: o.Strict, leeway: leeway(o.Leeway)}
	if o.CacheSize == 0 {
		o.CacheSize = cachedJWTs
	}
	if o.CacheSize > 0 {
		v.good = newExpiring[verified](o.CacheSize)
	}
	f := newFetcher(o.Client, o.AllowPrivate, false)
	for n, i := range o.Issuers {
		what := fmt.Sprintf("JWTOptions.Issuers[%d]", n)
		if _, err := parseHTTPS(i.URL); err != nil {
			return nil, configError(what+".URL", err)
		}
		if v.issuers[i.URL] != nil {
			return nil, configError(what+".URL", errors.New("it is there twice"))
		}
		if i.KeysURL != "" {
			if _, err := parseHTTPS(i.KeysURL); err != nil {
				return nil, configError(what+".KeysURL", err)
			}
		}
		algs, names, err := algorithms(i.Algorithms)
		if err != nil {
			return nil, configError(what+".Algorithms", err)
		}
		is := &issuer{algs: algs, names: names}
		is.keys.fetch = func(ctx context.Context) (*keySet, time.Duration, error) { return f.fetchKeys(ctx, i.URL, i.KeysURL) }
		if i.Keys != nil {
			set, err := parseKeySet(i.Keys)
			if err == nil && len(set.keys) == 0 {
				err = errors.New("there is no public key to verify with")
			}
			if err != nil {
				return nil, configError(what+".Keys", err)
			}
			is.keys.fetch = func(context.Context) (*keySet, time.Duration, error) { return set, maxFresh, nil }
		}
		v.issuers[i.URL] = is
	}
	return v, nil
}

// leeway is the effective value of an option.
func leeway(d time.Duration) time.Duration {
	if d == 0 {
		return defaultLeeway
	}
	return max(d, 0)
}

// Verify implements [Verifier]. It may wait for keys, up to 10 seconds.
func (v *JWT) Verify(ctx context.Context, token string, _ *http.Request) (*Principal, error) {
	if len(token) > maxToken {
		return nil, invalid("it is too long")
	}
	key := sha256.Sum256([]byte(token))
	if v.good != nil {
		// Asking for the keys first lets them grow old as they would without a cache.
		if e, ok := v.good.load(key, time.Now()); ok {
			if set, _ := e.is.keys.current(ctx); set == e.set {
				return e.who, nil
			}
		}
	}
	p, from, err := v.verify(ctx, token)
	if err != nil {
		return nil, err
	}
	p.TokenHash = key
	if v.good != nil {
		v.good.store(key, from, p.Expiry.Add(v.leeway))
	}
	return p, nil
}

// verify does the work of Verify.
func (v *JWT) verify(ctx context.Context, token string) (*Principal, verified, error) {
	var from verified
	header, payload, _, ok := split(token)
	if !ok {
		return nil, from, invalid("not a JWT")
	}
	body, ok := segment(payload)
	if !ok {
		return nil, from, invalid("the payload is malformed")
	}
	c, err := parseClaims(body)
	if err != nil {
		return nil, from, invalid("the payload: %s", err)
	}
	// The issuer is believed only as far as choosing whose keys to try.
	name, err := c.text("iss")
	if err != nil {
		return nil, from, invalid("%s", err)
	}
	is := v.issuers[name]
	if is == nil {
		return nil, from, invalid("the issuer %q is not trusted", clip(name))
	}
	h, err := parseHeader(header, is.names)
	if err != nil {
		return nil, from, invalid("%s", err)
	}
	if err := v.checkType(h.Typ, c); err != nil {
		return nil, from, err
	}
	signed, set, err := is.verify(ctx, token, h)
	if err != nil {
		return nil, from, err
	}
	if !bytes.Equal(signed, body) {
		return nil, from, invalid("the payload is malformed")
	}
	expiry, err := c.window(time.Now(), v.leeway, true)
	if err != nil {
		return nil, from, err
	}
	p, err := c.principal()
	if err != nil {
		return nil, from, err
	}
	p.Expiry = expiry
	return p, verified{p, is, set}, nil
}

// checkType refuses what is signed by the same issuer and is no access token (RFC 9068 section 4, RFC 8725 section 3.11).
func (v *JWT) checkType(typ string, c claims) error {
	typ = strings.TrimPrefix(strings.ToLower(typ), "application/")
	switch {
	case typ == "at+jwt":
		return nil
	case v.strict || typ != "jwt" && typ != "":
		return invalid("the type is not that of an access token")
	}
	for _, name := range [...]string{"nonce", "at_hash", "c_hash"} {
		if _, ok := c[name]; ok {
			return invalid("it is an ID token")
		}
	}
	return nil
}

// verify finds a key that made the signature. When none of those we have did, newer ones are tried, if they may be asked for.
func (i *issuer) verify(ctx context.Context, token string, h *joseHeader) ([]byte, *keySet, error) {
	set, err := i.keys.current(ctx)
	if set == nil {
		return nil, nil, err
	}
	for range 2 {
		matching := set.match(h.Kid, h.Alg)
		for _, k := range matching {
			if payload, ok := verify(token, i.algs, k); ok {
				return payload, set, nil
			}
		}
		newer, err := i.keys.newer(ctx, set)
		if newer == nil || newer == set {
			if err != nil && len(matching) == 0 {
				return nil, nil, err // the key may well exist
			}
			break
		}
		set = newer
	}
	return nil, nil, invalid("no key of the issuer made its signature")
}
