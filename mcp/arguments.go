package mcp

import (
	"bytes"
	"encoding/json"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Raw returns the JSON object. The bytes are the caller's from then on; keeping any part of them keeps the buffer they stand in.
func (a Arguments) Raw() json.RawMessage {
	if len(a.raw) == 0 {
		return json.RawMessage(`{}`)
	}
	if a.req != nil {
		a.req.Params() // from now on the buffer is not used again
	}
	return a.raw
}

// Decode decodes the arguments into v, member names matched exactly. A failure is an error with code -32602.
func (a Arguments) Decode(v any) error {
	if len(a.raw) == 0 {
		return nil
	}
	if err := jsonrpc2.DefaultCodec.Unmarshal(a.raw, v); err != nil {
		return jsonrpc2.ErrInvalidParams.WithCause(err)
	}
	return nil
}

// Text returns the argument with that name if it is a string.
func (a Arguments) Text(name string) (string, bool) {
	v, ok := a.lookup(name)
	if !ok {
		return "", false
	}
	if a.req != nil {
		if text, n := a.req.LongStrings().At(v); n > 0 {
			return text, true
		}
	}
	return stringValue(v)
}

// readString returns the string that begins at i, and where it ends.
func (a *Arguments) readString(i int) (text string, end int) {
	if a.req != nil {
		if text, n := a.req.LongStrings().At(a.raw[i:]); n > 0 {
			return text, i + n
		}
	}
	return readString(a.raw, i)
}

// Lookup returns the raw value of an argument, and false if there is none. Where a name is given twice the last one counts. The bytes are a
// copy.
func (a Arguments) Lookup(name string) (json.RawMessage, bool) {
	v, ok := a.lookup(name)
	return bytes.Clone(v), ok
}

func (a Arguments) lookup(name string) (value []byte, found bool) {
	o := object{b: a.raw}
	for {
		n, v, ok := o.next()
		if !ok {
			return value, found
		}
		if sameName(n, name) {
			value, found = v, true
		}
	}
}
