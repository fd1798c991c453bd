package notes

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// checkNote tests what holds for every note.
func checkNote(t *testing.T, n *Note) {
	t.Helper()
	text := n.Text
	if !utf8.ValidString(text) {
		t.Fatalf("text is no UTF-8")
	}
	inside := func(what string, s Span) {
		if s.Start < 0 || s.End < s.Start || s.End > len(text) {
			t.Fatalf("%s: span %v is outside of %d bytes: %q", what, s, len(text), text)
		}
		if s.Start < len(text) && !utf8.RuneStart(text[s.Start]) || s.End < len(text) && !utf8.RuneStart(text[s.End]) {
			t.Fatalf("%s: span %v cuts a character: %q", what, s, text)
		}
	}
	within := func(what string, inner, outer Span) {
		inside(what, inner)
		if inner.Len() > 0 && (inner.Start < outer.Start || inner.End > outer.End) {
			t.Fatalf("%s: %v is not within %v: %q", what, inner, outer, text)
		}
	}
	last := 0
	for _, l := range n.Links {
		inside("link", l.Span)
		if l.Span.Start < last {
			t.Fatalf("links out of order: %q", text)
		}
		last = l.Span.Start
		s := n.Slice(l.Span)
		open, shut := "[", ")]"
		if l.Image {
			open = "!["
		}
		if l.Kind == Auto {
			open, shut = "<", ">"
		}
		if !strings.HasPrefix(s, open) || !strings.ContainsAny(s[len(s)-1:], shut) {
			t.Fatalf("%v link is %q in %q", l.Kind, s, text)
		}
		if line, _ := n.Position(l.Span.Start); line != l.Line {
			t.Fatalf("link %q is on line %d, not %d", s, line, l.Line)
		}
		if l.Kind == Reference {
			inside("destination", l.DestSpan)
		} else {
			within("destination", l.DestSpan, l.Span)
		}
		if d := n.Slice(l.DestSpan); !strings.ContainsAny(d, "\\&") && d != l.Dest && l.Kind != Auto {
			t.Fatalf("destination %q is at %q in %q", l.Dest, d, text)
		}
		if !utf8.ValidString(l.Dest) || !utf8.ValidString(l.Text) || !utf8.ValidString(l.Label) {
			t.Fatalf("link %+v is no UTF-8", l)
		}
	}
	slugs := make(map[string]bool)
	last = 0
	for _, h := range n.Headings {
		inside("heading", h.Span)
		within("name", h.Name, h.Span)
		within("heading", h.Span, h.Section)
		if h.Span.Start < last || h.Level < 1 || h.Level > 6 || slugs[h.Slug] {
			t.Fatalf("heading %+v: out of order, bad level or slug used twice: %q", h, text)
		}
		last, slugs[h.Slug] = h.Span.Start, true
	}
	for _, d := range n.Definitions {
		inside("definition", d.Span)
		within("label", d.LabelSpan, d.Span)
		within("definition's destination", d.DestSpan, d.Span)
	}
	for _, tag := range n.Tags {
		inside("tag", tag.Span)
		if !strings.Contains(n.Slice(tag.Span), tag.Name) {
			t.Fatalf("tag %q is at %q", tag.Name, n.Slice(tag.Span))
		}
	}
	for _, a := range n.Anchors {
		inside("anchor", a.Span)
	}
	for _, f := range n.Front {
		inside("field", f.Span)
		for i, s := range f.Spans {
			if inside("value", s); n.Slice(s) != f.Values[i] {
				t.Fatalf("value %q is at %q", f.Values[i], n.Slice(s))
			}
		}
	}
	for i := range n.Lines() {
		inside("line", n.Line(i))
	}
}

