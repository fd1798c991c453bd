package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

func TestEdits(t *testing.T) {
	doc := NewDocument("file:///C%3a/a", "x", 7, "text", protocol.PositionEncodingKindUTF16)
	edit := func(text string) protocol.TextEdit { return protocol.TextEdit{NewText: text} }
	const zero = `{"start":{"line":0,"character":0},"end":{"line":0,"character":0}}`
	texts := new(Edits).Change(doc, edit("a"), edit("b")).ChangeFile("file:///f", edit("c"))
	files := new(Edits).Create("file:///new", nil).Rename("file:///a", "file:///b", nil).Delete("file:///c", nil)
	const able = `{"capabilities":{"workspace":{"workspaceEdit":{"documentChanges":true,"resourceOperations":["create","rename","delete"]}}}}`
	tests := []struct {
		name, init string
		edits      *Edits
		want       string // "": not supported
	}{
		{"versions", able, texts, `{"documentChanges":[{"textDocument":{"uri":"file:///C%3a/a","version":7},"edits":[{"range":` + zero + `,"newText":"a"},{"range":` + zero + `,"newText":"b"}]},` +
			`{"textDocument":{"uri":"file:///f","version":null},"edits":[{"range":` + zero + `,"newText":"c"}]}]}`},
		{"changes by URI", `{"capabilities":{}}`, texts, `{"changes":{"file:///C%3a/a":[{"range":` + zero + `,"newText":"a"},{"range":` + zero + `,"newText":"b"}],"file:///f":[{"range":` + zero + `,"newText":"c"}]}}`},
		{"files", able, files, `{"documentChanges":[{"kind":"create","uri":"file:///new"},{"kind":"rename","oldUri":"file:///a","newUri":"file:///b"},{"kind":"delete","uri":"file:///c"}]}`},
		{"files without the operations", `{"capabilities":{"workspace":{"workspaceEdit":{"documentChanges":true,"resourceOperations":["create"]}}}}`, files, ``},
		{"files without changes of documents", `{"capabilities":{"workspace":{"workspaceEdit":{"resourceOperations":["create","rename","delete"]}}}}`, files, ``},
		{"nothing", able, new(Edits), `{}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, err := tt.edits.For(&Client{raw: []byte(tt.init)})
			if tt.want == "" {
				if !errors.Is(err, ErrUnsupported) {
					t.Errorf("error is %v", err)
				}
				return
			}
			var got, want any // the order of a map's members is any
			raw := encode(t, e)
			if err != nil || json.Unmarshal(raw, &got) != nil || json.Unmarshal([]byte(tt.want), &want) != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("got %s, %v\nwant %s", raw, err, tt.want)
			}
		})
	}
}

func TestEditError(t *testing.T) {
	err := ask(t, func(m *jsonrpc2.Mux) {
		m.HandleRequest("workspace/applyEdit", answer(t, `{"edit":{}}`, `{"applied":false,"failureReason":"version","failedChange":0}`))
	}, func(ctx context.Context, c *Client) error { return c.ApplyEdit(ctx, "", protocol.WorkspaceEdit{}) })
	var e *EditError
	if !errors.As(err, &e) || e.Reason != "version" || e.FailedChange == nil || *e.FailedChange != 0 {
		t.Errorf("error is %v", err)
	}
	if want := `lsp: client did not apply the edit: "version" (change 0)`; err.Error() != want {
		t.Errorf("error is %q, want %q", err, want)
	}
}

func TestCan(t *testing.T) {
	c := &Client{raw: []byte(`{"capabilities":{"a":{"yes":true,"no":false,"null":null,"object":{},"number":0},"experimental":{"x.y":1}}}`)}
	for path, want := range map[string]bool{
		"a": true, "a.yes": true, "a.no": false, "a.null": false, "a.object": true, "a.number": true, "a.missing": false, "a.yes.more": false, "": false, "b.c": false,
	} {
		if got := c.Can(path); got != want {
			t.Errorf("%q: %v", path, got)
		}
	}
	if new(Client).Can("a") {
		t.Error("a client that has not said anything can do something")
	}
}
