package notes

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"math/bits"
	"math/rand/v2"
)

// Weights of the parts of a note, in occurrences of plain text.
const (
	weightText    = 1
	weightTitle   = 8
	weightHeading = 3
	weightTag     = 6
	weightPath    = 4
)

// A termCount says how often a term, by its number, stands in a document.
type termCount struct {
	term  uint32
	count uint16
}

// A document holds the terms of a note, numbered by the counter that made it.
type document struct {
	terms  []termCount // the counter's, valid until it counts again
	length int
}

// pack returns the terms in a form that takes half the memory: two numbers of a
// few bits each for a term.
func (d document) pack(buf []byte) []byte {
	for _, t := range d.terms {
		buf = binary.AppendUvarint(buf, uint64(t.term))
		buf = binary.AppendUvarint(buf, uint64(t.count))
	}
	return buf
}

// unpack calls f with the terms that pack has packed.
func unpack(packed []byte, f func(term uint32, count uint16)) {
	for len(packed) > 0 {
		term, n := binary.Uvarint(packed)
		count, m := binary.Uvarint(packed[n:])
		packed = packed[n+m:]
		f(uint32(term), uint16(count))
	}
}

// A counter numbers terms and counts them in notes. Counting allocates for new
// terms only, which is what keeps the first index of a large folder fast.
type counter struct {
	table []termCell // hash table; its length is a power of two
	names []string
	terms []termCount // of the current document
	split splitter
	base  uint32 // terms of earlier documents since the cells were cleared
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

// newCounter returns a counter with room for the terms of so many notes: they
// have about eight each that no note before them had, until all words are known.
func newCounter(notes int) counter {
	return counter{table: make([]termCell, 1<<bits.Len(uint(min(max(16*notes, 1000), 60_000))))}
}

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

// count returns the terms of a note, valid until the next call.
func (c *counter) count(n *Note) document {
	d := document{terms: c.terms[:0]}
	add := func(text string, weight uint16) {
		c.split.terms(text, func(term []byte, _ int) bool {
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
