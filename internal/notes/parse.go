package notes

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// scratch is the memory of one parse that another can use.
type scratch struct {
	source []byte
	links  []Link
}

// buffers holds scratches up to a moderate size; that of a huge note is left to
// the collector.
var buffers = sync.Pool{New: func() any { return new(scratch) }}

const (
	keepBuffer = 1 << 20
	keepLinks  = 1 << 12
)

// Parse reads a Markdown text that is, or would be, at path. It accepts every
// text: bytes that are no UTF-8 become U+FFFD, line ends may be LF or CRLF, and
// what is no valid markup is plain text. Time is linear in the length of the
// text for all practical purposes, whatever it holds.
func Parse(name, body string) *Note {
	n := &Note{Path: name, Slug: SlugOf(name), Text: body}
	if !utf8.ValidString(body) {
		n.Text = strings.ToValidUTF8(body, "\uFFFD")
		n.Repaired = true
	}
	n.lines = lineStarts(n.Text)
	front, fields := frontMatter(n.Text)
	n.Front = fields

	buf := buffers.Get().(*scratch)
	source := append(buf.source[:0], body...)
	sum := sha256.Sum256(source)
	n.Version = hex.EncodeToString(sum[:16])
	source = mask(source, n.Text, front)
	f := &found{source: source, text: n.Text, links: buf.links[:0]}
	pc := parser.NewContext()
	pc.Set(foundKey, f)
	tree := markdown().Parse(text.NewReader(source), parser.WithContext(pc))

	n.frontTags()
	w := walker{note: n, found: f}
	w.walk(tree)
	n.Headings = exact(n.Headings)
	n.joinSlugs()
	n.Links = f.links
	if cap(f.links) <= keepLinks { // else it is as good as full
		n.Links = append([]Link(nil), f.links...)
		clear(f.links)
		buf.links = f.links
	}
	slices.SortStableFunc(n.Links, func(a, b Link) int { return a.Span.Start - b.Span.Start })
	for i := range n.Links {
		n.Links[i].Line = lineOf(n.lines, n.Links[i].Span.Start)
	}
	n.Definitions = f.definitions
	slices.SortStableFunc(n.Definitions, func(a, b Definition) int { return a.Span.Start - b.Span.Start })
	for i := range n.Definitions {
		n.Definitions[i].Line = lineOf(n.lines, n.Definitions[i].Span.Start)
	}
	n.sections()
	n.indexAnchors()
	n.Title = n.title()
	n.keys = linkKeys(n)
	n.fold = strings.ToLower(n.Path + "\n" + n.Title)

	if cap(source) <= keepBuffer {
		buf.source = source
		buffers.Put(buf)
	}
	return n
}

// exact gives back what append has allocated too much: notes are kept for
// long.
func exact(list []Heading) []Heading {
	if cap(list)-len(list) < 2 {
		return list
	}
	return append(make([]Heading, 0, len(list)), list...)
}

// title chooses what the note is called.
func (n *Note) title() string {
	if f, ok := n.Field("title"); ok && len(f.Values) > 0 {
		return f.Values[0]
	}
	for _, h := range n.Headings {
		if h.Level == 1 && h.Text != "" {
			return h.Text
		}
	}
	for _, h := range n.Headings {
		if h.Text != "" {
			return h.Text
		}
	}
	stem, _ := cutNoteExt(path.Base(n.Path))
	return stem
}

// frontTags takes over the tags of the front matter.
func (n *Note) frontTags() {
	for _, key := range [...]string{"tags", "tag"} {
		f, ok := n.Field(key)
		if !ok {
			continue
		}
		for i, v := range f.Values {
			// A scalar may hold several tags: "tags: one, two".
			at := f.Spans[i].Start
			for _, part := range strings.Split(v, ",") {
				s := trimSpan(n.Text, Span{at, at + len(part)})
				at += len(part) + 1
				if name := strings.TrimPrefix(n.Slice(s), "#"); name != "" {
					n.Tags = append(n.Tags, Tag{Name: name, Span: s})
				}
			}
		}
	}
}

