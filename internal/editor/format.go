package editor

import (
	"context"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/internal/notes"
)

// formatting lines up the tables of a note.
func (d *Server) formatting(ctx context.Context, p *protocol.DocumentFormattingParams) ([]protocol.TextEdit, error) {
	v, err := d.view(ctx, p.TextDocument.URI)
	if err != nil {
		return nothing[[]protocol.TextEdit](err)
	}
	return v.tables(notes.Span{End: len(v.note.Text)}), nil
}

// rangeFormatting lines up the tables that reach into a range.
func (d *Server) rangeFormatting(ctx context.Context, p *protocol.DocumentRangeFormattingParams) ([]protocol.TextEdit, error) {
	v, err := d.view(ctx, p.TextDocument.URI)
	if err != nil {
		return nothing[[]protocol.TextEdit](err)
	}
	start, end := v.doc.Offsets(p.Range)
	return v.tables(notes.Span{Start: start, End: end}), nil
}

func (v *view) tables(within notes.Span) []protocol.TextEdit {
	return v.textEdits(notes.NoteEdits{Note: v.note, Edits: v.note.FormatTables(within)})
}
