package editor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/lsp"
	"github.com/tandem-rpc/tandem/lsp/lsptest"
)

// workspace asks for all diagnostics, and returns them as "path code,code", and the ids for the next time.
func (x *together) workspace(c *lsptest.Client, known []object) (found string, ids []object) {
	x.t.Helper()
	if known == nil {
		known = []object{}
	}
	var r struct {
		Items []struct {
			URI      uri.URI `json:"uri"`
			Kind     string  `json:"kind"`
			ResultID string  `json:"resultId"`
			Items    []struct {
				Code string `json:"code"`
			} `json:"items"`
		} `json:"items"`
	}
	for {
		err := c.Try("workspace/diagnostic", object{"previousResultIds": known}, &r)
		if err == nil {
			break
		}
		if e, ok := errors.AsType[*jsonrpc2.Error](err); !ok || e.Code != lsp.CodeServerCancelled {
			x.t.Fatal(err)
		} // overtaken by a change: the editor is to ask again
	}
	var lines []string
	for _, item := range r.Items {
		rel, err := filepath.Rel(x.dir, item.URI.FsPath())
		if err != nil {
			x.t.Fatal(err)
		}
		line := filepath.ToSlash(rel)
		for i, p := range item.Items {
			line += []string{" ", ","}[min(i, 1)] + p.Code
		}
		if item.Kind == "unchanged" {
			line += " same"
		}
		lines = append(lines, line)
		ids = append(ids, object{"uri": item.URI, "value": item.ResultID})
	}
	slices.Sort(lines)
	return strings.Join(lines, "; "), ids
}

// until asks for all diagnostics until they are as wanted, each time the server says that they have changed.
func (x *together) until(c *lsptest.Client, what, want string) {
	x.t.Helper()
	const refresh = "workspace/diagnostic/refresh"
	for told := c.Count(refresh); ; told = c.Count(refresh) {
		found, _ := x.workspace(c, nil)
		// A note that had something wrong once is reported without anything.
		found = strings.Join(slices.DeleteFunc(strings.Split(found, "; "), func(s string) bool { return !strings.Contains(s, " ") }), "; ")
		if found == want {
			return
		}
		x.t.Logf("%s: %s", what, found[:min(len(found), 500)])
		c.Await(refresh, told+1)
	}
}

// An editor that asks for the workspace has what is wrong in notes that it has not opened, and is told to ask again when agents, the disk or its own
// typing make that something else.
func TestWorkspaceDiagnostics(t *testing.T) {
	x := join(t, map[string]string{
		"a.md": "# A\n[b](b.md#b) [gone](gone.md)\n", "b.md": "# B\n[a](a.md)\n", "sub/c.md": "# C\n# C\n[x](../x.png)\n\n[u]: a.md\n",
	})
	c := x.editor(nil)
	found, ids := x.workspace(c, nil)
	if want := "a.md broken-note; sub/c.md broken-file,duplicate-heading,unused-definition"; found != want {
		t.Fatalf("found %s, want %s", found, want)
	}
	if found, _ := x.workspace(c, ids); found != "a.md same; sub/c.md same" {
		t.Errorf("nothing has changed: %s", found)
	}
	const c1 = "sub/c.md broken-file,duplicate-heading,unused-definition"

	// What is open is as it is in the editor, and what it does to others is seen.
	b := c.Open(x.u("b.md"), x.file("b.md"))
	b.Edit("# B", "# Bee")
	x.until(c, "a heading that has gone", "a.md broken-heading,broken-note; "+c1)
	b.Insert("(a.md)", " [no](no.md)")
	if found, _ := x.workspace(c, nil); !strings.Contains(found, "b.md broken-note") {
		t.Errorf("the open note: %s", found)
	}
	b.Close()
	x.until(c, "closed without saving", "a.md broken-note; "+c1)

	// The disk.
	if err := os.WriteFile(x.u("gone.md").FsPath(), []byte("# Gone\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Notify("workspace/didChangeWatchedFiles", object{"changes": []object{{"uri": x.u("gone.md"), "type": 1}}})
	x.until(c, "a note that came", c1)

	// An agent.
	_, note, _ := x.call("read_note", map[string]any{"slug": "b"})
	if text, _, failed := x.call("edit_note", map[string]any{"slug": "b", "version": note["version"], "text": "# Other\n[c](c.md)\n"}); failed {
		t.Fatal(text)
	}
	x.until(c, "an agent's edit", "a.md broken-heading; b.md broken-note; "+c1)

	// Another editor has the note open: this one has the file.
	second := x.editor(&lsptest.Options{Preset: lsptest.Neovim})
	second.Open(x.u("b.md"), "# B\n[1](1.md) [2](2.md)\n")
	x.until(c, "another editor's text", "b.md broken-note; "+c1)
}

// Folders come and go.
func TestWorkspaceDiagnosticsOfFolders(t *testing.T) {
	x := join(t, map[string]string{"one/a.md": "[x](x.md)\n", "two/b.md": "[x](x.md)\n"})
	folder := func(name string) protocol.WorkspaceFolder {
		return protocol.WorkspaceFolder{URI: x.u(name), Name: name}
	}
	c := lsptest.New(t, x.d.LSP(), &lsptest.Options{Folders: []protocol.WorkspaceFolder{folder("one")}})
	x.until(c, "one folder", "one/a.md broken-note")
	c.Notify("workspace/didChangeWorkspaceFolders", object{"event": object{"added": []any{folder("two")}, "removed": []any{folder("one")}}})
	x.until(c, "another", "two/b.md broken-note")
}

// Thousands of broken links are not all sent, and an editor that is sent diagnostics gets none of notes that it has not opened.
func TestWorkspaceDiagnosticsAreBounded(t *testing.T) {
	files := map[string]string{}
	for i := range 12 {
		files[fmt.Sprintf("%02d.md", i)] = strings.Repeat("[x](gone.md)\n", 1000)
	}
	x := join(t, files)
	c := x.editor(nil)
	found, _ := x.workspace(c, nil)
	if n := strings.Count(found, "broken-note"); n != maxReported {
		t.Errorf("%d are reported", n)
	}
	pushed := x.editor(&lsptest.Options{Preset: lsptest.Eglot})
	doc := pushed.Open(x.u("new.md"), "[y](no.md)\n")
	if found := doc.Diagnostics(); len(found) != 1 {
		t.Errorf("the open note has %q", lsptest.Messages(found))
	}
	pushed.Close()
	if n := pushed.Count("textDocument/publishDiagnostics"); n > 3 {
		t.Errorf("%d times something was published", n)
	}
}
