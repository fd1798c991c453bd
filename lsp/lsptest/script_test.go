package lsptest_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/lsp"
	"github.com/tandem-rpc/tandem/lsp/lsptest"
)

// asking is a server whose command "ask" sends the client the method and params that are its arguments, and returns what the client answers.
func asking() *lsp.Server {
	s := todo()
	s.Commands["ask"] = func(ctx context.Context, args []json.RawMessage) (any, error) {
		var method string
		if err := json.Unmarshal(args[0], &method); err != nil {
			return nil, err
		}
		var params any
		if len(args) > 1 {
			params = args[1]
		}
		var result json.RawMessage
		err := lsp.ClientFrom(ctx).Conn().Call(ctx, method, params, &result)
		var answer *jsonrpc2.Error
		if errors.As(err, &answer) {
			return "refused: " + answer.Message, nil
		}
		return result, err
	}
	return s
}

func ask(c *lsptest.Client, method, params string) string {
	var result json.RawMessage
	args := []any{method}
	if params != "" {
		args = append(args, json.RawMessage(params))
	}
	c.Execute("ask", &result, args...)
	return string(result)
}

func TestAnswers(t *testing.T) {
	o := &lsptest.Options{
		Settings: map[string]any{"editor": map[string]any{"tab": 4, "deep": map[string]any{"er": true}}, "a.b": "dotted", "none": nil},
		Folders:  []protocol.WorkspaceFolder{{URI: "file:///work", Name: "work"}},
		Choose:   lsptest.Picks("Yes", "", "No"),
		Answer: map[string]func(context.Context, json.RawMessage) (any, error){
			"vendor/echo":   func(_ context.Context, p json.RawMessage) (any, error) { return p, nil },
			"vendor/broken": func(context.Context, json.RawMessage) (any, error) { return nil, errors.New("broken") },
		},
	}
	c := lsptest.New(t, asking(), o)
	const question = `{"type":3,"message":"Sure?","actions":[{"title":"Yes"},{"title":"No"}]}`
	for _, a := range []struct{ method, params, want string }{
		{"workspace/configuration", `{"items":[{"section":"editor"},{"section":"editor.tab"},{"section":"editor.deep.er"}]}`, `[{"deep":{"er":true},"tab":4},4,true]`},
		{"workspace/configuration", `{"items":[{"section":"a.b"},{"section":"none"},{"section":"x.y"},{"section":"editor.x"}]}`, `["dotted",null,null,null]`},
		{"workspace/configuration", `{"items":[]}`, `[]`},
		{"workspace/configuration", `{"items":7}`, `"refused: params do not decode"`},
		{"workspace/workspaceFolders", ``, `[{"uri":"file:///work","name":"work"}]`},
		{"window/showMessageRequest", question, `{"title":"Yes"}`},
		{"window/showMessageRequest", question, `null`},
		{"window/showMessageRequest", question, `{"title":"No"}`},
		{"window/showMessageRequest", question, `null`},
		{"window/showDocument", `{"uri":"file:///a"}`, `{"success":true}`},
		{"window/workDoneProgress/create", `{"token":1}`, `null`},
		{"workspace/inlayHint/refresh", ``, `null`},
		{"vendor/echo", `{"a":1}`, `{"a":1}`},
		{"vendor/broken", ``, `"refused: broken"`},
		{"vendor/other", ``, `"refused: the client has no vendor/other"`},
	} {
		if got := ask(c, a.method, a.params); canonical(got) != canonical(a.want) {
			t.Errorf("%s %s: got %s, want %s", a.method, a.params, got, a.want)
		}
	}
	c.Configure(map[string]any{"editor": 1})
	if got := ask(c, "workspace/configuration", `{"items":[{"section":"editor"}]}`); got != "[1]" {
		t.Errorf("after Configure: %s", got)
	}
}

func canonical(s string) string {
	var v any
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		return s
	}
	b, _ := json.Marshal(v)
	return string(b)
}

func TestRegistrations(t *testing.T) {
	c := lsptest.New(t, asking(), nil)
	ask(c, "client/registerCapability", `{"registrations":[{"id":"1","method":"workspace/didChangeWatchedFiles","registerOptions":{"watchers":[]}},{"id":"2","method":"x"}]}`)
	if r := c.Registered("x"); r.ID != "2" {
		t.Errorf("%+v", r)
	}
	ask(c, "client/unregisterCapability", `{"unregisterations":[{"id":"2","method":"x"}]}`)
	if rs := c.Registrations(); len(rs) != 1 || rs[0].Method != "workspace/didChangeWatchedFiles" || string(rs[0].RegisterOptions) != `{"watchers":[]}` {
		t.Errorf("%+v", rs)
	}
}

