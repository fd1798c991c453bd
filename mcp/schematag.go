package mcp

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// The tags of a struct field that say more about its schema than the type does. jsonschema:"..." is jsonschema-go's.
const (
	tagHeader  = "x-mcp-header"
	tagDefault = "default"
)

// keyword puts the value of a tag into a schema.
type keyword struct {
	tag  string
	of   valueKind // what it says something about
	into func(s *jsonschema.Schema, value string) error
}

type valueKind uint8

const (
	anyKind valueKind = iota
	textKind
	numberKind
	listKind
	mapKind
	enumKind // text or numbers
)

var kindNames = [...]string{textKind: "text", numberKind: "numbers", listKind: "lists", mapKind: "maps", enumKind: "text and numbers"}

var keywords = []keyword{
	{"title", anyKind, func(s *jsonschema.Schema, v string) error { s.Title = v; return nil }},
	{"enum", enumKind, setEnum},
	{"minimum", numberKind, number(func(s *jsonschema.Schema) **float64 { return &s.Minimum })},
	{"maximum", numberKind, number(func(s *jsonschema.Schema) **float64 { return &s.Maximum })},
	{"exclusiveMinimum", numberKind, number(func(s *jsonschema.Schema) **float64 { return &s.ExclusiveMinimum })},
	{"exclusiveMaximum", numberKind, number(func(s *jsonschema.Schema) **float64 { return &s.ExclusiveMaximum })},
	{"multipleOf", numberKind, number(func(s *jsonschema.Schema) **float64 { return &s.MultipleOf })},
	{"minLength", textKind, count(func(s *jsonschema.Schema) **int { return &s.MinLength })},
	{"maxLength", textKind, count(func(s *jsonschema.Schema) **int { return &s.MaxLength })},
	{"pattern", textKind, func(s *jsonschema.Schema, v string) error { s.Pattern = v; return nil }},
	{"format", textKind, func(s *jsonschema.Schema, v string) error { s.Format = v; return nil }},
	{"minItems", listKind, count(func(s *jsonschema.Schema) **int { return &s.MinItems })},
	{"maxItems", listKind, count(func(s *jsonschema.Schema) **int { return &s.MaxItems })},
	{"uniqueItems", listKind, func(s *jsonschema.Schema, v string) (err error) {
		s.UniqueItems, err = strconv.ParseBool(v)
		return err
	}},
	{"minProperties", mapKind, count(func(s *jsonschema.Schema) **int { return &s.MinProperties })},
	{"maxProperties", mapKind, count(func(s *jsonschema.Schema) **int { return &s.MaxProperties })},
	{tagHeader, anyKind, func(s *jsonschema.Schema, v string) error { s.Extra = map[string]any{tagHeader: v}; return nil }},
}

func number(field func(*jsonschema.Schema) **float64) func(*jsonschema.Schema, string) error {
	return func(s *jsonschema.Schema, v string) error {
		f, err := strconv.ParseFloat(v, 64)
		if err != nil || f-f != 0 {
			return fmt.Errorf("%q is no number", v)
		}
		*field(s) = &f
		return nil
	}
}

func count(field func(*jsonschema.Schema) **int) func(*jsonschema.Schema, string) error {
	return func(s *jsonschema.Schema, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 {
			return fmt.Errorf("%q is no count", v)
		}
		*field(s) = &n
		return nil
	}
}

// setEnum: the values stand between commas. null is one where the type allows it.
func setEnum(s *jsonschema.Schema, list string) error {
	s.Enum = []any{}
	for v := range strings.SplitSeq(list, ",") {
		if isType(s, "string") {
			s.Enum = append(s.Enum, v)
			continue
		}
		var n float64
		if err := json.Unmarshal([]byte(v), &n); err != nil {
			return fmt.Errorf("%q is no number", v)
		}
		s.Enum = append(s.Enum, n)
	}
	if isType(s, "null") {
		s.Enum = append(s.Enum, nil)
	}
	return nil
}

