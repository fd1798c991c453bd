package notes

import (
	"fmt"
	"path"
	"strings"
)

// RenameTag returns the edits that give a tag another name in all notes, and
// with it the tags below it: where #work becomes #job, #work/open becomes
// #job/open. The '#' may be given or left out.
func (w *Workspace) RenameTag(name, to string) ([]NoteEdits, error) {
	name, to = strings.TrimPrefix(name, "#"), strings.TrimPrefix(strings.TrimSpace(to), "#")
	if n := Parse("a.md", "x #"+to); len(n.Tags) != 1 || n.Tags[0].Name != to {
		return nil, fmt.Errorf("rename tag: %q cannot be a tag", clip(to))
	}
	edits := make(editSet)
	for _, n := range w.Notes() {
		for _, t := range n.Tags {
			if len(t.Name) < len(name) || !strings.EqualFold(t.Name[:len(name)], name) {
				continue
			}
			if rest := t.Name[len(name):]; rest == "" || rest[0] == '/' {
				s := t.name(n)
				edits.add(n, Edit{Span{s.Start, s.End - len(rest)}, to})
			}
		}
	}
	return edits.list(), nil
}

// RenameLabel returns the edits that give a reference definition of a note, and
// all links by it, another label.
func (w *Workspace) RenameLabel(n *Note, label, to string) ([]NoteEdits, error) {
	to = strings.TrimSpace(to)
	probe := Parse("a.md", "["+to+"]: x\n\n["+to+"]\n")
	if len(probe.Definitions) != 1 || len(probe.Links) != 1 || probe.Definitions[0].Label != to || strings.ContainsAny(to, "\r\n") {
		return nil, fmt.Errorf("rename label: %q cannot be a label", clip(to))
	}
	edits := make(editSet)
	for _, u := range w.Uses(Subject{Kind: LabelSubject, Name: label, Note: n}) {
		edits.add(n, Edit{u.Span, to})
	}
	after := Parse(n.Path, NoteEdits{n, edits[n]}.sorted().Apply())
	if len(after.Links) != len(n.Links) || len(after.Definitions) != len(n.Definitions) {
		return nil, fmt.Errorf("rename label: %q would change which links there are", clip(to))
	}
	for i, l := range after.Links {
		if l.Dest != n.Links[i].Dest {
			return nil, fmt.Errorf("rename label: %q is the label of another definition", clip(to))
		}
	}
	return edits.list(), nil
}

// NewPath returns the path that the note at from gets when somebody calls it
// name: a file name stays in its directory, a name with a '/' is a path from the
// root. The extension may be left out.
func NewPath(from, name string) (string, error) {
	name = strings.TrimSpace(name)
	if !IsNote(name) {
		stem, _ := cutNoteExt(from)
		name += from[len(stem):]
	}
	p := name
	if strings.Contains(name, "/") {
		p = path.Clean(strings.TrimPrefix(name, "/"))
	} else {
		p = path.Join(path.Dir(from), name)
	}
	if err := checkNotePath(p); err != nil {
		return "", err
	}
	return p, checkFileName(p)
}
