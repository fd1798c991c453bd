package lsp

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"go.lsp.dev/protocol"
)

// ErrNoStream is returned by [Stream] outside of a function whose result can come in parts.
var ErrNoStream = errors.New("lsp: the result of this method does not come in parts")

// Stream gives parts of a result before the whole of it is known (LSP 3.18, "Partial Result Progress"). It may be called any number of times, by many
// goroutines; what the function returns are the last parts. A client that gave a token gets the parts at once and an empty result in the end;
// for any other they are put together with the result, so functions need not care.
//
//	References: func(ctx context.Context, p *protocol.ReferenceParams) ([]protocol.Location, error) {
//		for _, file := range files {
//			if err := lsp.Stream(ctx, search(file)...); err != nil {
//				return nil, err
//			}
//		}
//		return nil, nil
//	}
//
// T is the type of one element: protocol.Location, protocol.CompletionItem for the items of a completion list, uint32 for the data of semantic tokens,
// protocol.WorkspaceDocumentDiagnosticReport and so on. All parts of one result have one type. Another one is an error, and so is a method whose
// result does not come in parts; textDocument/diagnostic is one of these, as its first part would have to be the report itself. Stream
// returns ctx's error when the request was cancelled.
func Stream[T any](ctx context.Context, parts ...T) error {
	sc := scopeFrom(ctx)
	if sc == nil || sc.in == nil || sc.in.stream == nil {
		return ErrNoStream
	}
	if err := ctx.Err(); err != nil || len(parts) == 0 {
		return err
	}
	return sc.in.stream.add(ctx, reflect.ValueOf(parts))
}

// Streaming reports whether the client gets what [Stream] is given before the function returns.
func Streaming(ctx context.Context) bool {
	sc := scopeFrom(ctx)
	return sc != nil && sc.in != nil && sc.in.stream != nil && sc.in.stream.token != nil
}

// stream is the partial results of one request.
type stream struct {
	s     *session
	kind  *partsOf
	token protocol.ProgressToken // nil: parts are kept for the result

	mu    sync.Mutex
	elem  reflect.Type  // of the parts; nil before the first
	kept  reflect.Value // a slice
	ended bool
}

func (st *stream) add(ctx context.Context, parts reflect.Value) error {
	elem := parts.Type().Elem()
	c, ok := st.kind.byElem[elem]
	st.mu.Lock()
	defer st.mu.Unlock()
	switch {
	case !ok || st.elem != nil && st.elem != elem:
		return fmt.Errorf("lsp: parts of type %v do not make a %v", elem, st.kind.result)
	case st.ended:
		return errors.New("lsp: Stream after the function has returned")
	}
	st.elem = elem
	if st.token != nil {
		return st.send(ctx, c, parts)
	}
	if !st.kept.IsValid() {
		st.kept = reflect.MakeSlice(reflect.SliceOf(elem), 0, parts.Len())
	}
	st.kept = reflect.AppendSlice(st.kept, parts)
	return nil
}

// send sends parts in the form that the method has for them: an array, or an object with one member.
func (st *stream) send(ctx context.Context, c container, parts reflect.Value) error {
	value := parts.Interface()
	if c.wire != "" {
		value = map[string]any{c.wire: value}
	}
	raw, err := Codec.Marshal(value)
	if err != nil {
		return err
	}
	return st.s.client.notify(ctx, protocol.MethodProgress, &protocol.ProgressParams{Token: st.token, Value: raw})
}

// finish makes the answer of what the function returned and of the parts before it.
func (st *stream) finish(ctx context.Context, result any) (any, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.ended = true
	if st.elem == nil {
		return result, nil
	}
	c := st.kind.byElem[st.elem]
	rest, ok := c.open(reflect.ValueOf(result))
	if !ok {
		return nil, fmt.Errorf("lsp: parts of type %v before a result of type %T", st.elem, result)
	}
	if st.token == nil {
		if rest.IsValid() {
			st.kept = reflect.AppendSlice(st.kept, rest)
		}
		return c.fill(result, st.kept), nil
	}
	if rest.IsValid() && rest.Len() > 0 {
		if err := st.send(ctx, c, rest.Convert(reflect.SliceOf(st.elem))); err != nil {
			return nil, err
		}
	}
	return c.fill(result, reflect.MakeSlice(reflect.SliceOf(st.elem), 0, 0)), nil
}

