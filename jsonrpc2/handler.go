package jsonrpc2

import (
	"context"
	"encoding/json"
	"reflect"
)

// Handler answers one kind of message. For a notification the result is dropped and an error only reported. Handlers of one connection run at
// the same time as each other unless they are [Ordered]; ctx ends when the request is cancelled, its connection closes, or the handler returns.
//
// The result is encoded with the connection's [Codec]; a json.RawMessage is sent as it is after a check that it is JSON. A returned *[Error]
// goes on the wire unchanged, any other error as "Internal error" and to [Options.Report]. A panic is an error of the latter kind.
type Handler interface {
	Handle(ctx context.Context, r *Request) (result any, err error)
}

// HandlerFunc is a function as a Handler.
type HandlerFunc func(ctx context.Context, r *Request) (any, error)

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, r *Request) (any, error) { return f(ctx, r) }

// Middleware wraps every handler of a [Mux], the fallback included. The first one given to [Mux.Use] is the outermost.
type Middleware func(Handler) Handler

// Order is how a handler is scheduled against the other messages of its connection.
type Order uint8

const (
	// Auto is Ordered for notifications and Concurrent for requests.
	Auto Order = iota
	// Ordered handlers of a connection run one at a time, in the order their messages came.
	Ordered
	// Concurrent handlers start after every Ordered message that came before has been handled, then run side by side.
	Concurrent
	// Immediate handlers start at once, beside whatever runs or waits, and take no place of [Options.MaxRunning]. They are for requests that must be
	// answered while everything else is stuck, and see the state as it happens to be.
	Immediate
)

// ParamsRule says whether a typed handler may be called without params.
type ParamsRule uint8

const (
	// Required refuses absent params with "Invalid params", unless P is an interface, a pointer, a json.RawMessage or an empty struct.
	Required ParamsRule = iota
	// Optional calls the handler with the zero P when params are absent or null.
	Optional
)

// Call makes a request handler of a typed function. The params are decoded into a new P before each call; a params value of the wrong shape (an
// array for a struct, an object for a slice) or one that does not decode is answered -32602 and f is not called. A P of type json.RawMessage gets
// a copy. An empty struct as P takes, and ignores, anything.
func Call[P, R any](f func(ctx context.Context, params *P) (R, error), rule ...ParamsRule) Handler {
	shape := shapeOf(reflect.TypeFor[P](), rule)
	return typedHandler(func(ctx context.Context, r *Request) (any, error) {
		var p P
		if err := shape.decode(r, &p); err != nil {
			return nil, err
		}
		result, err := f(ctx, &p)
		if err != nil {
			return nil, err
		}
		return result, nil
	})
}

// Note makes a notification handler of a typed function, like [Call]. Params of the wrong shape are reported and otherwise ignored.
func Note[P any](f func(ctx context.Context, params *P) error, rule ...ParamsRule) Handler {
	shape := shapeOf(reflect.TypeFor[P](), rule)
	return typedHandler(func(ctx context.Context, r *Request) (any, error) {
		var p P
		if err := shape.decode(r, &p); err != nil {
			return nil, err
		}
		return nil, f(ctx, &p)
	})
}

// typedHandler is a HandlerFunc that has decoded its params before user code runs.
type typedHandler func(ctx context.Context, r *Request) (any, error)

func (f typedHandler) Handle(ctx context.Context, r *Request) (any, error) { return f(ctx, r) }

// shape is what a P takes.
type shape struct {
	first    byte // '{' or '[', 0: either
	ignore   bool // empty struct: params are not looked at
	optional bool
}

func shapeOf(t reflect.Type, rule []ParamsRule) shape {
	s := shape{optional: len(rule) > 0 && rule[0] == Optional}
	if t == reflect.TypeFor[json.RawMessage]() {
		s.optional = true
		return s
	}
	for t.Kind() == reflect.Pointer {
		s.optional = true
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return s
	}
	switch t.Kind() {
	case reflect.Struct:
		s.first = '{'
		if t.NumField() == 0 {
			s.ignore = true
		}
	case reflect.Map:
		s.first = '{'
	case reflect.Slice, reflect.Array:
		s.first = '['
	case reflect.Interface:
		s.optional = true
	}
	return s
}

func (s shape) decode(r *Request, p any) error {
	switch {
	case s.ignore:
	case r.params == nil:
		if !s.optional {
			return ErrInvalidParams
		}
	case s.first != 0 && r.params[0] != s.first:
		return ErrInvalidParams
	default:
		if err := r.Decode(p); err != nil {
			return err
		}
	}
	r.release()
	return nil
}
