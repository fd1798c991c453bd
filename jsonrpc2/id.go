package jsonrpc2

import (
	"bytes"
	"fmt"
	"strconv"
)

// ID identifies a request (JSON-RPC 2.0 section 4). It keeps the exact text that was on the wire, so 1.0, 1e3 and 9007199254740993 come back
// as they came. The zero ID is no id at all. IDs are values: they can be compared with == (same text) and used as map keys; [ID.Equal] compares
// by meaning.
type ID struct{ text string }

// NullID is the id null. Requests with it are answered on plain JSON-RPC; LSP and MCP refuse it.
var NullID = ID{"null"}

// NumberID returns the id n.
func NumberID(n int64) ID { return ID{strconv.FormatInt(n, 10)} }

// StringID returns the string id s. Invalid UTF-8 in s becomes U+FFFD.
func StringID(s string) ID {
	b, _ := marshalJSON(s) // a string always encodes
	return ID{string(b)}
}

// ParseID returns the id with the given JSON text: a string, a number or null.
func ParseID(text []byte) (ID, error) {
	t := bytes.TrimSpace(text)
	if !validValue(t, 1) || len(t) == 0 || !(t[0] == '"' || t[0] == '-' || t[0] >= '0' && t[0] <= '9' || string(t) == "null") {
		return ID{}, fmt.Errorf("jsonrpc2: id must be a JSON string, number or null")
	}
	return ID{string(t)}, nil
}

// IsZero reports whether there is no id.
func (id ID) IsZero() bool { return id.text == "" }

// IsNull reports whether the id is null.
func (id ID) IsNull() bool { return id.text == "null" }

// Equal reports whether both ids mean the same: 1 equals 1.0 and 1e0, "a" equals "\u0061", and 1 never equals "1".
func (id ID) Equal(other ID) bool {
	if id.text == other.text {
		return true
	}
	if id.IsZero() || other.IsZero() {
		return false
	}
	return bytes.Equal(appendIDKey(nil, []byte(id.text)), appendIDKey(nil, []byte(other.text)))
}

// String returns the wire text, "" for the zero ID.
func (id ID) String() string { return id.text }

// MarshalJSON returns the wire text; the zero ID is null.
func (id ID) MarshalJSON() ([]byte, error) {
	if id.IsZero() {
		return []byte("null"), nil
	}
	return []byte(id.text), nil
}

// UnmarshalJSON is [ParseID].
func (id *ID) UnmarshalJSON(text []byte) error {
	v, err := ParseID(text)
	if err == nil {
		*id = v
	}
	return err
}
