package editor

import (
	"encoding/json"
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
)

// about is the params of a request about a document.
func about(u uri.URI) object { return object{"textDocument": object{"uri": u}} }

func TestDiagnostics(t *testing.T) {
	text := "# A\n[x](gone.md) [y](b.md#no) ![z](gone.png) [o](../../out.md)\n# A\n\n[unused]: b.md\n"
	dir, u := folderOf(t, map[string]string{"a.md": text, "b.md": "# B\n"})
	s := startAble(t, dir, "utf-16")
	s.open(u("a.md"), text)
	list := s.diagnostics(u("a.md"), 6)
	codes := map[string]protocol.Diagnostic{}
	for _, d := range list {
		codes[string(d.Code.(protocol.String))] = d
	}
	for code, severity := range map[string]protocol.DiagnosticSeverity{
		"broken-note": protocol.DiagnosticSeverityWarning, "broken-heading": protocol.DiagnosticSeverityWarning,
		"broken-file": protocol.DiagnosticSeverityWarning, "outside-link": protocol.DiagnosticSeverityWarning,
		"duplicate-heading": protocol.DiagnosticSeverityInformation, "unused-definition": protocol.DiagnosticSeverityHint,
	} {
		if codes[code].Severity != severity {
			t.Errorf("%s: %+v", code, codes[code])
		}
	}
	if r := codes["broken-heading"].RelatedInformation; len(r) != 1 || r[0].Location.URI != u("b.md") {
		t.Errorf("related to a missing heading: %+v", r)
	}
	if r := codes["duplicate-heading"].RelatedInformation; len(r) != 1 || r[0].Location.Range.Start.Line != 0 {
		t.Errorf("related to a repeated heading: %+v", r)
	}
	if tags := codes["unused-definition"].Tags.Slice(); !slices.Equal(tags, []protocol.DiagnosticTag{protocol.DiagnosticTagUnnecessary}) {
		t.Errorf("tags are %v", tags)
	}
}

func TestNavigate(t *testing.T) {
	files := map[string]string{"a.md": "# A\n🌍 [b](b.md#two) #red [w](https://example.org/) [n](no.md)\n", "b.md": "# B\n## Two\n[a](a.md) #red\n"}
	dir, u := folderOf(t, files)
	s := startAble(t, dir, "utf-16")
	s.open(u("a.md"), files["a.md"])

	var links []protocol.LocationLink
	s.call("textDocument/definition", s.cursor(u("a.md"), "[b](b.m"), &links)
	if len(links) != 1 || links[0].TargetURI != u("b.md") || links[0].TargetSelectionRange.Start.Line != 1 || links[0].OriginSelectionRange.Start.Character != 3 {
		t.Errorf("definition: %+v", links)
	}
	places := func(file, before string, declaration bool) string {
		t.Helper()
		params := s.cursor(u(file), before)
		params["context"] = object{"includeDeclaration": declaration}
		var list []protocol.Location
		s.call("textDocument/references", params, &list)
		var out []string
		for _, l := range list {
			out = append(out, fmt.Sprintf("%s:%d:%d", filepath.Base(l.URI.FsPath()), l.Range.Start.Line, l.Range.Start.Character))
		}
		return strings.Join(out, " ")
	}
	for _, tt := range []struct {
		file, before string
		declaration  bool
		want         string
	}{
		{"b.md", "## T", false, "a.md:1:3"},
		{"b.md", "## T", true, "b.md:1:3 a.md:1:3"},
		{"b.md", "# B", false, ""},
		{"a.md", "# ", false, "b.md:2:0"},
		{"a.md", "#re", true, "a.md:1:17 b.md:2:10"},
	} {
		if got := places(tt.file, tt.before, tt.declaration); got != tt.want {
			t.Errorf("references at %q: %q, want %q", tt.before, got, tt.want)
		}
	}
	var marks []protocol.DocumentHighlight
	s.call("textDocument/documentHighlight", s.cursor(u("a.md"), "#r"), &marks)
	if len(marks) != 1 {
		t.Errorf("highlights: %+v", marks)
	}
	var docLinks []protocol.DocumentLink
	s.call("textDocument/documentLink", about(u("a.md")), &docLinks)
	if len(docLinks) != 2 || *docLinks[0].Target != u("b.md")+"#L2" || *docLinks[1].Target != "https://example.org/" {
		t.Errorf("links: %+v", docLinks)
	}
	for before, want := range map[string]string{"#re": "used 2 times", "# A": "linked to once", "[n](n": "no such note"} {
		var h protocol.Hover
		s.call("textDocument/hover", s.cursor(u("a.md"), before), &h)
		if m, ok := h.Contents.(*protocol.MarkupContent); !ok || !strings.Contains(m.Value, want) {
			t.Errorf("hover at %q: %+v", before, h)
		}
	}
}

