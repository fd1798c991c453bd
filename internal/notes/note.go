package notes

import (
	"sort"
	"strings"
)

// A Span is a half-open range [Start, End) of byte offsets into Note.Text.
// Offsets always fall on UTF-8 boundaries, because Note.Text is valid UTF-8.
type Span struct {
	Start, End int
}

// Len returns the length of the span in bytes.
func (s Span) Len() int { return s.End - s.Start }

// Contains reports whether offset lies in the span. The end counts as inside:
// a cursor behind the last character of a link is still on the link.
func (s Span) Contains(offset int) bool { return s.Start <= offset && offset <= s.End }

// A Note is one Markdown file as it was at one moment. A Note never changes
// after it was handed out: an edit makes a new Note. Every field, slices
// included, is read-only for callers, which makes a Note safe to share between
// goroutines without a lock.
type Note struct {
	Path  string // slash-separated, relative to the root: "guides/first day.md"
	Slug  string // stable unique name, see SlugOf
	Title string // front matter title, else first heading, else the file name
	Text  string // the whole text, always valid UTF-8

	// Version is a hash of Text. It is equal for equal texts, on every machine
	// and in every process, and serves as the expected version of a write.
	Version string

	Overlay     bool  // Text is unsaved text given to SetOverlay, not the file's
	EditVersion int32 // the version given to SetOverlay; 0 without an overlay

	// Repaired is set when the file was not valid UTF-8: each bad byte run
	// stands as U+FFFD in Text, so offsets into Text are not offsets into the
	// file.
	Repaired bool

	Headings    []Heading    // in document order
	Links       []Link       // ordered by Span.Start
	Definitions []Definition // link reference definitions in document order
	Tags        []Tag        // front matter tags first, then #tags of the text
	Front       []Field      // front matter in document order
	Anchors     []Anchor     // ids given by raw HTML

	// With few headings, or anchors, a look at all of them does for a map.
	headingBy map[string]int32 // slug, id and id in lower case -> index
	anchorBy  map[string]int32 // id -> index

	slugs string   // of the headings, a line each
	lines []uint32 // offset of the first byte of each line
	keys  []string // what the links point at, see linkKeys
	fold  string   // path and title in lower case
}

// A Heading is an ATX or setext heading.
type Heading struct {
	Level   int    // 1 to 6
	Text    string // plain text: emphasis, escapes and link targets removed
	Slug    string // anchor, unique in the note, made the way GitHub does
	ID      string // explicit anchor of a trailing {#id}, or ""
	Line    int    // 0-based line on which the heading begins
	Span    Span   // the whole heading, without the final line break
	Name    Span   // the heading's text as written, what a rename replaces
	Section Span   // from the heading to the next one of the same or a higher level
}

// LinkKind tells how a link is written.
type LinkKind uint8

// The ways to write a link.
const (
	Inline    LinkKind = iota // [text](destination)
	Reference                 // [text][label], [label][] and [label]
	Wiki                      // [[name]], [[name#heading]] and [[name|text]]
	Auto                      // <https://example.org>
)

// String returns the kind's name in lower case.
func (k LinkKind) String() string {
	switch k {
	case Inline:
		return "inline"
	case Reference:
		return "reference"
	case Wiki:
		return "wiki"
	case Auto:
		return "auto"
	}
	return "unknown"
}

// A Link is one link or image of a note.
type Link struct {
	Kind  LinkKind
	Image bool   // ![alt](destination) and ![[name]]
	Text  string // what stands between the brackets, as written
	Label string // label of a Reference link
	Dest  string // destination with backslash escapes and entities resolved
	Line  int    // 0-based line on which the link begins

	Span Span // the whole link

	// DestSpan is the destination as written, without angle brackets. For a
	// Reference link it lies in the definition, for a Wiki link it is the name
	// with its heading. It is empty when there is no destination.
	DestSpan Span
}

// A Definition is a link reference definition: [label]: destination "title".
type Definition struct {
	Label     string
	Dest      string
	Line      int // 0-based
	Span      Span
	LabelSpan Span // without brackets
	DestSpan  Span
	Used      bool // some link of the note refers to it
}

// A Tag is a #tag of the text or an entry of the front matter's tags.
type Tag struct {
	Name string // without '#', as written
	Span Span   // of the name with its '#'; of the entry in front matter
}

// A Field is one entry of the front matter. A scalar has one value, a list as
// many as it has entries.
type Field struct {
	Key    string
	Values []string
	Spans  []Span // one for each value
	Span   Span   // the key
}

// An Anchor is an id or name attribute in raw HTML, a possible target of a
// link's fragment.
type Anchor struct {
	ID   string
	Span Span
}

// Lines returns the number of lines. A text that ends in a line break has an
// empty last line, as editors show it.
func (n *Note) Lines() int { return len(n.lines) }

// Line returns the span of the 0-based line without its line break. Lines that
// do not exist give an empty span at the nearest end of the text.
func (n *Note) Line(line int) Span {
	if line < 0 {
		return Span{}
	}
	if line >= len(n.lines) {
		return Span{len(n.Text), len(n.Text)}
	}
	start, end := int(n.lines[line]), len(n.Text)
	if line+1 < len(n.lines) {
		end = int(n.lines[line+1]) - 1
	}
	if end > start && n.Text[end-1] == '\r' {
		end--
	}
	return Span{start, end}
}

