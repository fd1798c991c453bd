package editor

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// able are the capabilities of an editor that can do everything, with positions in an encoding.
func able(encoding string) object {
	return object{
		"general": object{"positionEncodings": []string{encoding}},
		"workspace": object{
			"workspaceEdit":         object{"documentChanges": true, "resourceOperations": []string{"create", "rename", "delete"}},
			"inlayHint":             object{"refreshSupport": true},
			"codeLens":              object{"refreshSupport": true},
			"didChangeWatchedFiles": object{"dynamicRegistration": true},
			"workspaceFolders":      true,
		},
		"window": object{"showDocument": object{"support": true}},
		"textDocument": object{
			"completion":         object{"completionItem": object{"labelDetailsSupport": true, "insertReplaceSupport": true}},
			"definition":         object{"linkSupport": true},
			"rename":             object{"prepareSupport": true},
			"documentSymbol":     object{"hierarchicalDocumentSymbolSupport": true},
			"codeAction":         object{"codeActionLiteralSupport": object{"codeActionKind": object{"valueSet": []string{"quickfix", "source"}}}},
			"publishDiagnostics": object{"relatedInformation": true, "tagSupport": object{"valueSet": []int{1, 2}}},
		},
	}
}

func startAble(t *testing.T, dir, encoding string) *session {
	return startWith(t, New("notes"), object{
		"processId": nil, "rootUri": nil, "capabilities": able(encoding),
		"workspaceFolders": []object{{"uri": uri.File(dir), "name": "notes"}},
	})
}

var encodings = []string{"utf-8", "utf-16", "utf-32"}

func TestCompletion(t *testing.T) {
	files := map[string]string{
		"here.md":     "🌍é x\n",
		"alpha.md":    "---\ntags: [red]\n---\n# Alpha 🌍 note\ntext\n## Zwei\nzwei text\n",
		"b c#1.md":    "# Blank\n",
		"naïve 🌍.md":  "# Naive\n",
		"picture.png": "",
	}
	tests := []struct {
		name, text string // the cursor is at '¦'
		label      string // of the item that is chosen
		insert     string // the text after inserting it
		replace    string // and after replacing with it
		resolved   string // in its documentation
	}{
		{"wiki by title", "🌍é [[no¦]] x\n", "Alpha 🌍 note", "🌍é [[alpha]] x\n", "🌍é [[alpha]] x\n", "# Alpha 🌍 note\ntext"},
		{"wiki in a word", "🌍é [[al¦pine]] x\n", "Alpha 🌍 note", "🌍é [[alphapine]] x\n", "🌍é [[alpha]] x\n", "text"},
		{"wiki not closed", "🌍é [[al¦\n", "Alpha 🌍 note", "🌍é [[alpha]]\n", "🌍é [[alpha]]\n", "text"},
		{"wiki heading", "🌍é [[alpha#z¦]]\n", "Zwei", "🌍é [[alpha#Zwei]]\n", "🌍é [[alpha#Zwei]]\n", "zwei text"},
		{"path", "🌍é [x](na¦)\n", "Naive", "🌍é [x](naïve%20🌍.md)\n", "🌍é [x](naïve%20🌍.md)\n", "# Naive"},
		{"path with a blank and a hash", "🌍é [x](b¦)\n", "Blank", "🌍é [x](b%20c%231.md)\n", "🌍é [x](b%20c%231.md)\n", "# Blank"},
		{"path behind non-ASCII", "🌍é [x](naïve%20🌍¦.md)\n", "Naive", "🌍é [x](naïve%20🌍.md.md)\n", "🌍é [x](naïve%20🌍.md)\n", ""},
		{"fragment", "🌍é [x](alpha.md#¦)\n", "Zwei", "🌍é [x](alpha.md#zwei)\n", "🌍é [x](alpha.md#zwei)\n", "zwei text"},
		{"picture", "🌍é ![x](pic¦)\n", "picture.png", "🌍é ![x](picture.png)\n", "🌍é ![x](picture.png)\n", ""},
		{"tag", "🌍é #r¦ x\n", "#red", "🌍é #red x\n", "🌍é #red x\n", ""},
		{"nothing in code", "`[[al¦`\n", "", "", "", ""},
	}
	for _, encoding := range encodings {
		dir, u := folderOf(t, files)
		s := startAble(t, dir, encoding)
		s.open(u("here.md"), files["here.md"])
		for _, tt := range tests {
			t.Run(encoding+" "+tt.name, func(t *testing.T) {
				s.t = t
				before, after, _ := strings.Cut(tt.text, "¦")
				s.edit(u("here.md"), s.doc(u("here.md")).Text(), before+after)
				var list *protocol.CompletionList
				s.call("textDocument/completion", s.cursor(u("here.md"), before), &list)
				if tt.label == "" {
					if list != nil {
						t.Errorf("offered: %+v", list)
					}
					return
				}
				if list == nil {
					t.Fatal("nothing is offered")
				}
				i := slices.IndexFunc(list.Items, func(x protocol.CompletionItem) bool { return x.Label == tt.label })
				if i < 0 {
					t.Fatalf("%q is not offered: %+v", tt.label, list.Items)
				}
				item := list.Items[i]
				edit, ok := item.TextEdit.(*protocol.InsertReplaceEdit)
				if !ok {
					t.Fatalf("the edit is %T", item.TextEdit)
				}
				if edit.Insert.Start != edit.Replace.Start || edit.Insert.Start.Line != edit.Replace.End.Line {
					t.Errorf("ranges are %+v", edit)
				}
				if got := s.apply(u("here.md"), []protocol.TextEdit{{Range: edit.Insert, NewText: edit.NewText}}); got != tt.insert {
					t.Errorf("inserted: %q, want %q", got, tt.insert)
				}
				if got := s.apply(u("here.md"), []protocol.TextEdit{{Range: edit.Replace, NewText: edit.NewText}}); got != tt.replace {
					t.Errorf("replaced: %q, want %q", got, tt.replace)
				}
				typed := s.doc(u("here.md")).In(edit.Insert)
				if filter, _ := item.FilterText.Get(); !strings.HasPrefix(strings.ToLower(filter), strings.ToLower(typed)) {
					t.Errorf("an editor that has %q would not show %q", typed, filter)
				}
				if item.LabelDetails == nil || *item.LabelDetails.Description == "" {
					t.Error("nothing says where it is")
				}
				var resolved protocol.CompletionItem
				s.call("completionItem/resolve", item, &resolved)
				if tt.resolved == "" {
					return
				}
				if doc, ok := resolved.Documentation.(*protocol.MarkupContent); !ok || !strings.Contains(doc.Value, tt.resolved) {
					t.Errorf("documentation is %+v, want %q", resolved.Documentation, tt.resolved)
				}
			})
		}
	}
}