// partsOf are the ways in which results of one type can be put together.
type partsOf struct {
	result reflect.Type
	byElem map[reflect.Type]container
}

// container is a type of result that holds parts: a slice, or a pointer to a struct with a field for them.
type container struct {
	typ   reflect.Type
	field string // "": the slice itself
	wire  string // the member that holds parts in $/progress; "": they are an array
}

// unions are the arms of results that can have several types.
var unions = []reflect.Type{
	reflect.TypeFor[protocol.LocationSlice](), reflect.TypeFor[protocol.DefinitionLinkSlice](), reflect.TypeFor[protocol.DeclarationLinkSlice](),
	reflect.TypeFor[protocol.SymbolInformationSlice](), reflect.TypeFor[protocol.DocumentSymbolSlice](), reflect.TypeFor[protocol.WorkspaceSymbolSlice](),
	reflect.TypeFor[protocol.InlineCompletionItemSlice](), reflect.TypeFor[*protocol.SemanticTokens](), reflect.TypeFor[*protocol.SemanticTokensDelta](),
}

// fields are the structs that hold parts.
var fields = map[reflect.Type]container{
	reflect.TypeFor[*protocol.CompletionList]():            {field: "Items"},
	reflect.TypeFor[*protocol.SemanticTokens]():            {field: "Data", wire: "data"},
	reflect.TypeFor[*protocol.SemanticTokensDelta]():       {field: "Edits", wire: "edits"},
	reflect.TypeFor[*protocol.WorkspaceDiagnosticReport](): {field: "Items", wire: "items"},
}

func newPartsOf(result reflect.Type) *partsOf {
	p := &partsOf{result: result, byElem: map[reflect.Type]container{}}
	arms := []reflect.Type{result}
	if result.Kind() == reflect.Interface {
		arms = unions
	}
	for _, t := range arms {
		if !t.AssignableTo(result) {
			continue
		}
		c := fields[t]
		c.typ = t
		if t.Kind() == reflect.Slice {
			p.byElem[t.Elem()] = c
		} else if f, ok := t.Elem().FieldByName(c.field); ok {
			p.byElem[f.Type.Elem()] = c
		}
	}
	return p
}

// open returns the parts that a result holds itself; the zero Value if it is nil. A single location counts as a list of one, a list of inline
// completions as its items.
func (c container) open(result reflect.Value) (parts reflect.Value, ok bool) {
	if !result.IsValid() || (result.Kind() == reflect.Pointer || result.Kind() == reflect.Slice) && result.IsNil() {
		return reflect.Value{}, true
	}
	switch v := result.Interface().(type) {
	case *protocol.Location:
		result = reflect.ValueOf(protocol.LocationSlice{*v})
	case *protocol.InlineCompletionList:
		result = reflect.ValueOf(protocol.InlineCompletionItemSlice(v.Items))
	}
	if result.Type() != c.typ {
		return reflect.Value{}, false
	}
	if c.field == "" {
		return result, true
	}
	return result.Elem().FieldByName(c.field), true
}

// fill returns a result with the given parts, and else as it was.
func (c container) fill(result any, parts reflect.Value) any {
	if c.field == "" {
		return parts.Convert(c.typ).Interface()
	}
	v := reflect.New(c.typ.Elem())
	if old := reflect.ValueOf(result); old.IsValid() && old.Type() == c.typ && !old.IsNil() {
		v.Elem().Set(old.Elem())
	}
	v.Elem().FieldByName(c.field).Set(parts)
	return v.Interface()
}
