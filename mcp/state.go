package mcp

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Limits of the state that a call that asks leaves with its client (MCP 2026-07-28, patterns, MRTR, requestState).
const (
	stateLife   = 10 * time.Minute // of one round
	maxFlow     = time.Hour        // of a call, over all rounds
	maxSkew     = time.Minute      // of clocks of two instances
	maxState    = 64 << 10         // bytes of a token
	maxStored   = 1 << 20          // bytes of a state that is kept in a StateStore
	maxRounds   = 8
	maxTries    = 2 // times that a form is shown again after an answer that did not fit
	maxDrift    = 3
	stateFormat = 1
)

// StateCodec seals the states of calls that ask, instead of AES-256-GCM with Server.StateKeys: a key management service, for one. What Seal returns must tell
// nothing of the state, and Open must fail for everything that Seal has not returned. What is in a state is checked by the Server. Both are called by many
// goroutines at once.
type StateCodec interface {
	Seal(state []byte) (token string, err error)
	Open(token string) (state []byte, err error)
}

// StateStore keeps states that are too large to travel, above 64 KiB. What it is given is sealed already. Get returns nil for a key that is not there, or not
// any more; until says when it may be dropped. A StateStore must bound itself, and is called by many goroutines at once.
type StateStore interface {
	Put(ctx context.Context, key string, state []byte, until time.Time) error
	Get(ctx context.Context, key string) (state []byte, err error)
}

// errState is all that a client learns of what is wrong with a state.
var errState = &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "Invalid or expired requestState"}

var errStateTooLarge = errors.New("mcp: the state of the call is too large: answers and memos have to travel with it; see Server.StateStore")

// claims is what a state says. Its encoding is sealed.
type claims struct {
	Format    int                        `json:"v"`
	Handle    string                     `json:"h,omitempty"` // of the state in the store; then the rest is there
	Audience  string                     `json:"a,omitempty"`
	Issued    int64                      `json:"i"`
	Expires   int64                      `json:"e"`
	Begun     int64                      `json:"b,omitempty"`
	Target    []byte                     `json:"d,omitempty"` // digest of method, name and arguments
	Principal []byte                     `json:"p,omitempty"` // digest; nil: there was none
	Round     int                        `json:"r,omitempty"`
	Call      string                     `json:"c,omitempty"`
	Asked     map[string]*asked          `json:"q,omitempty"`
	Memos     map[string]json.RawMessage `json:"k,omitempty"`
	User      []byte                     `json:"u,omitempty"`
}

// asked is a question that was put to the client.
type asked struct {
	Digest []byte          `json:"d"`
	Method string          `json:"m"`
	Schema json.RawMessage `json:"s,omitempty"` // of a form that was asked by an InputRequired
	Plain  bool            `json:"x,omitempty"` // asked by an InputRequired
	Tries  int             `json:"t,omitempty"` // answers that did not fit
	Drift  int             `json:"f,omitempty"` // times that the question was another one
	Answer json.RawMessage `json:"a,omitempty"`

	read    bool          // it counts no more as unread
	failure error         // of asking a client with initialize
	flight  chan struct{} // closed when the client that is being asked has answered
}

// seal makes the token that the client brings back.
func (s *Server) seal(ctx context.Context, f *flow, t *target) (string, error) {
	now := time.Now()
	c := claims{
		Format: stateFormat, Audience: s.Name, Issued: now.Unix(), Expires: now.Add(stateLife).Unix(), Begun: f.begun().Unix(),
		Target: t.digest(), Principal: principalTag(ctx, f.callID()),
		Round: f.round, Call: f.callID(), Asked: f.asked, Memos: f.memos, User: f.user,
	}
	token, err := s.sealClaims(&c)
	if err != nil || len(token) <= maxState {
		return token, err
	}
	if s.StateStore == nil || len(token) > maxStored {
		return "", errStateTooLarge
	}
	handle := claims{Format: stateFormat, Issued: c.Issued, Expires: c.Expires, Handle: rand.Text()}
	if err := s.StateStore.Put(ctx, handle.Handle, []byte(token), now.Add(stateLife)); err != nil {
		return "", fmt.Errorf("mcp: keeping the state of a call: %w", err)
	}
	return s.sealClaims(&handle)
}

func (s *Server) sealClaims(c *claims) (string, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("mcp: state of a call: %w", err)
	}
	token, err := s.stateCodec().Seal(text)
	if err != nil {
		return "", fmt.Errorf("mcp: sealing the state of a call: %w", err)
	}
	return token, nil
}

