package editor

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/internal/notes"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/lsp"
)

const showBacklinks = "notes.backlinks"

// inlayHints tell at each heading how many links lead to it.
func (d *Server) inlayHints(ctx context.Context, p *protocol.InlayHintParams) ([]protocol.InlayHint, error) {
	v, err := d.view(ctx, p.TextDocument.URI)
	if err != nil {
		return nothing[[]protocol.InlayHint](err)
	}
	counts := map[string]int{} // by slug
	for _, b := range v.Backlinks(v.note.Slug) {
		if b.Heading != nil {
			counts[b.Heading.Slug]++
		}
	}
	start, end := v.doc.Offsets(p.Range)
	list := []protocol.InlayHint{}
	for _, h := range v.note.Headings {
		if n := counts[h.Slug]; n > 0 && h.Name.End >= start && h.Name.End <= end {
			pad := true
			hint := protocol.InlayHint{Position: v.doc.Position(h.Name.End), Label: protocol.String(count(n, "link")), PaddingLeft: &pad}
			hint.Tooltip = protocol.String("links that lead to this heading")
			if v.client.can.hintTooltips { // the editor asks when somebody looks
				if hint.Data, err = lsp.Codec.Marshal(&offered{URI: p.TextDocument.URI, Heading: h.Slug}); err != nil {
					return nil, err
				}
				hint.Tooltip = nil
			}
			list = append(list, hint)
		}
	}
	return list, nil
}

// maxListed bounds the places that a tooltip lists.
const maxListed = 10

// inlayHintResolve lists the places that link to the heading of a hint.
func (d *Server) inlayHintResolve(ctx context.Context, hint *protocol.InlayHint) (*protocol.InlayHint, error) {
	var of offered
	if len(hint.Data) == 0 || lsp.Codec.Unmarshal(hint.Data, &of) != nil || of.URI == "" {
		return hint, nil
	}
	v, err := d.view(ctx, of.URI)
	if err == errNoNote { // gone meanwhile
		return hint, nil
	}
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	n := 0
	for _, b := range v.Backlinks(v.note.Slug) {
		if b.Heading == nil || b.Heading.Slug != of.Heading {
			continue
		}
		if n++; n <= maxListed {
			to := b.Note.Path
			if u := v.uri(b.Note); u.IsFile() {
				to = fmt.Sprintf("[%s](<%s#L%d>)", strings.NewReplacer("[", `\[`, "]", `\]`).Replace(b.Note.Path), u, b.Link.Line+1)
			}
			fmt.Fprintf(&text, "- %s, line %d\n", to, b.Link.Line+1)
		}
	}
	if n > maxListed {
		fmt.Fprintf(&text, "- and %d more\n", n-maxListed)
	}
	if n > 0 {
		hint.Tooltip = lsp.Markdown(text.String())
	}
	return hint, nil
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// codeLenses tell above a note from how many places of other notes it is linked to.
func (d *Server) codeLenses(ctx context.Context, p *protocol.CodeLensParams) ([]protocol.CodeLens, error) {
	v, err := d.view(ctx, p.TextDocument.URI)
	if err != nil {
		return nothing[[]protocol.CodeLens](err)
	}
	list := []protocol.CodeLens{}
	n := len(v.backlinks())
	if n == 0 {
		return list, nil
	}
	where := notes.Span{}
	if len(v.note.Headings) > 0 {
		where = v.note.Headings[0].Span
	}
	arg, err := lsp.Codec.Marshal(&backlinksOf{URI: p.TextDocument.URI})
	if err != nil {
		return nil, err
	}
	lens := protocol.CodeLens{Range: v.doc.Range(where.Start, where.End)}
	lens.Command = protocol.Command{Title: count(n, "backlink"), Command: showBacklinks, Arguments: []protocol.LSPAny{arg}}
	return append(list, lens), nil
}

// backlinks are the links from other notes.
func (v *view) backlinks() (list []notes.Backlink) {
	for _, b := range v.Backlinks(v.note.Slug) {
		if b.Note.Path != v.note.Path {
			list = append(list, b)
		}
	}
	return list
}

type backlinksOf struct {
	URI uri.URI `json:"uri"`
}

// maxChoices bounds the buttons of a question.
const maxChoices = 5

// backlinksCommand returns the places that link to a note. An editor that can show documents for the server has its user choose one of the first.
func (d *Server) backlinksCommand(ctx context.Context, args []json.RawMessage) (any, error) {
	var of backlinksOf
	if len(args) != 1 || lsp.Codec.Unmarshal(args[0], &of) != nil || of.URI == "" {
		return nil, jsonrpc2.Errorf(jsonrpc2.CodeInvalidParams, "%s: the argument is an object with the member uri", showBacklinks)
	}
	v, err := d.view(ctx, of.URI)
	if err != nil {
		return nothing[any](err)
	}
	list, titles := []protocol.Location{}, []string{}
	for _, b := range v.backlinks() {
		list = append(list, v.location(b.Note, b.Link.Span))
		if len(titles) < maxChoices {
			titles = append(titles, fmt.Sprintf("%s:%d", b.Note.Path, b.Link.Line+1))
		}
	}
	if w := v.client.Params(); len(list) == 0 || w == nil || w.Capabilities.Window == nil || w.Capabilities.Window.ShowDocument == nil || !w.Capabilities.Window.ShowDocument.Support {
		return list, nil
	}
	chosen := titles[0]
	if len(list) > 1 {
		if chosen, err = v.client.Ask(ctx, protocol.MessageTypeInfo, fmt.Sprintf("%s to %q", count(len(list), "link"), v.note.Title), titles...); err != nil {
			return nil, err
		}
	}
	for i, title := range titles {
		if title == chosen {
			focus := true
			_, err := v.client.ShowDocument(ctx, &protocol.ShowDocumentParams{URI: list[i].URI, TakeFocus: &focus, Selection: &list[i].Range})
			return list, err
		}
	}
	return list, nil
}
