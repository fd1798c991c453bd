package jsonrpc2

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
	"unsafe"
)

// This file has the three things that are done to JSON strings which hold long texts (RFC 8259 section 7), for packages that read checked messages
// and write answers by hand. They look at eight bytes at a time and copy while they look.

// SkipString returns the index after the string that begins with the quote at i. b was checked before, as everything in a [Request] and a [Message]
// was; for other bytes it is anything up to len(b).
func SkipString(b []byte, i int) int {
	for i++; ; {
		// Names, short values and what is between close quotes end in the first words; a search for long ones costs as much as those.
		for stop := i + 16; i < stop && i <= len(b)-8; {
			w := binary.LittleEndian.Uint64(b[i:])
			quote, backslash := w^ones*'"', w^ones*'\\'
			hit := ((quote-ones)&^quote | (backslash-ones)&^backslash) & highs
			if hit == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(hit) >> 3
			if b[i] == '"' {
				return i + 1
			}
			i += 2
		}
		if i >= len(b) {
			return len(b)
		}
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		// A quote behind an odd number of backslashes is one of the text.
		at := i + n
		k := at
		for k > i && b[k-1] == '\\' {
			k--
		}
		if i = at + 1; (at-k)&1 == 0 {
			return i
		}
	}
}

// AppendUnquoted appends what the contents of a JSON string mean, the bytes between its quotes, which were checked before. A lone surrogate becomes U+FFFD.
func AppendUnquoted(dst, contents []byte) []byte {
	n := len(dst)
	dst = slices.Grow(dst, len(contents)) // no escape means more bytes than it has
	out := dst[n : n+len(contents)]
	i, j := 0, 0
	for {
		for i <= len(contents)-16 && j <= len(out)-16 {
			from, to := contents[i:i+16], out[j:j+16]
			w, w2 := binary.LittleEndian.Uint64(from), binary.LittleEndian.Uint64(from[8:])
			binary.LittleEndian.PutUint64(to, w)
			binary.LittleEndian.PutUint64(to[8:], w2)
			x, y := w^ones*'\\', w2^ones*'\\'
			hit, hit2 := (x-ones)&^x&highs, (y-ones)&^y&highs
			if hit|hit2 != 0 {
				k := bits.TrailingZeros64(hit) >> 3
				if hit == 0 {
					k = 8 + bits.TrailingZeros64(hit2)>>3
				}
				i, j = i+k, j+k
				goto found
			}
			i, j = i+16, j+16
		}
		for i <= len(contents)-8 && j <= len(out)-8 {
			w := binary.LittleEndian.Uint64(contents[i:])
			binary.LittleEndian.PutUint64(out[j:], w)
			x := w ^ ones*'\\'
			hit := (x - ones) &^ x & highs
			if hit != 0 {
				k := bits.TrailingZeros64(hit) >> 3
				i, j = i+k, j+k
				break
			}
			i, j = i+8, j+8
		}
		for i < len(contents) && contents[i] != '\\' && (i > len(contents)-8 || j > len(out)-8) {
			out[j] = contents[i]
			i, j = i+1, j+1
		}
		if i >= len(contents) {
			return dst[:n+j]
		}
		if contents[i] != '\\' {
			continue
		}
	found:
		if i+1 == len(contents) { // not JSON
			return append(dst[:n+j], '\\')
		}
		if c := plainEscape[contents[i+1]]; c != 0 {
			out[j] = c
			i, j = i+2, j+1
			continue
		}
		end := i + 2
		if contents[i+1] == 'u' {
			if end = i + 6; end > len(contents) { // not JSON
				return append(dst[:n+j], contents[i:]...)
			}
			if end <= len(contents)-6 && contents[end] == '\\' && contents[end+1] == 'u' {
				if r := hex4(contents[i+2:]); r>>10 == 0xD800>>10 && hex4(contents[end+2:])>>10 == 0xDC00>>10 {
					end += 6
				}
			}
		}
		j += len(appendDecoded(out[j:j:len(out)], contents[i:end], false))
		i = end
	}
}

// plainEscape holds what the escapes of two characters mean, 0 for other bytes.
var plainEscape = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// AppendString appends s as a JSON string, with no more escapes than it needs. What is not UTF-8 in s becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	j := len(dst)
	dst = slices.Grow(dst, len(b)+len(b)/16+textSlack)
	out := dst[:cap(dst)]
	out[j] = '"'
	j++
	// Always len(out)-j >= len(b)-i+8, so that a word can be written where the rest fits.
	i := 0
	for {
		for i <= len(b)-8 && j <= len(out)-8 {
			w := binary.LittleEndian.Uint64(b[i:])
			binary.LittleEndian.PutUint64(out[j:], w)
			// As in skipString.
			hit := (((w ^ ones*0x02) - ones*0x21) | ((w ^ ones*'\\') - ones) | w) & highs
			if hit != 0 {
				k := bits.TrailingZeros64(hit) >> 3
				i, j = i+k, j+k
				break
			}
			i, j = i+8, j+8
		}
		for i < len(b) && safe[b[i]] {
			out[j] = b[i]
			i, j = i+1, j+1
		}
		if i >= len(b) {
			out[j] = '"'
			return out[:j+1]
		}
		if len(out)-j < len(b)-i+textSlack/2 {
			out = slices.Grow(out[:j], len(b)-i+(len(b)-i)/4+textSlack)
			out = out[:cap(out)]
		}
		c := b[i]
		if short := shortEscape[c]; short != 0 {
			out[j], out[j+1] = '\\', short
			i, j = i+1, j+2
			continue
		}
		if c < ' ' {
			j += copy(out[j:], `\u00`)
			out[j], out[j+1] = hexDigits[c>>4], hexDigits[c&15]
			i, j = i+1, j+2
			continue
		}
		end, f := skipRunes(b, i)
		j += copy(out[j:], b[i:end])
		if i = end; f == faultUTF8 {
			_, size := utf8.DecodeRune(b[i:])
			j += copy(out[j:], "\uFFFD")
			i += size
		}
	}
}

// textSlack is room for some escapes, and for a word behind the last byte.
const textSlack = 32

const hexDigits = "0123456789abcdef"

// safe holds the bytes that stand for themselves.
var safe = func() (t [256]bool) {
	for c := ' '; c < 0x80; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// shortEscape holds the second character of the escapes that have two, 0 for other bytes.
var shortEscape = [256]byte{'"': '"', '\\': '\\', '\n': 'n', '\r': 'r', '\t': 't'}
