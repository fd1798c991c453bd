package mcpauth

import (
	"bufio"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

const (
	// minStatic is the least length of a static token, in bytes. 32 hexadecimal digits are 128 bits.
	minStatic = 16
	// maxStatic is how many tokens a Static has at most: each request is compared with all of them.
	maxStatic = 1000
	// maxTokenFile is the size of a token file, in bytes.
	maxTokenFile = 1 << 20
)

// StaticToken is a token that was handed out beforehand, and whose it is.
type StaticToken struct {
	// Token is the secret: at least 16 characters of a bearer token (RFC 6750 section 2.1). Make it with something like "openssl rand -hex 32".
	Token string
	// Subject names who has it. Empty: a name made from the token's digest.
	Subject string
	// Scopes is what it allows.
	Scopes []string
}

// Static is a [Verifier] for tokens that were handed out beforehand, for demonstrations and servers of one person. They do not expire and are for
// this server whatever its name, so [Resource.Protect] does not compare an audience. A presented token is compared with every one, in a time that
// does not tell how much of it was right.
//
// It holds digests, not tokens, does not change, and is safe for concurrent use.
type Static struct{ tokens []staticEntry }

type staticEntry struct {
	hash digest
	who  *Principal
}

// NewStatic returns a verifier for tokens. Errors name the position of the token that is wrong, not the token.
func NewStatic(tokens ...StaticToken) (*Static, error) {
	if len(tokens) == 0 {
		return nil, errors.New("mcpauth: no tokens")
	}
	if len(tokens) > maxStatic {
		return nil, fmt.Errorf("mcpauth: %d tokens: at most %d", len(tokens), maxStatic)
	}
	v := new(Static)
	for i, t := range tokens {
		e, err := newStaticEntry(t)
		if err != nil {
			return nil, fmt.Errorf("mcpauth: token %d: %w", i+1, err)
		}
		for _, other := range v.tokens {
			if other.hash == e.hash {
				return nil, fmt.Errorf("mcpauth: token %d: it is there twice", i+1)
			}
		}
		v.tokens = append(v.tokens, e)
	}
	return v, nil
}

func newStaticEntry(t StaticToken) (staticEntry, error) {
	var e staticEntry
	switch {
	case len(t.Token) < minStatic:
		return e, fmt.Errorf("it is shorter than %d characters", minStatic)
	case len(t.Token) > maxToken:
		return e, errTokenSize
	case !isB64Token(t.Token):
		return e, errors.New("it has characters that no bearer token has (RFC 6750 section 2.1)")
	}
	for _, s := range t.Scopes {
		if !isScope(s) {
			return e, errors.New("a scope is malformed (RFC 6749 section 3.3)")
		}
	}
	e.hash = sha256.Sum256([]byte(t.Token))
	if t.Subject == "" {
		t.Subject = "token-" + hex.EncodeToString(e.hash[:6])
	}
	e.who = &Principal{Subject: t.Subject, Scopes: t.Scopes, TokenHash: e.hash, local: true}
	return e, nil
}

// Verify implements [Verifier].
func (v *Static) Verify(_ context.Context, token string, _ *http.Request) (*Principal, error) {
	hash := sha256.Sum256([]byte(token))
	found := -1
	for i := range v.tokens {
		// No way out in the middle: all are compared, always.
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(hash[:], v.tokens[i].hash[:]), i, found)
	}
	if found < 0 {
		return nil, invalid("no such token")
	}
	return v.tokens[found].who, nil
}

// ReadTokens reads a token file: one token a line, then the subject and the scopes it has, if any, with blanks between them. Empty lines and
// those that begin with # are skipped.
//
//	# who may do what
//	4f1c0d7e9a6b4c0f8d2e5a7b9c1d3e5f  ada    notes:read notes:write
//	9b8a7c6d5e4f3a2b1c0d9e8f7a6b5c4d  grace  notes:read
//
// Errors name the line, not what is in it.
func ReadTokens(r io.Reader) (*Static, error) {
	lines := bufio.NewScanner(io.LimitReader(r, maxTokenFile+1))
	lines.Buffer(nil, maxTokenFile)
	var tokens []StaticToken
	size := 0
	for n := 1; lines.Scan(); n++ {
		if size += len(lines.Bytes()) + 1; size > maxTokenFile {
			return nil, errors.New("mcpauth: the token file is larger than 1 MiB")
		}
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		t := StaticToken{Token: fields[0]}
		if len(fields) > 1 {
			t.Subject, t.Scopes = fields[1], fields[2:]
		}
		if _, err := newStaticEntry(t); err != nil {
			return nil, fmt.Errorf("mcpauth: token file, line %d: %w", n, err)
		}
		tokens = append(tokens, t)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("mcpauth: token file: %w", err)
	}
	return NewStatic(tokens...)
}

// ReadTokenFile is [ReadTokens] for a file.
func ReadTokenFile(name string) (*Static, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("mcpauth: token file: %w", err)
	}
	defer f.Close()
	return ReadTokens(f)
}
