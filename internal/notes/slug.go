package notes

import (
	"strconv"
	"strings"
	"unicode"
)

// Slugify returns the anchor GitHub would give to a heading with this plain
// text: lower case, letters, digits, '_' and '-' kept, each blank a '-', the
// rest dropped.
func Slugify(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range strings.TrimSpace(text) {
		switch {
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-' || r == '_':
			b.WriteByte(byte(r))
		case r == ' ' || r == '\t' || r == '\n':
			b.WriteByte('-')
		case 'A' <= r && r <= 'Z':
			b.WriteByte(byte(r) + 'a' - 'A')
		case r >= 0x80 && (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)):
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// slugger makes slugs unique within one note: the second "usage" becomes
// "usage-1".
type slugger struct {
	next map[string]int // slug -> number the next equal one tries first
}

func (s *slugger) slug(text string) string {
	base := Slugify(text)
	if s.next == nil {
		s.next = make(map[string]int)
	}
	n, taken := s.next[base]
	if !taken {
		s.next[base] = 1
		return base
	}
	// A heading "Usage 1" may have taken "usage-1" already; the stored counter
	// keeps a note of a hundred thousand equal headings linear.
	for {
		slug := base + "-" + strconv.Itoa(n)
		n++
		if _, taken := s.next[slug]; !taken {
			s.next[base] = n
			s.next[slug] = 1
			return slug
		}
	}
}