func TestStructure(t *testing.T) {
	text := "---\ntags: [x]\n---\n# A\n## B\ntext\n### C\n\n## D\n- [[A]]\n  more\n"
	dir, u := folderOf(t, map[string]string{"a.md": text, "b.md": "[a](a.md) [a](a.md#d) [[gone]]\n"})
	s := startAble(t, dir, "utf-16")
	var tree []protocol.DocumentSymbol
	s.call("textDocument/documentSymbol", about(u("a.md")), &tree) // not open: as the file is
	if len(tree) != 1 || len(tree[0].Children) != 2 || len(tree[0].Children[0].Children) != 1 || tree[0].Children[1].Name != "D" {
		t.Errorf("symbols: %+v", tree)
	}
	var found []protocol.SymbolInformation
	s.call("workspace/symbol", object{"query": "d"}, &found)
	if len(found) != 1 || found[0].Name != "D" || found[0].Location.URI != u("a.md") {
		t.Errorf("workspace symbols: %+v", found)
	}
	var folds []protocol.FoldingRange
	s.call("textDocument/foldingRange", about(u("a.md")), &folds)
	var got []string
	for _, f := range folds {
		got = append(got, fmt.Sprintf("%d-%d", f.StartLine, f.EndLine))
	}
	if strings.Join(got, " ") != "3-10 4-6 8-10 0-2 9-10" {
		t.Errorf("folds: %v", got)
	}
	params := about(u("a.md"))
	params["positions"] = []object{{"line": 9, "character": 4}, {"line": 99, "character": 0}}
	var selections []protocol.SelectionRange
	s.call("textDocument/selectionRange", params, &selections)
	if len(selections) != 2 || selections[0].Parent == nil {
		t.Errorf("selections: %+v", selections)
	}
	var tokens protocol.SemanticTokens
	s.call("textDocument/semanticTokens/full", about(u("b.md")), &tokens)
	// Two destinations, and a name that is broken.
	if want := []uint32{0, 4, 4, 0, 0, 0, 10, 6, 0, 0, 0, 10, 4, 1, 2}; !slices.Equal(tokens.Data, want) {
		t.Errorf("tokens: %v, want %v", tokens.Data, want)
	}
	all := object{"start": object{"line": 0, "character": 0}, "end": object{"line": 99, "character": 0}}
	params = about(u("a.md"))
	params["range"] = all
	var hints []protocol.InlayHint
	s.call("textDocument/inlayHint", params, &hints)
	if len(hints) != 1 || hints[0].Position.Line != 8 || hints[0].Label != protocol.String("1 link") {
		t.Errorf("hints: %+v", hints)
	}
	var lenses []protocol.CodeLens
	s.call("textDocument/codeLens", about(u("a.md")), &lenses)
	if len(lenses) != 1 || lenses[0].Command.Title != "2 backlinks" {
		t.Fatalf("lenses: %+v", lenses)
	}
	var places []protocol.Location
	s.call("workspace/executeCommand", object{"command": lenses[0].Command.Command, "arguments": lenses[0].Command.Arguments}, &places)
	if len(places) != 2 || places[0].URI != u("b.md") {
		t.Errorf("backlinks: %+v", places)
	}
	if shown := <-s.shown; shown != string(u("b.md")) {
		t.Errorf("shown: %q", shown)
	}
}

