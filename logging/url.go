package logging

import "bytes"

// maxParameter bounds the search for the '=' after the name of a parameter.
const maxParameter = 128

// form is the rule for a text that is an encoded form or a bare query,
// "token=x&a=1". A single "password=x" is no form: it may be anything.
func (f *finder) form() int {
	and := bytes.IndexByte(f.t, '&')
	if and < 0 {
		return 0
	}
	for _, c := range f.t[:and] {
		if ends(c) || quotes(c) {
			return 0
		}
	}
	return f.parameter(0, '&', false)
}

// parameter is the rule for a secret-named parameter of a query or fragment:
// i is the index after the separator. In a URL that is itself the value of a
// parameter the separators are encoded.
func (f *finder) parameter(i int, separator byte, encoded bool) int {
	t := f.t
	name := i
	if separator == '&' && bytes.HasPrefix(t[i:], []byte("amp;")) { // as HTML writes it
		name += len("amp;")
	}
	equals, lo := name, -1
	for ; equals < len(t) && equals-name <= maxParameter; equals++ {
		c := t[equals]
		if c == '=' {
			lo = equals + 1
			break
		}
		if v, n := coded(t[equals:]); n > 0 {
			if c = v; v == '=' {
				lo = equals + n
				break
			}
		}
		if ends(c) || quotes(c) || c == '&' || c == '?' || c == '#' || c == ';' || c == '/' {
			break
		}
	}
	if lo < 0 || !f.secretParameter(t[name:equals]) {
		return i
	}
	hi := lo
	if _, end := credentials(t, lo); end >= 0 {
		hi = end // a blank inside: the token is part of the value
	}
	for ; hi < len(t) && !ends(t[hi]) && !quotes(t[hi]); hi++ {
		if c := t[hi]; c == '&' || c == '#' || c == ';' && separator == ';' {
			break
		}
		if v, _ := coded(t[hi:]); encoded && (v == '&' || v == '#') {
			break
		}
	}
	f.add(lo, hi)
	return hi
}

// secretParameter also looks at the last part of user[password].
func (f *finder) secretParameter(name []byte) bool {
	if f.r.secretName(name, queryText) {
		return true
	}
	name, ok := cutEither(name, "]", "%5d")
	if !ok {
		return false
	}
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '[' {
			return f.r.secretName(name[i+1:], queryText)
		}
		if v, n := coded(name[i:]); v == '[' {
			return f.r.secretName(name[i+n:], queryText)
		}
	}
	return false
}

func cutEither(b []byte, plain, encoded string) ([]byte, bool) {
	if rest, ok := bytes.CutSuffix(b, []byte(plain)); ok {
		return rest, true
	}
	if n := len(b) - len(encoded); n >= 0 && foldPrefix(b[n:], encoded) {
		return b[:n], true
	}
	return b, false
}

// userInfo is the rule for the user-info of a URL, RFC 3986 section 3.2.1: i is
// the index of the colon after the scheme. The separators may be percent-encoded
// or have the backslashes of JSON.
func (f *finder) userInfo(i int) int {
	t := f.t
	if !schemeBefore(t, i) {
		return i + 1
	}
	a, encoded := i+1, false
	if _, n := coded(t[i:]); n > 0 {
		a, encoded = i+n, true
	}
	for range 2 {
		if v, n := coded(t[a:]); v == '/' {
			a += n
			encoded = true
			continue
		}
		for a < len(t) && t[a] == '\\' {
			a++
		}
		if a == len(t) || t[a] != '/' {
			return i + 1
		}
		a++
	}
	end, at := authority(t, a, encoded)
	switch {
	case at == a: // empty
		return a
	case at > a && end > at+1:
		f.add(a, at)
		return at
	case encoded, at < 0 && hostPort(t[a:end], end < len(t) && t[end] == '/'):
		f.add(a, at)
		return max(a, at)
	}
	// What stands before the delimiter is no host with a port: somebody put a
	// password with a raw '/', '?', '#' or quote into a URL. It reaches to
	// the next '@' of the same word.
	next := f.nextAt(end)
	if next < 0 {
		f.add(a, at)
		return max(a, at)
	}
	if _, last := authority(t, next, false); last > next {
		next = last
	}
	f.add(a, next)
	return next
}

// schemeBefore reports whether a URL scheme ends before i: a letter, then
// letters, digits, '+', '.' and '-'.
func schemeBefore(t []byte, i int) bool {
	for i--; i >= 0; i-- {
		c := t[i]
		if l := c | 0x20; 'a' <= l && l <= 'z' {
			return true
		}
		if (c < '0' || c > '9') && c != '+' && c != '.' && c != '-' {
			return false
		}
	}
	return false
}

// authority returns the end of the authority that begins at a and its last '@',
// or -1.
func authority(t []byte, a int, encoded bool) (end, at int) {
	at = -1
	for end = a; end < len(t); end++ {
		c := t[end]
		if encoded {
			if c == '&' {
				break
			}
			if v, n := coded(t[end:]); n > 0 {
				c = v
			}
		}
		if c == '/' || c == '?' || c == '#' || ends(c) || quotes(c) {
			break
		}
		if c == '@' {
			at = end
		}
	}
	return end, at
}

// hostPort reports whether an authority without user-info is well-formed: a
// host, and if there is a colon, a port. slash says whether a path follows.
func hostPort(b []byte, slash bool) bool {
	host, rest := b, []byte(nil)
	if len(b) > 0 && b[0] == '[' {
		end := bytes.IndexByte(b, ']')
		if end < 0 {
			return false
		}
		host, rest = b[:end+1], b[end+1:]
	} else if colon := bytes.IndexByte(b, ':'); colon >= 0 {
		host, rest = b[:colon], b[colon:]
	}
	switch {
	case len(rest) == 0:
		return true
	case rest[0] != ':':
		return false
	case len(rest) == 1:
		// "user:/..." is a password that begins with a slash, "file://C:/..." a
		// drive.
		return len(host) == 1 && slash
	}
	port := 0
	for _, c := range rest[1:] {
		if c < '0' || c > '9' {
			return false
		}
		if port = port*10 + int(c-'0'); port > 65535 {
			return false
		}
	}
	return true
}

// nextAt returns the first '@' at or after i that is in the same word, or -1.
// It remembers its last search, so that many URLs in one long word do not each
// walk to its end.
func (f *finder) nextAt(i int) int {
	if f.found == 0 || i < f.searched || i > f.found {
		f.searched, f.found = i, i
		for f.found < len(f.t) && f.t[f.found] != '@' && !ends(f.t[f.found]) {
			f.found++
		}
	}
	if f.found < len(f.t) && f.t[f.found] == '@' {
		return f.found
	}
	return -1
}
