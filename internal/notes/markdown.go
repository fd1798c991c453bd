package notes

import (
	"bytes"
	"sort"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown returns the Markdown parser, goldmark with its link handling put
// behind our own:
//
//   - wikiParser reads [[name]] before a bracket can be anything else;
//   - linkParser wraps goldmark's to learn where a link ends, which its tree
//     does not tell, and to refuse shapes on which it is quadratic;
//   - definitionParser replaces goldmark's reference definitions, which cost
//     quadratic time in the length of a block of them and have no positions.
//
// Tables are left out on purpose: they cost rows times columns, and links in
// their cells are found without them.
var markdown = sync.OnceValue(func() parser.Parser {
	blocks := parser.DefaultBlockParsers()
	return parser.NewParser(
		parser.WithBlockParsers(blocks...),
		parser.WithInlineParsers(
			util.Prioritized(parser.NewCodeSpanParser(), 100),
			util.Prioritized(wikiParser{}, 150),
			util.Prioritized(linkParser{parser.NewLinkParser()}, 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300),
			util.Prioritized(parser.NewRawHTMLParser(), 400),
			util.Prioritized(parser.NewEmphasisParser(), 500),
		),
		parser.WithParagraphTransformers(
			util.Prioritized(definitionParser{}, 100),
		),
	)
})

// found collects what the inline parsers meet. It travels in the parser's
// context, so parses do not share it.
type found struct {
	source      []byte
	text        string
	links       []Link
	definitions []Definition
	labels      map[string]int // normal form of a label -> index in definitions
	openers     []int          // offsets of the brackets open in the current block
	reader      lineReader
}

var foundKey = parser.NewContextKey()

func foundIn(pc parser.Context) *found { return pc.Get(foundKey).(*found) }

// span returns the span of part if part is a slice of the source.
func (f *found) span(part []byte) (Span, bool) {
	if len(part) == 0 || cap(part) > cap(f.source) {
		return Span{}, false
	}
	at := cap(f.source) - cap(part)
	if at+len(part) > len(f.source) || &f.source[at] != &part[0] {
		return Span{}, false
	}
	return Span{at, at + len(part)}, true
}

// A lineReader answers Value by binary search over the lines of the block.
// Goldmark's reader searches from the last line backwards each time, which is
// quadratic for a paragraph with a bracket on each of its lines.
type lineReader struct {
	text.Reader
	lines *text.Segments
}

// Value implements text.Reader.
func (r *lineReader) Value(s text.Segment) []byte {
	i := sort.Search(r.lines.Len(), func(i int) bool { return r.lines.At(i).Stop > s.Start })
	source := r.Source()
	var value []byte
	for ; i < r.lines.Len(); i++ {
		line := r.lines.At(i)
		if line.Start >= s.Stop {
			break
		}
		value = append(value, source[max(line.Start, s.Start):min(line.Stop, s.Stop)]...)
	}
	return value
}

// A linkParser is goldmark's link parser with bookkeeping.
type linkParser struct{ parser.InlineParser }

// Parse implements parser.InlineParser.
func (p linkParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	f := foundIn(pc)
	line, segment := block.PeekLine()
	if line[0] != ']' {
		if len(f.openers) > 0 && segment.Start-f.openers[0] > maxOpen {
			// A bracket that was opened this long ago and still is open was not
			// meant as a link. Goldmark would give up all later links of the
			// block for it.
			p.CloseBlock(parent, block, pc)
		}
		n := p.InlineParser.Parse(parent, block, pc)
		if n != nil {
			f.openers = append(f.openers, segment.Start)
		}
		return n
	}
	if len(f.openers) > 0 {
		f.openers = f.openers[:len(f.openers)-1]
	}
	if len(line) > 1 && line[1] == '(' && !startsDestination(line[2:]) {
		block = &missingReader{block}
	}
	f.reader.Reader, f.reader.lines = block, parent.Lines()
	n := p.InlineParser.Parse(parent, &f.reader, pc)
	if n != nil {
		f.take(n, block, segment.Start)
	}
	return n
}

// take records a link whose closing bracket is at closing and behind which the
// reader stands.
func (f *found) take(n ast.Node, block text.Reader, closing int) {
	l := Link{Kind: Inline}
	var dest []byte
	var ref *ast.ReferenceLink
	switch n := n.(type) {
	case *ast.Link:
		dest, ref = n.Destination, n.Reference
	case *ast.Image:
		dest, ref, l.Image = n.Destination, n.Reference, true
	default:
		return
	}
	_, after := block.Position()
	l.Span = Span{n.Pos(), after.Start}
	if !f.straighten(&l, closing) {
		return
	}
	l.Dest = f.decode(dest)
	switch s, ok := f.span(dest); {
	case ref != nil:
		l.Kind, l.Label = Reference, string(ref.Value)
		if strings.HasPrefix(l.Label, "^") {
			return // a footnote
		}
		if i, ok := f.labels[util.ToLinkReference(ref.Value)]; ok {
			d := &f.definitions[i]
			d.Used = true
			l.Dest, l.DestSpan = d.Dest, d.DestSpan
		}
	case ok:
		l.DestSpan = s
	case len(dest) > 0:
		l.DestSpan = find(f.source, Span{closing, l.Span.End}, dest)
	}
	f.links = append(f.links, l)
}

// straighten checks the span of a link whose closing bracket is at closing and
// sets its text. Padding that stands for part of a tab can move goldmark's
// positions by a few bytes.
func (f *found) straighten(l *Link, closing int) bool {
	if l.Span.Start < 0 || l.Span.End > len(f.source) || closing > l.Span.End || l.Span.Start >= closing {
		return false
	}
	first := byte('[')
	if l.Image {
		first = '!'
	}
	for f.source[l.Span.Start] != first {
		if l.Span.Start++; l.Span.Start >= closing {
			return false
		}
	}
	start := l.Span.Start + 1
	if l.Image {
		start++
	}
	l.Text = f.text[min(start, closing):closing]
	return true
}

// CloseBlock implements parser.CloseBlocker.
func (p linkParser) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	f := foundIn(pc)
	f.openers = f.openers[:0]
	p.InlineParser.(parser.CloseBlocker).CloseBlock(parent, block, pc)
}

