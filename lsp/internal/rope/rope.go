// Package rope holds text as a tree that is never changed: an edit makes a new
// tree that shares all but a few nodes with the old one. So a reader keeps its
// version for nothing, and an edit, a line lookup and a conversion between
// units cost about the same in ten megabytes as in ten kilobytes.
//
// The tree is a B-tree with strings of up to maxLeaf bytes as leaves, all at
// the same depth. Every node knows the [Sum] of what is below it. A piece table
// was rejected because it degrades with the number of edits, a plain string
// with a line index because an edit copies all of it.
package rope

import (
	"iter"
	"strings"
	"unicode/utf8"
)

const (
	maxLeaf = 1 << 10 // bytes in a leaf
	maxKids = 16      // children of an inner node
)

// Text is an immutable text of valid UTF-8. The zero Text is empty. Any number
// of goroutines may use one.
type Text struct{ root *node }

// node is a leaf if kids is nil. No node is empty, and none is changed once it
// can be seen by others.
type node struct {
	sum  Sum
	text string
	kids []*node
}

// New returns the text s. Bytes of s that are not UTF-8 become U+FFFD. The Text
// shares the memory of s.
func New(s string) Text {
	s = Valid(s)
	if s == "" {
		return Text{}
	}
	return Text{grow(leaves(nil, s))}
}

// Valid returns s with each run of bytes that are not UTF-8 replaced by U+FFFD.
func Valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\ufffd")
}

// Sum returns the measures of the whole text.
func (t Text) Sum() Sum {
	if t.root == nil {
		return Sum{}
	}
	return t.root.sum
}

// Len returns the number of bytes.
func (t Text) Len() int { return t.Sum().Bytes }

// Lines returns the number of lines, at least 1: what follows the last line end
// is a line too, even if it is empty.
func (t Text) Lines() int { return t.Sum().Breaks + 1 }

// Whole returns the text if it is in one piece as it is.
func (t Text) Whole() (s string, ok bool) {
	switch {
	case t.root == nil:
		return "", true
	case t.root.kids == nil:
		return t.root.text, true
	}
	return "", false
}

// String returns the whole text as one string. If it is not in one piece that
// is a new one.
func (t Text) String() string {
	if s, ok := t.Whole(); ok {
		return s
	}
	var b strings.Builder
	b.Grow(t.root.sum.Bytes)
	for s := range t.Chunks() {
		b.WriteString(s)
	}
	return b.String()
}

// Chunks yields the text in order, in pieces of no particular size, none empty.
func (t Text) Chunks() iter.Seq[string] {
	return func(yield func(string) bool) {
		if t.root != nil {
			t.root.each(yield)
		}
	}
}

func (n *node) each(yield func(string) bool) bool {
	if n.kids == nil {
		return yield(n.text)
	}
	for _, k := range n.kids {
		if !k.each(yield) {
			return false
		}
	}
	return true
}

// Slice returns the bytes from start to end, both clamped to the text.
func (t Text) Slice(start, end int) string {
	end = min(end, t.Len())
	start = max(start, 0)
	if start >= end {
		return ""
	}
	n, at := t.root, start
	for n.kids != nil { // down to where start is, as long as end is there too
		i, off := n.kidAt(at)
		k := n.kids[i]
		if end-start > k.sum.Bytes-(at-off) {
			break
		}
		n, at = k, at-off
	}
	if n.kids == nil {
		return n.text[at : at+end-start]
	}
	b := make([]byte, 0, end-start)
	return string(n.append(b, at, at+end-start))
}

func (n *node) append(b []byte, start, end int) []byte {
	if n.kids == nil {
		return append(b, n.text[start:end]...)
	}
	off := 0
	for _, k := range n.kids {
		next := off + k.sum.Bytes
		if next > start && off < end {
			b = k.append(b, max(start-off, 0), min(end-off, k.sum.Bytes))
		}
		if off = next; off >= end {
			break
		}
	}
	return b
}

// kidAt returns the child that holds the byte at, the last one if at is the
// end, and the offset at which it begins.
func (n *node) kidAt(at int) (i, off int) {
	for i, k := range n.kids {
		if at < off+k.sum.Bytes || i == len(n.kids)-1 {
			return i, off
		}
		off += k.sum.Bytes
	}
	return 0, 0
}

// byteAt returns the byte at i, which must be inside the text.
func (t Text) byteAt(i int) byte {
	n := t.root
	for n.kids != nil {
		k, off := n.kidAt(i)
		n, i = n.kids[k], i-off
	}
	return n.text[i]
}
