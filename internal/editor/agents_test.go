package editor

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/lsp/lsptest"
	"github.com/tandem-rpc/tandem/mcp"
	"github.com/tandem-rpc/tandem/mcp/mcptest"
)

// together is an editor and an agent at the same notes.
type together struct {
	t     testing.TB
	d     *Server
	u     func(string) uri.URI
	dir   string
	agent *mcptest.Client
}

func join(t testing.TB, files map[string]string) *together {
	t.Helper()
	d := New("notes")
	t.Cleanup(d.Close)
	agents := d.Agents()
	dir, u := folderOf(t, files)
	return &together{t: t, d: d, u: u, dir: dir, agent: mcptest.New(t, agents.Server, nil)}
}

func (x *together) editor(o *lsptest.Options) *lsptest.Client {
	x.t.Helper()
	if o == nil {
		o = new(lsptest.Options)
	}
	o.Folders = []protocol.WorkspaceFolder{{URI: uri.File(x.dir), Name: "notes"}}
	return lsptest.New(x.t, x.d.LSP(), o)
}

// call runs a tool of the agent's.
func (x *together) call(tool string, arguments map[string]any) (text string, structured map[string]any, failed bool) {
	x.t.Helper()
	r, err := x.agent.CallTool(x.t.Context(), tool, arguments)
	if err != nil {
		x.t.Fatalf("%s: %v", tool, err)
	}
	for _, b := range r.Content {
		text += b.Text
		if b.Resource != nil {
			text += b.Resource.Text
		}
	}
	if len(r.Structured) > 0 {
		if err := json.Unmarshal(r.Structured, &structured); err != nil {
			x.t.Fatal(err)
		}
	}
	return text, structured, r.IsError
}

func (x *together) file(name string) string {
	b, err := os.ReadFile(filepath.Join(x.dir, name))
	if err != nil {
		return "none"
	}
	return string(b)
}

// An agent reads what is not saved, and its edit appears in the editor and not in the file; the editor's edits reach the agent that has subscribed.
func TestTogether(t *testing.T) {
	x := join(t, map[string]string{"a.md": "# A\n", "b.md": "# B\n[a](a.md)\n"})
	c := x.editor(nil)
	doc := c.Open(x.u("a.md"), "# A\n")
	doc.Insert("# A\n", "see [x](x.md) 😀 and more\n")
	c.Sync()

	text, note, _ := x.call("read_note", map[string]any{"slug": "a"})
	if text != doc.Text() || note["unsaved"] != true {
		t.Errorf("the agent reads %q, %v", text, note)
	}
	if found, _, _ := x.call("check_links", map[string]any{"slug": "a"}); !strings.Contains(found, "x.md") {
		t.Errorf("the agent sees the problems %s", found)
	}
	stop, err := x.agent.Watch(t.Context(), []mcp.List{mcp.Resources}, "notes://a")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if text, _, failed := x.call("edit_note", map[string]any{"slug": "a", "version": note["version"], "edits": []any{
		map[string]any{"old": "and more", "new": "and 𝄞 more"}, map[string]any{"old": "[x](x.md)", "new": "[b](b.md)"}}}); failed {
		t.Fatal(text)
	}
	if got := doc.Text(); got != "# A\nsee [b](b.md) 😀 and 𝄞 more\n" {
		t.Errorf("the editor has %q", got)
	}
	if got := x.file("a.md"); got != "# A\n" {
		t.Errorf("the file has %q", got)
	}
	if found := doc.Diagnostics(); len(found) > 0 {
		t.Errorf("after the agent mended the link: %q", lsptest.Messages(found))
	}
	updated := func() {
		t.Helper()
		if p, err := x.agent.Notification(t.Context(), "notifications/resources/updated"); err != nil || !strings.Contains(string(p), "notes://a") {
			t.Errorf("the agent is told %s, %v", p, err)
		}
	}
	updated() // its own edit
	doc.Type("more", "!")
	updated()

	// Somebody who read before that is told what the note is now.
	if text, _, failed := x.call("edit_note", map[string]any{"slug": "a", "version": note["version"], "text": "x"}); !failed || !strings.Contains(text, "𝄞 more!") {
		t.Errorf("an edit of an old version: %s", text)
	}
}

