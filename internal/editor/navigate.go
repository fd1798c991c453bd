package editor

import (
	"context"
	"fmt"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/internal/notes"
	"github.com/tandem-rpc/tandem/lsp"
)

// hover shows what is behind a link: the beginning of the note or section, or why the link is broken; and how often a heading or tag is used.
func (d *Server) hover(ctx context.Context, p *protocol.HoverParams) (*protocol.Hover, error) {
	v, offset, err := d.look(ctx, &p.TextDocumentPositionParams)
	if err != nil {
		return nothing[*protocol.Hover](err)
	}
	text, span := v.about(offset)
	if text == "" {
		return nil, nil
	}
	where := v.doc.Range(span.Start, span.End)
	return &protocol.Hover{Contents: lsp.Markdown(text), Range: &where}, nil
}

func (v *view) about(offset int) (string, notes.Span) {
	if l, ok := v.linkAt(offset); ok {
		return v.behind(l), l.Span
	}
	s, ok := v.SubjectAt(v.note, offset)
	if !ok {
		return "", notes.Span{}
	}
	uses := 0
	for _, u := range v.Uses(s) {
		if !u.Declaration {
			uses++
		}
	}
	switch s.Kind {
	case notes.TagSubject:
		return fmt.Sprintf("`#%s`: used %s", s.Name, times(uses)), s.Span
	case notes.HeadingSubject:
		if uses > 0 {
			return "linked to " + times(uses), s.Span
		}
	}
	return "", notes.Span{}
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// behind tells in Markdown what a link leads to.
func (v *view) behind(l notes.Link) string {
	t := v.Resolve(v.note, l)
	switch {
	case t.Err != nil:
		return t.Err.Error()
	case t.Note != nil:
		return notes.Preview(t.Note, t.Heading)
	case t.External:
		return l.Dest
	}
	return t.Path
}

// linkAt returns the link at an offset; the destination of a definition is one too.
func (v *view) linkAt(offset int) (notes.Link, bool) {
	if l, ok := v.note.LinkAt(offset); ok {
		return l, true
	}
	if def, ok := v.note.DefinitionAt(offset); ok && def.DestSpan.Contains(offset) {
		return notes.Link{Kind: notes.Inline, Dest: def.Dest, Span: def.DestSpan, DestSpan: def.DestSpan, Line: def.Line}, true
	}
	return notes.Link{}, false
}

// definition leads from a link to its heading, note or file.
func (d *Server) definition(ctx context.Context, p *protocol.DefinitionParams) (protocol.DefinitionResult, error) {
	v, offset, err := d.look(ctx, &p.TextDocumentPositionParams)
	if err != nil {
		return nothing[protocol.DefinitionResult](err)
	}
	l, ok := v.linkAt(offset)
	if !ok {
		return nil, nil
	}
	t := v.Resolve(v.note, l)
	var to protocol.Location
	var whole protocol.Range
	switch {
	case t.Note != nil:
		span, section := notes.Span{}, notes.Span{}
		switch {
		case t.Heading != nil:
			span, section = t.Heading.Span, t.Heading.Section
		case t.Anchor != nil:
			span, section = t.Anchor.Span, t.Anchor.Span
		}
		to = v.location(t.Note, span)
		whole = v.text(t.Note).Range(section.Start, section.End)
	case t.Err == nil && !t.External && v.dir != "":
		to.URI = v.folder.uri(t.Path)
	default:
		return nil, nil
	}
	if !v.client.can.definitionLinks {
		return &to, nil
	}
	from := v.doc.Range(l.Span.Start, l.Span.End)
	return protocol.DefinitionLinkSlice{{OriginSelectionRange: &from, TargetURI: to.URI, TargetRange: whole, TargetSelectionRange: to.Range}}, nil
}

// references lists the places that name what stands at a position: for a heading or note the links to it, in all notes.
func (d *Server) references(ctx context.Context, p *protocol.ReferenceParams) ([]protocol.Location, error) {
	v, offset, err := d.look(ctx, &p.TextDocumentPositionParams)
	if err != nil {
		return nothing[[]protocol.Location](err)
	}
	s, ok := v.SubjectAt(v.note, offset)
	if !ok {
		return nil, nil
	}
	list := []protocol.Location{}
	for i, u := range v.Uses(s) {
		if i%1000 == 999 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !u.Declaration || p.Context.IncludeDeclaration {
			list = append(list, v.location(u.Note, u.Span))
		}
	}
	return list, nil
}

// highlight marks the places of this note that name the same as the one at a position.
func (d *Server) highlight(ctx context.Context, p *protocol.DocumentHighlightParams) ([]protocol.DocumentHighlight, error) {
	v, offset, err := d.look(ctx, &p.TextDocumentPositionParams)
	if err != nil {
		return nothing[[]protocol.DocumentHighlight](err)
	}
	s, ok := v.SubjectAt(v.note, offset)
	if !ok {
		return nil, nil
	}
	list := []protocol.DocumentHighlight{}
	for _, u := range v.Uses(s) {
		if u.Note.Path != v.note.Path || u.Span.Len() == 0 {
			continue
		}
		kind := protocol.DocumentHighlightKindRead
		if u.Declaration {
			kind = protocol.DocumentHighlightKindWrite
		}
		list = append(list, protocol.DocumentHighlight{Range: v.doc.Range(u.Span.Start, u.Span.End), Kind: kind})
	}
	return list, nil
}

// documentLinks makes links work with a click. Those that lead nowhere are left out, so that an editor creates no file by accident.
func (d *Server) documentLinks(ctx context.Context, p *protocol.DocumentLinkParams) ([]protocol.DocumentLink, error) {
	v, err := d.view(ctx, p.TextDocument.URI)
	if err != nil {
		return nothing[[]protocol.DocumentLink](err)
	}
	list := []protocol.DocumentLink{}
	for i, l := range v.note.Links {
		if i%1000 == 999 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if u, ok := v.destination(l); ok {
			span := l.Span
			if l.Kind != notes.Reference && l.DestSpan.Len() > 0 {
				span = l.DestSpan
			}
			link := protocol.DocumentLink{Range: v.doc.Range(span.Start, span.End), Target: &u}
			if v.client.can.linkTooltips {
				link.Tooltip = v.tooltip(l)
			}
			list = append(list, link)
		}
	}
	return list, nil
}

// tooltip names what a link to a note leads to.
func (v *view) tooltip(l notes.Link) *string {
	t := v.Resolve(v.note, l)
	if t.Note == nil {
		return nil
	}
	text := t.Note.Title
	if t.Heading != nil && t.Heading.Text != text {
		text += " › " + t.Heading.Text
	}
	return &text
}

// destination is the URI that a link leads to. A heading is named by its line, as editors understand it.
func (v *view) destination(l notes.Link) (uri.URI, bool) {
	t := v.Resolve(v.note, l)
	switch {
	case t.External:
		u, err := uri.Parse(l.Dest)
		return u, err == nil
	case t.Note != nil && t.Err == nil:
		u := v.uri(t.Note)
		line := -1
		switch {
		case t.Heading != nil:
			line = t.Heading.Line
		case t.Anchor != nil:
			line, _ = t.Note.Position(t.Anchor.Span.Start)
		}
		if line >= 0 {
			u += uri.URI(fmt.Sprintf("#L%d", line+1))
		}
		return u, true
	case t.Err == nil && v.dir != "":
		return v.folder.uri(t.Path), true
	}
	return "", false
}
