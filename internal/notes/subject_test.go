package notes

import (
	"fmt"
	"strings"
	"testing"
)

func TestSubjectAt(t *testing.T) {
	w := workspace(t, map[string]string{"dir/b.md": "# B\n## Two *x*\n<a id=\"raw\"></a>\n", "pic.png": ""})
	tests := []struct {
		name, text string // the cursor is at '¦'
		want       string // kind, text of the span, name, path, heading
	}{
		{"heading", "# A ¦title\n", `0 "A title" "A title" a.md A title`},
		{"heading's mark", "¦# A\n", `0 "A" "A" a.md A`},
		{"setext", "A\n=¦=\n", `0 "A" "A" a.md A`},
		{"explicit id", "# A¦ {#i}\n", `0 "A" "A" a.md A`},
		{"below a heading", "# A\ntext¦\n", ""},
		{"path of a link", "[x](di¦r/b.md)", `1 "dir/b.md" "b" dir/b.md`},
		{"path of a link to a heading", "[x](di¦r/b.md#two-x)", `1 "dir/b.md" "b" dir/b.md`},
		{"fragment", "[x](dir/b.md#tw¦o-x)", `0 "two-x" "Two *x*" dir/b.md Two x`},
		{"text of a link", "[¦x](dir/b.md#two-x)", `0 "[x](dir/b.md#two-x)" "Two *x*" dir/b.md Two x`},
		{"text of a link to a note", "[¦x](dir/b.md)", `1 "[x](dir/b.md)" "b" dir/b.md`},
		{"wiki", "[[¦b]]", `1 "b" "b" dir/b.md`},
		{"wiki heading", "[[b#Two ¦x]]", `0 "Two x" "Two *x*" dir/b.md Two x`},
		{"own heading", "# A\n[x](#¦a)", `0 "a" "A" a.md A`},
		{"link in a heading", "# A [x](dir/b¦.md)\n", `1 "dir/b.md" "b" dir/b.md`},
		{"broken", "[x](gone¦.md)", ""},
		{"file", "![x](pic¦.png)", ""},
		{"raw anchor", "[x](dir/b.md#ra¦w)", ""},
		{"broken heading, path", "[x](dir/b¦.md#gone)", `1 "dir/b.md" "b" dir/b.md`},
		{"broken heading", "[x](dir/b.md#go¦ne)", ""},
		{"web", "[x](https://¦x.org)", ""},
		{"label of a link", "[x][la¦b]\n\n[lab]: dir/b.md\n", `3 "lab" "lab" a.md`},
		{"text of a reference", "[x¦y][lab]\n\n[lab]: dir/b.md\n", `1 "[xy][lab]" "b" dir/b.md`},
		{"collapsed", "[la¦b][]\n\n[lab]: dir/b.md\n", `3 "lab" "lab" a.md`},
		{"shortcut image", "![la¦b]\n\n[lab]: dir/b.md\n", `3 "lab" "lab" a.md`},
		{"label of a definition", "[lab]\n\n[l¦ab]: dir/b.md\n", `3 "lab" "lab" a.md`},
		{"destination of a definition", "[lab]\n\n[lab]: di¦r/b.md\n", `1 "dir/b.md" "b" dir/b.md`},
		{"tag", "x #re¦d", `2 "red" "red" a.md`},
		{"tag in front matter", "---\ntags: [re¦d]\n---\n", `2 "red" "red" a.md`},
		{"tag in a heading", "# A #re¦d\n", `2 "red" "red" a.md`},
		{"nothing", "¦", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before, after, _ := strings.Cut(tt.text, "¦")
			c, err := w.SetOverlay("a.md", before+after, 1)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if s, ok := w.SubjectAt(c.New, len(before)); ok {
				got = fmt.Sprintf("%d %q %q %s", s.Kind, c.New.Slice(s.Span), s.Name, s.Note.Path)
				if s.Heading != nil {
					got += " " + s.Heading.Text
				}
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestUses(t *testing.T) {
	w := workspace(t, map[string]string{
		"a.md": "# A\n## Two\n[self](#two) #red #Red/x\n",
		"b.md": "---\ntags: red\n---\n[x](a.md) [y](a.md#two) [z](a.md#gone) [w](a.md#a) [l][k] [k]\n\n[k]: a.md#two\n",
	})
	a, _ := w.Note("a")
	b, _ := w.Note("b")
	tests := []struct {
		name string
		s    Subject
		want string
	}{
		{"heading", Subject{Kind: HeadingSubject, Note: a, Heading: &a.Headings[1]},
			"a.md! Two|a.md [self](#two)|b.md [y](a.md#two)|b.md [l][k]|b.md [k]"},
		{"title", Subject{Kind: HeadingSubject, Note: a, Heading: &a.Headings[0]}, "a.md! A|b.md [x](a.md)|b.md [w](a.md#a)"},
		{"note", Subject{Kind: NoteSubject, Note: a},
			"a.md! |a.md [self](#two)|b.md [x](a.md)|b.md [y](a.md#two)|b.md [z](a.md#gone)|b.md [w](a.md#a)|b.md [l][k]|b.md [k]"},
		{"tag", Subject{Kind: TagSubject, Name: "RED"}, "a.md #red|b.md red"},
		{"label", Subject{Kind: LabelSubject, Name: "K", Note: b}, "b.md! k|b.md k|b.md k"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var list []string
			for _, u := range w.Uses(tt.s) {
				mark := ""
				if u.Declaration {
					mark = "!"
				}
				list = append(list, u.Note.Path+mark+" "+u.Note.Slice(u.Span))
			}
			if got := strings.Join(list, "|"); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestRenameTag(t *testing.T) {
	w := workspace(t, map[string]string{
		"a.md": "---\ntags: [work, \"#work/open\", works]\n---\n#work #Work/x #other (#work)\n",
		"b.md": "`#work`\n",
	})
	edits, err := w.RenameTag("#work", " #job/now ")
	if err != nil || len(edits) != 1 {
		t.Fatal(len(edits), err)
	}
	want := "---\ntags: [job/now, \"#job/now/open\", works]\n---\n#job/now #job/now/x #other (#job/now)\n"
	if got := edits[0].Apply(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, bad := range []string{"", "#", "a b", "1", "a#b", "a,b", "a\nb", "x.", "[a]"} {
		if _, err := w.RenameTag("work", bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestRenameLabel(t *testing.T) {
	text := "[x][one] [One][] ![one] [y][two]\n\n[ONE]: a.md\n[two]: b.md\n"
	w := workspace(t, map[string]string{"a.md": text})
	a, _ := w.Note("a")
	edits, err := w.RenameLabel(a, "one", "uno")
	if err != nil || len(edits) != 1 {
		t.Fatal(len(edits), err)
	}
	if got, want := edits[0].Apply(), "[x][uno] [uno][] ![uno] [y][two]\n\n[uno]: a.md\n[two]: b.md\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, bad := range []string{"", "a]b", "two", "a\nb", "^n", " "} {
		if _, err := w.RenameLabel(a, "one", bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestNewPath(t *testing.T) {
	for _, tt := range [][3]string{
		{"a.md", "b", "b.md"}, {"d/a.md", "b", "d/b.md"}, {"d/a.md", "e/b", "e/b.md"}, {"d/a.md", "/b.md", "b.md"},
		{"d/a.markdown", "b", "d/b.markdown"}, {"a.md", "b.markdown", "b.markdown"}, {"a.md", " x y#1 ", "x y#1.md"},
		{"a.md", "../b", ""}, {"a.md", "x/../../b", ""}, {"a.md", "", ""}, {"a.md", "a:b", ""}, {"a.md", "x\x00", ""}, {"d/a.md", "x ./b", ""},
	} {
		got, err := NewPath(tt[0], tt[1])
		if got != tt[2] && err == nil || (err == nil) != (tt[2] != "") {
			t.Errorf("%q to %q: %q, %v", tt[0], tt[1], got, err)
		}
	}
}
