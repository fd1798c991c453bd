package editor

import (
	"context"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/internal/notes"
)

// formatting lines up the tables of a note, and gives it the end that the editor wants. Blanks at the end of lines are left alone whatever the editor
// says: two of them are a line break in Markdown.
func (d *Server) formatting(ctx context.Context, p *protocol.DocumentFormattingParams) ([]protocol.TextEdit, error) {
	v, err := d.view(ctx, p.TextDocument.URI)
	if err != nil {
		return nothing[[]protocol.TextEdit](err)
	}
	edits := v.note.FormatTables(notes.Span{End: len(v.note.Text)})
	if e, ok := ending(v.note.Text, yes(p.Options.InsertFinalNewline), yes(p.Options.TrimFinalNewlines)); ok {
		edits = append(edits, e)
	}
	return v.textEdits(notes.NoteEdits{Note: v.note, Edits: edits}), nil
}

// ending is the edit that gives a text one line break at its end, or takes away those beyond the first.
func ending(text string, insert, trim bool) (e notes.Edit, ok bool) {
	body := strings.TrimRight(text, "\r\n")
	if body == "" {
		return e, false
	}
	switch rest := text[len(body):]; {
	case rest == "" && insert:
		end := "\n"
		if i := strings.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
			end = "\r\n"
		}
		return notes.Edit{Span: notes.Span{Start: len(text), End: len(text)}, New: end}, true
	case rest != "" && trim:
		first := len(body) + 1
		if strings.HasPrefix(rest, "\r\n") {
			first++
		}
		return notes.Edit{Span: notes.Span{Start: first, End: len(text)}}, first < len(text)
	}
	return e, false
}

// rangeFormatting lines up the tables that reach into a range.
func (d *Server) rangeFormatting(ctx context.Context, p *protocol.DocumentRangeFormattingParams) ([]protocol.TextEdit, error) {
	return d.formatRanges(ctx, p.TextDocument, p.Range)
}

// rangesFormatting lines up the tables that reach into any of several ranges.
func (d *Server) rangesFormatting(ctx context.Context, p *protocol.DocumentRangesFormattingParams) ([]protocol.TextEdit, error) {
	return d.formatRanges(ctx, p.TextDocument, p.Ranges...)
}

func (d *Server) formatRanges(ctx context.Context, doc protocol.TextDocumentIdentifier, ranges ...protocol.Range) ([]protocol.TextEdit, error) {
	v, err := d.view(ctx, doc.URI)
	if err != nil {
		return nothing[[]protocol.TextEdit](err)
	}
	within := make([]notes.Span, 0, len(ranges))
	for _, r := range ranges {
		start, end := v.doc.Offsets(r)
		within = append(within, notes.Span{Start: start, End: end})
	}
	// All tables once, and of those the ones that are meant: there may be as many ranges as cursors.
	edits := slices.DeleteFunc(v.note.FormatTables(notes.Span{End: len(v.note.Text)}), func(e notes.Edit) bool {
		return !slices.ContainsFunc(within, func(s notes.Span) bool { return e.Span.End >= s.Start && e.Span.Start <= s.End })
	})
	return v.textEdits(notes.NoteEdits{Note: v.note, Edits: edits}), nil
}
