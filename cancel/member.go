package cancel

import (
	"unicode/utf16"
	"unicode/utf8"
)

// The functions below read JSON that was validated before. They rely on that
// for correct answers, yet stay inside the slice whatever it holds. A decoder
// would do too much: it recurses, allocates, and lets the last of two equal
// members win.

// member finds the first-level member of an object and counts how often the
// name occurs. The value is the last one. Anything but an object has no member.
func member(object []byte, name string) (value []byte, n int) {
	i := skipSpace(object, 0)
	if i >= len(object) || object[i] != '{' {
		return nil, 0
	}
	for {
		i = skipSpace(object, i+1) // past '{' or ','
		if i >= len(object) || object[i] != '"' {
			return value, n
		}
		end := skipString(object, i)
		key := object[i+1 : max(end-1, i+1)]
		i = skipSpace(object, end)
		if i >= len(object) || object[i] != ':' {
			return value, n
		}
		i = skipSpace(object, i+1)
		end = skipValue(object, i)
		if sameText(key, name) {
			value = object[i:end]
			n++
		}
		i = skipSpace(object, end)
		if i >= len(object) || object[i] != ',' {
			return value, n
		}
	}
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// skipString returns the index after the string that begins at i.
func skipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// skipValue returns the index after the value that begins at i. Brackets are
// only counted: the text is known to nest properly.
func skipValue(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = skipString(b, i)
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			if depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return len(b)
}

// sameText compares the inside of a JSON string with plain text.
func sameText(raw []byte, text string) bool {
	for i, b := range raw {
		if b == '\\' {
			return i <= len(text) && string(raw[:i]) == text[:i] && sameEscaped(raw[i:], text[i:])
		}
	}
	return string(raw) == text
}

func sameEscaped(raw []byte, text string) bool {
	for len(raw) > 0 {
		r, n, ok := nextRune(raw)
		// An unpaired surrogate is a character that Go strings cannot hold; it
		// must not pass for U+FFFD.
		if !ok {
			return false
		}
		want, m := utf8.DecodeRuneInString(text)
		if m == 0 || r != want {
			return false
		}
		raw, text = raw[n:], text[m:]
	}
	return text == ""
}

// nextRune decodes the first character of the inside of a JSON string. It
// reports false for an unpaired surrogate and for bytes no valid string has.
func nextRune(raw []byte) (r rune, size int, ok bool) {
	if raw[0] != '\\' {
		r, size = utf8.DecodeRune(raw)
		return r, size, r != utf8.RuneError || size > 1
	}
	if len(raw) < 2 {
		return utf8.RuneError, 1, false
	}
	switch raw[1] {
	case 'b':
		return '\b', 2, true
	case 'f':
		return '\f', 2, true
	case 'n':
		return '\n', 2, true
	case 'r':
		return '\r', 2, true
	case 't':
		return '\t', 2, true
	case 'u':
		r, ok = hex4(raw)
		if !ok {
			return utf8.RuneError, 2, false
		}
		if !utf16.IsSurrogate(r) {
			return r, 6, true
		}
		if low, ok := hex4(raw[6:]); ok {
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				return r, 12, true
			}
		}
		return utf8.RuneError, 6, false
	}
	return rune(raw[1]), 2, true // \" \\ \/
}

// hex4 reads \uXXXX at the beginning of raw.
func hex4(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, b := range raw[2:6] {
		switch {
		case '0' <= b && b <= '9':
			b -= '0'
		case 'a' <= b && b <= 'f':
			b -= 'a' - 10
		case 'A' <= b && b <= 'F':
			b -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(b)
	}
	return r, true
}
