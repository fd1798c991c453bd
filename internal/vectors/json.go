package vectors

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds how deep a JSON value may be nested, well above what a peer may write.
const maxDepth = 10_000

// Canonical returns the one spelling that all texts of the same JSON value share: members sorted by name, no blanks, the shortest spelling of a
// number as digits and a power of ten, strings with only the escapes they need. Two texts are equal as JSON exactly if these are the same.
//
// Numbers are not rounded: 9007199254740993 differs from 9007199254740992, 1 equals 1.0 and 10e-1. A member that stands twice is an error, and so
// is invalid UTF-8. A lone surrogate is a character of its own.
func Canonical(text []byte) (string, error) {
	n, err := parse(text)
	if err != nil {
		return "", err
	}
	return n.text, nil
}

// node is a JSON value in its canonical spelling.
type node struct {
	kind  byte // the first byte of the spelling; '0' for any number
	text  string
	items []node          // of an array
	named map[string]node // of an object, by decoded name
}

func parse(text []byte) (node, error) {
	p := parser{text: text}
	n, err := p.value(0)
	if err != nil {
		return node{}, fmt.Errorf("at byte %d: %w", p.at, err)
	}
	if p.blank(); p.at < len(text) {
		return node{}, fmt.Errorf("at byte %d: something follows the value", p.at)
	}
	return n, nil
}

type parser struct {
	text []byte
	at   int
}

var errEnd = errors.New("the text ends too early")

func (p *parser) blank() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// peek returns the next byte that is not blank, 0 at the end.
func (p *parser) peek() byte {
	if p.blank(); p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *parser) value(depth int) (node, error) {
	if depth > maxDepth {
		return node{}, errors.New("nested too deeply")
	}
	switch c := p.peek(); {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		s, err := p.str()
		return node{kind: '"', text: quote(s)}, err
	case c == '-' || '0' <= c && c <= '9':
		s, err := p.number()
		return node{kind: '0', text: s}, err
	case c == 0:
		return node{}, errEnd
	}
	for _, word := range []string{"null", "true", "false"} {
		if strings.HasPrefix(string(p.text[p.at:min(len(p.text), p.at+5)]), word) {
			p.at += len(word)
			return node{kind: word[0], text: word}, nil
		}
	}
	return node{}, errors.New("no JSON value begins like this")
}

// next is called after a value in brackets: it reports whether another one follows.
func (p *parser) next(end byte) (bool, error) {
	switch c := p.peek(); c {
	case ',', end:
		p.at++
		return c == ',', nil
	case 0:
		return false, errEnd
	}
	return false, fmt.Errorf("no comma and no %c", end)
}

func (p *parser) array(depth int) (node, error) {
	p.at++
	n := node{kind: '['}
	var texts []string
	more := p.peek() != ']'
	if !more {
		p.at++
	}
	for more {
		v, err := p.value(depth + 1)
		if err == nil {
			n.items, texts = append(n.items, v), append(texts, v.text)
			more, err = p.next(']')
		}
		if err != nil {
			return node{}, err
		}
	}
	n.text = "[" + strings.Join(texts, ",") + "]"
	return n, nil
}

func (p *parser) object(depth int) (node, error) {
	p.at++
	n := node{kind: '{', named: map[string]node{}}
	var texts []string
	more := p.peek() != '}'
	if !more {
		p.at++
	}
	for more {
		if p.peek() != '"' {
			return node{}, errors.New("a member has no name")
		}
		name, err := p.str()
		if err != nil {
			return node{}, err
		}
		if p.peek() != ':' {
			return node{}, errors.New("no colon after a name")
		}
		p.at++
		v, err := p.value(depth + 1)
		if err != nil {
			return node{}, err
		}
		if _, twice := n.named[name]; twice {
			return node{}, fmt.Errorf("member %q stands twice", name)
		}
		n.named[name] = v
		texts = append(texts, quote(name)+":"+v.text)
		if more, err = p.next('}'); err != nil {
			return node{}, err
		}
	}
	slices.Sort(texts)
	n.text = "{" + strings.Join(texts, ",") + "}"
	return n, nil
}

// number returns the canonical spelling: digits without zeros at either end, and the power of ten that they are multiplied with.
func (p *parser) number() (string, error) {
	sign := ""
	if p.text[p.at] == '-' {
		sign = "-"
		p.at++
	}
	whole := p.digits()
	if whole == "" || len(whole) > 1 && whole[0] == '0' {
		return "", errors.New("not a number")
	}
	fraction, power := "", new(big.Int)
	if p.at < len(p.text) && p.text[p.at] == '.' {
		p.at++
		if fraction = p.digits(); fraction == "" {
			return "", errors.New("no digits after the point")
		}
	}
	if p.at < len(p.text) && (p.text[p.at] == 'e' || p.text[p.at] == 'E') {
		p.at++
		minus := ""
		if p.at < len(p.text) && (p.text[p.at] == '+' || p.text[p.at] == '-') {
			minus = strings.TrimLeft(string(p.text[p.at]), "+")
			p.at++
		}
		if _, ok := power.SetString(minus+p.digits(), 10); !ok {
			return "", errors.New("no digits in the exponent")
		}
	}
	digits := strings.TrimLeft(whole+fraction, "0")
	power.Sub(power, big.NewInt(int64(len(fraction))))
	short := strings.TrimRight(digits, "0")
	power.Add(power, big.NewInt(int64(len(digits)-len(short))))
	switch {
	case short == "":
		return "0", nil
	case power.Sign() == 0:
		return sign + short, nil
	}
	return sign + short + "e" + power.String(), nil
}

func (p *parser) digits() string {
	from := p.at
	for p.at < len(p.text) && '0' <= p.text[p.at] && p.text[p.at] <= '9' {
		p.at++
	}
	return string(p.text[from:p.at])
}

// str returns the decoded string; a lone surrogate becomes the three bytes that UTF-8 would have for it.
func (p *parser) str() (string, error) {
	p.at++
	var b []byte
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return string(b), nil
		case c < ' ':
			return "", errors.New("a control character in a string")
		case c == '\\':
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			if utf16.IsSurrogate(r) {
				before := p.at
				if low, err := p.escape(); err == nil && utf16.DecodeRune(r, low) != utf8.RuneError {
					r = utf16.DecodeRune(r, low)
				} else {
					p.at = before
					b = append(b, byte(0xe0|r>>12), byte(0x80|r>>6&0x3f), byte(0x80|r&0x3f))
					continue
				}
			}
			b = utf8.AppendRune(b, r)
		default:
			r, size := utf8.DecodeRune(p.text[p.at:])
			if r == utf8.RuneError && size == 1 {
				return "", errors.New("invalid UTF-8")
			}
			b = append(b, p.text[p.at:p.at+size]...)
			p.at += size
		}
	}
	return "", errEnd
}

// escape decodes one escape sequence; what \u names may be half of a pair.
func (p *parser) escape() (rune, error) {
	if len(p.text)-p.at < 2 || p.text[p.at] != '\\' {
		return 0, errEnd
	}
	c := p.text[p.at+1]
	p.at += 2
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), nil
	}
	if c != 'u' || len(p.text)-p.at < 4 {
		return 0, errors.New("not an escape")
	}
	var r rune
	for _, c := range p.text[p.at : p.at+4] {
		i := strings.IndexByte("0123456789abcdef", c|0x20)
		if i < 0 || c < '0' {
			return 0, errors.New("not an escape")
		}
		r = r<<4 | rune(i)
	}
	p.at += 4
	return r, nil
}

func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ':
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
