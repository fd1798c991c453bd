package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// The notebook notifications. They are ordered, like those of documents, and each makes a new set of notebooks and a new snapshot of documents: the texts
// of cells are documents. Params are taken apart by hand for the same reason as there, so that URIs keep their spelling.

// notebookHandler makes the column own of a notification about notebooks, which are served if there is anything that wants them.
func notebookHandler(f func(*session, context.Context, *jsonrpc2.Request) (any, error)) func(*session) jsonrpc2.Handler {
	return func(s *session) jsonrpc2.Handler {
		v := s.srv
		if v.DidOpenNotebook == nil && v.DidChangeNotebook == nil && v.DidSaveNotebook == nil && v.DidCloseNotebook == nil &&
			len(v.Options.Notebooks.NotebookSelector) == 0 {
			return nil
		}
		return own(f)(s)
	}
}

// readNotebook returns the notebook that params are about, its raw identifier and another member.
func readNotebook(r *jsonrpc2.Request, more string) (raw []byte, u uri.URI, also []byte, err error) {
	raw, also = members(r.Params(), "notebookDocument", more)
	s, ok := text(member(raw, "uri"))
	if !ok {
		return nil, "", nil, jsonrpc2.ErrInvalidParams
	}
	return raw, uri.URI(s), also, nil
}

func readCells(list []byte) (cells []Cell) {
	for e, i := nextElement(list, 0); e != nil; e, i = nextElement(list, i) {
		u, ok := text(member(e, "document"))
		if !ok {
			continue // a cell without a document is nothing that could be spoken of
		}
		kind, _ := uinteger(member(e, "kind"))
		metadata, summary := members(e, "metadata", "executionSummary")
		cells = append(cells, Cell{
			URI: uri.URI(u), Kind: protocol.NotebookCellKind(kind), Metadata: bytes.Clone(metadata), Summary: bytes.Clone(summary),
		})
	}
	return cells
}

func (s *session) didOpenNotebook(ctx context.Context, r *jsonrpc2.Request) (any, error) {
	raw, u, texts, err := readNotebook(r, "cellTextDocuments")
	if err != nil {
		return nil, err
	}
	n := &Notebook{uri: u, key: KeyOf(u)}
	n.kind, _ = text(member(raw, "notebookType"))
	n.version, _ = readVersion(member(raw, "version"))
	n.metadata = json.RawMessage(bytes.Clone(member(raw, "metadata")))
	n.cells = readCells(member(raw, "cells"))
	books := s.books.Load()
	old := books.find(u)
	if old != nil {
		s.complain(ctx, r, u, "opened a second time; the new cells count")
	}
	s.books.Store(books.with(old, n))
	err = s.openCells(ctx, texts)
	if f := s.srv.DidOpenNotebook; f != nil && err == nil {
		err = f(s.scope(ctx), n)
	}
	return nil, err
}

// openCells opens the documents of cells.
func (s *session) openCells(ctx context.Context, texts []byte) (err error) {
	var opened []*Document
	for e, i := nextElement(texts, 0); e != nil; e, i = nextElement(texts, i) {
		u, ok1 := text(member(e, "uri"))
		body, ok2 := text(member(e, "text"))
		if !ok1 || !ok2 {
			continue
		}
		language, _ := text(member(e, "languageId"))
		version, _ := readVersion(member(e, "version"))
		d := newDocument(uri.URI(u), KeyOf(uri.URI(u)), language, version, body, s.unit)
		s.docs.Store(s.docs.Load().put(d))
		opened = append(opened, d)
	}
	for _, d := range opened { // once all are there
		if _, e := guarded(func() (struct{}, error) { return struct{}{}, s.changed(ctx, d, s.srv.DidOpen) }); err == nil { // the others are opened too
			err = e
		}
	}
	return err
}

// closeCells closes the documents of cells.
func (s *session) closeCells(ctx context.Context, cells []uri.URI) (err error) {
	var closed []*Document
	for _, u := range cells {
		docs := s.docs.Load()
		if d := docs.Document(u); d != nil {
			s.docs.Store(docs.without(d.key))
			closed = append(closed, d)
		}
	}
	for _, d := range closed {
		if _, e := guarded(func() (struct{}, error) { return struct{}{}, s.gone(ctx, d) }); err == nil { // the others are closed too
			err = e
		}
	}
	return err
}

