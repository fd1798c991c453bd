package agent

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/tandem-rpc/tandem/internal/notes"
	"github.com/tandem-rpc/tandem/mcp"
	"github.com/tandem-rpc/tandem/mcp/mcptest"
)

func folders(list ...Folder) func(context.Context) ([]Folder, error) {
	return func(context.Context) ([]Folder, error) { return list, nil }
}

// Names that mean something in URIs, paths or letters of two cases: each note is listed, read by slug and by URI, edited and renamed as any other.
func TestHostileNames(t *testing.T) {
	names := []string{"first day", "a#b", "100%", "50%25", "größe", "日本語", "a&b=c", "it's", "q(1)", "[x]", "+plus+", "a;b", "~tilde", "deep/er/n o t e"}
	if runtime.GOOS == "linux" { // where files that differ in case are two
		names = append(names, "Readme", "README", "readMe")
	}
	files := map[string]string{}
	for _, name := range names {
		files[name+".md"] = "# Note " + name + "\n"
	}
	w := onDisk(t, files)
	c := mcptest.New(t, New(Options{Folders: Fixed(w)}).Server, nil)
	var list listOutput
	structured(t, c, "list_notes", nil, &list)
	if len(list.Notes) != len(names) {
		t.Fatalf("%d notes of %d", len(list.Notes), len(names))
	}
	for _, n := range list.Notes {
		text := files[n.Slug+".md"]
		if said, failed := call(t, c, "read_note", map[string]any{"slug": n.Slug}); failed || said != text {
			t.Errorf("%q: %q", n.Slug, said)
		}
		contents, err := c.Read(t.Context(), n.URI)
		if err != nil || len(contents) != 1 || contents[0].Text != text || contents[0].URI != n.URI {
			t.Errorf("%q: %+v, %v", n.URI, contents, err)
		}
		if strings.ContainsAny(n.URI[len(scheme):], " #/?[]") {
			t.Errorf("%q is no URI", n.URI)
		}
		if said, failed := call(t, c, "edit_note", map[string]any{"slug": n.Slug, "version": versionOf(t, w, n.Slug), "text": text + "more\n"}); failed || file(t, w, n.Slug+".md") != text+"more\n" {
			t.Errorf("%q: %s", n.Slug, said)
		}
	}
	if said, failed := call(t, c, "create_note", map[string]any{"slug": "links", "text": "[a](<a#b.md>) [b](a%23b.md) [c](100%25.md) [[first day]] [d](first%20day.md)\n"}); failed {
		t.Fatal(said)
	}
	var problems checkOutput
	structured(t, c, "check_links", map[string]any{"slug": "links"}, &problems)
	if len(problems.Problems) != 1 || problems.Problems[0].Text != "a#b.md" { // a heading of a.md, which is not there
		t.Errorf("problems: %+v", problems.Problems)
	}
	if said, failed := call(t, c, "rename", map[string]any{"slug": "100%", "to": "99 % sure #1"}); failed || !strings.Contains(file(t, w, "links.md"), "99%20%25%20sure%20%231.md") {
		t.Errorf("renamed: %s, the link is in %q", said, file(t, w, "links.md"))
	}
}

// What an agent writes into a note with CRLF, or with bytes that are no UTF-8, leaves the rest as it is, or is refused.
func TestHostileTexts(t *testing.T) {
	w := onDisk(t, map[string]string{"crlf.md": "# One\r\ntwo\r\n\r\n## Three\r\n", "bad.md": "# Bad \xff\xfe\nbytes \xc3\n", "link.md": "[x](crlf.md#three)\r\n"})
	c := mcptest.New(t, New(Options{Folders: Fixed(w)}).Server, nil)
	if said, failed := call(t, c, "edit_note", map[string]any{"slug": "crlf", "version": versionOf(t, w, "crlf"), "edits": []any{map[string]any{"old": "two", "new": "2"}}}); failed {
		t.Error(said)
	}
	if said, failed := call(t, c, "rename", map[string]any{"slug": "crlf", "heading": "three", "to": "3"}); failed {
		t.Error(said)
	}
	if a, b := file(t, w, "crlf.md"), file(t, w, "link.md"); a != "# One\r\n2\r\n\r\n## 3\r\n" || b != "[x](crlf.md#3)\r\n" {
		t.Errorf("the files have %q and %q", a, b)
	}
	said, failed := call(t, c, "read_note", map[string]any{"slug": "bad"})
	if failed || !strings.HasPrefix(said, "# Bad \uFFFD") {
		t.Errorf("read %q", said)
	}
	if said, failed := call(t, c, "edit_note", map[string]any{"slug": "bad", "version": versionOf(t, w, "bad"), "text": "# Good\n"}); failed || file(t, w, "bad.md") != "# Good\n" {
		t.Errorf("mended: %s, %q", said, file(t, w, "bad.md"))
	}
}

