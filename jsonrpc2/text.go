package jsonrpc2

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
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
	dst = slices.Grow(dst, len(contents)+textSlack) // no escape means more bytes than it has
	j, _ := unquoteInto(dst[n:cap(dst)], contents)
	return dst[:n+j]
}

// searchWords are what the search for special bytes needs. A copy of the variable stays in registers, where constants as long are loaded for each use.
var searchWords = words{ones * 0x02, ones * 0x21, ones * '\\', ones}

type words struct{ two, low, slash, one uint64 }

// copyWord copies eight bytes, and says whether some are special as skipString does: the lowest bit of hit is the high one of the first byte that is a quote, a
// backslash, a control character or not ASCII.
func (w words) copyWord(to, from unsafe.Pointer) (hit uint64) {
	x := binary.LittleEndian.Uint64((*[8]byte)(from)[:])
	binary.LittleEndian.PutUint64((*[8]byte)(to)[:], x)
	return (((x ^ w.two) - w.low) | ((x ^ w.slash) - w.one) | x) & highs
}

// Both loops below look at four words in a row, each with a branch of its own: where an escape comes next is guessed better that way than from one branch.

// quotePlain writes to out what stands in a JSON string for the beginning of b, as long as that is ASCII with escapes of two characters, and returns how much
// it has written and read: it may leave the last bytes, and what must be left if out is to have textSlack/2 bytes more than the rest of b.
func quotePlain(out, b []byte) (j, i int) {
	const slack = textSlack / 2
	if len(out) < len(b)+slack {
		return 0, 0
	}
	w := searchWords
	from, to := unsafe.Pointer(unsafe.SliceData(b)), unsafe.Pointer(unsafe.SliceData(out))
	for i <= len(b)-8 {
		p, q := unsafe.Add(from, i), unsafe.Add(to, j)
		n, hit := 0, w.copyWord(q, p)
		if hit == 0 {
			if i > len(b)-32 {
				i, j = i+8, j+8
				continue
			}
			n, hit = 8, w.copyWord(unsafe.Add(q, 8), unsafe.Add(p, 8))
			if hit == 0 {
				n, hit = 16, w.copyWord(unsafe.Add(q, 16), unsafe.Add(p, 16))
				if hit == 0 {
					n, hit = 24, w.copyWord(unsafe.Add(q, 24), unsafe.Add(p, 24))
					if hit == 0 {
						i, j = i+32, j+32
						continue
					}
				}
			}
		}
		n += bits.TrailingZeros64(hit) >> 3
		i, j = i+n, j+n
		short := shortEscape[b[i]]
		if short == 0 || len(out)-j <= len(b)-i+slack {
			break
		}
		out[j], out[j+1] = '\\', short
		i, j = i+1, j+2
	}
	return j, i
}

// unquotePlain writes to out, which is as long at least, what the beginning of a JSON string's contents means, as long as that is ASCII with escapes of two
// characters, and returns how much it has written and read: it may leave the last bytes. It checks what it reads.
func unquotePlain(out, contents []byte) (j, i int) {
	out = out[:len(contents)]
	w := searchWords
	from, to := unsafe.Pointer(unsafe.SliceData(contents)), unsafe.Pointer(unsafe.SliceData(out))
	for i <= len(contents)-8 { // and j <= i
		p, q := unsafe.Add(from, i), unsafe.Add(to, j)
		n, hit := 0, w.copyWord(q, p)
		if hit == 0 {
			if i > len(contents)-32 {
				i, j = i+8, j+8
				continue
			}
			n, hit = 8, w.copyWord(unsafe.Add(q, 8), unsafe.Add(p, 8))
			if hit == 0 {
				n, hit = 16, w.copyWord(unsafe.Add(q, 16), unsafe.Add(p, 16))
				if hit == 0 {
					n, hit = 24, w.copyWord(unsafe.Add(q, 24), unsafe.Add(p, 24))
					if hit == 0 {
						i, j = i+32, j+32
						continue
					}
				}
			}
		}
		n += bits.TrailingZeros64(hit) >> 3
		i, j = i+n, j+n
		if contents[i] != '\\' || i+1 == len(contents) {
			break
		}
		c := plainEscape[contents[i+1]]
		if c == 0 {
			break
		}
		out[j] = c
		i, j = i+2, j+1
	}
	return j, i
}

// uncleared returns n bytes that hold anything: what make does takes longer for a long text than to look at it. n must not be 0.
func uncleared(n int) []byte {
	var b strings.Builder // whose memory is not cleared
	b.Grow(n)
	b.WriteByte(0)
	return unsafe.Slice(unsafe.StringData(b.String()), n)
}