func readURIs(list []byte) (uris []uri.URI) {
	for e, i := nextElement(list, 0); e != nil; e, i = nextElement(list, i) {
		if u, ok := text(member(e, "uri")); ok {
			uris = append(uris, uri.URI(u))
		}
	}
	return uris
}

// didChangeNotebook applies a change in the order that the members have in the specification: metadata, structure, data of cells, texts.
func (s *session) didChangeNotebook(ctx context.Context, r *jsonrpc2.Request) (any, error) {
	raw, u, change, err := readNotebook(r, "change")
	if err != nil {
		return nil, err
	}
	books := s.books.Load()
	old := books.find(u)
	if old == nil {
		s.complain(ctx, r, u, "not open")
		return nil, nil
	}
	next := *old
	if v, ok := readVersion(member(raw, "version")); ok {
		if v < old.version {
			s.complain(ctx, r, u, "a version that went back; the change counts")
		}
		next.version = v
	}
	metadata, cells := members(change, "metadata", "cells")
	if metadata != nil {
		next.metadata = bytes.Clone(metadata)
	}
	structure, data := members(cells, "structure", "data")
	next.cells = spliceCells(old.cells, member(structure, "array"))
	for _, c := range readCells(data) {
		if i := next.Index(c.URI); i >= 0 {
			next.cells[i] = c
		}
	}
	s.books.Store(books.with(old, &next))
	err = s.closeCells(ctx, readURIs(member(structure, "didClose")))
	if e := s.openCells(ctx, member(structure, "didOpen")); err == nil {
		err = e
	}
	if e := s.changeCells(ctx, r, member(cells, "textContent")); err == nil {
		err = e
	}
	if f := s.srv.DidChangeNotebook; f != nil && err == nil {
		err = f(s.scope(ctx), &next)
	}
	return nil, err
}

// spliceCells returns a copy of cells with some replaced. A place that is outside is clamped.
func spliceCells(cells []Cell, array []byte) []Cell {
	if array == nil {
		return slices.Clone(cells)
	}
	start, _ := uinteger(member(array, "start"))
	count, _ := uinteger(member(array, "deleteCount"))
	start = min(start, len(cells))
	end := start + min(count, len(cells)-start)
	return slices.Concat(cells[:start], readCells(member(array, "cells")), cells[end:])
}

// changeCells applies changes of the texts of cells, each as didChange of a document does.
func (s *session) changeCells(ctx context.Context, r *jsonrpc2.Request, list []byte) (err error) {
	for e, i := nextElement(list, 0); e != nil; e, i = nextElement(list, i) {
		id, events := members(e, "document", "changes")
		spelt, _ := text(member(id, "uri"))
		u := uri.URI(spelt)
		docs := s.docs.Load()
		d := docs.Document(u)
		if d == nil {
			s.complain(ctx, r, u, "not open")
			continue
		}
		version, ok := readVersion(member(id, "version"))
		if !ok {
			version = d.version
		}
		next, reason := d.apply(events, version)
		s.docs.Store(docs.put(next))
		if reason != "" {
			s.diag.marked(d, next)
			s.complain(ctx, r, u, reason)
			continue
		}
		if _, e := guarded(func() (struct{}, error) { return struct{}{}, s.changed(ctx, next, s.srv.DidChange) }); err == nil {
			err = e
		}
	}
	return err
}

func (s *session) didSaveNotebook(ctx context.Context, r *jsonrpc2.Request) (any, error) {
	_, u, _, err := readNotebook(r, "")
	if err != nil {
		return nil, err
	}
	n := s.books.Load().find(u)
	if n == nil {
		s.complain(ctx, r, u, "not open")
		return nil, nil
	}
	if f := s.srv.DidSaveNotebook; f != nil {
		return nil, f(s.scope(ctx), n)
	}
	return nil, nil
}

func (s *session) didCloseNotebook(ctx context.Context, r *jsonrpc2.Request) (any, error) {
	_, u, texts, err := readNotebook(r, "cellTextDocuments")
	if err != nil {
		return nil, err
	}
	books := s.books.Load()
	n := books.find(u)
	if n == nil {
		s.complain(ctx, r, u, "not open")
		return nil, nil
	}
	s.books.Store(books.with(n, nil))
	cells := readURIs(texts)
	for _, c := range n.cells {
		cells = append(cells, c.URI) // also those that the client forgot
	}
	err = s.closeCells(ctx, cells)
	if f := s.srv.DidCloseNotebook; f != nil && err == nil {
		err = f(s.scope(ctx), n)
	}
	return nil, err
}
