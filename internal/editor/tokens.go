package editor

import (
	"context"
	"strconv"
	"sync"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/internal/notes"
	"github.com/tandem-rpc/tandem/lsp"
)

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

// painted are the tokens that an editor was given last, by document, so that it can be told what has changed.
type painted struct {
	mu   sync.Mutex
	last uint64 // result id
	of   map[lsp.Key]paint
}

type paint struct {
	id   string
	data []uint32
}

// keep remembers the tokens of an open document under a new id, and returns what was kept before.
func (p *painted) keep(c *lsp.Client, doc *lsp.Document, data []uint32) (id string, before paint) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	id = strconv.FormatUint(p.last, 10)
	before = p.of[doc.Key()]
	if c.Documents().ByKey(doc.Key()) == nil { // closed: nobody will ask what has changed
		delete(p.of, doc.Key())
		return id, before
	}
	if p.of == nil {
		p.of = map[lsp.Key]paint{}
	}
	p.of[doc.Key()] = paint{id, data}
	return id, before
}

func (p *painted) forget(k lsp.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.of, k)
}

func (d *Server) semanticTokens(ctx context.Context, p *protocol.SemanticTokensParams) (*protocol.SemanticTokens, error) {
	v, err := d.view(ctx, p.TextDocument.URI)
	if err != nil {
		return nothing[*protocol.SemanticTokens](err)
	}
	out := v.tokens(notes.Span{End: len(v.note.Text)})
	if v.client.can.tokenDeltas {
		id, _ := v.client.painted.keep(v.client.Client, v.doc, out.Data)
		out.ResultID = &id
	}
	return out, nil
}

// semanticTokensDelta tells what has changed since a result that the editor has. Of what is behind an edit nothing has, as tokens are relative to each
// other, so it is one piece between a beginning and an end that are the same. All tokens are the answer where that result is not known any more.
func (d *Server) semanticTokensDelta(ctx context.Context, p *protocol.SemanticTokensDeltaParams) (protocol.SemanticTokensDeltaResult, error) {
	v, err := d.view(ctx, p.TextDocument.URI)
	if err != nil {
		return nothing[protocol.SemanticTokensDeltaResult](err)
	}
	out := v.tokens(notes.Span{End: len(v.note.Text)})
	id, before := v.client.painted.keep(v.client.Client, v.doc, out.Data)
	if before.id == "" || before.id != p.PreviousResultID {
		out.ResultID = &id
		return out, nil
	}
	edits := []protocol.SemanticTokensEdit{}
	if e, ok := repaint(before.data, out.Data); ok {
		edits = append(edits, e)
	}
	return &protocol.SemanticTokensDelta{ResultID: &id, Edits: edits}, nil
}

// repaint returns the edit that makes one list of numbers the other. ok is false if they are the same.
func repaint(old, now []uint32) (e protocol.SemanticTokensEdit, ok bool) {
	head, tail := 0, 0
	for head < len(old) && head < len(now) && old[head] == now[head] {
		head++
	}
	for tail < len(old)-head && tail < len(now)-head && old[len(old)-1-tail] == now[len(now)-1-tail] {
		tail++
	}
	e = protocol.SemanticTokensEdit{Start: uint32(head), DeleteCount: uint32(len(old) - head - tail), Data: now[head : len(now)-tail]}
	return e, e.DeleteCount > 0 || len(e.Data) > 0
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
