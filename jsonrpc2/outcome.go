package jsonrpc2

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"sync"

	"github.com/tandem-rpc/tandem/cancel"
)

// outcome is what a handler's return comes to on the wire: the member of the response and its encoded value.
type outcome struct {
	member []byte // `,"result":` or `,"error":`
	body   []byte
	code   Code    // of an error
	buf    *[]byte // what body was encoded into, if that is to be used again
}

// Results are encoded into buffers that are used again.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

const bufferSize = 4 << 20 // a larger buffer is left to the garbage collector

// free gives the buffer back. The body must not be looked at any more.
func (o *outcome) free() {
	if o.buf == nil {
		return
	}
	if cap(o.body) <= bufferSize {
		*o.buf = o.body[:0]
	}
	buffers.Put(o.buf)
	o.buf, o.body = nil, nil
}

var (
	openObject   = []byte(`{"jsonrpc":"2.0","id":`)
	resultMember = []byte(`,"result":`)
	errorMember  = []byte(`,"error":`)
	closeObject  = []byte(`}`)
	nullID       = []byte("null")
)

// responseLen is the length of a response without its id and body.
func (o *outcome) responseLen(id []byte) int {
	return len(openObject) + len(id) + len(o.member) + len(o.body) + len(closeObject)
}

func (o *outcome) appendResponse(dst, id []byte) []byte {
	dst = append(dst, openObject...)
	dst = append(dst, id...)
	dst = append(dst, o.member...)
	dst = append(dst, o.body...)
	return append(dst, '}')
}

// fixedOutcome is an error of the engine's own.
func fixedOutcome(e *Error) outcome {
	return outcome{member: errorMember, body: appendError(nil, e), code: e.Code}
}

var internalOutcome = fixedOutcome(ErrInternal)

// run calls the handler and contains what goes wrong in it.
func run(h Handler, ctx context.Context, r *Request) (v any, err error) {
	defer func() {
		if p := recover(); p != nil {
			v, err = nil, &PanicError{Value: p, Stack: debug.Stack()}
		}
	}()
	return h.Handle(ctx, r)
}

// settle is outcome by the rules of the convention, if any, with which the other side cancelled the request: a silent one is owed no answer, and a
// context's error is answered with the convention's code.
func (c *config) settle(ctx context.Context, r *Request, conv *cancel.Convention, v any, err error) outcome {
	if conv != nil {
		switch {
		case conv.Silent:
			return outcome{}
		case err != nil && conv.Code != 0 && isContextError(err):
			err = &Error{Code: Code(conv.Code), Message: conv.Text()}
		}
	}
	return c.outcome(ctx, r, v, err)
}

// outcome decides what a request's handler has answered, and reports what the peer does not learn.
func (c *config) outcome(ctx context.Context, r *Request, v any, err error) outcome {
	var o outcome
	if err != nil {
		o, err = c.errorOutcome(ctx, r, err)
	} else {
		o.member = resultMember
		o.body, o.buf, err = c.encode(r, v)
	}
	if err == nil && o.responseLen(r.id) > c.MaxFrame {
		err = fmt.Errorf("answer to %q: %w", r.Method, ErrTooLarge)
	}
	if err != nil {
		o.free()
		c.report(ctx, r, err)
		return internalOutcome
	}
	return o
}

func (c *config) errorOutcome(ctx context.Context, r *Request, err error) (outcome, error) {
	e, ok := errors.AsType[*Error](err)
	if !ok || e == nil {
		return outcome{}, err
	}
	if e.Data != nil && !validValue(e.Data, c.MaxDepth) {
		return outcome{}, fmt.Errorf("error data of %q: %w", r.Method, errUnencodable)
	}
	return outcome{member: errorMember, body: c.flat(appendError(nil, e)), code: e.Code}, nil
}

func appendError(dst []byte, e *Error) []byte {
	dst = append(dst, `{"code":`...)
	dst = strconv.AppendInt(dst, int64(e.Code), 10)
	dst = append(dst, `,"message":`...)
	text, _ := marshalJSON(e.Message) // a string always encodes
	dst = append(dst, text...)
	if len(e.Data) > 0 && string(e.Data) != "null" {
		dst = append(append(dst, `,"data":`...), e.Data...)
	}
	return append(dst, '}')
}

// encode encodes a result. A json.RawMessage is taken as it is if it is JSON; the request's own params were checked when they came. buf, if not nil,
// is the pooled buffer that holds the body.
func (c *config) encode(r *Request, v any) (body []byte, buf *[]byte, err error) {
	switch v := v.(type) {
	case nil:
		return nullID, nil, nil
	case json.RawMessage:
		switch {
		case len(v) == 0:
			return nullID, nil, nil
		case r != nil && len(v) == len(r.params) && &v[0] == &r.params[0]:
		case !validValue(v, c.MaxDepth):
			return nil, nil, fmt.Errorf("json.RawMessage: %w", errUnencodable)
		}
		return c.flat(v), nil, nil
	}
	defer func() {
		if p := recover(); p != nil { // a MarshalJSON of the user's
			body, buf, err = nil, nil, &PanicError{Value: p, Stack: debug.Stack()}
		}
	}()
	if c.append == nil {
		body, err = c.codec.Marshal(v)
	} else {
		buf = buffers.Get().(*[]byte)
		if body, err = c.append.Append((*buf)[:0], v); err != nil {
			buffers.Put(buf)
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("value of type %T: %w (%T)", v, errUnencodable, err)
	}
	return c.flat(body), buf, nil
}

// flat takes line feeds out of JSON text: one message is one line, whatever a codec or a json.RawMessage holds. In strings there can be none.
func (c *config) flat(text []byte) []byte {
	if bytes.IndexByte(text, '\n') < 0 {
		return text
	}
	return bytes.ReplaceAll(text, []byte("\n"), []byte(" "))
}

// encodeParams encodes outbound params: nil for none.
func (c *config) encodeParams(v any) ([]byte, error) {
	if v == nil {
		return nil, nil
	}
	raw, _, err := c.encode(nil, v) // the buffer, if any, stays with the message
	if err != nil {
		return nil, err
	}
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '{' && raw[0] != '[' {
		return nil, ErrParams
	}
	return raw, nil
}
