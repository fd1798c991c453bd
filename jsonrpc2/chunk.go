package jsonrpc2

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

const (
	chunkSize  = 64 << 10 // what a read on a pipe gives at most, and room for hundreds of usual messages
	pooledSize = 2 << 20  // larger ones go to the garbage collector, so one huge message does not stay in memory for ever
)

// chunk is a piece of input that messages are read from without being copied. It is counted: the stream that fills it has one reference, and
// so has each message that outlives its turn on the goroutine that reads. The last one to let go recycles it. A chunk of which somebody keeps
// bytes for good is never recycled and left to the garbage collector.
type chunk struct {
	buf  []byte
	refs atomic.Int32
	kept atomic.Bool
}

// One pool for each size: four steps from every power of two to the next, from chunkSize to pooledSize, since a chunk that is kept costs its whole size. The
// garbage collector empties a sync.Pool, so memory taken for a burst of large messages is given back.
var chunkPools [21]sync.Pool

// chunkClass returns the pool for chunks of at least n bytes and their size, or -1 and n.
func chunkClass(n int) (class, size int) {
	if n <= chunkSize {
		return 0, chunkSize
	}
	if n > pooledSize {
		return -1, n
	}
	const unit = chunkSize / 4
	units := (n + unit - 1) / unit
	octave := bits.Len(uint(units-1)) - 3
	steps := (units + 1<<octave - 1) >> octave // 5 to 8
	return 4*octave + steps - 4, unit * steps << octave
}

// newChunk returns a chunk of at least n bytes with one reference.
func newChunk(n int) *chunk {
	class, size := chunkClass(n)
	if class >= 0 {
		if c, ok := chunkPools[class].Get().(*chunk); ok {
			c.refs.Store(1)
			return c
		}
	}
	c := &chunk{buf: make([]byte, size)}
	c.refs.Store(1)
	return c
}

// retain adds a reference. The caller has one already, or is the reader.
func (c *chunk) retain() { c.refs.Add(1) }

// release lets go of a reference. After the last one no byte of the chunk may be looked at.
func (c *chunk) release() {
	n := c.refs.Add(-1)
	if n > 0 || c.kept.Load() {
		return
	}
	if poison && n < 0 {
		panic("jsonrpc2: chunk released twice")
	}
	scribble(c.buf)
	if class, _ := chunkClass(len(c.buf)); class >= 0 {
		chunkPools[class].Put(c)
	}
}

// keep gives bytes of the chunk away for good. The caller has a reference, or is the reader.
func (c *chunk) keep() { c.kept.Store(true) }

// alone reports whether nobody but its only holder, the reader, can see the chunk's bytes. No one else can make this false.
func (c *chunk) alone() bool { return c.refs.Load() == 1 && !c.kept.Load() }

// own reports whether the chunk was made for one large message.
func (c *chunk) own() bool { return len(c.buf) > chunkSize }
