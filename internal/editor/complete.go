package editor

import (
	"context"
	"fmt"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/internal/notes"
	"github.com/tandem-rpc/tandem/lsp"
)

// maxOffered bounds the candidates of one completion; with more the editor asks again as the user goes on typing.
const maxOffered = 100

var completionKinds = map[notes.CandidateKind]protocol.CompletionItemKind{
	notes.NoteCandidate:    protocol.CompletionItemKindFile,
	notes.HeadingCandidate: protocol.CompletionItemKindReference,
	notes.FileCandidate:    protocol.CompletionItemKindFile,
	notes.TagCandidate:     protocol.CompletionItemKindKeyword,
}

// completion offers notes, files, headings and tags, in the order that internal/notes finds best.
func (d *Server) completion(ctx context.Context, p *protocol.CompletionParams) (*protocol.CompletionList, error) {
	v, offset, err := d.look(ctx, &p.TextDocumentPositionParams)
	if err != nil {
		return nothing[*protocol.CompletionList](err)
	}
	c, ok := v.Complete(v.note, offset, maxOffered)
	if !ok {
		return nil, nil
	}
	list := &protocol.CompletionList{Items: make([]protocol.CompletionItem, 0, len(c.Candidates))}
	// A candidate matches by its name, its title or its place, which editors cannot: they ask again.
	list.IsIncomplete = len(c.Candidates) > 0
	typed := v.note.Slice(c.Span)
	insert := v.doc.Range(c.Span.Start, c.Span.End)
	whole := v.doc.Range(c.Whole.Start, c.Whole.End)
	for i, x := range c.Candidates {
		item := protocol.CompletionItem{Label: x.Label, Kind: completionKinds[x.Kind]}
		text := x.Insert + c.Close
		if v.client.can.insertReplace {
			item.TextEdit = &protocol.InsertReplaceEdit{NewText: text, Insert: insert, Replace: whole}
		} else {
			item.TextEdit = &protocol.TextEdit{Range: insert, NewText: text}
		}
		item.SortText.Set(fmt.Sprintf("%04d", i))
		item.FilterText.Set(filter(typed, x))
		if detail := x.Detail; detail != "" {
			if v.client.can.labelDetails {
				item.LabelDetails = &protocol.CompletionItemLabelDetails{Description: &detail}
			} else {
				item.Detail.Set(detail)
			}
		}
		if data := v.resolvable(x); data != nil {
			item.Data = data
		}
		list.Items = append(list.Items, item)
	}
	return list, nil
}

// filter is what the editor holds against what was typed. It begins with that, as some editors insist on, and be it by the candidate's other name.
func filter(typed string, x notes.Candidate) string {
	for _, name := range []string{x.Insert, x.Label, x.Detail} {
		if len(name) >= len(typed) && strings.EqualFold(name[:len(typed)], typed) {
			return name
		}
	}
	return typed + " " + x.Label
}

// offered is the data of an item: what it leads to.
type offered struct {
	URI     uri.URI `json:"uri"`
	Heading string  `json:"heading,omitempty"`
}

func (v *view) resolvable(x notes.Candidate) []byte {
	o := offered{Heading: x.Heading}
	switch x.Kind {
	case notes.NoteCandidate, notes.HeadingCandidate:
		n, ok := v.At(x.Detail)
		if !ok {
			n = v.note // which may be in no workspace
		}
		o.URI = v.uri(n)
	default:
		return nil
	}
	data, err := lsp.Codec.Marshal(&o)
	if err != nil {
		return nil
	}
	return data
}

// completionResolve adds the beginning of the note or section to an item.
func (d *Server) completionResolve(ctx context.Context, item *protocol.CompletionItem) (*protocol.CompletionItem, error) {
	var o offered
	if len(item.Data) == 0 || lsp.Codec.Unmarshal(item.Data, &o) != nil || o.URI == "" {
		return item, nil // none of ours, or nothing to add
	}
	v, err := d.view(ctx, o.URI)
	if err == errNoNote { // gone meanwhile
		return item, nil
	}
	if err != nil {
		return nil, err
	}
	var h *notes.Heading
	if o.Heading != "" {
		h, _ = v.note.Heading(o.Heading)
	}
	if text := notes.Preview(v.note, h); text != "" {
		item.Documentation = lsp.Markdown(text)
	}
	return item, nil
}
