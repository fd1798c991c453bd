package lsp

import (
	"iter"
	"math"
	"sync/atomic"
	"unsafe"
	"weak"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/lsp/internal/rope"
)

// Document is an open text document as of one version. It never changes: an edit makes a new Document that shares nearly all memory with this one, so
// keeping one is safe and cheap. All methods may be called by many goroutines at once.
//
// Offsets are bytes of the text in UTF-8. Positions are those of the protocol, zero-based lines and characters in the encoding that was negotiated
// ([Document.Encoding]). Every conversion accepts every input: what is outside is clamped, what is inside a character moves to its start.
type Document struct {
	uri      uri.URI
	key      Key
	language string
	version  int32
	text     rope.Text
	unit     rope.Unit
	unsynced bool                               // a change could not be applied
	flat     atomic.Pointer[string]             // the whole text, where the tree shares its memory
	built    atomic.Pointer[weak.Pointer[byte]] // the whole text as Text has put it together, while somebody uses it
}

// NewDocument returns a document for tests, and for texts that come from elsewhere than the client. Bytes of text that are not UTF-8 become U+FFFD.
// An encoding other than UTF-8, UTF-16 and UTF-32 is taken for UTF-16.
func NewDocument(u uri.URI, language string, version int32, text string, enc protocol.PositionEncodingKind) *Document {
	unit, _ := unitOf(enc)
	return newDocument(u, KeyOf(u), language, version, text, unit)
}

func newDocument(u uri.URI, key Key, language string, version int32, text string, unit rope.Unit) *Document {
	text = rope.Valid(text)
	d := &Document{uri: u, key: key, language: language, version: version, text: rope.New(text), unit: unit}
	d.flat.Store(&text)
	return d
}

// with returns the next version of the document.
func (d *Document) with(version int32, text rope.Text) *Document {
	return &Document{uri: d.uri, key: d.key, language: d.language, version: version, text: text, unit: d.unit}
}

// URI returns the document's URI as the client spelt it when it opened the document. Use it for output.
func (d *Document) URI() uri.URI { return d.uri }

// Key returns the key of the URI, for use in maps.
func (d *Document) Key() Key { return d.key }

// Language returns the language id that the client gave, for example "markdown".
func (d *Document) Language() string { return d.language }

// Version returns the version number that the client gave to this state of the text.
func (d *Document) Version() int32 { return d.version }

// Synced reports whether the text is known to be the client's. It is false from a change that could not be applied (a position that is no
// number of the protocol, a version that went back) to the next one that sends the whole text.
func (d *Document) Synced() bool { return !d.unsynced }

// Encoding returns how the characters of positions are counted.
func (d *Document) Encoding() protocol.PositionEncodingKind { return kindOf(d.unit) }

// Len returns the length of the text in bytes. It costs nothing.
func (d *Document) Len() int { return d.text.Len() }

// Lines returns the number of lines, at least 1. LF, CR LF and CR end a line (LSP 3.18, "Text Documents"); what follows the last line end is a line.
func (d *Document) Lines() int { return d.text.Lines() }

// Text returns the whole text. The first call for a version that came by an edit puts the text together, which takes time and memory for its
// length; later calls return the same string, as long as somebody uses it or a part of it.
func (d *Document) Text() string {
	if s := d.flat.Load(); s != nil {
		return *s
	}
	if w := d.built.Load(); w != nil {
		if p := w.Value(); p != nil {
			return unsafe.String(p, d.text.Len())
		}
	}
	s, whole := d.text.Whole()
	if !whole {
		s = d.text.String() // in memory of its own: only such may be pointed to weakly
		w := weak.Make(unsafe.StringData(s))
		d.built.Store(&w)
	}
	return s
}

// Chunks yields the text piece by piece, without putting it together. Pieces end between characters, and anywhere in a line.
func (d *Document) Chunks() iter.Seq[string] { return d.text.Chunks() }

// Slice returns the bytes of the text from start to end, clamped.
func (d *Document) Slice(start, end int) string {
	return d.text.Slice(d.text.Align(start), d.text.Align(end))
}

// Line returns a line without its line end, "" for one that does not exist.
func (d *Document) Line(line int) string {
	if line < 0 || line >= d.text.Lines() {
		return ""
	}
	return d.text.Slice(d.text.LineStart(line), d.text.LineEnd(line))
}

// Offset returns the byte offset of a position.
func (d *Document) Offset(p protocol.Position) int {
	return d.text.Offset(clamp(p.Line), clamp(p.Character), d.unit)
}

// Position returns the position of a byte offset.
func (d *Document) Position(offset int) protocol.Position {
	line, character := d.text.Position(offset, d.unit)
	return protocol.Position{Line: uint32(line), Character: uint32(character)}
}

// Offsets returns the byte offsets of a range, the smaller one first, also where the range has its ends in the wrong order.
func (d *Document) Offsets(r protocol.Range) (start, end int) {
	start, end = d.Offset(r.Start), d.Offset(r.End)
	return min(start, end), max(start, end)
}

// Range returns the range between two byte offsets, the smaller one first.
func (d *Document) Range(start, end int) protocol.Range {
	return protocol.Range{Start: d.Position(min(start, end)), End: d.Position(max(start, end))}
}

// In returns the part of the text that a range covers.
func (d *Document) In(r protocol.Range) string {
	start, end := d.Offsets(r)
	return d.text.Slice(start, end)
}

// clamp makes an int of a protocol number, on machines with small ints too.
func clamp(n uint32) int { return int(min(n, math.MaxInt32)) }

func unitOf(enc protocol.PositionEncodingKind) (rope.Unit, bool) {
	switch enc {
	case protocol.PositionEncodingKindUTF8:
		return rope.Bytes, true
	case protocol.PositionEncodingKindUTF32:
		return rope.Runes, true
	case protocol.PositionEncodingKindUTF16:
		return rope.UTF16, true
	}
	return rope.UTF16, false
}

func kindOf(u rope.Unit) protocol.PositionEncodingKind {
	switch u {
	case rope.Bytes:
		return protocol.PositionEncodingKindUTF8
	case rope.Runes:
		return protocol.PositionEncodingKindUTF32
	}
	return protocol.PositionEncodingKindUTF16
}
