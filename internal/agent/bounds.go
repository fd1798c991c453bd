package agent

import (
	"strings"
	"unicode/utf8"
)

// Bounds of what one answer holds: a model reads all of it. What is left out can be asked for.
const (
	maxListed = 1000      // notes, links, headings, problems
	maxHits   = 100       // of a search
	maxTags   = 100       // of a note in a list
	maxText   = 256 << 10 // bytes of a note
	maxShort  = 500       // bytes of a title, a link or the like
)

// atMost is a limit that a client has asked for, 0 for none in particular.
func atMost(asked, usual, most int) int {
	if asked <= 0 {
		return usual
	}
	return min(asked, most)
}

// clip returns the beginning of a text that is too long, to the end of a line if there is one near.
func clip(text string) string {
	if len(text) <= maxText {
		return text
	}
	text = whole(text[:maxText])
	if i := strings.LastIndexByte(text, '\n'); i >= maxText/2 {
		return text[:i+1]
	}
	return text
}

// short is clip for what stands in a list.
func short(text string) string {
	if len(text) <= maxShort {
		return text
	}
	return whole(text[:maxShort]) + "…"
}

// whole drops the part of a character at the end.
func whole(text string) string {
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if c := text[len(text)-i]; utf8.RuneStart(c) {
			if !utf8.FullRuneInString(text[len(text)-i:]) {
				return text[:len(text)-i]
			}
			break
		}
	}
	return text
}
