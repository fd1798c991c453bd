package mcpauth

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	josejson "github.com/go-jose/go-jose/v4/json"
)

// How long keys are good. All of it is about two wishes that disagree: to notice a new or withdrawn key soon, and to ask for keys seldom.
const (
	minFresh     = 5 * time.Minute  // what Cache-Control can shorten, and the value without one
	maxFresh     = 24 * time.Hour   // what it can lengthen
	staleFor     = 24 * time.Hour   // after that, while the authorization server is down
	refreshEvery = 30 * time.Second // the least time between two requests
	retryFirst   = 5 * time.Second  // the same, before the first keys came
	maxKeys      = 100              // of one issuer
	maxTries     = 8                // keys tried for a token without kid
)

// keySet is the keys of an issuer as they were at one time. It does not change.
type keySet struct{ keys []jose.JSONWebKey }

// match returns the keys a token may be signed with. Without kid these are all that fit, a few at most.
func (s *keySet) match(kid, alg string) []*jose.JSONWebKey {
	var out []*jose.JSONWebKey
	for i := range s.keys {
		k := &s.keys[i]
		if (kid == "" || k.KeyID == kid) && fits(k, alg) && len(out) < maxTries {
			out = append(out, k)
		}
	}
	return out
}

// parseKeySet reads a JWK Set (RFC 7517 section 5). Keys that are not understood are skipped, as the section wants.
func parseKeySet(data []byte) (*keySet, error) {
	var raw struct {
		Keys *[]josejson.RawMessage `json:"keys"`
	}
	if !shallow(data) || josejson.Unmarshal(data, &raw) != nil || raw.Keys == nil {
		return nil, errors.New("mcpauth: not a JSON Web Key Set")
	}
	s := new(keySet)
	for _, data := range *raw.Keys {
		if k, err := parseKey(data); err == nil && len(s.keys) < maxKeys {
			s.keys = append(s.keys, k)
		}
	}
	return s, nil
}

// keyCache has the keys of one issuer. At most one request for them is on its way, made by the goroutine that needs them; the others wait for
// it, so there is nothing to shut down.
type keyCache struct {
	fetch func(context.Context) (*keySet, time.Duration, error)

	mu      sync.Mutex
	set     *keySet // nil: none yet
	expires time.Time
	tried   time.Time // the begin of the last request; zero: none
	err     error     // how it ended
	flight  chan struct{}
}

// current returns the keys, asking for them when they are not fresh.
func (c *keyCache) current(ctx context.Context) (*keySet, error) {
	return c.load(ctx, func(now time.Time) bool {
		// While somebody asks, the old ones do for the others: an authorization server that hangs holds up one request, not all.
		return c.set != nil && (now.Before(c.expires) || c.flight != nil && now.Before(c.expires.Add(staleFor)))
	})
}

// newer returns keys that are not old, for a token that none of old verifies, or old if it is too early to ask again. An error says that newer
// keys may exist and could not be had; old comes along.
func (c *keyCache) newer(ctx context.Context, old *keySet) (*keySet, error) {
	return c.load(ctx, func(time.Time) bool { return c.set != old })
}

func (c *keyCache) load(ctx context.Context, good func(now time.Time) bool) (*keySet, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if good(now) {
		return c.set, nil
	}
	if flight := c.flight; flight != nil {
		c.mu.Unlock()
		var gone error
		select {
		case <-flight:
		case <-ctx.Done():
			gone = context.Cause(ctx)
		}
		c.mu.Lock()
		if gone != nil {
			return nil, unavailable("waiting for keys", gone)
		}
		// Who asked did it for all: no second round, even if the outcome is not to our liking.
		return c.have(time.Now())
	}
	pause := refreshEvery
	if c.set == nil {
		pause = retryFirst
	}
	if c.tried.IsZero() || now.Sub(c.tried) >= pause {
		c.ask(ctx)
	}
	return c.have(time.Now())
}

// have returns what there is: keys that are stale, but not too stale, are better than none while the authorization server is down.
func (c *keyCache) have(now time.Time) (*keySet, error) {
	if c.set != nil && now.Before(c.expires.Add(staleFor)) {
		return c.set, c.err
	}
	if c.err != nil {
		return nil, c.err
	}
	return nil, unavailable("keys", errors.New("too old"))
}

// ask makes the request. It is called with the lock held and returns with it, and does not hold it meanwhile. The client going away does not
// end it: others wait for it.
func (c *keyCache) ask(ctx context.Context) {
	flight := make(chan struct{})
	c.flight, c.tried = flight, time.Now()
	c.mu.Unlock()
	var set *keySet
	var fresh time.Duration
	err := errors.New("mcpauth: a panic while asking for keys")
	defer func() {
		c.mu.Lock()
		c.flight, c.err = nil, nil
		if err != nil {
			c.err = unavailable("keys", err)
		} else {
			c.set, c.expires = set, time.Now().Add(fresh)
		}
		close(flight)
	}()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTime)
	defer cancel()
	set, fresh, err = c.fetch(ctx)
}

// freshness is how long an answer may be used (RFC 9111 section 4.2.1), within our bounds.
func freshness(h http.Header) time.Duration {
	fresh := minFresh
	for _, d := range strings.Split(strings.Join(h.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(d), "=")
		switch strings.ToLower(name) {
		case "no-store", "no-cache":
			return minFresh
		case "max-age":
			if n, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31); err == nil {
				fresh = min(max(time.Duration(n)*time.Second, minFresh), maxFresh)
			}
		}
	}
	return fresh
}

// fetchKeys is keyCache.fetch for an issuer: from where, or from where its metadata says.
func (f *fetcher) fetchKeys(ctx context.Context, issuer, where string) (*keySet, time.Duration, error) {
	if where == "" {
		var err error
		if where, err = f.discover(ctx, issuer); err != nil {
			return nil, 0, err
		}
	}
	body, header, err := f.get(ctx, where)
	if err != nil {
		return nil, 0, err
	}
	set, err := parseKeySet(body)
	return set, freshness(header), err
}

// discover finds the jwks_uri of an issuer (RFC 8414 section 3, OpenID Connect Discovery section 4). A document that speaks for another issuer is
// no document (RFC 8414 section 3.3); one that is not there makes us look at the next place.
func (f *fetcher) discover(ctx context.Context, issuer string) (string, error) {
	var last error
	for _, where := range issuerMetadata(issuer) {
		body, _, err := f.get(ctx, where)
		if err != nil {
			last = err
			continue
		}
		c, err := parseClaims(body)
		if err != nil {
			last = errors.New("mcpauth: the issuer's metadata is malformed")
			continue
		}
		if name, _ := c.text("issuer"); name != issuer {
			return "", errors.New("mcpauth: the metadata names another issuer")
		}
		keys, _ := c.text("jwks_uri")
		if keys == "" {
			last = errors.New("mcpauth: the issuer's metadata has no jwks_uri")
			continue
		}
		return keys, checkJWKS(issuer, keys)
	}
	return "", last
}
