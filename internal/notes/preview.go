package notes

import "strings"

// Bounds of a preview.
const (
	previewLines = 12
	previewBytes = 1200
)

// Preview returns a short Markdown excerpt of a note for a hover or a list: the
// heading's section, or with a nil heading the note's beginning without its
// front matter. It ends at a line, closes a code fence it opened, and says "…"
// where text was left out.
func Preview(n *Note, h *Heading) string {
	s := Span{0, len(n.Text)}
	if h != nil {
		s = h.Section
	} else if front, _ := frontMatter(n.Text); front.Len() > 0 {
		s.Start = front.End
	}
	var b strings.Builder
	fence := ""
	lines := 0
	cut := false
	for at := s.Start; at < s.End; {
		line, next := cutLine(n.Text[:s.End], at)
		text := strings.TrimPrefix(n.Slice(line), "\uFEFF")
		trimmed := strings.TrimLeft(text, " ")
		if lines == 0 && trimmed == "" { // no blank lines at the start
			at = next
			continue
		}
		if lines >= previewLines || b.Len()+len(text) > previewBytes {
			if room := previewBytes - b.Len(); lines == 0 {
				b.WriteString(strings.ToValidUTF8(text[:min(room, len(text))], ""))
				b.WriteByte('\n')
			}
			cut = true
			break
		}
		if mark := fenceMark(trimmed); mark != "" {
			switch {
			case fence == "":
				fence = mark
			case strings.HasPrefix(mark, fence) && strings.Trim(trimmed, mark[:1]+" \t") == "":
				fence = ""
			}
		}
		b.WriteString(text)
		b.WriteByte('\n')
		lines++
		at = next
	}
	out := strings.TrimRight(b.String(), "\n")
	if fence != "" {
		out += "\n" + fence
	}
	if cut {
		out += "\n\n…"
	}
	return out
}

// fenceMark returns the run of backticks or tildes that opens a code fence.
func fenceMark(line string) string {
	if len(line) < 3 || line[0] != '`' && line[0] != '~' {
		return ""
	}
	n := 0
	for n < len(line) && line[n] == line[0] {
		n++
	}
	if n < 3 {
		return ""
	}
	return line[:n]
}