// Notes that link to each other in circles, and symbolic links in circles or out of the folder.
func TestCircles(t *testing.T) {
	outside := onDisk(t, map[string]string{"secret.md": "# Secret\n"})
	w := onDisk(t, map[string]string{"a.md": "# Alpha\n[a](a.md) [b](b.md#b)\n", "b.md": "# B\n[[a]] [out](out.md)\n"})
	for name, target := range map[string]string{"loop": ".", "self.md": "self.md", "out.md": filepath.Join(outside.Dir(), "secret.md"), "in.md": "a.md"} {
		if err := os.Symlink(target, filepath.Join(w.Dir(), name)); err != nil {
			if runtime.GOOS == "windows" && os.Getenv("CI") != "true" {
				t.Skip("no right to make symbolic links:", err)
			}
			t.Fatal(err)
		}
	}
	if _, err := w.Refresh("."); err != nil {
		t.Fatal(err)
	}
	c := mcptest.New(t, New(Options{Folders: Fixed(w)}).Server, nil)
	var list listOutput
	structured(t, c, "list_notes", nil, &list)
	if len(list.Notes) != 3 { // a, b and in, which is a
		t.Errorf("notes: %+v", list.Notes)
	}
	if said, failed := call(t, c, "rename", map[string]any{"slug": "a", "to": "c"}); failed || file(t, w, "c.md") != "# Alpha\n[a](c.md) [b](b.md#b)\n" || file(t, w, "b.md") != "# B\n[[c]] [out](out.md)\n" {
		t.Errorf("%s: %q, %q", said, file(t, w, "c.md"), file(t, w, "b.md"))
	}
	for _, slug := range []string{"out", "self", "loop/b"} {
		if said, failed := call(t, c, "create_note", map[string]any{"slug": slug, "text": "x"}); !failed || file(t, outside, "secret.md") != "# Secret\n" {
			t.Errorf("%s: %s, and the file outside has %q", slug, said, file(t, outside, "secret.md"))
		}
		if said, failed := call(t, c, "read_note", map[string]any{"slug": slug}); !failed {
			t.Errorf("read %s: %s", slug, said)
		}
	}
}

