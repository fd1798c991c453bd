package editor

import (
	"context"
	"errors"
	"slices"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/internal/notes"
	"github.com/tandem-rpc/tandem/lsp"
)

// view is what a request works on: a note as of the request's place in the stream of messages, within its workspace.
type view struct {
	*folder
	client *client
	docs   *lsp.Snapshot
	doc    *lsp.Document
	note   *notes.Note

	texts map[*notes.Note]*lsp.Document // of other notes, to count positions in
}

// errNoNote says that there is no such note. Requests about it are answered with nothing, as its editor knows best what it has open.
var errNoNote = errors.New("no such note")

// view returns the view on the note of a document. A document that is not open is looked at as its file is. Offsets in the document and in the note
// are the same, as both hold the same valid UTF-8.
func (d *Server) view(ctx context.Context, u uri.URI) (*view, error) {
	if err := d.settleAll(ctx); err != nil {
		return nil, err
	}
	v := &view{client: d.client(ctx), docs: lsp.SnapshotFrom(ctx)}
	if v.doc = v.docs.Document(u); v.doc == nil {
		f, p, err := d.find(ctx, u)
		if err != nil {
			return nil, err
		}
		n, ok := f.At(p)
		if !ok {
			return nil, errNoNote
		}
		v.folder, v.note = f, n
		v.doc = lsp.NewDocument(u, "markdown", 0, n.Text, v.client.Encoding())
		return v, nil
	}
	d.mu.Lock()
	s := d.slots[v.doc.Key()]
	d.mu.Unlock()
	p := ""
	if s != nil {
		s.mu.Lock()
		v.folder, p = s.folder, s.path
		err := s.err
		if s.doc == v.doc {
			v.note = s.note
		}
		s.mu.Unlock()
		if err != nil {
			return nil, lsp.RequestFailed("The note cannot be taken into the workspace: " + err.Error())
		}
	}
	if v.folder == nil { // closed meanwhile
		var err error
		if v.folder, p, err = d.find(ctx, v.doc.URI()); err != nil {
			return nil, err
		}
	}
	if v.note == nil { // edited meanwhile
		v.note = notes.Parse(p, v.doc.Text())
	}
	return v, nil
}

// over is a view on a folder, of none of its notes.
func (d *Server) over(ctx context.Context, f *folder) *view {
	return &view{folder: f, client: d.client(ctx), docs: lsp.SnapshotFrom(ctx)}
}

// look is view with the offset of a position.
func (d *Server) look(ctx context.Context, p *protocol.TextDocumentPositionParams) (*view, int, error) {
	v, err := d.view(ctx, p.TextDocument.URI)
	if err != nil {
		return nil, 0, err
	}
	return v, v.doc.Offset(p.Position), nil
}

// nothing turns errNoNote into the answer null.
func nothing[T any](err error) (T, error) {
	var none T
	if errors.Is(err, errNoNote) {
		return none, nil
	}
	return none, err
}

// slot returns the slot of the note, if it lies open in some editor with this very text.
func (v *view) slot(n *notes.Note) (doc *lsp.Document, holders []*lsp.Client) {
	d := v.client.d
	d.mu.Lock()
	s := v.open[n.Path]
	if s != nil {
		holders = slices.Clone(s.holders)
	}
	d.mu.Unlock()
	if s == nil {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.note != n {
		return nil, nil
	}
	return s.doc, holders
}

// text returns a document with the text of a note, to count positions in.
func (v *view) text(n *notes.Note) *lsp.Document {
	if n == v.note {
		return v.doc
	}
	if doc := v.texts[n]; doc != nil {
		return doc
	}
	doc, _ := v.slot(n)
	if doc == nil || doc.Encoding() != v.client.Encoding() {
		doc = lsp.NewDocument(v.folder.uri(n.Path), "markdown", 0, n.Text, v.client.Encoding())
	}
	if v.texts == nil {
		v.texts = map[*notes.Note]*lsp.Document{}
	}
	v.texts[n] = doc
	return doc
}

// uri returns the URI of a note, as the editor spells it if it has the note open.
func (v *view) uri(n *notes.Note) uri.URI {
	u := v.folder.uri(n.Path)
	if n == v.note {
		u = v.doc.URI()
	} else if doc, _ := v.slot(n); doc != nil { // which an editor may know by another path
		u = doc.URI()
	}
	if doc := v.docs.Document(u); doc != nil {
		return doc.URI()
	}
	return u
}

func (v *view) location(n *notes.Note, s notes.Span) protocol.Location {
	if s == (notes.Span{}) { // the beginning takes no counting
		return protocol.Location{URI: v.uri(n)}
	}
	return protocol.Location{URI: v.uri(n), Range: v.text(n).Range(s.Start, s.End)}
}

// has reports whether the text at a place is, as far as can be known, the same in an editor. Where a file is not valid UTF-8, editors show something
// else than we do behind the first bad byte of a line.
func has(n *notes.Note, s notes.Span) bool {
	if !n.Repaired {
		return true
	}
	line, _ := n.Position(s.Start)
	return !strings.Contains(n.Text[n.Line(line).Start:s.End], "\uFFFD")
}
