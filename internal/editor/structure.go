package editor

import (
	"context"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/internal/notes"
)

// foldingRanges are the sections and blocks of a note, and what stands between <!-- #region --> and <!-- #endregion -->. Only those regions have their kind,
// so that "fold all regions" leaves sections alone.
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
		add(h.Span, notes.Span{End: end}, "")
	}
	blocks := n.Blocks()
	for _, b := range blocks {
		var kind protocol.FoldingRangeKind
		if b.Kind == notes.CommentBlock {
			kind = protocol.FoldingRangeKindComment
		}
		add(b.Span, b.Span, kind)
	}
	for _, r := range regions(n, blocks) {
		add(r, r, protocol.FoldingRangeKindRegion)
	}
	if c := v.client.Params(); c != nil && c.Capabilities.TextDocument != nil && c.Capabilities.TextDocument.FoldingRange != nil {
		if limit := c.Capabilities.TextDocument.FoldingRange.RangeLimit; limit != nil && int(*limit) < len(list) {
			list = list[:*limit]
		}
	}
	return list, nil
}

// regions are the spans between pairs of region comments, from the first to the last line, outside of code.
func regions(n *notes.Note, blocks []notes.Block) (list []notes.Span) {
	code := slices.DeleteFunc(slices.Clone(blocks), func(b notes.Block) bool { return b.Kind != notes.FenceBlock && b.Kind != notes.FrontBlock })
	var begun []int
	for at := 0; ; {
		i := strings.Index(n.Text[at:], "region")
		if i < 0 {
			return list
		}
		at += i
		row, _ := n.Position(at)
		line := n.Line(row)
		at = max(line.End, at+len("region"))
		name, begins := strings.CutPrefix(strings.TrimSpace(n.Slice(line)), "<!--")
		name, ends := strings.CutSuffix(name, "-->")
		if !begins || !ends {
			continue
		}
		name, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(name), "#"), " ")
		for len(code) > 0 && code[0].Span.End < line.End {
			code = code[1:]
		}
		if name != "region" && name != "endregion" || len(code) > 0 && code[0].Span.Start <= line.Start {
			continue
		}
		if name == "region" {
			begun = append(begun, line.Start)
		} else if len(begun) > 0 {
			list = append(list, notes.Span{Start: begun[len(begun)-1], End: line.End})
			begun = begun[:len(begun)-1]
		}
	}
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
