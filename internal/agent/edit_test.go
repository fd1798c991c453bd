package agent

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tandem-rpc/tandem/internal/notes"
	"github.com/tandem-rpc/tandem/mcp"
	"github.com/tandem-rpc/tandem/mcp/mcptest"
)

// onDisk is a workspace of files.
func onDisk(t *testing.T, files map[string]string) *notes.Workspace {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	w, err := notes.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func file(t *testing.T, w *notes.Workspace, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(w.Dir(), filepath.FromSlash(name)))
	if err != nil {
		return "none"
	}
	return string(b)
}

// call runs a tool and returns all its text, and whether it failed.
func call(t *testing.T, c *mcptest.Client, tool string, arguments map[string]any) (text string, failed bool) {
	t.Helper()
	r, err := c.CallTool(t.Context(), tool, arguments)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	for _, b := range r.Content {
		text += b.Text
		if b.Resource != nil {
			text += b.Resource.Text
		}
	}
	return text, r.IsError
}

func versionOf(t *testing.T, w *notes.Workspace, slug string) string {
	t.Helper()
	n, ok := w.Note(slug)
	if !ok {
		t.Fatalf("no note %s", slug)
	}
	return n.Version
}

func TestEdit(t *testing.T) {
	for name, test := range map[string]struct {
		edit map[string]any
		want string // the text; "" for none
		says string
	}{
		"pieces":      {map[string]any{"edits": []any{map[string]any{"old": "two", "new": "2"}, map[string]any{"old": "# One", "new": "# 1"}}}, "# 1\n2 three three\n", "version"},
		"whole":       {map[string]any{"text": ""}, "empty", "version"},
		"not there":   {map[string]any{"edits": []any{map[string]any{"old": "four", "new": ""}}}, "", `the text has no "four"`},
		"twice there": {map[string]any{"edits": []any{map[string]any{"old": "three", "new": ""}}}, "", `"three" more than once`},
		"overlapping": {map[string]any{"edits": []any{map[string]any{"old": "two three", "new": ""}, map[string]any{"old": "One\ntwo", "new": ""}}}, "", "the same piece"},
		"both":        {map[string]any{"text": "", "edits": []any{map[string]any{"old": "two", "new": ""}}}, "", "not both"},
		"nothing":     {map[string]any{}, "", "nothing to do"},
		"no old":      {map[string]any{"edits": []any{map[string]any{"old": "", "new": "x"}}}, "", "/edits/0/old"},
		"stale":       {map[string]any{"version": "0", "text": "x"}, "", "# One\ntwo three three\n"},
	} {
		t.Run(name, func(t *testing.T) {
			w := onDisk(t, map[string]string{"a.md": "# One\ntwo three three\n"})
			var told []notes.Change
			c := mcptest.New(t, New(Options{Folders: Fixed(w), OnChange: func(_ *notes.Workspace, l []notes.Change) { told = append(told, l...) }}).Server, nil)
			arguments := map[string]any{"slug": "a", "version": versionOf(t, w, "a")}
			for k, v := range test.edit {
				arguments[k] = v
			}
			text, failed := call(t, c, "edit_note", arguments)
			want := test.want
			switch {
			case want == "":
				want = "# One\ntwo three three\n"
			case want == "empty":
				want = ""
			}
			if got := file(t, w, "a.md"); got != want {
				t.Errorf("the file has %q, want %q", got, want)
			}
			if failed != (test.want == "") || !strings.Contains(text, test.says) {
				t.Errorf("failed: %v, %q, want %q", failed, text, test.says)
			}
			if (len(told) == 1) != (test.want != "") {
				t.Errorf("told of %d changes", len(told))
			}
			if !failed && !strings.Contains(text, versionOf(t, w, "a")) {
				t.Errorf("%q has not the new version", text)
			}
		})
	}
}

