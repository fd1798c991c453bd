package notes

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// applied returns the files of a workspace after edits.
func applied(w *Workspace, edits []NoteEdits) map[string]string {
	files := make(map[string]string)
	for _, n := range w.Notes() {
		files[n.Path] = n.Text
	}
	for p := range w.assets {
		files[p] = ""
	}
	for _, e := range edits {
		files[e.Note.Path] = e.Apply()
	}
	return files
}

// targets lists what each link of each note leads to, headings by their number,
// with path names passed through name.
func targets(w *Workspace, name func(string) string) string {
	var b strings.Builder
	for _, n := range w.Notes() {
		for i, l := range n.Links {
			t := w.Resolve(n, l)
			heading := -1
			if t.Heading != nil {
				for j := range t.Note.Headings {
					if t.Note.Headings[j].Slug == t.Heading.Slug {
						heading = j
					}
				}
			}
			fmt.Fprintf(&b, "%s %d: %s %d %v %v\n", name(n.Path), i, name(t.Path), heading, t.External, t.Err != nil)
		}
	}
	return b.String()
}

func same(p string) string { return p }

func TestRenameHeading(t *testing.T) {
	w := workspace(t, map[string]string{
		"a.md":     "# The A\n## Old name\n[self](#old-name) [[#Old name]]\n## Old name\n## New name\n## Kept {#kept}\n",
		"b.md":     "[x](a.md#old-name \"t\") [y](<a.md#old-name-1>) [z](a.md#new-name) [[a#Old name|t]] [[ a#old-name ]] [r] [r][] [k](a.md#kept)\n\n[r]: a.md#Old-Name\n",
		"dir/c.md": "[[the a#The A#Old name]] [[the a]] [w](/a#%6Fld-name) [[a]] [u](../a.md) [[other#old-name]]",
		"other.md": "# Old name\n",
	})
	a, _ := w.Note("a")
	old := a.Headings[1]
	edits, err := w.RenameHeading(a, &old, "  New *name*  ")
	if err != nil {
		t.Fatal(err)
	}
	files := applied(w, edits)
	after := workspace(t, files)
	if before, now := targets(w, same), targets(after, same); before != now {
		t.Errorf("links lead elsewhere: before\n%s\nafter\n%s", before, now)
	}
	want := map[string]string{
		"a.md":     "# The A\n## New *name*\n[self](#new-name) [[#New name]]\n## Old name\n## New name\n## Kept {#kept}\n",
		"b.md":     "[x](a.md#new-name \"t\") [y](<a.md#old-name>) [z](a.md#new-name-1) [[a#New name|t]] [[ a#new-name ]] [r] [r][] [k](a.md#kept)\n\n[r]: a.md#new-name\n",
		"dir/c.md": "[[the a#The A#New name]] [[the a]] [w](/a#new-name) [[a]] [u](../a.md) [[other#old-name]]",
	}
	for p, text := range want {
		if files[p] != text {
			t.Errorf("%s:\n%s\nwant\n%s", p, files[p], text)
		}
	}
	if len(edits) != 3 || edits[0].Note.Path != "a.md" || edits[2].Note.Path != "dir/c.md" {
		t.Errorf("edits = %+v", edits)
	}

	// The title of a note is a name it is linked by.
	edits, err = w.RenameHeading(a, &a.Headings[0], "The new title")
	if err != nil {
		t.Fatal(err)
	}
	files = applied(w, edits)
	if before, now := targets(w, same), targets(workspace(t, files), same); before != now {
		t.Errorf("links lead elsewhere: before\n%s\nafter\n%s", before, now)
	}
	if !strings.Contains(files["dir/c.md"], "[[The new title#The A#Old name]] [[The new title]]") {
		t.Errorf("dir/c.md: %s", files["dir/c.md"])
	}
}

