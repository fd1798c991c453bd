package mcp

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// To infer a schema takes a few hundred microseconds in a process that has just begun, for each tool, and no client waits for the schemas before it has
// asked for the list. So they are made when somebody needs them, of types that are known to have one: what is wrong with a type is still found when
// its tool is added.

// toolTypes are what the types of a tool's function come to.
type toolTypes struct {
	in    func() *input
	out   func() *output
	text  bool    // the result is not structured
	known *schema // of the input; nil: it has not been made, and has no annotations
	shown shownTypes
}

// shownTypes are schemas that are not in a Tool yet.
type shownTypes struct{ in, out func() any }

func (s *shownTypes) into(t *Tool) {
	if s.in != nil {
		t.InputSchema = s.in()
	}
	if s.out != nil {
		t.OutputSchema = s.out()
	}
}

// typesOf holds the types of a function against what a tool says of them. The schemas that are made are put into t.
func typesOf[In, Out any](t *Tool) (*toolTypes, error) {
	tt := new(toolTypes)
	if err := tt.takes(reflect.TypeFor[In](), t); err != nil {
		return nil, fmt.Errorf("mcp: input of tool %q: %w", clip(t.Name), err)
	}
	if err := tt.returns(reflect.TypeFor[Out](), t); err != nil {
		return nil, fmt.Errorf("mcp: output of tool %q: %w", clip(t.Name), err)
	}
	return tt, nil
}

func (tt *toolTypes) takes(in reflect.Type, t *Tool) error {
	if t.InputSchema == nil && holdsMembers(in) && inferable(in) {
		tt.in = sync.OnceValue(func() *input {
			made, err := newInput(in, nil)
			mustHold(in, err)
			return &made
		})
		tt.shown.in = func() any { return tt.in().schema.text }
		return nil
	}
	made, err := newInput(in, t.InputSchema)
	if err != nil {
		return err
	}
	tt.in, tt.known, t.InputSchema = func() *input { return &made }, made.schema, made.schema.text
	return nil
}

func (tt *toolTypes) returns(out reflect.Type, t *Tool) error {
	if _, fixed := fixedOutput(out); t.OutputSchema == nil && !fixed && inferable(out) {
		tt.out = sync.OnceValue(func() *output {
			made, err := newOutput(out, nil)
			mustHold(out, err)
			return &made
		})
		tt.shown.out = func() any { return tt.out().shown() }
		return nil
	}
	made, err := newOutput(out, t.OutputSchema)
	if err != nil {
		return err
	}
	tt.out, tt.text, t.OutputSchema = func() *output { return &made }, made.plain, made.shown()
	return nil
}

// mustHold panics if inferable has promised what is not so.
func mustHold(t reflect.Type, err error) {
	if err != nil {
		panic(fmt.Sprintf("mcp: schema of type %v: %v", t, err))
	}
}

// holdsMembers reports whether values of a type are certain to be objects in JSON.
func holdsMembers(t reflect.Type) bool {
	return t.Kind() == reflect.Map || t.Kind() == reflect.Struct && !implementsDecoding(t)
}

// Types that are larger are inferred at once, which finds out whether they are too large.
const (
	maxLaterDepth  = 12
	maxLaterFields = 100
	maxLaterTags   = 16 << 10
)

// inferable reports whether inferSchema is certain to make a schema of a type: one without annotations that are told when a tool is added, and without
// anything that could be wrong with it. It takes a few microseconds, and says no where it would take more to know.
func inferable(t reflect.Type) bool {
	w := inference{fields: maxLaterFields, tags: maxLaterTags}
	return w.certain(t, maxLaterDepth)
}

// inference is one look at a type, and what may be looked at still.
type inference struct {
	fields, tags int
	probe        *jsonschema.Schema
}

func (w *inference) certain(t reflect.Type, depth int) bool {
	if depth == 0 { // it may be recursive
		return false
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return w.certain(t.Elem(), depth-1)
	case reflect.Map:
		return t.Key().Kind() == reflect.String && w.certain(t.Elem(), depth-1)
	case reflect.Struct:
		return t == reflect.TypeFor[time.Time]() || w.certainFields(t, depth)
	}
	return basicType(t.Kind()) != "" || t == reflect.TypeFor[any]()
}

// basicType is the type of a kind of values in JSON, "" for kinds that do not always have the same, or whose schema says more.
func basicType(k reflect.Kind) string {
	switch {
	case k == reflect.String:
		return "string"
	case k == reflect.Bool:
		return "boolean"
	case reflect.Int <= k && k <= reflect.Uint64:
		return "integer"
	case k == reflect.Float32 || k == reflect.Float64:
		return "number"
	}
	return ""
}

// certainFields looks at the fields of a struct, and at those of structs that are embedded in it: they are members like others.
func (w *inference) certainFields(t reflect.Type, depth int) bool {
	var names []string
	return w.certainMembers(t, depth, &names)
}

func (w *inference) certainMembers(t reflect.Type, depth int, names *[]string) bool {
	n := t.NumField()
	if w.fields -= n; w.fields < 0 || depth == 0 {
		return false
	}
	for i := range n {
		f := t.Field(i)
		if f.Anonymous {
			if f.Type.Kind() != reflect.Struct || f.Tag != "" || implementsDecoding(f.Type) || !w.certainMembers(f.Type, depth-1, names) {
				return false
			}
			continue
		}
		name, ok := fieldName(f)
		if !ok {
			continue
		}
		if w.tags -= len(f.Tag); w.tags < 0 || slices.Contains(*names, name) || !w.certainTags(f) || !w.certain(f.Type, depth-1) {
			return false
		}
		*names = append(*names, name)
	}
	return true
}

// certainTags reports whether the tags of a field are nothing but good. What a tag says about a list, and defaults and patterns, are not looked at here.
func (w *inference) certainTags(f reflect.StructField) bool {
	description, described := f.Tag.Lookup("jsonschema")
	if described {
		if end := strings.IndexAny(description, "= \t\n"); description == "" || end >= 0 && description[end] == '=' {
			return false
		}
	}
	if _, ok := f.Tag.Lookup(tagDefault); ok {
		return false
	}
	if !constrained(f) {
		return true
	}
	kind := basicType(f.Type.Kind())
	if kind == "" || knownTypes[f.Type] != nil || madeBy(f.Type) != nil || writtenAsText(f) {
		return false
	}
	if w.probe == nil {
		w.probe = new(jsonschema.Schema)
	}
	*w.probe = jsonschema.Schema{Type: kind}
	return applyField(f, w.probe) == nil && w.probe.Pattern == "" && w.probe.Extra == nil
}
