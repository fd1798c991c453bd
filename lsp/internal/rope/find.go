package rope

import (
	"strings"
	"unicode/utf8"
)

// Align clamps off to the text and moves it down to the start of the character
// it stands in.
func (t Text) Align(off int) int {
	if off <= 0 {
		return 0
	}
	if off >= t.Len() {
		return t.Len()
	}
	for off > 0 && !utf8.RuneStart(t.byteAt(off)) {
		off--
	}
	return off
}

// Before returns the sum of what stands before the offset, which is clamped
// and aligned.
func (t Text) Before(off int) Sum {
	off = t.Align(off)
	var acc Sum
	if off == 0 {
		return acc
	}
	if off == t.Len() {
		return t.root.sum
	}
	n := t.root
	for n.kids != nil {
		for _, k := range n.kids {
			if off < k.sum.Bytes {
				n = k
				break
			}
			acc = acc.add(k.sum)
			off -= k.sum.Bytes
		}
	}
	return acc.add(measure(n.text[:off]))
}

// LineAt returns the line that the offset is on. The place between CR and LF
// belongs to the line they end.
func (t Text) LineAt(off int) int {
	off = t.Align(off)
	s := t.Before(off)
	if s.lastCR && off < t.Len() && t.byteAt(off) == '\n' {
		return s.Breaks - 1
	}
	return s.Breaks
}

// LineStart returns the offset at which a line begins: 0 for a negative line,
// the end of the text for one beyond the last.
func (t Text) LineStart(line int) int {
	if line <= 0 {
		return 0
	}
	if line >= t.Lines() {
		return t.Len()
	}
	n, base, before, afterCR := t.leafOf(line)
	at := base + n.breakAt(line-before, afterCR)
	if t.byteAt(at-1) == '\r' && at < t.Len() && t.byteAt(at) == '\n' {
		at++
	}
	return at
}

// leafOf returns the leaf in which the break before a line ends, or, if that is
// a CR LF cut in two, its CR; and what stands before the leaf: how many bytes,
// how many breaks, and whether a CR is the last of it. The line must exist and
// not be the first.
func (t Text) leafOf(line int) (n *node, base, breaks int, afterCR bool) {
	n = t.root
	for n.kids != nil {
		for _, k := range n.kids {
			next := breaks + k.sum.Breaks
			if afterCR && k.sum.firstLF {
				next--
			}
			if next >= line {
				n = k
				break
			}
			base, breaks, afterCR = base+k.sum.Bytes, next, k.sum.lastCR
		}
	}
	return n, base, breaks, afterCR
}

// breakAt returns where the break number count of a leaf ends, counted from 1,
// or where its CR ends if the LF may be in the next leaf. A LF at the start
// counts for nothing after a CR.
func (n *node) breakAt(count int, afterCR bool) int {
	s, at := n.text, 0
	if strings.IndexByte(s, '\r') < 0 {
		if afterCR && s[0] == '\n' {
			at = 1
		}
		for ; count > 0; count-- {
			at += strings.IndexByte(s[at:], '\n') + 1
		}
		return at
	}
	for i := range len(s) {
		switch {
		case s[i] == '\r', s[i] == '\n' && !afterCR:
			if count--; count == 0 {
				return i + 1
			}
		}
		afterCR = s[i] == '\r'
	}
	return len(s) // not reached: the sums promise the break
}

// LineEnd returns the offset at which the content of a line ends, before its
// line end.
func (t Text) LineEnd(line int) int {
	if line < 0 {
		return 0
	}
	if line >= t.Lines()-1 {
		return t.Len()
	}
	end := t.LineStart(line + 1)
	if t.byteAt(end-1) == '\r' {
		return end - 1
	}
	end-- // LF
	if end > 0 && t.byteAt(end-1) == '\r' {
		end--
	}
	return end
}

// Offset returns the byte offset of a character of a line, counted in the unit.
// Everything is clamped: a line beyond the last gives the end of the text, a
// character beyond the line gives the end of its content, one inside a code
// point gives the start of that.
func (t Text) Offset(line, character int, u Unit) int {
	if line < 0 {
		return 0
	}
	if line >= t.Lines() {
		return t.Len()
	}
	if character <= 0 {
		return t.LineStart(line)
	}
	if off, ok := t.near(line, character, u); ok {
		return off
	}
	start, end := t.LineStart(line), t.LineEnd(line)
	if character >= end-start { // never more units than bytes
		return end
	}
	if sum := t.Sum(); u == Bytes || sum.Bytes == sum.Runes {
		return t.Align(start + character)
	}
	before := t.Before(start)
	return min(t.find(before.in(u)+character, u), end)
}

// near finds a place that is in the leaf in which its line begins, by walking
// there from the line's start. That is nearly every place in nearly every text.
func (t Text) near(line, character int, u Unit) (off int, ok bool) {
	if t.root == nil || character > maxLeaf {
		return 0, false
	}
	n, base, at := t.root, 0, 0
	if line == 0 {
		for n.kids != nil {
			n = n.kids[0]
		}
	} else {
		var breaks int
		var afterCR bool
		n, base, breaks, afterCR = t.leafOf(line)
		if at = n.breakAt(line-breaks, afterCR); at < len(n.text) && n.text[at-1] == '\r' && n.text[at] == '\n' {
			at++
		}
		if at == len(n.text) { // and a LF may follow in the next leaf
			return 0, false
		}
	}
	for s := n.text; at < len(s); {
		c := s[at]
		switch {
		case c == '\n', c == '\r', character == 0:
			return base + at, true
		case c < utf8.RuneSelf:
			at++
			character--
			continue
		}
		r, size := utf8.DecodeRuneInString(s[at:])
		width := 1
		switch {
		case u == Bytes:
			width = size
		case u == UTF16 && r >= 0x10000:
			width = 2
		}
		if character < width {
			return base + at, true
		}
		at += size
		character -= width
	}
	return 0, false
}

// find returns the offset of the character that the unit number target belongs
// to.
func (t Text) find(target int, u Unit) int {
	if target >= t.root.sum.in(u) {
		return t.Len()
	}
	n, off := t.root, 0
	for n.kids != nil {
		for _, k := range n.kids {
			if target < k.sum.in(u) {
				n = k
				break
			}
			target -= k.sum.in(u)
			off += k.sum.Bytes
		}
	}
	for i, r := range n.text {
		width := 1
		if u == UTF16 && r >= 0x10000 {
			width = 2
		}
		if target < width {
			return off + i
		}
		target -= width
	}
	return off + len(n.text) // not reached
}

// Position returns the line of an offset and the number of units before it on
// that line. The offset is clamped and aligned; the place between CR and LF
// gives the end of the line's content, which is where a position can point.
func (t Text) Position(off int, u Unit) (line, character int) {
	off = t.Align(off)
	line = t.LineAt(off)
	start := t.LineStart(line)
	off = min(off, t.LineEnd(line))
	if sum := t.Sum(); u == Bytes || sum.Bytes == sum.Runes {
		return line, off - start
	}
	a, b := t.Before(start), t.Before(off)
	return line, b.in(u) - a.in(u)
}
