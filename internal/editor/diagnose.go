package editor

import (
	"context"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/internal/notes"
	"github.com/tandem-rpc/tandem/lsp"
)

// source is what the diagnostics say they come from.
const source = "notes"

// diagnose lists what is wrong with a document.
func (d *Server) diagnose(ctx context.Context, doc *lsp.Document) ([]protocol.Diagnostic, error) {
	d.mu.Lock()
	s := d.slots[doc.Key()]
	d.mu.Unlock()
	if s == nil {
		return nil, nil // closed
	}
	if err := d.settle(ctx, s); err != nil {
		return nil, err
	}
	v := &view{client: d.client(ctx), docs: lsp.SnapshotFrom(ctx), doc: doc}
	s.mu.Lock()
	v.folder, v.note = s.folder, s.note
	path, current := s.path, s.doc == doc
	s.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err() // overtaken
	case v.folder == nil:
		return nil, nil // closed
	case !current:
		// The editor has sent another text meanwhile, and what is found for this one may be published all the same.
		v.note = notes.Parse(path, doc.Text())
	}
	found := []protocol.Diagnostic{}
	for _, p := range v.problems() {
		found = append(found, v.diagnostic(p))
	}
	return found, nil
}

// maxProblems bounds the diagnostics of one note: editors draw each of them.
const maxProblems = 2000

// problems are those of the note that can be known where it lies.
func (v *view) problems() (list []notes.Problem) {
	beside := v.folder == v.client.d.beside
	for _, p := range v.Check(v.note) {
		switch {
		case beside && p.Kind.Broken() && p.Kind != notes.BrokenHeading: // it has no folder
		case v.loose && p.Kind == notes.OutsideLink: // the folder is a guess
		case len(list) == maxProblems:
			return list
		default:
			list = append(list, p)
		}
	}
	return list
}

func (v *view) diagnostic(p notes.Problem) protocol.Diagnostic {
	out := protocol.Diagnostic{
		Range:    v.doc.Range(p.Span.Start, p.Span.End),
		Severity: protocol.DiagnosticSeverityWarning,
		Code:     protocol.String(p.Kind.String()),
		Message:  protocol.String(p.Message),
	}
	out.Source.Set(source)
	var related *protocol.DiagnosticRelatedInformation
	switch p.Kind {
	case notes.BrokenHeading:
		if t := v.Resolve(v.note, p.Link); t.Note != nil && t.Note.Path != v.note.Path {
			related = &protocol.DiagnosticRelatedInformation{Location: v.location(t.Note, notes.Span{}), Message: "the note that has no such heading"}
		}
	case notes.DuplicateHeading:
		out.Severity = protocol.DiagnosticSeverityInformation
		related = &protocol.DiagnosticRelatedInformation{Location: v.location(v.note, p.Earlier), Message: "the heading that has this anchor"}
	case notes.UnusedDefinition:
		out.Severity = protocol.DiagnosticSeverityHint
		if v.client.can.unnecessary {
			out.Tags = protocol.NewDiagnosticTags(protocol.DiagnosticTagUnnecessary)
		}
	}
	if related != nil && v.client.can.related {
		out.RelatedInformation = []protocol.DiagnosticRelatedInformation{*related}
	}
	return out
}
