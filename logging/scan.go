package logging

import (
	"bytes"
	"unicode/utf8"
)

// line finds the edits of one message and reports whether it is JSON.
func (p *pass) line(b []byte) bool {
	return utf8.Valid(b) && p.document(b, 0)
}

// document reads one JSON text that stands inside nested strings, and collects
// its edits. It reports false and leaves no edit if the text is not JSON.
//
// It checks the grammar itself instead of asking a decoder: decoders recurse,
// which a peer's run of brackets turns into a crash, and their error texts quote
// the payload.
func (p *pass) document(b []byte, nested int) bool {
	brackets, edits := len(p.stack), len(p.edits)
	ok := p.value(b, nested)
	p.stack = p.stack[:brackets]
	if !ok {
		p.edits = p.edits[:edits]
	}
	return ok
}

// What the reader of a text expects next.
const (
	wantValue      = iota
	wantValueOrEnd // after '['
	wantName
	wantNameOrEnd // after '{'
	wantMore      // after a value
)

func (p *pass) value(b []byte, nested int) bool {
	bottom := len(p.stack)
	want := wantValue
	secretAt, secretDepth := -1, 0 // the secret value being skipped
	for i := skipSpace(b, 0); ; i = skipSpace(b, i) {
		if want == wantMore {
			if secretAt >= 0 && len(p.stack) == secretDepth {
				p.edits = append(p.edits, edit{secretAt, lastByte(b, i) + 1, nested})
				secretAt = -1
			}
			if len(p.stack) == bottom {
				return i == len(b)
			}
		}
		if i == len(b) {
			return false
		}
		c := b[i]
		switch want {
		case wantMore:
			open := p.stack[len(p.stack)-1]
			i++
			switch {
			case c == ',' && open == '{':
				want = wantName
			case c == ',':
				want = wantValue
			case c == open+2: // '{' and '}', '[' and ']' are two apart
				p.stack = p.stack[:len(p.stack)-1]
			default:
				return false
			}
		case wantName, wantNameOrEnd:
			if c == '}' && want == wantNameOrEnd {
				want = wantMore
				i++
				p.stack = p.stack[:len(p.stack)-1]
				continue
			}
			end := stringEnd(b, i)
			if c != '"' || end < 0 {
				return false
			}
			name := b[i+1 : end-1]
			secret := false
			if secretAt < 0 {
				p.text(b, i+1, end-1, nested)
				secret = p.r.secretName(name, jsonText)
			}
			i = skipSpace(b, end)
			if i == len(b) || b[i] != ':' {
				return false
			}
			i = skipSpace(b, i+1)
			if secret {
				secretAt, secretDepth = i, len(p.stack)
			}
			want = wantValue
		default:
			switch {
			case c == '{' || c == '[':
				if len(p.stack)-bottom == MaxNesting {
					return false
				}
				p.stack = append(p.stack, c)
				want = wantNameOrEnd
				if c == '[' {
					want = wantValueOrEnd
				}
				i++
			case c == ']' && want == wantValueOrEnd:
				p.stack = p.stack[:len(p.stack)-1]
				want = wantMore
				i++
			case c == '"':
				end := stringEnd(b, i)
				if end < 0 {
					return false
				}
				if secretAt < 0 {
					p.text(b, i+1, end-1, nested)
				}
				i, want = end, wantMore
			default:
				end := scalarEnd(b, i)
				if end < 0 {
					return false
				}
				i, want = end, wantMore
			}
		}
	}
}

// lastByte returns the index of the last byte before i that is not white space.
func lastByte(b []byte, i int) int {
	for i--; isSpace(b[i]); i-- {
	}
	return i
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }

func skipSpace(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}

// stringEnd checks the string that begins at i and returns the index after it,
// or -1.
func stringEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c < ' ':
			return -1
		case c == '\\':
			i++
			if i == len(b) {
				return -1
			}
			switch b[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				if _, ok := hex4(b[i-1:]); !ok {
					return -1
				}
				i += 4
			default:
				return -1
			}
		}
	}
	return -1
}

var literals = [][]byte{[]byte("true"), []byte("false"), []byte("null")}

// scalarEnd checks the number, true, false or null that begins at i and returns
// the index after it, or -1.
func scalarEnd(b []byte, i int) int {
	for _, word := range literals {
		if bytes.HasPrefix(b[i:], word) {
			return i + len(word)
		}
	}
	if b[i] == '-' {
		i++
	}
	end := skipDigits(b, i)
	if end == i || b[i] == '0' && end > i+1 {
		return -1
	}
	if i = end; i < len(b) && b[i] == '.' {
		if end = skipDigits(b, i+1); end == i+1 {
			return -1
		}
		i = end
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if end = skipDigits(b, i); end == i {
			return -1
		}
		i = end
	}
	return i
}

func skipDigits(b []byte, i int) int {
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	return i
}
