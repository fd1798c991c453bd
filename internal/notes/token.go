package notes

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTerm bounds the bytes of a search term; longer runs, which are encoded
// data rather than words, are cut.
const maxTerm = 64

// terms calls f for each search term of a text, lower-cased, with the offset at
// which it begins. Letters and digits make terms; a script that is written
// without blanks gives one term a character, so that any part of it is found.
// The term is only valid during the call.
func terms(text string, f func(term []byte, at int) bool) { new(splitter).terms(text, f) }

// A splitter has the memory that finding terms needs.
type splitter [maxTerm + utf8.UTFMax]byte

func (buf *splitter) terms(text string, f func(term []byte, at int) bool) {
	n, start := 0, 0
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if lower := asciiTerm[c]; lower != 0 {
				if n == 0 {
					start = i
				}
				if n < maxTerm {
					buf[n] = lower
					n++
				}
				i++
				continue
			}
			if n > 0 {
				if !f(buf[:n], start) {
					return
				}
				n = 0
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		single := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
		if !single && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) {
			if n == 0 {
				start = i
			}
			if n < maxTerm {
				n += utf8.EncodeRune(buf[n:], unicode.ToLower(r))
			}
			i += size
			continue
		}
		if n > 0 {
			if !f(buf[:n], start) {
				return
			}
			n = 0
		}
		if single && !f(append(buf[:0], text[i:i+size]...), i) {
			return
		}
		i += size
	}
	if n > 0 {
		f(buf[:n], start)
	}
}

// asciiTerm maps the ASCII bytes of terms to lower case, all others to 0.
var asciiTerm = func() (t [utf8.RuneSelf]byte) {
	for c := range t {
		switch {
		case '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || c == '_':
			t[c] = byte(c)
		case 'A' <= c && c <= 'Z':
			t[c] = byte(c) + 'a' - 'A'
		}
	}
	return t
}()

// tagTerm is the term under which a tag is found, and only as a tag.
func tagTerm(name string) string { return "#" + strings.ToLower(name) }
