package notes

import "strings"

// frontMatter finds the front matter at the start of a text: a block between
// two lines "---" (the usual subset of YAML) or "+++" (of TOML). Anything it
// does not understand is skipped: front matter is read for its title and tags,
// and a note with odd front matter is still a note.
func frontMatter(text string) (whole Span, fields []Field) {
	at := 0
	if strings.HasPrefix(text, "\uFEFF") {
		at = len("\uFEFF")
	}
	first, next := cutLine(text, at)
	fence := strings.TrimRight(text[first.Start:first.End], " \t")
	if fence != "---" && fence != "+++" || next > len(text) {
		return Span{}, nil
	}
	sep := ":"
	if fence == "+++" {
		sep = "="
	}
	var open *Field // the list that "- entry" lines belong to
	for pos := next; pos < len(text) && pos < maxFront; {
		line, after := cutLine(text, pos)
		pos = after
		raw := text[line.Start:line.End]
		trimmed := strings.TrimSpace(raw)
		switch {
		case strings.TrimRight(raw, " \t") == fence || fence == "---" && strings.TrimRight(raw, " \t") == "...":
			return Span{at, min(after, len(text))}, fields
		case trimmed == "" || trimmed[0] == '#':
		case strings.HasPrefix(trimmed, "- ") && open != nil:
			start := line.Start + strings.Index(raw, "- ") + 2
			open.add(text, Span{start, line.End})
		case raw[0] == ' ' || raw[0] == '\t':
			// A nested value of a kind we do not read.
		default:
			open = nil
			i := strings.Index(raw, sep)
			if i <= 0 {
				continue
			}
			key := trimSpan(text, Span{line.Start, line.Start + i})
			fields = append(fields, Field{Key: text[key.Start:key.End], Span: key})
			f := &fields[len(fields)-1]
			value := trimSpan(text, Span{line.Start + i + len(sep), line.End})
			switch {
			case value.Len() == 0:
				open = f
			case text[value.Start] == '[' && text[value.End-1] == ']' && value.Len() >= 2:
				f.addList(text, Span{value.Start + 1, value.End - 1})
			default:
				f.add(text, value)
			}
		}
	}
	return Span{}, nil // no closing fence: a thematic break, not front matter
}

// add appends one scalar without its quotes.
func (f *Field) add(text string, s Span) {
	s = trimSpan(text, s)
	if s.Len() >= 2 && (text[s.Start] == '"' || text[s.Start] == '\'') && text[s.End-1] == text[s.Start] {
		s.Start++
		s.End--
	}
	if s.Len() > 0 {
		f.Values = append(f.Values, text[s.Start:s.End])
		f.Spans = append(f.Spans, s)
	}
}

// addList appends the entries of a flow list. Commas within quotes do not
// separate.
func (f *Field) addList(text string, s Span) {
	start, quote := s.Start, byte(0)
	for i := s.Start; i < s.End; i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case (c == '"' || c == '\'') && strings.TrimSpace(text[start:i]) == "":
			quote = c
		case c == ',':
			f.add(text, Span{start, i})
			start = i + 1
		}
	}
	f.add(text, Span{start, s.End})
}

// Field returns the front matter entry with this key, ignoring case.
func (n *Note) Field(key string) (Field, bool) {
	for _, f := range n.Front {
		if strings.EqualFold(f.Key, key) {
			return f, true
		}
	}
	return Field{}, false
}

// cutLine returns the span of the line that begins at pos, without its line
// break, and the offset of the next line, which is beyond the text when this
// line is the last.
func cutLine(text string, pos int) (line Span, next int) {
	end := len(text)
	next = end + 1
	if i := strings.IndexByte(text[pos:], '\n'); i >= 0 {
		end = pos + i
		next = end + 1
	}
	if end > pos && text[end-1] == '\r' {
		end--
	}
	return Span{pos, end}, next
}

// trimSpan drops blanks at both ends of a span.
func trimSpan(text string, s Span) Span {
	for s.Start < s.End && isBlank(text[s.Start]) {
		s.Start++
	}
	for s.End > s.Start && isBlank(text[s.End-1]) {
		s.End--
	}
	return s
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
