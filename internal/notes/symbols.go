package notes

import "strings"

// A Symbol is a note, or a heading of one, found by its name.
type Symbol struct {
	Note    *Note
	Heading *Heading // nil for the note itself
	rank    int
}

// Name is the heading's text or the note's title.
func (s Symbol) Name() string {
	if s.Heading != nil {
		return s.Heading.Text
	}
	return s.Note.Title
}

func (s Symbol) line() int {
	if s.Heading == nil {
		return -1
	}
	return s.Heading.Line
}

func (s Symbol) compare(b Symbol) int {
	// Step by step: thousands are compared, and few as far as their paths.
	if s.rank != b.rank {
		return s.rank - b.rank
	}
	if x, y := len(s.Name()), len(b.Name()); x != y {
		return x - y
	}
	if s.Note != b.Note {
		return strings.Compare(s.Note.Path, b.Note.Path)
	}
	return s.line() - b.line()
}

// Symbols returns the notes and headings whose names have all the words of a
// query in them, in any case and order, the best matches first, at most limit of
// them; limit <= 0 means 100. An empty query lists notes. A heading that only
// repeats the title of its note is left out.
func (w *Workspace) Symbols(query string, limit int) []Symbol {
	if limit <= 0 {
		limit = 100
	}
	words := strings.Fields(strings.ToLower(query))
	if len(words) > maxWords {
		words = words[:maxWords]
	}
	slugs := make([]string, len(words))
	for i, word := range words {
		slugs[i] = Slugify(word)
	}
	best := top[Symbol]{limit: limit, compare: Symbol.compare}
	w.mu.RLock()
	defer w.mu.RUnlock()
	for i := range w.catalog {
		n := w.catalog[i].note
		_, title, _ := strings.Cut(w.catalog[i].fold, "\n")
		rank := allWords(title, words)
		if rank == noMatch && len(words) > 0 {
			rank = min(noMatch, allWords(w.catalog[i].fold, words)+4) // by path
		}
		if rank < noMatch {
			best.offer(Symbol{Note: n, rank: rank})
		}
		// A slug is the heading's text in lower case, made already.
		if len(words) == 0 || !holdsAll(n.slugs, slugs) {
			continue
		}
		for j := range n.Headings {
			h := &n.Headings[j]
			if rank := allWords(h.Slug, slugs); rank < noMatch && h.Text != n.Title && h.Text != "" {
				best.offer(Symbol{Note: n, Heading: h, rank: rank})
			}
		}
	}
	return best.finish()
}

// holdsAll reports whether a text holds all words, of which none is empty.
func holdsAll(text string, words []string) bool {
	for _, word := range words {
		if word == "" || !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// allWords is the worst rank of the words in a name, noMatch if one is missing.
func allWords(name string, words []string) (rank int) {
	for _, word := range words {
		rank = max(rank, matchRank(name, word))
	}
	return rank
}