// sections ends each heading's section where the next heading of the same or a
// higher level begins.
func (n *Note) sections() {
	var open [7]int // 1 + index of the open heading of each level
	end := func(from int, at int) {
		for level := from; level <= 6; level++ {
			if open[level] > 0 {
				n.Headings[open[level]-1].Section.End = at
				open[level] = 0
			}
		}
	}
	for i := range n.Headings {
		h := &n.Headings[i]
		end(h.Level, h.Span.Start)
		h.Section.Start = h.Span.Start
		open[h.Level] = i + 1
	}
	end(1, len(n.Text))
}

// A walker takes headings, tags and anchors out of a syntax tree. It goes by
// parent links instead of recursion: emphasis nests as deep as a text likes.
type walker struct {
	*found
	note  *Note
	slugs slugger
}

func (w *walker) walk(root ast.Node) {
	for n := root; n != nil; {
		down := w.enter(n)
		if c := n.FirstChild(); c != nil && down {
			n = c
			continue
		}
		for n != nil && n != root && n.NextSibling() == nil {
			n = n.Parent()
		}
		if n == nil || n == root {
			return
		}
		n = n.NextSibling()
	}
}

// enter handles one node and reports whether its children matter.
func (w *walker) enter(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.Heading:
		w.heading(n)
	case *ast.Text:
		w.tags(n.Segment)
	case *ast.HTMLBlock:
		for i := range n.Lines().Len() {
			w.anchors(n.Lines().At(i))
		}
		if n.HasClosure() {
			w.anchors(n.ClosureLine)
		}
	case *ast.RawHTML:
		for i := range n.Segments.Len() {
			w.anchors(n.Segments.At(i))
		}
	case *ast.AutoLink:
		if s, ok := w.span(n.Label(w.source)); ok {
			w.links = append(w.links, Link{
				Kind: Auto, Text: w.note.Slice(s), Dest: string(n.URL(w.source)),
				DestSpan: s, Span: Span{s.Start - 1, s.End + 1},
			})
		}
		return false
	case *ast.CodeSpan, *ast.CodeBlock, *ast.FencedCodeBlock:
		return false
	}
	return true
}

func (w *walker) heading(n *ast.Heading) {
	h := Heading{Level: n.Level}
	lines := n.Lines()
	text := w.note.Text
	start := max(n.Pos(), 0)
	if lines.Len() == 0 { // "#" alone
		h.Name = Span{min(start+n.Level, len(text)), min(start+n.Level, len(text))}
	} else {
		first, last := lines.At(0), lines.At(lines.Len()-1)
		h.Name = trimSpan(text, Span{first.Start, last.Stop})
		start = min(start, h.Name.Start)
	}
	// The heading reaches from its first character to the end of its last line,
	// for a setext heading that of the underline.
	h.Line = lineOf(w.note.lines, h.Name.Start)
	lineStart := int(w.note.lines[h.Line])
	lastLine := lineOf(w.note.lines, max(h.Name.End, n.Pos()))
	setext := true
	for i := h.Name.Start; i > lineStart; i-- {
		if w.source[i-1] == '#' {
			setext = false
			break
		}
	}
	if setext && lines.Len() > 0 {
		start = h.Name.Start
		if lastLine == lineOf(w.note.lines, h.Name.End) && lastLine+1 < len(w.note.lines) {
			lastLine++
		}
	} else {
		start = max(start, lineStart)
	}
	h.Span = Span{start, max(w.note.Line(lastLine).End, h.Name.End)}

	h.Text = w.plain(n)
	if name := w.note.Slice(h.Name); strings.HasSuffix(name, "}") {
		if i := strings.LastIndex(name, "{#"); i >= 0 {
			if id := name[i+2 : len(name)-1]; id != "" && !strings.ContainsAny(id, " \t{}") {
				h.ID = id
				h.Name = trimSpan(text, Span{h.Name.Start, h.Name.Start + i})
				if j := strings.LastIndex(h.Text, "{#"); j >= 0 {
					h.Text = strings.TrimSpace(h.Text[:j])
				}
			}
		}
	}
	h.Slug = w.slugs.slug(h.Text)
	w.note.Headings = append(w.note.Headings, h)
}