// An editor that can do little gets plain edits and details.
func TestCompletionPlain(t *testing.T) {
	dir, u := folderOf(t, map[string]string{"here.md": "[[al", "alpha.md": "# Alpha\n"})
	s := start(t, New("notes"), uri.File(dir))
	s.open(u("here.md"), "[[al")
	var list *protocol.CompletionList
	s.call("textDocument/completion", s.cursor(u("here.md"), "[[al"), &list)
	if list == nil || len(list.Items) != 1 {
		t.Fatalf("offered: %+v", list)
	}
	item := list.Items[0]
	edit, ok := item.TextEdit.(*protocol.TextEdit)
	if detail, _ := item.Detail.Get(); !ok || detail != "alpha.md" || item.LabelDetails != nil || !list.IsIncomplete {
		t.Fatalf("item is %+v", item)
	}
	if got := s.apply(u("here.md"), []protocol.TextEdit{*edit}); got != "[[alpha]]" {
		t.Errorf("inserted: %q", got)
	}
}

// Completion and rename see what is typed in other notes, at once and unsaved.
func TestUnsaved(t *testing.T) {
	dir, u := folderOf(t, map[string]string{"a.md": "# A\n", "b.md": "[x](a.md#new)\n"})
	s := startAble(t, dir, "utf-16")
	s.open(u("a.md"), "# A\n")
	s.open(u("b.md"), "[x](a.md#new)\n")
	for i := range 20 {
		s.edit(u("a.md"), s.doc(u("a.md")).Text(), fmt.Sprintf("# A\n## New %d\n", i))
		s.edit(u("b.md"), s.doc(u("b.md")).Text(), fmt.Sprintf("[x](a.md#new-%d)\n", i))
		var e protocol.WorkspaceEdit
		params := s.cursor(u("a.md"), "## Ne")
		params["newName"] = fmt.Sprintf("Other %d", i)
		s.call("textDocument/rename", params, &e)
		want := map[string]string{"a.md": fmt.Sprintf("# A\n## Other %d\n", i), "b.md": fmt.Sprintf("[x](a.md#other-%d)\n", i)}
		if got := s.after(dir, &e); !maps.Equal(got, want) {
			t.Fatalf("round %d: %q, want %q", i, got, want)
		}
	}
	// Closed without saving, they are as their files are.
	s.shut(u("a.md"))
	s.shut(u("b.md"))
	var e protocol.WorkspaceEdit
	params := s.cursor(u("a.md"), "# ")
	params["newName"] = "B"
	s.call("textDocument/rename", params, &e)
	if got := s.after(dir, &e); !maps.Equal(got, map[string]string{"a.md": "# B\n"}) {
		t.Errorf("after closing: %q", got)
	}
}