// Position returns the 0-based line and the byte column in it of an offset. An
// offset outside the text is clamped.
func (n *Note) Position(offset int) (line, column int) {
	offset = min(max(offset, 0), len(n.Text))
	line = lineOf(n.lines, offset)
	return line, offset - int(n.lines[line])
}

// Slice returns the text of a span, clamped to the text.
func (n *Note) Slice(s Span) string {
	start := min(max(s.Start, 0), len(n.Text))
	return n.Text[start:min(max(s.End, start), len(n.Text))]
}

// LinkAt returns the innermost link that holds the offset.
func (n *Note) LinkAt(offset int) (Link, bool) {
	// Links begin in order and only an image can lie in a link, so the last one
	// that begins at or before the offset and reaches it is the innermost.
	i := sort.Search(len(n.Links), func(i int) bool { return n.Links[i].Span.Start > offset })
	for back := 0; i > 0 && back < 64; back++ {
		i--
		if n.Links[i].Span.Contains(offset) {
			return n.Links[i], true
		}
	}
	return Link{}, false
}

// DefinitionAt returns the definition that holds the offset.
func (n *Note) DefinitionAt(offset int) (Definition, bool) {
	i := sort.Search(len(n.Definitions), func(i int) bool { return n.Definitions[i].Span.End >= offset })
	if i < len(n.Definitions) && n.Definitions[i].Span.Contains(offset) {
		return n.Definitions[i], true
	}
	return Definition{}, false
}

// HeadingAt returns the heading whose section holds the offset, the innermost
// if several do.
func (n *Note) HeadingAt(offset int) (*Heading, bool) {
	i := sort.Search(len(n.Headings), func(i int) bool { return n.Headings[i].Span.Start > offset })
	if i == 0 {
		return nil, false
	}
	return &n.Headings[i-1], true
}

// Heading returns the heading an anchor names: by slug or explicit id, without
// regard to case if nothing matches exactly, as people expect.
func (n *Note) Heading(anchor string) (*Heading, bool) {
	i, ok := n.headingAt(anchor)
	if !ok {
		i, ok = n.headingAt(strings.ToLower(anchor))
	}
	if !ok {
		return nil, false
	}
	return &n.Headings[i], true
}

func (n *Note) headingAt(key string) (i int32, ok bool) {
	if n.headingBy != nil {
		i, ok = n.headingBy[key]
		return i, ok
	}
	n.eachAnchor(func(k string, j int) bool {
		i, ok = int32(j), k == key
		return !ok
	})
	return i, ok
}

// eachAnchor calls f with what can stand for a heading and its index, what goes
// before first, until it returns false.
func (n *Note) eachAnchor(f func(key string, i int) bool) {
	for i := range n.Headings { // unique, and in lower case already
		if slug := n.Headings[i].Slug; slug != "" && !f(slug, i) {
			return
		}
	}
	for i := range n.Headings {
		if id := n.Headings[i].ID; id != "" && !f(id, i) {
			return
		}
	}
	for i := range n.Headings {
		if id := n.Headings[i].ID; id != "" && !f(strings.ToLower(id), i) {
			return
		}
	}
}

// Anchor returns the raw HTML anchor with this id, exactly.
func (n *Note) Anchor(id string) (*Anchor, bool) {
	if n.anchorBy != nil {
		i, ok := n.anchorBy[id]
		if !ok {
			return nil, false
		}
		return &n.Anchors[i], true
	}
	for i := range n.Anchors {
		if n.Anchors[i].ID == id {
			return &n.Anchors[i], true
		}
	}
	return nil, false
}

// fewAnchors is up to how many headings or anchors a note needs no map of them.
const fewAnchors = 12

// indexAnchors fills the maps behind Heading and Anchor. A note may have a
// hundred thousand headings and as many links to them.
func (n *Note) indexAnchors() {
	if len(n.Headings) > fewAnchors {
		n.headingBy = make(map[string]int32, len(n.Headings))
		n.eachAnchor(func(key string, i int) bool {
			if _, taken := n.headingBy[key]; !taken {
				n.headingBy[key] = int32(i)
			}
			return true
		})
	}
	if len(n.Anchors) > fewAnchors {
		n.anchorBy = make(map[string]int32, len(n.Anchors))
		for i := range n.Anchors {
			if _, taken := n.anchorBy[n.Anchors[i].ID]; !taken {
				n.anchorBy[n.Anchors[i].ID] = int32(i)
			}
		}
	}
}

// joinSlugs puts the slugs of the headings into one piece of memory, in which
// one look tells that a note has no heading with some word.
func (n *Note) joinSlugs() {
	size := 0
	for i := range n.Headings {
		size += len(n.Headings[i].Slug) + 1
	}
	var b strings.Builder
	b.Grow(size)
	for i := range n.Headings {
		b.WriteString(n.Headings[i].Slug)
		b.WriteByte('\n')
	}
	n.slugs = b.String()
	at := 0
	for i := range n.Headings {
		h := &n.Headings[i]
		h.Slug = n.slugs[at : at+len(h.Slug)]
		at += len(h.Slug) + 1
	}
}

// lineOf returns the index of the line that holds offset.
func lineOf(lines []uint32, offset int) int {
	return sort.Search(len(lines), func(i int) bool { return int(lines[i]) > offset }) - 1
}

// lineStarts returns the offset of the first byte of each line.
func lineStarts(text string) []uint32 {
	lines := make([]uint32, 1, strings.Count(text, "\n")+1)
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			return lines
		}
		at += i + 1
		lines = append(lines, uint32(at))
	}
}
