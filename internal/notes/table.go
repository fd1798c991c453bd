package notes

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// FormatTables returns the edits that give the pipe tables of a note columns of
// equal width. Only tables that reach into the span are touched; text, number
// and alignment of cells stay, and so does everything that is no table.
func (n *Note) FormatTables(within Span) []Edit {
	var edits []Edit
	for _, b := range n.Blocks() {
		if b.Kind != TableBlock || b.Span.Len() > maxTable || b.Span.End < within.Start || b.Span.Start > within.End {
			continue
		}
		if text := formatTable(n, b); text != n.Slice(b.Span) {
			edits = append(edits, Edit{b.Span, text})
		}
	}
	return edits
}

type alignment uint8

const (
	alignNone alignment = iota
	alignLeft
	alignRight
	alignCenter
)

// maxColumn bounds the width to which cells are filled up: one long cell shall
// not blow up all the others.
const maxColumn = 80

// Beyond these a table is nothing that people look at as one: it is left alone,
// or its short rows are not filled up.
const (
	maxTable = 256 << 10 // bytes
	maxFill  = 64        // columns
)

func formatTable(n *Note, b Block) string {
	marks, _ := delimiters(n.Slice(n.Line(b.First + 1)))
	rows := make([][]string, 0, b.Last-b.First)
	widths := make([]int, len(marks))
	for i := range widths {
		widths[i] = 3
	}
	for line := b.First; line <= b.Last; line++ {
		if line == b.First+1 {
			continue
		}
		row := cells(n.Slice(n.Line(line)))
		for i, cell := range row {
			if i < len(widths) {
				widths[i] = min(max(widths[i], width(cell)), maxColumn)
			}
		}
		rows = append(rows, row)
	}
	head := n.Slice(n.Line(b.First))
	indent := head[:len(head)-len(strings.TrimLeft(head, " \t"))]
	end := lineBreak(n, b.First)
	var out strings.Builder
	for i, row := range rows {
		if i > 0 {
			out.WriteString(end)
		}
		out.WriteString(indent)
		filled := len(row)
		if len(marks) <= maxFill {
			filled = max(filled, len(marks))
		}
		for j := range filled {
			cell, w, align := "", 0, alignNone
			if j < len(row) {
				cell = row[j]
			}
			if j < len(marks) {
				w, align = widths[j], marks[j]
			}
			out.WriteString("| ")
			pad(&out, cell, w, align)
			out.WriteByte(' ')
		}
		out.WriteByte('|')
		if i == 0 {
			out.WriteString(end)
			out.WriteString(indent)
			for j, mark := range marks {
				out.WriteString("| ")
				rule(&out, widths[j], mark)
				out.WriteByte(' ')
			}
			out.WriteByte('|')
		}
	}
	return out.String()
}

func pad(out *strings.Builder, cell string, w int, align alignment) {
	room := max(0, w-width(cell))
	left := 0
	switch align {
	case alignRight:
		left = room
	case alignCenter:
		left = room / 2
	}
	out.WriteString(strings.Repeat(" ", left))
	out.WriteString(cell)
	out.WriteString(strings.Repeat(" ", room-left))
}

func rule(out *strings.Builder, w int, mark alignment) {
	before, after := "-", "-"
	if mark == alignLeft || mark == alignCenter {
		before = ":"
	}
	if mark == alignRight || mark == alignCenter {
		after = ":"
	}
	out.WriteString(before + strings.Repeat("-", w-2) + after)
}

// lineBreak returns the line break at the end of a line.
func lineBreak(n *Note, line int) string {
	if end := n.Line(line).End; end < len(n.Text) && n.Text[end] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// cells splits a row of a table at its pipes. A pipe behind a backslash does not
// separate; one within backticks does, as GitHub has it.
func cells(row string) []string {
	row = strings.TrimSpace(row)
	row = strings.TrimPrefix(row, "|")
	var list []string
	start := 0
	for i := 0; i < len(row); i++ {
		switch row[i] {
		case '\\':
			i++
		case '|':
			list = append(list, strings.TrimSpace(row[start:i]))
			start = i + 1
		}
	}
	if rest := strings.TrimSpace(row[start:]); rest != "" || len(list) == 0 {
		list = append(list, rest)
	}
	return list
}

// delimiters reads the second row of a table.
func delimiters(row string) ([]alignment, bool) {
	if !strings.Contains(row, "-") {
		return nil, false
	}
	var list []alignment
	for _, cell := range cells(row) {
		dashes := strings.TrimSuffix(strings.TrimPrefix(cell, ":"), ":")
		if dashes == "" || strings.Trim(dashes, "-") != "" {
			return nil, false
		}
		mark := alignNone
		if cell[0] == ':' {
			mark = alignLeft
		}
		if cell[len(cell)-1] == ':' {
			mark += alignRight
		}
		list = append(list, mark)
	}
	return list, true
}

// width is how many columns a text takes in a font of equal width.
func width(s string) (n int) {
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			n++
		case unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Cf, r):
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || 0xFF00 <= r && r <= 0xFF60 || 0x1F300 <= r && r <= 0x1FAFF:
			n += 2
		default:
			n++
		}
	}
	return n
}