func TestRename(t *testing.T) {
	files := map[string]string{
		"a.md":        "# A 🌍\r\n## Old näme\r\n🌍 [s](#old-näme) #red\r\n\r\n[lab]\r\n\r\n[lab]: b%20c.md\r\n",
		"b c.md":      "🌍🌍 [x](a.md#old-näme \"t\") [[a#Old näme]] #Red/x\n",
		"sub/c.md":    "é🌍 [x](../a.md) [y](</a.md#Old-N%C3%A4me>) ![p](../p.png)\n",
		"p.png":       "",
		"untouched":   "",
		"invalid.md":  "\xff\xff [x](sub/c.md)\n[x](sub/c.md)\n",
		"other/d.md":  "[[c]]\n",
		"other/cc.md": "",
	}
	tests := []struct {
		name, file, before string // the cursor is behind before
		to                 string
		placeholder        string
		want               map[string]string
	}{
		{"heading", "a.md", "## Ol", "New 🌍", "Old näme", map[string]string{
			"a.md":     "# A 🌍\r\n## New 🌍\r\n🌍 [s](#new-) #red\r\n\r\n[lab]\r\n\r\n[lab]: b%20c.md\r\n",
			"b c.md":   "🌍🌍 [x](a.md#new- \"t\") [[a#New 🌍]] #Red/x\n",
			"sub/c.md": "é🌍 [x](../a.md) [y](</a.md#new->) ![p](../p.png)\n",
		}},
		{"heading by a link", "b c.md", "a.md#ol", "Zwei", "Old näme", map[string]string{
			"a.md":     "# A 🌍\r\n## Zwei\r\n🌍 [s](#zwei) #red\r\n\r\n[lab]\r\n\r\n[lab]: b%20c.md\r\n",
			"b c.md":   "🌍🌍 [x](a.md#zwei \"t\") [[a#Zwei]] #Red/x\n",
			"sub/c.md": "é🌍 [x](../a.md) [y](</a.md#zwei>) ![p](../p.png)\n",
		}},
		{"tag", "a.md", "#r", "blue", "red", map[string]string{
			"a.md":   "# A 🌍\r\n## Old näme\r\n🌍 [s](#old-näme) #blue\r\n\r\n[lab]\r\n\r\n[lab]: b%20c.md\r\n",
			"b c.md": "🌍🌍 [x](a.md#old-näme \"t\") [[a#Old näme]] #blue/x\n",
		}},
		{"label", "a.md", "\n[la", "other", "lab", map[string]string{
			"a.md": "# A 🌍\r\n## Old näme\r\n🌍 [s](#old-näme) #red\r\n\r\n[other]\r\n\r\n[other]: b%20c.md\r\n",
		}},
		{"note", "sub/c.md", "(../a", "dir x/ä#1", "a", map[string]string{
			"a.md":        "# A 🌍\r\n## Old näme\r\n🌍 [s](#old-näme) #red\r\n\r\n[lab]\r\n\r\n[lab]: ../b%20c.md\r\n",
			"b c.md":      "🌍🌍 [x](dir%20x/ä%231.md#old-näme \"t\") [[ä1#Old näme]] #Red/x\n",
			"sub/c.md":    "é🌍 [x](../dir%20x/ä%231.md) [y](</dir%20x/ä%231.md#Old-N%C3%A4me>) ![p](../p.png)\n",
			"rename a.md": "dir x/ä#1.md",
		}},
	}
	for _, encoding := range encodings {
		for _, tt := range tests {
			t.Run(encoding+" "+tt.name, func(t *testing.T) {
				dir, u := folderOf(t, files)
				s := startAble(t, dir, encoding)
				s.open(u("a.md"), files["a.md"]) // the others are not open
				var where protocol.PrepareRenamePlaceholder
				at := s.cursor(u(tt.file), tt.before)
				s.call("textDocument/prepareRename", at, &where)
				if where.Placeholder != tt.placeholder {
					t.Errorf("prepared: %+v", where)
				}
				at["newName"] = tt.to
				var e protocol.WorkspaceEdit
				s.call("textDocument/rename", at, &e)
				got := s.after(dir, &e)
				for name, text := range tt.want {
					if got[name] != text {
						t.Errorf("%s becomes\n%q, want\n%q", name, got[name], text)
					}
				}
				if len(got) != len(tt.want) {
					t.Errorf("edited: %q", slices.Sorted(maps.Keys(got)))
				}
			})
		}
	}
}

