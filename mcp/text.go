package mcp

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// Long texts are what tools carry, so these functions look at eight bytes at a time and copy what lies between escapes whole.

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// zeroBytes has the high bit set in the lowest byte of w that is 0, and in none below it; what is above says nothing.
func zeroBytes(w uint64) uint64 { return (w - ones) &^ w & highs }

// backslashOrQuote returns the index of the first \ or " from i on, len(b) if there is none.
func backslashOrQuote(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		if m := zeroBytes(w^ones*'"') | zeroBytes(w^ones*'\\'); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(b) && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

// mustEscape returns the index of the first byte from i on that cannot stand in a JSON string as it is, len(b) if there is none.
func mustEscape(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		if m := zeroBytes(w^ones*'"') | zeroBytes(w^ones*'\\') | (w-ones*' ')&^w&highs; m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(b) && b[i] >= ' ' && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

// skipString returns the index after the string that begins at i.
func skipString(b []byte, i int) int {
	for i = backslashOrQuote(b, i+1); i < len(b); i = backslashOrQuote(b, i+2) {
		if b[i] == '"' {
			return i + 1
		}
	}
	return len(b)
}

// unquoted decodes the inside of a JSON string.
func unquoted(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	return owned(unquote(raw))
}

// unquote decodes the inside of a JSON string. An unpaired surrogate becomes U+FFFD.
func unquote(raw []byte) []byte {
	out, _ := unquoteTo(make([]byte, 0, len(raw)), raw, 0, false)
	return out
}

// readString decodes the string that begins at i, and returns where it ends, in one pass.
func readString(b []byte, i int) (text string, end int) {
	i++
	end = backslashOrQuote(b, i)
	if end >= len(b) || b[end] == '"' {
		return string(b[i:end]), min(end+1, len(b))
	}
	// What is left of b is room enough; when it was far too much, what was not needed is given back.
	out, end := unquoteTo(make([]byte, 0, len(b)-i), b, i, true)
	if cap(out) > 2*len(out)+64 {
		return string(out), end
	}
	return owned(out), end
}

// owned makes a string of bytes that nobody else has.
func owned(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// unquoteTo appends what raw holds from i on, decoded, up to the closing quote, if there is one to look for, and returns where it stopped: behind the
// quote, or at the end.
func unquoteTo(out, raw []byte, i int, quoted bool) ([]byte, int) {
	for start := i; ; start = i {
		i = backslashOrQuote(raw, i)
		for !quoted && i < len(raw) && raw[i] == '"' { // not JSON
			i = backslashOrQuote(raw, i+1)
		}
		out = append(out, raw[start:min(i, len(raw))]...)
		switch {
		case i >= len(raw):
			return out, len(raw)
		case raw[i] == '"':
			return out, i + 1
		case i+1 == len(raw):
			return append(out, '\\'), len(raw) // not JSON
		}
		c := raw[i+1]
		i += 2
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
			r := hex4(raw[i:])
			if r < 0 {
				continue // not JSON
			}
			i += 4
			if utf16.IsSurrogate(r) {
				var low rune = -1
				if len(raw)-i >= 6 && raw[i] == '\\' && raw[i+1] == 'u' {
					low = hex4(raw[i+2:])
				}
				if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
					i += 6
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
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	if !utf8.Valid(b) {
		b = []byte(toValid(s))
	}
	dst = append(slices.Grow(dst, len(b)+len(b)/16+2), '"') // and some escapes
	start := 0
	for i := mustEscape(b, 0); i < len(b); i = mustEscape(b, start) {
		dst = append(dst, b[start:i]...)
		switch c := b[i]; c {
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
		start = i + 1
	}
	dst = append(dst, b[start:]...)
	return append(dst, '"')
}

// toValid replaces each byte that is not part of UTF-8, as encoding/json does.
func toValid(s string) string {
	out := make([]byte, 0, len(s)+16)
	for _, r := range s {
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}
