package notes

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// wikiNode stands for a wiki link in the tree. Its text is what a heading that
// holds it shows.
type wikiNode struct {
	ast.BaseInline
	shown string
}

var kindWiki = ast.NewNodeKind("WikiLink")

// Kind implements ast.Node.
func (n *wikiNode) Kind() ast.NodeKind { return kindWiki }

// Dump implements ast.Node.
func (n *wikiNode) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// wikiParser reads [[name]], [[name#heading]], [[name|text]] and the same
// after '!'. A wiki link stays on one line and holds no brackets.
type wikiParser struct{}

// Trigger implements parser.InlineParser.
func (wikiParser) Trigger() []byte { return []byte{'!', '['} }

// Parse implements parser.InlineParser.
func (wikiParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	open := 0
	if line[0] == '!' {
		open = 1
	}
	if len(line) < open+5 || line[open] != '[' || line[open+1] != '[' || segment.Padding != 0 {
		return nil
	}
	body := line[open+2 : min(len(line), open+2+maxLabel)]
	end := bytes.IndexAny(body, "[]\n")
	if end <= 0 || end+1 >= len(body) || body[end] != ']' || body[end+1] != ']' {
		return nil
	}
	body = body[:end]
	f := foundIn(pc)
	start := segment.Start + open + 2
	dest := Span{start, start + end}
	l := Link{Kind: Wiki, Image: open == 1, Span: Span{segment.Start, start + end + 2}}
	if bar := bytes.IndexByte(body, '|'); bar >= 0 {
		l.Text = strings.TrimSpace(f.text[start+bar+1 : start+end])
		dest.End = start + bar
		if bar > 0 && body[bar-1] == '\\' { // in a table the bar is escaped
			dest.End--
		}
	}
	l.DestSpan = trimSpan(f.text, dest)
	if l.DestSpan.Len() == 0 {
		return nil
	}
	l.Dest = f.text[l.DestSpan.Start:l.DestSpan.End]
	if l.Text == "" {
		l.Text = l.Dest
	}
	block.Advance(open + 2 + end + 2)
	f.links = append(f.links, l)
	n := &wikiNode{shown: l.Text}
	n.SetPos(segment.Start)
	return n
}
