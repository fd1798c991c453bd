package editor

import (
	"fmt"
	"slices"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/internal/notes"
	"github.com/tandem-rpc/tandem/lsp"
)

// workspaceEdit makes the editor's form of edits of notes, followed by changes of files. Notes that the editor has open are named with the version the
// edits are for, so that an edit that comes too late is refused instead of doing harm.
func (v *view) workspaceEdit(list []notes.NoteEdits, files ...protocol.DocumentChange) (*protocol.WorkspaceEdit, error) {
	out := new(protocol.WorkspaceEdit)
	for _, e := range list {
		version, err := v.editable(e)
		if err != nil {
			return nil, err
		}
		edits, u := v.textEdits(e), v.uri(e.Note)
		if !v.client.can.documentChanges {
			if out.Changes == nil {
				out.Changes = map[uri.URI][]protocol.TextEdit{}
			}
			out.Changes[u] = edits
			continue
		}
		change := new(protocol.TextDocumentEdit)
		change.TextDocument.URI, change.TextDocument.Version = u, version
		for i := range edits {
			change.Edits = append(change.Edits, &edits[i])
		}
		out.DocumentChanges = append(out.DocumentChanges, change)
	}
	out.DocumentChanges = append(out.DocumentChanges, files...)
	if out.Changes == nil && out.DocumentChanges == nil {
		if v.client.can.documentChanges {
			out.DocumentChanges = []protocol.DocumentChange{}
		} else {
			out.Changes = map[uri.URI][]protocol.TextEdit{}
		}
	}
	return out, nil
}

func (v *view) textEdits(e notes.NoteEdits) []protocol.TextEdit {
	doc := v.text(e.Note)
	edits := make([]protocol.TextEdit, 0, len(e.Edits))
	for _, x := range e.Edits {
		edits = append(edits, protocol.TextEdit{Range: doc.Range(x.Span.Start, x.Span.End), NewText: x.New})
	}
	return edits
}

// editable returns the version of the note that the editor has, nil for the file, and an error if the edits would not do there what they should.
func (v *view) editable(e notes.NoteEdits) (version *int32, err error) {
	n := e.Note
	if !slices.ContainsFunc(e.Edits, func(x notes.Edit) bool { return !has(n, x.Span) }) {
		if !n.Overlay {
			return nil, nil
		}
		doc, holders := v.slot(n)
		if n == v.note {
			doc, holders = v.doc, append(holders, v.client.Client)
		}
		if doc == nil { // it has been edited meanwhile
			return nil, lsp.ContentModified
		}
		if slices.Contains(holders, v.client.Client) {
			number := doc.Version()
			return &number, nil
		}
		if stored, ok := v.Stored(n.Path); ok && stored.Text == n.Text {
			return nil, nil
		}
		return nil, lsp.RequestFailed(fmt.Sprintf("The note %q has unsaved changes in another editor.", n.Path))
	}
	return nil, lsp.RequestFailed(fmt.Sprintf("The file of %q is not valid UTF-8 where it would be edited.", n.Path))
}
