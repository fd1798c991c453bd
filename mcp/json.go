package mcp

import (
	"bytes"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// The functions below read JSON that was checked before: the engine has seen that a message is valid, not too deep, and UTF-8. They do not
// recurse, allocate only for the strings they return, and stay inside the slice whatever it holds.

// object walks over the members of an object.
type object struct {
	b    []byte
	i    int
	long jsonrpc2.LongStrings // of what b is a part of
}

// next returns the text between the quotes of the next name, and the raw value.
func (o *object) next() (name, value []byte, ok bool) {
	name, i, ok := o.name()
	if !ok {
		return nil, nil, false
	}
	o.i = skipKnown(o.b, i, o.long)
	return name, o.b[i:o.i], true
}

// name is next for who goes past the value himself: it returns where that begins, and o.i has to be set to where it ends.
func (o *object) name() (name []byte, i int, ok bool) {
	i = skipSpace(o.b, o.i)
	if i >= len(o.b) || o.b[i] != '{' && o.b[i] != ',' {
		return nil, 0, false
	}
	i = skipSpace(o.b, i+1)
	if i >= len(o.b) || o.b[i] != '"' {
		return nil, 0, false
	}
	end := skipString(o.b, i)
	name = o.b[i+1 : max(end-1, i+1)]
	i = skipSpace(o.b, end)
	if i >= len(o.b) || o.b[i] != ':' {
		return nil, 0, false
	}
	return name, skipSpace(o.b, i+1), true
}

// pick finds members of an object by name. It reports false if raw is no object or has one of them twice: what a proxy saw must be what we see.
// A value that is null counts as absent.
func pick(raw []byte, names []string, values [][]byte) (ok bool) {
	return pickKnown(raw, names, values, jsonrpc2.LongStrings{})
}

// pickKnown is pick, with the long strings of the message that raw is a part of.
func pickKnown(raw []byte, names []string, values [][]byte, long jsonrpc2.LongStrings) (ok bool) {
	if len(raw) == 0 || raw[0] != '{' {
		return false
	}
	var seen uint64
	ok = true
	o := object{b: raw, long: long}
	for {
		name, value, more := o.next()
		if !more {
			return ok
		}
		for n, want := range names {
			if !sameName(name, want) {
				continue
			}
			if seen>>n&1 != 0 {
				ok = false // the others are still of interest
			}
			seen |= 1 << n
			if string(value) != "null" {
				values[n] = value
			}
			break
		}
	}
}

func sameName(raw []byte, name string) bool {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw) == name
	}
	return string(unquote(raw)) == name
}

func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }

// stringValue returns the string that raw is.
func stringValue(raw []byte) (string, bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return "", false
	}
	return unquoted(raw[1 : len(raw)-1]), true
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// skipValue returns the index after the value that begins at i. Brackets are only counted.
func skipValue(b []byte, i int) int { return skipKnown(b, i, jsonrpc2.LongStrings{}) }

func skipKnown(b []byte, i int, long jsonrpc2.LongStrings) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if _, n := long.At(b[i:]); n > 0 {
				i += n
			} else {
				i = skipString(b, i)
			}
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth <= 0 {
				return i + 1 + min(depth, 0)
			}
		case ',', ' ', '\t', '\n', '\r', ':':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return len(b)
}
