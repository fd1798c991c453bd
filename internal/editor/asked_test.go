package editor

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/lsp/lsptest"
)

// Several ranges are formatted in one go, each table once; the end of the note is as the editor wants it.
func TestFormattingRanges(t *testing.T) {
	const one, two, three = "|a|b|\n|-|-|\n|1|2|\n", "|c|\n|-|\n", "|d|\n|-|\n"
	text := one + "\n" + two + "\n" + three
	x := join(t, map[string]string{"a.md": text})
	c := x.editor(nil)
	doc := c.Open(x.u("a.md"), text)
	line := func(from, to uint32) protocol.Range {
		return protocol.Range{Start: protocol.Position{Line: from}, End: protocol.Position{Line: to}}
	}
	edits := lsptest.Request[[]protocol.TextEdit](c, "textDocument/rangesFormatting", object{
		"textDocument": doc.ID(), "options": object{"tabSize": 4, "insertSpaces": true}, "ranges": []protocol.Range{line(0, 0), line(2, 2), line(7, 8)},
	})
	if len(edits) != 2 {
		t.Errorf("%d edits", len(edits))
	}
	doc.ApplyEdits(edits)
	want := "| a   | b   |\n| --- | --- |\n| 1   | 2   |\n\n" + two + "\n| d   |\n| --- |\n"
	if got := doc.Text(); got != want {
		t.Errorf("formatted: %q, want %q", got, want)
	}
}

