package notes_test

import (
	"fmt"

	"github.com/tandem-rpc/tandem/internal/notes"
)

func Example() {
	w := notes.Sample()
	defer w.Close()

	for _, n := range w.Notes() {
		fmt.Printf("%s: %s\n", n.Slug, n.Title)
	}
	for _, n := range w.Notes() {
		for _, p := range w.Check(n) {
			if p.Kind.Broken() {
				fmt.Printf("%s:%d: %s\n", n.Path, p.Line+1, p.Message)
			}
		}
	}
	for _, hit := range w.Search("roll back", 1) {
		fmt.Println(hit.Note.Slug, "-", hit.Snippet)
	}
	for _, b := range w.Backlinks("runbook") {
		fmt.Println("from", b.Note.Slug, b.Note.Slice(b.Link.Span))
	}

	// Output:
	// deploy: deploy
	// first-week: First week
	// guides/code-review: Code review
	// handbook: Team handbook
	// incidents: Incidents
	// runbook: Runbook
	// welcome: welcome
	// first-week.md:11: no such heading: "on-call-rota" in "incidents.md"
	// handbook.md:19: no such note: "services.md"
	// runbook - ## Roll back
	// from first-week [[runbook]]
	// from handbook [runbook](runbook.md#roll-back)
	// from incidents [roll back](runbook.md#roll-back)
}