func TestCodeActions(t *testing.T) {
	text := "# A\n<!-- toc -->\n<!-- /toc -->\n## Second part\n[x](#second-prt) [new](dir/new%20one.md#start)\n[n](nots.md)\n\n[unused]: notes.md\n"
	dir, u := folderOf(t, map[string]string{"a.md": text, "notes.md": ""})
	s := startAble(t, dir, "utf-16")
	s.open(u("a.md"), text)
	shown := s.diagnostics(u("a.md"), 4)
	ask := func(line int, only ...string) map[string]map[string]string {
		t.Helper()
		params := about(u("a.md"))
		params["range"] = object{"start": object{"line": line, "character": 0}, "end": object{"line": line, "character": 99}}
		params["context"] = object{"diagnostics": shown, "only": only}
		var list []protocol.CodeAction
		s.call("textDocument/codeAction", params, &list)
		out := map[string]map[string]string{}
		for _, a := range list {
			out[a.Title] = s.after(dir, a.Edit)
			if *a.Kind == protocol.CodeActionKindQuickFix && len(a.Diagnostics) != 1 {
				t.Errorf("%q is about %d diagnostics", a.Title, len(a.Diagnostics))
			}
		}
		return out
	}
	fixes := ask(4, "quickfix")
	if got := fixes[`Change to "second-part"`]["a.md"]; got != strings.Replace(text, "second-prt", "second-part", 1) {
		t.Errorf("nearest slug: %q in %v", got, slices.Sorted(maps.Keys(fixes)))
	}
	if got := fixes[`Create note "dir/new one.md"`]; got["dir/new one.md"] != "# new\n\n## start\n" {
		t.Errorf("new note: %q", got)
	}
	if got := ask(5, "quickfix")[`Change to "notes.md"`]["a.md"]; got != strings.Replace(text, "nots", "notes", 1) {
		t.Errorf("nearest note: %q", got)
	}
	if got := ask(7, "quickfix")["Remove the unused definition"]["a.md"]; got != strings.TrimSuffix(text, "[unused]: notes.md\n") {
		t.Errorf("unused definition: %q", got)
	}
	toc := "<!-- toc -->\n\n- [Second part](#second-part)\n\n<!-- /toc -->"
	for _, only := range [][]string{{"source"}, {string(kindContents)}, {}} {
		if got := ask(0, only...)["Update the table of contents"]["a.md"]; !strings.Contains(got, toc) {
			t.Errorf("table of contents, only %v: %q", only, got)
		}
	}
	if got := ask(4, "refactor"); len(got) != 0 {
		t.Errorf("only refactor: %v", got)
	}
}

func TestFormatting(t *testing.T) {
	text := "🌍 x\n\n|a|🌍|\n|-|-|\n|1|2|\n\n|b|\n|-|\n"
	dir, u := folderOf(t, map[string]string{"a.md": text})
	for _, encoding := range encodings {
		s := startAble(t, dir, encoding)
		s.open(u("a.md"), text)
		params := about(u("a.md"))
		params["options"] = object{"tabSize": 4, "insertSpaces": true}
		var edits []protocol.TextEdit
		s.call("textDocument/formatting", params, &edits)
		first := "| a   | 🌍  |\n| --- | --- |\n| 1   | 2   |"
		if got, want := s.apply(u("a.md"), edits), "🌍 x\n\n"+first+"\n\n| b   |\n| --- |\n"; got != want {
			t.Errorf("%s: %q, want %q", encoding, got, want)
		}
		params["range"] = object{"start": object{"line": 3, "character": 0}, "end": object{"line": 3, "character": 1}}
		s.call("textDocument/rangeFormatting", params, &edits)
		if got, want := s.apply(u("a.md"), edits), "🌍 x\n\n"+first+"\n\n|b|\n|-|\n"; got != want {
			t.Errorf("%s, a range: %q, want %q", encoding, got, want)
		}
	}
}

