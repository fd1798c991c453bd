package jsonrpc2

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
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
	whole  []byte  // the response up to the end of body, if that was encoded where it belongs
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

// appendResponse appends the response. dst is where the outcome was encoded, if it was encoded where it belongs.
func (o *outcome) appendResponse(dst, id []byte) []byte {
	if o.whole != nil {
		return append(o.whole, '}')
	}
	dst = slices.Grow(dst, o.responseLen(id))
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
// context's error is answered with the convention's code. What else went wrong is reported all the same.
func (c *config) settle(ctx context.Context, r *Request, conv *cancel.Convention, v any, err error, dst []byte) outcome {
	if conv != nil {
		switch {
		case conv.Silent:
			if _, told := errors.AsType[*Error](err); err != nil && !told && !isContextError(err) {
				c.report(ctx, r, err)
			}
			return outcome{}
		case err != nil && conv.Code != 0 && isContextError(err):
			err = &Error{Code: Code(conv.Code), Message: conv.Text()}
		}
	}
	return c.outcome(ctx, r, v, err, dst)
}

// outcome decides what a request's handler has answered, and reports what the peer does not learn. dst, if not nil, is where the response will be appended:
// what can be is encoded there.
func (c *config) outcome(ctx context.Context, r *Request, v any, err error, dst []byte) outcome {
	var o outcome
	switch {
	case err != nil:
		o, err = c.errorOutcome(ctx, r, err)
	case dst != nil && c.append != nil && !ready(v):
		dst = append(append(append(dst, openObject...), r.id...), resultMember...)
		n := len(dst)
		if dst, err = c.appendTo(dst, v); err == nil {
			o = outcome{member: resultMember, body: dst[n:], whole: dst}
		}
	default:
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
	if c.append != nil {
		buf = buffers.Get().(*[]byte)
		if body, err = c.appendTo((*buf)[:0], v); err != nil {
			buffers.Put(buf)
			return nil, nil, err
		}
		return body, buf, nil
	}
	defer func() {
		if p := recover(); p != nil { // a MarshalJSON of the user's
			body, err = nil, &PanicError{Value: p, Stack: debug.Stack()}
		}
	}()
	if body, err = c.codec.Marshal(v); err != nil {
		return nil, nil, unencodable(v, err)
	}
	return c.flat(body), nil, nil
}

// ready reports whether a result is not encoded but taken as it is.
func ready(v any) bool {
	switch v.(type) {
	case nil, json.RawMessage:
		return true
	}
	return false
}

// appendTo encodes a result at the end of dst, on one line.
func (c *config) appendTo(dst []byte, v any) (out []byte, err error) {
	defer func() {
		if p := recover(); p != nil { // a MarshalJSON of the user's
			out, err = nil, &PanicError{Value: p, Stack: debug.Stack()}
		}
	}()
	n := len(dst)
	if out, err = c.append.Append(dst, v); err != nil {
		return nil, unencodable(v, err)
	}
	if c.line != nil && c.line.OneLine(v) {
		return out, nil
	}
	for i := n; ; i++ {
		k := bytes.IndexByte(out[i:], '\n')
		if k < 0 {
			return out, nil
		}
		i += k
		out[i] = ' '
	}
}

func unencodable(v any, err error) error {
	return fmt.Errorf("value of type %T: %w (%T)", v, errUnencodable, err)
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
