package jsonrpc2

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// This file is what the scanner knows of JSON strings (RFC 8259 section 7): where
// one ends, and what its contents mean. "Contents" are the bytes between the
// quotes, as written.

// Words of eight equal bytes, for the search below.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// skipString skips a string of which the opening quote is behind i already, and
// reports whether it holds a backslash.
func skipString(b []byte, i int) (end int, escaped bool, f fault) {
	for {
		// Eight bytes at a time until one of them is a quote, a backslash, a control
		// character or not ASCII. In each byte of the three operands of | the high bit
		// says so: x^2 is below 0x21 only for the quote and the control characters,
		// and x^'\\' below 1 only for the backslash. A borrow can set a wrong bit only
		// above a right one, and the lowest bit is the one that counts.
		for i <= len(b)-8 {
			x := binary.LittleEndian.Uint64(b[i:])
			hit := (((x ^ ones*0x02) - ones*0x21) | ((x ^ ones*'\\') - ones) | x) & highs
			if hit != 0 {
				i += bits.TrailingZeros64(hit) >> 3
				break
			}
			i += 8
		}
		if i >= len(b) {
			return i, escaped, faultEnd
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, escaped, faultNone
		case c == '\\':
			escaped = true
			if i+1 < len(b) && plainEscape[b[i+1]] != 0 {
				i += 2
				continue
			}
			n := escapeLen(b[i:])
			if n == 0 {
				return i, escaped, faultEscape
			}
			i += n
		case c < ' ':
			return i, escaped, faultControl
		case c < 0x80:
			i++ // among the last seven bytes
		default:
			if i, f = skipRunes(b, i); f != faultNone {
				return i, escaped, f
			}
		}
	}
}

// escapeLen returns the length of the escape at the start of b, 0 if it is none.
// Surrogates need no partner: a lone one is legal text (RFC 8259 section 8.2).
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) >= 6 && (hexValue[b[2]]|hexValue[b[3]]|hexValue[b[4]]|hexValue[b[5]])&0xF0 == 0 {
			return 6
		}
	}
	return 0
}

// hexValue holds the value of each hexadecimal digit, 0xFF for other bytes.
var hexValue = func() (t [256]byte) {
	for c := range t {
		t[c] = 0xFF
	}
	for v, c := range []byte("0123456789abcdef") {
		t[c] = byte(v)
	}
	for v, c := range []byte("ABCDEF") {
		t[c] = byte(v + 10)
	}
	return t
}()

// skipRunes skips characters beyond ASCII by the table of well-formed UTF-8
// sequences (Unicode 3.9, table 3-7): no overlong form, no surrogate, nothing
// above U+10FFFF.
func skipRunes(b []byte, i int) (int, fault) {
	for i < len(b) {
		rest := b[i:]
		switch c := rest[0]; {
		case c < 0x80:
			return i, faultNone
		case c < 0xC2:
			return i, faultUTF8
		case c < 0xE0:
			if len(rest) < 2 || rest[1]&0xC0 != 0x80 {
				return i, faultUTF8
			}
			i += 2
		case c < 0xF0:
			if len(rest) < 3 || rest[1]&0xC0 != 0x80 || rest[2]&0xC0 != 0x80 ||
				c == 0xE0 && rest[1] < 0xA0 || c == 0xED && rest[1] >= 0xA0 {
				return i, faultUTF8
			}
			i += 3
		case c < 0xF5:
			if len(rest) < 4 || rest[1]&0xC0 != 0x80 || rest[2]&0xC0 != 0x80 || rest[3]&0xC0 != 0x80 ||
				c == 0xF0 && rest[1] < 0x90 || c == 0xF4 && rest[1] >= 0x90 {
				return i, faultUTF8
			}
			i += 4
		default:
			return i, faultUTF8
		}
	}
	return i, faultNone
}

// maxEscaped is the number of bytes that one byte of a decoded string can take in
// its JSON text.
const maxEscaped = len(`\u0000`)

// nameIs reports whether the contents of a JSON string, as written between its
// quotes, mean want, which holds no backslash and no character beyond ASCII.
func nameIs(raw []byte, want string) bool {
	if string(raw) == want {
		return true
	}
	if len(raw) <= len(want) || len(raw) > maxEscaped*len(want) || bytes.IndexByte(raw, '\\') < 0 {
		return false
	}
	var buf [128]byte
	return string(appendDecoded(buf[:0], raw, false)) == want
}

// appendDecoded appends what the contents of a JSON string mean, which have been
// checked before. It is AppendUnquoted for names and ids: it takes no more room in
// dst than it needs, and with surrogates lone ones keep their number, as three
// bytes that are not valid UTF-8. Without they become U+FFFD.
func appendDecoded(dst, raw []byte, surrogates bool) []byte {
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 || i+1 >= len(raw) {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:i]...)
		c := raw[i+1]
		raw = raw[i+2:]
		switch c {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r := hex4(raw)
			raw = raw[min(4, len(raw)):]
			if utf16.IsSurrogate(r) {
				low := rune(-1)
				if len(raw) >= 6 && raw[0] == '\\' && raw[1] == 'u' {
					low = hex4(raw[2:])
				}
				if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
					r = both
					raw = raw[6:]
				} else if surrogates {
					dst = append(dst, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
					continue
				}
			}
			dst = utf8.AppendRune(dst, r) // a surrogate gives U+FFFD
		default:
			dst = append(dst, c) // quote, backslash, slash
		}
	}
}

// hex4 returns the value of the four hexadecimal digits at the start of b.
func hex4(b []byte) rune {
	if len(b) < 4 {
		return utf8.RuneError
	}
	return rune(hexValue[b[0]])<<12 | rune(hexValue[b[1]])<<8 | rune(hexValue[b[2]])<<4 | rune(hexValue[b[3]])
}