func TestRenameRefuses(t *testing.T) {
	files := map[string]string{"a.md": "# A\ntext [b](b.md) [x](gone.md)\n", "b.md": "# B\n", "c.md": "\xff [b](b.md#b)\n"}
	dir, u := folderOf(t, files)
	s := startAble(t, dir, "utf-16")
	tests := []struct{ name, file, before, to, want string }{
		{"nothing there", "a.md", "te", "x", "nothing to rename"},
		{"broken link", "a.md", "(gone", "x", "nothing to rename"},
		{"heading of two lines", "a.md", "# ", "x\ny", "not one line"},
		{"note that exists", "a.md", "(b", "a", "file exists"},
		{"note outside", "a.md", "(b", "../../x", "bad note path"},
		{"file that is not UTF-8", "b.md", "# ", "C", "not valid UTF-8"},
	}
	for _, tt := range tests {
		at := s.cursor(u(tt.file), tt.before)
		at["newName"] = tt.to
		err := s.fails("textDocument/rename", at)
		if !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	var nothing json.RawMessage
	s.call("textDocument/prepareRename", s.cursor(u("a.md"), "te"), &nothing)
	if string(nothing) != "null" {
		t.Errorf("prepared in plain text: %s", nothing)
	}
	plain := start(t, New("notes"), uri.File(dir))
	if err := plain.fails("textDocument/prepareRename", plain.cursor(u("a.md"), "(b")); !strings.Contains(err.Error(), "cannot rename files") {
		t.Errorf("an editor that moves no files: %v", err)
	}
}

func TestWillRename(t *testing.T) {
	files := map[string]string{"a.md": "[b](dir/b.md) ![p](dir/p.png)\n", "dir/b.md": "[a](../a.md) [[a]]\n", "dir/p.png": ""}
	dir, u := folderOf(t, files)
	s := startAble(t, dir, "utf-16")
	rename := func(from, to string) map[string]string {
		t.Helper()
		var e *protocol.WorkspaceEdit
		s.call("workspace/willRenameFiles", object{"files": []object{{"oldUri": u(from), "newUri": u(to)}}}, &e)
		if e == nil {
			return nil
		}
		return s.after(dir, e)
	}
	want := map[string]string{"a.md": "[b](x/y%20z/b.md) ![p](x/y%20z/p.png)\n", "dir/b.md": "[a](../../a.md) [[a]]\n"}
	if got := rename("dir", "x/y z"); !maps.Equal(got, want) {
		t.Errorf("directory: %q, want %q", got, want)
	}
	if got := rename("a.md", "c.md"); !maps.Equal(got, map[string]string{"dir/b.md": "[a](../c.md) [[c]]\n"}) {
		t.Errorf("note: %q", got)
	}
	if got := rename("a.md", "../../elsewhere.md"); got != nil {
		t.Errorf("out of the folder: %q", got)
	}
	// What a rename asked for is not asked about again.
	at := s.cursor(u("a.md"), "(dir/b")
	at["newName"] = "z"
	s.call("textDocument/rename", at, nil)
	if got := rename("dir/b.md", "dir/z.md"); got != nil {
		t.Errorf("own rename: %q", got)
	}
	if got := rename("dir/b.md", "dir/z.md"); len(got) == 0 {
		t.Error("the same by the user is not answered")
	}
	w := s.hello.Capabilities.Workspace
	if w == nil || w.FileOperations == nil || len(w.FileOperations.WillRename.Filters) == 0 {
		t.Errorf("announced: %+v", w)
	}
}
