package lsp

import (
	"hash/maphash"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// board is what is known to be wrong, by document. It is under diagnoser.mu.
type board struct {
	sheets map[Key]*sheet
	spread map[Key]map[Key]struct{} // by origin, the other documents that it has a part in
	dirty  []Key                    // to be published
	silent bool                     // nothing is published: the client asks
	seed   maphash.Seed
}

// sheet is what is known of one document: parts from its own diagnosis, from those of other documents, and from that of the workspace.
type sheet struct {
	uri   uri.URI   // as it was reported; an open document has its own
	doc   *Document // that the own part is of
	parts map[Key]part
	dirty bool
}

type part struct {
	list []protocol.Diagnostic
	sum  uint64
}

// everywhere is the origin of what DiagnoseWorkspace finds. No URI has this key.
var everywhere = Key{"\x00"}

func (b *board) init() {
	b.sheets, b.spread, b.seed = map[Key]*sheet{}, map[Key]map[Key]struct{}{}, maphash.MakeSeed()
}

// take puts the findings of a run for doc in the place of what the last one has found, and returns the other documents for which that makes a difference.
func (b *board) take(doc *Document, found map[Key]*reported) (others []Key) {
	for k, f := range found {
		if b.put(doc.key, k, f.uri, f.list) && k != doc.key {
			others = append(others, k)
		}
	}
	b.sheets[doc.key].doc = doc
	return append(others, b.sweep(doc.key, found)...)
}

// sweep takes back the parts that an origin has in other documents than those found.
func (b *board) sweep(origin Key, found map[Key]*reported) (changed []Key) {
	for k := range b.spread[origin] {
		if found[k] == nil && b.drop(origin, k) {
			changed = append(changed, k)
		}
	}
	return changed
}

// withdraw takes back all that a document that is closed has said, and returns the other documents for which that makes a difference.
func (b *board) withdraw(k Key) (others []Key) {
	if sh := b.sheets[k]; sh != nil {
		b.drop(k, k)
		sh.doc = nil
	}
	return b.sweep(k, nil)
}

// put reports whether a part has changed by being set.
func (b *board) put(origin, k Key, u uri.URI, list []protocol.Diagnostic) bool {
	sh := b.sheets[k]
	if sh == nil {
		sh = &sheet{parts: map[Key]part{}}
		b.sheets[k] = sh
	}
	sh.uri = u
	old, had := sh.parts[origin]
	next := part{list, b.sum(list)}
	if len(list) == 0 && origin != k && !had {
		if origin == everywhere {
			sh.parts[origin] = next // the workspace knows of the document
			b.note(origin, k)
		}
		return false
	}
	sh.parts[origin] = next
	if origin != k {
		b.note(origin, k)
	}
	_, diagnosed := sh.parts[k]
	if had && old.sum == next.sum && len(old.list) == len(list) || origin == everywhere && diagnosed { // see all
		return false
	}
	if origin != k || had {
		b.mark(k, u)
	}
	return true
}

func (b *board) note(origin, k Key) {
	if b.spread[origin] == nil {
		b.spread[origin] = map[Key]struct{}{}
	}
	b.spread[origin][k] = struct{}{}
}

// drop reports whether there was something to drop.
func (b *board) drop(origin, k Key) bool {
	sh := b.sheets[k]
	if sh == nil {
		return false
	}
	old := sh.parts[origin]
	delete(sh.parts, origin)
	delete(b.spread[origin], k)
	if len(b.spread[origin]) == 0 {
		delete(b.spread, origin)
	}
	b.mark(k, sh.uri)
	if len(old.list) == 0 {
		b.forget(k)
	}
	return len(old.list) > 0
}

// mark notes that a document is to be published.
func (b *board) mark(k Key, u uri.URI) {
	if b.silent {
		return
	}
	sh := b.sheets[k]
	if sh == nil {
		sh = &sheet{uri: u, parts: map[Key]part{}}
		b.sheets[k] = sh
	}
	if !sh.dirty {
		sh.dirty = true
		b.dirty = append(b.dirty, k)
	}
}

// forget drops sheets that say nothing.
func (b *board) forget(keys ...Key) {
	for _, k := range keys {
		if sh := b.sheets[k]; sh != nil && len(sh.parts) == 0 && sh.doc == nil && !sh.dirty {
			delete(b.sheets, k)
		}
	}
}

// all are the diagnostics of a document, its own first. What the workspace's run has found in a document of which there is an own result is older than
// that, and left out.
func (b *board) all(k Key) []protocol.Diagnostic {
	out := []protocol.Diagnostic{}
	sh := b.sheets[k]
	if sh == nil {
		return out
	}
	own, diagnosed := sh.parts[k]
	out = append(out, own.list...)
	origins := slices.SortedFunc(maps.Keys(sh.parts), func(a, b Key) int { return strings.Compare(a.s, b.s) })
	for _, origin := range origins {
		if origin != k && !(origin == everywhere && diagnosed) {
			out = append(out, sh.parts[origin].list...)
		}
	}
	return out
}

// sum is a fingerprint of diagnostics.
func (b *board) sum(list []protocol.Diagnostic) uint64 {
	raw, err := Codec.Marshal(list)
	if err != nil { // it will be seen when they are sent
		return 0
	}
	return maphash.Bytes(b.seed, raw)
}

// resultID is the same for the same diagnostics, and never that of another session (LSP 3.18, "Pull Diagnostics").
func (b *board) resultID(list []protocol.Diagnostic) string {
	return strconv.FormatUint(b.sum(list), 36)
}

// spell makes diagnostics what the client understands: a message that is Markdown only where it takes that, and none that is missing. The list is the
// caller's own.
func (d *diagnoser) spell(list []protocol.Diagnostic) []protocol.Diagnostic {
	for i := range list {
		switch m := list[i].Message.(type) {
		case nil:
			list[i].Message = protocol.String("")
		case *protocol.MarkupContent:
			if !d.markup {
				list[i].Message = protocol.String(m.Value)
			}
		}
	}
	return list
}
