package notes

import "strings"

// BlockKind tells what a Block is.
type BlockKind uint8

// The kinds of blocks.
const (
	FrontBlock   BlockKind = iota // front matter
	FenceBlock                    // fenced code
	TableBlock                    // a pipe table
	ListBlock                     // a list, or an item of several lines
	CommentBlock                  // an HTML comment of several lines
)

// A Block is a run of whole lines that belong together.
type Block struct {
	Kind        BlockKind
	First, Last int  // 0-based lines, both of the block
	Span        Span // from the first line to the end of the last, without its line break
}

// Blocks returns the blocks of a note of more than one line, in the order of
// their first lines. Blocks lie within each other or beside each other, they do
// not overlap. They are found line by line, in linear time.
func (n *Note) Blocks() []Block {
	b := blockScan{n: n}
	at := 0
	if front, _ := frontMatter(n.Text); front.Len() > 0 {
		last, _ := n.Position(front.End - 1)
		b.add(FrontBlock, 0, last)
		at = last + 1
	}
	for at < n.Lines() {
		at = b.line(at)
	}
	b.closeItems(0, n.Lines()-1)
	return b.list
}

type blockScan struct {
	n     *Note
	list  []Block
	items []openItem // list items that the current line may belong to
}

type openItem struct {
	block  int // index in list; its last line is not known yet
	indent int
}

func (b *blockScan) add(kind BlockKind, first, last int) int {
	b.list = append(b.list, Block{kind, first, last, Span{b.n.Line(first).Start, b.n.Line(last).End}})
	return len(b.list) - 1
}

// closeItems ends the open list items that are indented by at least indent.
func (b *blockScan) closeItems(indent, last int) {
	for len(b.items) > 0 && b.items[len(b.items)-1].indent >= indent {
		i := b.items[len(b.items)-1].block
		b.items = b.items[:len(b.items)-1]
		for last > b.list[i].First && strings.TrimSpace(b.n.Slice(b.n.Line(last))) == "" {
			last--
		}
		b.list[i].Last, b.list[i].Span.End = last, b.n.Line(last).End
		if last == b.list[i].First && i == len(b.list)-1 {
			b.list = b.list[:i] // of one line
		}
	}
}

// line looks at a line that begins no block or one, and returns the line to go
// on with.
func (b *blockScan) line(at int) int {
	raw := b.n.Slice(b.n.Line(at))
	text := strings.TrimLeft(raw, " \t")
	indent := columns(raw[:len(raw)-len(text)])
	switch {
	case text == "":
		return at + 1
	case len(b.items) > 0 && indent <= b.items[len(b.items)-1].indent:
		if blank := at > 0 && strings.TrimSpace(b.n.Slice(b.n.Line(at-1))) == ""; isItem(text) || blank || text[0] == '#' || fenceMark(text) != "" {
			b.closeItems(indent, at-1)
		}
	}
	if mark := fenceMark(text); mark != "" {
		last := b.until(at+1, func(line string) bool {
			line = strings.TrimSpace(line)
			return strings.HasPrefix(line, mark) && strings.Trim(line, mark[:1]) == ""
		})
		if last > at {
			b.add(FenceBlock, at, last)
		}
		return last + 1
	}
	if strings.HasPrefix(text, "<!--") && !strings.Contains(text, "-->") {
		if last := b.until(at+1, func(line string) bool { return strings.Contains(line, "-->") }); last > at {
			b.add(CommentBlock, at, last)
			return last + 1
		}
	}
	if last := b.table(at); last > at {
		b.add(TableBlock, at, last)
		return last + 1
	}
	if isItem(text) && len(b.items) < maxNesting {
		b.items = append(b.items, openItem{b.add(ListBlock, at, at), indent})
	}
	return at + 1
}

// until returns the first line from at on that ends a block, else the last one.
func (b *blockScan) until(at int, ends func(string) bool) int {
	for ; at < b.n.Lines(); at++ {
		if ends(b.n.Slice(b.n.Line(at))) {
			return at
		}
	}
	return b.n.Lines() - 1
}

// table returns the last line of the table that begins on line at, or a smaller
// number if there is none.
func (b *blockScan) table(at int) int {
	head := b.n.Slice(b.n.Line(at))
	if at+1 >= b.n.Lines() || !strings.Contains(head, "|") || columns(head[:len(head)-len(strings.TrimLeft(head, " \t"))]) > 3 {
		return at - 1
	}
	if marks, ok := delimiters(b.n.Slice(b.n.Line(at + 1))); !ok || len(marks) != len(cells(head)) {
		return at - 1
	}
	last := at + 1
	for last+1 < b.n.Lines() {
		row := strings.TrimSpace(b.n.Slice(b.n.Line(last + 1)))
		if row == "" || fenceMark(row) != "" || strings.HasPrefix(row, "#") || strings.HasPrefix(row, ">") || !strings.Contains(row, "|") {
			break
		}
		last++
	}
	return last
}

// columns returns the width of blanks, with tabs to every fourth column.
func columns(blanks string) (n int) {
	for _, c := range blanks {
		if c == '\t' {
			n += 4 - n%4
		} else {
			n++
		}
	}
	return n
}

// isItem reports whether a line without its indentation begins a list item.
func isItem(text string) bool {
	if text == "" {
		return false
	}
	i := 1
	switch c := text[0]; {
	case c == '-' || c == '+' || c == '*':
	case '0' <= c && c <= '9':
		for i < len(text) && i < 9 && '0' <= text[i] && text[i] <= '9' {
			i++
		}
		if i == len(text) || text[i] != '.' && text[i] != ')' {
			return false
		}
		i++
	default:
		return false
	}
	return i < len(text) && (text[i] == ' ' || text[i] == '\t')
}
