package jsonrpc2

import "unsafe"

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
	if len(b)-i <= shortString || len(l.list) == longStrings || SkipString(b[:i+shortString], i-1) < i+shortString {
		end, _, f = skipString(b, i)
		return end, f
	}
	room := len(b) - i // of one, as if nothing came behind it: most have a single long string, and it is most of them
	if len(l.list) > 0 {
		room = SkipString(b, i-1) - i
	}
	text, end, f := skipDecoding(b, i, room)
	if f == faultNone {
		l.list = append(l.list, longString{b[i : end-1], text})
	}
	return end, f
}

// skipDecoding is skipString, and returns what the string means. room is how long it may be: no escape means more bytes than it has.
func skipDecoding(b []byte, i, room int) (text string, end int, f fault) {
	out := uncleared(room)
	j := 0
	for {
		wrote, read := unquotePlain(out[j:], b[i:min(len(b), i+len(out)-j)])
		i, j = i+read, j+wrote
		if i >= len(b) {
			return "", i, faultEnd
		}
		switch c := b[i]; {
		case c == '\\':
			n := escapeLen(b[i:])
			if n == 0 {
				return "", i, faultEscape
			}
			if n == 6 && hex4(b[i+2:])>>10 == 0xD800>>10 && escapeLen(b[i+6:]) == 6 && hex4(b[i+8:])>>10 == 0xDC00>>10 {
				n = 12 // both halves of a pair
			}
			j += len(appendDecoded(out[j:j], b[i:i+n], false))
			i += n
		case c == '"':
			if out = out[:j]; cap(out) > 2*j {
				return string(out), i + 1, faultNone // much of it was escapes, or of the room something else
			}
			return unsafe.String(unsafe.SliceData(out), j), i + 1, faultNone
		case c < ' ':
			return "", i, faultControl
		case c < 0x80:
			out[j] = c // among the last bytes
			i, j = i+1, j+1
		default:
			at := i
			if i, f = skipRunes(b, i); f != faultNone {
				return "", i, f
			}
			j += copy(out[j:], b[at:i])
		}
	}
}
