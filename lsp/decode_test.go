package lsp

import (
	"fmt"
	"reflect"
	"testing"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/lsp/internal/rope"
)

// places are params of the shape that is read by hand, and what is nearly that.
var places = []string{
	`{"textDocument":{"uri":"file:///home/ann/notes/first.md"},"position":{"line":5,"character":19}}`,
	`{"textDocument":{"uri":"file:///a"},"position":{"line":0,"character":0},"context":{"triggerKind":1}}`,
	`{"textDocument":{"uri":"file:///a"},"position":{"line":0,"character":0},"context":{"triggerKind":2,"triggerCharacter":"."}}`,
	`{"textDocument":{"uri":"file:///a"},"position":{"line":999999999,"character":4294967295}}`,
	`{"textDocument":{"uri":"file:///a"},"position":{"line":1234567890,"character":1}}`,
	`{"textDocument":{"uri":"file:///a"},"position":{"line":01,"character":1}}`,
	`{"textDocument":{"uri":"file:///a"},"position":{"line":-1,"character":1}}`,
	`{"textDocument":{"uri":"file:///a"},"position":{"line":1.0,"character":1}}`,
	`{"textDocument":{"uri":"file:///a"},"position":{"line":,"character":1}}`,
	`{"textDocument":{"uri":"file:////a"},"position":{"line":1,"character":1}}`,
	`{"textDocument":{"uri":"file:///"},"position":{"line":1,"character":1}}`,
	`{"textDocument":{"uri":"file:///C:/x"},"position":{"line":1,"character":1}}`,
	`{"textDocument":{"uri":"file:///c%3A/x"},"position":{"line":1,"character":1}}`,
	`{"textDocument":{"uri":"file:///a/../b/./c~d_e-f"},"position":{"line":1,"character":1}}`,
	`{"textDocument":{"uri":"file:///a\u0062"},"position":{"line":1,"character":1}}`,
	`{"textDocument":{"uri":"file:///a b"},"position":{"line":1,"character":1}}`,
	`{"textDocument":{"uri":"file:///a"},"position":{"line":1,"character":1},"workDoneToken":"t"}`,
	`{"textDocument":{"uri":"file:///a"},"position":{"line":1,"character":1}} `,
	`{ "textDocument":{"uri":"file:///a"},"position":{"line":1,"character":1}}`,
	`{"position":{"line":1,"character":1},"textDocument":{"uri":"file:///a"}}`,
	`{"textDocument":{"uri":"untitled:Untitled-1"},"position":{"line":1,"character":1}}`,
	`{"textDocument":{"uri":"file:///a"},"position":{"line":1,"character":1}`,
	`{}`, `null`, ``,
}

func checkDecoding(t *testing.T, data []byte) {
	t.Helper()
	for _, v := range []any{new(protocol.HoverParams), new(protocol.DefinitionParams), new(protocol.DocumentHighlightParams), new(protocol.CompletionParams)} {
		want := reflect.New(reflect.TypeOf(v).Elem()).Interface()
		wantErr := protocol.Unmarshal(data, want)
		if wantErr != nil {
			wantErr = respell(data, want)
		}
		err := Codec.Unmarshal(data, v)
		if (err != nil) != (wantErr != nil) {
			t.Errorf("%T of %q: error is %v, want %v", v, data, err, wantErr)
		} else if err == nil && !reflect.DeepEqual(v, want) {
			t.Errorf("%T of %q is %+v, want %+v", v, data, v, want)
		}
	}
}

// Values are those of protocol.Unmarshal, or of respell where it refuses, and so are refusals.
func TestDecoding(t *testing.T) {
	for _, p := range places {
		checkDecoding(t, []byte(p))
	}
	if !readQuick([]byte(places[0]), new(protocol.HoverParams)) || !readQuick([]byte(places[1]), new(protocol.CompletionParams)) {
		t.Error("the usual params are not read by hand")
	}
	for c := range 256 { // every byte in a path
		checkDecoding(t, fmt.Appendf(nil, `{"textDocument":{"uri":"file:///a%cb"},"position":{"line":1,"character":1}}`, rune(c)))
	}
}

func FuzzDecoding(f *testing.F) {
	for _, p := range places {
		f.Add([]byte(p))
	}
	f.Fuzz(func(t *testing.T, data []byte) { checkDecoding(t, data) })
}

func BenchmarkDecode(b *testing.B) {
	for _, bb := range []struct {
		name   string
		decode func([]byte, any) error
	}{{"tandem", Codec.Unmarshal}, {"protocol", protocol.Unmarshal}} {
		b.Run("hover/"+bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := bb.decode([]byte(places[0]), new(protocol.HoverParams)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Events read by hand are what the general way makes of them.
func TestReadChange(t *testing.T) {
	doc := rope.New("one\ntwo 🌍\nthree")
	const first = `{"range":{"start":{"line":1,"character":2},"end":{"line":2,"character":3}},"text":"x\n\"y\ud83c\udf0d"}`
	for _, event := range []string{
		first,
		`{"range":{"start":{"line":1,"character":2},"end":{"line":1,"character":2}},"rangeLength":0,"text":""}`,
		`{"range":{"start":{"line":1,"character":2},"end":{"line":0,"character":0}},"text":"a"}`,
		`{"range":{"start":{"line":1,"character":2},"end":{"line":9,"character":0}},"text":"a","rangeLength":4}`,
		`{"range":{"start":{"line":1,"character":2},"end":{"line":9,"character":0}},"text":"a","text":"b"}`,
		`{"range":{"start":{"line":1,"character":2},"end":{"line":9,"character":0}},"text":"a\\"}`,
		`{"range":{"start":{"line":1,"character":2},"end":{"line":9,"character":0}},"text":7}`,
		`{"range":{"start":{"line":-1,"character":2},"end":{"line":9,"character":0}},"text":"a"}`,
		`{"range":{"start":{"line":1e0,"character":2},"end":{"line":9,"character":0}},"text":"a"}`,
		`{"range":{"start":{"line":4294967295,"character":2},"end":{"line":4294967295,"character":0}},"text":"a"}`,
		`{"range":{"end":{"line":1,"character":2},"start":{"line":1,"character":2}},"text":"a"}`,
		`{"text":"a"}`,
	} {
		want, wantOK := readAnyChange([]byte(event), doc, rope.UTF16)
		got, ok := readChange([]byte(event), doc, rope.UTF16)
		if ok != wantOK || ok && got != want {
			t.Errorf("%s is %+v, %v; want %+v, %v", event, got, ok, want, wantOK)
		}
	}
	if _, _, _, ok := readEdit([]byte(first)); !ok {
		t.Error("the usual event is not read by hand")
	}
}
