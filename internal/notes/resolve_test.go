package notes

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestResolve(t *testing.T) {
	w := workspace(t, map[string]string{
		"a.md":              "# A\n## Sub part\n<a id=\"here\"></a>\n",
		"dir/b.md":          "---\ntitle: The Big B\n---\n# Über uns\n",
		"dir/README.md":     "readme",
		"dir/pic.png":       "",
		"dir/sub/c.md":      "# C {#custom}\n",
		"odd/100% #1?.md":   "# odd",
		"odd/sp ace.md":     "# x",
		"other/b.md":        "other b",
		"case.md":           "x",
		"CASE.md":           "y",
		"notes/ä.md":        "z",
		"x.markdown":        "x",
		"assets/deep/z.PDF": "",
	})
	tests := []struct {
		from, link string
		want       string // path#heading slug or the error
		err        error
	}{
		{"a.md", "[x](dir/b.md)", "dir/b.md", nil},
		{"a.md", "[x](./dir/../dir/b.md)", "dir/b.md", nil},
		{"a.md", "[x](dir/b)", "dir/b.md", nil},
		{"a.md", "[x](x)", "x.markdown", nil},
		{"a.md", "[x](dir)", "dir/README.md", nil},
		{"a.md", "[x](dir/)", "dir/README.md", nil},
		{"dir/b.md", "[x](.)", "dir/README.md", nil},
		{"dir/b.md", "[x](../a.md#sub-part)", "a.md#sub-part", nil},
		{"dir/b.md", "[x](../a.md#Sub-Part)", "a.md#sub-part", nil},
		{"dir/b.md", "[x](/a.md#here)", "a.md", nil},
		{"dir/b.md", "[x](#%C3%BCber-uns)", "dir/b.md#über-uns", nil},
		{"dir/b.md", "[x](#über-uns)", "dir/b.md#über-uns", nil},
		{"dir/b.md", "[x](#top)", "dir/b.md", nil},
		{"dir/b.md", "[x](#)", "dir/b.md", nil},
		{"dir/b.md", "[x]()", "dir/b.md", nil},
		{"dir/b.md", "[x](sub/c.md#custom)", "dir/sub/c.md#c", nil},
		{"dir/b.md", "[x](pic.png)", "dir/pic.png", nil},
		{"dir/b.md", "[x](pic.png?raw=true#x)", "dir/pic.png", nil},
		{"dir/b.md", "[x](../a.md?x#a)", "a.md#a", nil},
		{"dir/b.md", "[x](/)", ".", nil},
		{"a.md", "[x](assets/deep)", "assets/deep", nil},
		{"a.md", "[x](odd/100%25%20%231%3F.md)", "odd/100% #1?.md", nil},
		{"a.md", "[x](<odd/sp ace.md>)", "odd/sp ace.md", nil},
		{"a.md", "[x](notes/%C3%A4.md)", "notes/ä.md", nil},
		{"a.md", "[x](CASE.md)", "CASE.md", nil},
		{"a.md", "[x](case.md)", "case.md", nil},
		{"a.md", "[x](https://example.org/a.md)", "external", nil},
		{"a.md", "[x](mailto:a@b.c)", "external", nil},
		{"a.md", "[x](//host/a.md)", "external", nil},
		{"a.md", "<x@example.org>", "external", nil},
		{"a.md", "[x](nothing.md)", "nothing.md", ErrNoNote},
		{"a.md", "[x](nothing)", "nothing.md", ErrNoNote},
		{"dir/b.md", "[x](a.md)", "dir/a.md", ErrNoNote},
		{"a.md", "[x](Case.md)", "Case.md", ErrNoNote},
		{"a.md", "[x](nothing.png)", "nothing.png", ErrNoFile},
		{"a.md", "[x](dir/b.md#none)", "dir/b.md", ErrNoHeading},
		{"a.md", "[x](#none)", "a.md", ErrNoHeading},
		{"a.md", "[x](../a.md)", "", ErrOutside},
		{"dir/b.md", "[x](../../etc/passwd)", "", ErrOutside},
		{"a.md", "[x](%2e%2e/a.md)", "", ErrOutside},
		{"a.md", "[x](/../a.md)", "", ErrOutside},

		{"dir/sub/c.md", "[[a]]", "a.md", nil},
		{"dir/sub/c.md", "[[A#Sub part]]", "a.md#sub-part", nil},
		{"dir/sub/c.md", "[[a#A#Sub part]]", "a.md#sub-part", nil},
		{"dir/sub/c.md", "[[#C]]", "dir/sub/c.md#c", nil},
		{"dir/README.md", "[[b]]", "dir/b.md", nil},
		{"other/b.md", "[[b]]", "other/b.md", nil},
		{"a.md", "[[b]]", "dir/b.md", nil},
		{"a.md", "[[other/b]]", "other/b.md", nil},
		{"a.md", "[[sub/C]]", "dir/sub/c.md", nil},
		{"a.md", "[[the big b]]", "dir/b.md", nil},
		{"a.md", "[[Sp Ace]]", "odd/sp ace.md", nil},
		{"a.md", "[[x.markdown]]", "x.markdown", nil},
		{"a.md", "![[pic.png]]", "dir/pic.png", nil},
		{"a.md", "![[z.pdf]]", "assets/deep/z.PDF", nil},
		{"a.md", "[[case]]", "case.md", nil},
		{"a.md", "[[CASE]]", "CASE.md", nil},
		{"dir/b.md", "[[nothing]]", "dir/nothing.md", ErrNoNote},
		{"dir/b.md", "[[new/nothing]]", "new/nothing.md", ErrNoNote},
		{"a.md", "[[a#none]]", "a.md", ErrNoHeading},
		{"a.md", "![[none.png]]", "none.png", ErrNoFile},
		{"a.md", "[[v1.2]]", "v1.2.md", ErrNoNote},
	}
	for _, tt := range tests {
		t.Run(tt.from+" "+tt.link, func(t *testing.T) {
			from, ok := w.At(tt.from)
			if !ok {
				t.Fatal("no such note")
			}
			links := Parse(tt.from, tt.link).Links
			if len(links) != 1 {
				t.Fatalf("links = %+v", links)
			}
			got := w.Resolve(from, links[0])
			if !errors.Is(got.Err, tt.err) || got.Broken() != (tt.err != nil) {
				t.Fatalf("error = %v, want %v", got.Err, tt.err)
			}
			s := got.Path
			if got.External {
				s = "external"
			}
			if got.Heading != nil {
				s += "#" + got.Heading.Slug
			}
			if s != tt.want {
				t.Errorf("got %q, want %q", s, tt.want)
			}
			if tt.err == nil && got.Note != nil {
				// Whatever a link leads to knows of the link.
				if _, err := w.SetOverlay(tt.from, tt.link, 1); err != nil {
					t.Fatal(err)
				}
				if back := w.Backlinks(got.Note.Slug); got.Heading == nil && got.Anchor == nil && !slices.ContainsFunc(back, func(b Backlink) bool { return b.Note.Path == tt.from }) {
					t.Errorf("no backlink from %q in %+v", tt.from, back)
				}
				if _, err := w.ClearOverlay(tt.from); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestBacklinks(t *testing.T) {
	w := workspace(t, map[string]string{
		"a.md":        "# A\n[self](#a)",
		"b.md":        "[1](a.md#a) x [2](a.md) [[A]] [no](ab.md)",
		"sub/c.md":    "[[a]] [r][]\n\n[r]: ../a.md",
		"sub/d.md":    "[[sub/a]] [broken](../a.md#none)",
		"sub/e/a2.md": "",
	})
	var got []string
	for _, b := range w.Backlinks("a") {
		s := b.Note.Path + ":" + b.Note.Slice(b.Link.Span)
		if b.Heading != nil {
			s += "=" + b.Heading.Slug
		}
		got = append(got, s)
	}
	want := "a.md:[self](#a)=a, b.md:[1](a.md#a)=a, b.md:[2](a.md), b.md:[[A]], sub/c.md:[[a]], sub/c.md:[r][], sub/d.md:[broken](../a.md#none)"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
	if w.Backlinks("nothing") != nil {
		t.Error("a missing note has backlinks")
	}
}

func TestCheck(t *testing.T) {
	w := workspace(t, map[string]string{
		"a.md": "# A\n## A\n[x](no.md) [y](#no) ![z](no.png) [o](../x) [[nope]] [r]\n\n[r]: gone.md\n[unused]: a.md\n[ext](https://x.y)\n# {#id}\n",
	})
	n, _ := w.Note("a")
	var got []string
	for _, p := range w.Check(n) {
		got = append(got, p.Kind.String()+" "+n.Slice(p.Span)+" "+p.Path)
	}
	want := []string{
		"broken-note no.md no.md", "broken-heading #no a.md", "broken-file no.png no.png", "outside-link ../x ",
		"broken-note nope nope.md", "broken-note [r] gone.md", "duplicate-heading A ", "unused-definition [unused]: a.md ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	for _, p := range w.Check(n) {
		if strings.ContainsAny(p.Message, "\n") || p.Message == "" {
			t.Errorf("message %q", p.Message)
		}
	}
}

func TestCyclicLinks(t *testing.T) {
	w := workspace(t, map[string]string{"a.md": "[[b]] [[a]]", "b.md": "[[c]]", "c.md": "[[a]]"})
	for _, n := range w.Notes() {
		if p := w.Check(n); len(p) > 0 {
			t.Errorf("%s: %+v", n.Path, p)
		}
		if len(w.Backlinks(n.Slug)) == 0 {
			t.Errorf("%s has no backlinks", n.Path)
		}
	}
}

func TestRelPath(t *testing.T) {
	for _, tt := range [][3]string{
		{"a.md", "b.md", "b.md"}, {"a.md", "d/b.md", "d/b.md"}, {"d/a.md", "b.md", "../b.md"}, {"d/a.md", "d/b.md", "b.md"},
		{"d/e/a.md", "d/f/b.md", "../f/b.md"}, {"d/a.md", "e/b.md", "../e/b.md"},
	} {
		if got := RelPath(tt[0], tt[1]); got != tt[2] {
			t.Errorf("RelPath(%q, %q) = %q, want %q", tt[0], tt[1], got, tt[2])
		}
		if p, ok := joinDest(tt[0], tt[2]); !ok || p != tt[1] {
			t.Errorf("joinDest(%q, %q) = %q", tt[0], tt[2], p)
		}
	}
}

func TestEscapePath(t *testing.T) {
	for _, p := range []string{"a.md", "a b.md", "100%.md", "a#b.md", "a(b).md", "(.md", "<a>.md", "ä ö.md", "a?b.md", "a&amp;b.md", "a\\b.md", "a_b*c*.md", "`a`.md", "[a].md"} {
		n := Parse("n.md", "[x]("+EscapePath(p)+"#f)")
		if len(n.Links) != 1 {
			t.Errorf("%q: links = %+v", p, n.Links)
			continue
		}
		if file, fragment, _ := splitDest(n.Links[0].Dest); file != p || fragment != "f" {
			t.Errorf("%q came back as %q", p, file)
		}
	}
}
