package notes

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParseLinks(t *testing.T) {
	// Each want is "kind text|dest|span|destination span|line"; an image has
	// '!' before its kind.
	tests := []struct {
		name, text string
		want       []string
	}{
		{"inline", "[a](b.md)", []string{`inline a|b.md|[a](b.md)|b.md|0`}},
		{"inline with title", "x [a b](b.md \"t\") y", []string{`inline a b|b.md|[a b](b.md "t")|b.md|0`}},
		{"angle brackets", "[a](<b c.md>)", []string{`inline a|b c.md|[a](<b c.md>)|b c.md|0`}},
		{"parentheses", "[a](b(1).md)", []string{`inline a|b(1).md|[a](b(1).md)|b(1).md|0`}},
		{"escape", `[a](b\_c.md)`, []string{`inline a|b_c.md|[a](b\_c.md)|b\_c.md|0`}},
		{"entity", `[a](b&amp;c.md)`, []string{`inline a|b&c.md|[a](b&amp;c.md)|b&amp;c.md|0`}},
		{"empty", "[a]()", []string{`inline a||[a]()||0`}},
		{"second line", "x\ny [a](b.md)\n", []string{`inline a|b.md|[a](b.md)|b.md|1`}},
		{"over two lines", "[a\nb](\nc.md)\n", []string{"inline a\nb|c.md|[a\nb](\nc.md)|c.md|0"}},
		{"crlf", "x\r\ny [a](b.md)\r\n", []string{`inline a|b.md|[a](b.md)|b.md|1`}},
		{"bom", "\uFEFF[a](b.md)", []string{`inline a|b.md|[a](b.md)|b.md|0`}},
		{"two", "[a](b)[c](d)", []string{`inline a|b|[a](b)|b|0`, `inline c|d|[c](d)|d|0`}},
		{"emphasis", "*[**a**](b)*", []string{`inline **a**|b|[**a**](b)|b|0`}},
		{"image", "![a](b.png)", []string{`!inline a|b.png|![a](b.png)|b.png|0`}},
		{"image in a link", "[![a](b.png)](c.md)", []string{
			`inline ![a](b.png)|c.md|[![a](b.png)](c.md)|c.md|0`, `!inline a|b.png|![a](b.png)|b.png|0`}},
		{"no link in a link", "[a [b](c)](d)", []string{`inline b|c|[b](c)|c|0`}},
		{"code", "`[a](b)` and\n\n    [a](b)\n\n```\n[a](b)\n```\n", nil},
		{"escaped", `\[a](b)`, nil},
		{"heading", "# [a](b)\n", []string{`inline a|b|[a](b)|b|0`}},
		{"quote", "> x\n> [a](b)\n", []string{`inline a|b|[a](b)|b|1`}},
		{"list", "- x\n  - [a](b)\n", []string{`inline a|b|[a](b)|b|1`}},
		{"tabbed list", "-\t[a](b)\n", []string{`inline a|b|[a](b)|b|0`}},
		{"table", "| a | b |\n|---|---|\n| [a](b) | [[c\\|d]] |\n", []string{`inline a|b|[a](b)|b|2`, `wiki d|c|[[c\|d]]|c|2`}},
		{"percent and hash", "[a](b%23c.md#d)", []string{`inline a|b%23c.md#d|[a](b%23c.md#d)|b%23c.md#d|0`}},
		{"non-ASCII", "é [ä](ö.md) ü", []string{`inline ä|ö.md|[ä](ö.md)|ö.md|0`}},

		{"full reference", "[a][l]\n\n[l]: b.md", []string{`reference a|b.md|[a][l]|b.md|0`}},
		{"collapsed reference", "[l][]\n\n[L]: b.md 'x'", []string{`reference l|b.md|[l][]|b.md|0`}},
		{"shortcut reference", "[l]\n\n[l]: <b c.md>\n", []string{`reference l|b c.md|[l]|b c.md|0`}},
		{"reference before paren", "[l](not a destination)\n\n[l]: b.md\n", []string{`reference l|b.md|[l]|b.md|0`}},
		{"undefined reference", "[a][l]\n", nil},
		{"first definition wins", "[l]\n\n[l]: b\n[l]: c\n", []string{`reference l|b|[l]|b|0`}},
		{"definition in a quote", "[l]\n\n> [l]: b\n", []string{`reference l|b|[l]|b|0`}},
		{"footnote", "a[^1]\n\n[^1]: word\n", nil},

		{"wiki", "[[a b]]", []string{`wiki a b|a b|[[a b]]|a b|0`}},
		{"wiki heading", "see [[ a#b c ]].", []string{`wiki a#b c|a#b c|[[ a#b c ]]|a#b c|0`}},
		{"wiki alias", "[[a#b|c d]]", []string{`wiki c d|a#b|[[a#b|c d]]|a#b|0`}},
		{"wiki own heading", "[[#a]]", []string{`wiki #a|#a|[[#a]]|#a|0`}},
		{"wiki embed", "![[a.png]]", []string{`!wiki a.png|a.png|![[a.png]]|a.png|0`}},
		{"wiki in brackets", "[[[a]]]", []string{`wiki a|a|[[a]]|a|0`}},
		{"wiki empty", "[[]] [[ ]] [[|a]]", nil},
		{"wiki not closed", "[[a] [[b\n]]", nil},
		{"wiki in code", "`[[a]]`", nil},

		{"auto", "<https://example.org/a>", []string{`auto https://example.org/a|https://example.org/a|<https://example.org/a>|https://example.org/a|0`}},
		{"mail", "<a@example.org>", []string{`auto a@example.org|a@example.org|<a@example.org>|a@example.org|0`}},
		{"after a forgotten bracket", "[0, 1) " + strings.Repeat("word ", 400) + "[a](b)", []string{`inline a|b|[a](b)|b|0`}},
		{"front matter is no text", "---\nx: \"[a](b)\"\n---\n[c](d)\n", []string{`inline c|d|[c](d)|d|3`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := Parse("n.md", tt.text)
			var got []string
			for _, l := range n.Links {
				mark := ""
				if l.Image {
					mark = "!"
				}
				got = append(got, fmt.Sprintf("%s%s %s|%s|%s|%s|%d", mark, l.Kind, l.Text, l.Dest, n.Slice(l.Span), n.Slice(l.DestSpan), l.Line))
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got\n%q\nwant\n%q", got, tt.want)
			}
		})
	}
}

