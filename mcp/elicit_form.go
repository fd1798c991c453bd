package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// blank is a form to fill in.
type blank struct {
	text   []byte // requestedSchema
	schema *schema
	multi  bool // there is a choice of several in it

	defaults json.RawMessage // of fields that may be left empty; nil: none
}

// newBlank makes a form of a schema that the program gave.
func newBlank(given any) (*blank, error) {
	if given == nil {
		given = emptyObjectSchema
	}
	s, err := givenSchema(given)
	if err == nil && s.source.Type != "object" {
		err = errNotObject
	}
	if err != nil {
		return nil, fmt.Errorf("mcp: form: %w", err)
	}
	b := &blank{text: s.text, schema: s}
	for name, p := range s.source.Properties {
		switch kind := plainType(p); {
		case kind == "array" && p.Items != nil && (p.Items.Enum != nil || p.Items.AnyOf != nil):
			b.multi = true
		case !slices.Contains([]string{"string", "number", "integer", "boolean"}, kind):
			return nil, fmt.Errorf("mcp: form: the property %q must be a string, a number, a boolean, or a choice", name)
		}
	}
	return b, nil
}

// plainType is the type of a property, "" if it has none or several.
func plainType(s *jsonschema.Schema) string {
	if s == nil {
		return ""
	}
	types := slices.DeleteFunc(append(slices.Clone(s.Types), s.Type), func(t string) bool { return t == "" || t == "null" })
	if len(types) != 1 {
		return ""
	}
	return types[0]
}

var blanks sync.Map // reflect.Type to *blankType

type blankType struct {
	once sync.Once
	b    *blank
	err  error
}

func blankOf[T any]() (*blank, error) {
	t := reflect.TypeFor[T]()
	v, ok := blanks.Load(t)
	if !ok {
		v, _ = blanks.LoadOrStore(t, new(blankType))
	}
	bt := v.(*blankType)
	bt.once.Do(func() { bt.b, bt.err = inferBlank(t) })
	return bt.b, bt.err
}

// inferBlank makes a form of a struct: what clients are shown is the part of its schema that forms can have, what they answer is held against all of it.
func inferBlank(t reflect.Type) (*blank, error) {
	full, defaults, err := inferSchema(t, true)
	if err != nil {
		return nil, fmt.Errorf("mcp: form of type %v: %w", t, err)
	}
	if full.source.Type != "object" || t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("mcp: form of type %v: want a struct", t)
	}
	shown := &jsonschema.Schema{Type: "object", Required: full.source.Required, PropertyOrder: full.source.PropertyOrder, Properties: map[string]*jsonschema.Schema{}}
	for name, p := range full.source.Properties {
		shown.Properties[name] = shownProperty(p)
	}
	text, err := json.Marshal(shown)
	if err != nil {
		return nil, fmt.Errorf("mcp: form of type %v: %w", t, err)
	}
	b, err := newBlank(json.RawMessage(text))
	if err != nil {
		return nil, fmt.Errorf("%w (of type %v)", err, t)
	}
	b.defaults = defaults
	open := *full.source
	open.AdditionalProperties = nil // what a client adds is of no account
	whole, err := json.Marshal(&open)
	if err != nil {
		return nil, err
	}
	b.schema, err = givenSchema(json.RawMessage(whole))
	return b, err
}

// shownProperty is p with only what a PrimitiveSchemaDefinition has.
func shownProperty(p *jsonschema.Schema) *jsonschema.Schema {
	out := &jsonschema.Schema{Type: plainType(p), Title: p.Title, Description: p.Description, Default: p.Default}
	switch out.Type {
	case "string":
		out.MinLength, out.MaxLength, out.Enum, out.OneOf = p.MinLength, p.MaxLength, p.Enum, p.OneOf
		if slices.Contains([]string{"email", "uri", "date", "date-time"}, p.Format) {
			out.Format = p.Format
		}
		if out.Enum != nil || out.OneOf != nil {
			out.MinLength, out.MaxLength, out.Format = nil, nil, ""
		}
	case "integer", "number":
		out.Minimum, out.Maximum = p.Minimum, p.Maximum
	case "array":
		out.Items, out.MinItems, out.MaxItems = p.Items, p.MinItems, p.MaxItems
	}
	return out
}

func (b *blank) question(message string, err error, o []AskOption) *Question {
	if err != nil {
		return newQuestion(methodElicit, "elicit", 0, nil, err, o)
	}
	write := func(mode string, schema []byte) []byte {
		p := append([]byte{'{'}, mode...)
		p = appendString(append(p, `"message":`...), message)
		p = append(append(p, `,"requestedSchema":`...), schema...)
		return append(p, '}')
	}
	q := newQuestion(methodElicit, "elicit", need(KindForm), write(`"mode":"form",`, bytes.TrimSpace(b.text)), nil, o)
	q.schema, q.several, q.defaults = b.schema, b.multi, b.defaults
	q.fit = func(r revision) []byte {
		if r.richForms() {
			return q.text
		}
		return write("", r.form(b.text))
	}
	return q
}

// plainForm rewrites a form for the first revision that had them: titled choices in its words, defaults only of booleans.
func plainForm(text []byte) []byte {
	var out []byte
	comma := byte('{')
	for o := (object{b: text}); ; {
		name, value, ok := o.next()
		if !ok {
			break
		}
		if sameName(name, "$schema") {
			continue
		}
		out = appendMember(out, &comma, name)
		if !sameName(name, "properties") || !isObject(value) {
			out = append(out, value...)
			continue
		}
		inner := byte('{')
		for p := (object{b: value}); ; {
			name, property, ok := p.next()
			if !ok {
				break
			}
			out = appendMember(out, &inner, name)
			out = appendPlainProperty(out, property)
		}
		out = closeObject(out, inner)
	}
	return closeObject(out, comma)
}

func appendMember(dst []byte, comma *byte, name []byte) []byte {
	dst = append(dst, *comma)
	*comma = ','
	return append(append(append(dst, '"'), name...), '"', ':')
}

func closeObject(dst []byte, comma byte) []byte {
	if comma == '{' {
		dst = append(dst, '{')
	}
	return append(dst, '}')
}

func appendPlainProperty(dst, property []byte) []byte {
	var v [1][]byte
	pick(property, []string{"type"}, v[:])
	kind, _ := stringValue(v[0])
	comma := byte('{')
	for o := (object{b: property}); ; {
		name, value, ok := o.next()
		switch {
		case !ok:
			return closeObject(dst, comma)
		case sameName(name, "default") && kind != "boolean":
		case sameName(name, "oneOf"):
			var choices []struct{ Const, Title string }
			if json.Unmarshal(value, &choices) != nil {
				continue
			}
			values, titles := []byte{}, []byte{}
			for i, c := range choices {
				if i > 0 {
					values, titles = append(values, ','), append(titles, ',')
				}
				values, titles = appendString(values, c.Const), appendString(titles, c.Title)
			}
			dst = append(append(append(appendMember(dst, &comma, []byte("enum")), '['), values...), ']')
			dst = append(append(append(appendMember(dst, &comma, []byte("enumNames")), '['), titles...), ']')
		default:
			dst = append(appendMember(dst, &comma, name), value...)
		}
	}
}
