package notes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestIgnoreRules(t *testing.T) {
	tests := []struct {
		rules, path string
		dir, want   bool
	}{
		{"a.md", "a.md", false, true},
		{"a.md", "x/a.md", false, true},
		{"/a.md", "x/a.md", false, false},
		{"/a.md", "a.md", false, true},
		{"x/a.md", "x/a.md", false, true},
		{"x/a.md", "y/x/a.md", false, false},
		{"*.md", "x/y.md", false, true},
		{"*.md\n!y.md", "x/y.md", false, false},
		{"!y.md\n*.md", "x/y.md", false, true},
		{"build/", "build", true, true},
		{"build/", "build", false, false},
		{"build/", "x/build", true, true},
		{"# a.md", "a.md", false, false},
		{"\\# a.md", "# a.md", false, true},
		{"\\!a.md", "!a.md", false, true},
		{"a.md  ", "a.md", false, true},
		{"a\\ ", "a ", false, true},
		{"**/a.md", "x/y/a.md", false, true},
		{"**/a.md", "a.md", false, true},
		{"x/**", "x/y/a.md", false, true},
		{"x/**", "x", true, false},
		{"x/**/a.md", "x/a.md", false, true},
		{"x/**/a.md", "x/y/z/a.md", false, true},
		{"x/**/a.md", "x/y/z/b.md", false, false},
		{"x/*/a.md", "x/y/z/a.md", false, false},
		{"?.md", "a.md", false, true},
		{"?.md", "ab.md", false, false},
		{"[a-c].md", "b.md", false, true},
		{"[!a-c].md", "b.md", false, false},
		{"[!a-c].md", "d.md", false, true},
		{"[", "[", false, false},
		{"/", "a.md", false, false},
		{"a.md\r\n", "a.md", false, true},
		{strings.Repeat("**/", 60) + "b", strings.Repeat("a/", 500) + "c", false, false},
	}
	for _, tt := range tests {
		t.Run(clip(tt.rules+" "+tt.path), func(t *testing.T) {
			var r ignoreRules
			r.set(".", tt.rules)
			if got := r.ignore(tt.path, tt.dir); got != tt.want {
				t.Errorf("ignore = %v", got)
			}
		})
	}
}

func TestGitignore(t *testing.T) {
	dir := folder(t, map[string]string{
		".gitignore": "/out/\n*.tmp.md\n!keep.tmp.md\nsecret.png\n", "sub/.gitignore": "drafts\n!x.tmp.md\n",
		"a.md": "[1](out/b.md) [2](secret.png) [3](out/none.md)", "out/b.md": "", "x.tmp.md": "", "keep.tmp.md": "", "secret.png": "",
		"sub/drafts/c.md": "", "sub/x.tmp.md": "", "sub/out/d.md": "", "drafts/e.md": "",
	})
	w := open(t, dir, nil)
	if got, want := paths(w.Notes()), "a.md drafts/e.md keep.tmp.md sub/out/d.md sub/x.tmp.md"; got != want {
		t.Errorf("notes = %q, want %q", got, want)
	}
	n, _ := w.Note("a")
	for i, broken := range []bool{false, false, true} {
		if got := w.Resolve(n, n.Links[i]); got.Broken() != broken {
			t.Errorf("link %d: %+v", i+1, got)
		}
	}
	if changes, err := w.Refresh("x.tmp.md", "out/b.md", "."); err != nil || len(changes) != 0 {
		t.Errorf("changes = %+v, %v", changes, err)
	}
	if _, err := w.Create("out/new.md", ""); err == nil {
		t.Error("a note was created where nobody looks")
	}
	if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("drafts\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Refresh(".gitignore"); err != nil {
		t.Fatal(err)
	}
	if got, want := paths(w.Notes()), "a.md keep.tmp.md out/b.md sub/out/d.md sub/x.tmp.md x.tmp.md"; got != want {
		t.Errorf("after the edit: notes = %q, want %q", got, want)
	}
	checkIndex(t, w)
}
