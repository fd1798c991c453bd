package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// output turns what a tool returns into a result.
type output struct {
	schema  *schema // nil: none to keep
	wrapped *schema // what is shown instead where structured content must be an object: {"result": v}. nil: the same
	hidden  bool    // nothing is shown there
	plain   bool    // not structured
}

// outputSchema is the schema of a tool's output where it is not the same in all revisions.
type outputSchema struct {
	any     json.RawMessage
	wrapped json.RawMessage // nil: there is none
}

// MarshalJSON returns what revisions with initialize are shown.
func (s outputSchema) MarshalJSON() ([]byte, error) {
	if s.wrapped == nil {
		return []byte("null"), nil
	}
	return s.wrapped, nil
}

// of returns what a revision is shown, nil for nothing.
func (s outputSchema) of(r revision) any {
	switch {
	case r.anyStructured():
		return s.any
	case s.wrapped != nil:
		return s.wrapped
	}
	return nil
}

func newOutput(t reflect.Type, given any) (output, error) {
	if given != nil {
		return givenOutput(given)
	}
	if out, ok := fixedOutput(t); ok {
		return out, nil
	}
	s, _, err := inferSchema(t, false)
	if err != nil {
		return output{}, err
	}
	return wrapOutput(s)
}

// fixedOutput is that of types that are no structured content.
func fixedOutput(t reflect.Type) (out output, ok bool) {
	switch t {
	case reflect.TypeFor[*CallToolResult](), reflect.TypeFor[CallToolResult]():
		return output{}, true
	case reflect.TypeFor[string](), reflect.TypeFor[TextResult](), reflect.TypeFor[Content](), reflect.TypeFor[[]Content]():
		return output{plain: true}, true
	case reflect.TypeFor[any](), reflect.TypeFor[json.RawMessage](), reflect.TypeFor[*InputRequired]():
		return output{}, true
	}
	// Of a struct without fields there is nothing to tell.
	plain := t.Implements(reflect.TypeFor[Content]()) || t.Kind() == reflect.Struct && t.NumField() == 0
	return output{plain: plain}, plain
}

func givenOutput(given any) (output, error) {
	s, err := givenSchema(given)
	if err != nil {
		return output{}, err
	}
	return wrapOutput(s)
}

// wrapOutput finds the form of a schema for revisions whose structured content is an object.
func wrapOutput(s *schema) (output, error) {
	if s.source.Type == "object" {
		return output{schema: s}, nil
	}
	if len(s.anatomy.refs) > 0 || s.source.ID != "" || strings.Contains(s.source.Schema, "draft-07") {
		return output{schema: s, hidden: true}, nil // its references would lead elsewhere
	}
	text := append([]byte(`{"type":"object","properties":{"result":`), s.text...)
	wrapped, err := givenSchema(json.RawMessage(append(text, `},"required":["result"]}`...)))
	return output{schema: s, wrapped: wrapped}, err
}

// shown is the OutputSchema of the tool.
func (o output) shown() any {
	switch {
	case o.schema == nil:
		return nil
	case o.wrapped != nil:
		return outputSchema{any: o.schema.text, wrapped: o.wrapped.text}
	case o.hidden:
		return outputSchema{any: o.schema.text}
	}
	return o.schema.text
}

// result makes the result of a call.
func (o output) result(ctx context.Context, v any) (any, error) {
	switch v := v.(type) {
	case nil:
		if o.schema == nil {
			return &CallToolResult{}, nil
		}
	case CallToolResult:
		return o.checked(ctx, &v)
	case *CallToolResult:
		if v == nil {
			v = &CallToolResult{}
		}
		return o.checked(ctx, v)
	case resultTyper:
		return v, nil
	case *InputRequired: // it asks, and is called again
		return v, nil
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
	return o.structured(ctx, v)
}

func (o output) structured(ctx context.Context, v any) (any, error) {
	text, err := appendValue(nil, v)
	if err != nil {
		return nil, fmt.Errorf("mcp: result of type %T: %w", v, err)
	}
	if string(text) == "null" && o.schema != nil && o.schema.source.Type == "object" && reflect.TypeOf(v).Kind() == reflect.Map {
		text = []byte("{}") // a nil map has no members
	}
	if err := o.check(text); err != nil {
		return nil, err
	}
	return o.deliver(ctx, &CallToolResult{}, text), nil
}

// deliver puts structured content into a result, in the form the revision of the request knows, and as text if there is no other content.
func (o output) deliver(ctx context.Context, res *CallToolResult, text []byte) *CallToolResult {
	whole := callFrom(ctx).revision().anyStructured()
	if o.wrapped != nil && !whole {
		text = append(append([]byte(`{"result":`), text...), '}')
	}
	if len(res.Content) == 0 {
		res.Content = []Content{Text(string(text))}
	}
	if whole || isObject(text) {
		res.StructuredContent = encoded(text)
	} else {
		res.StructuredContent = nil // it is text alone
	}
	return res
}

// checked holds a result that the tool made itself against the schema that clients were shown.
func (o output) checked(ctx context.Context, res *CallToolResult) (any, error) {
	if res.IsError && res.StructuredContent != nil {
		out := *res
		out.StructuredContent = nil // the schema is not about errors
		return &out, nil
	}
	if o.schema == nil || res.IsError {
		return res, nil
	}
	if res.StructuredContent == nil {
		return nil, errors.New("mcp: the tool has an output schema and its result no structured content")
	}
	text, err := appendValue(nil, res.StructuredContent)
	if err != nil {
		return nil, fmt.Errorf("mcp: structured content of type %T: %w", res.StructuredContent, err)
	}
	if err := o.check(text); err != nil {
		return nil, err
	}
	if len(res.Content) > 0 && isObject(text) {
		return res, nil
	}
	out := *res
	return o.deliver(ctx, &out, text), nil
}

func (o output) check(text []byte) error {
	if o.schema == nil {
		return nil
	}
	if err := o.schema.validate(text, "structuredContent"); err != nil {
		return fmt.Errorf("mcp: structured content does not fit the output schema: %w", err)
	}
	return nil
}