// What is not open is changed in its file, and editors learn of it.
func TestTogetherFiles(t *testing.T) {
	x := join(t, map[string]string{"a.md": "# A\n", "b.md": "# B\n[new](new.md) [c](c.md#old)\n", "c.md": "# Old\n"})
	c := x.editor(nil)
	doc := c.Open(x.u("b.md"), x.file("b.md"))
	if found := doc.Diagnostics(); len(found) != 1 {
		t.Fatalf("found %q", lsptest.Messages(found))
	}
	if text, _, failed := x.call("create_note", map[string]any{"slug": "new", "text": "# New\n"}); failed {
		t.Fatal(text)
	}
	doc.Until(func(found []protocol.Diagnostic) bool { return len(found) == 0 })
	// A heading that an open note links to: the link is edited in the editor, the heading in its file.
	if text, _, failed := x.call("rename", map[string]any{"slug": "c", "heading": "old", "to": "Renewed"}); failed {
		t.Fatal(text)
	}
	if doc.Text() != "# B\n[new](new.md) [c](c.md#renewed)\n" || x.file("c.md") != "# Renewed\n" || !strings.Contains(x.file("b.md"), "#old") {
		t.Errorf("the editor has %q, the files %q and %q", doc.Text(), x.file("c.md"), x.file("b.md"))
	}
	doc.Until(func(found []protocol.Diagnostic) bool { return len(found) == 0 })
	// A note that is open moves in the editor, which knows how to.
	if text, _, failed := x.call("rename", map[string]any{"slug": "b", "to": "sub/b"}); failed {
		t.Fatal(text)
	}
	if _, ok := c.File(x.u("sub/b.md")); !ok {
		t.Errorf("the editor has not moved the note")
	}
}

// An editor that refuses leaves everything as it is, and the agent learns why.
func TestTogetherRefused(t *testing.T) {
	x := join(t, map[string]string{"a.md": "# A\n"})
	c := x.editor(&lsptest.Options{Answer: map[string]func(context.Context, json.RawMessage) (any, error){
		"workspace/applyEdit": func(context.Context, json.RawMessage) (any, error) {
			return map[string]any{"applied": false, "failureReason": "the user is typing"}, nil
		},
	}})
	doc := c.Open(x.u("a.md"), "# A\nunsaved\n")
	c.Sync()
	_, note, _ := x.call("read_note", map[string]any{"slug": "a"})
	if text, _, failed := x.call("edit_note", map[string]any{"slug": "a", "version": note["version"], "text": "x"}); !failed || !strings.Contains(text, "the user is typing") {
		t.Errorf("the agent is told %q", text)
	}
	if doc.Text() != "# A\nunsaved\n" || x.file("a.md") != "# A\n" {
		t.Errorf("the editor has %q, the file %q", doc.Text(), x.file("a.md"))
	}
}

// The agent outlives editors: their folders come and go.
func TestTogetherComeAndGo(t *testing.T) {
	x := join(t, map[string]string{"a.md": "# A\n"})
	if text, _, failed := x.call("read_note", map[string]any{"slug": "a"}); !failed || !strings.Contains(text, "no folder is open") {
		t.Errorf("without an editor: %s", text)
	}
	first := x.editor(nil)
	first.Open(x.u("a.md"), "# A\nfirst\n")
	second := x.editor(&lsptest.Options{Preset: lsptest.Neovim})
	second.Open(x.u("a.md"), "# A\nsecond\n")
	second.Sync()
	if text, _, _ := x.call("read_note", map[string]any{"slug": "a"}); text != "# A\nsecond\n" {
		t.Errorf("the agent reads %q, want what the last editor had", text)
	}
	second.Close()
	for late := time.After(time.Minute); ; { // the end of a connection is seen a moment later
		rung := x.d.bell()
		if text, _, _ := x.call("read_note", map[string]any{"slug": "a"}); text == "# A\nfirst\n" {
			break
		}
		select {
		case <-rung:
		case <-late:
			t.Fatal("the agent still reads what the second editor had")
		}
	}
	first.Close()
	for late := time.Now().Add(time.Minute); ; {
		if text, _, failed := x.call("read_note", map[string]any{"slug": "a"}); failed && strings.Contains(text, "no folder is open") {
			break
		} else if time.Now().After(late) {
			t.Fatalf("the agent still reads %q", text)
		}
	}
}

// While somebody types fast, what is published of any version is what is wrong with that version, in each of two editors.
func TestDiagnosticsWhileTyping(t *testing.T) {
	x := join(t, map[string]string{"a.md": "# A\n"})
	neovim := func(c *protocol.ClientCapabilities) { c.TextDocument.Diagnostic = nil }
	first, second := x.editor(&lsptest.Options{Preset: lsptest.Neovim, Capabilities: neovim}), x.editor(&lsptest.Options{Preset: lsptest.Neovim, Capabilities: neovim})
	text := "# A\n[gone](gone.md)\n"
	one, two := first.Open(x.u("a.md"), text), second.Open(x.u("a.md"), text+"more\n")
	for range 300 {
		one.Insert("# A", "x")
		two.Insert("# A", "y")
	}
	for _, doc := range []*lsptest.Doc{one, two} {
		if found := doc.Diagnostics(); len(found) != 1 {
			t.Errorf("in the end: %q", lsptest.Messages(found))
		}
	}
	for _, c := range []*lsptest.Client{first, second} {
		published := 0
		for _, e := range c.Transcript() {
			m := string(e.Payload)
			if !strings.Contains(m, `"textDocument/publishDiagnostics"`) {
				continue
			}
			if published++; strings.Contains(m, `"diagnostics":[]`) {
				t.Errorf("published: %s", m)
			}
		}
		if published == 0 {
			t.Error("nothing was published")
		}
	}
}