// unseal checks a token against the request that brings it, and continues the call. The error is for the Reporter.
func (s *Server) unseal(ctx context.Context, token string, t *target) (*flow, error) {
	c, err := s.openClaims(token, maxState)
	if err != nil {
		return nil, err
	}
	if c.Handle != "" {
		if s.StateStore == nil {
			return nil, errors.New("mcp: the state is in a StateStore and there is none")
		}
		kept, err := s.StateStore.Get(ctx, c.Handle)
		if err != nil {
			return nil, fmt.Errorf("mcp: fetching the state of a call: %w", err)
		}
		if c, err = s.openClaims(string(kept), maxStored); err != nil {
			return nil, fmt.Errorf("%w (from the StateStore)", err)
		}
	}
	begun := time.Unix(c.Begun, 0)
	switch {
	case c.Audience != s.Name:
		return nil, errors.New("mcp: the state was made by another server")
	case time.Since(begun) > maxFlow:
		return nil, fmt.Errorf("mcp: the call began more than %v ago", maxFlow)
	case !sameDigest(c.Target, t.digest()):
		return nil, errors.New("mcp: the state was made for something else, or for other arguments")
	case !sameDigest(c.Principal, principalTag(ctx, c.Call)):
		return nil, errors.New("mcp: the state belongs to another principal")
	}
	for _, a := range c.Asked {
		if a == nil {
			return nil, errors.New("mcp: the state is broken")
		}
	}
	return &flow{
		server: s, id: c.Call, start: begun, round: c.Round, asked: c.Asked, memos: c.Memos, user: c.User, resumed: true,
	}, nil
}

// openClaims unseals a token and checks what it says about itself.
func (s *Server) openClaims(token string, most int) (*claims, error) {
	if len(token) > most {
		return nil, fmt.Errorf("mcp: the state has %d bytes, more than %d", len(token), most)
	}
	text, err := s.stateCodec().Open(token)
	if err != nil {
		return nil, fmt.Errorf("mcp: unsealing a state: %w", err)
	}
	c := new(claims)
	if err := json.Unmarshal(text, c); err != nil || c.Format != stateFormat {
		return nil, errors.New("mcp: the state has another format")
	}
	now := time.Now()
	switch {
	case now.After(time.Unix(c.Expires, 0)):
		return nil, errors.New("mcp: the state has expired")
	case time.Unix(c.Issued, 0).After(now.Add(maxSkew)):
		return nil, errors.New("mcp: the state is from the future")
	}
	return c, nil
}

// principalTag is the principal of ctx as the state of one call knows it; nil: there is none.
func principalTag(ctx context.Context, callID string) []byte {
	key, ok := PrincipalFrom(ctx)
	if !ok {
		return nil
	}
	h := sha256.New()
	writeText(h, callID) // so that states of one principal cannot be told by it
	writeText(h, key)
	return h.Sum(nil)[:digestSize]
}

func writeText(h hash.Hash, s string) {
	h.Write(strconv.AppendInt(nil, int64(len(s)), 10))
	h.Write([]byte{':'})
	h.Write([]byte(s))
}

// digestJSON writes a JSON text so that texts of equal values are equal: whatever the order of members, the spaces, the escapes, the way a number is written.
func digestJSON(h hash.Hash, text []byte) {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || memberTwice(text) != "" {
		writeText(h, string(text)) // not JSON, or what it says depends on who reads it
		return
	}
	digestValue(h, v)
}

func digestValue(h hash.Hash, v any) {
	switch v := v.(type) {
	case nil:
		h.Write([]byte{'n'})
	case bool:
		h.Write(strconv.AppendBool(nil, v))
	case string:
		h.Write([]byte{'s'})
		writeText(h, v)
	case json.Number:
		h.Write([]byte{'d'})
		writeText(h, plainNumber(string(v)))
	case []any:
		h.Write([]byte{'a'})
		writeText(h, strconv.Itoa(len(v)))
		for _, e := range v {
			digestValue(h, e)
		}
	case map[string]any:
		h.Write([]byte{'o'})
		writeText(h, strconv.Itoa(len(v)))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			writeText(h, name)
			digestValue(h, v[name])
		}
	}
}

// plainNumber returns one text for all the ways to write a number: 1, 1.0 and 10e-1 are the same, and large integers keep every digit.
func plainNumber(s string) string {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	sign := ""
	if rest, negative := strings.CutPrefix(mantissa, "-"); negative {
		sign, mantissa = "-", rest
	}
	e := 0
	if exponent != "" {
		var err error
		if e, err = strconv.Atoi(exponent); err != nil || e > 1<<30 || e < -1<<30 {
			return s
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	e -= len(fraction)
	short := strings.TrimRight(digits, "0")
	if short == "" {
		return "0"
	}
	return sign + short + "e" + strconv.Itoa(e+len(digits)-len(short))
}

// kid is the name of a key.
func kid(key []byte) [4]byte {
	sum := sha256.Sum256(append([]byte("tandem mcp state key id "), key...))
	return [4]byte(sum[:4])
}
