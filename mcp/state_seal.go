package mcp

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// minStateKey is how long a key must be, in bytes.
const minStateKey = 32

const statePrefix = "v1."

// keyRing seals with its first key and opens with all: AES-256-GCM, with prefix and key id as associated data.
//
//	v1. base64url( key id (4) | nonce (12) | ciphertext | tag (16) )
type keyRing []ringKey

type ringKey struct {
	id   [4]byte
	aead cipher.AEAD
}

// newKeyRing makes a ring of secrets; nil: a random key, good for one process.
func newKeyRing(secrets [][]byte) (keyRing, error) {
	if len(secrets) == 0 {
		secret := make([]byte, minStateKey)
		_, _ = rand.Read(secret) // it never fails
		secrets = [][]byte{secret}
	}
	ring := make(keyRing, 0, len(secrets))
	for i, secret := range secrets {
		if len(secret) < minStateKey {
			return nil, fmt.Errorf("mcp: Server.StateKeys[%d] has %d bytes: want %d or more", i, len(secret), minStateKey)
		}
		key, err := hkdf.Key(sha256.New, secret, nil, "tandem mcp state v1", 32)
		if err != nil {
			return nil, fmt.Errorf("mcp: Server.StateKeys[%d]: %w", i, err)
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, fmt.Errorf("mcp: Server.StateKeys[%d]: %w", i, err)
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, fmt.Errorf("mcp: Server.StateKeys[%d]: %w", i, err)
		}
		ring = append(ring, ringKey{kid(secret), aead})
	}
	return ring, nil
}

func associated(id [4]byte) []byte { return append([]byte(statePrefix), id[:]...) }

// Seal implements StateCodec.
func (r keyRing) Seal(state []byte) (string, error) {
	k := r[0]
	box := k.aead.Seal(k.id[:4:4], nil, state, associated(k.id))
	return statePrefix + base64.RawURLEncoding.EncodeToString(box), nil
}

var (
	errTokenForm = errors.New("it is none that was made here")
	errTokenKey  = errors.New("its key is not known")
	errTokenTag  = errors.New("it was changed")
)

var strictBase64 = base64.RawURLEncoding.Strict()

// Open implements StateCodec.
func (r keyRing) Open(token string) ([]byte, error) {
	text, ok := strings.CutPrefix(token, statePrefix)
	if !ok || strings.ContainsAny(text, "\r\n") { // which the decoder would skip
		return nil, errTokenForm
	}
	box, err := strictBase64.DecodeString(text)
	if err != nil || len(box) < 4 {
		return nil, errTokenForm
	}
	id := [4]byte(box[:4])
	err = errTokenKey
	for _, k := range r {
		if k.id != id {
			continue
		}
		state, failed := k.aead.Open(nil, nil, box[4:], associated(id))
		if failed == nil {
			return state, nil
		}
		err = errTokenTag
	}
	return nil, err
}

// prepareAsks makes what calls that ask need of the Server's fields.
func (s *Server) prepareAsks() error {
	if s.claims = s.Claimer; s.claims == nil {
		s.claims = new(MemoryClaimer)
	}
	if s.states = s.StateCodec; s.states != nil {
		return nil
	}
	if len(s.StateKeys) == 0 {
		s.states = ownKey(sync.OnceValue(func() keyRing {
			ring, _ := newKeyRing(nil) // a key of its own making is good
			return ring
		}))
		return nil
	}
	ring, err := newKeyRing(s.StateKeys)
	s.states = ring
	return err
}

// ownKey is a ring with a random key. It is made for the first state: most servers never have one, and start sooner.
type ownKey func() keyRing

// Seal implements StateCodec.
func (k ownKey) Seal(state []byte) (string, error) { return k().Seal(state) }

// Open implements StateCodec.
func (k ownKey) Open(token string) ([]byte, error) { return k().Open(token) }

func (s *Server) stateCodec() StateCodec { return s.states }
