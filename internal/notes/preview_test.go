package notes

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPreview(t *testing.T) {
	tests := []struct{ name, text, heading, want string }{
		{"whole", "# A\nx\n", "", "# A\nx"},
		{"section", "# A\nx\n\n## B\ny\n\n# C\nz\n", "b", "## B\ny"},
		{"with subsections", "# A\nx\n## B\ny\n# C\n", "a", "# A\nx\n## B\ny"},
		{"front matter", "---\ntitle: x\n---\n\ntext\n", "", "text"},
		{"bom", "\uFEFFtext", "", "text"},
		{"crlf", "# A\r\nx\r\n", "", "# A\nx"},
		{"many lines", strings.Repeat("l\n", 40), "", strings.Repeat("l\n", 12) + "\n…"},
		{"open fence", "```go\n" + strings.Repeat("l\n", 40) + "```\n", "", "```go\n" + strings.Repeat("l\n", 11) + "```\n\n…"},
		{"closed fence", "~~~\nx\n~~~\ny", "", "~~~\nx\n~~~\ny"},
		{"fence in a fence", "````\n```\n````\n", "", "````\n```\n````"},
		{"empty", "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := Parse("n.md", tt.text)
			var h *Heading
			if tt.heading != "" {
				var ok bool
				if h, ok = n.Heading(tt.heading); !ok {
					t.Fatal("no such heading")
				}
			}
			if got := Preview(n, h); got != tt.want {
				t.Errorf("got\n%q\nwant\n%q", got, tt.want)
			}
		})
	}
}

func TestPreviewIsShort(t *testing.T) {
	for _, text := range []string{strings.Repeat("é", 1<<20), strings.Repeat(strings.Repeat("é", 300)+"\n", 20)} {
		p := Preview(Parse("n.md", text), nil)
		if len(p) > previewBytes+100 || !utf8.ValidString(p) || !strings.HasSuffix(p, "…") || len(p) < 500 {
			t.Errorf("%d bytes, ends in %q", len(p), p[len(p)-8:])
		}
	}
}
