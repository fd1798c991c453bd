package editor

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tandem-rpc/tandem/lsp/lsptest"
	"github.com/tandem-rpc/tandem/mcp"
)

// many are 10,000 notes of 2 KB with headings, tags and links to each other. A thousand of them link to a heading of d0/n0.md.
func many() map[string]string {
	const notes = 10_000
	r := rand.New(rand.NewPCG(3, 4))
	files := make(map[string]string, notes)
	for i := range notes {
		var b strings.Builder
		fmt.Fprintf(&b, "# Note %d w%d\n\n", i, r.IntN(20_000))
		for s := range 5 {
			fmt.Fprintf(&b, "## Section %d w%d\n\n", s, r.IntN(2000))
			for range 50 {
				fmt.Fprintf(&b, "w%d ", int(20_000*r.Float64()*r.Float64()*r.Float64()))
			}
			to := r.IntN(notes)
			fmt.Fprintf(&b, "see [other](../d%d/n%d.md) and [[n%d]].\n\n- #t%d *so* `code`\n\n", to%100, to, r.IntN(notes), i%50)
		}
		if i > 0 && i <= 1000 {
			b.WriteString("[hub](../d0/n0.md#hub)\n")
		}
		files[fmt.Sprintf("d%d/n%d.md", i%100, i)] = b.String()
	}
	files["d0/n0.md"] += "## Hub\n"
	return files
}

// desk is an editor with one note of many open, and an agent.
func desk(b *testing.B) (*together, *lsptest.Doc) {
	files := many()
	x := join(b, files)
	u := x.u("d0/n0.md")
	c := x.editor(nil)
	doc := c.Open(u, files["d0/n0.md"])
	doc.Diagnostics()
	return x, doc
}

// BenchmarkKeystroke is a letter typed until the editor has the diagnostics of the text with it.
func BenchmarkKeystroke(b *testing.B) {
	_, doc := desk(b)
	for b.Loop() {
		doc.Insert("## Hub\n", "x")
		doc.Diagnostics()
	}
}

// BenchmarkCompletion is a request for links with a few letters typed.
func BenchmarkCompletion(b *testing.B) {
	_, doc := desk(b)
	for _, typed := range []string{"[[", "[[w1", "[x](", "[x](../d7/n"} {
		doc.Insert("## Hub\n", "@"+typed)
		b.Run(typed, func(b *testing.B) {
			for b.Loop() {
				if list := doc.Complete("@" + typed); len(list.Items) == 0 {
					b.Fatal("nothing is offered")
				}
			}
		})
		doc.Edit("@"+typed, "")
	}
}

// BenchmarkRename renames a heading that 1,000 notes link to.
func BenchmarkRename(b *testing.B) {
	_, doc := desk(b)
	for b.Loop() {
		edit := doc.Rename("## Hub", "Wheel")
		if n := len(edit.Changes) + len(edit.DocumentChanges); n != 1001 {
			b.Fatalf("%d notes are edited", n)
		}
	}
}

// BenchmarkAgentEdit is an agent's edit until the editor has it.
func BenchmarkAgentEdit(b *testing.B) {
	x, doc := desk(b)
	for b.Loop() {
		_, note, _ := x.call("read_note", object{"slug": "d0/n0"})
		old, text := "## Hub", "## Hubs"
		if strings.Contains(doc.Text(), text) {
			old, text = text, old
		}
		if said, _, failed := x.call("edit_note", object{"slug": "d0/n0", "version": note["version"], "edits": []any{object{"old": old, "new": text}}}); failed {
			b.Fatal(said)
		}
		if !strings.Contains(doc.Text(), text+"\n") {
			b.Fatal("the editor does not have it")
		}
	}
}

// BenchmarkTold is a letter typed until an agent has been told of it.
func BenchmarkTold(b *testing.B) {
	x, doc := desk(b)
	stop, err := x.agent.Watch(b.Context(), []mcp.List{mcp.Resources}, "notes://d0%2Fn0")
	if err != nil {
		b.Fatal(err)
	}
	defer stop()
	for b.Loop() {
		doc.Insert("## Hub\n", "x")
		if _, err := x.agent.Notification(b.Context(), "notifications/resources/updated"); err != nil {
			b.Fatal(err)
		}
	}
}
