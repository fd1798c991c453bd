package logging

// member is the rule for JSON that is only a part of a text, or was cut off:
// i is the index of a quote that may open the name of a member. The JSON may
// stand in strings of JSON, then its quotes have backslashes before them. Single
// quotes are those of Python and JavaScript.
func (f *finder) member(i int) int {
	t := f.t
	quote := t[i]
	end := i + 1
	for end < len(t) && t[end] != quote {
		if end-i > maxParameter || ends(t[end]) && t[end] != ' ' {
			return i + 1
		}
		end++
	}
	if end == len(t) {
		return i + 1
	}
	name := t[i+1 : end]
	for len(name) > 0 && name[len(name)-1] == '\\' {
		name = name[:len(name)-1]
	}
	colon := skipSpace(t, end+1)
	if colon == len(t) || t[colon] != ':' || !f.r.secretName(name, queryText) {
		return i + 1
	}
	lo := skipSpace(t, colon+1)
	escapes := end - i - 1 - len(name) // before each quote
	for lo < len(t) && t[lo] == '\\' {
		lo++
	}
	if lo == len(t) {
		return lo
	}
	hi := lo
	switch c := t[lo]; {
	case c == '"' || c == '\'':
		lo++
		hi = closingQuote(t, lo, c, escapes)
	case c == '-' || '0' <= c && c <= '9':
		for hi < len(t) && ('0' <= t[hi] && t[hi] <= '9' || t[hi] == '-' || t[hi] == '.') {
			hi++
		}
	case quote == '"' && (c == '[' || c == '{'):
		hi = closingBracket(t, lo, escapes)
	}
	// Other words are code rather than values.
	f.add(lo, hi)
	return hi
}

// closingQuote returns the end of the string whose inside begins at i, or the
// end of the text. JSON in strings doubles backslashes with each level and adds
// one before a quote, so quotes have 0, 1, 3 or 7 before them; backslashes that
// belong to the string come in front of those, in multiples of the doubled unit.
// Fewer mean that a string around this one ends.
func closingQuote(t []byte, i int, quote byte, escapes int) int {
	for run := 0; i < len(t); i++ {
		switch {
		case t[i] == '\\':
			run++
			continue
		case t[i] == quote && (run <= escapes || run%(2*escapes+2) == escapes):
			return i - min(run, escapes)
		}
		run = 0
	}
	return len(t)
}

// closingBracket returns the end of the array or object that begins at i, or the
// end of the text.
func closingBracket(t []byte, i, escapes int) int {
	for depth := 0; i < len(t); i++ {
		switch t[i] {
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"':
			if i = closingQuote(t, i+1, '"', escapes); i == len(t) {
				return i
			}
			for t[i] == '\\' {
				i++
			}
		}
	}
	return len(t)
}
