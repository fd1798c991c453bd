package rope

import (
	"strings"
	"unicode/utf8"
)

// Sum measures a piece of text in every unit that a position can be counted
// in. Sums add up: the sum of two pieces one after the other follows from the
// two sums, also where a CR LF pair is cut in two.
type Sum struct {
	Bytes  int // UTF-8 code units
	UTF16  int // UTF-16 code units
	Runes  int // code points
	Breaks int // line ends: LF, CR LF and CR (LSP 3.18, "Text Documents")

	firstLF, lastCR bool
}

// add returns the sum of a followed by b.
func (a Sum) add(b Sum) Sum {
	if a.Bytes == 0 {
		return b
	}
	if b.Bytes == 0 {
		return a
	}
	s := Sum{
		Bytes:   a.Bytes + b.Bytes,
		UTF16:   a.UTF16 + b.UTF16,
		Runes:   a.Runes + b.Runes,
		Breaks:  a.Breaks + b.Breaks,
		firstLF: a.firstLF,
		lastCR:  b.lastCR,
	}
	if a.lastCR && b.firstLF {
		s.Breaks-- // one CR LF, counted on both sides of the cut
	}
	return s
}

// measure returns the sum of s, which is valid UTF-8.
func measure(s string) Sum {
	n := len(s)
	if n == 0 {
		return Sum{}
	}
	sum := Sum{Bytes: n, firstLF: s[0] == '\n', lastCR: s[n-1] == '\r'}
	sum.Runes = utf8.RuneCountInString(s)
	sum.UTF16 = sum.Runes
	if sum.Runes != n {
		for i := range n {
			if s[i] >= 0xf0 { // first byte of a code point beyond the basic plane: two units
				sum.UTF16++
			}
		}
	}
	sum.Breaks = strings.Count(s, "\n")
	if cr := strings.Count(s, "\r"); cr > 0 {
		sum.Breaks += cr - strings.Count(s, "\r\n")
	}
	return sum
}

// Unit is what the character of a position counts.
type Unit uint8

// The units of the three position encodings of LSP.
const (
	Bytes Unit = iota
	UTF16
	Runes
)

func (s *Sum) in(u Unit) int {
	switch u {
	case UTF16:
		return s.UTF16
	case Runes:
		return s.Runes
	}
	return s.Bytes
}
