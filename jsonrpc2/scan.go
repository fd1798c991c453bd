package jsonrpc2

import (
	"fmt"
	"iter"
)

// This file is the grammar of JSON (RFC 8259) over a byte slice: where a value
// ends, and whether it is well formed. Nothing is decoded and nothing is
// allocated. Three properties are checked that the decoders of payloads do not
// check, so that no later decoder ever sees a text that lacks them:
//
//   - strings are valid UTF-8 (decoders put U+FFFD in silence);
//   - nesting is bounded (recursive decoders overflow the stack, which no
//     recover can catch);
//   - the whole text is one value (stream decoders leave the rest unread).
//
// All functions are loops. Positions are indexes into the slice; a function that
// skips something takes the index of its first byte and returns the index just
// behind it, or the index of the offending byte together with a fault.

// fault says what is wrong with a JSON text. The zero fault is none.
type fault uint8

const (
	faultNone fault = iota
	faultEnd
	faultByte
	faultLiteral
	faultNumber
	faultControl
	faultEscape
	faultUTF8
	faultDepth
	faultTrailing
)

// faultText holds constants only: a reason may be logged or sent as it is,
// because no byte of the peer's text is in it.
var faultText = [...]string{
	faultNone:     "none",
	faultEnd:      "unexpected end",
	faultByte:     "unexpected character",
	faultLiteral:  "malformed literal",
	faultNumber:   "malformed number",
	faultControl:  "control character in string",
	faultEscape:   "malformed escape in string",
	faultUTF8:     "invalid UTF-8",
	faultDepth:    "nested too deep",
	faultTrailing: "more than one value",
}

// syntaxError reports a text that is not one well-formed JSON value: a parse
// error (-32700) in the words of JSON-RPC 2.0 section 5.1.
type syntaxError struct {
	Offset int    // of the offending byte
	Reason string // one of faultText
}

func (e *syntaxError) Error() string {
	return fmt.Sprintf("invalid JSON at byte %d: %s", e.Offset, e.Reason)
}

// validValue reports whether b is exactly one JSON value, with nothing but JSON
// whitespace around it, in valid UTF-8 and at most maxDepth brackets deep.
func validValue(b []byte, maxDepth int) bool {
	i := skipSpace(b, 0)
	i, f := skipValue(b, i, 0, maxDepth)
	return f == faultNone && skipSpace(b, i) == len(b)
}

// members yields the members of obj, a JSON object that has been checked before,
// in the order of the text: the contents of the name between its quotes, as
// written, and the raw value. Compare names with nameIs. Anything but an object
// has no members.
func members(obj []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		i := skipSpace(obj, 0)
		if i >= len(obj) || obj[i] != '{' {
			return
		}
		i = skipSpace(obj, i+1)
		for i < len(obj) && obj[i] == '"' {
			at := i + 1
			end, _, f := skipString(obj, at)
			if f != faultNone {
				return
			}
			name := obj[at : end-1]
			if i, f = skipColon(obj, end); f != faultNone {
				return
			}
			at = i
			if i, f = skipValue(obj, i, 0, unlimited); f != faultNone {
				return
			}
			if !yield(name, obj[at:i]) {
				return
			}
			if i = skipSpace(obj, i); i < len(obj) && obj[i] == ',' {
				i = skipSpace(obj, i+1)
			}
		}
	}
}

// unlimited is the depth limit for text that was checked against the real one.
const unlimited = int(^uint(0) >> 1)

// spaces is the set of whitespace bytes of RFC 8259 section 2.
const spaces uint64 = 1<<' ' | 1<<'\t' | 1<<'\n' | 1<<'\r'

func skipSpace(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' && spaces>>b[i]&1 != 0 {
		i++
	}
	return i
}

// skipColon skips what stands between the name of a member and its value.
func skipColon(b []byte, i int) (int, fault) {
	if i = skipSpace(b, i); i < len(b) && b[i] == ':' {
		return skipSpace(b, i+1), faultNone
	}
	return i, faultAt(b, i)
}

// faultAt is the fault of a text that has another byte, or none, than one of
// those that may stand at i.
func faultAt(b []byte, i int) fault {
	if i < len(b) {
		return faultByte
	}
	return faultEnd
}

