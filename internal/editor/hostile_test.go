package editor

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/lsp/lsptest"
)

// patient is an editor that waits longer than a busy machine may need for what is large.
func patient() *lsptest.Options { return &lsptest.Options{Timeout: 5 * time.Minute} }

// Notes that link in circles, in a folder whose symbolic links do, and one of which leads out of it.
func TestCircles(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.md")
	if err := os.WriteFile(outside, []byte("# Secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	x := join(t, map[string]string{
		"a.md": "# A\n[b](sub/b.md#b) [a](#a)\n", "sub/b.md": "# B\n[a](../a.md#a) [[a]] [b](b.md)\n", "c.md": "[s](secret.md) [r](round.md) [a](sub/up/a.md)\n",
	})
	for name, to := range map[string]string{"sub/up": "..", "sub/self": ".", "round.md": "round2.md", "round2.md": "round.md", "secret.md": outside} {
		if err := os.Symlink(to, filepath.Join(x.dir, filepath.FromSlash(name))); err != nil {
			if runtime.GOOS == "windows" && os.Getenv("CI") != "true" {
				t.Skip("no right to make symbolic links:", err)
			}
			t.Fatal(err)
		}
	}
	c := x.editor(&lsptest.Options{Files: map[uri.URI]string{x.u("a.md"): x.file("a.md")}})
	b := c.Open(x.u("sub/b.md"), x.file("sub/b.md"))
	if found := b.Diagnostics(); len(found) > 0 {
		t.Errorf("found %q", lsptest.Messages(found))
	}
	if n := len(b.References("# B")); n != 3 {
		t.Errorf("%d references", n)
	}
	edit := b.Rename("# B", "Bee")
	c.Apply(edit)
	if got := b.Text(); got != "# Bee\n[a](../a.md#a) [[a]] [b](b.md)\n" {
		t.Errorf("renamed: %q", got)
	}
	if got, _ := c.File(x.u("a.md")); got != "# A\n[b](sub/b.md#bee) [a](#a)\n" {
		t.Errorf("renamed elsewhere: %q", got)
	}
	doc := c.Open(x.u("c.md"), x.file("c.md"))
	if got := doc.HoverText("secret"); strings.Contains(got, "Secret") {
		t.Errorf("a note outside is shown: %q", got)
	}
	// The same file by a way around is the same note, or none of the folder's; either way it is answered.
	around := c.Open(x.u("sub/up/a.md"), x.file("a.md"))
	around.Edit("(#a)", "(#zzz)")
	if found := around.Diagnostics(); len(found) != 1 {
		t.Errorf("by a way around: %q", lsptest.Messages(found))
	}
	if found, _ := x.workspace(c, nil); strings.Contains(found, "round") || strings.Contains(found, "self") || strings.Contains(found, "secret.md broken") {
		t.Errorf("found %s", found)
	}
}

// Names that differ only in case are two notes, where the file system has them as two.
func TestCaseCollisions(t *testing.T) {
	x := join(t, map[string]string{"A.md": "# Upper\n", "a.md": "# Lower\n", "l.md": "[1](A.md) [2](a.md) [3](A.md#upper) [4](a.md#lower)\n"})
	if x.file("A.md") == x.file("a.md") {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI must have a file system that tells A.md from a.md")
		}
		t.Skip("this file system has one file for both")
	}
	c := x.editor(nil)
	doc := c.Open(x.u("l.md"), x.file("l.md"))
	if found := doc.Diagnostics(); len(found) > 0 {
		t.Errorf("found %q", lsptest.Messages(found))
	}
	for at, want := range map[string]string{"[1]": "A.md", "[2]": "a.md", "[3]": "A.md", "[4]": "a.md"} {
		if to := doc.Definition(at); len(to) != 1 || to[0].URI != x.u(want) {
			t.Errorf("%s leads to %v", at, to)
		}
	}
	upper, lower := c.Open(x.u("A.md"), "# Upper\n"), c.Open(x.u("a.md"), "# Lower\n")
	upper.Insert("# Upper\n", "[x](no.md)\n")
	if found := lower.Diagnostics(); len(found) > 0 {
		t.Errorf("one has what is wrong in the other: %q", lsptest.Messages(found))
	}
	if found := upper.Diagnostics(); len(found) != 1 {
		t.Errorf("found %q", lsptest.Messages(found))
	}
	c.Apply(upper.Rename("Upper", "Highest"))
	if got := doc.Text(); got != "[1](A.md) [2](a.md) [3](A.md#highest) [4](a.md#lower)\n" {
		t.Errorf("after the rename: %q", got)
	}
	doc.Insert("[4](a.md#lower)", " [5](")
	offered := map[string]bool{}
	for _, item := range doc.Complete("[5](").Items {
		if e, ok := item.TextEdit.(*protocol.InsertReplaceEdit); ok {
			offered[e.NewText] = true
		}
	}
	if !offered["A.md"] || !offered["a.md"] {
		t.Errorf("offered: %v", slices.Sorted(maps.Keys(offered)))
	}
}