func TestParseHeadings(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string // level text slug|span|name|line
	}{
		{"atx", "# A b\n", []string{`1 A b a-b|# A b|A b|0`}},
		{"closed", "## A ##\n", []string{`2 A a|## A ##|A|0`}},
		{"indented", "   ### A\n", []string{`3 A a|### A|A|0`}},
		{"bom", "\uFEFF# A\n", []string{`1 A a|# A|A|0`}},
		{"setext", "A *b*\n=====\nx", []string{"1 A b a-b|A *b*\n=====|A *b*|0"}},
		{"setext of two lines", "x\n\nA\nb\n---\n", []string{"2 A b a-b|A\nb\n---|A\nb|2"}},
		{"markup", "# `c` [l](d) &amp; \\*\n", []string{"1 c l & * c-l--|# `c` [l](d) &amp; \\*|`c` [l](d) &amp; \\*|0"}},
		{"wiki", "# [[a|b]]\n", []string{`1 b b|# [[a|b]]|[[a|b]]|0`}},
		{"equal", "# A\n# a\n# A 1\n# A\n", []string{`1 A a|# A|A|0`, `1 a a-1|# a|a|1`, `1 A 1 a-1-1|# A 1|A 1|2`, `1 A a-2|# A|A|3`}},
		{"empty", "#\n\nx", []string{`1  |#||0`}},
		{"id", "# A b {#c}\n", []string{`1 A b a-b|# A b {#c}|A b|0`}},
		{"non-ASCII", "# Größe für Äpfel!\n", []string{`1 Größe für Äpfel! größe-für-äpfel|# Größe für Äpfel!|Größe für Äpfel!|0`}},
		{"crlf", "# A\r\nx\r\n## B\r\n", []string{`1 A a|# A|A|0`, `2 B b|## B|B|2`}},
		{"in a quote", "> # A\n", []string{`1 A a|# A|A|0`}},
		{"hash in setext", "a # b\n===\n", []string{"1 a # b a--b|a # b\n===|a # b|0"}},
		{"no heading", "#a\n\n    # b\n\n```\n# c\n```\n", nil},
		{"after front matter", "---\na: b\n---\n# A\n", []string{`1 A a|# A|A|3`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := Parse("n.md", tt.text)
			var got []string
			for _, h := range n.Headings {
				got = append(got, fmt.Sprintf("%d %s %s|%s|%s|%d", h.Level, h.Text, h.Slug, n.Slice(h.Span), n.Slice(h.Name), h.Line))
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got\n%q\nwant\n%q", got, tt.want)
			}
		})
	}
}

