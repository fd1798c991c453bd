package jsonrpc2

import (
	"context"
	"encoding/json"
	"fmt"
)

// Request is one request or notification that came in (JSON-RPC 2.0 section 4). It belongs to one handler call: its methods are for the
// goroutine that runs the handler, and nothing of it may be used after the handler has returned, except slices got from [Request.Params] and
// the values of [Request.ID].
type Request struct {
	Method string // never empty for a registered method; the empty name is legal and simply not found

	id     []byte // wire text; nil for a notification
	params []byte // raw; nil when absent or null
	chunk  *chunk // what holds params, nil if the garbage collector alone does
	held   bool   // a reference to chunk is ours
	codec  Codec
	long   []longString // those of params that are decoded already
}

// NewRequest makes a Request for tests of handlers. A zero id makes it a notification; params must be valid JSON or nil.
func NewRequest(method string, id ID, params json.RawMessage) *Request {
	r := &Request{Method: method, params: params}
	if !id.IsZero() {
		r.id = []byte(id.text)
	}
	return r
}

// ID returns the id, and false for a notification. An id that is null counts as an id (section 4).
func (r *Request) ID() (ID, bool) {
	if r.id == nil {
		return ID{}, false
	}
	return ID{string(r.id)}, true
}

// IsNotification reports whether no answer is owed (section 4.1).
func (r *Request) IsNotification() bool { return r.id == nil }

// Params returns the raw params, an object or an array; nil when they were absent or null. The bytes are the caller's from then on: they are
// never overwritten, and keeping any part of them keeps the input buffer they stand in (64 KiB, or the message if it is larger) in memory.
// Handlers that only decode should use [Request.Decode], which leaves the buffer to be used again.
func (r *Request) Params() json.RawMessage {
	if r.chunk != nil {
		r.chunk.keep()
	}
	return r.params
}

// HasParams reports whether params were present and not null.
func (r *Request) HasParams() bool { return r.params != nil }

// Decode decodes the params into v with the connection's [Codec]; member names match exactly. Absent params leave v as it is. A failure is an
// *Error with code [CodeInvalidParams] that names the place but quotes nothing of the params.
func (r *Request) Decode(v any) error {
	if r.params == nil {
		return nil
	}
	c := r.codec
	if c == nil {
		c = DefaultCodec
	}
	if err := c.Unmarshal(r.params, v); err != nil {
		return invalidParams(err)
	}
	return nil
}

func invalidParams(err error) *Error {
	e := &Error{Code: CodeInvalidParams, Message: ErrInvalidParams.Message, cause: err}
	if p, ok := err.(*placeError); ok {
		e.Message += ": " + p.Error()
	}
	return e
}

// placeError is a decoding failure whose text names the place and the type wanted and holds nothing that came from the peer.
type placeError struct{ field, want string }

func (e *placeError) Error() string {
	if e.field == "" {
		return "want " + e.want
	}
	return fmt.Sprintf("%s: want %s", e.field, e.want)
}

type requestKey struct{}

// RequestFrom returns the request that the context of a handler belongs to, or nil.
func RequestFrom(ctx context.Context) *Request {
	r, _ := ctx.Value(requestKey{}).(*Request)
	return r
}
