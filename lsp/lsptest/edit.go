package lsptest

import (
	"errors"
	"fmt"
	"slices"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/lsp"
)

// Edit replaces old, which must be in the document once, by text: the user types. The server is sent the range and the text, or the whole text if it wants that.
// Use [Doc.Insert] to put text somewhere.
func (d *Doc) Edit(old, text string) {
	d.c.t.Helper()
	d.EditRange(d.Range(old), text)
}

// Insert puts text behind another one, which must be in the document once.
func (d *Doc) Insert(after, text string) {
	d.c.t.Helper()
	at := d.After(after)
	d.EditRange(protocol.Range{Start: at, End: at}, text)
}

// EditRange replaces what a range covers.
func (d *Doc) EditRange(r protocol.Range, text string) {
	d.c.t.Helper()
	d.Change(&protocol.TextDocumentContentChangePartial{Range: r, Text: text})
}

// SetText replaces the whole text, and sends it whole.
func (d *Doc) SetText(text string) {
	d.c.t.Helper()
	d.Change(&protocol.TextDocumentContentChangeWholeDocument{Text: text})
}

// Type types text behind another one, character by character, each in a message of its own as editors do it.
func (d *Doc) Type(after, text string) {
	d.c.t.Helper()
	at := d.After(after)
	offset := d.Document().Offset(at)
	for _, r := range text {
		at = d.Document().Position(offset)
		d.EditRange(protocol.Range{Start: at, End: at}, string(r))
		offset += len(string(r))
	}
}

// Change makes changes one after the other, each to the text that the one before it left, and sends them in one message (textDocument/didChange). Positions
// outside of the text fail the test.
func (d *Doc) Change(changes ...protocol.TextDocumentContentChangeEvent) {
	d.c.t.Helper()
	d.mustBeOpen()
	kind, _ := d.c.sync()
	d.c.mu.Lock()
	err := d.changeLocked(kind, changes)
	d.c.mu.Unlock()
	if err != nil {
		d.c.fail("%s: %v", d.URI(), err)
	}
}

func (d *Doc) changeLocked(kind protocol.TextDocumentSyncKind, changes []protocol.TextDocumentContentChangeEvent) error {
	next := d.doc
	for _, change := range changes {
		text, err := changed(next, change)
		if err != nil {
			return err
		}
		next = retext(next, text)
	}
	d.doc = lsp.NewDocument(next.URI(), next.Language(), d.doc.Version()+1, next.Text(), d.c.enc)
	switch kind {
	case protocol.TextDocumentSyncKindNone:
		d.sent = len(d.c.entries)
		return nil
	case protocol.TextDocumentSyncKindFull:
		changes = []protocol.TextDocumentContentChangeEvent{&protocol.TextDocumentContentChangeWholeDocument{Text: next.Text()}}
	}
	p := &protocol.DidChangeTextDocumentParams{ContentChanges: changes}
	p.TextDocument.URI, p.TextDocument.Version = d.doc.URI(), d.doc.Version()
	d.sent = d.c.sendTyped(protocol.MethodTextDocumentDidChange, p)
	return nil
}

// retext is the document with another text.
func retext(d *lsp.Document, text string) *lsp.Document {
	return lsp.NewDocument(d.URI(), d.Language(), d.Version(), text, d.Encoding())
}

func changed(doc *lsp.Document, change protocol.TextDocumentContentChangeEvent) (string, error) {
	switch change := change.(type) {
	case *protocol.TextDocumentContentChangeWholeDocument:
		return change.Text, nil
	case *protocol.TextDocumentContentChangePartial:
		if err := inside(doc, change.Range); err != nil {
			return "", err
		}
		start, end := doc.Offsets(change.Range)
		text := doc.Text()
		return text[:start] + change.Text + text[end:], nil
	}
	return "", fmt.Errorf("a change of type %T", change)
}

