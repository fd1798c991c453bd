package notes

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
)

// Weights of the parts of a note, in occurrences of plain text.
const (
	weightText    = 1
	weightTitle   = 8
	weightHeading = 3
	weightTag     = 6
	weightPath    = 4
)

// A posting says how often a term stands in a document.
type posting struct {
	doc   uint32
	count uint16
}

// A termCount is a posting seen from its document.
type termCount struct {
	term  uint32
	count uint16
}

// A document holds the terms of a note, numbered by the counter that made it.
type document struct {
	terms  []termCount
	length int
}

// A counter numbers terms and counts them in notes. Counting allocates for new
// terms only, which is what keeps the first index of a large folder fast.
type counter struct {
	table []termCell // hash table; its length is a power of two
	names []string
	terms []termCount // of the current document
	base  uint32      // terms of earlier documents since the cells were cleared
}

// A termCell is all that a term seen before needs, side by side in memory:
// looking terms up is most of the time of counting.
type termCell struct {
	key  termKey
	id   uint32 // 1 + number of the term; 0 for an empty cell
	slot uint32 // base + 1 + index in terms, if larger than base
}

// A termKey stands for a term. A term of up to shortTerm bytes is its own key,
// which no other has; of longer ones with equal keys the names have to be compared.
type termKey struct{ a, b uint64 }

const shortTerm = 16

func newCounter() counter { return counter{table: make([]termCell, 1<<10)} }

var (
	termSeed = maphash.MakeSeed()
	mixSeed  = [2]uint64{rand.Uint64(), rand.Uint64()}
)

func keyOf(term []byte) termKey {
	if len(term) > shortTerm {
		return termKey{maphash.Bytes(termSeed, term), math.MaxUint64} // no UTF-8 looks so
	}
	var buf [shortTerm]byte
	copy(buf[:], term)
	return termKey{binary.LittleEndian.Uint64(buf[:8]), binary.LittleEndian.Uint64(buf[8:])}
}

// firstCell returns where in a table of a power of two of cells the search for a
// key begins. Nobody can choose words that all begin in one place.
func (k termKey) firstCell(cells int) int {
	hi, lo := bits.Mul64(k.a^mixSeed[0], k.b^mixSeed[1])
	hi, lo = bits.Mul64(hi^lo^mixSeed[0], 0x9E3779B97F4A7C15)
	return int((hi ^ lo) & uint64(cells-1))
}

// find returns the cell of a term, and with add gives it one. The cell is valid
// until the next call. It is a map made for this: half of the time of the first
// index went into a general one.
func (c *counter) find(term []byte, add bool) *termCell {
	key := keyOf(term)
	for at := key.firstCell(len(c.table)); ; at = (at + 1) & (len(c.table) - 1) {
		e := &c.table[at]
		if e.id == 0 {
			if !add {
				return nil
			}
			c.names = append(c.names, string(term))
			*e = termCell{key: key, id: uint32(len(c.names))}
			if 2*len(c.names) > len(c.table) {
				c.grow()
				return c.find(term, false)
			}
			return e
		}
		if e.key == key && (len(term) <= shortTerm || c.names[e.id-1] == string(term)) {
			return e
		}
	}
}

func (c *counter) grow() {
	old := c.table
	c.table = make([]termCell, 2*len(old))
	for _, e := range old {
		if e.id == 0 {
			continue
		}
		at := e.key.firstCell(len(c.table))
		for c.table[at].id != 0 {
			at = (at + 1) & (len(c.table) - 1)
		}
		c.table[at] = e
	}
}

// count returns the terms of a note.
func (c *counter) count(n *Note) document {
	d := document{terms: c.terms[:0]}
	add := func(text string, weight uint16) {
		terms(text, func(term []byte, _ int) bool {
			c.add(&d, term, weight)
			return true
		})
	}
	add(n.Text, weightText)
	add(n.Title, weightTitle)
	add(n.Path, weightPath)
	for _, h := range n.Headings {
		add(h.Text, weightHeading)
	}
	for _, t := range n.Tags {
		add(t.Name, weightTag)
		c.add(&d, []byte(tagTerm(t.Name)), weightTag)
	}
	c.terms = d.terms
	if c.base += uint32(len(d.terms)); c.base > math.MaxUint32/2 {
		c.base = 0
		for i := range c.table {
			c.table[i].slot = 0
		}
	}
	d.terms = slices.Clone(d.terms)
	return d
}

func (c *counter) add(d *document, term []byte, weight uint16) {
	d.length++
	e := c.find(term, true)
	if e.slot > c.base {
		t := &d.terms[e.slot-c.base-1]
		t.count = min(t.count, math.MaxUint16-weight) + weight
		return
	}
	d.terms = append(d.terms, termCount{e.id - 1, weight})
	e.slot = c.base + uint32(len(d.terms))
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
	counter counter
	lists   []postings        // by term number
	sorted  []uint32          // term numbers in the order of their names ...
	covered int               // ... of the terms numbered below this
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
		counter: newCounter(),
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
	doc    document
	worker int // whose counter numbered its terms
}

// fill builds the index of the documents that several counters have counted, of
// which names are the terms. Lists of the length that is needed, all in one piece
// of memory, cost much less than lists that grow.
func (x *searchIndex) fill(list []counted, names [][]string) {
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
		for _, t := range c.doc.terms {
			sizes[own[c.worker][t.term]]++
		}
		total += len(c.doc.terms)
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
	for _, c := range list {
		for i := range c.doc.terms {
			c.doc.terms[i].term = own[c.worker][c.doc.terms[i].term]
		}
		x.add(c.note, c.doc)
	}
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

// add adds a document counted by the index's own counter.
func (x *searchIndex) add(n *Note, d document) {
	number := uint32(len(x.docs))
	x.docs = append(x.docs, n)
	x.lengths = append(x.lengths, int32(min(d.length, math.MaxInt32)))
	x.scores = append(x.scores, score{})
	x.numbers[n.Path] = number
	x.total += int64(d.length)
	for len(x.lists) < len(x.counter.names) {
		x.lists = append(x.lists, postings{grown: 4})
	}
	for _, t := range d.terms {
		p := &x.lists[t.term]
		if len(p.list) >= p.grown {
			p.list = slices.DeleteFunc(p.list, func(q posting) bool { return x.docs[q.doc] == nil })
			p.grown = 2*len(p.list) + 4
		}
		p.list = append(p.list, posting{number, t.count})
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
	x.counter, x.lists, x.sorted, x.covered = newCounter(), nil, nil, 0
	for term, p := range lists {
		live := p.list[:0]
		for _, q := range p.list {
			if docs[q.doc] != nil {
				live = append(live, posting{renamed[q.doc], q.count})
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

// longer calls f, in order, with the terms that begin with prefix and are
// longer. The caller holds x.mu.
func (x *searchIndex) longer(prefix string, f func(id uint32)) {
	names := x.counter.names
	compare := func(a, b uint32) int { return strings.Compare(names[a], names[b]) }
	if x.covered < len(names) {
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
	}
	i, _ := slices.BinarySearchFunc(x.sorted, prefix, func(id uint32, p string) int { return strings.Compare(names[id], p) })
	for ; i < len(x.sorted) && strings.HasPrefix(names[x.sorted[i]], prefix); i++ {
		if len(names[x.sorted[i]]) > len(prefix) {
			f(x.sorted[i])
		}
	}
}