func TestFormattingEnd(t *testing.T) {
	for _, tt := range []struct {
		name, text   string
		insert, trim bool
		want         string
	}{
		{"as it is", "a  \n\n\n", false, false, "a  \n\n\n"},
		{"no end", "a", true, true, "a\n"},
		{"no end, and none wanted", "a", false, true, "a"},
		{"no end with CRLF", "a\r\nb", true, false, "a\r\nb\r\n"},
		{"too much", "a  \n\n\n", true, true, "a  \n"},
		{"too much with CRLF", "a\r\n\r\n", false, true, "a\r\n"},
		{"right", "a\n", true, true, "a\n"},
		{"empty", "", true, true, ""},
		{"only breaks", "\n\n", true, true, "\n\n"},
		{"table at the end", "|a|\n|-|", true, true, "| a   |\n| --- |\n"},
	} {
		x := join(t, map[string]string{"a.md": tt.text})
		c := x.editor(nil)
		doc := c.Open(x.u("a.md"), tt.text)
		doc.ApplyEdits(lsptest.Request[[]protocol.TextEdit](c, "textDocument/formatting", object{
			"textDocument": doc.ID(), "options": object{"tabSize": 4, "insertSpaces": true, "insertFinalNewline": tt.insert, "trimFinalNewlines": tt.trim, "trimTrailingWhitespace": true},
		}))
		if got := doc.Text(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Regions are folded as regions, comments as comments, and sections and blocks have no kind.
func TestFoldingKinds(t *testing.T) {
	text := "# A\n<!-- #region outer -->\ntext\n<!--region-->\n```\n<!-- #endregion -->\n```\n<!-- endregion -->\n<!-- #endregion outer -->\n<!-- #endregion -->\n<!--\na region\n-->\n"
	x := join(t, map[string]string{"a.md": text})
	c := x.editor(nil)
	doc := c.Open(x.u("a.md"), text)
	var got []string
	for _, f := range lsptest.Request[[]protocol.FoldingRange](c, "textDocument/foldingRange", object{"textDocument": doc.ID()}) {
		got = append(got, fmt.Sprintf("%d-%d%s", f.StartLine, f.EndLine, f.Kind))
	}
	slices.Sort(got)
	if want := "0-12 1-8region 10-12comment 3-7region 4-6"; strings.Join(got, " ") != want {
		t.Errorf("folds: %v, want %s", got, want)
	}
}

// A label is typed in all its places at once, if they spell it the same way.
func TestLinkedRanges(t *testing.T) {
	text := "[x][lab] [lab] [y][LAB] [other](b.md)\n\n[lab]: b.md\n"
	x := join(t, map[string]string{"a.md": text, "b.md": "# B\n"})
	c := x.editor(nil)
	doc := c.Open(x.u("a.md"), text)
	ask := func(at string) *protocol.LinkedEditingRanges {
		return lsptest.Request[*protocol.LinkedEditingRanges](c, "textDocument/linkedEditingRange", doc.Place(at))
	}
	r := ask("lab]: ")
	if r == nil || len(r.Ranges) != 3 {
		t.Fatalf("ranges: %+v", r)
	}
	for _, one := range r.Ranges {
		if got := doc.In(one); got != "lab" {
			t.Errorf("a range has %q", got)
		}
	}
	for _, at := range []string{"LAB", "other", "b.md)"} {
		if r := ask(at); r != nil {
			t.Errorf("at %q: %+v", at, r)
		}
	}
}

// What editors ask for when somebody looks: the places behind a hint, and where a symbol is.
func TestResolve(t *testing.T) {
	files := map[string]string{"a.md": "# A\n## Part\n", "sub/[b] c.md": "[1](../a.md#part)\n"}
	for i := range 15 {
		files[fmt.Sprintf("n%02d.md", i)] = "# N\n\n[[a#Part]]\n"
	}
	x := join(t, files)
	c := x.editor(nil)
	doc := c.Open(x.u("a.md"), files["a.md"])
	hints := lsptest.Request[[]protocol.InlayHint](c, "textDocument/inlayHint", object{"textDocument": doc.ID(), "range": protocol.Range{End: protocol.Position{Line: 9}}})
	if len(hints) != 1 || hints[0].Tooltip != nil || len(hints[0].Data) == 0 {
		t.Fatalf("hints: %+v", hints)
	}
	hint := lsptest.Request[protocol.InlayHint](c, "inlayHint/resolve", hints[0])
	m, ok := hint.Tooltip.(*protocol.MarkupContent)
	if !ok || strings.Count(m.Value, "\n") != maxListed+1 || !strings.Contains(m.Value, fmt.Sprintf("- [n03.md](<%s#L3>), line 3\n", x.u("n03.md"))) || !strings.Contains(m.Value, "- and 6 more\n") {
		t.Errorf("the hint says %+v", hint.Tooltip)
	}

	symbols := lsptest.Request[[]struct {
		Name     string          `json:"name"`
		Location map[string]any  `json:"location"`
		Data     protocol.LSPAny `json:"data"`
	}](c, "workspace/symbol", object{"query": "part"})
	if len(symbols) != 1 || symbols[0].Location["range"] != nil {
		t.Fatalf("symbols: %+v", symbols)
	}
	resolve := func() protocol.Location {
		s := lsptest.Request[struct {
			Location protocol.Location `json:"location"`
		}](c, "workspaceSymbol/resolve", object{"name": "Part", "kind": 15, "location": symbols[0].Location, "data": symbols[0].Data})
		return s.Location
	}
	if l := resolve(); l.URI != doc.URI() || l.Range.Start.Line != 1 {
		t.Errorf("the symbol is at %+v", l)
	}
	doc.Insert("# A\n", "\n\n") // meanwhile it has moved
	if l := resolve(); l.Range.Start.Line != 3 {
		t.Errorf("the symbol is at %+v", l)
	}
	doc.Edit("## Part\n", "")
	if l := resolve(); l.URI != doc.URI() || l.Range != (protocol.Range{}) {
		t.Errorf("the symbol that is gone is at %+v", l)
	}

	doc.Insert("# A\n", "[n](n03.md) [w](https://example.org/) [me](#a)\n")
	var tips []string
	for _, l := range lsptest.Request[[]protocol.DocumentLink](c, "textDocument/documentLink", object{"textDocument": doc.ID()}) {
		tip := "none"
		if l.Tooltip != nil {
			tip = *l.Tooltip
		}
		tips = append(tips, tip)
	}
	if got := strings.Join(tips, ", "); got != "N, none, A" {
		t.Errorf("tooltips: %s", got)
	}
}

// An editor that makes or deletes files says so, and is believed at once.
func TestFilesMadeAndDeleted(t *testing.T) {
	x := join(t, map[string]string{"a.md": "[n](new.md)\n"})
	c := x.editor(nil)
	doc := c.Open(x.u("a.md"), x.file("a.md"))
	if found := doc.Diagnostics(); len(found) != 1 {
		t.Fatalf("found %q", lsptest.Messages(found))
	}
	files := object{"files": []object{{"uri": x.u("new.md")}, {"uri": "untitled:x"}, {"uri": uri.File("/elsewhere/b.md")}}}
	if err := os.WriteFile(x.u("new.md").FsPath(), []byte("# New\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Notify("workspace/didCreateFiles", files)
	doc.Until(func(found []protocol.Diagnostic) bool { return len(found) == 0 })
	if err := os.Remove(x.u("new.md").FsPath()); err != nil {
		t.Fatal(err)
	}
	c.Notify("workspace/didDeleteFiles", files)
	doc.Until(func(found []protocol.Diagnostic) bool { return len(found) == 1 })
}
