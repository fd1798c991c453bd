package lsp

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// Snapshot is the set of open documents as of one moment. It never changes and may be used by many goroutines at once. A nil Snapshot is empty.
type Snapshot struct {
	// slots maps keys, and the spellings under which clients name documents, to places in docs. It is shared by all snapshots between an open
	// or close and the next, so an edit copies docs only: one pointer for each open document.
	slots map[string]int
	docs  []*Document
}

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
	if i, ok := s.slots[string(u)]; ok {
		return s.docs[i]
	}
	return s.ByKey(KeyOf(u))
}

// ByKey returns the open document with that key, or nil if there is none.
func (s *Snapshot) ByKey(k Key) *Document {
	if s == nil {
		return nil
	}
	if i, ok := s.slots[k.s]; ok {
		return s.docs[i]
	}
	return nil
}

// Len returns the number of open documents.
func (s *Snapshot) Len() int {
	if s == nil {
		return 0
	}
	return len(s.docs)
}

// Documents yields the open documents in the order they were opened.
func (s *Snapshot) Documents() iter.Seq[*Document] {
	if s == nil {
		return func(func(*Document) bool) {}
	}
	return slices.Values(s.docs)
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
	if i, ok := s.slots[d.key.s]; ok {
		next := &Snapshot{slots: s.slots, docs: slices.Clone(s.docs)}
		if s.docs[i].uri != d.uri { // opened again in another spelling
			next.slots = maps.Clone(s.slots)
			next.name(i, d)
		}
		next.docs[i] = d
		return next
	}
	next := &Snapshot{slots: make(map[string]int, len(s.slots)+3), docs: append(slices.Clip(s.docs), d)}
	maps.Copy(next.slots, s.slots)
	next.name(len(s.docs), d)
	return next
}

// name enters the names of the document in slot i: the key, the client's spelling, and the spelling that the decoder of go.lsp.dev/protocol turns it
// into. Names that could be a key of another document are left out; they are found by way of their key.
func (s *Snapshot) name(i int, d *Document) {
	s.slots[d.key.s] = i
	names := []string{string(d.uri)}
	if u, err := uri.Parse(string(d.uri)); err == nil {
		names = append(names, string(u))
	}
	for _, n := range names {
		if strings.IndexByte(n, 0) < 0 && KeyOf(uri.URI(n)) == d.key {
			s.slots[n] = i
		}
	}
}

// without returns a snapshot without that document.
func (s *Snapshot) without(k Key) *Snapshot {
	gone, ok := s.slots[k.s]
	if !ok {
		return s
	}
	next := &Snapshot{slots: make(map[string]int, len(s.slots)), docs: slices.Delete(slices.Clone(s.docs), gone, gone+1)}
	for name, i := range s.slots {
		switch {
		case i < gone:
			next.slots[name] = i
		case i > gone:
			next.slots[name] = i - 1
		}
	}
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
