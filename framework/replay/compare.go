package replay

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/tandem-rpc/tandem/logging"
)

// path is a pattern of members: "result.items.*.time", "**.token".
type path struct {
	method string // "": any
	names  []string
}

// parsePath reads METHOD:MEMBER.MEMBER…; the method may be left out.
func parsePath(s string) path {
	var p path
	if method, rest, ok := strings.Cut(s, ":"); ok {
		p.method, s = method, rest
	}
	p.names = strings.Split(s, ".")
	return p
}

// match reports whether the members at lead to, or through, what the pattern names.
func (p *path) match(method string, at []string) bool {
	return (p.method == "" || p.method == method) && matchNames(p.names, at)
}

func matchNames(pattern, at []string) bool {
	for i, name := range pattern {
		switch {
		case name == "**":
			for skip := range len(at) - i + 1 {
				if matchNames(pattern[i+1:], at[i+skip:]) {
					return true
				}
			}
			return false
		case i == len(at):
			return false
		case name != "*" && name != at[i]:
			return false
		}
	}
	return len(pattern) == len(at)
}

// comparer tells messages apart.
type comparer struct {
	ignore   []path
	opaque   []path
	tokens   map[string]string // what the opaque ones were, and are now
	redactor *logging.Redactor
}

// mismatch is the first place where two messages differ.
type mismatch struct {
	path      string
	want, got string
}

// decode reads a message with its numbers as they are. Secrets in what the server sends now are taken out as they were in the recording.
func (c *comparer) decode(text []byte, recorded bool) (any, bool) {
	if !recorded {
		text = c.redactor.Redact(text)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	return v, d.Decode(&v) == nil
}

// compare compares members of two messages, "params" for example; others do not count. It returns nil if they are alike.
func (c *comparer) compare(method string, want, got []byte, members ...string) *mismatch {
	a, okA := c.decode(want, true)
	b, okB := c.decode(got, false)
	ma, _ := a.(map[string]any)
	mb, _ := b.(map[string]any)
	if !okA || !okB || ma == nil || mb == nil {
		return &mismatch{"", string(want), string(got)}
	}
	for _, name := range members {
		va, inA := ma[name]
		vb, inB := mb[name]
		at := []string{name}
		if c.ignored(method, at) {
			continue
		}
		if inA != inB {
			return &mismatch{name, present(va, inA), present(vb, inB)}
		}
		if d := c.value(method, at, va, vb); d != nil {
			return d
		}
	}
	return nil
}

func (c *comparer) ignored(method string, at []string) bool { return among(c.ignore, method, at) }

func among(paths []path, method string, at []string) bool {
	return slices.ContainsFunc(paths, func(p path) bool { return p.match(method, at) })
}

// minToken is how long a string must be that is looked for in what is sent: shorter ones might mean something else.
const minToken = 6

// follow notes what an opaque string is now.
func (c *comparer) follow(method string, at []string, a, b string) bool {
	if !among(c.opaque, method, at) {
		return false
	}
	if len(a) >= minToken && !strings.Contains(a, logging.Redacted) {
		c.tokens[a] = b
	}
	return true
}

// current replaces in what is sent the opaque strings that were recorded by those of now.
func (c *comparer) current(text []byte) []byte {
	for was, now := range c.tokens {
		quoted, err := json.Marshal(was)
		if err == nil && bytes.Contains(text, quoted) {
			if to, err := json.Marshal(now); err == nil {
				text = bytes.ReplaceAll(text, quoted, to)
			}
		}
	}
	return text
}

func (c *comparer) value(method string, at []string, a, b any) *mismatch {
	if c.ignored(method, at) {
		return nil
	}
	differ := &mismatch{strings.Join(at, "."), present(a, true), present(b, true)}
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok {
			return differ
		}
		all := maps.Clone(b)
		maps.Copy(all, a)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			va, inA := a[name]
			vb, inB := b[name]
			deeper := append(at[:len(at):len(at)], name)
			if inA != inB && !c.ignored(method, deeper) {
				return &mismatch{strings.Join(deeper, "."), present(va, inA), present(vb, inB)}
			}
			if inA && inB {
				if d := c.value(method, deeper, va, vb); d != nil {
					return d
				}
			}
		}
		return nil
	case []any:
		b, ok := b.([]any)
		if !ok {
			return differ
		}
		for i := range min(len(a), len(b)) {
			if d := c.value(method, append(at[:len(at):len(at)], strconv.Itoa(i)), a[i], b[i]); d != nil {
				return d
			}
		}
		if len(a) != len(b) {
			return &mismatch{strings.Join(at, "."), strconv.Itoa(len(a)) + " elements", strconv.Itoa(len(b)) + " elements"}
		}
		return nil
	case string:
		if b, ok := b.(string); ok && (alike(a, b) || c.follow(method, at, a, b)) {
			return nil
		}
		if a == logging.Redacted { // a secret may be of any type
			return nil
		}
		return differ
	case json.Number:
		if b, ok := b.(json.Number); ok && sameNumber(a, b) {
			return nil
		}
		return differ
	}
	if a != b {
		return differ
	}
	return nil
}

// alike compares strings, of which the recorded one may have lost secrets.
func alike(want, got string) bool {
	parts := strings.Split(want, logging.Redacted)
	if len(parts) == 1 {
		return want == got
	}
	last := len(parts) - 1
	if !strings.HasPrefix(got, parts[0]) {
		return false
	}
	got = got[len(parts[0]):]
	for _, p := range parts[1:last] {
		_, rest, ok := strings.Cut(got, p)
		if !ok {
			return false
		}
		got = rest
	}
	return strings.HasSuffix(got, parts[last])
}

// sameNumber compares by value, numbers of moderate size at least: 1 is 1.0.
func sameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}
	if len(a) > 40 || len(b) > 40 || strings.ContainsAny(string(a+b), "eE") {
		return false
	}
	x, okX := new(big.Rat).SetString(string(a))
	y, okY := new(big.Rat).SetString(string(b))
	return okX && okY && x.Cmp(y) == 0
}

// maxShown is how many bytes of a value a difference shows.
const maxShown = 200

// present is a value for people to read.
func present(v any, there bool) string {
	if !there {
		return "nothing"
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return short(string(text))
}

// short bounds a text.
func short(s string) string {
	if len(s) > maxShown {
		return strings.ToValidUTF8(s[:maxShown], "") + "…"
	}
	return s
}
