package notes

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
)

// A Hit is one note that a search found.
type Hit struct {
	Note    *Note
	Score   float64
	Line    int    // 0-based line of the best place in the note
	Span    Span   // the term found there; empty if only title, path or tag matched
	Snippet string // that line, shortened, one line of text
}

// Weights of the parts of a note, in occurrences of plain text.
const (
	weightTitle   = 8
	weightHeading = 3
	weightTag     = 6
	weightPath    = 4
)

// A document is what the index knows of a note.
type document struct {
	counts map[string]uint16
	length int
}

// newDocument counts the terms of a note. It takes no lock, so that many notes
// are counted at once.
func newDocument(n *Note) *document {
	d := &document{counts: make(map[string]uint16, min(len(n.Text)/12, 1<<16))}
	add := func(text string, weight uint16) {
		terms(text, func(term []byte, _ int) bool {
			if c, ok := d.counts[string(term)]; !ok {
				d.counts[string(term)] = weight
			} else if c < math.MaxUint16-weight {
				d.counts[string(term)] = c + weight
			}
			d.length++
			return true
		})
	}
	add(n.Text, 1)
	add(n.Title, weightTitle)
	add(n.Path, weightPath)
	for _, h := range n.Headings {
		add(h.Text, weightHeading)
	}
	for _, t := range n.Tags {
		add(t.Name, weightTag)
		d.counts[tagTerm(t.Name)] = weightTag
	}
	return d
}

// A posting says how often a term stands in a document.
type posting struct {
	doc   uint32
	count uint16
}

type postings struct {
	list []posting
	// grown is the length at which dead postings are dropped next. Doubling it
	// each time makes dropping cost nothing on average.
	grown int
}

// A searchIndex is an inverted index. A note that changes gets a new document
// number; what the old number left behind is ignored and dropped in passing, so
// that an edit costs only the terms of its note. Edits are taken in by the next
// search: typing costs nothing here.
type searchIndex struct {
	mu      sync.Mutex
	terms   map[string]*postings
	docs    []*Note // by document number; nil when dead
	lengths []int32
	numbers map[string]uint32 // path -> document number
	total   int64             // sum of the lengths of live documents

	pendingMu sync.Mutex
	pending   map[string]struct{}
}

func newSearchIndex() *searchIndex {
	return &searchIndex{
		terms:   make(map[string]*postings),
		numbers: make(map[string]uint32),
		pending: make(map[string]struct{}),
	}
}

// touch notes that the document at path is out of date.
func (x *searchIndex) touch(p string) {
	x.pendingMu.Lock()
	x.pending[p] = struct{}{}
	x.pendingMu.Unlock()
}

func (x *searchIndex) takePending() map[string]struct{} {
	x.pendingMu.Lock()
	defer x.pendingMu.Unlock()
	p := x.pending
	if len(p) > 0 {
		x.pending = make(map[string]struct{})
	}
	return p
}

// put adds the note as a new document in place of the one with its path.
func (x *searchIndex) put(n *Note, d *document) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.remove(n.Path)
	x.add(n, d)
}

func (x *searchIndex) remove(p string) {
	if number, ok := x.numbers[p]; ok {
		x.total -= int64(x.lengths[number])
		x.docs[number] = nil
		delete(x.numbers, p)
	}
}

func (x *searchIndex) add(n *Note, d *document) {
	number := uint32(len(x.docs))
	x.docs = append(x.docs, n)
	x.lengths = append(x.lengths, int32(min(d.length, math.MaxInt32)))
	x.numbers[n.Path] = number
	x.total += int64(d.length)
	for term, count := range d.counts {
		p := x.terms[term]
		if p == nil {
			p = &postings{grown: 4}
			x.terms[term] = p
		}
		if len(p.list) >= p.grown {
			p.list = slices.DeleteFunc(p.list, func(q posting) bool { return x.docs[q.doc] == nil })
			p.grown = 2*len(p.list) + 4
		}
		p.list = append(p.list, posting{number, count})
	}
}