// startsDestination reports whether what follows "](" can be a destination and
// ends soon enough. Without this check each "](" of a long line would be
// searched to the end of the line.
func startsDestination(line []byte) bool {
	i := skipBlank(line, 0)
	if i == len(line) {
		return true // it stands on the next line
	}
	limit := min(len(line), i+maxDest)
	if line[i] == '<' {
		for i++; i < limit; i++ {
			switch line[i] {
			case '\\':
				i++
			case '<', '\n':
				return false
			case '>':
				return true
			}
		}
		return false
	}
	depth := 0
	for ; i < limit; i++ {
		switch c := line[i]; {
		case c == '\\':
			i++
		case isBlank(c):
			return true
		case c == '(':
			if depth++; depth > maxParens {
				return false
			}
		case c == ')':
			if depth--; depth < 0 {
				return true
			}
		}
	}
	return limit == len(line)
}

// A missingReader hides the parenthesis behind a closing bracket, so that the
// bracket can still close a reference.
type missingReader struct{ text.Reader }

// Peek implements text.Reader.
func (r *missingReader) Peek() byte {
	if c := r.Reader.Peek(); c != '(' {
		return c
	}
	return ' '
}

// find returns the span of part within s, or an empty span.
func find(source []byte, s Span, part []byte) Span {
	for i := s.Start; i+len(part) <= s.End; i++ {
		if string(source[i:i+len(part)]) == string(part) {
			return Span{i, i + len(part)}
		}
	}
	return Span{}
}

// decode resolves backslash escapes and character references. A part of the
// source without any shares the memory of the text.
func (f *found) decode(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 && bytes.IndexByte(raw, '&') < 0 {
		if s, ok := f.span(raw); ok {
			return f.text[s.Start:s.End]
		}
		return string(raw)
	}
	raw = util.UnescapePunctuations(raw)
	raw = util.ResolveNumericReferences(raw)
	return strings.ToValidUTF8(string(util.ResolveEntityNames(raw)), "\uFFFD")
}
