package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// AddTool adds a tool made of a typed function to a Toolbox.
//
// The arguments are decoded into an In, a struct or a map, by the rules of encoding/json with names matched exactly. Its schema is inferred,
// unless t.InputSchema is set: a field without omitempty is required, a tag `jsonschema:"..."` is its description, members beside the fields are
// refused. Arguments that do not fit are answered with a tool result, IsError set, that names path and reason, so that the model can do
// better; f is not called.
//
// The Out becomes the result. A *[CallToolResult], [TextResult], [Content] or []Content is sent as such, a string as text, nil as nothing. Any
// other Out, and any Out where t.OutputSchema is set, is structured content, with the same JSON as text for clients that do not know it; the
// schema of a struct or a map is inferred and shown to clients, other types are wrapped as {"result": ...}. A result that does not fit the
// schema is the server's fault: "Internal error", reported.
//
// An error from f becomes a tool result with its text, which the model reads: it must hold nothing that the model may not see. A
// *[jsonrpc2.Error] goes to the client as a protocol error instead. Once ctx has ended its error is passed on, and the connection says what
// happened.
//
// AddTool panics where [Toolbox.Add] would, and for types and schemas that cannot be used.
func AddTool[In, Out any](b *Toolbox, t Tool, f func(ctx context.Context, in In) (Out, error)) {
	if f == nil {
		panic(fmt.Sprintf("mcp: tool %q without a function", t.Name))
	}
	in, err := newInput(reflect.TypeFor[In](), t.InputSchema)
	if err != nil {
		panic(fmt.Sprintf("mcp: input of tool %q: %v", t.Name, err))
	}
	t.InputSchema = in.schema.text
	out, err := newOutput(reflect.TypeFor[Out](), t.OutputSchema)
	if err != nil {
		panic(fmt.Sprintf("mcp: output of tool %q: %v", t.Name, err))
	}
	if out.schema != nil {
		t.OutputSchema = out.schema.text
	}
	run := func(ctx context.Context, v In) (any, error) {
		res, err := f(ctx, v)
		if err != nil {
			return failed(ctx, err)
		}
		return out.result(res)
	}
	if text, ok := any(f).(func(context.Context, In) (string, error)); ok && out.plain {
		// The most common kind of tool, without putting the text into an any first.
		run = func(ctx context.Context, v In) (any, error) {
			s, err := text(ctx, v)
			if err != nil {
				return failed(ctx, err)
			}
			return TextResult(s), nil
		}
	}
	name := t.Name
	b.add(&boxed{tool: t, call: func(ctx context.Context, a Arguments) (any, error) {
		var v In
		if err := in.decode(a.raw, &v); err != nil {
			return ErrorResult(fmt.Sprintf("Invalid arguments for tool %s: %v", name, err)), nil
		}
		return run(ctx, v)
	}})
}

// failed is the result of a tool that returned err.
func failed(ctx context.Context, err error) (any, error) {
	if protocol, ok := errors.AsType[*jsonrpc2.Error](err); ok {
		return nil, protocol
	}
	if ctx.Err() != nil {
		return nil, err
	}
	return ErrorResult(err.Error()), nil
}

// output turns what a tool returns into a result.
type output struct {
	schema *schema // nil: none to keep
	wrap   bool    // {"result": v}
	plain  bool    // not structured
}

func newOutput(t reflect.Type, given any) (output, error) {
	switch t {
	case reflect.TypeFor[*CallToolResult](), reflect.TypeFor[CallToolResult]():
		if given == nil {
			return output{}, nil
		}
		s, err := objectSchema(given)
		return output{schema: s}, err
	}
	if given != nil {
		s, err := objectSchema(given)
		return output{schema: s}, err
	}
	switch t {
	case reflect.TypeFor[string](), reflect.TypeFor[TextResult](), reflect.TypeFor[Content](), reflect.TypeFor[[]Content]():
		return output{plain: true}, nil
	case reflect.TypeFor[any](), reflect.TypeFor[json.RawMessage]():
		return output{}, nil
	}
	if t.Implements(reflect.TypeFor[Content]()) {
		return output{plain: true}, nil
	}
	if t.Kind() == reflect.Struct && t.NumField() == 0 {
		return output{plain: true}, nil // nothing to tell
	}
	s, _, err := inferSchema(t)
	if err != nil {
		return output{}, err
	}
	if s.source.Type == "object" {
		return output{schema: s}, nil
	}
	text := append([]byte(`{"type":"object","properties":{"result":`), s.text...)
	s, err = givenSchema(json.RawMessage(append(text, `},"required":["result"]}`...)))
	return output{schema: s, wrap: true}, err
}

func objectSchema(given any) (*schema, error) {
	s, err := givenSchema(given)
	if err == nil && s.source.Type != "object" {
		err = errNotObject
	}
	return s, err
}

// result makes the result of a call.
func (o output) result(v any) (any, error) {
	switch v := v.(type) {
	case nil:
		if o.schema == nil {
			return &CallToolResult{}, nil
		}
	case CallToolResult:
		return o.checked(&v)
	case *CallToolResult:
		if v == nil {
			v = &CallToolResult{}
		}
		return o.checked(v)
	case TextResult:
		if o.schema == nil {
			return v, nil
		}
	case string:
		if o.schema == nil {
			return TextResult(v), nil
		}
	case []Content:
		if o.schema == nil {
			return &CallToolResult{Content: v}, nil
		}
	case Content:
		if o.schema == nil {
			return &CallToolResult{Content: []Content{v}}, nil
		}
	}
	if o.plain {
		return &CallToolResult{}, nil
	}
	return o.structured(v)
}

func (o output) structured(v any) (any, error) {
	var text []byte
	if o.wrap {
		text = append(text, `{"result":`...)
	}
	text, err := appendValue(text, v)
	if err != nil {
		return nil, fmt.Errorf("mcp: result of type %T: %w", v, err)
	}
	if o.wrap {
		text = append(text, '}')
	}
	res := &CallToolResult{Content: []Content{Text(string(text))}}
	// Revisions with structured content want an object; anything else is text alone.
	if isObject(text) {
		res.StructuredContent = encoded(text)
	}
	return o.checked(res)
}

// checked holds a result against the schema that clients were shown.
func (o output) checked(res *CallToolResult) (any, error) {
	if o.schema == nil || res.IsError {
		return res, nil
	}
	if res.StructuredContent == nil {
		return nil, errors.New("mcp: the tool has an output schema and its result no structured content")
	}
	text, ok := res.StructuredContent.(encoded)
	if !ok {
		var err error
		if text, err = appendValue(nil, res.StructuredContent); err != nil {
			return nil, fmt.Errorf("mcp: structured content of type %T: %w", res.StructuredContent, err)
		}
	}
	if err := o.schema.validate(text, "structuredContent"); err != nil {
		return nil, fmt.Errorf("mcp: structured content does not fit the output schema: %w", err)
	}
	return res, nil
}
