package notes

import (
	"bytes"
	"strings"
)

// Limits on the shape of a text. They are far beyond what people write and keep
// the parser linear, and its stack small, on texts that nobody wrote by hand.
const (
	maxNesting  = 32   // container markers at the start of one line
	maxIndent   = 128  // columns of indentation before a container marker
	maxBlankRun = 4    // blank lines in a row that stay separate
	maxOpen     = 900  // bytes for which an open bracket waits once another opens
	maxDest     = 2048 // bytes of an inline destination
	maxParens   = 32   // parentheses open in an inline destination
	maxFront    = 64 << 10
	maxLabel    = 999 // CommonMark's own limit
)

// mask makes dst, a copy of text of the same length, ready for the Markdown
// parser: what must not be parsed, or would cost more than linear time, is
// overwritten in place, so that every offset stays true.
func mask(dst []byte, text string, front Span) []byte {
	dst = append(dst[:0], text...)
	if strings.HasPrefix(text, "\uFEFF") {
		copy(dst, "   ") // as three blanks a heading may still follow
	}
	for i := front.Start; i < front.End; i++ {
		if dst[i] != '\n' {
			dst[i] = ' '
		}
	}
	blank := 0 // blank lines seen in a row
	for at := 0; at < len(dst); {
		end := len(dst)
		if i := bytes.IndexByte(dst[at:], '\n'); i >= 0 {
			end = at + i
		}
		line := dst[at:end]
		if maskLine(line) {
			blank = 0
		} else if blank++; blank > maxBlankRun && at > 0 {
			// Join the run into one long blank line: in a deep list each blank
			// line costs the parser a visit of every open block.
			dst[at-1] = ' '
		}
		at = end + 1
	}
	return dst
}

// maskLine flattens nesting beyond the limits and reports whether the line has
// anything but blanks.
func maskLine(line []byte) bool {
	i, column, nesting := 0, 0, 0
	for i < len(line) {
		switch c := line[i]; {
		case c == ' ' || c == '\r':
			column++
			i++
			continue
		case c == '\t':
			column += 4
			i++
			continue
		case c == '>':
			i++
		case c == '-' || c == '+' || c == '*':
			if i+1 < len(line) && line[i+1] != ' ' && line[i+1] != '\t' && line[i+1] != '\r' {
				return true
			}
			i++
		case '0' <= c && c <= '9':
			j := i + 1
			for j < len(line) && j < i+10 && '0' <= line[j] && line[j] <= '9' {
				j++
			}
			if j == len(line) || line[j] != '.' && line[j] != ')' {
				return true
			}
			i = j + 1
		default:
			return true
		}
		if nesting++; nesting > maxNesting || column > maxIndent {
			line[i-1] = 'x'
			return true
		}
	}
	return nesting > 0
}
