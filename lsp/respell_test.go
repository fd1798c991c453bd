package lsp

import (
	"fmt"
	"reflect"
	"testing"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

func TestRespell(t *testing.T) {
	place := func(u, line string) string {
		return `{"textDocument":{"uri":"` + u + `"},"position":{"line":` + line + `,"character":0}}`
	}
	hover := func(u uri.URI, line uint32) *protocol.HoverParams {
		p := new(protocol.HoverParams)
		p.TextDocument.URI, p.Position.Line = u, line
		return p
	}
	files := func(uris ...uri.URI) *protocol.DidChangeWatchedFilesParams {
		p := new(protocol.DidChangeWatchedFilesParams)
		for _, u := range uris {
			p.Changes = append(p.Changes, protocol.FileEvent{URI: u, Type: protocol.FileChangeTypeCreated})
		}
		return p
	}
	tests := []struct {
		name, in string
		want     any // nil: refused
	}{
		{"four slashes", place("file:////srv/x", "3"), hover("file:////srv/x", 3)},
		{"untitled with slashes", place("untitled:////x", "3"), hover("untitled:////x", 3)},
		{"a scheme that is none", place("a b:c", "3"), hover("a b:c", 3)},
		{"a letter that is not ASCII", place(`\u00e9:x`, "3"), hover("é:x", 3)},
		{"not decodable", place("file:///%FF", "3"), hover("file:///%25FF", 3)}, // taken by the decoder, in its spelling
		{"number with a point", place("file:///x", "3.0"), hover("file:///x", 3)},
		{"number with an exponent", place("file:///x", "3e0"), hover("file:///x", 3)},
		{"both", place("file:////x", "30.0e-1"), hover("file:////x", 3)},
		{"beyond the largest number", place("file:///x", "1e300"), hover("file:///x", 1<<32-1)},
		{"4294967296", place("file:///x", "4294967296"), hover("file:///x", 1<<32-1)},
		{"several", `{"changes":[{"uri":"file:////b","type":1.0},{"uri":"file:///c","type":1},{"type":1,"uri":"b c:d"}]}`, files("file:////b", "file:///c", "b c:d")},
		{"negative", place("file:///x", "-1"), nil},
		{"half a line", place("file:///x", "1.5"), nil},
		{"our stand-in", place(standIn+"0", "1.0"), nil},
		{"of another type", `{"textDocument":{"uri":["file:////x"]},"position":{}}`, nil},
		{"no object", `[1.0]`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got any = new(protocol.HoverParams)
			if tt.want != nil {
				got = reflect.New(reflect.TypeOf(tt.want).Elem()).Interface()
			}
			err := Codec.Unmarshal([]byte(tt.in), got)
			if (err == nil) != (tt.want != nil) {
				t.Fatalf("error is %v", err)
			}
			if err == nil && !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// A document is found under every URI that its client can write.
func TestAnyURIWorks(t *testing.T) {
	for i, u := range []string{"file:////srv/share/x", "file:///%FF", "untitled:////x", "a b:c", "é:x", "C:\\x", "file:///c%3A/x", "zip:///a::b", "untitled:Untitled-1"} {
		t.Run(u, func(t *testing.T) {
			p := connect(t, &Server{Hover: showText})
			p.init(plainInit)
			p.open(u, 1, fmt.Sprint("text ", i))
			if got, _ := p.text(u); got != fmt.Sprint("text ", i) {
				t.Errorf("text is %q", got)
			}
		})
	}
}

// Members that may be null, or that a later revision gives other values, do not get in the way.
func TestNullAndFuture(t *testing.T) {
	p := connect(t, everything())
	p.init(`{"processId":null,"clientInfo":null,"locale":null,"rootPath":null,"rootUri":null,"initializationOptions":null,"trace":null,"workspaceFolders":null,
		"capabilities":{"workspace":null,"textDocument":{"completion":{"completionItem":{"tagSupport":{"valueSet":[1,99]}}},"codeAction":null,"newFeature":{"x":1}},"window":null,"general":{"positionEncodings":["utf-7","utf-16"]}}}`)
	const doc, where = `"textDocument":{"uri":"file:///a"}`, `"position":{"line":0,"character":0}`
	for method, params := range map[string]string{
		"textDocument/completion":     `{` + doc + `,` + where + `,"context":{"triggerKind":99,"triggerCharacter":null},"workDoneToken":null,"partialResultToken":null}`,
		"textDocument/hover":          `{` + doc + `,` + where + `,"workDoneToken":null,"newMember":{}}`,
		"textDocument/signatureHelp":  `{` + doc + `,` + where + `,"context":null}`,
		"textDocument/codeAction":     `{` + doc + `,"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"context":{"diagnostics":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"message":"m","severity":9,"code":null,"tags":[99],"source":null,"relatedInformation":null,"data":null}],"only":null,"triggerKind":9}}`,
		"workspace/symbol":            `{"query":"","partialResultToken":null}`,
		"textDocument/formatting":     `{` + doc + `,"options":{"tabSize":4.0,"insertSpaces":true,"other":null}}`,
		"textDocument/references":     `{` + doc + `,` + where + `,"context":{"includeDeclaration":true}}`,
		"workspace/willRenameFiles":   `{"files":[{"oldUri":"file:////a","newUri":"file:///b"}]}`,
		"textDocument/documentSymbol": `{` + doc + `,"workDoneToken":1.0}`,
	} {
		if err := p.try(method, params, nil); err != nil {
			t.Errorf("%s: %v", method, err)
		}
	}
}