func TestSections(t *testing.T) {
	n := Parse("n.md", "x\n# A\na\n## B\nb\n### C\nc\n## D\nd\n# E\ne\n")
	want := []string{"# A\na\n## B\nb\n### C\nc\n## D\nd\n", "## B\nb\n### C\nc\n", "### C\nc\n", "## D\nd\n", "# E\ne\n"}
	for i, h := range n.Headings {
		if got := n.Slice(h.Section); got != want[i] {
			t.Errorf("section %d = %q, want %q", i, got, want[i])
		}
	}
	if h, ok := n.HeadingAt(strings.Index(n.Text, "c\n")); !ok || h.Text != "C" {
		t.Errorf("HeadingAt = %v, %v", h, ok)
	}
	if h, ok := n.HeadingAt(0); ok {
		t.Errorf("HeadingAt before all headings = %v", h)
	}
}

func TestParseTags(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"plain", "a #b and #c-d/e_1.", []string{"b=#b", "c-d/e_1=#c-d/e_1"}},
		{"start and brackets", "#a (#b),#c", []string{"a=#a", "b=#b", "c=#c"}},
		{"not tags", "a#b #1 #! `#c` [x](y#z) \\#d http://e#f", nil},
		{"letters of all kinds", "#é #日本", []string{"é=#é", "日本=#日本"}},
		{"flow list", "---\ntags: [a, \"b, c\", '#d']\n---\n", []string{"a=a", "b=b", "c=c", "d=#d"}},
		{"block list", "---\ntags:\n  - a\n- b\nx: y\n---\n#c", []string{"a=a", "b=b", "c=#c"}},
		{"scalar", "---\nTags: a, b\n---\n", []string{"a=a", "b=b"}},
		{"toml", "+++\ntags = [\"a\"]\n+++\n", []string{"a=a"}},
		{"thematic break", "---\ntags: a\n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := Parse("n.md", tt.text)
			var got []string
			for _, tag := range n.Tags {
				got = append(got, tag.Name+"="+n.Slice(tag.Span))
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestFrontMatter(t *testing.T) {
	n := Parse("n.md", "---\r\ntitle: \"A: b\"\r\nempty:\r\nnested:\r\n  x: y\r\n# comment\r\nlist: [ ]\r\n...\r\n# H\r\n")
	if n.Title != "A: b" {
		t.Errorf("title = %q", n.Title)
	}
	var keys []string
	for _, f := range n.Front {
		keys = append(keys, f.Key)
		for i, s := range f.Spans {
			if n.Slice(s) != f.Values[i] {
				t.Errorf("%s: span holds %q, value is %q", f.Key, n.Slice(s), f.Values[i])
			}
		}
	}
	if got := strings.Join(keys, " "); got != "title empty nested list" {
		t.Errorf("keys = %q", got)
	}
}

func TestTitle(t *testing.T) {
	for text, want := range map[string]string{
		"---\ntitle: A\n---\n# B": "A", "## C\n# B": "B", "## C": "C", "x": "the file", "#": "the file",
	} {
		if n := Parse("dir/the file.md", text); n.Title != want {
			t.Errorf("title of %q = %q, want %q", text, n.Title, want)
		}
	}
}

func TestDefinitions(t *testing.T) {
	text := "[a]: b.md\n[c d]:\n  <e f.md>\n  'title'\n[g]: h \"t\" no\n"
	n := Parse("n.md", text)
	var got []string
	for _, d := range n.Definitions {
		got = append(got, fmt.Sprintf("%s|%s|%s|%s|%s|%d", d.Label, d.Dest, n.Slice(d.Span), n.Slice(d.LabelSpan), n.Slice(d.DestSpan), d.Line))
	}
	want := []string{"a|b.md|[a]: b.md|a|b.md|0", "c d|e f.md|[c d]:\n  <e f.md>\n  'title'|c d|e f.md|1"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	if d, ok := n.DefinitionAt(strings.Index(text, "e f")); !ok || d.Label != "c d" {
		t.Errorf("DefinitionAt = %v, %v", d, ok)
	}
	if d, ok := n.DefinitionAt(strings.Index(text, " no")); ok {
		t.Errorf("DefinitionAt on text = %v", d)
	}
}

func TestAnchors(t *testing.T) {
	n := Parse("n.md", "x <a id=\"one\"></a> <span\nname='two'> <b data-id=\"no\">\n\n<div class=\"c\" ID=three>\n</div>\n\n`<a id=\"code\">`\n")
	var got []string
	for _, a := range n.Anchors {
		got = append(got, a.ID)
		if n.Slice(a.Span) != a.ID {
			t.Errorf("span of %q holds %q", a.ID, n.Slice(a.Span))
		}
	}
	if s := strings.Join(got, " "); s != "one two three" {
		t.Errorf("anchors = %q", s)
	}
}

func TestInvalidUTF8(t *testing.T) {
	n := Parse("n.md", "# A\xff\xfe b\n[x](y\xff.md)")
	if !n.Repaired || !utf8.ValidString(n.Text) {
		t.Errorf("repaired = %v, text = %q", n.Repaired, n.Text)
	}
	if n.Links[0].Dest != "y\uFFFD.md" || n.Headings[0].Text != "A\uFFFD b" {
		t.Errorf("links = %+v, headings = %+v", n.Links, n.Headings)
	}
	if Parse("n.md", "a").Repaired {
		t.Error("valid text counts as repaired")
	}
}

func TestPositions(t *testing.T) {
	n := Parse("n.md", "ab\r\ncé\n\nd")
	if n.Lines() != 4 {
		t.Fatalf("lines = %d", n.Lines())
	}
	for i, want := range []string{"ab", "cé", "", "d"} {
		if got := n.Slice(n.Line(i)); got != want {
			t.Errorf("line %d = %q, want %q", i, got, want)
		}
	}
	for offset, want := range map[int][2]int{-5: {0, 0}, 0: {0, 0}, 3: {0, 3}, 4: {1, 0}, 7: {1, 3}, 8: {2, 0}, 9: {3, 0}, 10: {3, 1}, 99: {3, 1}} {
		if line, col := n.Position(offset); line != want[0] || col != want[1] {
			t.Errorf("Position(%d) = %d, %d, want %v", offset, line, col, want)
		}
	}
	if s := n.Line(-1); s != (Span{}) {
		t.Errorf("line -1 = %v", s)
	}
	if s := n.Line(9); s != (Span{10, 10}) {
		t.Errorf("line 9 = %v", s)
	}
}

func TestLinkAt(t *testing.T) {
	n := Parse("n.md", "x [![a](b.png)](c.md) y [d](e)")
	for at, want := range map[int]string{0: "", 2: "c.md", 4: "b.png", 14: "b.png", 15: "c.md", 21: "c.md", 22: "", 24: "e", 30: "e"} {
		l, ok := n.LinkAt(at)
		if ok != (want != "") || l.Dest != want {
			t.Errorf("LinkAt(%d) = %q, %v, want %q", at, l.Dest, ok, want)
		}
	}
}

func TestVersion(t *testing.T) {
	a, b := Parse("a.md", "x"), Parse("b.md", "x")
	if a.Version != b.Version || a.Version == Parse("a.md", "y").Version || len(a.Version) != 32 {
		t.Errorf("versions %q and %q", a.Version, b.Version)
	}
}

func TestSlugger(t *testing.T) {
	var s slugger
	for i := range 100_000 {
		got := s.slug("Usage")
		if want := fmt.Sprintf("usage-%d", i); i > 0 && got != want || i == 0 && got != "usage" {
			t.Fatalf("slug %d = %q", i, got)
		}
	}
}
