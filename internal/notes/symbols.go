package notes

import (
	"cmp"
	"slices"
	"strings"
)

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

func (s Symbol) compare(b Symbol) int {
	line := func(s Symbol) int {
		if s.Heading == nil {
			return -1
		}
		return s.Heading.Line
	}
	return cmp.Or(s.rank-b.rank, len(s.Name())-len(b.Name()), strings.Compare(s.Note.Path, b.Note.Path), line(s)-line(b))
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
	w.mu.RLock()
	defer w.mu.RUnlock()
	list := make([]Symbol, 0, 4*limit)
	add := func(s Symbol, rank int) {
		if rank >= noMatch {
			return
		}
		s.rank = rank
		if list = append(list, s); len(list) == cap(list) {
			slices.SortFunc(list, Symbol.compare)
			list = list[:limit]
		}
	}
	for _, e := range w.entries {
		n := e.note()
		_, title, _ := strings.Cut(n.fold, "\n")
		rank := allWords(title, words)
		if rank == noMatch && len(words) > 0 {
			rank = min(noMatch, allWords(n.fold, words)+4) // by path
		}
		add(Symbol{Note: n}, rank)
		if len(words) == 0 {
			continue
		}
		for i := range n.Headings {
			// A slug is the heading's text in lower case, made already.
			if h := &n.Headings[i]; h.Text != n.Title && h.Text != "" {
				rank := noMatch
				if !slices.Contains(slugs, "") {
					rank = allWords(h.Slug, slugs)
				}
				add(Symbol{Note: n, Heading: h}, rank)
			}
		}
	}
	slices.SortFunc(list, Symbol.compare)
	return list[:min(limit, len(list))]
}

// allWords is the worst rank of the words in a name, noMatch if one is missing.
func allWords(name string, words []string) (rank int) {
	for _, word := range words {
		rank = max(rank, matchRank(name, word))
	}
	return rank
}
