package logging

// rules finds the secrets in a text. One walk over the bytes: most are of no
// interest, the others start a rule, which answers where to go on.
func (p *pass) rules(t []byte) {
	f := finder{pass: p, t: t}
	i := f.header(0)
	if i == 0 {
		i = f.form()
	}
	for i < len(t) {
		c := t[i]
		if !starts[c] {
			i++
			continue
		}
		switch c {
		case '\n':
			i = f.header(i + 1)
		case 'b', 'B':
			i = f.credentials(i)
		case ':':
			i = f.userInfo(i)
		case '"', '\'':
			i = f.member(i)
		case '%', '\\':
			if c == '\\' && i+1 < len(t) && t[i+1] == 'n' { // a line break in JSON that is a part of the text
				i = f.header(i + 2)
				continue
			}
			switch v, n := coded(t[i:]); v {
			case ':':
				i = f.userInfo(i)
			case '?', '&', '#', ';':
				i = f.parameter(i+n, v, true)
			default:
				i++
			}
		default: // ? & # ;
			i = f.parameter(i+1, c, false)
		}
	}
}

// starts marks the bytes at which a rule may begin.
var starts = [256]bool{'\n': true, 'b': true, 'B': true, ':': true, '%': true, '\\': true, '"': true, '\'': true, '?': true, '&': true, '#': true, ';': true}

// finder applies the rules to one text. Every rule takes the index where it may
// begin and returns the index where the walk continues, which is never before
// it; together they look at each byte a bounded number of times.
type finder struct {
	*pass
	t []byte

	searched, found int // last search of nextAt: from where, and where it ended
}

// ends tells which bytes end a word in running text: white space and controls.
func ends(b byte) bool { return b <= ' ' || b == 0x7f }

// quotes tells which bytes, besides [ends], cannot be part of a URL and mark
// its end in HTML, Markdown or a quotation.
func quotes(b byte) bool { return b == '"' || b == '<' || b == '>' || b == '`' }

// foldPrefix reports whether t has the prefix, which is in lower case.
func foldPrefix(t []byte, prefix string) bool {
	if len(t) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		c := t[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != prefix[i] {
			return false
		}
	}
	return true
}

// credentials is the rule for "Bearer" and "Basic", in any case and wherever
// they stand, followed by a token.
func (f *finder) credentials(i int) int {
	lo, hi := credentials(f.t, i)
	if hi < 0 {
		return i + 1
	}
	f.addToken(f.t, i, lo, hi)
	return hi
}

// credentials finds the token after "Bearer" or "Basic" at i. Without one, hi
// is -1. What stands between is a blank, also as it is written in a query. A
// token that ends in a scheme again, as in "Bearer Bearer abc", goes on with
// what follows that.
func credentials(t []byte, i int) (lo, hi int) {
	lo, hi = token(t, afterScheme(t, i))
	for end := hi; end >= 0; {
		hi = end
		switch {
		case hi-lo >= 6 && foldPrefix(t[hi-6:], "bearer"):
			_, end = token(t, afterScheme(t, hi-6))
		case hi-lo >= 5 && foldPrefix(t[hi-5:], "basic"):
			_, end = token(t, afterScheme(t, hi-5))
		default:
			return lo, hi
		}
	}
	return lo, hi
}

// token finds the token at i, which may stand in quotes. Without one, or if i is
// negative, hi is -1.
func token(t []byte, i int) (lo, hi int) {
	if i < 0 {
		return 0, -1
	}
	lo, hi = i, tokenEnd(t, i)
	if hi == lo && lo < len(t) && (t[lo] == '"' || t[lo] == '\'') {
		lo++
		hi = tokenEnd(t, lo)
	}
	if hi == lo {
		return 0, -1
	}
	return lo, hi
}

// afterScheme returns the index after "Bearer" or "Basic" at i and the blanks
// that follow, or -1 if they are not there or nothing follows.
func afterScheme(t []byte, i int) int {
	switch {
	case foldPrefix(t[i:], "bearer"):
		i += len("bearer")
	case foldPrefix(t[i:], "basic"):
		i += len("basic")
	default:
		return -1
	}
	blanks := i
	for i < len(t) {
		if c := t[i]; c == ' ' || c == '\t' || c == '+' {
			i++
		} else if v, n := coded(t[i:]); v == ' ' || v == '\t' || v == '+' {
			i += n
		} else {
			break
		}
	}
	if i == blanks || i == len(t) {
		return -1
	}
	return i
}

// tokenEnd returns the end of the token that begins at i. A backslash ends it
// only if it escapes a quote or a line break, as in JSON that is part of the text.
func tokenEnd(t []byte, i int) int {
	for ; i < len(t) && !ends(t[i]) && !quotes(t[i]); i++ {
		switch t[i] {
		case ',', ';', '&', '\'':
			return i
		case '\\':
			if jsonBreak(t, i) {
				return i
			}
		}
	}
	return i
}

// jsonBreak reports whether the backslash at i escapes a quote or a line break.
func jsonBreak(t []byte, i int) bool {
	return i+1 < len(t) && (t[i+1] == '"' || t[i+1] == 'n' || t[i+1] == 'r')
}

// header is the rule for a line of an HTTP header, "Cookie: a=b": i is the
// beginning of a line.
func (f *finder) header(i int) int {
	t := f.t
	name := i
	for name < len(t) && (t[name] == ' ' || t[name] == '\t') {
		name++
	}
	colon := name
	for colon < len(t) && t[colon] != ':' {
		c := t[colon]
		if l := c | 0x20; (l < 'a' || l > 'z') && c != '-' && c != '_' {
			return i
		}
		if colon++; colon-name > 2*longestName {
			return i
		}
	}
	if colon == len(t) {
		return i
	}
	var buf [64]byte
	if n, ok := appendNormal(buf[:0], t[name:colon], plainText, longestName); !ok || !headerNames[string(n)] {
		return i
	}
	lo := colon + 1
	for lo < len(t) && (t[lo] == ' ' || t[lo] == '\t') {
		lo++
	}
	hi := lo
	for hi < len(t) && t[hi] != '\n' && t[hi] != '\r' && (t[hi] != '\\' || !jsonBreak(t, hi)) {
		hi++
	}
	if start, end := credentials(t[:hi], lo); end >= 0 {
		f.addToken(t, lo, start, hi)
		return hi
	}
	f.add(lo, hi)
	return hi
}
