package jsonrpc2

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// Code is the code of an [Error] (JSON-RPC 2.0 section 5.1). The codes from -32768 to -32000 are reserved by the specification; the constants
// below are those it defines. Front ends keep tables of their own for codes that mean different things in different protocols.
type Code int64

// Codes that JSON-RPC 2.0 section 5.1 defines, and the one the engine uses by default for overload.
const (
	CodeParseError     Code = -32700 // the text is not JSON, not UTF-8, or nested too deeply
	CodeInvalidRequest Code = -32600 // the JSON is not a request
	CodeMethodNotFound Code = -32601 // no handler is registered for the method
	CodeInvalidParams  Code = -32602 // the handler's parameters do not fit
	CodeInternalError  Code = -32603 // the handler failed, or its result cannot be encoded
	CodeOverloaded     Code = -32000 // more requests in flight than Options.MaxPending allows
)

// String returns the specification's name of the code, or its number.
func (c Code) String() string {
	switch c {
	case CodeParseError:
		return "Parse error"
	case CodeInvalidRequest:
		return "Invalid Request"
	case CodeMethodNotFound:
		return "Method not found"
	case CodeInvalidParams:
		return "Invalid params"
	case CodeInternalError:
		return "Internal error"
	}
	return "code " + strconv.FormatInt(int64(c), 10)
}

// Error is a JSON-RPC error object (section 5.1). A handler that returns one, wrapped or not, chooses exactly what goes on the wire; any other
// error becomes "Internal error" there, and its text reaches only [Options.Report]. [Conn.Call] returns one when the other side answered with
// an error. Values are not changed by this package once made and can be shared.
type Error struct {
	Code    Code
	Message string
	Data    json.RawMessage // nil: no data member. It must be valid JSON

	cause error
}

// Sentinels for errors.Is, which compares codes: errors.Is(err, ErrInvalidParams) holds for every *Error with code -32602.
var (
	ErrParse          = &Error{Code: CodeParseError, Message: "Parse error"}
	ErrInvalidRequest = &Error{Code: CodeInvalidRequest, Message: "Invalid Request"}
	ErrMethodNotFound = &Error{Code: CodeMethodNotFound, Message: "Method not found"}
	ErrInvalidParams  = &Error{Code: CodeInvalidParams, Message: "Invalid params"}
	ErrInternal       = &Error{Code: CodeInternalError, Message: "Internal error"}
)

var (
	// ErrClosed is returned by calls, notifications and batches on a connection that is closing or closed. Where the end had a cause the
	// returned error wraps both.
	ErrClosed = errors.New("jsonrpc2: connection closed")
	// ErrOverloaded fails the oldest outbound call when so much unread input has piled up behind it that the connection could not go on.
	ErrOverloaded = errors.New("jsonrpc2: too much input queued behind an outbound call")
	// ErrInvalidResponse fails an outbound call whose response is not one (JSON-RPC 2.0 section 5): wrong version, both or neither of result
	// and error, an error without integer code or string message.
	ErrInvalidResponse = errors.New("jsonrpc2: invalid response")
	// ErrServing is returned by a second [Conn.Serve] on one connection.
	ErrServing = errors.New("jsonrpc2: Serve may be called once")
	// ErrBatchSize is returned by [Conn.Batch] for no entries, or more than [Options.MaxBatch].
	ErrBatchSize = errors.New("jsonrpc2: batch size out of range")
	// ErrParams is returned by outbound calls whose parameters encode as neither object nor array (JSON-RPC 2.0 section 4.2).
	ErrParams = errors.New("jsonrpc2: params must encode as an object or an array")
	// ErrTooLarge is returned for an outbound message over [Options.MaxFrame].
	ErrTooLarge = errors.New("jsonrpc2: message over the frame limit")
)

// Errorf makes an Error whose message is formatted like [fmt.Errorf]. An error given for %w stays reachable for errors.Is and errors.As in
// this process, but only the formatted text goes on the wire: do not format what the peer must not see.
func Errorf(c Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: c, Message: err.Error(), cause: errors.Unwrap(err)}
}

// WithData returns a copy of e with v, encoded, as its data. A v that cannot be encoded makes the whole error an Internal error when it is
// answered, and is reported.
func (e *Error) WithData(v any) *Error {
	c := *e
	data, err := marshalJSON(v)
	if err != nil {
		c.Data, c.cause = json.RawMessage("!"), fmt.Errorf("error data of type %T: %w", v, errUnencodable)
		return &c
	}
	c.Data = data
	return &c
}

// WithCause returns a copy of e that wraps err in this process; nothing of err goes on the wire.
func (e *Error) WithCause(err error) *Error {
	c := *e
	c.cause = err
	return &c
}

// Error returns the message with its code.
func (e *Error) Error() string {
	return e.Message + " (" + strconv.FormatInt(int64(e.Code), 10) + ")"
}

// Is reports whether target is an *Error with the same code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// Unwrap returns the error given to Errorf for %w, or nil.
func (e *Error) Unwrap() error { return e.cause }

var errUnencodable = errors.New("value cannot be encoded as JSON")

// PanicError is what [Options.Report] gets when a handler panicked. The peer sees "Internal error".
type PanicError struct {
	Value any    // the value given to panic
	Stack []byte // the stack of the goroutine that panicked
}

// Error returns the panic value as text.
func (e *PanicError) Error() string { return fmt.Sprintf("panic in handler: %v", e.Value) }

// Unwrap returns the panic value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// closedError is ErrClosed with the reason the connection ended.
type closedError struct{ cause error }

func (e *closedError) Error() string   { return ErrClosed.Error() + ": " + e.cause.Error() }
func (e *closedError) Unwrap() []error { return []error{ErrClosed, e.cause} }

func isContextError(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
