package editor

import (
	"context"
	"path"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/internal/notes"
)

// kindContents is the kind of the action that brings a table of contents up to date. Editors may run it whenever a note is saved.
const kindContents protocol.CodeActionKind = "source.updateTableOfContents"

var actionKinds = []protocol.CodeActionKind{protocol.CodeActionKindQuickFix, kindContents, kindFixAll, kindDefinitions}

// codeActions mend what is wrong in a range or in the whole note, and write the table of contents.
func (d *Server) codeActions(ctx context.Context, p *protocol.CodeActionParams) ([]protocol.CommandOrCodeAction, error) {
	v, err := d.view(ctx, p.TextDocument.URI)
	if err != nil {
		return nothing[[]protocol.CommandOrCodeAction](err)
	}
	list := []protocol.CommandOrCodeAction{}
	if !v.client.can.actionLiterals {
		return list, nil
	}
	start, end := v.doc.Offsets(p.Range)
	add := func(a *protocol.CodeAction, kind protocol.CodeActionKind, edits []notes.NoteEdits, files ...protocol.DocumentChange) error {
		edit, err := v.workspaceEdit(edits, files...)
		if err != nil {
			return err
		}
		a.Kind, a.Edit = &kind, edit
		list = append(list, a)
		return nil
	}
	if wanted(p.Context.Only, protocol.CodeActionKindQuickFix) {
		tried := 0
		for _, problem := range v.problems() {
			if problem.Span.Start > end || problem.Span.End < start {
				continue
			}
			if tried++; tried > maxFixed {
				break
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			about := v.reported(problem, p.Context.Diagnostics)
			for _, f := range v.fixes(problem) {
				preferred := f.preferred
				// What cannot be edited, as it is being typed in another editor, is no reason to offer nothing.
				_ = add(&protocol.CodeAction{Title: f.title, Diagnostics: about, IsPreferred: &preferred}, protocol.CodeActionKindQuickFix, f.edits, f.files...)
			}
		}
	}
	// What is for the whole note is offered to those who ask for it: it has nothing to do with the range.
	asked := len(p.Context.Only) > 0
	if asked && wanted(p.Context.Only, kindFixAll) {
		edits, err := v.fixAll(ctx)
		if err != nil {
			return nil, err
		}
		if edits != nil {
			if err := add(&protocol.CodeAction{Title: "Change all broken links that have one likely target"}, kindFixAll, edits); err != nil {
				return nil, err
			}
		}
	}
	if asked && wanted(p.Context.Only, kindDefinitions) {
		if edits := v.definitions(); edits != nil {
			if err := add(&protocol.CodeAction{Title: "Remove all unused definitions"}, kindDefinitions, edits); err != nil {
				return nil, err
			}
		}
	}
	if wanted(p.Context.Only, kindContents) {
		if edit, found, ok := v.note.Contents(start); ok && (found || len(p.Context.Only) > 0 || len(v.note.Headings) > 3) {
			a := &protocol.CodeAction{Title: "Update the table of contents"}
			if !found {
				a.Title = "Insert a table of contents"
			}
			// Saving a note shall not write a table that nobody asked for.
			if found || slices.Contains(p.Context.Only, kindContents) || len(p.Context.Only) == 0 {
				if err := add(a, kindContents, v.edit(edit)); err != nil {
					return nil, err
				}
			}
		}
	}
	return list, nil
}

// wanted reports whether an editor that asks for some kinds of actions only wants one of this kind.
func wanted(only []protocol.CodeActionKind, kind protocol.CodeActionKind) bool {
	return len(only) == 0 || slices.ContainsFunc(only, func(k protocol.CodeActionKind) bool {
		return k == "" || k == kind || strings.HasPrefix(string(kind), string(k)+".")
	})
}

func (v *view) edit(e notes.Edit) []notes.NoteEdits {
	return []notes.NoteEdits{{Note: v.note, Edits: []notes.Edit{e}}}
}

// reported returns the diagnostics, of those the editor has shown, that are about a problem.
func (v *view) reported(p notes.Problem, shown []protocol.Diagnostic) (list []protocol.Diagnostic) {
	r := v.doc.Range(p.Span.Start, p.Span.End)
	for _, diagnostic := range shown {
		if diagnostic.Range == r && diagnostic.Code == protocol.String(p.Kind.String()) {
			list = append(list, diagnostic)
		}
	}
	return list
}

// wholeLines widens a span to the lines it lies on, with their line breaks.
func (v *view) wholeLines(s notes.Span) notes.Span {
	first, _ := v.note.Position(s.Start)
	last, _ := v.note.Position(s.End)
	out := notes.Span{Start: v.note.Line(first).Start, End: len(v.note.Text)}
	if last+1 < v.note.Lines() {
		out.End = v.note.Line(last + 1).Start
	}
	return out
}

// create returns the operations that make a note for a link: with the link's name as its title, and the heading it names.
func (v *view) create(to string, l notes.Link) []protocol.DocumentChange {
	u, keep := v.folder.uri(to), true
	title := strings.TrimSuffix(path.Base(to), path.Ext(to))
	if l.Text != "" && l.Kind != notes.Wiki && !l.Image && !strings.ContainsAny(l.Text, "[]`*_\r\n") {
		title = l.Text
	}
	text := "# " + title + "\n"
	if t := v.Resolve(v.note, l); t.Fragment != "" && !strings.ContainsAny(t.Fragment, "\r\n") {
		text += "\n## " + t.Fragment + "\n"
	}
	edit := new(protocol.TextDocumentEdit)
	edit.TextDocument.URI = u
	edit.Edits = append(edit.Edits, &protocol.TextEdit{NewText: text})
	return []protocol.DocumentChange{
		&protocol.CreateFile{Kind: string(protocol.ResourceOperationKindCreate), URI: u, Options: &protocol.CreateFileOptions{IgnoreIfExists: &keep}},
		edit,
	}
}
