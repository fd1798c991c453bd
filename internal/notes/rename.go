package notes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// An Edit replaces the text of a span.
type Edit struct {
	Span Span
	New  string
}

// NoteEdits are the edits of one note, in order and without overlap. They are
// meant for this very Note: if the note has another Version or EditVersion by
// now, they must be thrown away.
type NoteEdits struct {
	Note  *Note
	Edits []Edit
}

// Apply returns the text of the note after the edits.
func (e NoteEdits) Apply() string {
	var b strings.Builder
	at := 0
	for _, edit := range e.Edits {
		b.WriteString(e.Note.Text[at:edit.Span.Start])
		b.WriteString(edit.New)
		at = edit.Span.End
	}
	b.WriteString(e.Note.Text[at:])
	return b.String()
}

// sorted returns the edits in order and without repeats.
func (e NoteEdits) sorted() NoteEdits {
	slices.SortFunc(e.Edits, func(a, b Edit) int {
		return cmp.Or(a.Span.Start-b.Span.Start, a.Span.End-b.Span.End, strings.Compare(a.New, b.New))
	})
	e.Edits = slices.CompactFunc(e.Edits, func(a, b Edit) bool { return a.Span == b.Span })
	return e
}

// An editSet gathers edits by note. A definition that several links share is
// edited once.
type editSet map[*Note][]Edit

func (s editSet) add(n *Note, e Edit) {
	if n.Slice(e.Span) != e.New {
		s[n] = append(s[n], e)
	}
}

// list returns the edits ordered by path and position, without repeats.
func (s editSet) list() []NoteEdits {
	list := make([]NoteEdits, 0, len(s))
	for n, edits := range s {
		list = append(list, NoteEdits{n, edits}.sorted())
	}
	slices.SortFunc(list, func(a, b NoteEdits) int { return strings.Compare(a.Note.Path, b.Note.Path) })
	return list
}

// RenameHeading returns the edits that give a heading of a note another text and
// keep every link to it working. Where the new text takes or frees a slug, the
// links to the other headings concerned are edited as well.
func (w *Workspace) RenameHeading(n *Note, h *Heading, title string) ([]NoteEdits, error) {
	title = strings.TrimSpace(title)
	if title == "" || strings.ContainsAny(title, "\r\n") {
		return nil, fmt.Errorf("rename heading: %q is not one line of text", clip(title))
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	if current := w.note(n.Path); current == nil || current.Text != n.Text {
		return nil, &ConflictError{Path: n.Path, Want: n.Version, Current: current}
	} else {
		n = current // of the same text, and the one that links resolve to
	}
	edits := make(editSet)
	edits.add(n, Edit{h.Name, title})
	after := Parse(n.Path, NoteEdits{n, edits[n]}.Apply())
	if len(after.Headings) != len(n.Headings) {
		return nil, fmt.Errorf("rename heading: %q would not be one heading", clip(title))
	}
	moved := make(map[string]*Heading) // old slug -> heading under its new slug
	for i := range n.Headings {
		was, is := &n.Headings[i], &after.Headings[i]
		renamed := was.Span.Start == h.Span.Start
		if was.Level != is.Level || was.ID != is.ID || renamed && after.Slice(is.Name) != title {
			return nil, fmt.Errorf("rename heading: %q would not be one heading", clip(title))
		}
		if was.Slug != is.Slug || renamed {
			moved[was.Slug] = is
		}
	}
	v := w.with(map[*Note]*Note{n: after})
	keys := targetKeys(n)
	if n.Title != after.Title { // which may be another note's name
		keys = append(keys, targetKeys(after)...)
	}
	for _, p := range w.linkers(keys) {
		from := w.note(p)
		for _, l := range from.Links {
			t := w.resolve(from, l)
			if t.Note == nil {
				continue
			}
			if l.Kind == Wiki && n.Title != after.Title {
				v.rename(edits, from, l, t.Note, p)
			}
			if t.Note != n || t.Heading == nil {
				continue
			}
			is := moved[t.Heading.Slug]
			if is == nil || is.ID != "" && is.ID == t.Fragment {
				continue // a link by explicit id goes on working
			}
			if span, ok := fragmentSpan(from, l); ok {
				edits.add(from, Edit{span, fragmentFor(l, t, is)})
			}
		}
	}
	return edits.list(), nil
}

// fragmentSpan returns the span behind the '#' of a link's destination.
func fragmentSpan(n *Note, l Link) (Span, bool) {
	raw := n.Slice(l.DestSpan)
	i := strings.IndexByte(raw, '#')
	if l.Kind == Wiki {
		i = strings.LastIndexByte(raw, '#')
	}
	if i < 0 {
		return Span{}, false
	}
	return Span{l.DestSpan.Start + i + 1, l.DestSpan.End}, true
}

// fragmentFor writes the anchor of a heading the way the link wrote the old one.
func fragmentFor(l Link, t Target, h *Heading) string {
	if l.Kind == Wiki && t.Fragment != t.Heading.Slug && Slugify(h.Text) == h.Slug && !strings.ContainsAny(h.Text, "[]|#\n") {
		return h.Text
	}
	return h.Slug
}

// relinkPath adds the edit that makes a link of n by path, which then will be at
// path from, lead to the file at path to.
func relinkPath(edits editSet, n *Note, l Link, t Target, from, to string) {
	raw := n.Slice(l.DestSpan)
	cut := len(raw)
	if i := strings.IndexAny(raw, "#?"); i >= 0 {
		cut = i
	}
	file := strings.TrimRight(raw[:cut], " ")
	span := Span{l.DestSpan.Start, l.DestSpan.Start + len(file)}
	if file == "" { // a heading of the note itself
		return
	}
	if was, ok := joinDest(n.Path, unescape(file)); ok {
		// A link that leaves the extension out keeps doing so, unless it names a
		// directory that stands for its README.
		if stem, ok := strings.CutSuffix(to, ".md"); ok && !IsNote(was) && was+".md" == t.Path {
			to = stem
		}
	}
	switch {
	case strings.HasPrefix(file, "/"):
		to = "/" + to
	case strings.HasPrefix(file, "./"):
		if to = RelPath(from, to); !strings.HasPrefix(to, "../") {
			to = "./" + to
		}
	default:
		to = RelPath(from, to)
	}
	// Leave a link alone that is right in other words: "x/../a.md".
	if was, ok := joinDest(from, unescape(file)); ok {
		if is, ok := joinDest(from, to); ok && was == is {
			return
		}
	}
	edits.add(n, Edit{span, EscapePath(to)})
}

// clip shortens a text for a message.
func clip(s string) string {
	if len(s) <= 200 {
		return s
	}
	return strings.ToValidUTF8(s[:200], "") + "…"
}