// Unquote returns what the contents of a JSON string mean, as [AppendUnquoted] does.
func Unquote(contents []byte) string {
	// Callers stand deep on the stack of a goroutine that is young, or that waits most of the time and has its stack cut down then. What makes that grow
	// takes longer than to decode a few thousand bytes, so each way has no more of it than it needs.
	clean := bytes.IndexByte(contents, '\\')
	switch {
	case clean < 0:
		return string(contents)
	case len(contents) <= shortText-textSlack:
		return unquoteShort(contents)
	}
	return unquoteLong(contents, clean)
}

const shortText = 160

//go:noinline
func unquoteShort(contents []byte) string {
	var buf [shortText]byte
	n, _ := unquoteInto(buf[:], contents)
	return string(buf[:n])
}

// unquoteLong decodes contents of which the first bytes are clean.
//
//go:noinline
func unquoteLong(contents []byte, clean int) string {
	var buf [512]byte
	// A Builder's memory is not cleared first, and so it is written once: what goes by way of buf stays in the nearest cache.
	var text strings.Builder
	text.Grow(len(contents))
	for len(contents) > 0 {
		if clean < 0 {
			clean = len(contents)
		}
		if clean > len(buf)/4 {
			text.Write(contents[:clean])
			contents = contents[clean:]
		}
		n, used := unquoteInto(buf[:], contents)
		text.Write(buf[:n])
		contents = contents[used:]
		clean = bytes.IndexByte(contents, '\\')
	}
	if text.Cap() > text.Len()*2 {
		return strings.Clone(text.String()) // much of it was escapes
	}
	return text.String()
}

// unquoteInto decodes contents into out until it is full but for less than textSlack, which out must have, and returns how much it has written and read.
func unquoteInto(out, contents []byte) (j, i int) {
	full := len(out) - textSlack
	for j <= full {
		for i <= len(contents)-8 && j <= full {
			w := binary.LittleEndian.Uint64(contents[i:])
			binary.LittleEndian.PutUint64(out[j:], w)
			x := w ^ ones*'\\'
			hit := (x - ones) &^ x & highs
			if hit == 0 {
				i, j = i+8, j+8
				continue
			}
			k := bits.TrailingZeros64(hit) >> 3
			i, j = i+k, j+k
			if i == len(contents)-1 {
				break
			}
			c := plainEscape[contents[i+1]]
			if c == 0 {
				break
			}
			out[j] = c
			i, j = i+2, j+1
		}
		if i > len(contents)-8 {
			for i < len(contents) && contents[i] != '\\' && j <= full {
				out[j] = contents[i]
				i, j = i+1, j+1
			}
		}
		switch {
		case i >= len(contents):
			return j, i
		case contents[i] != '\\' || j > full:
			continue
		case i+1 == len(contents): // not JSON
			out[j] = '\\'
			return j + 1, i + 1
		}
		if c := plainEscape[contents[i+1]]; c != 0 {
			out[j] = c
			i, j = i+2, j+1
			continue
		}
		end := i + 2
		if contents[i+1] == 'u' {
			if end = i + 6; end > len(contents) { // not JSON
				end = len(contents)
				return j + copy(out[j:], contents[i:end]), end
			}
			if end <= len(contents)-6 && contents[end] == '\\' && contents[end+1] == 'u' {
				if hex4(contents[i+2:])>>10 == 0xD800>>10 && hex4(contents[end+2:])>>10 == 0xDC00>>10 {
					end += 6
				}
			}
		}
		j += len(appendDecoded(out[j:j], contents[i:end], false)) // at most 8 bytes
		i = end
	}
	return j, i
}

// plainEscape holds what the escapes of two characters mean, 0 for other bytes.
var plainEscape = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// AppendString appends s as a JSON string, with no more escapes than it needs. What is not UTF-8 in s becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	j := len(dst)
	dst = slices.Grow(dst, len(b)+len(b)/16+2*textSlack)
	out := dst[:cap(dst)]
	out[j] = '"'
	j++
	// Always len(out)-j >= len(b)-i+textSlack/2, so that words can be written where the rest fits.
	i := 0
	for {
		wrote, read := quotePlain(out[j:], b[i:])
		i, j = i+read, j+wrote
		for i < len(b) && safe[b[i]] {
			out[j] = b[i]
			i, j = i+1, j+1
		}
		if i >= len(b) {
			out[j] = '"'
			return out[:j+1]
		}
		if len(out)-j < len(b)-i+textSlack {
			out = slices.Grow(out[:j], len(b)-i+(len(b)-i)/4+2*textSlack)
			out = out[:cap(out)]
		}
		if c := b[i]; c < 0x80 {
			j = len(appendEscape(out[:j], c))
			i++
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

// appendEscape appends the escape of a character that needs one.
func appendEscape(dst []byte, c byte) []byte {
	if short := shortEscape[c]; short != 0 {
		return append(dst, '\\', short)
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
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
