package notes

import (
	"hash/maphash"
	"math"
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
	table []uint64 // hash table: the hash's upper half, and 1 + the number of a term; its length is a power of two
	names []string
	slots []uint32    // 1 + index of a term in the current document
	terms []termCount // of the current document
}

func newCounter() counter { return counter{table: make([]uint64, 1<<10)} }

var termSeed = maphash.MakeSeed()

// find returns the number of a term, and with add gives it one. It is a map made
// for this: half of the time of the first index went into a general one.
func (c *counter) find(term []byte, add bool) (id uint32, ok bool) {
	hash := maphash.Bytes(termSeed, term)
	mask := uint64(len(c.table) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		e := c.table[at]
		if e == 0 {
			if !add {
				return 0, false
			}
			id = uint32(len(c.names))
			c.table[at] = hash&^math.MaxUint32 | uint64(id+1)
			c.names = append(c.names, string(term))
			c.slots = append(c.slots, 0)
			if 2*len(c.names) > len(c.table) {
				c.grow()
			}
			return id, true
		}
		if id = uint32(e) - 1; e>>32 == hash>>32 && c.names[id] == string(term) {
			return id, true
		}
	}
}

func (c *counter) grow() {
	c.table = make([]uint64, 2*len(c.table))
	mask := uint64(len(c.table) - 1)
	for id, name := range c.names {
		hash := maphash.String(termSeed, name)
		at := hash & mask
		for c.table[at] != 0 {
			at = (at + 1) & mask
		}
		c.table[at] = hash&^math.MaxUint32 | uint64(id+1)
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
	for _, t := range d.terms {
		c.slots[t.term] = 0
	}
	c.terms = d.terms
	d.terms = slices.Clone(d.terms)
	return d
}

func (c *counter) add(d *document, term []byte, weight uint16) {
	d.length++
	id, _ := c.find(term, true)
	if slot := c.slots[id]; slot > 0 {
		t := &d.terms[slot-1]
		t.count = min(t.count, math.MaxUint16-weight) + weight
		return
	}
	d.terms = append(d.terms, termCount{id, weight})
	c.slots[id] = uint32(len(d.terms))
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

// A translation maps the term numbers of another counter to those of the index.
type translation struct{ ids []uint32 } // 1 + number; 0 when not yet known

// put adds a document that another counter has counted; name gives the names of
// that counter's terms.
func (x *searchIndex) put(n *Note, d document, tr *translation, name func(uint32) string) {
	for i, t := range d.terms {
		for int(t.term) >= len(tr.ids) {
			tr.ids = append(tr.ids, 0)
		}
		id := tr.ids[t.term]
		if id == 0 {
			s := name(t.term)
			own, _ := x.counter.find([]byte(s), true)
			id = own + 1
			tr.ids[t.term] = id
		}
		d.terms[i].term = id - 1
	}
	x.add(n, d)
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
