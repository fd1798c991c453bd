package notes

import (
	"cmp"
	"fmt"
	"path"
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
		slices.SortFunc(edits, func(a, b Edit) int {
			return cmp.Or(a.Span.Start-b.Span.Start, a.Span.End-b.Span.End, strings.Compare(a.New, b.New))
		})
		edits = slices.CompactFunc(edits, func(a, b Edit) bool { return a.Span == b.Span })
		list = append(list, NoteEdits{n, edits})
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
	for _, p := range w.linkers(targetKeys(n)) {
		from := w.note(p)
		for _, l := range from.Links {
			t := w.resolve(from, l)
			if t.Note != n {
				continue
			}
			if span, name, ok := retitled(from, l, n, after); ok {
				edits.add(from, Edit{span, name})
			}
			if t.Heading == nil {
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

// retitled returns the edit for a wiki link that names a note by its title, when
// the title is the heading that changes.
func retitled(from *Note, l Link, n, after *Note) (Span, string, bool) {
	name, _, _ := strings.Cut(l.Dest, "#")
	name = strings.TrimSpace(name)
	stem, _ := cutNoteExt(path.Base(n.Path))
	if l.Kind != Wiki || n.Title == after.Title || name == "" || nameKey(name) != nameKey(n.Title) || nameKey(name) == nameKey(stem) {
		return Span{}, "", false
	}
	title := after.Title
	if strings.ContainsAny(title, "[]|#/\n") {
		title = stem
	}
	raw, _, _ := strings.Cut(from.Slice(l.DestSpan), "#")
	raw = strings.TrimRight(raw, " ")
	return Span{l.DestSpan.Start, l.DestSpan.Start + len(raw)}, title, true
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
	if l.Kind == Wiki && t.Fragment != t.Heading.Slug && !strings.ContainsAny(h.Text, "[]|#\n") {
		return h.Text
	}
	return h.Slug
}

// RenameNote returns the edits that keep all links working when the note at one
// path gets another: links to it, and the relative links it holds. The edits are
// for the notes as they are before the move.
func (w *Workspace) RenameNote(from, to string) ([]NoteEdits, error) {
	if err := checkNotePath(to); err != nil {
		return nil, err
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	n := w.note(from)
	if n == nil {
		return nil, fmt.Errorf("%w: %q", ErrNotFound, from)
	}
	if w.note(to) != nil && from != to {
		return nil, fmt.Errorf("%w: %q", ErrExists, to)
	}
	edits := make(editSet)
	for _, p := range w.linkers(targetKeys(n)) {
		if other := w.note(p); other != n {
			for _, l := range other.Links {
				if t := w.resolve(other, l); t.Note == n {
					w.relink(edits, other, l, t, p, to)
				}
			}
		}
	}
	for _, l := range n.Links {
		t := w.resolve(n, l)
		target := t.Path
		if t.Note == n {
			target = to
		}
		if target != "" && !t.External {
			w.relink(edits, n, l, t, to, target)
		}
	}
	return edits.list(), nil
}

// relink adds the edit that makes a link of n, which then will be at path from,
// lead to the file at path to.
func (w *Workspace) relink(edits editSet, n *Note, l Link, t Target, from, to string) {
	raw := n.Slice(l.DestSpan)
	cut := len(raw)
	if i := strings.IndexAny(raw, "#?"); i >= 0 && (l.Kind != Wiki || raw[i] == '#') {
		cut = i
	}
	file := strings.TrimRight(raw[:cut], " ")
	span := Span{l.DestSpan.Start, l.DestSpan.Start + len(file)}
	if file == "" { // a heading of the note itself
		return
	}
	if l.Kind == Wiki {
		if t.Note != nil && t.Path != to {
			edits.add(n, Edit{span, w.wikiName(file, t.Note, to)})
		}
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

// wikiName returns the name by which a wiki link finds the note once it is at
// path to.
func (w *Workspace) wikiName(name string, n *Note, to string) string {
	stem, _ := cutNoteExt(to)
	oldStem, _ := cutNoteExt(path.Base(n.Path))
	base, _ := cutNoteExt(path.Base(name))
	if nameKey(base) != nameKey(oldStem) {
		return name // by title, which does not change
	}
	others := slices.ContainsFunc(w.names[nameKey(path.Base(stem))], func(p string) bool { return p != n.Path })
	if strings.ContainsAny(stem, "[]|#") {
		return nameKey(path.Base(stem)) // the closest that can be written
	}
	if strings.Contains(name, "/") || others {
		return stem
	}
	return path.Base(stem)
}

// clip shortens a text for a message.
func clip(s string) string {
	if len(s) <= 200 {
		return s
	}
	return strings.ToValidUTF8(s[:200], "") + "…"
}
