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

// LongStrings are the strings of a message's params that were decoded when it was read. The zero value is none.
type LongStrings struct{ list []longString }

// LongStrings returns those of the request: none without [Options.LongStrings], and in batches. They are good until the handler returns.
func (r *Request) LongStrings() LongStrings { return LongStrings{r.long} }

// LongStrings returns those of a payload that [InspectLong] has looked at.
func (m *Message) LongStrings() LongStrings { return LongStrings{m.e.long} }

// At returns what the string means that raw, a part of the params, begins with, and how many bytes of raw it is with its quotes. It returns 0 for what
// was not decoded: short strings, and what is no string of the params.
func (l LongStrings) At(raw []byte) (text string, n int) {
	for i := range l.list {
		if s := &l.list[i]; len(raw) > len(s.contents) && &raw[1] == &s.contents[0] {
			return s.text, len(s.contents) + 2
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
	room := len(b) - i // of one, as if nothing came behind it: most have a single long string, and it is most of them
	if len(l.list) > 0 {
		room = SkipString(b, i-1) - i
	}
	text, end, f := skipDecoding(b, i, room)
	if text != "" {
		l.list = append(l.list, longString{b[i : end-1], text})
	}
	return end, f
}

// skipDecoding is skipString, and returns what the string means if that is long. room is how long it may be.
func skipDecoding(b []byte, i, room int) (text string, end int, f fault) {
	var buf [shortString]byte // as in Unquote
	const full = len(buf) - textSlack
	var long strings.Builder
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
				long.Grow(room)
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
				text = strings.Clone(text) // much of it was escapes, or of the room something else
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
