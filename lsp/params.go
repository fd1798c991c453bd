package lsp

import (
	"bytes"
	"math"
	"strconv"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/lsp/internal/rope"
)

// The document notifications are decoded by hand. They are the most frequent messages of a session, and the general decoder loses what is needed here:
// it respells URIs, and gives up a whole message for one number that is out of range, when the document it is about has to be marked.
//
// Everything below works on JSON that the engine has validated; on anything else it returns nonsense, but ends and does not panic.

// member finds the value of a member of an object by its exact name, nil if it is missing, null, or if object is no object. Of several the last counts.
func member(object []byte, name string) []byte {
	v, _ := members(object, name, "")
	return v
}

// members finds the values of two members in one pass. No member has the name "".
func members(object []byte, name1, name2 string) (v1, v2 []byte) {
	return find(object, name1, name2, false)
}

// find is members. If open is set and the second member is met after the first, its value is not looked at: it goes on to the end of the object, and
// members behind it are not seen. That saves a pass over the long part of a message.
func find(object []byte, name1, name2 string, open bool) (v1, v2 []byte) {
	i := space(object, 0)
	if i >= len(object) || object[i] != '{' {
		return nil, nil
	}
	for i = space(object, i+1); i < len(object) && object[i] == '"'; {
		end := jsonrpc2.SkipString(object, i)
		key := object[i:end]
		if i = space(object, end); i >= len(object) || object[i] != ':' {
			break
		}
		i = space(object, i+1)
		if open && v1 != nil && sameName(key, name2) {
			return unlessNull(v1), object[i:]
		}
		end = skip(object, i)
		switch {
		case sameName(key, name1):
			v1 = object[i:end]
		case name2 != "" && sameName(key, name2):
			v2 = object[i:end]
		}
		if i = space(object, end); i < len(object) && object[i] == ',' {
			i = space(object, i+1)
		}
	}
	return unlessNull(v1), unlessNull(v2)
}

func unlessNull(v []byte) []byte {
	if string(v) == "null" {
		return nil
	}
	return v
}

func sameName(quoted []byte, name string) bool {
	if len(quoted) < 2 {
		return false
	}
	text := quoted[1 : len(quoted)-1]
	if len(text) == len(name) {
		return string(text) == name
	}
	return bytes.IndexByte(text, '\\') >= 0 && unquote(quoted) == name
}

// nextElement returns the element of an array that begins at or after i, and where to go on; nil at the end. The first call has i = 0. What is no array
// has no elements.
func nextElement(array []byte, i int) (element []byte, rest int) {
	first := i == 0
	i = space(array, i)
	if i >= len(array) || first && array[i] != '[' || !first && array[i] != ',' {
		return nil, len(array)
	}
	if i = space(array, i+1); i >= len(array) || array[i] == ']' {
		return nil, len(array)
	}
	end := skip(array, i)
	return array[i:end], max(end, i+1)
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// skip returns where the value at i ends. It does not recurse.
func skip(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = jsonrpc2.SkipString(b, i)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case ',', ':', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
			i++
			continue
		default:
			for i++; i < len(b) && !endsScalar[b[i]]; i++ {
			}
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

// endsScalar is true for what cannot stand in a number or a literal.
var endsScalar = [256]bool{',': true, ':': true, ']': true, '}': true, '[': true, '{': true, '"': true, ' ': true, '\n': true, '\t': true, '\r': true}

// text decodes a string value; ok is false for any other value.
func text(value []byte) (s string, ok bool) {
	if len(value) < 2 || value[0] != '"' {
		return "", false
	}
	return unquote(value), true
}

// unquote decodes a string with its quotes. A surrogate without its other half becomes U+FFFD.
func unquote(value []byte) string { return jsonrpc2.Unquote(value[1 : len(value)-1]) }

// uinteger decodes a number of the protocol's type uinteger, also if it is written as 5.0 or 5e0. Numbers up to 2^32-1 are accepted, as clients use
// them for "the end".
func uinteger(value []byte) (n int, ok bool) {
	if len(value) == 0 {
		return 0, false
	}
	if len(value) < 10 {
		for _, c := range value {
			if c < '0' || c > '9' {
				return decimal(value, 0, math.MaxUint32)
			}
			n = n*10 + int(c-'0')
		}
		return n, true
	}
	return decimal(value, 0, math.MaxUint32)
}

// decimal decodes a number that has an integer value from low to high.
func decimal(value []byte, low, high float64) (int, bool) {
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil || f < low || f > high || f != math.Trunc(f) {
		return 0, false
	}
	return int(min(f, math.MaxInt32)), true
}

// change is one event of a didChange notification.
type change struct {
	whole      bool
	start, end int // byte offsets
	text       string
}

// readChange decodes an event for a document with the given text. It reports false if that cannot be done: a position that is missing or no uinteger,
// a text that is no string.
func readChange(event []byte, doc rope.Text, unit rope.Unit) (c change, ok bool) {
	if start, end, body, ok := readEdit(event); ok {
		c.text = unquote(body)
		c.start = doc.Offset(int(start.Line), int(start.Character), unit)
		if c.end = c.start; end != start {
			c.end = doc.Offset(int(end.Line), int(end.Character), unit)
		}
		return c, true
	}
	return readAnyChange(event, doc, unit)
}

func readAnyChange(event []byte, doc rope.Text, unit rope.Unit) (c change, ok bool) {
	r, body := members(event, "range", "text")
	if c.text, ok = text(body); !ok {
		return c, false
	}
	if r == nil {
		c.whole = true
		return c, true
	}
	start, end := members(r, "start", "end")
	if c.start, ok = readPosition(start, doc, unit); !ok {
		return c, false
	}
	if bytes.Equal(start, end) { // an insertion
		c.end = c.start
		return c, true
	}
	c.end, ok = readPosition(end, doc, unit)
	return c, ok
}

func readPosition(p []byte, doc rope.Text, unit rope.Unit) (offset int, ok bool) {
	line, character := members(p, "line", "character")
	l, ok1 := uinteger(line)
	c, ok2 := uinteger(character)
	if !ok1 || !ok2 {
		return 0, false
	}
	return doc.Offset(l, c, unit), true
}
