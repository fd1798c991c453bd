package notes

import (
	"fmt"
	"strings"
)

// The marks between which a table of contents stands. Other spellings that
// programs use are found as well.
const (
	tocStart = "<!-- toc -->"
	tocEnd   = "<!-- /toc -->"
)

var (
	tocStarts = []string{"toc", "toc:start", "toc start", "table of contents"}
	tocEnds   = []string{"/toc", "toc:end", "toc end", "tocstop", "endtoc"}
)

// Contents returns the edit that brings the table of contents of a note up to
// date: a list of links to the headings of levels 2 to 4 below it, between two
// comments. If there are no such comments, found is false and the edit inserts a
// table at the offset's line. ok is false if the table is right as it is, or the
// note has no headings for it.
func (n *Note) Contents(offset int) (e Edit, found, ok bool) {
	start, end := n.comment(0, tocStarts), Span{}
	if start.Len() > 0 {
		if end = n.comment(start.End, tocEnds); end.Len() == 0 {
			return e, true, false // where it ends is anyone's guess
		}
	} else {
		line, _ := n.Position(offset)
		start = Span{n.Line(line).Start, n.Line(line).Start}
		end = start
	}
	brk := lineBreak(n, 0)
	list := n.contents(end.End, brk)
	if list == "" {
		return e, start.Len() > 0, false
	}
	if start.Len() == 0 {
		return Edit{start, tocStart + brk + brk + list + brk + tocEnd + brk}, false, true
	}
	e = Edit{Span{start.End, end.Start}, brk + brk + list + brk}
	return e, true, n.Slice(e.Span) != e.New
}

// comment finds a comment with one of the texts that stands alone on a line, at
// or after an offset and outside of code.
func (n *Note) comment(from int, texts []string) Span {
	for at := from; ; {
		i := strings.Index(n.Text[at:], "<!--")
		if i < 0 {
			return Span{}
		}
		at += i
		s := n.Line(lineOf(n.lines, at))
		body, shut := strings.CutSuffix(strings.TrimSpace(n.Slice(s)), "-->")
		body, open := strings.CutPrefix(body, "<!--")
		if open && shut && !inFence(n, s.Start) {
			for _, t := range texts {
				if strings.EqualFold(strings.TrimSpace(body), t) {
					return trimSpan(n.Text, s)
				}
			}
		}
		at += len("<!--")
	}
}

// contents lists the headings behind an offset.
func (n *Note) contents(from int, brk string) string {
	top := 7
	var list []Heading
	for _, h := range n.Headings {
		if h.Span.Start >= from && h.Level >= 2 && h.Level <= 4 && h.Text != "" {
			list = append(list, h)
			top = min(top, h.Level)
		}
	}
	var b strings.Builder
	for _, h := range list {
		anchor := h.Slug
		if h.ID != "" {
			anchor = h.ID
		}
		fmt.Fprintf(&b, "%s- [%s](#%s)%s", strings.Repeat("  ", h.Level-top), escapeText(h.Text), EscapePath(anchor), brk)
	}
	return b.String()
}

// escapeText makes a plain text one that a link can show.
func escapeText(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune("\\`*_[]<>&", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
