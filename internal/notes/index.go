package notes

import (
	"math"
	"slices"
	"sort"
	"strings"
	"sync"
)

// A posting says how often a term stands in a document: the number of the
// document in the upper bits, the count in the others. Most of the memory of an
// index are postings. Counts end at maxCount, where more of a word makes no
// difference to relevance.
type posting uint32

const (
	countBits = 10
	maxCount  = 1<<countBits - 1
	maxDocs   = 1 << (32 - countBits) // four times maxNotes: renumber keeps dead documents in check
)

func newPosting(doc uint32, count uint16) posting {
	return posting(doc<<countBits | uint32(min(count, maxCount)))
}

func (p posting) doc() uint32    { return uint32(p) >> countBits }
func (p posting) count() float64 { return float64(p & maxCount) }

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
	counter counter
	lists   []postings        // by term number
	sorted  []uint32          // term numbers in the order of their names ...
	covered int               // ... of the terms numbered below this
	sizes   []byte            // lengths of their names, in that order
	docs    []*Note           // by document number; nil when dead
	lengths []int32           // by document number
	numbers map[string]uint32 // path -> number of the live document
	total   int64             // sum of the lengths of live documents
	scores  []score           // by document number; all zero between searches
	touched []uint32          // the documents of the last search, for its memory

	// What norms was worked out for: remove and renumber change one of these.
	norms     []float64
	normed    int
	normTotal int64
	normLive  int

	pendingMu sync.Mutex
	pending   map[string]struct{}
}

