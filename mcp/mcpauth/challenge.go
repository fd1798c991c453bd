package mcpauth

import (
	"errors"
	"strings"
)

// Challenge is one challenge of a WWW-Authenticate header (RFC 9110 section 11.6.1).
type Challenge struct {
	// Scheme is the authentication scheme, "Bearer" or "DPoP". It has no case.
	Scheme string
	// Token68 is the one opaque value some schemes have in place of parameters.
	Token68 string
	// Params are the parameters in their order.
	Params []Param
}

// Param is a parameter of a [Challenge]. Names have no case.
type Param struct{ Name, Value string }

// Param returns the value of the first parameter of that name, in any case, or "".
func (c Challenge) Param(name string) string {
	for _, p := range c.Params {
		if strings.EqualFold(p.Name, name) {
			return p.Value
		}
	}
	return ""
}

// String writes the challenge as a header value, all parameters as quoted strings. What cannot stand in a header, control characters and text
// beyond ASCII, is left out: a value can never end the header or begin another.
func (c Challenge) String() string {
	var b strings.Builder
	b.WriteString(c.Scheme)
	if c.Token68 != "" {
		b.WriteString(" " + c.Token68)
		return b.String()
	}
	for i, p := range c.Params {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(" " + p.Name + `="`)
		for _, ch := range []byte(p.Value) {
			switch {
			case ch == '"' || ch == '\\':
				b.WriteByte('\\')
				b.WriteByte(ch)
			case ch >= ' ' && ch <= '~':
				b.WriteByte(ch)
			}
		}
		b.WriteByte('"')
	}
	return b.String()
}

const (
	// maxChallengeText is how many bytes of WWW-Authenticate ParseChallenges looks at.
	maxChallengeText = 64 << 10
	// maxChallenges is how many challenges it takes, and how many parameters in one.
	maxChallenges = 64
)

// ErrChallenge is returned by [ParseChallenges] for text that is no list of challenges. The text is not in it.
var ErrChallenge = errors.New("mcpauth: malformed WWW-Authenticate")

// ParseChallenges reads the values of a WWW-Authenticate header, http.Header.Values("WWW-Authenticate"). Each value may hold several challenges,
// which is where splitting at commas goes wrong. It is for clients, gateways and tests of servers; more than 64 KiB in all, 64 challenges or 64
// parameters in one are an error.
func ParseChallenges(values []string) ([]Challenge, error) {
	var out []Challenge
	room := maxChallengeText
	for _, v := range values {
		if room -= len(v); room < 0 {
			return nil, ErrChallenge
		}
		s := challengeScanner{rest: v}
		for {
			s.skip(" \t,")
			if s.rest == "" {
				break
			}
			c, ok := s.challenge()
			if !ok || len(out) == maxChallenges {
				return nil, ErrChallenge
			}
			out = append(out, c)
		}
	}
	return out, nil
}

type challengeScanner struct{ rest string }

func (s *challengeScanner) skip(set string) { s.rest = strings.TrimLeft(s.rest, set) }

// take cuts off the longest prefix of bytes that ok accepts.
func (s *challengeScanner) take(ok func(byte) bool) string {
	i := 0
	for i < len(s.rest) && ok(s.rest[i]) {
		i++
	}
	out := s.rest[:i]
	s.rest = s.rest[i:]
	return out
}

// challenge reads a scheme and what belongs to it. A parameter list goes on after a comma as long as "name =" follows; another token there is
// the scheme of the next challenge.
func (s *challengeScanner) challenge() (Challenge, bool) {
	c := Challenge{Scheme: s.take(isToken)}
	if c.Scheme == "" {
		return c, false
	}
	if s.rest == "" || s.rest[0] == ',' {
		return c, true
	}
	if s.rest[0] != ' ' && s.rest[0] != '\t' {
		return c, false
	}
	s.skip(" \t")
	if t, ok := s.token68(); ok {
		c.Token68 = t
		return c, true
	}
	for {
		s.skip(" \t,")
		before := s.rest
		name := s.take(isToken)
		s.skip(" \t")
		if name == "" || s.rest == "" || s.rest[0] != '=' {
			s.rest = before // the next challenge, or the end
			return c, true
		}
		s.rest = s.rest[1:]
		s.skip(" \t")
		value, ok := s.value()
		if !ok || len(c.Params) == maxChallenges {
			return c, false
		}
		c.Params = append(c.Params, Param{name, value})
		s.skip(" \t")
		if s.rest != "" && s.rest[0] != ',' {
			return c, false
		}
	}
}

// token68 reads the opaque form: it fills the place up to the next comma, and is not a parameter.
func (s *challengeScanner) token68() (string, bool) {
	before := s.rest
	t := s.take(isToken68)
	t += s.take(func(b byte) bool { return b == '=' })
	s.skip(" \t")
	if t != "" && (s.rest == "" || s.rest[0] == ',') {
		return t, true
	}
	s.rest = before
	return "", false
}

// value reads a token or a quoted string.
func (s *challengeScanner) value() (string, bool) {
	if s.rest == "" || s.rest[0] != '"' {
		t := s.take(isToken)
		return t, t != ""
	}
	var b strings.Builder
	for i := 1; i < len(s.rest); i++ {
		switch ch := s.rest[i]; ch {
		case '"':
			s.rest = s.rest[i+1:]
			return b.String(), true
		case '\\':
			if i++; i == len(s.rest) {
				return "", false
			}
			b.WriteByte(s.rest[i])
		default:
			b.WriteByte(ch)
		}
	}
	return "", false
}

// isToken is tchar of RFC 9110 section 5.6.2.
func isToken(b byte) bool {
	return isAlnum(b) || strings.IndexByte("!#$%&'*+-.^_`|~", b) >= 0
}

// isToken68 is what a b64token or token68 is made of, without the padding (RFC 6750 section 2.1, RFC 9110 section 11.2).
func isToken68(b byte) bool {
	return isAlnum(b) || strings.IndexByte("-._~+/", b) >= 0
}

func isAlnum(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}
