package rope

import (
	"math/bits"
	"strings"
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
	inner, astral := count(s)
	sum.Runes = n - inner
	sum.UTF16 = sum.Runes + astral
	sum.Breaks = strings.Count(s, "\n")
	if cr := strings.Count(s, "\r"); cr > 0 {
		sum.Breaks += cr - strings.Count(s, "\r\n")
	}
	return sum
}

// count returns how many bytes of s are not the first of their character, and
// how many are the first of one beyond the basic plane, which is two units in
// UTF-16. It looks at eight bytes at a time.
func count(s string) (inner, astral int) {
	const high = 0x8080808080808080
	for ; len(s) >= 8; s = s[8:] {
		w := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		if w&high == 0 {
			continue
		}
		inner += bits.OnesCount64(w &^ (w << 1) & high)                       // 10xxxxxx
		astral += bits.OnesCount64(w & (w << 1) & (w << 2) & (w << 3) & high) // 1111xxxx
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c&0xc0 == 0x80:
			inner++
		case c >= 0xf0:
			astral++
		}
	}
	return inner, astral
}

// less returns what is left of a, which begins or ends with b or has it in its
// middle, without b. Where it begins and ends is left open.
func (a Sum) less(b Sum) Sum {
	return Sum{Bytes: a.Bytes - b.Bytes, UTF16: a.UTF16 - b.UTF16, Runes: a.Runes - b.Runes, Breaks: a.Breaks - b.Breaks}
}

// Unit is what the character of a position counts.
type Unit uint8

// The units of the three position encodings of LSP.
const (
	Bytes Unit = iota
	UTF16
	Runes
)

func (a *Sum) in(u Unit) int {
	switch u {
	case UTF16:
		return a.UTF16
	case Runes:
		return a.Runes
	}
	return a.Bytes
}
