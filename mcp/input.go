package mcp

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// input decodes and validates the arguments of a typed tool.
type input struct {
	schema *schema
	flat   []flatField // nil: not a flat struct
	need   uint64      // bits of flat that must be there

	defaults json.RawMessage // what v is before it is decoded into; nil: zero
	initial  reflect.Value   // that, for a flat struct
}

// flatField is a field that decodes without help: string, bool, integer or float.
type flatField struct {
	name  string
	index int
	kind  reflect.Kind
	check *node // for a field with more than its type to check
}

func newInput(t reflect.Type, given any) (in input, err error) {
	if given != nil {
		in.schema, err = givenSchema(given)
	} else if t == reflect.TypeFor[any]() || t == reflect.TypeFor[json.RawMessage]() {
		in.schema, err = givenSchema(emptyObjectSchema)
	} else {
		in.schema, in.defaults, err = inferSchema(t, true)
	}
	if err != nil {
		return in, err
	}
	if in.schema.source.Type != "object" {
		return in, errNotObject
	}
	if given == nil {
		in.flat, in.need = flatten(t, in.schema)
	}
	if in.defaults != nil {
		v := reflect.New(t)
		if err := jsonrpc2.DefaultCodec.Unmarshal(in.defaults, v.Interface()); err != nil {
			return in, fmt.Errorf("defaults: %w", err)
		}
		in.initial = v.Elem()
	}
	return in, nil
}

// reset makes v what it is before arguments are decoded into it.
func (in *input) reset(v any) {
	p := reflect.ValueOf(v).Elem()
	switch {
	case in.defaults == nil:
		p.SetZero()
	case in.flat != nil:
		p.Set(in.initial)
	default:
		p.SetZero()
		_ = jsonrpc2.DefaultCodec.Unmarshal(in.defaults, v) // it went well before; lists are new each time
	}
}

// decode fills v, a pointer to an In, from arguments that are valid JSON; none are {}.
func (in *input) decode(a Arguments, v any) error {
	if len(a.raw) == 0 {
		a.raw = emptyResult
	}
	raw := a.raw
	if in.defaults != nil {
		in.reset(v)
	}
	if in.flat != nil {
		if in.decodeFlat(a, reflect.ValueOf(v).Elem()) {
			return nil
		}
		in.reset(v)
	}
	if err := in.schema.validate(raw, "arguments"); err != nil {
		return err
	}
	err := jsonrpc2.DefaultCodec.Unmarshal(raw, v)
	if err != nil {
		// 3.0 and 3e0 are integers to a schema and not to a Go int: once more, with those written as 3.
		if again := wholeNumbers(raw); again != nil {
			in.reset(v)
			err = jsonrpc2.DefaultCodec.Unmarshal(again, v)
		}
	}
	if err != nil {
		// The schema is satisfied and the Go type is not: a number that does not fit, a type that decodes itself.
		return errors.New(strings.TrimPrefix(err.Error(), ": "))
	}
	return nil
}

// flatten returns the fields of a struct that has only simple ones and a closed schema; nil for any other.
func flatten(t reflect.Type, s *schema) (fields []flatField, need uint64) {
	if t.Kind() != reflect.Struct || s.fast == nil || len(s.fast.props) > maxProperties || implementsDecoding(t) {
		return nil, 0
	}
	fields = make([]flatField, 0, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		tag, ok := f.Tag.Lookup("json")
		if tag == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if !ok || name == "" {
			name = f.Name
		}
		if f.Anonymous || strings.Contains(options, "string") || implementsDecoding(f.Type) || knownTypes[f.Type] != nil {
			return nil, 0
		}
		switch k := f.Type.Kind(); k {
		case reflect.String, reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
			reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
			p := s.fast.find([]byte(name))
			if p < 0 {
				return nil, 0
			}
			var check *node
			if constrained(f) {
				check = s.fast.props[p].node
			}
			if s.fast.required>>p&1 != 0 {
				need |= 1 << len(fields)
			}
			fields = append(fields, flatField{name, i, k, check})
		default:
			return nil, 0
		}
	}
	if len(fields) != len(s.fast.props) {
		return nil, 0
	}
	return fields, need
}

func implementsDecoding(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// decodeFlat decodes and validates in one pass. It gives up, false, at whatever it is not sure of, and may have set fields by then.
func (in *input) decodeFlat(a Arguments, v reflect.Value) bool {
	var seen uint64
	raw := a.raw
	o := object{b: raw}
	for {
		name, start, ok := o.name()
		if !ok {
			break
		}
		i := 0
		for i < len(in.flat) && in.flat[i].name != string(name) {
			i++
		}
		if i == len(in.flat) || seen>>i&1 != 0 {
			return false
		}
		seen |= 1 << i
		if c := in.flat[i].check; c != nil {
			if _, ok := c.value(raw, start); !ok {
				return false
			}
		}
		if f := &in.flat[i]; f.kind == reflect.String && start < len(raw) && raw[start] == '"' {
			var text string
			text, o.i = a.readString(start)
			v.Field(f.index).SetString(text)
		} else {
			o.i = skipValue(raw, start)
			if !f.set(v, raw[start:o.i]) {
				return false
			}
		}
	}
	return isObject(raw) && seen&in.need == in.need
}

func (f *flatField) set(v reflect.Value, raw []byte) bool {
	if len(raw) == 0 {
		return false
	}
	field := v.Field(f.index)
	switch f.kind {
	case reflect.String:
		return false // strings are read by readString
	case reflect.Bool:
		if raw[0] != 't' && raw[0] != 'f' {
			return false
		}
		field.SetBool(raw[0] == 't')
	case reflect.Float32, reflect.Float64:
		if raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
			return false
		}
		n, err := strconv.ParseFloat(string(raw), 64)
		if err != nil || f.kind == reflect.Float32 && math.Abs(n) > math.MaxFloat32 {
			return false
		}
		field.SetFloat(n)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, err := strconv.ParseUint(string(raw), 10, 64)
		if err != nil || field.OverflowUint(n) || raw[0] == '+' {
			return false
		}
		field.SetUint(n)
	default:
		n, err := strconv.ParseInt(string(raw), 10, 64)
		if err != nil || field.OverflowInt(n) || raw[0] == '+' {
			return false
		}
		field.SetInt(n)
	}
	return true
}
