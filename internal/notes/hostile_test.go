package notes

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// hostile holds shapes on which a Markdown parser is easily quadratic or
// exhausts its stack, each for a size in bytes.
var hostile = map[string]func(size int) string{
	"links in one paragraph": unit("[a](b) "),
	"links on lines":         unit("[a](b)\n"),
	"links in paragraphs":    unit("[a](b)\n\n"),
	"wiki links":             unit("[[a#b|c]] "),
	"block quotes":           unit(">"),
	"lists in lists":         unit("- "),
	"numbered in numbered":   unit("1. "),
	"quote and list":         unit("> - "),
	"open brackets":          unit("["),
	"open images":            unit("!["),
	"brackets":               func(n int) string { return strings.Repeat("[", n/2) + strings.Repeat("]", n/2) },
	"images in images":       func(n int) string { return strings.Repeat("![", n/6) + strings.Repeat("](a)", n/6) },
	"unclosed destinations":  unit("[a]("),
	"angle destinations":     unit("[a](<b "),
	"unclosed titles":        unit("[a](b \""),
	"parenthesised titles":   unit("[a](b ("),
	"nested parentheses":     func(n int) string { return strings.Repeat("[a](", n/5) + strings.Repeat(")", n/5) },
	"reference on each line": unit("x [a]\n"),
	"reference over lines":   unit("[a\nb] "),
	"unclosed references":    unit("[a][b"),
	"unclosed definitions":   unit("[a]: b '\n"),
	"emphasis":               func(n int) string { return strings.Repeat("*a ", n/6) + strings.Repeat("a* ", n/6) },
	"mixed emphasis":         unit("*a **b "),
	"underscores":            unit("a_b"),
	"emphasis in an image": func(n int) string {
		return "[![" + strings.Repeat("*a ", n/6) + strings.Repeat("a* ", n/6) + "](x)](y)"
	},
	"backticks":        unit("`a ``b "),
	"angle brackets":   unit("<"),
	"unclosed tags":    unit("<a "),
	"unclosed comment": unit("x <!-- "),
	"html blocks":      unit("<!--\n\n"),
	"attributes":       unit("<a id="),
	"headings":         unit("# a\n"),
	"setext":           func(n int) string { return strings.Repeat("a\n", n/2) + "===" },
	"tags":             unit("#a "),
	"list items":       unit("- a\n"),
	"stairs": func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n/2; i++ {
			fmt.Fprintf(&b, "%*s- a\n", 2*i, "")
		}
		return b.String() + strings.Repeat("\n", n/2)
	},
	"definitions": func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "[a%d]: b%d\n", i, i)
		}
		return b.String()
	},
	"equal definitions": unit("[a]: b\n"),
	"blank lines":       unit("\n"),
	"carriage returns":  unit("\r"),
	"crlf":              unit("a\r\n"),
	"tabs":              unit("\t"),
	"tabbed items":      unit("-\ta\n"),
	"nul":               unit("\x00"),
	"invalid":           unit("\xff"),
	"backslashes":       unit("\\"),
	"entities":          unit("&"),
	"fences":            unit("```\n~~~\n"),
	"pipes": func(n int) string {
		return strings.Repeat("|a", n/5) + "\n" + strings.Repeat("|-", n/5) + strings.Repeat("\n|b", n/15)
	},
	"front matter": func(n int) string { return "---\n" + strings.Repeat("a: [b, c]\n", n/10) },
	"one word":     unit("a"),
}

func unit(s string) func(int) string {
	return func(n int) string { return strings.Repeat(s, n/len(s)) }
}

// TestHostile holds parsing to a time that a quadratic parser does not meet: it
// would need from eight seconds to minutes for a text of this size, a linear one
// needs a few tenths. A busy machine gets three tries.
func TestHostile(t *testing.T) {
	const limit, tries = 4 * time.Second, 3
	for name, shape := range hostile {
		t.Run(name, func(t *testing.T) {
			body := shape(hostileSize)
			for try := 1; ; try++ {
				start := time.Now()
				n := Parse("a.md", body)
				took := time.Since(start)
				if try == 1 {
					checkNote(t, n)
				}
				if took < limit {
					return
				}
				if try == tries {
					t.Fatalf("%d bytes took %v", len(body), took)
				}
			}
		})
	}
}

// TestHostileShape does the same for what is asked of a note beside parsing.
func TestHostileShape(t *testing.T) {
	const limit = 4 * time.Second
	for name, shape := range hostile {
		n := Parse("a.md", shape(hostileSize))
		for ask, f := range map[string]func(){
			"blocks":    func() { n.Blocks() },
			"tables":    func() { n.FormatTables(Span{0, len(n.Text)}) },
			"contents":  func() { n.Contents(0) },
			"enclosing": func() { n.Enclosing(len(n.Text) / 2) },
		} {
			start := time.Now()
			f()
			if took := time.Since(start); took > limit {
				t.Errorf("%s: %s of %d bytes took %v", name, ask, len(n.Text), took)
			}
		}
	}
}