// A file that vanishes, or changes, between an agent's reading and its edit.
func TestChangedBehind(t *testing.T) {
	w := onDisk(t, map[string]string{"gone.md": "old\n", "theirs.md": "old\n"})
	c := mcptest.New(t, New(Options{Folders: Fixed(w)}).Server, nil)
	version := versionOf(t, w, "gone")
	remove(t, w, "gone.md")
	if said, failed := call(t, c, "edit_note", map[string]any{"slug": "gone", "version": version, "text": "new"}); !failed || !strings.Contains(said, "is gone") || !strings.Contains(said, "create_note") {
		t.Errorf("deleted: %s", said)
	}
	if said, failed := call(t, c, "create_note", map[string]any{"slug": "gone", "text": "new"}); failed || file(t, w, "gone.md") != "new" {
		t.Errorf("made again: %s", said)
	}
	if err := os.WriteFile(filepath.Join(w.Dir(), "theirs.md"), []byte("theirs\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := c.CallTool(t.Context(), "edit_note", map[string]any{"slug": "theirs", "version": version, "text": "mine"})
	if err != nil || !r.IsError {
		t.Fatalf("%v, %+v", err, r)
	}
	// The conflict has all that a second try needs.
	var now struct {
		Version  string
		Conflict bool
	}
	if err := json.Unmarshal([]byte(r.Content[1].Text), &now); err != nil || !now.Conflict || now.Version != versionOf(t, w, "theirs") || r.Content[2].Resource.Text != "theirs\n" {
		t.Fatalf("%v: %+v", err, r)
	}
	if said, failed := call(t, c, "edit_note", map[string]any{"slug": "theirs", "version": now.Version, "edits": []any{map[string]any{"old": "theirs", "new": "ours"}}}); failed || file(t, w, "theirs.md") != "ours\n" {
		t.Errorf("again: %s, the file has %q", said, file(t, w, "theirs.md"))
	}
}

// A disk that is full: nothing is lost, and the model is told.
func TestFullDisk(t *testing.T) {
	dir := onDisk(t, map[string]string{"a.md": "# A\nprecious\n", "b.md": "[a](a.md#a)\n"}).Dir()
	w, err := notes.Open(dir, &notes.Options{Wrap: func(out io.Writer) io.Writer { return full{} }})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	told := 0
	c := mcptest.New(t, New(Options{Folders: Fixed(w), OnChange: func(*notes.Workspace, []notes.Change) { told++ }}).Server, nil)
	for tool, arguments := range map[string]map[string]any{
		"edit_note":   {"slug": "a", "version": versionOf(t, w, "a"), "text": "x"},
		"create_note": {"slug": "c", "text": "x"},
		"rename":      {"slug": "a", "heading": "a", "to": "B"},
	} {
		said, failed := call(t, c, tool, arguments)
		if !failed || !strings.Contains(said, "is as it was") || !strings.Contains(said, syscall.ENOSPC.Error()) {
			t.Errorf("%s: %s", tool, said)
		}
		if strings.Contains(said, dir) {
			t.Errorf("%s tells where the folder is: %s", tool, said)
		}
	}
	if a, b, c := file(t, w, "a.md"), file(t, w, "b.md"), file(t, w, "c.md"); a != "# A\nprecious\n" || b != "[a](a.md#a)\n" || c != "none" || told != 0 {
		t.Errorf("the files have %q, %q and %q; told of %d changes", a, b, c, told)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("%v are left, %v", left, err)
	}
	if said, failed := call(t, c, "read_note", map[string]any{"slug": "a"}); failed || said != "# A\nprecious\n" {
		t.Errorf("read %q", said)
	}
}

// A text that is longer than notes may be.
func TestTooLarge(t *testing.T) {
	w, err := notes.Open(onDisk(t, map[string]string{"a.md": "# A\n"}).Dir(), &notes.Options{MaxNote: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	c := mcptest.New(t, New(Options{Folders: Fixed(w)}).Server, nil)
	long := strings.Repeat("x", 101)
	for tool, arguments := range map[string]map[string]any{
		"edit_note":   {"slug": "a", "version": versionOf(t, w, "a"), "text": long},
		"create_note": {"slug": "c", "text": long},
	} {
		if said, failed := call(t, c, tool, arguments); !failed || !strings.Contains(said, "101 bytes, the limit is 100; make several notes of it") {
			t.Errorf("%s: %s", tool, said)
		}
	}
	if a := file(t, w, "a.md"); a != "# A\n" {
		t.Errorf("the file has %q", a)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// Every tool says what it does to the notes, has a schema for what it returns, and describes all that it takes.
func TestToolbox(t *testing.T) {
	w := inMemory(t, map[string]string{"a.md": ""})
	c := mcptest.New(t, New(Options{Folders: Fixed(w)}).Server, nil)
	tools, err := c.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	writes := map[string]bool{"create_note": true, "edit_note": true, "rename": true}
	for _, tool := range tools {
		a := tool.Annotations
		if a == nil || a.ReadOnlyHint == nil || a.DestructiveHint == nil || a.IdempotentHint == nil || a.OpenWorldHint == nil {
			t.Errorf("%s: hints are missing: %+v", tool.Name, a)
			continue
		}
		if *a.ReadOnlyHint == writes[tool.Name] || *a.DestructiveHint != writes[tool.Name] || !*a.IdempotentHint || *a.OpenWorldHint {
			t.Errorf("%s: wrong hints: reads %v, destroys %v, idempotent %v, open world %v", tool.Name, *a.ReadOnlyHint, *a.DestructiveHint, *a.IdempotentHint, *a.OpenWorldHint)
		}
		if tool.Title == "" || len(tool.Description) < 20 {
			t.Errorf("%s: %q, %q", tool.Name, tool.Title, tool.Description)
		}
		schema := func(v any) (s struct {
			Type       string
			Properties map[string]struct{ Description string }
		}) {
			b, err := json.Marshal(v)
			if err != nil || json.Unmarshal(b, &s) != nil || s.Type != "object" {
				t.Errorf("%s: schema %s", tool.Name, b)
			}
			return s
		}
		if len(schema(tool.OutputSchema).Properties) == 0 {
			t.Errorf("%s: nothing comes out", tool.Name)
		}
		for name, p := range schema(tool.InputSchema).Properties {
			if p.Description == "" {
				t.Errorf("%s: %s is not described", tool.Name, name)
			}
		}
	}
	if len(tools) != 10 {
		t.Errorf("%d tools", len(tools))
	}
}

// A call that is made again, because its answer was lost, does nothing more and asks nobody.
func TestAgain(t *testing.T) {
	w := onDisk(t, map[string]string{"a.md": "# A\n"})
	asked := 0
	c := mcptest.New(t, New(Options{Folders: Fixed(w)}).Server, &mcptest.Options{Elicit: func(context.Context, mcptest.Question) (mcptest.Reply, error) {
		asked++
		return mcptest.Decline(), nil
	}})
	for range 2 {
		if said, failed := call(t, c, "create_note", map[string]any{"slug": "b", "text": "# B\n"}); failed || asked != 0 {
			t.Errorf("create: %s, asked %d times", said, asked)
		}
	}
	edit := map[string]any{"slug": "a", "version": versionOf(t, w, "a"), "edits": []any{map[string]any{"old": "A", "new": "AA"}}}
	for _, fails := range []bool{false, true} {
		if said, failed := call(t, c, "edit_note", edit); failed != fails || file(t, w, "a.md") != "# AA\n" {
			t.Errorf("edit: %s, the file has %q", said, file(t, w, "a.md"))
		}
	}
}

// Templates complete slugs.
func TestCompletion(t *testing.T) {
	files := map[string]string{}
	for _, name := range []string{"deploy", "guides/deploy two", "x"} {
		files[name+".md"] = ""
	}
	c := mcptest.New(t, New(Options{Folders: Fixed(inMemory(t, files))}).Server, nil)
	templates, err := c.Templates(t.Context())
	if err != nil || len(templates) != 1 {
		t.Fatalf("%+v, %v", templates, err)
	}
	got, err := c.Complete(t.Context(), mcp.CompleteRequest{Template: templates[0].URITemplate, Name: "slug", Value: "dep"})
	if err != nil || strings.Join(got.Values, "|") != "deploy|guides/deploy two" {
		t.Errorf("%+v, %v", got, err)
	}
}
