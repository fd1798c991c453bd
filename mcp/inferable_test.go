package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

type (
	city struct {
		Name  string         `json:"name" jsonschema:"of the city" minLength:"1"`
		Unit  string         `json:"unit,omitempty" enum:"C,F"`
		Days  int            `json:"days" minimum:"1" maximum:"14"`
		Near  []*place3      `json:"near,omitempty"`
		More  map[string]any `json:"more,omitempty"`
		Since time.Time      `json:"since"`
	}
	place3 struct {
		At [2]float64      `json:"-"`
		X  float32         `json:"x"`
		It json.RawMessage `json:"it"`
	}
	// Point is exported because reflect.StructOf embeds nothing else.
	Point struct {
		A *int   `json:"a,omitempty" minimum:"0"`
		N string `json:"n0" enum:"x,y"`
	}
	recursive struct {
		Next *recursive `json:"next"`
	}
	embedding struct {
		place3
		Y int `json:"y"`
	}
	embeddingTwice struct {
		place3
		X int `json:"x"`
	}
	embeddingPointer struct{ *place3 }
	embeddingTime    struct{ time.Time }
	embeddingTagged  struct {
		place3 `json:"p"`
	}
)

func TestInferable(t *testing.T) {
	for _, c := range []struct {
		name string
		t    reflect.Type
		want bool
	}{
		{"fields of all kinds", reflect.TypeFor[city](), true},
		{"pointer", reflect.TypeFor[*city](), true},
		{"list", reflect.TypeFor[[]city](), true},
		{"map", reflect.TypeFor[map[string][]int](), true},
		{"embedding", reflect.TypeFor[embedding](), true},
		{"no fields", reflect.TypeFor[struct{}](), true},
		{"unexported fields", reflect.TypeFor[struct{ f func() }](), true},
		{"number of any size", reflect.TypeFor[big.Int](), true},
		{"description with a sign", reflect.TypeFor[struct {
			A int `jsonschema:"where a = b"`
		}](), true},

		{"recursive", reflect.TypeFor[recursive](), false},
		{"embedding a name twice", reflect.TypeFor[embeddingTwice](), false},
		{"embedding a pointer", reflect.TypeFor[embeddingPointer](), false},
		{"embedding a time", reflect.TypeFor[struct{ A embeddingTime }](), false},
		{"embedding under a name", reflect.TypeFor[embeddingTagged](), false},
		{"function", reflect.TypeFor[struct{ F func() }](), false},
		{"channel in a list", reflect.TypeFor[[]chan int](), false},
		{"complex number", reflect.TypeFor[map[string]complex64](), false},
		{"key that is no text", reflect.TypeFor[map[int]string](), false},
		{"empty description", reflect.TypeFor[struct {
			A int `jsonschema:""`
		}](), false},
		{"keyword as a description", reflect.TypeFor[struct {
			A int `jsonschema:"required=true"`
		}](), false},
		{"default", reflect.TypeFor[struct {
			A int `default:"1"`
		}](), false},
		{"pattern", reflect.TypeFor[struct {
			A string `pattern:"("`
		}](), false},
		{"header", reflect.TypeFor[struct {
			A string `x-mcp-header:"a b"`
		}](), false},
		{"tag of another kind", reflect.TypeFor[struct {
			A int `minLength:"1"`
		}](), false},
		{"tag without sense", reflect.TypeFor[struct {
			A int `minimum:"one"`
		}](), false},
		{"one name twice", reflect.StructOf([]reflect.StructField{
			{Name: "A", Type: reflect.TypeFor[int](), Tag: `json:"a"`}, {Name: "B", Type: reflect.TypeFor[int](), Tag: `json:"a"`},
		}), false},
		{"many fields", manyFields(maxLaterFields + 1), false},
		{"long descriptions", reflect.StructOf([]reflect.StructField{{
			Name: "A", Type: reflect.TypeFor[int](), Tag: reflect.StructTag(`jsonschema:"` + strings.Repeat("x", maxLaterTags) + `"`),
		}}), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := inferable(c.t); got != c.want {
				t.Errorf("inferable(%v) = %v", c.t, got)
			}
			if _, _, err := inferSchema(c.t, false); c.want && err != nil {
				t.Errorf("it is not: %v", err)
			}
		})
	}
}

