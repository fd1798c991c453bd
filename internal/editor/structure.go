package editor

import (
	"context"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/internal/notes"
)

// foldingRanges are the sections and blocks of a note.
func (d *Server) foldingRanges(ctx context.Context, p *protocol.FoldingRangeParams) ([]protocol.FoldingRange, error) {
	v, err := d.view(ctx, p.TextDocument.URI)
	if err != nil {
		return nothing[[]protocol.FoldingRange](err)
	}
	list := []protocol.FoldingRange{}
	add := func(first, last notes.Span, kind protocol.FoldingRangeKind) {
		from, to := v.doc.Position(first.Start).Line, v.doc.Position(last.End).Line
		if to > from {
			list = append(list, protocol.FoldingRange{StartLine: from, EndLine: to, Kind: kind})
		}
	}
	n := v.note
	for _, h := range n.Headings {
		end := h.Section.Start + len(strings.TrimRight(n.Slice(h.Section), " \t\r\n"))
		add(h.Span, notes.Span{End: end}, protocol.FoldingRangeKindRegion)
	}
	for _, b := range n.Blocks() {
		kind := protocol.FoldingRangeKindRegion
		if b.Kind == notes.CommentBlock {
			kind = protocol.FoldingRangeKindComment
		}
		add(b.Span, b.Span, kind)
	}
	if c := v.client.Params(); c != nil && c.Capabilities.TextDocument != nil && c.Capabilities.TextDocument.FoldingRange != nil {
		if limit := c.Capabilities.TextDocument.FoldingRange.RangeLimit; limit != nil && int(*limit) < len(list) {
			list = list[:*limit]
		}
	}
	return list, nil
}

// selectionRanges are what a selection grows through.
func (d *Server) selectionRanges(ctx context.Context, p *protocol.SelectionRangeParams) ([]protocol.SelectionRange, error) {
	v, err := d.view(ctx, p.TextDocument.URI)
	if err != nil {
		return nothing[[]protocol.SelectionRange](err)
	}
	list := make([]protocol.SelectionRange, 0, len(p.Positions))
	for _, at := range p.Positions {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var r *protocol.SelectionRange
		spans := v.note.Enclosing(v.doc.Offset(at))
		for i := len(spans) - 1; i >= 0; i-- {
			r = &protocol.SelectionRange{Range: v.doc.Range(spans[i].Start, spans[i].End), Parent: r}
		}
		list = append(list, *r)
	}
	return list, nil
}

// tokenTypes are the kinds of marks by the names that themes know.
var tokenTypes = []string{
	notes.DestMark:       "string",
	notes.WikiMark:       "class",
	notes.LabelMark:      "variable",
	notes.DefinitionMark: "variable",
	notes.TagMark:        "decorator",
	notes.KeyMark:        "property",
}

var tokenLegend = protocol.SemanticTokensLegend{
	TokenTypes:     []string{"string", "class", "variable", "decorator", "property"},
	TokenModifiers: []string{"declaration", "deprecated"},
}

const (
	modDeclaration = 1 << iota
	modDeprecated
)

func (d *Server) semanticTokens(ctx context.Context, p *protocol.SemanticTokensParams) (*protocol.SemanticTokens, error) {
	v, err := d.view(ctx, p.TextDocument.URI)
	if err != nil {
		return nothing[*protocol.SemanticTokens](err)
	}
	return v.tokens(notes.Span{End: len(v.note.Text)}), nil
}

func (d *Server) semanticTokensRange(ctx context.Context, p *protocol.SemanticTokensRangeParams) (*protocol.SemanticTokens, error) {
	v, err := d.view(ctx, p.TextDocument.URI)
	if err != nil {
		return nothing[*protocol.SemanticTokens](err)
	}
	start, end := v.doc.Offsets(p.Range)
	return v.tokens(notes.Span{Start: start, End: end}), nil
}

// tokens encodes marks as LSP wants them: each relative to the one before, none over more than a line.
func (v *view) tokens(within notes.Span) *protocol.SemanticTokens {
	out := &protocol.SemanticTokens{Data: []uint32{}}
	var last protocol.Position
	for _, m := range v.Marks(v.note, within) {
		r := v.doc.Range(m.Span.Start, m.Span.End)
		if r.Start.Line != r.End.Line {
			continue
		}
		var typ, mods uint32
		for i, name := range tokenLegend.TokenTypes {
			if name == tokenTypes[m.Kind] {
				typ = uint32(i)
			}
		}
		if m.Kind == notes.DefinitionMark {
			mods |= modDeclaration
		}
		if m.Broken {
			mods |= modDeprecated
		}
		column := r.Start.Character
		if r.Start.Line == last.Line {
			column -= last.Character
		}
		out.Data = append(out.Data, r.Start.Line-last.Line, column, r.End.Character-r.Start.Character, typ, mods)
		last = r.Start
	}
	return out
}
