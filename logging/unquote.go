package logging

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// text inspects the string whose inside is b[lo:hi], decoded, and turns what it
// finds into edits of b. The edits cover whole characters, so bytes around them
// stay as they were written, escapes included.
func (p *pass) text(b []byte, lo, hi, nested int) {
	raw := b[lo:hi]
	first := len(p.edits)
	if bytes.IndexByte(raw, '\\') < 0 {
		p.inspect(raw, nested)
		for k := first; k < len(p.edits); k++ {
			p.edits[k].lo += lo
			p.edits[k].hi += lo
		}
		return
	}
	decoded := appendUnquoted(p.scratch[nested][:0], raw)
	p.scratch[nested] = decoded
	p.inspect(decoded, nested)
	at := place{raw: raw}
	for k := first; k < len(p.edits); k++ {
		p.edits[k].lo = lo + at.find(p.edits[k].lo)
		p.edits[k].hi = lo + at.find(p.edits[k].hi)
	}
}

// inspect finds the secrets of a decoded string: those of JSON if it is a JSON
// object or array, those of a text otherwise.
func (p *pass) inspect(decoded []byte, nested int) {
	if i := skipSpace(decoded, 0); nested < maxNested && i < len(decoded) && (decoded[i] == '{' || decoded[i] == '[') {
		if p.document(decoded, nested+1) {
			return
		}
	}
	p.rules(decoded)
}

// place walks a string in its written and its decoded form side by side.
type place struct {
	raw     []byte
	written int
	decoded int
}

// find returns the written offset of a decoded one. Offsets must not decrease
// from call to call.
func (p *place) find(decoded int) int {
	for p.decoded < decoded {
		run := bytes.IndexByte(p.raw[p.written:], '\\')
		if run < 0 {
			run = len(p.raw) - p.written
		}
		if run > 0 {
			run = min(run, decoded-p.decoded)
			p.written += run
			p.decoded += run
			continue
		}
		r, n := unescape(p.raw[p.written:])
		p.written += n
		p.decoded += utf8.RuneLen(r)
	}
	return p.written
}

// appendUnquoted appends the decoded inside of a valid JSON string. Runs
// without escapes are copied whole.
func appendUnquoted(dst, raw []byte) []byte {
	for {
		run := bytes.IndexByte(raw, '\\')
		if run < 0 {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:run]...)
		r, n := unescape(raw[run:])
		dst = utf8.AppendRune(dst, r)
		raw = raw[run+n:]
	}
}

// unescape decodes the escape at the beginning of raw, which must be valid. An
// unpaired surrogate is U+FFFD.
func unescape(raw []byte) (r rune, n int) {
	switch raw[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r, _ = hex4(raw)
		if !utf16.IsSurrogate(r) {
			return r, 6
		}
		if low, ok := hex4(raw[6:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, 12
			}
		}
		return utf8.RuneError, 6
	}
	return rune(raw[1]), 2
}

// hex4 reads \uXXXX at the beginning of raw.
func hex4(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, b := range raw[2:6] {
		d, ok := hexDigit(b)
		if !ok {
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}
