package notes

import (
	"fmt"
	"strings"
	"testing"
)

func TestBlocks(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"front matter", "---\na: b\n---\ntext\n", "front 0-2"},
		{"front matter alone", "---\na: b\n---", "front 0-2"},
		{"fence", "x\n```go\n# no heading\n```\ny\n", "fence 1-3"},
		{"fence in a fence", "````\n```\n````\n", "fence 0-2"},
		{"open fence", "~~~\nx\ny", "fence 0-2"},
		{"table", "| a | b |\r\n|---|--:|\r\n| 1 | 2 |\r\n\r\ntext\r\n", "table 0-2"},
		{"table without outer pipes", "a | b\n--|--\n1 | 2\ntext\n", "table 0-2"},
		{"no table", "a | b\n1 | 2\n", ""},
		{"no table: other columns", "a | b\n--|--|--\n", ""},
		{"table in a fence", "```\n|a|\n|-|\n```\n", "fence 0-3"},
		{"list", "- a\n  more\n- b\n", "list 0-1"},
		{"nested list", "- a\n  - b\n    c\n\n  - d\n- e\n", "list 0-4 list 1-2"},
		{"list ends", "1. a\n   b\n\ntext\n", "list 0-1"},
		{"list before a heading", "- a\n  b\n# H\n", "list 0-1"},
		{"fence in a list", "- a\n  ```\n  x\n  ```\n- b\n", "list 0-3 fence 1-3"},
		{"comment", "<!-- a\nb -->\nx\n", "comment 0-1"},
		{"comment of a line", "<!-- a -->\nx\n", ""},
		{"nothing", "", ""},
	}
	names := map[BlockKind]string{FrontBlock: "front", FenceBlock: "fence", TableBlock: "table", ListBlock: "list", CommentBlock: "comment"}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var list []string
			for _, b := range Parse("a.md", tt.text).Blocks() {
				list = append(list, fmt.Sprintf("%s %d-%d", names[b.Kind], b.First, b.Last))
			}
			if got := strings.Join(list, " "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestFormatTables(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"widths", "|a|long cell|\n|-|-|\n|1|2|\n", "| a   | long cell |\n| --- | --------- |\n| 1   | 2         |\n"},
		{"alignment", "|a|b|c|\n|:-|-:|:-:|\n|x|x|x|\n|1234|1234|12345|\n", "| a    |    b |   c   |\n| :--- | ---: | :---: |\n| x    |    x |   x   |\n| 1234 | 1234 | 12345 |\n"},
		{"escaped pipe", "|a|\n|-|\n|x\\|y|\n", "| a    |\n| ---- |\n| x\\|y |\n"},
		{"wide characters", "|a|b|\n|-|-|\n|日本語|🌍x|\n", "| a      | b   |\n| ------ | --- |\n| 日本語 | 🌍x |\n"},
		{"combining", "|a|\n|-|\n|e\u0301e\u0301e\u0301e\u0301|\n", "| a    |\n| ---- |\n| e\u0301e\u0301e\u0301e\u0301 |\n"},
		{"short and long rows", "|a|b|\n|-|-|\n|1|\n|1|2|3|\n", "| a   | b   |\n| --- | --- |\n| 1   |     |\n| 1   | 2   | 3 |\n"},
		{"crlf", "|a|\r\n|-|\r\n|1|\r\n", "| a   |\r\n| --- |\r\n| 1   |\r\n"},
		{"without outer pipes", "a|b\n-|-\n1|2", "| a   | b   |\n| --- | --- |\n| 1   | 2   |"},
		{"indented", "- x\n  |a|\n  |-|\n  |1|\n", "- x\n  | a   |\n  | --- |\n  | 1   |\n"},
		{"code", "```\n|a|\n|-|\n```\n", "```\n|a|\n|-|\n```\n"},
		{"two", "|a|\n|-|\n\n|b|\n|-|\n", "| a   |\n| --- |\n\n| b   |\n| --- |\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := Parse("a.md", tt.text)
			got := NoteEdits{n, n.FormatTables(Span{0, len(n.Text)})}.Apply()
			if got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
			again := Parse("a.md", got)
			if edits := again.FormatTables(Span{0, len(again.Text)}); len(edits) != 0 {
				t.Errorf("a second time: %+v", edits)
			}
		})
	}
	n := Parse("a.md", "|a|\n|-|\n\ntext\n\n|b|\n|-|\n")
	if edits := n.FormatTables(Span{16, 17}); len(edits) != 1 || edits[0].Span.Start != 15 {
		t.Errorf("of the second table: %+v", edits)
	}
}

func TestFormatTablesKeepsCells(t *testing.T) {
	long := strings.Repeat("x", 5000)
	n := Parse("a.md", "|a|b|\n|-|-|\n|"+long+"|1|\n|2|3|\n")
	got := NoteEdits{n, n.FormatTables(Span{0, len(n.Text)})}.Apply()
	if !strings.Contains(got, "| "+long+" | 1   |") || len(got) > len(n.Text)+500 {
		t.Errorf("%d bytes became %d", len(n.Text), len(got))
	}
}

