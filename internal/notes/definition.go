package notes

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// definitionParser takes the link reference definitions off the start of a
// paragraph (CommonMark 4.7). Differences from the specification, all towards
// less: a title stands on the line of its destination or on the next one.
type definitionParser struct{}

// Transform implements parser.ParagraphTransformer.
func (definitionParser) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	f := foundIn(pc)
	lines := node.Lines()
	taken := 0
	for taken < lines.Len() {
		n := f.definition(lines, taken, pc)
		if n == 0 {
			break
		}
		taken += n
	}
	switch {
	case taken == 0:
	case taken == lines.Len():
		// Removing the paragraph would leave goldmark without the block it is
		// about to continue, unless its parent forgets it as well.
		node.Parent().RemoveChild(node.Parent(), node)
	default:
		rest := text.NewSegments()
		rest.AppendAll(lines.Sliced(taken, lines.Len()))
		node.SetLines(rest)
	}
}

// definition reads one definition that begins on line at and returns the number
// of lines it takes, 0 if there is none.
func (f *found) definition(lines *text.Segments, at int, pc parser.Context) int {
	seg := lines.At(at)
	start := seg.Start
	line := f.source[seg.Start:seg.Stop]
	open := skipBlank(line, 0)
	if open >= len(line) || line[open] != '[' {
		return 0
	}
	shut := closing(line, open+1)
	if shut < 0 || shut+1 >= len(line) || line[shut+1] != ':' {
		return 0
	}
	label := line[open+1 : shut]
	if len(bytes.TrimSpace(label)) == 0 {
		return 0
	}
	d := Definition{Label: f.text[start+open+1 : start+shut], LabelSpan: Span{start + open + 1, start + shut}}
	used := 1
	i := skipBlank(line, shut+2)
	if i >= len(line) { // the destination may stand on the next line
		if at+used >= lines.Len() {
			return 0
		}
		seg = lines.At(at + used)
		line = f.source[seg.Start:seg.Stop]
		used++
		i = skipBlank(line, 0)
	}
	dest, after, ok := destination(line, i)
	if !ok {
		return 0
	}
	d.DestSpan = Span{seg.Start + dest.Start, seg.Start + dest.End}
	d.Dest = f.decode(line[dest.Start:dest.End])
	end := seg.Start + after
	t := skipBlank(line, after)
	var title []byte
	if t >= len(line) { // a title may stand on the next line
		if at+used < lines.Len() {
			next := lines.At(at + used)
			l := f.source[next.Start:next.Stop]
			if s, e, ok := titleIn(l, skipBlank(l, 0)); ok {
				title, end = l[s:e], next.Start+e+1
				used++
			}
		}
	} else {
		s, e, ok := titleIn(line, t)
		if !ok || t == after {
			return 0
		}
		title, end = line[s:e], seg.Start+e+1
	}
	d.Span = Span{start + open, end}
	if strings.HasPrefix(d.Label, "^") {
		return 0 // a footnote is no link
	}
	normal := util.ToLinkReference(label)
	if _, twice := f.labels[normal]; !twice { // the first one wins
		if f.labels == nil {
			f.labels = make(map[string]int)
		}
		f.labels[normal] = len(f.definitions)
		pc.AddReference(parser.NewReference(label, bytes.Clone(line[dest.Start:dest.End]), title))
	}
	f.definitions = append(f.definitions, d)
	return used
}

// closing returns the index of the bracket that closes a label, or -1.
func closing(line []byte, i int) int {
	for limit := min(len(line), i+maxLabel+1); i < limit; i++ {
		switch line[i] {
		case '\\':
			i++
		case '[':
			return -1
		case ']':
			return i
		}
	}
	return -1
}

// destination reads a link destination at i: <...> or a run without blanks.
func destination(line []byte, i int) (dest Span, after int, ok bool) {
	if i < len(line) && line[i] == '<' {
		for j := i + 1; j < len(line); j++ {
			switch line[j] {
			case '\\':
				j++
			case '<', '\n':
				return Span{}, 0, false
			case '>':
				return Span{i + 1, j}, j + 1, true
			}
		}
		return Span{}, 0, false
	}
	j := i
	for j < len(line) && !isBlank(line[j]) {
		j++
	}
	return Span{i, j}, j, j > i
}

// titleIn reads a title that begins at i and ends the line. It returns the span
// between its delimiters.
func titleIn(line []byte, i int) (start, end int, ok bool) {
	if i >= len(line) {
		return 0, 0, false
	}
	shut := line[i]
	switch shut {
	case '"', '\'':
	case '(':
		shut = ')'
	default:
		return 0, 0, false
	}
	for j := i + 1; j < len(line); j++ {
		switch line[j] {
		case '\\':
			j++
		case shut:
			return i + 1, j, skipBlank(line, j+1) >= len(line)
		}
	}
	return 0, 0, false
}

// skipBlank returns the index of the first byte at or after i that is no blank.
func skipBlank(line []byte, i int) int {
	for i < len(line) && isBlank(line[i]) {
		i++
	}
	return i
}