// Edits of the server change what is open, which it is then told of, and files that are not, all of them or none.
func TestApplyEdit(t *testing.T) {
	files := map[uri.URI]string{"file:///closed.md": "closed TODO", "file:///gone.md": "gone"}
	for _, a := range []struct {
		name, edit, refused string
		open, closed        string // afterwards
	}{
		{"changes", `{"changes":{"file:///open.md":[{"range":{"start":{"line":0,"character":3},"end":{"line":0,"character":7}},"newText":"shut"}],
			"file:///closed.md":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":6}},"newText":"😀"}]}}`, "", "😀 shut", "😀 TODO"},
		{"two insertions at one place, in order", `{"changes":{"file:///open.md":[
			{"range":{"start":{"line":0,"character":3},"end":{"line":0,"character":7}},"newText":"."},
			{"range":{"start":{"line":0,"character":3},"end":{"line":0,"character":3}},"newText":"1"},
			{"range":{"start":{"line":0,"character":3},"end":{"line":0,"character":3}},"newText":"2"}]}}`, "", "😀 12.", "closed TODO"},
		{"another spelling", `{"changes":{"file:///op%65n.md":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":2}},"newText":"x"}]}}`, "", "x open", "closed TODO"},
		{"right version", `{"documentChanges":[{"textDocument":{"uri":"file:///open.md","version":1},"edits":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":2}},"newText":"x"}]}]}`, "", "x open", "closed TODO"},
		{"wrong version, nothing done", `{"documentChanges":[
			{"textDocument":{"uri":"file:///closed.md","version":null},"edits":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":2}},"newText":"x"}]},
			{"textDocument":{"uri":"file:///open.md","version":7},"edits":[]}]}`, "edit of another version", "😀 open", "closed TODO"},
		{"overlap", `{"changes":{"file:///open.md":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":4}},"newText":""},
			{"range":{"start":{"line":0,"character":3},"end":{"line":0,"character":5}},"newText":""}]}}`, "overlap", "😀 open", "closed TODO"},
		{"within a character", `{"changes":{"file:///open.md":[{"range":{"start":{"line":0,"character":1},"end":{"line":0,"character":2}},"newText":""}]}}`, "0:1 is not in the text", "😀 open", "closed TODO"},
		{"past the end", `{"changes":{"file:///open.md":[{"range":{"start":{"line":9,"character":0},"end":{"line":9,"character":0}},"newText":""}]}}`, "9:0 is not in the text", "😀 open", "closed TODO"},
		{"backwards", `{"changes":{"file:///open.md":[{"range":{"start":{"line":0,"character":3},"end":{"line":0,"character":2}},"newText":""}]}}`, "backwards", "😀 open", "closed TODO"},
		{"unknown file", `{"changes":{"file:///none.md":[]}}`, "does not exist", "😀 open", "closed TODO"},
		{"create, then edit", `{"documentChanges":[{"kind":"create","uri":"file:///new.md"},
			{"textDocument":{"uri":"file:///new.md","version":null},"edits":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"newText":"new"}]}]}`, "", "😀 open", "closed TODO"},
		{"create what exists", `{"documentChanges":[{"kind":"create","uri":"file:///closed.md"}]}`, "exists", "😀 open", "closed TODO"},
		{"create what exists, ignored", `{"documentChanges":[{"kind":"create","uri":"file:///closed.md","options":{"ignoreIfExists":true}}]}`, "", "😀 open", "closed TODO"},
		{"create what exists, overwritten", `{"documentChanges":[{"kind":"create","uri":"file:///closed.md","options":{"overwrite":true}}]}`, "", "😀 open", ""},
		{"rename onto another", `{"documentChanges":[{"kind":"rename","oldUri":"file:///gone.md","newUri":"file:///closed.md","options":{"overwrite":true}}]}`, "", "😀 open", "gone"},
		{"rename onto another, refused", `{"documentChanges":[{"kind":"rename","oldUri":"file:///gone.md","newUri":"file:///closed.md"}]}`, "exists", "😀 open", "closed TODO"},
		{"rename what is not there", `{"documentChanges":[{"kind":"rename","oldUri":"file:///x","newUri":"file:///y"}]}`, "does not exist", "😀 open", "closed TODO"},
		{"delete what is not there", `{"documentChanges":[{"kind":"delete","uri":"file:///x"}]}`, "does not exist", "😀 open", "closed TODO"},
		{"delete what is not there, ignored", `{"documentChanges":[{"kind":"delete","uri":"file:///x","options":{"ignoreIfNotExists":true}}]}`, "", "😀 open", "closed TODO"},
	} {
		t.Run(a.name, func(t *testing.T) {
			c := lsptest.New(t, asking(), &lsptest.Options{Files: files})
			doc := c.Open("file:///open.md", "😀 open")
			got := ask(c, "workspace/applyEdit", `{"edit":`+a.edit+`}`)
			if a.refused == "" && got != `{"applied":true}` || a.refused != "" && !strings.Contains(got, a.refused) {
				t.Errorf("answered %s", got)
			}
			if doc.Text() != a.open {
				t.Errorf("the document is %q, want %q", doc.Text(), a.open)
			}
			if got, _ := c.File("file:///closed.md"); got != a.closed {
				t.Errorf("the file is %q, want %q", got, a.closed)
			}
			if got := doc.HoverText(doc.Text()); !strings.HasPrefix(doc.Text(), got) || got == "" {
				t.Errorf("the server has %q", got)
			}
		})
	}
}

// A rename of an open document closes it and opens it under its new name; deleted ones are closed.
func TestFileOperations(t *testing.T) {
	c := lsptest.New(t, asking(), nil)
	doc := c.Open("file:///a.md", "TODO")
	ask(c, "workspace/applyEdit", `{"edit":{"documentChanges":[{"kind":"rename","oldUri":"file:///a.md","newUri":"file:///b.md"}]}}`)
	if doc.URI() != "file:///b.md" || doc.Version() != 1 || len(doc.Diagnostics()) != 1 {
		t.Errorf("%s version %d", doc.URI(), doc.Version())
	}
	if _, ok := c.File("file:///a.md"); ok {
		t.Error("the old one is still there")
	}
	doc.Edit("TODO", "done")
	if ds := doc.Diagnostics(); len(ds) != 0 {
		t.Errorf("diagnostics %v", ds)
	}
	ask(c, "workspace/applyEdit", `{"edit":{"documentChanges":[{"kind":"delete","uri":"file:///b.md"}]}}`)
	if _, ok := c.File("file:///b.md"); ok {
		t.Error("the deleted one is still there")
	}
	c.Open("file:///b.md", "again")
}