// FuzzParse gives any text to everything that reads texts.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "# a\n[b](c.md#d) [[e|f]] #g\n\n[h]: i 'j'\n[h]\n", "---\ntags: [a]\n---\n> - 1. # x {#y}\n",
		"a\r\n===\r\n\t- [a](\tb)\n", "\xff\xfe\x00[\xff](\xff)", "\uFEFF---\na: b\n---", "[a](<b", "![[a]] <a id=b> <http://c>",
		"- [a\n  b]: c\n\n[a b]", "|a|[[b\\|c]]|", "`[[a]]` \\[[b]] [[[c]]]", "#\n##\n#", "[x]: \n\ty\n[x]", "*[**a**](b)*[c][]",
		"1)\t[a](b)\n\t> [c]\n[c]: <d>", "<!-- [a](b) -->\n<div id='x'>\n", "[a](b\\)c) [&amp;](&#0;)",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<14 {
			return
		}
		n := Parse("dir/n.md", text)
		checkNote(t, n)
		w, err := New(map[string]string{"dir/n.md": text, "dir/m.md": "# d\n[n](n.md) [[n]]", "c.md": "x"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		for _, p := range w.Check(n) {
			if p.Message == "" || !utf8.ValidString(p.Message) || strings.ContainsAny(p.Message, "\n\r") {
				t.Fatalf("message %q", p.Message)
			}
		}
		for i := range n.Headings {
			Preview(n, &n.Headings[i])
		}
		for offset := range len(text) + 1 {
			n.LinkAt(offset)
			n.HeadingAt(offset)
		}
		if p := Preview(n, nil); !utf8.ValidString(p) {
			t.Fatalf("preview %q", p)
		}
		w.Search(text, 3)
		if got := w.Backlinks("dir/n"); len(got) < 2 {
			t.Fatalf("backlinks: %v", got)
		}
		if _, err := w.SetOverlay("dir/m.md", text, 1); err != nil {
			t.Fatal(err)
		}
		w.Search(text, 3)
		if _, err := w.ClearOverlay("dir/m.md"); err != nil {
			t.Fatal(err)
		}
		checkIndex(t, w)
	})
}

// FuzzAgree compares the links found with those of goldmark as it comes, on
// texts within our limits and without what we read differently on purpose: wiki
// links, definitions and front matter.
func FuzzAgree(f *testing.F) {
	for _, s := range []string{
		"[a](b \"c\") ![d](e)", "> - [a](<b c>)\n\t[d]( e\n)", "[a [b](c) d](e)", "*[a*](b) [c](d(e)f)", "[a](b\\)c) `[`d](e)`", "<a [b](c)>\n# [d](e)\n[f](g)\n---",
		"\t[a](b)\n1. [c](d)\n   [e](f)", "[![a](b)](c)", "[a]( <b> 'c\nd' )", "[\\]](a) [](b)", "[a](b\"c\") [d](e\tf)",
	} {
		f.Add(s)
	}
	stock := goldmark.New().Parser()
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > maxOpen || !utf8.ValidString(s) || strings.ContainsAny(s, "\x00\uFEFF") || strings.Contains(s, "[[") || strings.Contains(s, "]:") {
			return
		}
		if whole, _ := frontMatter(s); whole.Len() > 0 || strings.Count(s, ">")+strings.Count(s, "-")+strings.Count(s, "\n\n") > maxBlankRun {
			return
		}
		var want, got []string
		err := ast.Walk(stock.Parse(text.NewReader([]byte(s))), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			switch n := n.(type) {
			case *ast.Link:
				if entering {
					want = append(want, string(n.Destination))
				}
			case *ast.Image:
				if entering {
					want = append(want, "!"+string(n.Destination))
				}
			}
			return ast.WalkContinue, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		n := Parse("n.md", s)
		for _, l := range n.Links {
			if l.Kind == Inline {
				d := n.Slice(l.DestSpan)
				if l.Image {
					d = "!" + d
				}
				got = append(got, d)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q: got %q, want %q", s, got, want)
		}
	})
}

// checkIndex compares the indexes of a workspace, kept up edit by edit, with
// those of a workspace that reads the same notes afresh.
func checkIndex(t *testing.T, w *Workspace) {
	t.Helper()
	files := make(map[string]string)
	for _, n := range w.Notes() {
		files[n.Path] = n.Text
	}
	fresh, err := New(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []struct {
		name      string
		got, want map[string][]string
	}{{"names", w.names, fresh.names}, {"refs", w.refs, fresh.refs}, {"folded", w.folded, fresh.folded}} {
		if len(m.got) != len(m.want) {
			t.Fatalf("%s has %d keys, want %d", m.name, len(m.got), len(m.want))
		}
		for k, want := range m.want {
			got := slices.Sorted(slices.Values(m.got[k]))
			if slices.Sort(want); !slices.Equal(got, want) {
				t.Fatalf("%s[%q] = %q, want %q", m.name, k, got, want)
			}
		}
	}
	if w.total != fresh.total {
		t.Fatalf("total = %d, want %d", w.total, fresh.total)
	}
}