// Files that are not valid UTF-8, or have other line ends, count in places like others.
func TestHostileFiles(t *testing.T) {
	x := join(t, map[string]string{
		"latin.md": "# \xc4rger\r\n\xe4 [x](gone.md) [b](b.md)\r\n", "utf16.md": "\xff\xfe#\x00 \x00A\x00\n\x00", "nul.md": "\x00\x00 [x](gone.md)\n",
		"crlf.md": "\ufeff# C\r\n\r\n[x](gone.md)\r\n", "cr.md": "# C\r[x](gone.md)\r", "b.md": "# B\r\n[l](latin.md)\r\n",
	})
	c := x.editor(nil)
	found, _ := x.workspace(c, nil)
	if want := "cr.md broken-note; crlf.md broken-note; latin.md broken-note; nul.md broken-note"; found != want {
		t.Errorf("found %s, want %s", found, want)
	}
	// An editor shows such a file with replacements, and everything else is as usual.
	text := strings.ToValidUTF8(x.file("latin.md"), "\uFFFD")
	doc := c.Open(x.u("latin.md"), text)
	list := doc.Diagnostics()
	if len(list) != 1 || doc.In(list[0].Range) != "gone.md" {
		t.Errorf("found %+v", list)
	}
	doc.Edit("gone.md", "b.md#b")
	doc.Until(func(found []protocol.Diagnostic) bool { return len(found) == 0 })
	for _, text := range []string{"# B\r\n", "# B\r", "# B\n\r\n\r\r", "\ufeff# B"} {
		doc.SetText(text + "[x](gone.md)")
		if list := doc.Diagnostics(); len(list) != 1 && !strings.HasSuffix(text, "B") {
			t.Errorf("%q: found %+v", text, list)
		}
	}
}

// A note with very many broken links is answered within bounds, whatever is asked about it.
func TestManyBrokenLinks(t *testing.T) {
	links := 100_000
	if testing.Short() || raceEnabled {
		links = 10_000
	}
	text := strings.Repeat("[x](othr.md) ", links) + "\n"
	x := join(t, map[string]string{"a.md": text, "other.md": "# O\n"})
	c := x.editor(patient())
	doc := c.Open(x.u("a.md"), text)
	if n := len(doc.Diagnostics()); n != maxProblems {
		t.Errorf("%d diagnostics", n)
	}
	whole := protocol.Range{End: protocol.Position{Line: 1}}
	actions := func(only ...protocol.CodeActionKind) []protocol.CodeAction {
		return lsptest.Request[[]protocol.CodeAction](c, "textDocument/codeAction", &protocol.CodeActionParams{
			TextDocument: doc.ID(), Range: whole, Context: protocol.CodeActionContext{Only: only, Diagnostics: []protocol.Diagnostic{}},
		})
	}
	if n := len(actions(protocol.CodeActionKindQuickFix)); n == 0 || n > 5*maxFixed {
		t.Errorf("%d actions", n)
	}
	if all := actions(kindFixAll); len(all) != 1 {
		t.Errorf("%d actions for all", len(all))
	} else {
		c.Apply(all[0].Edit)
	}
	if n := strings.Count(doc.Text(), "(other.md)"); n != maxFixed {
		t.Errorf("%d links are mended", n)
	}
}

// The disk changes faster than anybody can follow, and the editor says so too: in the end the diagnostics are right.
func TestFlood(t *testing.T) {
	files := map[string]string{"index.md": "# Index\n"}
	const n = 500
	for i := range n {
		files[fmt.Sprintf("d%d/%d.md", i%10, i)] = fmt.Sprintf("# N\n[x](%d.md)\n", i)
	}
	x := join(t, files)
	c := x.editor(patient())
	x.until(c, "in the beginning", "")
	var events []object
	for round := range 3 {
		for i := range n {
			name := fmt.Sprintf("d%d/%d.md", i%10, i)
			to := fmt.Sprintf("%d.md", i)
			if round == 2 && i == 77 || round == 1 {
				to = "gone.md"
			}
			if err := os.WriteFile(x.u(name).FsPath(), []byte("# N\n[x]("+to+")\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			events = append(events, object{"uri": x.u(name), "type": 2})
		}
	}
	c.Notify("workspace/didChangeWatchedFiles", object{"changes": events})
	x.until(c, "in the end", "d7/77.md broken-note")
}