func manyFields(n int) reflect.Type {
	fields := make([]reflect.StructField, n)
	for i := range fields {
		fields[i] = reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: reflect.TypeFor[int]()}
	}
	return reflect.StructOf(fields)
}

// What inferable is certain of is so, for types and tags of all sorts.
func TestInferableIsCertain(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	certain := 0
	for range 1000 {
		typ := anyStruct(r, 3)
		if !inferable(typ) {
			continue
		}
		certain++
		in, err := newInput(typ, nil)
		if err != nil {
			t.Fatalf("input of type %v: %v", typ, err)
		}
		if names, err := in.schema.checkHeaders(); err != nil || names != nil {
			t.Fatalf("headers of type %v: %v, %v", typ, names, err)
		}
		for _, out := range []reflect.Type{typ, reflect.SliceOf(typ), reflect.PointerTo(typ)} {
			if _, err := newOutput(out, nil); err != nil {
				t.Fatalf("output of type %v: %v", out, err)
			}
		}
	}
	if certain < 100 {
		t.Errorf("%d of 1000 types are certain: the test says little", certain)
	}
}

// anyStruct makes a type that may be good or bad.
func anyStruct(r *rand.Rand, depth int) reflect.Type {
	basic := []reflect.Type{
		reflect.TypeFor[string](), reflect.TypeFor[string](), reflect.TypeFor[int](), reflect.TypeFor[uint8](), reflect.TypeFor[float64](), reflect.TypeFor[bool](),
		reflect.TypeFor[any](), reflect.TypeFor[time.Time](), reflect.TypeFor[json.RawMessage](), reflect.TypeFor[[]byte](), reflect.TypeFor[*big.Rat](),
	}
	bad := []reflect.Type{
		reflect.TypeFor[chan int](), reflect.TypeFor[complex128](), reflect.TypeFor[map[float64]int](), reflect.TypeFor[recursive](), reflect.TypeFor[error](), reflect.TypeFor[uintptr](),
	}
	tags := []string{
		`jsonschema:"a = b"`, `jsonschema:"a=b"`, `jsonschema:""`, `minimum:"1"`, `minimum:"x"`, `minLength:"2"`, `maxLength:"-2"`, `enum:"1,2"`, `enum:"a,b"`, `enum:""`,
		`title:"t"`, `format:"date"`, `pattern:"a+"`, `pattern:"("`, `default:"1"`, `uniqueItems:"true"`, `maxItems:"3"`, `multipleOf:"0"`, `x-mcp-header:"A"`, `minProperties:"1"`,
	}
	fields := make([]reflect.StructField, r.IntN(4))
	for i := range fields {
		typ := basic[r.IntN(len(basic))]
		switch r.IntN(12) {
		case 0:
			typ = bad[r.IntN(len(bad))]
		case 1, 2, 3:
			if depth > 0 {
				typ = anyStruct(r, depth-1)
			}
		}
		switch r.IntN(8) {
		case 0:
			typ = reflect.SliceOf(typ)
		case 1:
			typ = reflect.PointerTo(typ)
		case 2:
			typ = reflect.MapOf(reflect.TypeFor[string](), typ)
		case 3:
			typ = reflect.ArrayOf(2, typ)
		}
		tag := fmt.Sprintf(`json:"%s"`, []string{"", "a", fmt.Sprint("n", i), fmt.Sprint("n", i) + ",omitempty", fmt.Sprint("n", i) + ",string", "-", "-,"}[r.IntN(7)])
		for range r.IntN(2) {
			tag += " " + tags[r.IntN(len(tags))]
		}
		fields[i] = reflect.StructField{Name: fmt.Sprint("F", i), Type: typ, Tag: reflect.StructTag(tag)}
		if r.IntN(8) == 0 {
			fields[i] = reflect.StructField{Name: "Point", Type: reflect.TypeFor[Point](), Anonymous: true}
			return reflect.StructOf(fields[:i+1])
		}
	}
	return reflect.StructOf(fields)
}

