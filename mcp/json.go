package mcp

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// The functions below read JSON that was checked before: the engine has seen that a message is valid, not too deep, and UTF-8. They do not
// recurse, allocate only for the strings they return, and stay inside the slice whatever it holds.

// object walks over the members of an object.
type object struct {
	b []byte
	i int
}

// next returns the text between the quotes of the next name, and the raw value.
func (o *object) next() (name, value []byte, ok bool) {
	i := skipSpace(o.b, o.i)
	if i >= len(o.b) || o.b[i] != '{' && o.b[i] != ',' {
		return nil, nil, false
	}
	i = skipSpace(o.b, i+1)
	if i >= len(o.b) || o.b[i] != '"' {
		return nil, nil, false
	}
	end := skipString(o.b, i)
	name = o.b[i+1 : max(end-1, i+1)]
	i = skipSpace(o.b, end)
	if i >= len(o.b) || o.b[i] != ':' {
		return nil, nil, false
	}
	i = skipSpace(o.b, i+1)
	o.i = skipValue(o.b, i)
	return name, o.b[i:o.i], true
}

// pick finds members of an object by name. It reports false if raw is no object or has one of them twice: what a proxy saw must be what we see.
// A value that is null counts as absent.
func pick(raw []byte, names []string, values [][]byte) bool {
	if len(raw) == 0 || raw[0] != '{' {
		return false
	}
	var seen uint64
	o := object{b: raw}
	for {
		name, value, ok := o.next()
		if !ok {
			return true
		}
		for n, want := range names {
			if !sameName(name, want) {
				continue
			}
			if seen>>n&1 != 0 {
				return false
			}
			seen |= 1 << n
			if string(value) != "null" {
				values[n] = value
			}
			break
		}
	}
}

func sameName(raw []byte, name string) bool {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw) == name
	}
	return string(unquote(raw)) == name
}

func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }

// stringValue returns the string that raw is.
func stringValue(raw []byte) (string, bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return "", false
	}
	return unquoted(raw[1 : len(raw)-1]), true
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// skipString returns the index after the string that begins at i.
func skipString(b []byte, i int) int {
	for i++; i < len(b); {
		q := bytes.IndexByte(b[i:], '"')
		if q < 0 {
			return len(b)
		}
		// A quote behind an odd number of backslashes is part of the string.
		q += i
		slashes := 0
		for q-slashes > i && b[q-slashes-1] == '\\' {
			slashes++
		}
		i = q + 1
		if slashes%2 == 0 {
			return i
		}
	}
	return len(b)
}

// skipValue returns the index after the value that begins at i. Brackets are only counted.
func skipValue(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = skipString(b, i)
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth <= 0 {
				return i + 1 + min(depth, 0)
			}
		case ',', ' ', '\t', '\n', '\r', ':':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return len(b)
}

// unquoted decodes the inside of a JSON string.
func unquoted(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	return string(unquote(raw))
}

// unquote decodes the inside of a JSON string that has escapes. Runs without one are copied whole, which for long texts is several times
// faster than going byte by byte. An unpaired surrogate becomes U+FFFD.
func unquote(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 || i+1 >= len(raw) {
			return append(out, raw...)
		}
		out = append(out, raw[:i]...)
		c := raw[i+1]
		raw = raw[i+2:]
		switch c {
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'u':
			r := hex4(raw)
			if r < 0 {
				return append(out, raw...)
			}
			raw = raw[4:]
			if utf16.IsSurrogate(r) {
				var low rune = -1
				if len(raw) >= 6 && raw[0] == '\\' && raw[1] == 'u' {
					low = hex4(raw[2:])
				}
				if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
					raw = raw[6:]
				}
			}
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, c)
		}
	}
}

// hex4 reads four hexadecimal digits; -1: there are none.
func hex4(raw []byte) rune {
	if len(raw) < 4 {
		return -1
	}
	var r rune
	for _, b := range raw[:4] {
		switch {
		case '0' <= b && b <= '9':
			b -= '0'
		case 'a' <= b && b <= 'f':
			b -= 'a' - 10
		case 'A' <= b && b <= 'F':
			b -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(b)
	}
	return r
}

const hexDigits = "0123456789abcdef"

// appendString appends s as a JSON string, <, > and & as they are. What is not UTF-8 in s becomes U+FFFD.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(dst, s[start:i]...)
				dst = append(dst, "\ufffd"...)
				start = i + 1
			}
			i += n
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}