// Of two agents that edit the same version one gets a conflict with the note as it is now.
func TestEditConflict(t *testing.T) {
	w := onDisk(t, map[string]string{"a.md": "0"})
	s := New(Options{Folders: Fixed(w)})
	version := versionOf(t, w, "a")
	type outcome struct {
		text   string
		failed bool
	}
	outcomes := make(chan outcome, 2)
	for _, x := range []string{"1", "2"} {
		c := mcptest.New(t, s.Server, nil)
		go func() {
			r, err := c.CallTool(t.Context(), "edit_note", map[string]any{"slug": "a", "version": version, "text": x})
			if err != nil {
				outcomes <- outcome{err.Error(), false}
				return
			}
			o := outcome{failed: r.IsError}
			for _, b := range r.Content {
				if b.Resource != nil {
					o.text += b.Resource.Text
				}
			}
			outcomes <- o
		}()
	}
	a, b := <-outcomes, <-outcomes
	if a.failed == b.failed {
		t.Fatalf("got %v and %v", a, b)
	}
	if now := file(t, w, "a.md"); a.text+b.text != now {
		t.Errorf("the conflict shows %q, the file has %q", a.text+b.text, now)
	}
}

func TestCreate(t *testing.T) {
	mcptest.Everywhere(t, func(t *testing.T, o mcptest.Options) {
		w := onDisk(t, map[string]string{"a.md": "old"})
		s := New(Options{Folders: Fixed(w)}).Server
		if text, failed := call(t, mcptest.New(t, s, &o), "create_note", map[string]any{"slug": "sub/b", "text": "# B\n"}); failed || file(t, w, "sub/b.md") != "# B\n" {
			t.Errorf("a new one: %s, the file has %q", text, file(t, w, "sub/b.md"))
		}
		over := map[string]any{"slug": "a", "text": "new"}
		if text, failed := call(t, mcptest.New(t, s, &o), "create_note", over); !failed || file(t, w, "a.md") != "old" {
			t.Errorf("nobody to ask: %s, the file has %q", text, file(t, w, "a.md"))
		}
		if o.Revision < "2025-06-18" {
			return // no questions yet
		}
		for _, reply := range []mcptest.Reply{mcptest.Decline(), mcptest.Accept(map[string]any{"confirm": true})} {
			ask := o
			var question string
			ask.Elicit = func(_ context.Context, q mcptest.Question) (mcptest.Reply, error) {
				question = q.Message
				return reply, nil
			}
			text, failed := call(t, mcptest.New(t, s, &ask), "create_note", over)
			want := map[bool]string{true: "old", false: "new"}[failed]
			if file(t, w, "a.md") != want || !strings.Contains(question, `Overwrite the note "a"`) {
				t.Errorf("%v: %s, asked %q, the file has %q", reply, text, question, file(t, w, "a.md"))
			}
		}
		if got := file(t, w, "a.md"); got != "new" {
			t.Errorf("agreed, and the file has %q", got)
		}
	})
}

func TestCreateRefused(t *testing.T) {
	w := onDisk(t, nil)
	c := mcptest.New(t, New(Options{Folders: Fixed(w)}).Server, nil)
	for _, slug := range []string{"../x", "/etc/x", "a/../../x", "a\x00b"} {
		if text, failed := call(t, c, "create_note", map[string]any{"slug": slug, "text": "x"}); !failed {
			t.Errorf("%q: %s", slug, text)
		}
	}
	mem := mcptest.New(t, New(Options{Folders: Fixed(notes.Sample())}).Server, nil)
	if text, failed := call(t, mem, "create_note", map[string]any{"slug": "x", "text": "x"}); !failed || !strings.Contains(text, "not in a folder on disk") {
		t.Errorf("in memory: %s", text)
	}
}

