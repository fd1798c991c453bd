package notes

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestComplete(t *testing.T) {
	files := map[string]string{
		"alpha.md":          "# Alpha note\n## First part\n## Second part\n## First part\n#red\n",
		"beta.md":           "---\ntitle: The beta\ntags: [red, green]\n---\n",
		"dir/alpine.md":     "# Mountains\n",
		"dir/sp ace.md":     "# Blank\n",
		"dir/here.md":       "",
		"dir/other/twin.md": "# Twin\n",
		"twin.md":           "# Other twin\n",
		"dir/pic.png":       "",
	}
	tests := []struct {
		name, text string // the cursor is at '¦'
		want       string // "replaced: insert insert"; "" if nothing is offered
	}{
		{"wiki, all", "[[¦", ": sp ace alpine alpha twin beta dir/other/twin"},
		{"wiki, name", "x [[al¦", "al: alpine alpha"},
		{"wiki, title", "[[mount¦ains", "mount: alpine"},
		{"wiki, within a word", "[[eta¦", "eta: beta"},
		{"wiki heading", "[[alpha#fi¦", "fi: First part first-part-1"},
		{"wiki heading by slug", "[[alpha#First-part-1¦", "First-part-1: first-part-1"},
		{"own heading", "# Mine\n[[#¦", ": Mine"},
		{"wiki closed", "[[alpha]] ¦", ""},
		{"path", "[x](al¦", "al: alpine.md ../alpha.md"},
		{"path up", "[x](../b¦", "../b: ../beta.md"},
		{"path from the root", "[x](/dir/al¦", "/dir/al: /dir/alpine.md"},
		{"path with a dot", "[x](./al¦", "./al: ./alpine.md"},
		{"path with a blank", "[x](sp¦", "sp: sp%20ace.md"},
		{"escaped path", "[x](sp%20a¦", "sp%20a: sp%20ace.md"},
		{"angle brackets", "[x](<sp a¦", "sp a: sp%20ace.md"},
		{"file", "![x](pi¦", "pi: pic.png alpine.md"},
		{"path heading", "[x](../alpha.md#sec¦)", "sec: second-part"},
		{"heading here", "# Mine\n[x](#¦)", ": mine"},
		{"heading of nothing", "[x](nothing.md#¦)", ": "},
		{"title of a link", "[x](alpha.md \"¦", ""},
		{"external", "[x](https://¦", ""},
		{"definition", "[r]: bet¦", "bet: ../beta.md"},
		{"definition heading", "[r]: ../alpha.md#sec¦", "sec: second-part"},
		{"tag", "x #¦", ": red green"},
		{"tag at the beginning", "#r¦", "r: red green"},
		{"heading mark", "#¦", ""},
		{"two heading marks", "##¦", ""},
		{"number", "a#r¦", ""},
		{"in code", "`[[¦", ""},
		{"in a fence", "```\n[[¦\n```\n", ""},
		{"after a fence", "```\n```\n[[bet¦", "bet: beta"},
		{"plain text", "hello ¦", ""},
		{"nothing matches", "[[zzz¦", "zzz: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := workspace(t, files)
			before, after, _ := strings.Cut(tt.text, "¦")
			change, err := w.SetOverlay("dir/here.md", before+after, 1)
			if err != nil {
				t.Fatal(err)
			}
			c, ok := w.Complete(change.New, len(before), 0)
			got := ""
			if ok {
				var list []string
				for _, x := range c.Candidates {
					list = append(list, x.Insert)
				}
				got = change.New.Slice(c.Span) + ": " + strings.Join(list, " ")
				if c.Span.End != len(before) {
					t.Errorf("span = %v, the cursor is at %d", c.Span, len(before))
				}
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestCompleteWhole(t *testing.T) {
	for _, tt := range []struct{ text, whole, missing string }{
		{"[[al¦", "al", "]]"},
		{"[[al¦pha", "al", "]]"},
		{"[[al¦ is a note", "al", "]]"},
		{"[[al¦pha]] x", "alpha", ""},
		{"[[al¦pha]", "alpha", "]"},
		{"[[al¦pha|text]]", "alpha", ""},
		{"[[al¦pha#fi]]", "alpha", ""},
		{"[[al¦ [[b]]", "al", "]]"},
		{"[[alpha#F¦i rst]]", "Fi rst", ""},
		{"[[alpha#F¦i", "F", "]]"},
		{"[x](al¦pha.md)", "alpha.md", ""},
		{"[x](al¦pha.md#x)", "alpha.md", ""},
		{"[x](al¦pha.md \"t\")", "al", ""},
		{"[x](al¦", "al", ""},
		{"[x](<al¦ pha.md>)", "al", ""},
		{"[x](alpha.md#f¦irst)", "first", ""},
		{"x #re¦d, x", "red", ""},
		{"x #¦red\n", "red", ""},
		{"x #gr¦ün/é\r\nx", "grün/é", ""},
	} {
		w := workspace(t, map[string]string{"alpha.md": "# First\n"})
		before, after, _ := strings.Cut(tt.text, "¦")
		change, err := w.SetOverlay("here.md", before+after, 1)
		if err != nil {
			t.Fatal(err)
		}
		c, ok := w.Complete(change.New, len(before), 0)
		if got := change.New.Slice(c.Whole); !ok || got != tt.whole || c.Close != tt.missing {
			t.Errorf("%q: whole is %q, missing %q, %v; want %q, %q", tt.text, got, c.Close, ok, tt.whole, tt.missing)
		}
	}
}

// TestCompleteResolves takes every candidate and looks where it leads.
func TestCompleteResolves(t *testing.T) {
	w := workspace(t, map[string]string{
		"a.md": "# A\n## B [c] #d\n## B\n## B\n", "x y/z#1 (2).md": "# Odd | title\n", "x y/a.md": "", "100%.md": "", "b/c.md": "", "q[1].md": "",
	})
	for _, text := range []string{"[[", "[x](", "[x](/", "[[a#", "[x](../a.md#", "[x](<"} {
		c, err := w.SetOverlay("b/c.md", text, 1)
		if err != nil {
			t.Fatal(err)
		}
		list, ok := w.Complete(c.New, len(text), 0)
		if !ok || len(list.Candidates) == 0 {
			t.Fatalf("%q: nothing is offered", text)
		}
		for _, x := range list.Candidates {
			shut := map[string]string{"[[": "]]", "[x": ")"}[text[:2]]
			if strings.HasSuffix(text, "<") {
				shut = ">)"
			}
			full := text[:list.Span.Start] + x.Insert + shut
			n := Parse("b/c.md", full)
			if len(n.Links) != 1 {
				t.Errorf("%q is no link", full)
				continue
			}
			target := w.Resolve(n, n.Links[0])
			if target.Err != nil || target.Path != x.Detail {
				t.Errorf("%q leads to %q, %v, not to %q", full, target.Path, target.Err, x.Detail)
			}
			if x.Kind == HeadingCandidate && (target.Heading == nil || target.Heading.Text != x.Label) {
				t.Errorf("%q leads to heading %+v, not to %q", full, target.Heading, x.Label)
			}
		}
	}
}

func TestCompleteAnywhere(t *testing.T) {
	w := Sample()
	text := "# é\n[[é#ü]] [x](é.md#y) `[[` #tag [r]: <é>\n\n```\n[[\n" + strings.Repeat("é#", 2000)
	c, err := w.SetOverlay("new.md", text, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := -1; i < len(text)+2; i++ {
		if list, ok := w.Complete(c.New, i, 3); ok && (list.Span.End != i || list.Span.Start > i || len(list.Candidates) > 3) {
			t.Fatalf("at %d: %+v", i, list)
		}
	}
}

func TestSuggest(t *testing.T) {
	w := workspace(t, map[string]string{
		"a.md":               "[1](runbok.md) [2](Runbook.md#x) [3](runbook.md#roll-bakc) [[4runbook]] [[Runbock#x]] [6](zzz.md) [7](runbook.md) [r]\n\n[r]: code-reviews.md#x\n",
		"runbook.md":         "# Runbook\n## Roll back\n## Roll out\n",
		"dir/code-review.md": "# Code review\n",
	})
	n, _ := w.Note("a")
	want := []string{"runbook.md", "runbook.md", "roll-back roll-out", "runbook", "runbook", "", "", "dir/code-review.md"}
	for i, l := range n.Links {
		var got []string
		for _, s := range w.Suggest(n, l, 0) {
			got = append(got, s.Label)
			after := NoteEdits{n, []Edit{s.Edit}}.Apply()
			m := Parse("a.md", after)
			if target := w.Resolve(m, m.Links[i]); i != 1 && i != 4 && i != 7 && target.Err != nil {
				t.Errorf("link %d with %q is still broken: %v", i+1, s.Label, target.Err)
			}
		}
		if s := strings.Join(got, " "); s != want[i] {
			t.Errorf("link %d: got %q, want %q", i+1, s, want[i])
		}
	}
}

func TestEditDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "abc", 3}, {"abc", "abc", 0}, {"kitten", "sitting", 3}, {"ä", "a", 1}, {"ab", "ba", 2}} {
		if got := editDistance([]rune(tt.a), []rune(tt.b)); got != tt.want {
			t.Errorf("distance of %q and %q = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestTags(t *testing.T) {
	w := workspace(t, map[string]string{"a.md": "#x #y #x", "b.md": "#x"})
	check := func(want string) {
		t.Helper()
		if got := fmt.Sprint(w.Tags()); got != want {
			t.Errorf("tags = %s, want %s", got, want)
		}
	}
	check("[{x 2} {y 1}]")
	w.SetOverlay("a.md", "#z", 1)
	check("[{x 1} {z 1}]")
	w.ClearOverlay("a.md")
	check("[{x 2} {y 1}]")
	if !slices.IsSortedFunc(w.Tags(), func(a, b TagCount) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("tags are not sorted")
	}
}
