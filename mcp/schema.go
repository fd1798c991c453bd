package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
)

// MaxSchemaDepth bounds how deep a schema given by the program may be nested.
const MaxSchemaDepth = 64

// schema validates JSON. The compiled form says yes to nearly all that is valid, in well under a microsecond and without allocation; what it
// does not say yes to, and schemas it cannot express, go to jsonschema-go, whose verdict counts.
type schema struct {
	text     json.RawMessage // as it is sent
	source   *jsonschema.Schema
	fast     *node // nil: outside of what can be compiled
	resolved *jsonschema.Resolved
}

var errNotObject = errors.New("the schema must have the type object")

// inferSchema makes the schema of a Go type.
func inferSchema(t reflect.Type) (*schema, error) {
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {},
		reflect.TypeFor[[]byte]():          {Types: []string{"null", "string"}, ContentEncoding: "base64"},
	}})
	if err != nil {
		return nil, err
	}
	for len(s.Types) == 2 && s.Types[0] == "null" && s.Types[1] == "object" { // a pointer to a struct
		s.Type, s.Types = "object", nil
	}
	if s.Type == "object" && s.Properties == nil {
		s.Properties = map[string]*jsonschema.Schema{} // some clients refuse a schema without
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return newSchema(s, text)
}

// givenSchema makes a schema of what a program gave: raw JSON, a *jsonschema.Schema, or anything that encodes as a schema.
func givenSchema(v any) (*schema, error) {
	var text []byte
	switch v := v.(type) {
	case json.RawMessage:
		text = v
	case []byte:
		text = v
	default:
		b, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("schema of type %T: %w", v, err)
		}
		text = b
	}
	if d := depth(text); d > MaxSchemaDepth {
		return nil, fmt.Errorf("the schema is nested %d deep, more than %d", d, MaxSchemaDepth)
	}
	s := new(jsonschema.Schema)
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return newSchema(s, bytes.Clone(text))
}

func newSchema(s *jsonschema.Schema, text []byte) (*schema, error) {
	// No Loader: a reference to elsewhere is an error and nothing is fetched.
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return &schema{text: text, source: s, fast: compile(s), resolved: resolved}, nil
}

// depth returns how deep JSON text is nested, without recursion.
func depth(text []byte) int {
	deepest, now := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = skipString(text, i) - 1
		case '{', '[':
			now++
			deepest = max(deepest, now)
		case '}', ']':
			now--
		}
	}
	return deepest
}

// validate checks a value, valid JSON of bounded depth. The error names path and reason in words that hold nothing of the value but names of
// members, quoted.
func (s *schema) validate(raw []byte) error {
	if s.fast.accepts(raw) {
		return nil
	}
	return s.judge(raw)
}

// judge is validate without the compiled form.
func (s *schema) judge(raw []byte) error {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return errors.New("a number is out of range") // all else was checked before
	}
	if s.resolved.Validate(v) == nil {
		return nil
	}
	if reason := explain(s.source, v, ""); reason != "" {
		return errors.New(reason)
	}
	return errors.New("the value does not match the schema")
}
