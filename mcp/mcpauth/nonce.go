package mcpauth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"time"
)

const (
	nonceLife  = 5 * time.Minute
	nonceRenew = nonceLife / 2 // older ones are replaced in the answer
	nonceMAC   = 16            // bytes of the code, enough for something that lives for minutes
)

// nonces makes and checks DPoP nonces without remembering any: a nonce is the time it was made, and a code that shows that we made it (RFC 9449
// section 8.1 leaves the form to the server).
type nonces struct{ keys [][]byte }

func newNonces(keys [][]byte) (*nonces, error) {
	if len(keys) == 0 {
		key := make([]byte, 32)
		rand.Read(key)
		keys = [][]byte{key}
	}
	for _, k := range keys {
		if len(k) < 32 {
			return nil, errors.New("a nonce key has less than 32 bytes")
		}
	}
	return &nonces{keys}, nil
}

// mint returns the nonce for a time. Within one second it is the same, which tells nobody anything.
func (n *nonces) mint(now time.Time) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(now.Unix()))
	return base64.RawURLEncoding.EncodeToString(append(b, mac(n.keys[0], b)...))
}

func mac(key, b []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte("tandem dpop nonce 1\x00"))
	h.Write(b)
	return h.Sum(nil)[:nonceMAC]
}

// check reports whether a nonce is ours and young enough, and returns a new one if the client should have one.
func (n *nonces) check(nonce string, now time.Time) (fresh string, ok bool) {
	b, ok := segment(nonce)
	if !ok || len(b) != 8+nonceMAC {
		return n.mint(now), false
	}
	for _, key := range n.keys {
		if !hmac.Equal(b[8:], mac(key, b[:8])) {
			continue
		}
		age := now.Sub(time.Unix(int64(binary.BigEndian.Uint64(b)), 0))
		switch {
		case age >= nonceLife || age < -nonceLife:
			return n.mint(now), false
		case age >= nonceRenew:
			return n.mint(now), true
		}
		return "", true
	}
	return n.mint(now), false
}