// A tool is shown with the same schemas whether they were made at once or later, in whichever way one comes to see it.
func TestLaterSchemas(t *testing.T) {
	work := func(context.Context, city) (place3, error) { return place3{X: 1, It: json.RawMessage(`{}`)}, nil }
	in, err := newInput(reflect.TypeFor[city](), nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := newOutput(reflect.TypeFor[place3](), nil)
	if err != nil {
		t.Fatal(err)
	}
	same := func(t *testing.T, tool Tool) {
		t.Helper()
		if got := fmt.Sprintf("%s", tool.InputSchema); got != string(in.schema.text) {
			t.Errorf("input %s", got)
		}
		if got := fmt.Sprintf("%s", tool.OutputSchema); got != string(out.schema.text) {
			t.Errorf("output %s", got)
		}
	}
	for _, c := range []struct {
		name string
		see  func(t *testing.T, b *Toolbox)
	}{
		{"list", func(t *testing.T, b *Toolbox) {
			list, err := b.List(t.Context())
			if err != nil || len(list) != 1 {
				t.Fatal(list, err)
			}
			same(t, list[0])
		}},
		{"find", func(t *testing.T, b *Toolbox) {
			tool, _ := b.Find(t.Context(), "work")
			same(t, tool)
		}},
		{"visible", func(t *testing.T, b *Toolbox) {
			asked := false
			b.Visible = func(_ context.Context, tool Tool) bool { asked = true; same(t, tool); return true }
			if got := runTool(t, b, "work", `{"name":"x","days":1,"since":"2026-01-01T00:00:00Z"}`); !strings.Contains(got, `"x":1`) || !asked {
				t.Error(got)
			}
		}},
		{"call", func(t *testing.T, b *Toolbox) {
			if got := runTool(t, b, "work", `{"name":"","days":1,"since":"2026-01-01T00:00:00Z"}`); !strings.Contains(got, "name") {
				t.Error(got)
			}
		}},
		{"all at once", func(t *testing.T, b *Toolbox) {
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					tool, _ := b.Find(t.Context(), "work")
					same(t, tool)
				})
				all.Go(func() {
					list, _ := b.List(t.Context())
					same(t, list[0])
				})
				all.Go(func() { _, _ = b.Call(t.Context(), "work", Arguments{}) })
			}
			all.Wait()
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b Toolbox
			AddTool(&b, Tool{Name: "work"}, work)
			if b.view.Load().order[0].tool.InputSchema != nil {
				t.Error("it was made at once")
			}
			c.see(t, &b)
		})
	}
}

// A type that cannot be used is found when the tool is added.
func TestBadTypesAtOnce(t *testing.T) {
	var b Toolbox
	for name, err := range map[string]error{
		"in":        TryAddTool(&b, Tool{Name: "a"}, func(context.Context, struct{ F func() }) (string, error) { return "", nil }),
		"in, deep":  TryAddTool(&b, Tool{Name: "a"}, func(context.Context, struct{ A []recursive }) (string, error) { return "", nil }),
		"no object": TryAddTool(&b, Tool{Name: "a"}, func(context.Context, time.Time) (string, error) { return "", nil }),
		"no struct": TryAddTool(&b, Tool{Name: "a"}, func(context.Context, []string) (string, error) { return "", nil }),
		"number":    TryAddTool(&b, Tool{Name: "a"}, func(context.Context, big.Int) (string, error) { return "", nil }),
		"out":       TryAddTool(&b, Tool{Name: "a"}, func(context.Context, city) (chan int, error) { return nil, nil }),
		"out, deep": TryAddTool(&b, Tool{Name: "a"}, func(context.Context, city) (map[string]recursive, error) { return nil, nil }),
		"annotation": TryAddTool(&b, Tool{Name: "a"}, func(context.Context, struct {
			A string `x-mcp-header:"a b"`
		}) (string, error) {
			return "", nil
		}),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if b.view.Load() != nil {
		t.Error("one was added")
	}
}

func BenchmarkAddTool(b *testing.B) {
	for b.Loop() {
		var box Toolbox
		AddTool(&box, Tool{Name: "work"}, func(context.Context, city) (place3, error) { return place3{}, nil })
	}
}
