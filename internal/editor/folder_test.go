package editor

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/internal/leak"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

func TestMain(m *testing.M) { leak.Main(m) }

func TestFolder(t *testing.T) {
	dir, u := folderOf(t, map[string]string{
		"index.md": "# Index\n🌍 [a](a.md#two) [gone](gone.md) [web](https://example.org/x)\n",
		"a.md":     "# A\n\n## One\n\none\n\n## Two\n\ntwo\n",
	})
	s := start(t, New("notes"), uri.File(dir))
	s.open(u("index.md"), "# Index\n🌍 [a](a.md#two) [gone](gone.md) [web](https://example.org/x)\n")
	if got := s.messages(u("index.md"), 1)[0]; !strings.Contains(got, "gone.md") {
		t.Errorf("message is %q", got)
	}
	for _, tt := range []struct {
		name       string
		line, char int
		want       string // "": no hover
	}{
		{"note", 1, 4, "two"},
		{"broken", 1, 22, "no such note"},
		{"web", 1, 40, "https://example.org/x"},
		{"no link", 0, 3, ""},
		{"far away", 99, 99, ""},
	} {
		var h *protocol.Hover
		s.at("textDocument/hover", u("index.md"), tt.line, tt.char, &h)
		switch {
		case tt.want == "" && h != nil:
			t.Errorf("%s: hover is %+v", tt.name, h)
		case tt.want != "" && (h == nil || !strings.Contains(h.Contents.(*protocol.MarkupContent).Value, tt.want)):
			t.Errorf("%s: hover is %+v, want %q", tt.name, h, tt.want)
		}
	}
	var where protocol.Location
	s.at("textDocument/definition", u("index.md"), 1, 4, &where)
	if where.URI != u("a.md") || where.Range.Start.Line != 6 {
		t.Errorf("definition is at %+v", where)
	}
	var nothing json.RawMessage
	s.at("textDocument/definition", u("index.md"), 1, 22, &nothing)
	if string(nothing) != "null" {
		t.Errorf("definition of a broken link is %s", nothing)
	}
	s.at("textDocument/hover", "untitled:x", 0, 0, &nothing)
	if string(nothing) != "null" {
		t.Errorf("hover in a document that is not open is %s", nothing)
	}
}

// An edit in one note mends a link in another, and closing it without saving breaks it again.
func TestOverlay(t *testing.T) {
	dir, u := folderOf(t, map[string]string{"index.md": "[n](new.md)\n", "new.txt": ""})
	s := start(t, New("notes"), uri.File(dir))
	s.open(u("index.md"), "[n](new.md)\n")
	s.messages(u("index.md"), 1)
	s.open(u("new.md"), "# New\n")
	s.messages(u("index.md"), 0)
	s.notify("textDocument/didClose", object{"textDocument": object{"uri": u("new.md")}})
	s.messages(u("index.md"), 1)
	s.open("untitled:Untitled-1", "[x](y.md)")
	if got := s.messages("untitled:Untitled-1", 0); len(got) != 0 {
		t.Errorf("an unsaved text has %q", got)
	}
}

func TestSampleWithoutFolder(t *testing.T) {
	for _, root := range []any{nil, "untitled:x", "file:///"} {
		s := start(t, New("notes"), root)
		var sum struct{ Notes, Links, Broken int }
		s.call("workspace/executeCommand", object{"command": Reindex}, &raw{&sum})
		if sum.Notes < 5 || sum.Broken != 2 {
			t.Errorf("root %v: %+v", root, sum)
		}
	}
}

type raw struct{ v any }

func (r *raw) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, r.v) }

func TestCommandErrors(t *testing.T) {
	s := start(t, New("notes"), nil)
	for name, params := range map[string]object{
		"no such command": {"command": "notes.burn"},
		"bad argument":    {"command": Reindex, "arguments": []any{"fast"}},
	} {
		if err := s.conn.Call(context.Background(), "workspace/executeCommand", params, nil); !errors.Is(err, jsonrpc2.ErrInvalidParams) {
			t.Errorf("%s: %v", name, err)
		}
	}
	call := s.conn.Go(context.Background(), "workspace/executeCommand", object{"command": Reindex, "arguments": []object{{"pauseMs": 100000}}})
	call.Cancel()
	if err := call.Wait(nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled command: %v", err)
	}
}

// A folder that cannot be read does not stop the session, and is said.
func TestFolderThatIsNone(t *testing.T) {
	missing := uri.File(filepath.Join(t.TempDir(), "missing"))
	s := start(t, New("notes"), missing)
	s.notify("initialized", object{})
	select {
	case m := <-s.shown:
		if !strings.Contains(m, "cannot be read") {
			t.Errorf("the user reads %q", m)
		}
	case <-time.After(patience):
		t.Fatal("the user hears nothing")
	}
	s.open(missing+"/a.md", "[x](y.md)")
	if got := s.messages(missing+"/a.md", 0); len(got) != 0 {
		t.Errorf("diagnostics are %q", got)
	}
}