// renumber rebuilds the document numbers once most of them are dead, and drops
// terms nobody uses any more.
func (x *searchIndex) renumber() {
	if len(x.docs) < 2*len(x.numbers)+4096 {
		return
	}
	renamed := make([]uint32, len(x.docs))
	docs, lengths := make([]*Note, 0, len(x.numbers)), make([]int32, 0, len(x.numbers))
	for old, n := range x.docs {
		if n != nil {
			renamed[old] = uint32(len(docs))
			x.numbers[n.Path] = uint32(len(docs))
			docs, lengths = append(docs, n), append(lengths, x.lengths[old])
		}
	}
	for term, p := range x.terms {
		live := p.list[:0]
		for _, q := range p.list {
			if x.docs[q.doc] != nil {
				live = append(live, posting{renamed[q.doc], q.count})
			}
		}
		if p.list = live; len(live) == 0 {
			delete(x.terms, term)
		}
	}
	x.docs, x.lengths = docs, lengths
}

// catchUp takes in the edits since the last search. The caller holds x.mu.
func (w *Workspace) catchUp() {
	x := w.search
	for p := range x.takePending() {
		n, ok := w.At(p)
		if number, had := x.numbers[p]; had && ok && x.docs[number] == n {
			continue
		}
		x.remove(p)
		if ok {
			x.add(n, newDocument(n))
		}
	}
	x.renumber()
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
	scores := x.score(words)
	type scored struct {
		note    *Note
		matched int
		score   float64
	}
	var found []scored
	for number, s := range scores {
		found = append(found, scored{x.docs[number], s.matched, s.score})
	}
	x.mu.Unlock()
	slices.SortFunc(found, func(a, b scored) int {
		return cmp.Or(b.matched-a.matched, cmp.Compare(b.score, a.score), strings.Compare(a.note.Path, b.note.Path))
	})
	hits := make([]Hit, 0, min(limit, len(found)))
	for _, f := range found[:min(limit, len(found))] {
		h := Hit{Note: f.note, Score: math.Round(f.score*1000) / 1000}
		h.locate(words)
		hits = append(hits, h)
	}
	return hits
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
	matched int
	word    int // 1 + index of the last word counted in matched
}

// score sums the weight of each word over the documents that hold it. The
// caller holds x.mu.
func (x *searchIndex) score(words []string) map[uint32]*score {
	const k, b = 1.2, 0.75 // the usual constants of BM25
	result := make(map[uint32]*score)
	if len(x.numbers) == 0 {
		return result
	}
	average := max(float64(x.total)/float64(len(x.numbers)), 1)
	for i, word := range words {
		matches := x.matching(word)
		// A word and the longer words it begins share one rarity: "deploy" typed
		// by somebody means the common word, not the rare "deployability".
		live := 0
		for _, m := range matches {
			for _, q := range m.list {
				if x.docs[q.doc] != nil {
					live++
				}
			}
		}
		live = min(live, len(x.numbers))
		idf := math.Log(1 + (float64(len(x.numbers)-live)+0.5)/(float64(live)+0.5))
		for _, m := range matches {
			for _, q := range m.list {
				if x.docs[q.doc] == nil {
					continue
				}
				s := result[q.doc]
				if s == nil {
					s = new(score)
					result[q.doc] = s
				}
				tf := float64(q.count)
				s.score += m.factor * idf * tf * (k + 1) / (tf + k*(1-b+b*float64(x.lengths[q.doc])/average))
				if s.word != i+1 {
					s.word = i + 1
					s.matched++
				}
			}
		}
	}
	return result
}

type match struct {
	list   []posting
	factor float64
}

// maxExpand bounds the longer words a word of a query stands for.
const maxExpand = 64

// matching returns the postings of a word and, counting less, of the words it
// begins, in a fixed order.
func (x *searchIndex) matching(word string) []match {
	var list []match
	if p := x.terms[word]; p != nil {
		list = append(list, match{p.list, 1})
	}
	if len(word) < 2 || word[0] == '#' {
		return list
	}
	var longer []string
	for term := range x.terms {
		if len(term) > len(word) && strings.HasPrefix(term, word) {
			longer = append(longer, term)
		}
	}
	slices.SortFunc(longer, func(a, b string) int {
		return cmp.Or(len(a)-len(b), strings.Compare(a, b))
	})
	for _, term := range longer[:min(maxExpand, len(longer))] {
		list = append(list, match{x.terms[term].list, 0.4})
	}
	return list
}

// locate finds the line of the note that holds most of the words, the first of
// equals.
func (h *Hit) locate(words []string) {
	n := h.Note
	best, line, mask := 0, -1, uint32(0)
	lineEnd, first := -1, Span{}
	terms(n.Text, func(t []byte, at int) bool {
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