// inside says what is wrong with a range. Documents clamp, and a test should not.
func inside(doc *lsp.Document, r protocol.Range) error {
	for _, p := range []protocol.Position{r.Start, r.End} {
		if doc.Position(doc.Offset(p)) != p {
			return fmt.Errorf("position %d:%d is not in the text, or within a character", p.Line, p.Character)
		}
	}
	if doc.Offset(r.Start) > doc.Offset(r.End) {
		return fmt.Errorf("range %d:%d to %d:%d goes backwards", r.Start.Line, r.Start.Character, r.End.Line, r.End.Character)
	}
	return nil
}

var (
	errOverlap = errors.New("edits overlap")
	errVersion = errors.New("edit of another version of the document")
)

// edited applies edits that all mean the same text (LSP 3.18, "Text Edit"): they must not overlap; of insertions at one place the first comes first.
func edited(doc *lsp.Document, edits []protocol.TextEdit) (string, error) {
	type span struct {
		start, end int
		text       string
	}
	spans := make([]span, len(edits))
	for i, e := range edits {
		if err := inside(doc, e.Range); err != nil {
			return "", err
		}
		start, end := doc.Offsets(e.Range)
		spans[i] = span{start, end, e.NewText}
	}
	slices.SortStableFunc(spans, func(a, b span) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return a.end - b.end // insertions go before what is replaced there
	})
	text, out, at := doc.Text(), []byte(nil), 0
	for _, s := range spans {
		if s.start < at {
			return "", errOverlap
		}
		out = append(append(out, text[at:s.start]...), s.text...)
		at = s.end
	}
	return string(append(out, text[at:]...)), nil
}

// ApplyEdits applies the result of a formatting request, say, as one change.
func (d *Doc) ApplyEdits(edits []protocol.TextEdit) {
	d.c.t.Helper()
	d.mustBeOpen()
	text, err := edited(d.Document(), edits)
	if err != nil {
		d.c.fail("%s: %v", d.URI(), err)
	}
	if text != d.Text() {
		d.SetText(text)
	}
}

// Apply applies a workspace edit, the result of a rename or of a code action, to the documents that are open, which the server is told of, and to files that are
// not. An edit that does not fit them fails the test.
func (c *Client) Apply(edit *protocol.WorkspaceEdit) {
	c.t.Helper()
	if edit == nil {
		c.fail("no edit to apply")
	}
	if err := c.apply(edit); err != nil {
		c.fail("the edit cannot be applied: %v", err)
	}
}

// apply applies all of an edit or nothing.
func (c *Client) apply(edit *protocol.WorkspaceEdit) error {
	kind, _ := c.sync()
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &stage{c: c, kind: kind, texts: make(map[lsp.Key]*lsp.Document)}
	if err := s.edit(edit); err != nil {
		return err
	}
	for _, f := range s.commit {
		f()
	}
	return nil
}

// stage tries an edit out. Client.mu is held.
type stage struct {
	c      *Client
	kind   protocol.TextDocumentSyncKind
	texts  map[lsp.Key]*lsp.Document // what has been touched; nil: gone
	commit []func()
}

func (s *stage) text(u uri.URI) *lsp.Document {
	k := lsp.KeyOf(u)
	if t, ok := s.texts[k]; ok {
		return t
	}
	if d := s.c.docs[k]; d != nil {
		return d.doc
	}
	return s.c.files[k]
}

