package editor

import (
	"context"
	"fmt"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/internal/notes"
)

// Kinds of actions on a whole note. Editors may run them whenever it is saved.
const (
	kindFixAll      = protocol.CodeActionKindSourceFixAll
	kindDefinitions = protocol.CodeActionKind("source.organizeLinkDefinitions")
)

// fixes are the ways to mend one problem, the likeliest first. There is one for each kind of problem.
func (v *view) fixes(p notes.Problem) (list []fix) {
	l := p.Link
	switch p.Kind {
	case notes.UnusedDefinition:
		return []fix{{title: "Remove the unused definition", preferred: true, edits: v.edit(notes.Edit{Span: v.wholeLines(p.Span)})}}
	case notes.DuplicateHeading:
		return v.renumber(p)
	}
	for i, s := range v.Suggest(v.note, l, 3) {
		list = append(list, fix{title: fmt.Sprintf("Change to %q", s.Label), preferred: i == 0, edits: v.edit(s.Edit)})
	}
	switch p.Kind {
	case notes.BrokenNote:
		if v.client.can.createFiles && v.dir != "" {
			if to, err := notes.NewPath(p.Path, "/"+p.Path); err == nil {
				list = append(list, fix{title: fmt.Sprintf("Create note %q", to), files: v.create(to, l)})
			}
		}
	case notes.BrokenHeading:
		if f, ok := v.addHeading(l); ok {
			list = append(list, f)
		}
	}
	if text, ok := plain(l); ok {
		list = append(list, fix{title: "Remove the link", edits: v.edit(notes.Edit{Span: l.Span, New: text})})
	}
	return list
}

// fix is one way to mend a problem.
type fix struct {
	title     string
	preferred bool
	edits     []notes.NoteEdits
	files     []protocol.DocumentChange
}

// plain is what is left of a link that is none any more.
func plain(l notes.Link) (text string, ok bool) {
	text = l.Text
	if text == "" && l.Kind == notes.Wiki {
		text = l.Dest
	}
	return text, l.Kind != notes.Auto
}

// addHeading writes the heading that a link misses at the end of the note that it names.
func (v *view) addHeading(l notes.Link) (f fix, ok bool) {
	t := v.Resolve(v.note, l)
	if t.Note == nil || t.Fragment == "" || strings.ContainsAny(t.Fragment, "\r\n") {
		return f, false
	}
	n, title := t.Note, t.Fragment
	if n.Path == v.note.Path {
		n = v.note
	}
	if l.Kind != notes.Wiki { // the link has the anchor that the heading is to get
		if words := strings.ReplaceAll(title, "-", " "); notes.Slugify(words) == title {
			title = words
		}
		if notes.Slugify(title) != t.Fragment {
			return f, false
		}
	}
	end := "\n"
	if strings.Contains(n.Text, "\r\n") {
		end = "\r\n"
	}
	text := "## " + title + end
	if body := strings.TrimRight(n.Text, "\r\n"); body != "" {
		text = end + text
		if body == n.Text {
			text = end + text
		}
	}
	at := notes.Span{Start: len(n.Text), End: len(n.Text)}
	f = fix{title: fmt.Sprintf("Add the heading %q", title), edits: []notes.NoteEdits{{Note: n, Edits: []notes.Edit{{Span: at, New: text}}}}}
	if n != v.note {
		f.title = fmt.Sprintf("Add the heading %q to %q", title, n.Path)
	}
	return f, true
}

// maxRenumber bounds the names that are tried for a heading.
const maxRenumber = 1000

// renumber gives a repeated heading a name of its own: with the first number behind it that makes one. Links to it follow.
func (v *view) renumber(p notes.Problem) []fix {
	slugs := make(map[string]bool, len(v.note.Headings))
	var h *notes.Heading
	for i := range v.note.Headings {
		if slugs[v.note.Headings[i].Slug] = true; v.note.Headings[i].Name == p.Span {
			h = &v.note.Headings[i]
		}
	}
	if h == nil {
		return nil
	}
	name := v.note.Slice(h.Name)
	for i := 2; i < maxRenumber; i++ {
		title := fmt.Sprintf("%s (%d)", name, i)
		if slugs[notes.Slugify(fmt.Sprintf("%s (%d)", h.Text, i))] {
			continue
		}
		edits, err := v.RenameHeading(v.note, h, title)
		if err != nil { // the note is being edited
			return nil
		}
		return []fix{{title: fmt.Sprintf("Change to %q", title), edits: edits}}
	}
	return nil
}

// maxFixed bounds the problems for which one request looks for what could be done: all notes are gone through for each.
const maxFixed = 200

// fixAll has the edits that mend all links for which there is one likely target.
func (v *view) fixAll(ctx context.Context) ([]notes.NoteEdits, error) {
	var edits []notes.Edit
	tried := 0
	for _, p := range v.problems() {
		if !p.Kind.Broken() || p.Link.Kind == notes.Reference || tried == maxFixed { // several references may have one definition
			continue
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		tried++
		if s := v.Suggest(v.note, p.Link, 2); len(s) == 1 {
			edits = append(edits, s[0].Edit)
		}
	}
	if len(edits) == 0 {
		return nil, nil
	}
	return []notes.NoteEdits{{Note: v.note, Edits: edits}}, nil
}

// definitions has the edits that remove all definitions that no link uses.
func (v *view) definitions() []notes.NoteEdits {
	var edits []notes.Edit
	end := -1
	for _, d := range v.note.Definitions {
		if s := v.wholeLines(d.Span); !d.Used && s.Start >= end {
			edits = append(edits, notes.Edit{Span: s})
			end = s.End
		}
	}
	if len(edits) == 0 {
		return nil
	}
	return []notes.NoteEdits{{Note: v.note, Edits: edits}}
}