func isType(s *jsonschema.Schema, t string) bool { return s.Type == t || slices.Contains(s.Types, t) }

func (k valueKind) fits(s *jsonschema.Schema) bool {
	isNumber := isType(s, "integer") || isType(s, "number")
	switch k {
	case textKind:
		return isType(s, "string")
	case numberKind:
		return isNumber
	case enumKind:
		return isNumber || isType(s, "string")
	case listKind:
		return isType(s, "array")
	case mapKind:
		return isType(s, "object") && s.Properties == nil
	}
	return true
}

// applyTags adds to the schema of a type what the tags of its fields say, those of fields of fields included, and returns the defaults.
func applyTags(t reflect.Type, s *jsonschema.Schema) (defaults json.RawMessage, err error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		if s.Items != nil {
			nullable(t.Elem(), s.Items)
			_, err = applyTags(t.Elem(), s.Items)
		}
		return nil, err
	case reflect.Map:
		if s.AdditionalProperties != nil {
			nullable(t.Elem(), s.AdditionalProperties)
			_, err = applyTags(t.Elem(), s.AdditionalProperties)
		}
		return nil, err
	case reflect.Struct:
	default:
		return nil, nil
	}
	var members []byte
	for _, f := range reflect.VisibleFields(t) {
		name, ok := fieldName(f)
		p := s.Properties[name]
		if !ok || f.Anonymous || p == nil {
			continue
		}
		asWritten(f, p)
		value, err := applyTags(f.Type, p)
		if err != nil {
			return nil, err
		}
		if f.Type.Kind() != reflect.Struct {
			value = nil // what is behind a pointer, or in a list, is there only if it was sent
		}
		if err := applyField(f, p); err != nil {
			return nil, fmt.Errorf("field %s of %s: %w", f.Name, t, err)
		}
		if p.Default != nil {
			value = p.Default
			s.Required = slices.DeleteFunc(s.Required, func(r string) bool { return r == name })
		}
		if value != nil {
			members = append(append(appendString(append(members, ','), name), ':'), value...)
		}
	}
	if members == nil {
		return nil, nil
	}
	members[0] = '{'
	return append(members, '}'), nil
}

func applyField(f reflect.StructField, p *jsonschema.Schema) error {
	for _, k := range keywords {
		v, ok := f.Tag.Lookup(k.tag)
		if !ok {
			continue
		}
		at := p
		for (k.of == textKind || k.of == numberKind || k.of == enumKind) && !k.of.fits(at) && at.Items != nil {
			at = at.Items // what is said of text and numbers on a list is said of its items
		}
		if !k.of.fits(at) {
			return fmt.Errorf("the tag %s is for %s", k.tag, kindNames[k.of])
		}
		if err := k.into(at, v); err != nil {
			return fmt.Errorf("tag %s: %w", k.tag, err)
		}
	}
	v, ok := f.Tag.Lookup(tagDefault)
	if !ok {
		return nil
	}
	t := f.Type
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Map || t.Kind() == reflect.Interface || t.Kind() == reflect.Struct && !isType(p, "string") {
		return fmt.Errorf("the tag %s is for text, numbers, booleans and lists of them", tagDefault)
	}
	if isType(p, "string") {
		p.Default = appendString(nil, v)
	} else if p.Default = json.RawMessage(v); !json.Valid(p.Default) {
		return fmt.Errorf("tag %s: not JSON", tagDefault)
	}
	return nil
}

// constrained reports whether a field has a tag that its schema has to be asked for.
func constrained(f reflect.StructField) bool {
	for _, k := range keywords {
		if _, ok := f.Tag.Lookup(k.tag); ok {
			return true
		}
	}
	return false
}

// fieldName returns the name of a field in JSON, false if it has none.
func fieldName(f reflect.StructField) (string, bool) {
	tag := f.Tag.Get("json")
	if tag == "-" || !f.IsExported() && !f.Anonymous {
		return "", false
	}
	if name, _, _ := strings.Cut(tag, ","); name != "" {
		return name, true
	}
	return f.Name, true
}