func (s *stage) edit(edit *protocol.WorkspaceEdit) error {
	if edit.DocumentChanges == nil {
		keys := make([]uri.URI, 0, len(edit.Changes))
		for u := range edit.Changes {
			keys = append(keys, u)
		}
		slices.Sort(keys)
		for _, u := range keys {
			if err := s.change(u, edit.Changes[u]); err != nil {
				return err
			}
		}
		return nil
	}
	for _, change := range edit.DocumentChanges {
		if err := s.operation(change); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) operation(change protocol.DocumentChange) error {
	switch change := change.(type) {
	case *protocol.TextDocumentEdit:
		u := change.TextDocument.URI
		if v := change.TextDocument.Version; v != nil {
			if d := s.text(u); d == nil || d.Version() != *v {
				return fmt.Errorf("%q: %w: %d", u, errVersion, *v)
			}
		}
		edits := make([]protocol.TextEdit, 0, len(change.Edits))
		for _, e := range change.Edits {
			switch e := e.(type) {
			case *protocol.TextEdit:
				edits = append(edits, *e)
			case *protocol.AnnotatedTextEdit:
				edits = append(edits, e.TextEdit)
			default:
				return fmt.Errorf("%q: an edit of type %T", u, e)
			}
		}
		return s.change(u, edits)
	case *protocol.CreateFile:
		return s.create(change)
	case *protocol.RenameFile:
		return s.rename(change)
	case *protocol.DeleteFile:
		return s.remove(change)
	}
	return fmt.Errorf("a change of type %T", change)
}

func (s *stage) change(u uri.URI, edits []protocol.TextEdit) error {
	doc := s.text(u)
	if doc == nil {
		return fmt.Errorf("%q does not exist", u)
	}
	text, err := edited(doc, edits)
	if err != nil {
		return fmt.Errorf("%q: %w", u, err)
	}
	k := lsp.KeyOf(u)
	next := retext(doc, text)
	s.texts[k] = next
	s.commit = append(s.commit, func() {
		d := s.c.docs[k]
		if d == nil {
			s.c.files[k] = next
			return
		}
		whole := &protocol.TextDocumentContentChangeWholeDocument{Text: text}
		_ = d.changeLocked(s.kind, []protocol.TextDocumentContentChangeEvent{whole}) // a whole text always fits
	})
	return nil
}

func (s *stage) create(op *protocol.CreateFile) error {
	k := lsp.KeyOf(op.URI)
	if s.text(op.URI) != nil {
		switch {
		case op.Options != nil && op.Options.Overwrite != nil && *op.Options.Overwrite:
		case op.Options != nil && op.Options.IgnoreIfExists != nil && *op.Options.IgnoreIfExists:
			return nil
		default:
			return fmt.Errorf("%q exists", op.URI)
		}
	}
	doc := lsp.NewDocument(op.URI, "", 0, "", s.c.enc)
	s.texts[k] = doc
	s.commit = append(s.commit, func() { s.c.files[k] = doc })
	return nil
}

func (s *stage) rename(op *protocol.RenameFile) error {
	from, to := lsp.KeyOf(op.OldURI), lsp.KeyOf(op.NewURI)
	old := s.text(op.OldURI)
	if old == nil {
		return fmt.Errorf("%q does not exist", op.OldURI)
	}
	if s.text(op.NewURI) != nil {
		switch {
		case op.Options != nil && op.Options.Overwrite != nil && *op.Options.Overwrite:
		case op.Options != nil && op.Options.IgnoreIfExists != nil && *op.Options.IgnoreIfExists:
			return nil
		default:
			return fmt.Errorf("%q exists", op.NewURI)
		}
	}
	next := lsp.NewDocument(op.NewURI, old.Language(), old.Version(), old.Text(), s.c.enc)
	s.texts[from], s.texts[to] = nil, next
	s.commit = append(s.commit, func() {
		delete(s.c.files, from)
		if d := s.c.docs[from]; d != nil { // editors close it and open it again
			d.closeLocked()
			d.doc = lsp.NewDocument(op.NewURI, next.Language(), 1, next.Text(), s.c.enc)
			s.c.openLocked(d)
			return
		}
		s.c.files[to] = next
	})
	return nil
}

func (s *stage) remove(op *protocol.DeleteFile) error {
	k := lsp.KeyOf(op.URI)
	if s.text(op.URI) == nil {
		if op.Options != nil && op.Options.IgnoreIfNotExists != nil && *op.Options.IgnoreIfNotExists {
			return nil
		}
		return fmt.Errorf("%q does not exist", op.URI)
	}
	s.texts[k] = nil
	s.commit = append(s.commit, func() {
		delete(s.c.files, k)
		if d := s.c.docs[k]; d != nil {
			d.closeLocked()
		}
	})
	return nil
}
