package lsp

import (
	"strings"
	"unicode/utf8"

	"go.lsp.dev/uri"
)

// Key identifies a document whatever way its URI is spelt. Clients spell one file in several ways, and one client in different ways at different
// times: file:///C:/a, file:///c%3A/a and file:///c%3a/a are one document. Keys are values to compare with == and to use in maps, which URIs are not.
type Key struct{ s string }

// KeyOf returns the key of a URI. It accepts any string: one without a scheme is taken for a path, as the decoder of go.lsp.dev/protocol takes it.
//
// Two spellings have one key if they agree after: lower case for the scheme, and for the host and the drive letter of a file; percent-decoding of
// path, query and fragment, except for bytes that are not UTF-8, which stay encoded; an empty host for "localhost" in file URIs; "/" for no path
// behind a host.
func KeyOf(u uri.URI) Key {
	s := strings.ReplaceAll(string(u), "\x00", "%00") // see below
	scheme, rest, ok := cutScheme(s)
	if !ok {
		scheme, rest = "file", s
	}
	var b strings.Builder
	b.Grow(len(s) + 4)
	b.WriteString(strings.ToLower(scheme))
	b.WriteByte(0) // the separator is no character of a URI, so no decoded part can be taken for two
	rest, fragment, hasFragment := strings.Cut(rest, "#")
	rest, query, hasQuery := strings.Cut(rest, "?")
	file := strings.EqualFold(scheme, "file")
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		host := after
		if rest = "/"; strings.Contains(after, "/") {
			host, rest, _ = strings.Cut(after, "/")
			rest = "/" + rest
		}
		if host = strings.ToLower(decodePercent(host)); !file || host != "localhost" {
			b.WriteString(host)
		}
	}
	b.WriteByte(0)
	path := decodePercent(rest)
	if file {
		path = filePath(path)
	}
	b.WriteString(path)
	if hasQuery && query != "" {
		b.WriteString("\x00?")
		b.WriteString(decodePercent(query))
	}
	if hasFragment && fragment != "" {
		b.WriteString("\x00#")
		b.WriteString(decodePercent(fragment))
	}
	return Key{b.String()}
}

// cutScheme splits "scheme:rest" by RFC 3986 section 3.1.
func cutScheme(s string) (scheme, rest string, ok bool) {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return s[:i], s[i+1:], true
		default:
			return "", s, false
		}
	}
	return "", s, false
}

// filePath gives the decoded path of a file URI its leading slash and a small drive letter.
func filePath(p string) string {
	if p == "" || p[0] != '/' {
		p = "/" + p
	}
	if len(p) >= 3 && p[2] == ':' && 'A' <= p[1] && p[1] <= 'Z' && (len(p) == 3 || p[3] == '/') {
		p = "/" + string(p[1]+'a'-'A') + p[2:]
	}
	return p
}

// decodePercent decodes %XX where the result is valid UTF-8 without NUL. Other escapes stay, with their digits in upper case.
func decodePercent(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		if s[i] != '%' {
			out = append(out, s[i])
			i++
			continue
		}
		var run [utf8.UTFMax]byte
		n := 0 // escapes here that make up one character
		for n < len(run) {
			c, ok := escape(s, i+3*n)
			if !ok {
				break
			}
			run[n] = c
			n++
			if utf8.FullRune(run[:n]) {
				break
			}
		}
		r, size := utf8.DecodeRune(run[:n])
		switch {
		case n > 0 && (r != utf8.RuneError || size > 1) && r != 0:
			out = append(out, run[:size]...)
			i += 3 * size
		case n > 0:
			out = append(append(out, '%'), strings.ToUpper(s[i+1:i+3])...)
			i += 3
		default: // no escape at all
			out = append(out, '%')
			i++
		}
	}
	return upperEscapes(out)
}

// upperEscapes is for what decodes to an escape, as %25ff does: it is the same document as %ff to every client that decodes first.
func upperEscapes(b []byte) string {
	for i := range b {
		if b[i] == '%' && i+2 < len(b) {
			if _, ok := escape(string(b[i:i+3]), 0); ok {
				b[i+1], b[i+2] = upperHex(b[i+1]), upperHex(b[i+2])
			}
		}
	}
	return string(b)
}

func upperHex(c byte) byte {
	if 'a' <= c && c <= 'f' {
		return c - 'a' + 'A'
	}
	return c
}

// escape returns the byte that the escape at i stands for.
func escape(s string, i int) (byte, bool) {
	if i+2 >= len(s) || s[i] != '%' {
		return 0, false
	}
	h, ok1 := hexDigit(s[i+1])
	l, ok2 := hexDigit(s[i+2])
	return h<<4 | l, ok1 && ok2
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}
