package notes

import (
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
	open        int            // brackets open in the current block
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

// A linkParser is goldmark's link parser with bookkeeping.
type linkParser struct{ parser.InlineParser }

// Parse implements parser.InlineParser.
func (p linkParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	f := foundIn(pc)
	line, segment := block.PeekLine()
	if line[0] != ']' {
		if f.open >= maxOpen {
			return nil
		}
		n := p.InlineParser.Parse(parent, block, pc)
		if n != nil {
			f.open++
		}
		return n
	}
	if len(line) > maxDest && line[1] == '(' && !endsWithin(line[2:], maxDest) {
		return nil
	}
	f.open = max(f.open-1, 0)
	n := p.InlineParser.Parse(parent, block, pc)
	if n == nil {
		return nil
	}
	l := Link{Kind: Inline}
	var dest []byte
	var ref *ast.ReferenceLink
	switch n := n.(type) {
	case *ast.Link:
		dest, ref = n.Destination, n.Reference
	case *ast.Image:
		dest, ref, l.Image = n.Destination, n.Reference, true
	default:
		return n
	}
	_, after := block.Position()
	if after.Start == 0 && segment.Start > 0 {
		after.Start = len(f.source) // the reader is past its last line
	}
	l.Span = Span{n.Pos(), after.Start}
	if !f.straighten(&l, segment.Start) {
		return n
	}
	l.Dest = decode(dest)
	if ref != nil {
		l.Kind, l.Label = Reference, string(ref.Value)
		if len(l.Label) > 0 && l.Label[0] == '^' {
			return n // a footnote
		}
		if i, ok := f.labels[util.ToLinkReference(ref.Value)]; ok {
			d := &f.definitions[i]
			d.Used = true
			l.Dest, l.DestSpan = d.Dest, d.DestSpan
		}
	} else if s, ok := f.span(dest); ok {
		l.DestSpan = s
	} else if len(dest) > 0 {
		l.DestSpan = find(f.source, Span{segment.Start, l.Span.End}, dest)
	}
	f.links = append(f.links, l)
	return n
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
	foundIn(pc).open = 0
	p.InlineParser.(parser.CloseBlocker).CloseBlock(parent, block, pc)
}

// endsWithin reports whether a blank or a closing parenthesis comes soon enough
// for line to begin with a destination. Without it each "](" of a long line
// would be searched to the end of that line.
func endsWithin(line []byte, limit int) bool {
	for _, c := range line[:min(limit, len(line))] {
		if isBlank(c) || c == ')' || c == '>' {
			return true
		}
	}
	return len(line) <= limit
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

// decode resolves backslash escapes and character references.
func decode(raw []byte) string {
	for _, c := range raw {
		if c == '\\' || c == '&' {
			raw = util.UnescapePunctuations(raw)
			raw = util.ResolveNumericReferences(raw)
			raw = util.ResolveEntityNames(raw)
			break
		}
	}
	return string(raw)
}
