package mcpauth

import (
	"context"
	"crypto"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	proofWindow = 5 * time.Minute
	maxWindow   = time.Hour
	maxJTI      = 256
)

// DPoP turns on demonstrating proof of possession (RFC 9449): a token that names a key (cnf.jkt) is good only together with a fresh signature by that
// key, so that a stolen token is worth nothing. The zero value accepts such tokens beside ordinary ones and remembers proofs in memory.
//
// A proof is good once. It must be signed by the key of the token (ath and thumbprint), for this method and URL, and not be older or newer than
// Window. The URL is that of [Options.Resource] with the path of the request.
type DPoP struct {
	// Required refuses tokens that are not bound to a key.
	Required bool
	// Algorithms are those of proofs. Empty: RS256, PS256, ES256, ES384 and EdDSA.
	Algorithms []string
	// Window is how far the iat of a proof may be from now, an hour at most. 0: 5 minutes.
	Window time.Duration
	// Nonce asks clients for a nonce of ours in each proof, which ends the life of a stolen one without a common memory of proofs (RFC 9449
	// section 9). Clients get it in the header DPoP-Nonce, and a new one before it is too old.
	Nonce bool
	// NonceKeys are secrets of at least 32 bytes that nonces are made with; several servers for one resource share them. The first makes new
	// ones, all are accepted. Nil: a secret of this process.
	NonceKeys [][]byte
	// Replays remembers proofs. Nil: in memory, [NewReplays] with its default size.
	Replays Replays
	// URL returns the URL a client uses for a request, where it is not the resource's origin with the path that arrives here: behind a proxy that
	// changes paths. Never take it from headers that clients can set.
	URL func(*http.Request) string
}

// prover checks proofs.
type prover struct {
	o      *DPoP
	algs   []jose.SignatureAlgorithm
	names  []string
	origin string
	nonces *nonces // nil: off
}

func newProver(o *DPoP, resource *url.URL) (*prover, error) {
	own := *o
	p := &prover{o: &own, origin: resource.Scheme + "://" + resource.Host}
	var err error
	if p.algs, p.names, err = algorithms(o.Algorithms); err != nil {
		return nil, err
	}
	switch {
	case own.Window == 0:
		own.Window = proofWindow
	case own.Window < 0 || own.Window > maxWindow:
		return nil, errors.New("the window must be a duration of up to an hour")
	}
	if own.Replays == nil {
		own.Replays = NewReplays(0)
	}
	if own.Nonce {
		if p.nonces, err = newNonces(own.NonceKeys); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// check checks the proof of a request whose token is bound to a key (RFC 9449 section 4.3). It returns the nonce to send along, if it is time for one.
func (d *prover) check(r *http.Request, p *Principal) (fresh string, refused *Error) {
	now := time.Now()
	c, err := d.open(r, p)
	if err == nil {
		err = d.checkClaims(c, r, p, now)
	}
	if err != nil {
		return "", d.refuse(codeInvalidProof, "The DPoP proof is not valid", "", err)
	}
	if d.nonces != nil {
		nonce, _ := c.text("nonce")
		var ok bool
		if fresh, ok = d.nonces.check(nonce, now); !ok {
			return "", d.refuse(codeUseNonce, "The DPoP proof needs a nonce of this server", fresh, errors.New("mcpauth: DPoP proof without a good nonce"))
		}
	}
	// Last, so that only proofs that are good take memory.
	iat, _, _ := c.date("iat")
	jti, _ := c.text("jti")
	if err := d.once(r.Context(), p.KeyThumbprint, jti, iat.Add(d.o.Window)); err != nil {
		return "", err
	}
	return fresh, nil
}

// open parses the proof and checks everything about its form and its key.
func (d *prover) open(r *http.Request, p *Principal) (claims, error) {
	values := r.Header["Dpop"]
	if len(values) != 1 {
		return nil, fmt.Errorf("mcpauth: %d DPoP headers", len(values))
	}
	if len(values[0]) > maxProof {
		return nil, proofError("too long")
	}
	header, payload, _, ok := split(values[0])
	if !ok {
		return nil, proofError("not a JWT")
	}
	h, err := parseHeader(header, d.names)
	if err != nil {
		return nil, proofError(err.Error())
	}
	if !strings.EqualFold(strings.TrimPrefix(strings.ToLower(h.Typ), "application/"), "dpop+jwt") {
		return nil, proofError("the type is not dpop+jwt")
	}
	key, err := parseKey(h.JWK)
	if err != nil {
		return nil, proofError("jwk: " + err.Error())
	}
	if !fits(&key, h.Alg) {
		return nil, proofError("the key is not for the algorithm")
	}
	// Which key comes before whether it signed: a comparison is cheaper, and strangers' signatures are not worth checking.
	thumb, err := key.Thumbprint(crypto.SHA256)
	if err != nil || !equal(base64.RawURLEncoding.EncodeToString(thumb), p.KeyThumbprint) {
		return nil, proofError("made with another key than the token is bound to")
	}
	signed, ok := verify(values[0], d.algs, &key)
	if !ok {
		return nil, proofError("the signature is wrong")
	}
	body, ok := segment(payload)
	if !ok || string(body) != string(signed) {
		return nil, proofError("the payload is malformed")
	}
	c, err := parseClaims(body)
	if err != nil {
		return nil, proofError(err.Error())
	}
	return c, nil
}

// checkClaims checks what the proof is for.
func (d *prover) checkClaims(c claims, r *http.Request, p *Principal, now time.Time) error {
	jti, err := c.text("jti")
	if err != nil || jti == "" || len(jti) > maxJTI {
		return proofError("jti is missing or too long")
	}
	if htm, err := c.text("htm"); err != nil || htm != r.Method {
		return proofError("htm is not the method of the request")
	}
	htu, err := c.text("htu")
	got, ok := normalTarget(htu)
	want, _ := normalTarget(d.target(r))
	if err != nil || !ok || got != want {
		return proofError("htu is not the URL of the request")
	}
	iat, ok, err := c.date("iat")
	if err != nil || !ok || iat.Before(now.Add(-d.o.Window)) || iat.After(now.Add(d.o.Window)) {
		return proofError("iat is missing or not now")
	}
	if ath, err := c.text("ath"); err != nil || !equal(ath, base64.RawURLEncoding.EncodeToString(p.TokenHash[:])) {
		return proofError("ath is not the hash of the token")
	}
	return nil
}

func (d *prover) target(r *http.Request) string {
	if d.o.URL != nil {
		return d.o.URL(r)
	}
	return d.origin + requestPath(r)
}

// once refuses a proof that was seen before (RFC 9449 section 11.1).
func (d *prover) once(ctx context.Context, thumbprint, jti string, until time.Time) *Error {
	key := sha256.Sum256([]byte(thumbprint + "\x00" + jti))
	first, err := d.o.Replays.First(ctx, key, until)
	if err != nil {
		// Not knowing is no reason to let it through.
		return refusal(unavailable("replay check", err), dpop)
	}
	if !first {
		return d.refuse(codeInvalidProof, "The DPoP proof was used before", "", proofError("replayed"))
	}
	return nil
}

func (d *prover) refuse(code, description, nonce string, cause error) *Error {
	return &Error{Status: http.StatusUnauthorized, Code: code, Description: description, scheme: dpop, nonce: nonce, cause: cause}
}

func proofError(why string) error { return errors.New("mcpauth: DPoP proof: " + why) }

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