// skipName skips the name of a member and its colon.
func skipName(b []byte, i int) (int, fault) {
	if i >= len(b) || b[i] != '"' {
		return i, faultAt(b, i)
	}
	i, _, f := skipString(b, i+1)
	if f != faultNone {
		return i, f
	}
	if i < len(b)-1 && b[i] == ':' && b[i+1] > ' ' {
		return i + 1, faultNone // no space, as most write it
	}
	return skipColon(b, i)
}

// skipValue skips the value at i, around which open brackets are open already.
func skipValue(b []byte, i, open, maxDepth int) (int, fault) {
	if i >= len(b) {
		return i, faultEnd
	}
	switch b[i] {
	case '"':
		i, _, f := skipString(b, i+1)
		return i, f
	case '{', '[':
		return skipContainer(b, i, open, maxDepth, nil)
	}
	return skipScalar(b, i)
}

// skipContainer skips the object or array at i. long, if not nil, gets the strings that stand in it as values.
//
// The kinds of the open brackets are a stack of bits, 1 for an object: the
// innermost 64 in a word, the words of the outer ones in spill, which needs the
// heap only beyond 576 levels.
func skipContainer(b []byte, i, open, maxDepth int, long *longReader) (int, fault) {
	var words [8]uint64
	spill := words[:0]
	kinds := uint64(0)
	n := 0
	var f fault
	for {
		// A value begins here.
		if i >= len(b) {
			return i, faultEnd
		}
		switch c := b[i]; c {
		case '"':
			if long != nil {
				i, f = long.skip(b, i+1)
			} else {
				i, _, f = skipString(b, i+1)
			}
		case '{', '[':
			if open+n >= maxDepth {
				return i, faultDepth
			}
			if n > 0 && n&63 == 0 {
				spill = append(spill, kinds)
			}
			n++
			kinds <<= 1
			i = skipSpace(b, i+1)
			if c == '{' {
				kinds |= 1
				if i < len(b) && b[i] != '}' {
					if i, f = skipName(b, i); f != faultNone {
						return i, f
					}
					continue
				}
			} else if i < len(b) && b[i] != ']' {
				continue
			}
		default:
			i, f = skipScalar(b, i)
		}
		if f != faultNone {
			return i, f
		}
		// A value ended here, or its container is empty: close all that end with it.
		for {
			i = skipSpace(b, i)
			if i >= len(b) {
				return i, faultEnd
			}
			c := b[i]
			if c == ',' {
				break
			}
			if c != ']'+byte(kinds&1)<<5 { // ']' and '}' differ in one bit
				return i, faultByte
			}
			i++
			n--
			if n == 0 {
				return i, faultNone
			}
			kinds >>= 1
			if n&63 == 0 {
				last := len(spill) - 1
				kinds = spill[last]
				spill = spill[:last]
			}
		}
		i = skipSpace(b, i+1)
		if kinds&1 != 0 {
			if i, f = skipName(b, i); f != faultNone {
				return i, f
			}
		}
	}
}

// skipScalar skips the number or literal at i.
func skipScalar(b []byte, i int) (int, fault) {
	switch c := b[i]; {
	case c == '-' || c-'0' <= 9:
		return skipNumber(b, i)
	case c == 't':
		return skipLiteral(b, i, "true")
	case c == 'f':
		return skipLiteral(b, i, "false")
	case c == 'n':
		return skipLiteral(b, i, "null")
	}
	return i, faultByte
}

func skipLiteral(b []byte, i int, word string) (int, fault) {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return i, faultLiteral
	}
	return i + len(word), faultNone
}

// skipNumber skips a number by the grammar of RFC 8259 section 6. What follows
// it is the caller's business.
func skipNumber(b []byte, i int) (int, fault) {
	if b[i] == '-' {
		i++
	}
	start := i
	i = skipDigits(b, i)
	if i == start || b[start] == '0' && i > start+1 {
		return start, faultNumber
	}
	if i < len(b) && b[i] == '.' {
		start = i + 1
		if i = skipDigits(b, start); i == start {
			return i, faultNumber
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		start = i
		if i = skipDigits(b, start); i == start {
			return i, faultNumber
		}
	}
	return i, faultNone
}

func skipDigits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}