// plain returns the text a reader sees of a block's inline content.
func (w *walker) plain(block ast.Node) string {
	if t, ok := block.FirstChild().(*ast.Text); ok && t.NextSibling() == nil && t.FirstChild() == nil && !t.SoftLineBreak() && !t.HardLineBreak() {
		return strings.TrimSpace(w.decode(t.Segment.Value(w.source))) // most headings: a piece of the text
	}
	var b strings.Builder
	for n := block.FirstChild(); n != nil; {
		switch n := n.(type) {
		case *ast.Text:
			raw := n.Segment.Value(w.source)
			if n.Parent().Kind() == ast.KindCodeSpan {
				b.Write(raw)
			} else {
				b.WriteString(w.decode(raw))
			}
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.AutoLink:
			b.Write(n.Label(w.source))
		case *wikiNode:
			b.WriteString(n.shown)
		}
		if c := n.FirstChild(); c != nil {
			n = c
			continue
		}
		for n != block && n.NextSibling() == nil {
			n = n.Parent()
		}
		if n == block {
			break
		}
		n = n.NextSibling()
	}
	return strings.TrimSpace(b.String())
}

// tags finds #tags in a run of plain text.
func (w *walker) tags(s text.Segment) {
	text := w.note.Text
	for at := s.Start; at < s.Stop; {
		i := strings.IndexByte(text[at:s.Stop], '#')
		if i < 0 {
			return
		}
		at += i
		if at > 0 && !isBlank(text[at-1]) && text[at-1] != '(' && text[at-1] != ',' {
			at++
			continue
		}
		// The parser cuts text at every character that could be markup; a tag
		// goes on behind such a cut.
		end := at + 1
		letters := false
		for end < len(text) {
			r, size := utf8.DecodeRuneInString(text[end:])
			if unicode.IsLetter(r) {
				letters = true
			} else if !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '_' && r != '-' && r != '/' {
				break
			}
			end += size
		}
		// "#1" is the number of something, not a tag.
		if letters && end-at <= maxLabel {
			w.note.Tags = append(w.note.Tags, Tag{Name: text[at+1 : end], Span: Span{at, end}})
		}
		at = end
	}
}

// anchors finds id and name attributes in raw HTML.
func (w *walker) anchors(s text.Segment) {
	body := w.note.Text[s.Start:s.Stop]
	for at := 0; ; {
		i := strings.IndexByte(body[at:], '=')
		if i < 0 {
			return
		}
		at += i + 1
		name := strings.TrimRight(body[:at-1], " \t\r\n")
		name = name[max(0, len(name)-8):] // attribute names are longer only if they are not ours
		name = name[strings.LastIndexAny(name, " \t\r\n")+1:]
		if !strings.EqualFold(name, "id") && !strings.EqualFold(name, "name") {
			continue
		}
		j := skipBlankString(body, at)
		if j >= len(body) {
			return
		}
		var end int
		if q := body[j]; q == '"' || q == '\'' {
			j++
			end = strings.IndexByte(body[j:], q)
		} else {
			end = strings.IndexAny(body[j:], " \t\r\n>\"'")
		}
		if end > 0 {
			w.note.Anchors = append(w.note.Anchors, Anchor{ID: body[j : j+end], Span: Span{s.Start + j, s.Start + j + end}})
			at = j + end
		}
	}
}

func skipBlankString(s string, i int) int {
	for i < len(s) && isBlank(s[i]) {
		i++
	}
	return i
}
