package editor

import (
	"context"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/internal/notes"
	"github.com/tandem-rpc/tandem/lsp"
)

const maxSymbols = 200

// documentSymbols are the headings of a note, as a tree if the editor can show one.
func (d *Server) documentSymbols(ctx context.Context, p *protocol.DocumentSymbolParams) (protocol.DocumentSymbolResult, error) {
	v, err := d.view(ctx, p.TextDocument.URI)
	if err != nil {
		return nothing[protocol.DocumentSymbolResult](err)
	}
	headings := v.note.Headings
	if !v.client.can.nestedSymbols {
		flat := protocol.SymbolInformationSlice{}
		for i := range headings {
			h := &headings[i]
			info := protocol.SymbolInformation{Location: v.location(v.note, h.Section)}
			info.Name, info.Kind = symbolName(h), protocol.SymbolKindString
			flat = append(flat, info)
		}
		return flat, nil
	}
	tree, _ := v.symbols(headings, 0)
	return protocol.DocumentSymbolSlice(tree), nil
}

// symbols makes the tree of the first headings, as far as their levels are above level, and returns those that are left.
func (v *view) symbols(headings []notes.Heading, level int) ([]protocol.DocumentSymbol, []notes.Heading) {
	list := []protocol.DocumentSymbol{}
	for len(headings) > 0 && headings[0].Level > level {
		h := &headings[0]
		s := protocol.DocumentSymbol{
			Name:           symbolName(h),
			Kind:           protocol.SymbolKindString,
			Range:          v.doc.Range(h.Section.Start, h.Section.End),
			SelectionRange: v.doc.Range(h.Span.Start, h.Span.End),
		}
		if s.Children, headings = v.symbols(headings[1:], h.Level); len(s.Children) == 0 {
			s.Children = nil
		}
		list = append(list, s)
	}
	return list, headings
}

// symbolName is never empty: the protocol forbids it.
func symbolName(h *notes.Heading) string {
	if h.Text == "" {
		return "(no text)"
	}
	return h.Text
}

// workspaceSymbols finds notes and headings by their names.
func (d *Server) workspaceSymbols(ctx context.Context, p *protocol.WorkspaceSymbolParams) (protocol.WorkspaceSymbolResult, error) {
	folders, err := d.workspaces(ctx)
	if err != nil {
		return nil, err
	}
	if d.client(ctx).can.symbolRanges {
		return d.symbolsWithoutRanges(ctx, folders, p.Query)
	}
	list := protocol.SymbolInformationSlice{}
	for _, f := range folders {
		v := d.over(ctx, f)
		for _, s := range f.Symbols(p.Query, maxSymbols) {
			info := protocol.SymbolInformation{}
			info.Name = s.Name()
			if s.Heading == nil {
				info.Kind = protocol.SymbolKindFile
				info.Location = v.location(s.Note, notes.Span{})
			} else {
				info.Kind = protocol.SymbolKindString
				info.Location = v.location(s.Note, s.Heading.Span)
				info.ContainerName = &s.Note.Title
			}
			list = append(list, info)
		}
	}
	return list, nil
}

// symbolsWithoutRanges is workspaceSymbols for editors that ask for the place of the one that is chosen: no note has to be looked into.
func (d *Server) symbolsWithoutRanges(ctx context.Context, folders []*folder, query string) (protocol.WorkspaceSymbolResult, error) {
	list := protocol.WorkspaceSymbolSlice{}
	for _, f := range folders {
		v := d.over(ctx, f)
		for _, s := range f.Symbols(query, maxSymbols) {
			info := protocol.WorkspaceSymbol{Location: &protocol.LocationUriOnly{URI: v.uri(s.Note)}}
			info.Name, info.Kind = s.Name(), protocol.SymbolKindFile
			o := offered{URI: v.uri(s.Note)}
			if s.Heading != nil {
				info.Kind, info.ContainerName, o.Heading = protocol.SymbolKindString, &s.Note.Title, s.Heading.Slug
			}
			data, err := lsp.Codec.Marshal(&o)
			if err != nil {
				return nil, err
			}
			info.Data = data
			list = append(list, info)
		}
	}
	return list, nil
}

// workspaceSymbolResolve says where in its note a symbol is, the beginning of the note if it is not there any more.
func (d *Server) workspaceSymbolResolve(ctx context.Context, s *protocol.WorkspaceSymbol) (*protocol.WorkspaceSymbol, error) {
	var of offered
	if len(s.Data) == 0 || lsp.Codec.Unmarshal(s.Data, &of) != nil || of.URI == "" {
		return s, nil
	}
	v, err := d.view(ctx, of.URI)
	if err == errNoNote { // gone meanwhile
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	where := protocol.Location{URI: of.URI}
	if h, ok := v.note.Heading(of.Heading); ok && of.Heading != "" {
		where = v.location(v.note, h.Span)
	}
	s.Location = &where
	return s, nil
}
