package notes

import (
	"errors"
	"fmt"
)

// ProblemKind classifies what Check finds.
type ProblemKind uint8

// The kinds of problems.
const (
	BrokenNote       ProblemKind = iota // the linked note does not exist
	BrokenHeading                       // the linked note has no such heading
	BrokenFile                          // the linked file does not exist
	OutsideLink                         // the link leaves the workspace
	DuplicateHeading                    // an earlier heading has the same anchor text
	UnusedDefinition                    // no link uses the reference definition
)

// String returns the kind as a short code such as "broken-note".
func (k ProblemKind) String() string {
	return [...]string{"broken-note", "broken-heading", "broken-file", "outside-link",
		"duplicate-heading", "unused-definition"}[k]
}

// Broken reports whether the kind is about a link that leads nowhere.
func (k ProblemKind) Broken() bool { return k <= OutsideLink }

// A Problem is something wrong at one place of a note.
type Problem struct {
	Kind    ProblemKind
	Message string // one line for people
	Line    int    // 0-based
	Span    Span   // the destination where the link has one of its own, else the whole
	Link    Link   // zero unless Kind.Broken
	Path    string // with BrokenNote the path at which creating a note mends the link
	Earlier Span   // with DuplicateHeading the first heading with that text
}

// Check returns the problems of a note in the order of their positions: broken
// links first, then repeated headings and unused definitions. The note may be
// newer or older than the workspace; its links are followed as of now.
func (w *Workspace) Check(n *Note) []Problem {
	w.mu.RLock()
	defer w.mu.RUnlock()
	var list []Problem
	for _, l := range n.Links {
		t := w.resolve(n, l)
		if t.Err == nil {
			continue
		}
		p := Problem{Message: t.Err.Error(), Line: l.Line, Span: l.Span, Link: l, Path: t.Path}
		if l.Kind != Reference && l.DestSpan.Len() > 0 {
			p.Span = l.DestSpan
		}
		switch {
		case errors.Is(t.Err, ErrNoNote):
			p.Kind = BrokenNote
		case errors.Is(t.Err, ErrNoHeading):
			p.Kind = BrokenHeading
		case errors.Is(t.Err, ErrNoFile):
			p.Kind = BrokenFile
		default:
			p.Kind = OutsideLink
		}
		list = append(list, p)
	}
	seen := make(map[string]Span, len(n.Headings))
	for _, h := range n.Headings {
		base := Slugify(h.Text)
		first, twice := seen[base]
		if twice && base != "" && h.ID == "" {
			list = append(list, Problem{Kind: DuplicateHeading, Line: h.Line, Span: h.Name, Earlier: first,
				Message: fmt.Sprintf("heading %q appears before; links to this one need %q", clip(h.Text), "#"+clip(h.Slug))})
		}
		if !twice {
			seen[base] = h.Name
		}
	}
	for _, d := range n.Definitions {
		if !d.Used {
			list = append(list, Problem{Kind: UnusedDefinition, Line: d.Line, Span: d.Span,
				Message: fmt.Sprintf("no link uses the definition %q", clip(d.Label))})
		}
	}
	return list
}
