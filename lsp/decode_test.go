package lsp

import (
	"fmt"
	"reflect"
	"testing"

	"go.lsp.dev/protocol"
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
