package lsp

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"go.lsp.dev/protocol"
)

// strs are what random values are made of: nothing to escape, all kinds of escapes, every length around the eight bytes that are looked at together.
var strs = []string{
	"", "a", "sieben7", "achtacht", "neun nine", "0123456789abcde", "0123456789abcdef", "0123456789abcdefg", "func(ctx context.Context, n int) error",
	`"`, `\`, "\n", "line one\nline two\r\n\ttabbed", "\x00\x01\x1f\x7f", "\b\f", "é", "größer als 8 Bytes", "世界", "🌍🌍🌍", "quote \" far behind",
	"back\\slash", "\xff", "bad \xc3( utf-8", "12345678\xff", "\u2028\u2029", "<&>", "file:///c%3A/a", "01234567\"", "0123456\x1f89",
}

var raws = []string{`1`, `"data"`, `{"id":7}`, `[1,2]`, `null`, `true`, `"\u00e9"`, `"é"`, `-1`, `1.5`, `01`, `"a`, ` 7`, `{"a": 1}`, `123456789012345678`, `"~"`, "\"\x7f\"", ``, `{`}

// fill sets v to a random value, unions included.
func fill(r *rand.Rand, v reflect.Value, depth int) {
	switch v.Interface().(type) {
	case protocol.LSPAny:
		if r.IntN(4) == 0 {
			v.SetBytes([]byte(raws[r.IntN(len(raws))]))
		}
		return
	case protocol.Optional[string]:
		if r.IntN(2) == 0 {
			v.Set(reflect.ValueOf(protocol.NewOptional(strs[r.IntN(len(strs))])))
		}
		return
	case protocol.Optional[bool]:
		if r.IntN(2) == 0 {
			v.Set(reflect.ValueOf(protocol.NewOptional(r.IntN(2) == 0)))
		}
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(strs[r.IntN(len(strs))])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Uint32:
		v.SetUint([]uint64{0, 1, 9, 10, 99, 100, 12345, 1<<32 - 1}[r.IntN(8)])
	case reflect.Pointer:
		if depth > 0 && r.IntN(2) == 0 {
			p := reflect.New(v.Type().Elem())
			fill(r, p.Elem(), depth-1)
			v.Set(p)
		}
	case reflect.Slice:
		if depth > 0 && r.IntN(3) > 0 {
			s := reflect.MakeSlice(v.Type(), r.IntN(4), 4)
			for i := range s.Len() {
				fill(r, s.Index(i), depth-1)
			}
			v.Set(s)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() && r.IntN(4) == 0 { // rare members must not be in all
				fill(r, v.Field(i), depth)
			}
		}
	case reflect.Interface:
		fillUnion(r, v, depth)
	}
}

func fillUnion(r *rand.Rand, v reflect.Value, depth int) {
	arms := []any{
		protocol.String(strs[r.IntN(len(strs))]), new(protocol.String), new(protocol.MarkupContent), (*protocol.MarkupContent)(nil), new(protocol.TextEdit), (*protocol.TextEdit)(nil),
		new(protocol.InsertReplaceEdit), new(protocol.Command), new(protocol.CodeAction), new(protocol.InlineValueText), new(protocol.Range),
		new(protocol.InlineValueEvaluatableExpression), protocol.Boolean(true), protocol.Integer(7), nil,
	}
	for _, i := range r.Perm(len(arms)) {
		if arms[i] == nil {
			return
		}
		arm := reflect.ValueOf(arms[i])
		if !arm.Type().AssignableTo(v.Type()) {
			continue
		}
		if arm.Kind() == reflect.Pointer && !arm.IsNil() && depth > 0 {
			fill(r, arm.Elem(), depth-1)
		}
		v.Set(arm)
		return
	}
}

