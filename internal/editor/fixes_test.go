package editor

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/lsp/lsptest"
)

// titles are those of actions, the preferred ones with a star.
func titles(list []protocol.CommandOrCodeAction) (out []string) {
	for _, x := range list {
		a := x.(*protocol.CodeAction)
		star := ""
		if a.IsPreferred != nil && *a.IsPreferred {
			star = "*"
		}
		out = append(out, star+a.Title)
	}
	return out
}

// For each kind of problem there is something to do, and doing it does away with the problem.
func TestFixes(t *testing.T) {
	const other = "# Other\r\nlast line"
	tests := []struct {
		name, text string
		at         string   // where the cursor is
		offered    []string // all titles
		title      string   // of the one that is chosen
		want       string   // the note then
		wantOther  string   // and other.md, if it changes
		left       int      // problems after it
	}{
		{name: "broken note", text: "# A\n[x](othr.md)\n", at: "othr",
			offered: []string{`*Change to "other.md"`, `Create note "othr.md"`, "Remove the link"},
			title:   `Change to "other.md"`, want: "# A\n[x](other.md)\n"},
		{name: "no link", text: "# A\nsee [*x* y](nowhere-near.md) here\n", at: "nowhere",
			offered: []string{`Create note "nowhere-near.md"`, "Remove the link"},
			title:   "Remove the link", want: "# A\nsee *x* y here\n"},
		{name: "no wiki link", text: "# A\n[[nowhere near]] [[b|c]]\n", at: "nowhere",
			offered: []string{`Create note "nowhere near.md"`, "Remove the link"},
			title:   "Remove the link", want: "# A\nnowhere near [[b|c]]\n", left: 1},
		{name: "broken heading", text: "# A\n[x](#second-part)\n", at: "#second",
			offered: []string{`Add the heading "second part"`, "Remove the link"},
			title:   `Add the heading "second part"`, want: "# A\n[x](#second-part)\n\n## second part\n"},
		{name: "broken heading elsewhere", text: "# A\n[[other#Zwei: drei]]\n", at: "other#",
			offered: []string{`Add the heading "Zwei: drei" to "other.md"`, "Remove the link"},
			title:   `Add the heading "Zwei: drei" to "other.md"`, want: "# A\n[[other#Zwei: drei]]\n", wantOther: other + "\r\n\r\n## Zwei: drei\r\n"},
		{name: "heading that no text has", text: "# A\n[x](#B.c)\n", at: "#B",
			offered: []string{"Remove the link"}, title: "Remove the link", want: "# A\nx\n"},
		{name: "broken file", text: "# A\n![pic](nowhere.png)\n", at: "nowhere",
			offered: []string{"Remove the link"}, title: "Remove the link", want: "# A\npic\n"},
		{name: "outside", text: "# A\n[x](../../../y.md)\n", at: "/y.md",
			offered: []string{"Remove the link"}, title: "Remove the link", want: "# A\nx\n"},
		{name: "repeated heading", text: "# A\n## B\n[1](#b) [2](#b-1)\n## B\n## B (2)\n", at: "## B\n## B (2)",
			offered: []string{`Change to "B (3)"`},
			title:   `Change to "B (3)"`, want: "# A\n## B\n[1](#b) [2](#b-3)\n## B (3)\n## B (2)\n"},
		{name: "unused definition", text: "# A\n\n[u]: other.md\n[v]: other.md\n[v]\n", at: "[u]",
			offered: []string{"*Remove the unused definition"},
			title:   "Remove the unused definition", want: "# A\n\n[v]: other.md\n[v]\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := join(t, map[string]string{"a.md": tt.text, "other.md": other})
			c := x.editor(nil)
			doc := c.Open(x.u("a.md"), tt.text)
			second := c.Open(x.u("other.md"), other)
			found := doc.Diagnostics()
			list := doc.Actions(tt.at, found...)
			list = slices.DeleteFunc(list, func(x protocol.CommandOrCodeAction) bool {
				return *x.(*protocol.CodeAction).Kind != protocol.CodeActionKindQuickFix
			})
			if got := titles(list); !slices.Equal(got, tt.offered) {
				t.Fatalf("offered: %q, want %q", got, tt.offered)
			}
			for _, x := range list {
				if a := x.(*protocol.CodeAction); a.Title == tt.title {
					if len(a.Diagnostics) != 1 {
						t.Errorf("it is about %d diagnostics", len(a.Diagnostics))
					}
					c.Apply(a.Edit)
				}
			}
			if got := doc.Text(); got != tt.want {
				t.Errorf("the note is %q, want %q", got, tt.want)
			}
			want := tt.wantOther
			if want == "" {
				want = other
			}
			if got := second.Text(); got != want {
				t.Errorf("the other note is %q, want %q", got, want)
			}
			// What is done in the other note is seen a moment later.
			doc.Until(func(found []protocol.Diagnostic) bool { return len(found) == tt.left })
		})
	}
}

// Everything with one likely answer is mended at once, for those who ask.
func TestFixAll(t *testing.T) {
	text := "# A\n## Second\n[1](othr.md) [2](#secnd) [3](nowhere-near.md) [4][l]\n\n[l]: othr.md\n[u]: other.md\n[w]: other.md\nend\n\n[z]: x\n"
	x := join(t, map[string]string{"a.md": text, "other.md": "# Other\n"})
	c := x.editor(nil)
	doc := c.Open(x.u("a.md"), text)
	ask := func(only ...protocol.CodeActionKind) map[string]*protocol.WorkspaceEdit {
		t.Helper()
		p := &protocol.CodeActionParams{TextDocument: doc.ID(), Context: protocol.CodeActionContext{Only: only, Diagnostics: []protocol.Diagnostic{}}}
		out := map[string]*protocol.WorkspaceEdit{}
		for _, a := range lsptest.Request[[]protocol.CodeAction](c, "textDocument/codeAction", p) {
			out[a.Title] = a.Edit
		}
		return out
	}
	const links, definitions = "Change all broken links that have one likely target", "Remove all unused definitions"
	for _, only := range [][]protocol.CodeActionKind{{"source"}, {"source.fixAll"}, {"source.organizeLinkDefinitions"}, {"source.fixAll.eslint"}, nil} {
		got := slices.Sorted(maps.Keys(ask(only...)))
		var want []string
		if len(only) > 0 && (only[0] == "source" || only[0] == "source.fixAll") {
			want = append(want, links)
		}
		if len(only) > 0 && (only[0] == "source" || only[0] == kindDefinitions) {
			want = append(want, definitions)
		}
		if got = slices.DeleteFunc(got, func(s string) bool { return strings.Contains(s, "table of contents") }); !slices.Equal(got, want) {
			t.Errorf("only %q: %q, want %q", only, got, want)
		}
	}
	c.Apply(ask("source.fixAll")[links])
	c.Apply(ask(kindDefinitions)[definitions])
	want := "# A\n## Second\n[1](other.md) [2](#second) [3](nowhere-near.md) [4][l]\n\n[l]: othr.md\nend\n\n"
	if got := doc.Text(); got != want {
		t.Errorf("the note is\n%q, want\n%q", got, want)
	}
	if got := ask("source.fixAll"); len(got) != 0 {
		t.Errorf("still offered: %v", got)
	}
}