func TestRename(t *testing.T) {
	files := map[string]string{"a.md": "# One\n[b](sub/b.md#two)\n", "sub/b.md": "# Two\n[a](../a.md)\n"}
	for name, test := range map[string]struct {
		arguments map[string]any
		want      map[string]string
		failed    bool
	}{
		"note":         {map[string]any{"slug": "sub/b", "to": "c"}, map[string]string{"a.md": "# One\n[b](c.md#two)\n", "c.md": "# Two\n[a](a.md)\n", "sub/b.md": "none"}, false},
		"heading":      {map[string]any{"slug": "sub/b", "heading": "two", "to": "Zwei"}, map[string]string{"a.md": "# One\n[b](sub/b.md#zwei)\n", "sub/b.md": "# Zwei\n[a](../a.md)\n"}, false},
		"taken":        {map[string]any{"slug": "sub/b", "to": "a"}, files, true},
		"outside":      {map[string]any{"slug": "sub/b", "to": "../../b"}, files, true},
		"no heading":   {map[string]any{"slug": "sub/b", "heading": "three", "to": "x"}, files, true},
		"unknown note": {map[string]any{"slug": "c", "to": "d"}, files, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := onDisk(t, files)
			c := mcptest.New(t, New(Options{Folders: Fixed(w)}).Server, nil)
			text, failed := call(t, c, "rename", test.arguments)
			if failed != test.failed {
				t.Errorf("failed: %v, %s", failed, text)
			}
			for name, want := range test.want {
				if got := file(t, w, name); got != want {
					t.Errorf("%s has %q, want %q", name, got, want)
				}
			}
		})
	}
}

// editor is one that has a note open.
type editor struct {
	mu     sync.Mutex
	w      *notes.Workspace
	refuse error
	moves  []notes.Move
}

func (*editor) Settle(ctx context.Context) error { return ctx.Err() }

func (e *editor) Apply(_ context.Context, w *notes.Workspace, _ string, edits []notes.NoteEdits, move *notes.Move) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.refuse != nil {
		return e.refuse
	}
	for _, x := range edits {
		if _, err := w.SetOverlay(x.Note.Path, x.Apply(), x.Note.EditVersion+1); err != nil {
			return err
		}
	}
	if move != nil {
		e.moves = append(e.moves, *move)
	}
	return nil
}

// What lies open is changed in the editor and not in its file.
func TestEditOpenNote(t *testing.T) {
	w := onDisk(t, map[string]string{"a.md": "# A\n", "b.md": "[a](a.md#a) [a](a.md)\n"})
	if _, err := w.SetOverlay("a.md", "# A\nunsaved\n", 7); err != nil {
		t.Fatal(err)
	}
	e := &editor{w: w}
	c := mcptest.New(t, New(Options{Folders: Fixed(w), Editors: e}).Server, nil)
	if text, _ := call(t, c, "read_note", map[string]any{"slug": "a"}); text != "# A\nunsaved\n" {
		t.Errorf("read %q", text)
	}
	if text, failed := call(t, c, "rename", map[string]any{"slug": "a", "heading": "a", "to": "B"}); failed {
		t.Error(text)
	}
	n, _ := w.Note("a")
	if n.Text != "# B\nunsaved\n" || n.EditVersion != 8 || file(t, w, "a.md") != "# A\n" {
		t.Errorf("the editor has %q, version %d, the file %q", n.Text, n.EditVersion, file(t, w, "a.md"))
	}
	if got := file(t, w, "b.md"); got != "[a](a.md#b) [a](a.md)\n" {
		t.Errorf("b.md has %q", got)
	}
	if text, failed := call(t, c, "rename", map[string]any{"slug": "a", "to": "z"}); failed || len(e.moves) != 1 || e.moves[0] != (notes.Move{From: "a.md", To: "z.md"}) {
		t.Errorf("move: %s, %v", text, e.moves)
	}
	e.refuse = errors.New("the editor says no")
	version := versionOf(t, w, "a")
	if text, failed := call(t, c, "edit_note", map[string]any{"slug": "a", "version": version, "text": "x"}); !failed || !strings.Contains(text, "the editor says no") {
		t.Errorf("refused: %s", text)
	}
	if versionOf(t, w, "a") != version {
		t.Error("refused, and changed")
	}
	alone := mcptest.New(t, New(Options{Folders: Fixed(w)}).Server, nil)
	if text, failed := call(t, alone, "edit_note", map[string]any{"slug": "a", "version": version, "text": "x"}); !failed || !strings.Contains(text, "unsaved") {
		t.Errorf("without editors: %s", text)
	}
}

