package notes

import "slices"

// MarkKind tells what a Mark is.
type MarkKind uint8

// The kinds of marks.
const (
	DestMark       MarkKind = iota // the destination of an inline link or a definition
	WikiMark                       // the name in a wiki link
	LabelMark                      // the label by which a link names a definition
	DefinitionMark                 // the label of a definition
	TagMark
	KeyMark // a key of the front matter
)

// A Mark is a part of a note whose meaning is known, for highlighting.
type Mark struct {
	Span   Span
	Kind   MarkKind
	Broken bool // the link leads nowhere; the definition is used by none
}

// Marks returns the marks of a note that reach into a span, in order and without
// overlap.
func (w *Workspace) Marks(n *Note, within Span) []Mark {
	var list []Mark
	add := func(s Span, kind MarkKind, broken func() bool) {
		if s.Len() > 0 && s.Start < within.End && s.End > within.Start {
			list = append(list, Mark{s, kind, broken()})
		}
	}
	never := func() bool { return false }
	w.mu.RLock()
	for _, l := range n.Links {
		broken := func() bool { return w.resolve(n, l).Err != nil }
		switch l.Kind {
		case Inline:
			add(l.DestSpan, DestMark, broken)
		case Wiki:
			add(l.DestSpan, WikiMark, broken)
		case Reference:
			add(labelSpan(n, l), LabelMark, broken)
		}
	}
	w.mu.RUnlock()
	for _, d := range n.Definitions {
		add(d.LabelSpan, DefinitionMark, func() bool { return !d.Used })
		add(d.DestSpan, DestMark, never)
	}
	for _, t := range n.Tags {
		add(t.Span, TagMark, never)
	}
	for _, f := range n.Front {
		add(f.Span, KeyMark, never)
	}
	slices.SortStableFunc(list, func(a, b Mark) int { return a.Span.Start - b.Span.Start })
	end := 0
	return slices.DeleteFunc(list, func(m Mark) bool {
		if m.Span.Start < end {
			return true
		}
		end = m.Span.End
		return false
	})
}
