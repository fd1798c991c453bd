package jsonrpc2

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
)

// This file decodes the long strings of a message (RFC 8259 section 7) in the pass that checks them. What costs in both is to find the escapes; that is
// done once here, and what comes out is what the handler gets.

// longString is a string of the params that was decoded while it was checked.
type longString struct {
	contents []byte // between the quotes, in the frame
	text     string
}

const (
	shortString = 512 // a string with fewer bytes is decoded when somebody asks for it
	longStrings = 16  // so many of one message are decoded, together never longer than the message
)

// LongString returns what the string means that raw, a part of the params, begins with, and how many bytes of raw it is with its quotes. It
// returns 0 for what was not decoded when the message was read: without [Options.LongStrings], for short strings, in batches, and for what is no string
// of the params.
func (r *Request) LongString(raw []byte) (text string, n int) {
	for i := range r.long {
		if l := &r.long[i]; len(raw) > len(l.contents) && &raw[1] == &l.contents[0] {
			return l.text, len(l.contents) + 2
		}
	}
	return "", 0
}

// longReader is what skipContainer gives strings to that it might have to decode.
type longReader struct{ list []longString }

// skip is skipString, and keeps what the string means if it is long.
func (l *longReader) skip(b []byte, i int) (end int, f fault) {
	if len(b)-i <= shortString || len(l.list) == longStrings {
		end, _, f = skipString(b, i)
		return end, f
	}
	if k := bytes.IndexByte(b[i:i+shortString], '"'); k == 0 || k > 0 && b[i+k-1] != '\\' {
		end, _, f = skipString(b, i)
		return end, f
	}
	text, end, f := skipDecoding(b, i)
	if text != "" {
		l.list = append(l.list, longString{b[i : end-1], text})
	}
	return end, f
}

// skipDecoding is skipString, and returns what the string means if that is long.
func skipDecoding(b []byte, i int) (text string, end int, f fault) {
	var buf [shortString]byte // as in Unquote
	const full = len(buf) - textSlack
	var long strings.Builder
	start := i
	j := 0
	for {
		for i <= len(b)-16 && j <= full {
			from, to := b[i:i+16:i+16], buf[j:j+16:j+16]
			x, y := binary.LittleEndian.Uint64(from[:8]), binary.LittleEndian.Uint64(from[8:])
			binary.LittleEndian.PutUint64(to[:8], x)
			binary.LittleEndian.PutUint64(to[8:], y)
			// As in skipString.
			hit := (((x ^ ones*0x02) - ones*0x21) | ((x ^ ones*'\\') - ones) | x) & highs
			next := (((y ^ ones*0x02) - ones*0x21) | ((y ^ ones*'\\') - ones) | y) & highs
			if hit|next == 0 {
				i, j = i+16, j+16
				continue
			}
			k := bits.TrailingZeros64(hit) >> 3
			if hit == 0 {
				k = 8 + bits.TrailingZeros64(next)>>3
			}
			i, j = i+k, j+k
			if b[i] != '\\' || i+1 == len(b) {
				break
			}
			c := plainEscape[b[i+1]]
			if c == 0 {
				break
			}
			buf[j&(len(buf)-1)] = c
			i, j = i+2, j+1
		}
		if j > full {
			if long.Cap() == 0 {
				long.Grow(SkipString(b, start-1) - start)
			}
			long.Write(buf[:j])
			j = 0
		}
		if i >= len(b) {
			return "", i, faultEnd
		}
		switch c := b[i]; {
		case c == '"':
			if long.Len() == 0 {
				return "", i + 1, faultNone
			}
			long.Write(buf[:j])
			if text = long.String(); long.Cap() > 2*len(text) {
				text = strings.Clone(text) // much of it was escapes
			}
			return text, i + 1, faultNone
		case c == '\\':
			n := escapeLen(b[i:])
			if n == 0 {
				return "", i, faultEscape
			}
			if n == 6 && hex4(b[i+2:])>>10 == 0xD800>>10 && escapeLen(b[i+6:]) == 6 && hex4(b[i+8:])>>10 == 0xDC00>>10 {
				n = 12 // both halves of a pair
			}
			j += len(appendDecoded(buf[j:j], b[i:i+n], false))
			i += n
		case c < ' ':
			return "", i, faultControl
		case c < 0x80:
			buf[j] = c // among the last fifteen bytes
			i, j = i+1, j+1
		default:
			at := i
			if i, f = skipRunes(b[:min(len(b), i+textSlack/2)], i); f != faultNone && i == at {
				return "", i, f
			}
			// Where the part ends inside of a character, that is the first one of the next.
			j += copy(buf[j:], b[at:i])
		}
	}
}