// A change of files on disk mends a link in an open note, and asks for hints to be drawn again.
func TestWatch(t *testing.T) {
	dir, u := folderOf(t, map[string]string{"a.md": "[n](new.md)\n"})
	s := startAble(t, dir, "utf-16")
	s.notify("initialized", object{})
	s.open(u("a.md"), "[n](new.md)\n")
	s.messages(u("a.md"), 1)
	if err := os.WriteFile(u("new.md").FsPath(), []byte("# New\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.messages(u("a.md"), 0)
	want := map[string]bool{"client/registerCapability": true, "workspace/inlayHint/refresh": true, "workspace/codeLens/refresh": true}
	for late := time.After(patience); len(want) > 0; {
		select {
		case method := <-s.asked:
			delete(want, method)
		case <-late:
			t.Fatalf("not asked: %v", want)
		}
	}
	if err := os.Remove(u("new.md").FsPath()); err != nil {
		t.Fatal(err)
	}
	s.notify("workspace/didChangeWatchedFiles", object{"changes": []object{{"uri": u("new.md"), "type": 3}, {"uri": "untitled:x", "type": 1}}})
	s.messages(u("a.md"), 1)
}

func TestFolders(t *testing.T) {
	one, u1 := folderOf(t, map[string]string{"a.md": "[b](b.md) [x](sub/x.md)\n", "b.md": "", "sub/x.md": ""})
	two, u2 := folderOf(t, map[string]string{"a.md": "[c](c.md)\n"})
	_, lone := folderOf(t, map[string]string{"a.md": "[b](b.md) [up](../up.md) [sub](sub/x.md) [no](no.md)\n", "b.md": "", "sub/x.md": ""})
	d := New("notes")
	s := startWith(t, d, object{"processId": nil, "rootUri": nil, "capabilities": able("utf-16"),
		"workspaceFolders": []object{{"uri": uri.File(one), "name": "1"}, {"uri": uri.File(two), "name": "2"}}})
	s.open(u1("a.md"), "[b](b.md) [x](sub/x.md)\n")
	s.messages(u1("a.md"), 0)
	s.open(u2("a.md"), "[c](c.md)\n")
	s.messages(u2("a.md"), 1)
	// A file outside of the folders is looked at with what lies beside it.
	s.open(lone("a.md"), "[b](b.md) [up](../up.md) [sub](sub/x.md) [no](no.md)\n")
	if got := s.messages(lone("a.md"), 1); !strings.Contains(got[0], "no.md") {
		t.Errorf("alone: %q", got)
	}
	// Without its folder the second is looked at alone; a note made there still counts.
	s.notify("workspace/didChangeWorkspaceFolders", object{"event": object{"added": []object{}, "removed": []object{{"uri": uri.File(two), "name": "2"}}}})
	s.open(u2("c.md"), "# C\n")
	s.messages(u2("a.md"), 0)
	d.mu.Lock()
	n := len(d.folders)
	d.mu.Unlock()
	if n != 1 {
		t.Errorf("%d folders are kept", n)
	}
	s.open("untitled:Untitled-1", "# A\n[x](#a) [y](#b) [z](z.md)\n# A\n")
	s.messages("untitled:Untitled-1", 2)
}

// Two editors on one folder: each sees what the other types, and a session that ends takes its unsaved text along.
func TestTwoEditors(t *testing.T) {
	dir, u := folderOf(t, map[string]string{"a.md": "[b](b.md#new)\n", "b.md": "# B\n"})
	d := New("notes")
	params := object{"processId": nil, "rootUri": uri.File(dir), "capabilities": able("utf-16")}
	first := startWith(t, d, params)
	t.Run("second", func(t *testing.T) {
		second := startWith(t, d, params)
		t.Cleanup(func() { _ = second.conn.Close() })
		first.open(u("a.md"), "[b](b.md#new)\n")
		first.messages(u("a.md"), 1)
		second.open(u("b.md"), "# B\n## New\n")
		first.messages(u("a.md"), 0)
		// The first editor does not have that text, so it cannot edit it.
		at := first.cursor(u("a.md"), "#ne")
		at["newName"] = "Other"
		if err := first.fails("textDocument/rename", at); !strings.Contains(err.Error(), "another editor") {
			t.Errorf("rename: %v", err)
		}
		_ = second.conn.Close()
		first.messages(u("a.md"), 1)
	})
}

// The note that is being edited is deleted on disk: the editor's text stays, and links to it work until it is closed.
func TestDeletedWhileEdited(t *testing.T) {
	dir, u := folderOf(t, map[string]string{"a.md": "[b](b.md)\n", "b.md": "# B\n"})
	s := startAble(t, dir, "utf-16")
	s.open(u("a.md"), "[b](b.md)\n")
	s.open(u("b.md"), "# B\nmore\n")
	s.messages(u("a.md"), 0)
	if err := os.Remove(u("b.md").FsPath()); err != nil {
		t.Fatal(err)
	}
	s.notify("workspace/didChangeWatchedFiles", object{"changes": []object{{"uri": u("b.md"), "type": 3}}})
	s.edit(u("b.md"), "more", "more [x](gone.md)")
	s.messages(u("b.md"), 1)
	var h protocol.Hover
	s.call("textDocument/hover", s.cursor(u("a.md"), "[b](b"), &h)
	if m, ok := h.Contents.(*protocol.MarkupContent); !ok || !strings.Contains(m.Value, "more") {
		t.Errorf("hover: %+v", h)
	}
	s.shut(u("b.md"))
	s.messages(u("a.md"), 1)
}

// Names that are awkward in URIs, and texts that are awkward to parse, get the same answers as others.
func TestHostileNames(t *testing.T) {
	names := []string{"sp ace.md", "a#b.md", "100%.md", "100%25.md", "naïve 🌍.md", "UPPER.MD", "plus+.md", "brack[et].md"}
	if runtime.GOOS != "windows" { // where no file can have that name
		names = append(names, "q?.md")
	}
	files := map[string]string{}
	for _, name := range names {
		files[name] = "# Title of " + name + "\r\n"
	}
	dir, u := folderOf(t, files)
	s := startAble(t, dir, "utf-16")
	for _, name := range names {
		text := "🌍 [[" + "\r\nend"
		s.open(u("new "+name), text)
		s.edit(u("new "+name), "[[", "[x](")
		var list *protocol.CompletionList
		s.call("textDocument/completion", s.cursor(u("new "+name), "[x]("), &list)
		i := slices.IndexFunc(list.Items, func(x protocol.CompletionItem) bool { return *x.LabelDetails.Description == name })
		if i < 0 {
			t.Errorf("%s is not offered", name)
			continue
		}
		edit := list.Items[i].TextEdit.(*protocol.InsertReplaceEdit)
		s.edit(u("new "+name), "[x](", "[x]("+edit.NewText+")")
		var links []protocol.LocationLink
		s.call("textDocument/definition", s.cursor(u("new "+name), "[x]("), &links)
		if len(links) != 1 || links[0].TargetURI.FsPath() != u(name).FsPath() {
			t.Errorf("%s: definition is %+v", name, links)
		}
		s.shut(u("new " + name))
	}
}

// A note of 20 MB and one with 100,000 links are opened, edited and asked about.
func TestHostileTexts(t *testing.T) {
	dir, u := folderOf(t, map[string]string{"b.md": "# B\n"})
	s := startAble(t, dir, "utf-16")
	big := 20 << 20
	if testing.Short() || raceEnabled {
		big = 2 << 20
	}
	for name, text := range map[string]string{
		"big.md":     strings.Repeat("some text that is long enough to fill a note quickly\n", big/53) + "[b](b.md)\n[x](no.md)\n",
		"links.md":   strings.Repeat("[b](b.md) ", 100_000) + "\n[b](b.md)\n[x](no.md)\n",
		"invalid.md": "\xff\xfe [b](b.md)\n[x](no.md)\r\n\x00\r",
		"deep.md":    strings.Repeat("> ", 5000) + "\n\n[b](b.md)\n[x](no.md)\n",
	} {
		s.open(u(name), strings.ToValidUTF8(text, "\uFFFD"))
		s.messages(u(name), 1)
		s.edit(u(name), "no.md", "b.md")
		s.messages(u(name), 0)
		for _, method := range []string{"documentSymbol", "foldingRange", "documentLink", "semanticTokens/full", "codeLens"} {
			var raw json.RawMessage
			s.call("textDocument/"+method, about(u(name)), &raw)
		}
		s.shut(u(name))
	}
}
