package main

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"slices"
	"sort"
	"unicode/utf8"

	"go.lsp.dev/protocol"
)

// document is a text as one slice, with the places where its lines begin.
type document struct {
	version int32
	text    []byte
	starts  []int
}

func (d *document) set(version int32, text string) {
	d.version, d.text = version, []byte(text)
	d.starts = append(d.starts[:0], 0)
	d.starts = appendStarts(d.starts, d.text, 0)
}

// appendStarts appends where lines begin in text, which stands at an offset.
func appendStarts(starts []int, text []byte, offset int) []int {
	for at := 0; ; {
		n := bytes.IndexByte(text[at:], '\n')
		if n < 0 {
			return starts
		}
		at += n + 1
		starts = append(starts, offset+at)
	}
}

// offset is the place of a position in UTF-16.
func (d *document) offset(p protocol.Position) int {
	if int(p.Line) >= len(d.starts) {
		return len(d.text)
	}
	at := d.starts[p.Line]
	for units := int(p.Character); units > 0 && at < len(d.text) && d.text[at] != '\n'; units-- {
		if d.text[at] < utf8.RuneSelf {
			at++
			continue
		}
		r, size := utf8.DecodeRune(d.text[at:])
		at += size
		if r >= 0x10000 {
			units--
		}
	}
	return at
}

func (d *document) replace(r protocol.Range, text string) {
	from, to := d.offset(r.Start), d.offset(r.End)
	d.text = slices.Replace(d.text, from, to, []byte(text)...)
	first, last := sort.SearchInts(d.starts, from+1), sort.SearchInts(d.starts, to+1)
	fresh := appendStarts(nil, d.text[from:from+len(text)], from)
	d.starts = slices.Replace(d.starts, first, last, fresh...)
	for i := first + len(fresh); i < len(d.starts); i++ {
		d.starts[i] += len(text) - (to - from)
	}
}

// summary is what hovers show.
func (d *document) summary(sum bool) string {
	text := fmt.Sprintf("v=%07d len=%d", d.version, len(d.text))
	if sum {
		text += fmt.Sprintf(" crc=%08x", crc32.ChecksumIEEE(d.text))
	}
	return text
}