func TestFolders(t *testing.T) {
	first, second := onDisk(t, map[string]string{"a.md": "# A\nzebra\n", "@/x.md": "at"}), onDisk(t, map[string]string{"a.md": "# Other\nzebra [b](b.md)\n", "b.md": "# B\n"})
	s := New(Options{Folders: func(context.Context) ([]Folder, error) { return []Folder{{"one", first}, {"two", second}}, nil }})
	c := mcptest.New(t, s.Server, nil)
	for _, test := range []struct {
		tool, want string
		arguments  map[string]any
	}{
		{"list_notes", `"@two/b"`, nil},
		{"read_note", "# Other", map[string]any{"slug": "@two/a"}},
		{"read_note", "# A", map[string]any{"slug": "a"}},
		{"read_note", "at", map[string]any{"slug": "@/x"}},
		{"read_note", "no note has the slug", map[string]any{"slug": "@three/a"}},
		{"search", `"slug":"@two/a"`, map[string]any{"query": "zebra"}},
		{"backlinks", `"slug":"@two/a"`, map[string]any{"slug": "@two/b"}},
		{"outline", `"anchor":"other"`, map[string]any{"slug": "@two/a"}},
		{"check_links", `"problems":[]`, map[string]any{}},
		{"rename", "cannot leave its folder", map[string]any{"slug": "@two/b", "to": "b2"}},
		{"rename", `"changed":["@two/a"]`, map[string]any{"slug": "@two/b", "to": "@two/b2"}},
	} {
		if text, _ := call(t, c, test.tool, test.arguments); !strings.Contains(text, test.want) {
			t.Errorf("%s %v: %s, want %s", test.tool, test.arguments, text, test.want)
		}
	}
	none := mcptest.New(t, New(Options{Folders: func(context.Context) ([]Folder, error) { return nil, nil }}).Server, nil)
	if text, failed := call(t, none, "read_note", map[string]any{"slug": "a"}); !failed || !strings.Contains(text, "no folder is open") {
		t.Errorf("no folders: %s", text)
	}
}

// Who has subscribed to a note learns of an edit, and everybody of a new note.
func TestSubscriptions(t *testing.T) {
	mcptest.Everywhere(t, func(t *testing.T, o mcptest.Options) {
		w := onDisk(t, map[string]string{"a.md": "# A\n", "b.md": "# B\n"})
		s := New(Options{Folders: Fixed(w)})
		c := mcptest.New(t, s.Server, &o)
		stop, err := c.Watch(t.Context(), []mcp.List{mcp.Resources}, "notes://a")
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
		for _, slug := range []string{"b", "a"} {
			if text, failed := call(t, c, "edit_note", map[string]any{"slug": slug, "version": versionOf(t, w, slug), "text": "# New\n"}); failed {
				t.Fatal(text)
			}
		}
		p, err := c.Notification(t.Context(), "notifications/resources/updated")
		if err != nil {
			t.Fatal(err)
		}
		var told struct{ URI string }
		if err := json.Unmarshal(p, &told); err != nil || told.URI != "notes://a" {
			t.Errorf("told of %s", p)
		}
		if text, failed := call(t, c, "create_note", map[string]any{"slug": "c", "text": "x"}); failed {
			t.Fatal(text)
		}
		if _, err := c.Notification(t.Context(), "notifications/resources/list_changed"); err != nil {
			t.Error(err)
		}
	})
}