// results are the types that appendValue knows, behind pointers.
var results = []any{
	new(protocol.CompletionList), new([]protocol.Location), new([]protocol.TextEdit), new([]protocol.Diagnostic), new([]protocol.DocumentHighlight),
	new([]protocol.DocumentLink), new([]protocol.CodeLens), new([]protocol.FoldingRange), new([]protocol.SelectionRange), new([]protocol.InlayHint),
	new([]protocol.CommandOrCodeAction), new([]protocol.ColorInformation), new([]protocol.ColorPresentation), new([]protocol.Moniker), new([]protocol.InlineValue),
	new([]protocol.CallHierarchyItem), new([]protocol.CallHierarchyIncomingCall), new([]protocol.CallHierarchyOutgoingCall), new([]protocol.TypeHierarchyItem),
	new(protocol.LocationSlice), new(protocol.CompletionItemSlice),
}

func checkEncoding(t *testing.T, v any) {
	t.Helper()
	want, wantErr := protocol.Marshal(v)
	got, err := Codec.Append([]byte("before"), v)
	if (err != nil) != (wantErr != nil) {
		t.Fatalf("%T: error is %v, want %v", v, err, wantErr)
	}
	if err == nil && string(got) != "before"+string(want) {
		t.Fatalf("%T is\n%s\nwant\n%s", v, got[len("before"):], want)
	}
}

func encodeRandom(t *testing.T, seed uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	v := reflect.New(reflect.TypeOf(results[seed%uint64(len(results))]).Elem())
	fill(r, v.Elem(), 4)
	if list, ok := v.Interface().(*protocol.CompletionList); ok {
		checkEncoding(t, list)
		return
	}
	checkEncoding(t, v.Elem().Interface())
}

// The bytes are those of protocol.Marshal, for every type, with and without all members, whatever is in the strings.
func TestEncoding(t *testing.T) {
	for seed := range uint64(40_000) {
		encodeRandom(t, seed)
	}
	for _, v := range results {
		checkEncoding(t, reflect.ValueOf(v).Elem().Interface()) // nil and zero
	}
	checkEncoding(t, (*protocol.CompletionList)(nil))
	for _, s := range strs {
		for i := range 9 {
			s := strings.Repeat("x", i) + s
			checkEncoding(t, []protocol.TextEdit{{NewText: s}, {NewText: s + "0123456789"}})
		}
	}
}

func FuzzEncoding(f *testing.F) {
	f.Add(uint64(1), "text")
	f.Add(uint64(2), "\x1f\xf0\x9f\x8c\x8d\"")
	f.Fuzz(func(t *testing.T, seed uint64, text string) {
		encodeRandom(t, seed)
		checkEncoding(t, []protocol.TextEdit{{NewText: text}})
		checkEncoding(t, &protocol.CompletionList{Items: []protocol.CompletionItem{{Label: text, InsertText: protocol.NewOptional(text), Data: protocol.LSPAny(text)}}})
	})
}

func BenchmarkEncode(b *testing.B) {
	items := make([]protocol.CompletionItem, 1000)
	places := make([]protocol.Location, len(items))
	for i := range items {
		name := fmt.Sprintf("candidateNumber%04d", i)
		items[i] = protocol.CompletionItem{
			Label: name, Kind: protocol.CompletionItemKindFunction, Detail: protocol.NewOptional("func(ctx context.Context, n int) error"),
			Documentation: protocol.String("Does the work."), SortText: protocol.NewOptional(name[15:]), InsertText: protocol.NewOptional(name),
		}
		places[i] = protocol.Location{URI: "file:///home/ann/notes/first%20week.md", Range: protocol.Range{Start: protocol.Position{Line: uint32(i)}}}
	}
	for _, bb := range []struct {
		name string
		v    any
	}{{"1000items", &protocol.CompletionList{Items: items}}, {"1000locations", places}, {"hover", &protocol.Hover{Contents: PlainText("v=0000001 len=12345")}}} {
		for _, codec := range []struct {
			name   string
			append func([]byte, any) ([]byte, error)
		}{{"tandem", Codec.Append}, {"protocol", protocol.AppendMarshal}} {
			b.Run(bb.name+"/"+codec.name, func(b *testing.B) {
				var buf []byte
				b.ReportAllocs()
				for b.Loop() {
					buf, _ = codec.append(buf[:0], bb.v)
				}
				b.SetBytes(int64(len(buf)))
			})
		}
	}
}
