package logging

import (
	"unicode"
	"unicode/utf8"
)

// secretNames are the built-in names in normal form.
var secretNames = nameSet(
	"authorization", "proxyauthorization", "apikey", "xapikey",
	"accesstoken", "refreshtoken", "idtoken", "token",
	"password", "passwd", "secret", "clientsecret",
	"cookie", "setcookie", "credential", "credentials",
	"privatekey", "sessionid", "mcpsessionid",
)

// headerNames are those of them that start a line of an HTTP header rather than
// a sentence.
var headerNames = nameSet(
	"authorization", "proxyauthorization", "xapikey", "cookie", "setcookie", "mcpsessionid",
)

const longestName = len("proxyauthorization")

func nameSet(names ...string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[n] = true
	}
	return set
}

// coding says how a name is written down.
type coding uint8

const (
	plainText coding = iota
	jsonText         // the inside of a JSON string
	queryText        // percent-encoded, or with escapes of JSON left in it
)

// secretName decodes a name, brings it to normal form and looks it up. It does
// not allocate for names within reach of the known ones.
func (r *Redactor) secretName(name []byte, c coding) bool {
	limit := longestName
	if r != nil {
		limit = max(limit, r.longest)
	}
	var buf [64]byte
	n, ok := appendNormal(buf[:0], name, c, limit)
	if !ok {
		return false
	}
	return secretNames[string(n)] || r != nil && r.extra[string(n)]
}

// normal returns the normal form of a name: folded to lower case, without '_'
// and '-'.
func normal(name string) string {
	n, _ := appendNormal(nil, []byte(name), plainText, len(name)*utf8.UTFMax)
	return string(n)
}

// appendNormal appends the normal form of name, and reports false as soon as it
// is longer than limit.
func appendNormal(dst, name []byte, c coding, limit int) ([]byte, bool) {
	for len(name) > 0 {
		var r rune
		n := 1
		switch b := name[0]; {
		case b == '\\' && c == jsonText:
			r, n = unescape(name)
		case (b == '%' || b == '\\') && c == queryText:
			r = rune(b)
			if v, size := coded(name); size > 0 {
				r, n = rune(v), size
			}
		case b < utf8.RuneSelf:
			r = rune(b)
		default:
			r, n = utf8.DecodeRune(name)
		}
		name = name[n:]
		if r == '_' || r == '-' {
			continue
		}
		dst = utf8.AppendRune(dst, fold(r))
		if len(dst) > limit {
			return dst, false
		}
	}
	return dst, true
}

// fold maps all forms of a letter that differ in case only to one, also the two
// letters outside ASCII that have their lower case in it (the long s and the
// Kelvin sign): some decoders match keys that way.
func fold(r rune) rune {
	switch {
	case 'A' <= r && r <= 'Z':
		return r + 'a' - 'A'
	case r < utf8.RuneSelf:
		return r
	case r == 'ſ':
		return 's'
	}
	return unicode.ToLower(r)
}

// coded decodes the character at the beginning of b if it is written as %XX in
// a URL or, below U+0080, as \u00XX in JSON. It returns how many bytes that
// takes; zero if b begins otherwise, and then the character is zero as well,
// which no caller looks for.
func coded(b []byte) (c byte, n int) {
	if len(b) < 3 {
		return 0, 0
	}
	switch b[0] {
	case '%':
		n = 3
	case '\\':
		if r, ok := hex4(b); !ok || r >= utf8.RuneSelf {
			return 0, 0
		}
		n = 6
	default:
		return 0, 0
	}
	hi, ok1 := hexDigit(b[n-2])
	lo, ok2 := hexDigit(b[n-1])
	if !ok1 || !ok2 {
		return 0, 0
	}
	return hi<<4 | lo, n
}

func hexDigit(b byte) (byte, bool) {
	switch {
	case '0' <= b && b <= '9':
		return b - '0', true
	case 'a' <= b && b <= 'f':
		return b - 'a' + 10, true
	case 'A' <= b && b <= 'F':
		return b - 'A' + 10, true
	}
	return 0, false
}
