package notes

import (
	"path"
	"strings"

	"github.com/yuin/goldmark/util"
)

// SubjectKind tells what a Subject is.
type SubjectKind uint8

// The kinds of subjects.
const (
	HeadingSubject SubjectKind = iota // a heading, also by a link to it
	NoteSubject                       // a note, by a link to it
	TagSubject                        // a tag
	LabelSubject                      // the label of a reference definition
)

// A Subject is what a place in a note is about: what people mean who ask there
// for references or for another name.
type Subject struct {
	Kind    SubjectKind
	Span    Span   // the place, in the note that was asked about
	Name    string // its name now, as a person would change it
	Note    *Note  // the note it is, or is in; for a tag the note that was asked about
	Heading *Heading
}

// SubjectAt returns what stands at an offset of a note: a link stands for what
// it leads to, with the cursor in the path of a link to a heading for the note.
// ok is false in plain text and on a link that leads nowhere.
func (w *Workspace) SubjectAt(n *Note, offset int) (s Subject, ok bool) {
	if l, ok := n.LinkAt(offset); ok {
		if label := labelSpan(n, l); label.Contains(offset) && l.Kind == Reference {
			return Subject{Kind: LabelSubject, Span: label, Name: n.Slice(label), Note: n}, true
		}
		return w.subjectOf(n, l, offset)
	}
	if d, ok := n.DefinitionAt(offset); ok {
		if d.DestSpan.Contains(offset) {
			return w.subjectOf(n, Link{Kind: Inline, Dest: d.Dest, DestSpan: d.DestSpan, Span: d.DestSpan}, offset)
		}
		return Subject{Kind: LabelSubject, Span: d.LabelSpan, Name: n.Slice(d.LabelSpan), Note: n}, true
	}
	if t, ok := n.TagAt(offset); ok {
		return Subject{Kind: TagSubject, Span: t.name(n), Name: t.Name, Note: n}, true
	}
	if h, ok := n.HeadingAt(offset); ok && h.Span.Contains(offset) {
		return Subject{Kind: HeadingSubject, Span: h.Name, Name: n.Slice(h.Name), Note: n, Heading: h}, true
	}
	return s, false
}

// subjectOf is SubjectAt for a link.
func (w *Workspace) subjectOf(n *Note, l Link, offset int) (s Subject, ok bool) {
	t := w.Resolve(n, l)
	if t.Note == nil {
		return s, false
	}
	stem, _ := cutNoteExt(path.Base(t.Note.Path))
	s = Subject{Kind: NoteSubject, Span: l.Span, Name: stem, Note: t.Note}
	file := l.DestSpan
	fragment, has := fragmentSpan(n, l)
	if has {
		file.End = fragment.Start - 1
	}
	if file.Contains(offset) && file.Len() > 0 {
		s.Span = file
		return s, true
	}
	if t.Heading != nil {
		s.Kind, s.Heading, s.Name = HeadingSubject, t.Heading, t.Note.Slice(t.Heading.Name)
		if fragment.Contains(offset) {
			s.Span = fragment
		}
		return s, true
	}
	return s, t.Err == nil && t.Anchor == nil
}

// TagAt returns the tag that holds the offset.
func (n *Note) TagAt(offset int) (Tag, bool) {
	for _, t := range n.Tags {
		if t.Span.Contains(offset) {
			return t, true
		}
	}
	return Tag{}, false
}

// name returns the span of a tag's name without its '#'.
func (t Tag) name(n *Note) Span {
	s := t.Span
	if strings.HasPrefix(n.Slice(s), "#") {
		s.Start++
	}
	return s
}

// labelSpan returns the span of the label by which a reference link names its
// definition, without brackets.
func labelSpan(n *Note, l Link) Span {
	if l.Kind != Reference || l.Span.Len() < 3 {
		return Span{}
	}
	raw := n.Slice(l.Span)
	if !strings.HasSuffix(raw, "][]") {
		// A label holds no bracket that is not escaped.
		for i := len(raw) - 2; i > 0; i-- {
			if raw[i] == '[' && raw[i-1] != '\\' {
				if raw[i-1] == ']' {
					return Span{l.Span.Start + i + 1, l.Span.End - 1}
				}
				break
			}
		}
	}
	s := Span{l.Span.Start + 1, l.Span.End - 1}
	if l.Image {
		s.Start++
	}
	if strings.HasSuffix(raw, "][]") {
		s.End -= 2
	}
	return s
}

// A Use is one place where a subject is named.
type Use struct {
	Note        *Note
	Span        Span
	Declaration bool // the heading, note or definition itself
}

// Uses returns every place that names a subject, in all notes, ordered by path
// and position, the declaration first. The note of a NoteSubject is declared at
// its beginning. The heading that gives a note its title stands for the note as
// well: the links to the note without a heading are among its uses. A tag is the
// same in every case of its letters.
func (w *Workspace) Uses(s Subject) []Use {
	var list []Use
	switch s.Kind {
	case HeadingSubject:
		list = append(list, Use{s.Note, s.Heading.Name, true})
		title := s.Heading.Level == 1 && s.Heading.Text == s.Note.Title && s.Heading.Slug == Slugify(s.Heading.Text)
		for _, b := range w.Backlinks(s.Note.Slug) {
			if b.Heading != nil && b.Heading.Slug == s.Heading.Slug || b.Heading == nil && title && w.Resolve(b.Note, b.Link).Fragment == "" {
				list = append(list, Use{Note: b.Note, Span: b.Link.Span})
			}
		}
	case NoteSubject:
		list = append(list, Use{s.Note, Span{}, true})
		for _, b := range w.Backlinks(s.Note.Slug) {
			list = append(list, Use{Note: b.Note, Span: b.Link.Span})
		}
	case TagSubject:
		for _, n := range w.Notes() {
			for _, t := range n.Tags {
				if strings.EqualFold(t.Name, s.Name) {
					list = append(list, Use{Note: n, Span: t.Span})
				}
			}
		}
	case LabelSubject:
		normal := util.ToLinkReference([]byte(s.Name))
		for _, d := range s.Note.Definitions {
			if util.ToLinkReference([]byte(d.Label)) == normal {
				list = append(list, Use{s.Note, d.LabelSpan, true})
			}
		}
		for _, l := range s.Note.Links {
			if label := labelSpan(s.Note, l); label.Len() > 0 && util.ToLinkReference([]byte(s.Note.Slice(label))) == normal {
				list = append(list, Use{Note: s.Note, Span: label})
			}
		}
	}
	return list
}