func newSearchIndex() *searchIndex {
	return &searchIndex{
		counter: newCounter(0),
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
	if len(x.pending) == 0 {
		return nil
	}
	p := x.pending
	x.pending = make(map[string]struct{})
	return p
}

// A counted is a document of the first index.
type counted struct {
	note   *Note
	packed []byte // its terms
	length int
	worker int // whose counter numbered its terms
}

// fill builds the index of the documents that several counters have counted, of
// which names are the terms. Lists of the length that is needed, all in one piece
// of memory, cost much less than lists that grow. The first search finds
// everything worked out.
func (x *searchIndex) fill(list []counted, names [][]string) {
	x.counter = newCounter(len(list))
	own := make([][]uint32, len(names)) // number of a counter's term in the index
	for worker := range names {
		own[worker] = make([]uint32, len(names[worker]))
		for i, name := range names[worker] {
			own[worker][i] = x.counter.find([]byte(name), true).id - 1
		}
	}
	sizes := make([]int, len(x.counter.names))
	total := 0
	for _, c := range list {
		unpack(c.packed, func(term uint32, _ uint16) {
			sizes[own[c.worker][term]]++
			total++
		})
	}
	slab := make([]posting, total)
	x.lists = make([]postings, len(sizes))
	for id, size := range sizes {
		x.lists[id] = postings{slab[:0:size], 2*size + 4}
		slab = slab[size:]
	}
	x.docs = slices.Grow(x.docs, len(list))
	x.lengths = slices.Grow(x.lengths, len(list))
	x.scores = slices.Grow(x.scores, len(list))
	for i, c := range list {
		number := x.number(c.note, c.length)
		unpack(c.packed, func(term uint32, count uint16) {
			p := &x.lists[own[c.worker][term]]
			p.list = append(p.list, newPosting(number, count))
		})
		list[i].packed = nil // the collector may have it
	}
	x.sortTerms()
	x.normalize()
}

// remove marks the document of a path as dead.
func (x *searchIndex) remove(p string) {
	if number, ok := x.numbers[p]; ok {
		x.total -= int64(x.lengths[number])
		x.docs[number] = nil
		x.lengths[number] = 0
		delete(x.numbers, p)
	}
}

// number gives a note the number of a new document.
func (x *searchIndex) number(n *Note, length int) uint32 {
	number := uint32(len(x.docs))
	x.docs = append(x.docs, n)
	x.lengths = append(x.lengths, int32(min(length, math.MaxInt32)))
	x.scores = append(x.scores, score{})
	x.numbers[n.Path] = number
	x.total += int64(length)
	return number
}

// add adds a document counted by the index's own counter.
func (x *searchIndex) add(n *Note, d document) {
	number := x.number(n, d.length)
	for len(x.lists) < len(x.counter.names) {
		x.lists = append(x.lists, postings{grown: 4})
	}
	for _, t := range d.terms {
		p := &x.lists[t.term]
		if len(p.list) >= p.grown {
			p.list = slices.DeleteFunc(p.list, func(q posting) bool { return x.docs[q.doc()] == nil })
			p.grown = 2*len(p.list) + 4
		}
		p.list = append(p.list, newPosting(number, t.count))
	}
}

// renumber gives new numbers to documents and terms once most documents are
// dead, which drops the dead ones and the terms nobody uses any more.
func (x *searchIndex) renumber() {
	if len(x.docs) < 2*len(x.numbers)+4096 {
		return
	}
	docs, lengths, lists, names := x.docs, x.lengths, x.lists, x.counter.names
	x.docs = make([]*Note, 0, len(x.numbers))
	x.lengths = make([]int32, 0, len(x.numbers))
	renamed := make([]uint32, len(docs))
	for number, n := range docs {
		if n != nil {
			renamed[number] = uint32(len(x.docs))
			x.numbers[n.Path] = uint32(len(x.docs))
			x.docs = append(x.docs, n)
			x.lengths = append(x.lengths, lengths[number])
		}
	}
	x.scores = make([]score, len(x.docs))
	x.counter, x.lists, x.sorted, x.covered = newCounter(0), nil, nil, 0
	for term, p := range lists {
		live := p.list[:0]
		for _, q := range p.list {
			if docs[q.doc()] != nil {
				live = append(live, newPosting(renamed[q.doc()], uint16(q.count())))
			}
		}
		if len(live) > 0 {
			x.counter.find([]byte(names[term]), true)
			x.lists = append(x.lists, postings{live, 2*len(live) + 4})
		}
	}
}

// catchUp takes in the edits since the last search. The caller holds x.mu.
func (w *Workspace) catchUp() {
	x := w.search
	for p := range x.takePending() {
		n, ok := w.At(p)
		if number, had := x.numbers[p]; had && ok && x.docs[number].Text == n.Text {
			x.docs[number] = n
			continue
		}
		x.remove(p)
		if ok {
			x.add(n, x.counter.count(n))
		}
	}
	x.renumber()
}

// sortTerms brings sorted up to date with the terms that have come.
func (x *searchIndex) sortTerms() {
	names := x.counter.names
	if x.covered == len(names) {
		return
	}
	compare := func(a, b uint32) int { return strings.Compare(names[a], names[b]) }
	tail := make([]uint32, 0, len(names)-x.covered)
	for id := x.covered; id < len(names); id++ {
		tail = append(tail, uint32(id))
	}
	slices.SortFunc(tail, compare)
	merged := make([]uint32, 0, len(names))
	for a, b := x.sorted, tail; len(a)+len(b) > 0; {
		if len(b) == 0 || len(a) > 0 && compare(a[0], b[0]) < 0 {
			merged, a = append(merged, a[0]), a[1:]
		} else {
			merged, b = append(merged, b[0]), b[1:]
		}
	}
	x.sorted, x.covered = merged, len(names)
	x.sizes = slices.Grow(x.sizes[:0], len(merged))
	for _, id := range merged {
		x.sizes = append(x.sizes, byte(min(len(names[id]), math.MaxUint8)))
	}
}

// longer returns the terms that begin with prefix and are longer, the shortest
// first and then by name, at most limit of them. The caller holds x.mu.
func (x *searchIndex) longer(prefix string, limit int) []uint32 {
	x.sortTerms()
	names := x.counter.names
	from, _ := slices.BinarySearchFunc(x.sorted, prefix, func(id uint32, p string) int { return strings.Compare(names[id], p) })
	terms := x.sorted[from:]
	to := sort.Search(len(terms), func(i int) bool { return !strings.HasPrefix(names[terms[i]], prefix) })
	terms, sizes := terms[:to], x.sizes[from:from+to]
	// A common beginning has thousands of them. So find the length up to which they
	// are wanted before any is looked at.
	var counts [256]int
	for i, size := range sizes {
		if int(size) > len(prefix) && x.inUse(terms[i]) {
			counts[size]++
		}
	}
	last, wanted := 0, limit
	for last < len(counts)-1 && counts[last] < wanted {
		wanted -= counts[last]
		last++
	}
	var list []uint32
	for i, size := range sizes {
		switch {
		case int(size) <= len(prefix) || int(size) > last || !x.inUse(terms[i]):
			continue
		case int(size) == last:
			if wanted == 0 {
				continue
			}
			wanted--
		}
		list = append(list, terms[i])
	}
	slices.SortStableFunc(list, func(a, b uint32) int { return len(names[a]) - len(names[b]) })
	return list
}

// inUse reports whether a live document holds a term.
func (x *searchIndex) inUse(term uint32) bool {
	if int(term) >= len(x.lists) {
		return false
	}
	list := x.lists[term].list
	if len(x.numbers) == len(x.docs) {
		return len(list) > 0
	}
	return slices.ContainsFunc(list, func(q posting) bool { return x.lengths[q.doc()] > 0 })
}
