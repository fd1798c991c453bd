package lsp

import (
	"context"
	"iter"
	"slices"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// Snapshot is the set of open documents as of one moment. It never changes and may be used by many goroutines at once. A nil Snapshot is empty.
type Snapshot struct {
	// names leads from keys, and from the spellings under which clients name documents, to places.
	names *names
	// shelves hold the documents by place, in the order they were opened: shelfSize of them each, nil where one was closed. An edit copies one
	// shelf and the list of them.
	shelves [][]*Document
	places  int // taken so far
	open    int // of them with a document

	first [1][]*Document // what shelves is of as long as one is enough
}

const shelfSize = 64

// maxHoles is how many places of closed documents a snapshot has at most, beside as many as documents.
const maxHoles = 4 * shelfSize

// SnapshotFrom returns the documents as of the place that the message has in the stream from the client: with all changes that came before it, and
// none that came after, however long the handler takes. In a handler of [Server.Diagnose] they are the documents at the start of the run. It
// is never nil; for a context of something else it is empty.
func SnapshotFrom(ctx context.Context) *Snapshot {
	if sc := scopeFrom(ctx); sc != nil {
		return sc.snap
	}
	return &Snapshot{}
}

// Document returns the open document with that URI, in any spelling, or nil if there is none.
func (s *Snapshot) Document(u uri.URI) *Document {
	if s == nil {
		return nil
	}
	if d := s.named(string(u)); d != nil {
		return d
	}
	return s.ByKey(KeyOf(u))
}

// ByKey returns the open document with that key, or nil if there is none.
func (s *Snapshot) ByKey(k Key) *Document {
	if s == nil {
		return nil
	}
	return s.named(k.s)
}

func (s *Snapshot) named(name string) *Document {
	if s.names == nil {
		return nil
	}
	if i, ok := s.names.find(hashName(name), name); ok {
		return s.shelves[i/shelfSize][i%shelfSize]
	}
	return nil
}

// Len returns the number of open documents.
func (s *Snapshot) Len() int {
	if s == nil {
		return 0
	}
	return s.open
}

// Documents yields the open documents in the order they were opened.
func (s *Snapshot) Documents() iter.Seq[*Document] {
	return func(yield func(*Document) bool) {
		if s == nil {
			return
		}
		for _, shelf := range s.shelves {
			for _, d := range shelf {
				if d != nil && !yield(d) {
					return
				}
			}
		}
	}
}

// Fresh returns [ContentModified] if the document has changed or was closed since the snapshot of ctx was taken, and nil if not, or if it was not open
// in the first place. A handler that takes long asks it now and then to give up work that nobody can use.
func Fresh(ctx context.Context, u uri.URI) error {
	sc := scopeFrom(ctx)
	if sc == nil || sc.s == nil {
		return nil
	}
	if d := sc.snap.Document(u); d != nil && sc.s.docs.Load().ByKey(d.key) != d {
		return ContentModified
	}
	return nil
}

// put returns a snapshot with d in place of the document of the same key, or as a new one.
func (s *Snapshot) put(d *Document) *Snapshot {
	next := &Snapshot{names: s.names, places: s.places, open: s.open}
	i, known := 0, false
	if s.names != nil {
		i, known = s.names.find(hashName(d.key.s), d.key.s)
	}
	if known {
		if old := s.shelves[i/shelfSize][i%shelfSize]; old.uri != d.uri { // opened again in another spelling
			next.forget(old)
			next.enter(d, i)
		}
	} else {
		i = s.places
		next.places++
		next.open++
		next.enter(d, i)
	}
	next.shelve(s.shelves, i, d)
	return next
}

// shelve makes the shelves those given with another document at one place.
func (s *Snapshot) shelve(shelves [][]*Document, i int, d *Document) {
	n := (s.places + shelfSize - 1) / shelfSize
	if n == 1 {
		s.shelves = s.first[:]
	} else {
		s.shelves = make([][]*Document, n)
	}
	copy(s.shelves, shelves)
	old := s.shelves[i/shelfSize]
	shelf := make([]*Document, max(len(old), i%shelfSize+1))
	copy(shelf, old)
	shelf[i%shelfSize] = d
	s.shelves[i/shelfSize] = shelf
}

// spellings yields the names of a document: the key, the client's spelling, and the spelling that the decoder of go.lsp.dev/protocol turns it into. Names
// that could be a key of another document are left out; they are found by way of their key.
func spellings(d *Document) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(d.key.s) {
			return
		}
		own := string(d.uri)
		decoded := own
		if u, err := uri.Parse(own); err == nil {
			decoded = string(u)
		}
		for i, n := range [...]string{own, decoded} {
			if n == d.key.s || i == 1 && n == own || strings.IndexByte(n, 0) >= 0 || KeyOf(uri.URI(n)) != d.key {
				continue
			}
			if !yield(n) {
				return
			}
		}
	}
}

// enter and forget change the names of a snapshot that nobody else has yet.
func (s *Snapshot) enter(d *Document, place int) {
	for n := range spellings(d) {
		s.names = s.names.with(&name{hash: hashName(n), text: n, place: place}, 0)
	}
}

func (s *Snapshot) forget(d *Document) {
	for n := range spellings(d) {
		s.names = s.names.without(hashName(n), n, 0)
	}
}

// without returns a snapshot without that document.
func (s *Snapshot) without(k Key) *Snapshot {
	d := s.ByKey(k)
	if d == nil {
		return s
	}
	if s.open == 1 {
		return &Snapshot{}
	}
	next := &Snapshot{names: s.names, places: s.places, open: s.open - 1}
	i, _ := s.names.find(hashName(k.s), k.s)
	next.forget(d)
	next.shelve(s.shelves, i, nil)
	if next.places-next.open > next.open+maxHoles {
		return next.tidy()
	}
	return next
}

// tidy returns the same documents without the holes that closed ones have left. That takes as long as opening them did, and comes after as many were
// closed.
func (s *Snapshot) tidy() *Snapshot {
	next := &Snapshot{places: s.open, open: s.open}
	all := slices.Collect(s.Documents())
	for i, d := range all {
		next.enter(d, i)
	}
	next.shelves = slices.Collect(slices.Chunk(all, shelfSize))
	return next
}

// Markdown returns formatted text, as hovers and documentation hold it.
func Markdown(text string) *protocol.MarkupContent {
	return &protocol.MarkupContent{Kind: protocol.MarkupKindMarkdown, Value: text}
}

// PlainText returns text that is shown as it is.
func PlainText(text string) *protocol.MarkupContent {
	return &protocol.MarkupContent{Kind: protocol.MarkupKindPlainText, Value: text}
}
