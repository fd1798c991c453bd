package lsp

import (
	"context"
	"fmt"
	"math"

	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// The document notifications (LSP 3.18, "Text Document Synchronization"). They are ordered, so one runs at a time and nothing here needs a lock: each
// makes a new snapshot and stores it.

// DocumentError is reported, and logged at the client, when a notification about a document cannot be taken as it stands.
type DocumentError struct {
	Method string  // of the notification
	URI    uri.URI // in the client's spelling; the client's text, so quote it
	Reason string
}

// Error quotes the URI.
func (e *DocumentError) Error() string {
	return fmt.Sprintf("%s of %q: %s", e.Method, string(e.URI), e.Reason)
}

func (s *session) complain(ctx context.Context, r *jsonrpc2.Request, u uri.URI, reason string) {
	s.warn(ctx, r, &DocumentError{Method: r.Method, URI: u, Reason: reason})
}

// strange is told of changes of a document that is not open. The client's log has the first of a row: no line for every key that is pressed.
func (s *session) strange(ctx context.Context, r *jsonrpc2.Request, u uri.URI) {
	k := KeyOf(u)
	if k == s.stranger {
		s.fail(ctx, r, &DocumentError{Method: r.Method, URI: u, Reason: "not open"})
		return
	}
	s.stranger = k
	s.complain(ctx, r, u, "not open")
}

// item is what the notifications say of the document they are about.
type item struct {
	raw     []byte
	uri     uri.URI // as spelt
	version []byte  // nil if there is none
}

// readItem returns the item, and another member of the params if more is not empty, of which the end is left to be found.
func readItem(params view, more string) (it item, v []byte, err error) {
	it.raw, v = find(params, "textDocument", more, more != "")
	u, version := members(it.raw, "uri", "version")
	s, ok := text(u)
	if !ok {
		return it, nil, jsonrpc2.ErrInvalidParams
	}
	it.uri, it.version = uri.URI(s), version
	return it, v, nil
}

func (s *session) didOpen(ctx context.Context, r *jsonrpc2.Request) (any, error) {
	it, _, err := readItem(rawParams(r), "")
	if err != nil {
		return nil, err
	}
	raw, id := members(it.raw, "text", "languageId")
	body, ok := text(raw)
	if !ok {
		return nil, jsonrpc2.ErrInvalidParams
	}
	language, _ := text(id)
	version, _ := readVersion(it.version)
	u := it.uri
	docs := s.docs.Load()
	if docs.Document(u) != nil {
		s.complain(ctx, r, u, "opened a second time; the new text counts")
	}
	d := newDocument(u, KeyOf(u), language, version, body, s.unit)
	s.stranger = Key{}
	s.docs.Store(docs.put(d))
	return nil, s.changed(ctx, d, s.srv.DidOpen)
}

// changed tells the others about a document that is new or has a new text, the diagnosis last, and also where the user's function panics.
func (s *session) changed(ctx context.Context, d *Document, hook func(context.Context, *Document) error) error {
	s.stale.changed(d.key)
	defer s.diag.changed(d)
	if hook == nil {
		return nil
	}
	return hook(s.scope(ctx), d)
}

// didChange applies all events of a notification or none. A document whose text has become uncertain stays as it was, is marked, and takes further
// edits only from an event with the whole text: an edit at a place in another text would do harm without anyone seeing it.
func (s *session) didChange(ctx context.Context, r *jsonrpc2.Request) (any, error) {
	it, events, err := readItem(rawParams(r), "contentChanges")
	if err != nil {
		return nil, err
	}
	u := it.uri
	docs := s.docs.Load()
	d := docs.Document(u)
	if d == nil {
		s.strange(ctx, r, u)
		return nil, nil
	}
	version, ok := readVersion(it.version)
	if !ok {
		version = d.version // null in LSP 3.16 and before
	}
	next, reason := d.apply(events, version)
	s.docs.Store(docs.put(next))
	switch {
	case reason == "":
		return nil, s.changed(ctx, next, s.srv.DidChange)
	default:
		s.diag.marked(d, next)
	}
	switch {
	case d.unsynced: // the client's log has it: no line for every key that is pressed
		s.fail(ctx, r, &DocumentError{Method: r.Method, URI: u, Reason: reason})
	default:
		s.complain(ctx, r, u, reason)
	}
	return nil, nil
}

// gone tells the others that a document is not open any more, also where the user's function panics.
func (s *session) gone(ctx context.Context, d *Document) error {
	defer func() {
		s.stale.changed(d.key)
		s.diag.closed(d)
	}()
	if s.srv.DidClose == nil {
		return nil
	}
	return s.srv.DidClose(s.scope(ctx), d)
}

// apply returns the document after the events. If it cannot be made the reason says why, and the document returned is the old one, marked.
func (d *Document) apply(events []byte, version int32) (next *Document, reason string) {
	body, unsynced := d.text, d.unsynced
	var whole *string
	if version < d.version {
		return d.unsync(), fmt.Sprintf("version %d after version %d; changes are ignored until the whole text is sent", version, d.version)
	}
	if len(events) == 0 || events[0] != '[' {
		return d.unsync(), "no list of changes; changes are ignored until the whole text is sent"
	}
	for event, i := nextElement(events, 0); event != nil; event, i = nextElement(events, i) {
		c, ok := readChange(event, body, d.unit)
		switch {
		case !ok:
			return d.unsync(), "a change without a valid range and text; changes are ignored until the whole text is sent"
		case c.whole:
			t := newDocument(d.uri, d.key, d.language, version, c.text, d.unit)
			body, whole, unsynced = t.text, t.flat.Load(), false
		case unsynced:
			return d.unsync(), "out of sync; changes are ignored until the whole text is sent"
		default:
			body, whole = body.Replace(c.start, c.end, c.text), nil
		}
	}
	next = d.with(version, body)
	next.unsynced = unsynced
	if whole != nil {
		next.flat.Store(whole)
	} else if body == d.text {
		next.flat.Store(d.flat.Load())
	}
	return next, ""
}

// unsync returns the document marked as out of sync.
func (d *Document) unsync() *Document {
	if d.unsynced {
		return d
	}
	next := d.with(d.version, d.text)
	next.flat.Store(d.flat.Load())
	next.unsynced = true
	return next
}

func (s *session) didSave(ctx context.Context, r *jsonrpc2.Request) (any, error) {
	it, _, err := readItem(rawParams(r), "")
	u := it.uri
	if err != nil || s.srv.DidSave == nil {
		return nil, err
	}
	d := s.docs.Load().Document(u)
	if d == nil {
		s.complain(ctx, r, u, "not open")
		return nil, nil
	}
	return nil, s.srv.DidSave(s.scope(ctx), d)
}

func (s *session) didClose(ctx context.Context, r *jsonrpc2.Request) (any, error) {
	it, _, err := readItem(rawParams(r), "")
	u := it.uri
	if err != nil {
		return nil, err
	}
	docs := s.docs.Load()
	d := docs.Document(u)
	if d == nil {
		s.complain(ctx, r, u, "not open")
		return nil, nil
	}
	s.docs.Store(docs.without(d.key))
	return nil, s.gone(ctx, d)
}

func readVersion(value []byte) (v int32, ok bool) {
	if n, ok := uinteger(value); ok && n < math.MaxInt32 {
		return int32(n), true
	}
	n, ok := decimal(value, math.MinInt32, math.MaxInt32)
	return int32(n), ok
}
