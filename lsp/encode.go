package lsp

import (
	"encoding/binary"
	"slices"
	"strconv"
	"unicode/utf8"

	"go.lsp.dev/protocol"
)

// protocol.AppendMarshal is right for every value and quick for most of them. Two kinds of results are worth code of their own, which gives the same
// bytes: lists of completion items, by far the largest results that editors ask for with every key, and plain slices, which AppendMarshal does not
// know and hands to a reflecting encoder that takes ten times as long as its own. A value that this code would have to escape, or that has a rare
// member, is left to AppendMarshal as a whole: so there is nothing here to get wrong.

// appendValue encodes v at the end of dst.
func appendValue(dst []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case *protocol.CompletionList:
		return appendCompletionList(dst, v)
	case protocol.CompletionItemSlice:
		return appendSlice(dst, v, quickCompletionItem)
	case []protocol.Location:
		return appendSlice(dst, v, quickLocation)
	case protocol.LocationSlice:
		return appendSlice(dst, v, quickLocation)
	case []protocol.TextEdit:
		return appendSlice(dst, v, quickTextEdit)
	case []protocol.Diagnostic:
		return appendSlice(dst, v, nil)
	case []protocol.DocumentHighlight:
		return appendSlice(dst, v, nil)
	case []protocol.DocumentLink:
		return appendSlice(dst, v, nil)
	case []protocol.CodeLens:
		return appendSlice(dst, v, nil)
	case []protocol.FoldingRange:
		return appendSlice(dst, v, nil)
	case []protocol.SelectionRange:
		return appendSlice(dst, v, nil)
	case []protocol.InlayHint:
		return appendSlice(dst, v, nil)
	case []protocol.InlineValue:
		return appendSlice(dst, v, nil)
	case []protocol.CommandOrCodeAction:
		return appendSlice(dst, v, nil)
	case []protocol.ColorInformation:
		return appendSlice(dst, v, nil)
	case []protocol.ColorPresentation:
		return appendSlice(dst, v, nil)
	case []protocol.Moniker:
		return appendSlice(dst, v, nil)
	case []protocol.CallHierarchyItem:
		return appendSlice(dst, v, nil)
	case []protocol.CallHierarchyIncomingCall:
		return appendSlice(dst, v, nil)
	case []protocol.CallHierarchyOutgoingCall:
		return appendSlice(dst, v, nil)
	case []protocol.TypeHierarchyItem:
		return appendSlice(dst, v, nil)
	}
	return protocol.AppendMarshal(dst, v)
}

// quick appends a value to dst if it is a simple one; what it has appended does not count if not.
type quick[T any] func(dst []byte, v *T) (_ []byte, ok bool)

// appendSlice encodes a slice; a nil one is an empty array, as the protocol has no null there.
func appendSlice[T any](dst []byte, list []T, f quick[T]) (_ []byte, err error) {
	dst = append(dst, '[')
	for i := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		if f != nil {
			if out, ok := f(dst, &list[i]); ok {
				dst = out
				continue
			}
		}
		if dst, err = protocol.AppendMarshal(dst, &list[i]); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

func quickLocation(dst []byte, l *protocol.Location) ([]byte, bool) {
	at := len(dst)
	dst = append(dst, `{"uri":`...)
	dst, m := appendPlain(dst, string(l.URI), marks{})
	dst = append(dst, `,"range":`...)
	dst = appendRange(dst, l.Range)
	dst = append(dst, '}')
	return dst, m.plain(dst[at:])
}

func quickTextEdit(dst []byte, e *protocol.TextEdit) ([]byte, bool) {
	at := len(dst)
	dst, m := appendPlainEdit(dst, e, marks{})
	return dst, m.plain(dst[at:])
}

func appendPlainEdit(dst []byte, e *protocol.TextEdit, m marks) ([]byte, marks) {
	dst = append(dst, `{"range":`...)
	dst = appendRange(dst, e.Range)
	dst = append(dst, `,"newText":`...)
	dst, m = appendPlain(dst, e.NewText, m)
	return append(dst, '}'), m
}

func appendRange(dst []byte, r protocol.Range) []byte {
	dst = append(dst, `{"start":{"line":`...)
	dst = appendUint(dst, r.Start.Line)
	dst = append(dst, `,"character":`...)
	dst = appendUint(dst, r.Start.Character)
	dst = append(dst, `},"end":{"line":`...)
	dst = appendUint(dst, r.End.Line)
	dst = append(dst, `,"character":`...)
	dst = appendUint(dst, r.End.Character)
	return append(dst, "}}"...)
}

func appendUint(dst []byte, n uint32) []byte {
	switch {
	case n < 10:
		return append(dst, byte('0'+n))
	case n < 100:
		return append(dst, byte('0'+n/10), byte('0'+n%10))
	}
	return strconv.AppendUint(dst, uint64(n), 10)
}

func appendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, "true"...)
	}
	return append(dst, "false"...)
}

// marks gathers what was seen in strings, eight bytes at a time: only the highest bit of each byte counts.
type marks struct {
	special uint64 // a byte that must be escaped
	high    uint64 // one that is not ASCII
}

const (
	eachByte = 0x0101010101010101
	highBits = 0x80 * eachByte
)

// plain reports whether nothing needs an escape. text is what was written: valid UTF-8 goes on the wire as it is, and all else in it is ASCII.
func (m marks) plain(text []byte) bool {
	return m.special&highBits == 0 && (m.high&highBits == 0 || utf8.Valid(text))
}

// look adds eight bytes. One below 0x20, or that is nought in quote or slash, borrows from its highest bit.
func (m marks) look(w uint64) marks {
	quote, slash := w^('"'*eachByte), w^('\\'*eachByte)
	m.special |= ((w - ' '*eachByte) | (quote - eachByte) | (slash - eachByte)) &^ w
	m.high |= w
	return m
}

// appendPlain appends a string in quotes, as if nothing in it needed an escape, and marks what does.
func appendPlain(dst []byte, s string, m marks) ([]byte, marks) {
	at, size := len(dst), len(s)+2
	dst = slices.Grow(dst, size)[:at+size]
	b := dst[at:]
	b[0], b[size-1] = '"', '"'
	b = b[1:]
	if len(s) >= 8 {
		last, end := s[len(s)-8:], b[len(s)-8:] // some bytes are looked at twice
		for len(s) > 8 && len(b) >= 8 {
			w := load(s)
			binary.LittleEndian.PutUint64(b, w)
			m = m.look(w)
			s, b = s[8:], b[8:]
		}
		w := load(last)
		binary.LittleEndian.PutUint64(end, w)
		return dst, m.look(w)
	}
	for i := 0; i < len(s) && i < len(b); i++ {
		c := s[i]
		b[i] = c
		if c < ' ' || c == '"' || c == '\\' {
			m.special |= highBits
		}
		m.high |= uint64(c)
	}
	return dst, m
}

// load is the first eight bytes of s as one number; the compiler makes one instruction of it.
func load(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
