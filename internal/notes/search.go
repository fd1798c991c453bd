package notes

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// A Hit is one note that a search found.
type Hit struct {
	Note    *Note
	Score   float64
	Line    int    // 0-based line of the best place in the note
	Span    Span   // the term found there; empty if only title, path or tag matched
	Snippet string // that line, shortened, one line of text
}

// Search returns the notes that match a query, best first, at most limit of
// them; limit <= 0 means 20. Words match without regard to case, also as the
// beginning of a longer word; #tag matches the tag alone. Notes with more of the
// words come before notes with fewer, then relevance counts (BM25 over text,
// title, headings, tags and path), then the path, so equal queries over equal
// notes give equal answers. Unsaved text is searched like saved text.
func (w *Workspace) Search(query string, limit int) []Hit {
	if limit <= 0 {
		limit = 20
	}
	words := queryTerms(query)
	if len(words) == 0 {
		return nil
	}
	x := w.search
	x.mu.Lock()
	w.catchUp()
	best := top[ranked]{limit: limit, compare: ranked.compare}
	for _, number := range x.score(words) {
		s := &x.scores[number]
		best.offer(ranked{x.docs[number], s.matched, s.score})
		*s = score{}
	}
	x.mu.Unlock()
	hits := make([]Hit, 0, len(best.list))
	for _, r := range best.finish() {
		h := Hit{Note: r.note, Score: math.Round(r.score*1000) / 1000}
		h.locate(words)
		hits = append(hits, h)
	}
	return hits
}

// A ranked is a note found with what it is ranked by.
type ranked struct {
	note    *Note
	matched int32
	score   float64
}

func (a ranked) compare(b ranked) int {
	// Step by step: thousands are compared, and few as far as their paths.
	if a.matched != b.matched {
		return cmp.Compare(b.matched, a.matched)
	}
	if a.score != b.score {
		return cmp.Compare(b.score, a.score)
	}
	return strings.Compare(a.note.Path, b.note.Path)
}

// maxWords bounds the words of a query that count.
const maxWords = 32

// queryTerms returns the distinct terms of a query.
func queryTerms(query string) []string {
	query = query[:min(len(query), 4096)]
	var words []string
	add := func(t string) {
		if len(words) < maxWords && !slices.Contains(words, t) {
			words = append(words, t)
		}
	}
	for _, field := range strings.Fields(query) {
		if name, ok := strings.CutPrefix(field, "#"); ok && name != "" {
			add(tagTerm(name))
			continue
		}
		terms(field, func(t []byte, _ int) bool {
			add(string(t))
			return true
		})
	}
	return words
}

type score struct {
	score   float64
	matched int32 // words of the query found
	word    int32 // 1 + index of the last word counted in matched
}

// The usual constants of BM25.
const bm25K, bm25B = 1.2, 0.75

// score sums in x.scores the weight of each word over the documents that hold
// it and returns those documents. The caller holds x.mu and clears the scores.
func (x *searchIndex) score(words []string) []uint32 {
	live := float64(len(x.numbers))
	norms := x.normalize()
	touched := x.touched[:0]
	for i, word := range words {
		matches := x.matching(word)
		// A word and the longer words it begins share one rarity: "deploy" typed
		// by somebody means the common word, not the rare "deployability".
		with := 0
		for _, m := range matches {
			with += x.living(m.list)
		}
		df := min(float64(with), live)
		idf := math.Log(1 + (live-df+0.5)/(df+0.5))
		for _, m := range matches {
			weight := m.factor * idf * (bm25K + 1)
			for _, q := range m.list {
				norm := norms[q.doc()]
				if norm == 0 {
					continue // dead
				}
				s := &x.scores[q.doc()]
				if s.word == 0 {
					touched = append(touched, q.doc())
				}
				tf := q.count()
				s.score += weight * tf / (tf + norm)
				if s.word != int32(i)+1 {
					s.word = int32(i) + 1
					s.matched++
				}
			}
		}
	}
	x.touched = touched
	return touched
}

// normalize returns, by document number, what BM25 adds to a term's count for
// the length of its document; 0 for a dead document. They are worked out anew
// only after an edit.
func (x *searchIndex) normalize() []float64 {
	if x.normed == len(x.docs) && x.normTotal == x.total && x.normLive == len(x.numbers) {
		return x.norms
	}
	average := max(float64(x.total)/max(float64(len(x.numbers)), 1), 1)
	x.norms = slices.Grow(x.norms[:0], len(x.docs))[:len(x.docs)]
	for number, length := range x.lengths {
		x.norms[number] = 0
		if length > 0 {
			x.norms[number] = bm25K * (1 - bm25B + bm25B*float64(length)/average)
		}
	}
	x.normed, x.normTotal, x.normLive = len(x.docs), x.total, len(x.numbers)
	return x.norms
}

// living counts the postings of live documents.
func (x *searchIndex) living(list []posting) int {
	if len(x.numbers) == len(x.docs) {
		return len(list)
	}
	n := 0
	for _, q := range list {
		if x.lengths[q.doc()] > 0 {
			n++
		}
	}
	return n
}

type match struct {
	list   []posting
	factor float64
}

// maxExpand bounds the longer words a word of a query stands for.
const maxExpand = 64

// matching returns the postings of a word and, counting less, of the words it
// begins, shortest first, in a fixed order.
func (x *searchIndex) matching(word string) []match {
	var list []match
	if e := x.counter.find([]byte(word), false); e != nil && int(e.id) <= len(x.lists) {
		list = append(list, match{x.lists[e.id-1].list, 1})
	}
	if len(word) < 2 || word[0] == '#' {
		return list
	}
	for _, id := range x.longer(word, maxExpand) {
		list = append(list, match{x.lists[id].list, 0.4})
	}
	return list
}

// maxLocate bounds the bytes of a note in which the best line is looked for.
const maxLocate = 256 << 10

// locate finds the line of the note that holds most of the words, the first of
// equals.
func (h *Hit) locate(words []string) {
	n := h.Note
	best, line, mask := 0, -1, uint32(0)
	lineEnd, first := -1, Span{}
	terms(n.Text[:min(len(n.Text), maxLocate)], func(t []byte, at int) bool {
		if at > lineEnd {
			line = lineOf(n.lines, at)
			lineEnd = n.Line(line).End
			mask = 0
		}
		for i, word := range words {
			word = strings.TrimPrefix(word, "#")
			if len(t) < len(word) || string(t[:len(word)]) != word {
				continue
			}
			if mask == 0 {
				first = Span{at, min(at+len(word), len(n.Text))}
			}
			mask |= 1 << i
		}
		count := 0
		for m := mask; m != 0; m &= m - 1 {
			count++
		}
		if count > best {
			best, h.Line, h.Span = count, line, first
		}
		return best < len(words)
	})
	if best == 0 {
		if len(n.Headings) > 0 {
			h.Line = n.Headings[0].Line
		}
	}
	h.Snippet = snippet(n, h.Line, h.Span)
}

const maxSnippet = 160 // bytes, give or take a character

// snippet returns a line, or the part of it around a span.
func snippet(n *Note, line int, at Span) string {
	s := n.Line(line)
	text := n.Slice(s)
	if len(text) > maxSnippet {
		from := 0
		if at.Len() > 0 {
			from = max(0, min(at.Start-s.Start-maxSnippet/3, len(text)-maxSnippet))
		}
		cut := strings.ToValidUTF8(text[from:min(len(text), from+maxSnippet)], "")
		if from > 0 {
			cut = "…" + cut
		}
		if from+maxSnippet < len(text) {
			cut += "…"
		}
		text = cut
	}
	return strings.TrimSpace(text)
}
