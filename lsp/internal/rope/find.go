package rope

import "unicode/utf8"

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
	n := t.root
	var acc Sum
	for n.kids != nil {
		for _, k := range n.kids {
			next := acc.add(k.sum)
			if next.Breaks >= line {
				n = k
				break
			}
			acc = next
		}
	}
	count, prev := acc.Breaks, byte(0)
	if acc.lastCR {
		prev = '\r'
	}
	for i := range len(n.text) {
		c := n.text[i]
		if c == '\r' || c == '\n' && prev != '\r' {
			if count++; count == line {
				at := acc.Bytes + i + 1
				if c == '\r' && at < t.Len() && t.byteAt(at) == '\n' {
					at++
				}
				return at
			}
		}
		prev = c
	}
	return t.Len() // not reached: the sums promise the break
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
	start := t.LineStart(line)
	if character <= 0 {
		return start
	}
	end := t.LineEnd(line)
	if character >= end-start { // never more units than bytes
		return end
	}
	if sum := t.Sum(); u == Bytes || sum.Bytes == sum.Runes {
		return t.Align(start + character)
	}
	before := t.Before(start)
	return min(t.find(before.in(u)+character, u), end)
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
