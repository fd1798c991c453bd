package notes

import (
	"slices"
	"strings"
)

// Enclosing returns the spans a selection at an offset grows through: word,
// parts of a link, link, line, paragraph, block, sections, the whole text. Each
// is longer than the one before and holds it.
func (n *Note) Enclosing(offset int) []Span {
	offset = min(max(offset, 0), len(n.Text))
	word := Span{offset, offset}
	for word.Start > 0 && !isBlank(n.Text[word.Start-1]) && !strings.ContainsRune("()[]<>#|*`", rune(n.Text[word.Start-1])) {
		word.Start--
	}
	for word.End < len(n.Text) && !isBlank(n.Text[word.End]) && !strings.ContainsRune("()[]<>#|*`", rune(n.Text[word.End])) {
		word.End++
	}
	line, _ := n.Position(offset)
	list := []Span{word, trimSpan(n.Text, n.Line(line)), n.Line(line), n.paragraph(line), {0, len(n.Text)}}
	if l, ok := n.LinkAt(offset); ok {
		list = append(list, l.DestSpan, l.Span)
		if i := strings.Index(n.Slice(l.Span), l.Text); i >= 0 {
			list = append(list, Span{l.Span.Start + i, l.Span.Start + i + len(l.Text)})
		}
	}
	if h, ok := n.HeadingAt(offset); ok {
		list = append(list, h.Name, h.Span)
	}
	for _, h := range n.Headings {
		if h.Section.Start > offset {
			break
		}
		list = append(list, h.Section)
	}
	for _, b := range n.Blocks() {
		if b.Span.Start > offset {
			break
		}
		list = append(list, b.Span)
	}
	list = slices.DeleteFunc(list, func(s Span) bool { return !s.Contains(offset) || s.Len() == 0 && s != word })
	slices.SortFunc(list, func(a, b Span) int { return a.Len() - b.Len() })
	chain := list[:0]
	for _, s := range list {
		if len(chain) == 0 {
			chain = append(chain, s)
			continue
		}
		if last := chain[len(chain)-1]; s.Start <= last.Start && s.End >= last.End && s != last {
			chain = append(chain, s)
		}
	}
	return chain
}

// paragraph returns the lines around a line up to blank ones.
func (n *Note) paragraph(line int) Span {
	const far = 1000 // lines
	blank := func(line int) bool { return strings.TrimSpace(n.Slice(n.Line(line))) == "" }
	first, last := line, line
	for first > 0 && line-first < far && !blank(first-1) && !blank(first) {
		first--
	}
	for last+1 < n.Lines() && last-line < far && !blank(last+1) && !blank(last) {
		last++
	}
	return Span{n.Line(first).Start, n.Line(last).End}
}
