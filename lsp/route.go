package lsp

import (
	"context"
	"reflect"
	"sync/atomic"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// route is one row of the routing table: what is known of a method. Registration, order, capabilities, dynamic registration, partial results and the checks
// of the client's side all come from here, so nothing can be said in one place and forgotten in another.
type route struct {
	method string
	kind   kind
	way    way
	order  jsonrpc2.Order

	// What handles a message of the client: a function of Server; else, or where that is not set, something of the session. own may return
	// nil: then the method is not served.
	serve binding
	own   func(*session) jsonrpc2.Handler
	// What sends a message of the server: a method of Client.
	send any

	client  string // path of the client capability
	needs   bool   // without it the method must not be sent, or announced, to the client
	server  string // path of the server capability; the first row that has it announces it, where it is served
	first   bool
	options string // the field of Options that describes the method, if it is not called as the function is
	rich    string // client capability without which the options must not be sent, only that the method is served

	register any    // the registration options: a zero value of their type; nil: not registered, or not on its own
	under    string // the method it is registered under, if that is another one
	streams  bool   // the result may come in parts
}

type kind uint8

const (
	request kind = iota
	notification
)

type way uint8

const (
	fromClient way = iota
	toClient
	bothWays
)

// binding is a function of Server, found by the address of its field.
type binding struct {
	field   string
	handler func(*Server, *route) jsonrpc2.Handler // nil: the field is not set
}

// of is a Server of which only the addresses of fields are taken. An address names a field and brings its type along, so that a row of the table can be
// short and still be checked by the compiler, and no reflection is left for when a message comes.
var of Server

// call binds a function for requests.
func call[P, R any](field *func(context.Context, *P) (R, error)) binding {
	i := fieldOf(field)
	return binding{
		field: reflect.TypeFor[Server]().Field(i).Name,
		handler: func(s *Server, rt *route) jsonrpc2.Handler {
			if f := *fieldIn(s, i, field); f != nil {
				return handlerOf(rt, f)
			}
			return nil
		},
	}
}

// note binds a function for notifications.
func note[P any](field *func(context.Context, *P) error) binding {
	i := fieldOf(field)
	return binding{
		field: reflect.TypeFor[Server]().Field(i).Name,
		handler: func(s *Server, rt *route) jsonrpc2.Handler {
			f := *fieldIn(s, i, field)
			if f == nil {
				return nil
			}
			return handlerOf(rt, func(ctx context.Context, p *P) (any, error) { return nil, f(ctx, p) })
		},
	}
}

// fieldOf returns the index of the field of the Server named of that has this address.
func fieldOf[F any](field *F) int {
	v := reflect.ValueOf(&of).Elem()
	for i := range v.NumField() {
		if v.Field(i).Addr().UnsafePointer() == reflect.ValueOf(field).UnsafePointer() {
			return i
		}
	}
	panic("lsp: no field of Server")
}

func fieldIn[F any](s *Server, i int, _ *F) *F {
	return reflect.ValueOf(s).Elem().Field(i).Addr().Interface().(*F)
}

// own makes the column own of a method of session.
func own(f func(*session, context.Context, *jsonrpc2.Request) (any, error)) func(*session) jsonrpc2.Handler {
	return func(s *session) jsonrpc2.Handler {
		return jsonrpc2.HandlerFunc(func(ctx context.Context, r *jsonrpc2.Request) (any, error) { return f(s, ctx, r) })
	}
}

// handler returns what serves the method in a session, nil if nothing does.
func (rt *route) handler(s *session) jsonrpc2.Handler {
	if rt.serve.handler != nil {
		if h := rt.serve.handler(s.srv, rt); h != nil {
			return h
		}
	}
	if rt.own != nil {
		return rt.own(s)
	}
	return nil
}

// inProgress is what a handler's scope knows of a request that may be reported on.
type inProgress struct {
	work   protocol.ProgressToken   // for work done, nil if the client gave none
	used   atomic.Pointer[Progress] // what reports under it
	stream *stream                  // of partial results, nil if the method has none
}

// handlerOf makes a handler of a function of the Server. It does what the functions have in common: decoding, the tokens of progress, the end of what was
// reported under them. Params stay in the input buffer until the function returns, for [RawParams].
func handlerOf[P, R any](rt *route, f func(context.Context, *P) (R, error)) jsonrpc2.Handler {
	work, part, needed := tokenOf[P]("WorkDoneToken"), tokenOf[P]("PartialResultToken"), neededOf[P]()
	var parts *partsOf
	if rt.streams {
		parts = newPartsOf(reflect.TypeFor[R]())
	}
	return jsonrpc2.HandlerFunc(func(ctx context.Context, r *jsonrpc2.Request) (any, error) {
		if !r.HasParams() {
			return nil, jsonrpc2.ErrInvalidParams
		}
		p := new(P)
		if err := r.Decode(p); err != nil {
			return nil, err
		}
		if !needed.in(p, r) {
			return nil, jsonrpc2.ErrInvalidParams
		}
		token := work.in(p)
		sc := scopeFrom(ctx)
		if sc == nil || token == nil && parts == nil {
			result, err := f(ctx, p)
			if err != nil {
				return nil, err
			}
			return result, nil
		}
		in := &inProgress{work: token}
		if parts != nil {
			in.stream = &stream{s: sc.s, kind: parts, token: part.in(p)}
		}
		sc.in = in
		defer func() { in.used.Load().End("") }()
		result, err := f(ctx, p)
		if err != nil {
			return nil, err
		}
		if in.stream != nil {
			return in.stream.finish(ctx, result)
		}
		return result, nil
	})
}

// tokenField finds a progress token in params.
type tokenField struct{ index []int }

// tokenOf finds the field in params of type P, once for each method. It is nil if there is none.
func tokenOf[P any](name string) *tokenField {
	t := reflect.TypeFor[P]()
	if t.Kind() != reflect.Struct {
		return nil
	}
	field, ok := t.FieldByName(name)
	if !ok || field.Type != reflect.TypeFor[protocol.ProgressToken]() {
		return nil
	}
	return &tokenField{field.Index}
}

func (f *tokenField) in(params any) protocol.ProgressToken {
	if f == nil {
		return nil
	}
	token, _ := reflect.ValueOf(params).Elem().FieldByIndex(f.index).Interface().(protocol.ProgressToken)
	return token
}