func TestRenameHeadingRefuses(t *testing.T) {
	w := workspace(t, map[string]string{"a.md": "# A\ntext\n\nSetext\n======\n"})
	a, _ := w.Note("a")
	for _, title := range []string{"", "  ", "x\ny", "{#id}", "x {#id}", "x ##"} {
		if edits, err := w.RenameHeading(a, &a.Headings[0], title); err == nil {
			t.Errorf("title %q: %+v", title, edits)
		}
	}
	for _, title := range []string{"# x", "> x", "- x", "[x]: y", "<!--", "```"} {
		if edits, err := w.RenameHeading(a, &a.Headings[1], title); err == nil {
			t.Errorf("setext title %q: %+v", title, edits)
		}
	}
	stale := *a
	stale.Text += "x"
	var conflict *ConflictError
	if _, err := w.RenameHeading(&stale, &a.Headings[0], "B"); !errors.As(err, &conflict) {
		t.Errorf("stale note: %v", err)
	}
}

func TestRenameNote(t *testing.T) {
	files := map[string]string{
		"a.md":          "# A title\n[self](a.md#x) [[a]] [own](#a-title) [b](b.md) [c](dir/c.md#c) ![p](img/p.png) [abs](/b.md) [ext](https://x.y/a.md) [gone](gone.md) [[c]]\n\n[r]: b.md\n[r]\n",
		"b.md":          "[a](a.md) [a](./a.md#a-title) [a](/a.md) [a](a) [[a]] [[a|alias]] [[a#A title]] [[A title]] [r]\n\n[r]: <a.md>\n",
		"dir/c.md":      "# C\n[a](../a.md \"t\") [a](../a#a-title) [[a]] [d](d.md)",
		"dir/d.md":      "[c](c.md) [[c]] [dir](.)",
		"dir/README.md": "[c](c)",
		"img/p.png":     "",
	}
	for _, tt := range [][2]string{
		{"a.md", "z.md"}, {"a.md", "new/dir/sp ace #1.md"}, {"a.md", "dir/a.md"}, {"a.md", "a.markdown"}, {"a.md", "dir/d2.md"},
		{"dir/c.md", "c.md"}, {"dir/c.md", "other/c.md"}, {"dir/README.md", "dir/intro.md"}, {"a.md", "dir/b.md"},
	} {
		t.Run(tt[0]+" to "+tt[1], func(t *testing.T) {
			w := workspace(t, files)
			edits, err := w.RenameNote(tt[0], tt[1])
			if err != nil {
				t.Fatal(err)
			}
			moved := applied(w, edits)
			moved[tt[1]] = moved[tt[0]]
			delete(moved, tt[0])
			after := workspace(t, moved)
			before := targets(w, func(p string) string {
				if p == tt[0] {
					return tt[1]
				}
				return p
			})
			now := targets(after, same)
			// The order of notes follows their paths, so compare as sets.
			was := make(map[string]bool)
			for _, line := range strings.Split(before, "\n") {
				was[line] = true
			}
			for _, line := range strings.Split(now, "\n") {
				if !was[line] && !strings.Contains(line, "gone.md") {
					t.Errorf("after the move: %q\n%s", line, moved[tt[1]])
				}
			}
		})
	}
	w := workspace(t, files)
	if _, err := w.RenameNote("a.md", "b.md"); !errors.Is(err, ErrExists) {
		t.Errorf("onto a note: %v", err)
	}
	if _, err := w.RenameNote("nothing.md", "x.md"); !errors.Is(err, ErrNotFound) {
		t.Errorf("of nothing: %v", err)
	}
	if _, err := w.RenameNote("a.md", "../x.md"); !errors.Is(err, ErrPath) {
		t.Errorf("outside: %v", err)
	}
	edits, err := w.RenameNote("a.md", "z.md")
	if err != nil {
		t.Fatal(err)
	}
	want := "[a](z.md) [a](./z.md#a-title) [a](/z.md) [a](z) [[z]] [[z|alias]] [[z#A title]] [[A title]] [r]\n\n[r]: <z.md>\n"
	if got := applied(w, edits)["b.md"]; got != want {
		t.Errorf("b.md = %q, want %q", got, want)
	}
}