func TestContents(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"insert", "¦# T\n## A *b*\n### C\n## D {#dd}\n", "<!-- toc -->\n\n- [A b](#a-b)\n  - [C](#c)\n- [D](#dd)\n\n<!-- /toc -->\n# T\n## A *b*\n### C\n## D {#dd}\n"},
		{"update", "# T\n## Before\n<!-- TOC -->\nold\n<!-- /TOC -->\n## A\r\n## A\n", "# T\n## Before\n<!-- TOC -->\n\n- [A](#a)\n- [A](#a-1)\n\n<!-- /TOC -->\n## A\r\n## A\n"},
		{"other marks", "<!--toc:start-->\n<!--toc:end-->\n## [x] `y`\n", "<!--toc:start-->\n\n- [\\[x\\] y](#x-y)\n\n<!--toc:end-->\n## [x] `y`\n"},
		{"crlf", "# T\r\n<!-- toc -->\r\n<!-- /toc -->\r\n## A\r\n", "# T\r\n<!-- toc -->\r\n\r\n- [A](#a)\r\n\r\n<!-- /toc -->\r\n## A\r\n"},
		{"right already", "<!-- toc -->\n\n- [A](#a)\n\n<!-- /toc -->\n## A\n", ""},
		{"no headings", "text\n", ""},
		{"no end", "<!-- toc -->\n## A\n", ""},
		{"marks in code", "¦```\n<!-- toc -->\n<!-- /toc -->\n```\n## A\n", "<!-- toc -->\n\n- [A](#a)\n\n<!-- /toc -->\n```\n<!-- toc -->\n<!-- /toc -->\n```\n## A\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before, after, _ := strings.Cut(tt.text, "¦")
			if after == "" {
				before, after = "", before
			}
			n := Parse("a.md", before+after)
			e, _, ok := n.Contents(len(before))
			got := ""
			if ok {
				got = NoteEdits{n, []Edit{e}}.Apply()
			}
			if got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
			if ok { // every entry leads to its heading, and a second run has nothing to do
				again := Parse("a.md", got)
				w := workspace(t, map[string]string{"a.md": got})
				if problems := w.Check(again); len(problems) > 1 || len(problems) == 1 && problems[0].Kind != DuplicateHeading {
					t.Errorf("problems: %+v", problems)
				}
				if _, _, ok := again.Contents(0); ok {
					t.Error("it is not up to date then")
				}
			}
		})
	}
}

func TestSymbols(t *testing.T) {
	w := workspace(t, map[string]string{
		"guide/deploy.md": "# Deploying\n## First steps\n## Rolling back\n",
		"a.md":            "# Steps to take\n## Größe & more\n",
		"steps.md":        "text",
	})
	for _, tt := range []struct{ query, want string }{
		{"steps", "steps.md:steps a.md:Steps to take guide/deploy.md:First steps"},
		{"STEPS first", "guide/deploy.md:First steps"},
		{"roll", "guide/deploy.md:Rolling back"},
		{"größe", "a.md:Größe & more"},
		{"guide", "guide/deploy.md:Deploying"},
		{"deploying", "guide/deploy.md:Deploying"},
		{"&", ""},
		{"zzz", ""},
		{"", "steps.md:steps guide/deploy.md:Deploying a.md:Steps to take"},
	} {
		var list []string
		for _, s := range w.Symbols(tt.query, 0) {
			list = append(list, s.Note.Path+":"+s.Name())
		}
		if got := strings.Join(list, " "); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.query, got, tt.want)
		}
	}
	if got := w.Symbols("e", 1); len(got) != 1 {
		t.Errorf("with a limit of 1: %d", len(got))
	}
}

func TestEnclosing(t *testing.T) {
	text := "# T\n\n## A\n\nsome [link text](a.md#x) more\nsecond line\n\n- item\n  more\n\n## B\n"
	n := Parse("a.md", text)
	var list []string
	for _, s := range n.Enclosing(strings.Index(text, "text]")) {
		list = append(list, n.Slice(s))
	}
	want := []string{
		"text", "link text", "[link text](a.md#x)", "some [link text](a.md#x) more", "some [link text](a.md#x) more\nsecond line",
		"## A\n\nsome [link text](a.md#x) more\nsecond line\n\n- item\n  more\n\n", text,
	}
	if strings.Join(list, "§") != strings.Join(want, "§") {
		t.Errorf("got  %q\nwant %q", list, want)
	}
	for offset := range len(text) + 1 {
		chain := n.Enclosing(offset)
		for i, s := range chain {
			if !s.Contains(offset) || i > 0 && (s.Start > chain[i-1].Start || s.End < chain[i-1].End) {
				t.Fatalf("at %d: %v", offset, chain)
			}
		}
		if len(chain) == 0 {
			t.Fatalf("at %d there is nothing", offset)
		}
	}
}

func TestMarks(t *testing.T) {
	text := "---\ntags: [red]\n---\n[x](b.md) [[gone]] [y][l] ![[b]] #tag\n[w](<b.md>) https\n\n[l]: b.md\n[unused]: gone.md\n"
	w := workspace(t, map[string]string{"a.md": text, "b.md": ""})
	n, _ := w.Note("a")
	var list []string
	for _, m := range w.Marks(n, Span{0, len(text)}) {
		list = append(list, fmt.Sprintf("%d %s %v", m.Kind, n.Slice(m.Span), m.Broken))
	}
	want := "5 tags false|4 red false|0 b.md false|1 gone true|2 l false|1 b false|4 #tag false|0 b.md false|3 l false|0 b.md false|3 unused true|0 gone.md false"
	if got := strings.Join(list, "|"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := w.Marks(n, n.Line(7)); len(got) != 2 {
		t.Errorf("of one line: %+v", got)
	}
}
