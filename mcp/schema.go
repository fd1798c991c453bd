package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// schema validates JSON. The compiled form says yes to nearly all that is valid, in well under a microsecond and without allocation; what it
// does not say yes to, and schemas it cannot express, go to jsonschema-go, whose verdict counts.
type schema struct {
	text     json.RawMessage // as it is sent
	source   *jsonschema.Schema
	anatomy  *anatomy
	fast     *node // nil: outside of what can be compiled
	resolved func() (*jsonschema.Resolved, error)
}

var (
	errNotObject = errors.New("the schema must have the type object")
	errExpensive = errors.New("it takes too many steps to hold the value against the schema")
)

// inferSchema makes the schema of a Go type, with what the tags of its fields add. defaults are the values of fields that may be absent, as the JSON
// of a value of the type; nil: there are none. input: it is that of arguments, which are members whatever the type makes of them.
func inferSchema(t reflect.Type, input bool) (s *schema, defaults json.RawMessage, err error) {
	source, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: ownTypes(t, input)})
	if err != nil {
		return nil, nil, err
	}
	for len(source.Types) == 2 && source.Types[0] == "null" && source.Types[1] == "object" { // a pointer to a struct
		source.Type, source.Types = "object", nil
	}
	if source.Type == "object" && source.Properties == nil {
		source.Properties = map[string]*jsonschema.Schema{} // some clients refuse a schema without
	}
	if defaults, err = applyTags(t, source); err != nil {
		return nil, nil, err
	}
	text, err := json.Marshal(source)
	if err != nil {
		return nil, nil, err
	}
	s, err = newSchema(source, text, &jsonschema.ResolveOptions{ValidateDefaults: true})
	return s, defaults, err
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
	if !isObject(bytes.TrimSpace(text)) {
		return nil, errors.New("a schema must be an object")
	}
	if len(text) > MaxSchemaSize {
		return nil, fmt.Errorf("the schema has %d bytes, more than %d", len(text), MaxSchemaSize)
	}
	if d := depth(text); d > MaxSchemaDepth {
		return nil, fmt.Errorf("the schema is nested %d deep, more than %d", d, MaxSchemaDepth)
	}
	s := new(jsonschema.Schema)
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return newSchema(s, bytes.Clone(bytes.TrimSpace(text)), nil)
}

// objectSchema is givenSchema for what must be the schema of objects.
func objectSchema(given any) (*schema, error) {
	s, err := givenSchema(given)
	if err == nil && s.source.Type != "object" {
		err = errNotObject
	}
	return s, err
}

func newSchema(s *jsonschema.Schema, text []byte, o *jsonschema.ResolveOptions) (*schema, error) {
	a, err := survey(s)
	if err != nil {
		return nil, err
	}
	// No Loader: a reference to elsewhere is an error and nothing is fetched.
	resolved := sync.OnceValues(func() (*jsonschema.Resolved, error) { return s.Resolve(o) })
	fast := compile(s)
	// What was inferred and can be compiled is resolved when the compiled form is not sure for the first time, which saves a program that starts half of the
	// work. Its patterns are known to be good; defaults are not.
	if fast == nil || o == nil || hasDefaults(s) {
		if _, err := resolved(); err != nil {
			return nil, fmt.Errorf("schema: %w", err)
		}
	}
	return &schema{text: text, source: s, anatomy: a, fast: fast, resolved: resolved}, nil
}

// hasDefaults reports whether a schema or one of its properties or items has a default. It is for schemas that compile.
func hasDefaults(s *jsonschema.Schema) bool {
	if s == nil {
		return false
	}
	for _, p := range s.Properties {
		if hasDefaults(p) {
			return true
		}
	}
	return s.Default != nil || hasDefaults(s.Items) || hasDefaults(s.AdditionalProperties)
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
func (s *schema) validate(raw []byte, what string) error {
	if s.fast.accepts(raw) {
		return nil
	}
	// The compiled form knows each member it has a schema for, and that it is there once. What judges otherwise sees the last of two.
	if at := memberTwice(raw); at != "" {
		return errors.New(at + ": the member is there twice")
	}
	return s.judge(raw, what)
}

// judge is validate without the compiled form.
func (s *schema) judge(raw []byte, what string) error {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return errors.New("a number is out of range") // all else was checked before
	}
	if !s.anatomy.affordable(s.source, v, len(raw)) {
		return errExpensive
	}
	resolved, err := s.resolved()
	if err != nil {
		return errors.New(what + ": the schema cannot be used")
	}
	if resolved.Validate(v) == nil {
		return nil
	}
	if reason := s.anatomy.explain(s.source, v, what); reason != "" {
		return errors.New(reason)
	}
	return errors.New(what + ": the value does not match the schema")
}
