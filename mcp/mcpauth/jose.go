package mcpauth

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"errors"
	"fmt"
	"slices"

	"github.com/go-jose/go-jose/v4"
	josejson "github.com/go-jose/go-jose/v4/json"
)

// signatureAlgorithms are those that can be allowed. Symmetric ones are not: a server that verifies with public keys and accepts HS256 takes the
// public key for a secret, and none is no signature.
var signatureAlgorithms = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}

// defaultAlgorithms are those allowed where nothing else is said.
var defaultAlgorithms = []string{"RS256", "PS256", "ES256", "ES384", "EdDSA"}

// algorithms checks a list of names and returns it as go-jose wants it, and the defaults for none.
func algorithms(names []string) ([]jose.SignatureAlgorithm, []string, error) {
	if len(names) == 0 {
		names = defaultAlgorithms
	}
	out := make([]jose.SignatureAlgorithm, 0, len(names))
	for _, n := range names {
		if !slices.Contains(signatureAlgorithms, n) {
			return nil, nil, fmt.Errorf("%q is not an asymmetric signature algorithm this package has", n)
		}
		out = append(out, jose.SignatureAlgorithm(n))
	}
	return out, names, nil
}

// minRSA is the smallest RSA key, in bits (RFC 7518 section 3.3).
const minRSA = 2048

// rawKey is the part of a JSON Web Key this package looks at (RFC 7517 section 4, RFC 7518 section 6).
type rawKey struct {
	Kty string   `json:"kty"`
	Kid string   `json:"kid,omitempty"`
	Use string   `json:"use,omitempty"`
	Alg string   `json:"alg,omitempty"`
	Ops []string `json:"key_ops,omitempty"`
	Crv string   `json:"crv,omitempty"`
	N   string   `json:"n,omitempty"`
	E   string   `json:"e,omitempty"`
	X   string   `json:"x,omitempty"`
	Y   string   `json:"y,omitempty"`

	// Members of private and symmetric keys.
	D   josejson.RawMessage `json:"d,omitempty"`
	P   josejson.RawMessage `json:"p,omitempty"`
	Q   josejson.RawMessage `json:"q,omitempty"`
	DP  josejson.RawMessage `json:"dp,omitempty"`
	DQ  josejson.RawMessage `json:"dq,omitempty"`
	QI  josejson.RawMessage `json:"qi,omitempty"`
	Oth josejson.RawMessage `json:"oth,omitempty"`
	K   josejson.RawMessage `json:"k,omitempty"`
}

// parseKey reads a public key to verify with. Certificates in it are not looked at: trust comes from where the key was found.
func parseKey(data []byte) (jose.JSONWebKey, error) {
	var raw rawKey
	var key jose.JSONWebKey
	if !shallow(data) || josejson.Unmarshal(data, &raw) != nil {
		return key, errors.New("not a JSON Web Key")
	}
	switch {
	case raw.D != nil || raw.P != nil || raw.Q != nil || raw.DP != nil || raw.DQ != nil || raw.QI != nil || raw.Oth != nil || raw.K != nil:
		return key, errors.New("a key that is not public")
	case raw.Use != "" && raw.Use != "sig":
		return key, errors.New("a key that is not for signatures")
	case raw.Ops != nil && !slices.Contains(raw.Ops, "verify"):
		return key, errors.New("a key that is not to verify with")
	}
	raw.Ops = nil
	public, err := josejson.Marshal(raw)
	if err != nil {
		return key, errors.New("not a JSON Web Key")
	}
	if err := key.UnmarshalJSON(public); err != nil || !key.Valid() || !key.IsPublic() {
		return key, errors.New("a key of a kind that is not supported")
	}
	if k, ok := key.Key.(*rsa.PublicKey); ok && k.N.BitLen() < minRSA {
		return key, errors.New("an RSA key below 2048 bits")
	}
	return key, nil
}

// fits reports whether a key can make signatures of an algorithm (RFC 7518 section 3.1), and may.
func fits(key *jose.JSONWebKey, alg string) bool {
	if key.Algorithm != "" && key.Algorithm != alg {
		return false
	}
	switch k := key.Key.(type) {
	case *rsa.PublicKey:
		return alg[0] == 'R' || alg[0] == 'P'
	case *ecdsa.PublicKey:
		switch alg {
		case "ES256":
			return k.Curve == elliptic.P256()
		case "ES384":
			return k.Curve == elliptic.P384()
		case "ES512":
			return k.Curve == elliptic.P521()
		}
	case ed25519.PublicKey:
		return alg == "EdDSA"
	}
	return false
}

// joseHeader is the protected header of a compact JWS (RFC 7515 section 4.1).
type joseHeader struct {
	Alg  string              `json:"alg"`
	Typ  string              `json:"typ"`
	Kid  string              `json:"kid"`
	Crit josejson.RawMessage `json:"crit"`
	JWK  josejson.RawMessage `json:"jwk"`
}

// parseHeader reads it. Extensions that are critical are none of ours (RFC 7515 section 4.1.11, RFC 7797 section 7), and an algorithm must be in
// the list before anything is done with it (RFC 8725 section 3.1).
func parseHeader(encoded string, allowed []string) (*joseHeader, error) {
	data, ok := segment(encoded)
	h := new(joseHeader)
	switch {
	case !ok || !shallow(data) || len(data) == 0 || data[0] != '{' || josejson.Unmarshal(data, h) != nil:
		return nil, errors.New("the header is malformed")
	case h.Crit != nil:
		return nil, errors.New("the header has critical extensions")
	case !slices.Contains(allowed, h.Alg):
		return nil, errors.New("the signature algorithm is not allowed")
	}
	return h, nil
}

// verify checks the signature of a compact JWS whose header parseHeader liked, with one key.
func verify(token string, algs []jose.SignatureAlgorithm, key *jose.JSONWebKey) ([]byte, bool) {
	jws, err := jose.ParseSignedCompact(token, algs)
	if err != nil {
		return nil, false
	}
	payload, err := jws.Verify(key.Key)
	return payload, err == nil
}
