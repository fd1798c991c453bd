package mcp

import (
	"encoding"
	"encoding/json"
	"log/slog"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// knownTypes are types whose JSON is not what their kind says.
var knownTypes = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[json.RawMessage](): {},
	reflect.TypeFor[[]byte]():          {Types: []string{"null", "string"}, ContentEncoding: "base64"},
	reflect.TypeFor[json.Number]():     {Type: "number"},
	reflect.TypeFor[big.Int]():         {Type: "integer"},
	reflect.TypeFor[time.Duration]():   {Type: "string"}, // "1m30s", for models and people
}

// theirTypes are those of jsonschema-go, which are right.
var theirTypes = []reflect.Type{reflect.TypeFor[time.Time](), reflect.TypeFor[slog.Level](), reflect.TypeFor[big.Rat](), reflect.TypeFor[big.Float]()}

var (
	jsonMarshaler   = reflect.TypeFor[json.Marshaler]()
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textMarshaler   = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// ownTypes finds the types within t that make their own JSON. What makes its own text is a string, an enumeration as well as an address; what makes its own
// JSON can be anything, but t itself if it is given by members.
func ownTypes(t reflect.Type, members bool) map[reflect.Type]*jsonschema.Schema {
	found := finder{seen: make(map[reflect.Type]bool)}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if members {
		found.members = t
	}
	found.look(t)
	if found.own == nil && found.maps == nil {
		return knownTypes
	}
	all := maps.Clone(knownTypes)
	maps.Copy(all, found.own)
	for _, t := range found.maps {
		if s, err := jsonschema.ForType(t.Elem(), &jsonschema.ForOptions{TypeSchemas: all}); err == nil {
			all[t] = &jsonschema.Schema{Type: "object", AdditionalProperties: s}
		}
	}
	return all
}

type finder struct {
	seen    map[reflect.Type]bool
	own     map[reflect.Type]*jsonschema.Schema
	members reflect.Type   // has them whatever it makes
	maps    []reflect.Type // with numbers for keys, which are written as text; those inside come first
}

func (f *finder) look(t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.PkgPath() == "" && t.Kind() != reflect.Struct && t.Kind() != reflect.Map && t.Kind() != reflect.Slice && t.Kind() != reflect.Array {
		return // string, int and the like
	}
	if f.seen[t] || knownTypes[t] != nil || slices.Contains(theirTypes, t) {
		return
	}
	f.seen[t] = true
	if s := madeBy(t); s != nil && t != f.members {
		if f.own == nil {
			f.own = make(map[reflect.Type]*jsonschema.Schema)
		}
		f.own[t] = s
		return
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		f.look(t.Elem())
	case reflect.Map:
		f.look(t.Elem())
		if k := t.Key().Kind(); reflect.Int <= k && k <= reflect.Uintptr && madeBy(t.Key()) == nil {
			f.maps = append(f.maps, t)
		}
	case reflect.Struct:
		for i := range t.NumField() {
			if x := t.Field(i); (x.IsExported() || x.Anonymous) && x.Tag.Get("json") != "-" {
				f.look(x.Type)
			}
		}
	}
}

// madeBy is the schema of a type that makes its own JSON, nil for others.
func madeBy(t reflect.Type) *jsonschema.Schema {
	if t.Kind() == reflect.Interface || t.PkgPath() == "" {
		return nil
	}
	p := reflect.PointerTo(t)
	switch {
	case p.NumMethod() == 0:
		return nil
	case p.Implements(jsonMarshaler) || p.Implements(jsonUnmarshaler):
		return &jsonschema.Schema{}
	case p.Implements(textMarshaler) || p.Implements(textUnmarshaler):
		return &jsonschema.Schema{Type: "string"}
	}
	return nil
}

// asWritten makes of the schema of a field what is written for it: a map that is nil is null, as a slice is, and with the option string numbers and booleans
// are text.
func asWritten(f reflect.StructField, p *jsonschema.Schema) {
	nullable(f.Type, p)
	if !writtenAsText(f) {
		return
	}
	t := f.Type
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if k := t.Kind(); k == reflect.Bool || reflect.Int <= k && k <= reflect.Float64 {
		*p = jsonschema.Schema{Type: "string", Description: p.Description}
		if f.Type.Kind() == reflect.Pointer {
			p.Type, p.Types = "", []string{"null", "string"}
		}
	}
}

func writtenAsText(f reflect.StructField) bool {
	_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	return slices.Contains(strings.Split(options, ","), "string")
}

// nullable lets a map be null.
func nullable(t reflect.Type, p *jsonschema.Schema) {
	if t.Kind() == reflect.Map && p.Type == "object" {
		p.Type, p.Types = "", []string{"null", "object"}
	}
}
