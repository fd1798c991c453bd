package jsonrpc2

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	minRoom       = 4 << 10 // a read for less than this is not worth its system call: the rest of a chunk is given up
	maxEmptyReads = 100     // reads in a row that return nothing and no error
)

// limits are what Options say about frames.
type limits struct{ maxFrame, maxHeader int }

// stream is the Transport of a byte stream. All but Close, Write and writeRaw belongs to whoever reads at the moment.
//
// The input stands in cur.buf[r:w]. next takes whole messages out of it and fill reads more into it; a message that does not fit in what is
// left of the chunk moves to another one, which is the only time its bytes are copied.
type stream struct {
	rwc     io.ReadWriteCloser
	framing Framing
	lim     limits

	cur   *chunk // nil until the first fill and after the last
	r, w  int
	scan  int   // of the bytes from r on, how many have been searched for LF
	begun bool  // the place of the byte order mark is behind us
	eof   bool  // the input has ended: what is here is all there is
	err   error // what fill returns when the input is used up
	fatal error // what next returned and will always return

	skipping bool  // Lines: drop everything up to LF
	skip     int64 // Header: bytes of a refused body that are still to be dropped
	need     int   // Header: bytes of the body that comes next, -1 while in the header block
	head     head

	out    []byte // of Write
	closed atomic.Bool
	once   sync.Once
	cerr   error
}

var _ Transport = (*stream)(nil)

// setLimits is called before the first read. Limits below 1 are the defaults.
func (s *stream) setLimits(l limits) {
	if l.maxFrame < 1 {
		l.maxFrame = DefaultMaxFrame
	}
	if l.maxHeader < 1 {
		l.maxHeader = DefaultMaxHeader
	}
	const most = math.MaxInt / 4 // so that no sum of limits and sizes overflows
	s.lim = limits{min(l.maxFrame, most), min(l.maxHeader, most)}
}

// Read implements Transport.
func (s *stream) Read() ([]byte, error) {
	for {
		frame, ok, err := s.next()
		if ok || err != nil {
			return frame, err
		}
		if err := s.fill(); err != nil {
			return nil, err
		}
	}
}

// next returns the next whole message that is already here. No message and no error: call fill. A *MessageError is followed by more messages,
// any other error is final.
func (s *stream) next() (frame []byte, ok bool, err error) {
	if s.r == s.w && !s.eof || s.fatal != nil {
		return nil, false, s.fatal
	}
	if !s.begun && !s.begin() {
		return nil, false, nil
	}
	if s.framing == Header {
		return s.nextBody()
	}
	return s.nextLine()
}

// begin skips a byte order mark. It reports false if it has not seen enough.
func (s *stream) begin() bool {
	const bom = "\xEF\xBB\xBF"
	p := s.input()
	if len(p) < len(bom) && !s.eof && bom[:len(p)] == string(p) {
		return false
	}
	if bytes.HasPrefix(p, []byte(bom)) {
		s.r += len(bom)
	}
	s.begun = true
	return true
}

// input is what has been read and not been returned.
func (s *stream) input() []byte {
	if s.cur == nil {
		return nil
	}
	return s.cur.buf[s.r:s.w]
}

// buffered is the size of input.
func (s *stream) buffered() int { return s.w - s.r }

// Buffered is what Transport says about it.
func (s *stream) Buffered() int { return s.buffered() }

// chunk returns the chunk that holds the message last returned by next.
func (s *stream) chunk() *chunk { return s.cur }

// lose ends the stream.
func (s *stream) lose(err *FrameError) error {
	s.fatal = err
	return err
}

// fill reads once, waiting for input. It invalidates the message last returned by next, unless its chunk was retained. After the end of the
// input next has a last say, then fill returns io.EOF.
func (s *stream) fill() error {
	switch {
	case s.fatal != nil:
		s.drop()
		return s.fatal
	case s.err != nil:
		s.drop()
		return s.err
	}
	p := s.room()
	for range maxEmptyReads {
		n, err := s.rwc.Read(p)
		if n < 0 || n > len(p) {
			n, err = 0, fmt.Errorf("reader returned %d for %d bytes", n, len(p))
		}
		s.w += n
		switch {
		case err == nil:
		case s.closed.Load():
			s.err = io.EOF // whatever a read says after its file was closed under it
		case errors.Is(err, io.EOF):
			s.eof, s.err = true, io.EOF
		default:
			s.err = fmt.Errorf("read: %w", err)
		}
		switch {
		case n > 0 || s.eof && s.inside():
			return nil
		case s.err != nil:
			s.drop()
			return s.err
		}
	}
	s.err = fmt.Errorf("read: %w", io.ErrNoProgress)
	s.drop()
	return s.err
}

// inside reports whether the input so far ends inside a message or a header block.
func (s *stream) inside() bool {
	return s.w > s.r || s.head.size > 0 || s.need > 0 || s.skip > 0
}

// drop gives the last chunk back. No message in it is in use any more, or its chunk was retained.
func (s *stream) drop() {
	if s.cur != nil {
		s.cur.release()
		s.cur, s.r, s.w, s.scan = nil, 0, 0, 0
	}
}

// room returns where the next read goes, after it has made room there.
func (s *stream) room() []byte {
	have := s.w - s.r
	most := s.lim.maxFrame + 2 // what the message that is being read can need: with CR and LF
	want := have + minRoom     // what it needs now
	if s.framing == Header {
		if most = s.need; s.need < 0 {
			most = s.lim.maxHeader + 2
		}
		if most <= chunkSize && s.need > 0 {
			want = most
		}
	}
	c := s.cur
	switch {
	case c == nil:
	case have == 0 && c.alone() && !c.own():
		// The usual case: all was handled on the goroutine that reads. The same bytes again are the ones that are in the cache.
		scribble(c.buf[:s.w])
		s.r, s.w = 0, 0
		return c.buf
	case c.own() && s.r > 0 && have < chunkSize/2:
		// The large message has been taken, this is the beginning of another one. Do not hold on to so much memory for it.
	case s.r+want <= len(c.buf):
		return s.limit(c)
	case c.own() && s.r == 0 && have < len(c.buf) && len(c.buf) >= most:
		return s.limit(c) // cannot need more than it has
	case want <= chunkSize && have <= chunkSize/2 && c.alone() && !c.own():
		copy(c.buf, c.buf[s.r:s.w])
		scribble(c.buf[max(have, s.r):s.w])
		s.r, s.w = 0, have
		return c.buf[have:]
	}
	n := newChunk(s.grow(have, want, most))
	if c != nil {
		copy(n.buf, c.buf[s.r:s.w])
		c.release()
	}
	s.cur, s.r, s.w = n, 0, have
	return s.limit(n)
}

// grow returns the size of the next chunk for a message of which have bytes are here, that needs want now and most in the end.
func (s *stream) grow(have, want, most int) int {
	if want <= chunkSize && (have <= chunkSize/2 || want == most) {
		return chunkSize
	}
	// Memory follows what has come, not what was announced: a filled chunk earns a pooled one, large at once when the announced size is, in two
	// steps when it is unknown. What does not fit in those is not kept for the next message, and doubles.
	size := 4 * have
	switch {
	case s.need > 0 && most <= pooledSize:
		size = most
	case have > pooledSize/2:
		size = 2 * have
	case s.need < 0 && have > 2*chunkSize:
		size = pooledSize
	}
	return max(min(size, most), have+1)
}

// limit returns the part of c that is read into. The end of a body in a chunk of its own is the end of the read, so that the message after it
// starts in a fresh chunk and the large one is free as soon as it was handled.
func (s *stream) limit(c *chunk) []byte {
	if end := s.r + s.need; s.need > 0 && c.own() && s.w < end && end < len(c.buf) {
		return c.buf[s.w:end]
	}
	return c.buf[s.w:]
}

// appendOpen appends what stands before a message of n bytes.
func (s *stream) appendOpen(dst []byte, n int) []byte {
	if s.framing == Header {
		return appendHeader(dst, n)
	}
	return dst
}

// appendEnd appends what stands after a message.
func (s *stream) appendEnd(dst []byte) []byte {
	if s.framing == Lines {
		return append(dst, '\n')
	}
	return dst
}

// flatten replaces the line breaks of a message by spaces if a message must be one line. In JSON they can only stand between tokens.
func (s *stream) flatten(message []byte) {
	if s.framing != Lines {
		return
	}
	for i := bytes.IndexByte(message, '\n'); i >= 0; {
		message[i] = ' '
		j := bytes.IndexByte(message[i:], '\n')
		if j < 0 {
			return
		}
		i += j
	}
}

// Write implements Transport. All frames go out in one write of the stream.
func (s *stream) Write(frames ...[]byte) error {
	size := 0
	for _, f := range frames {
		size += len(f) + len("Content-Length: 9999999999\r\n\r\n")
	}
	out := slices.Grow(s.out[:0], size)
	for _, f := range frames {
		out = s.appendOpen(out, len(f))
		out = append(out, f...)
		s.flatten(out[len(out)-len(f):])
		out = s.appendEnd(out)
	}
	if s.out = out; cap(out) > chunkSize {
		s.out = nil
	}
	return s.writeRaw(out)
}

// writeRaw writes all of p. Only one goroutine at a time may.
func (s *stream) writeRaw(p []byte) error {
	for len(p) > 0 {
		n, err := s.rwc.Write(p)
		if err == nil && (n <= 0 || n > len(p)) {
			err = io.ErrShortWrite
		}
		if err != nil {
			return fmt.Errorf("write: %w", err)
		}
		p = p[n:] // a writer may not do this without an error, but some do
	}
	return nil
}

// setWriteDeadline makes writes that take longer fail; os.ErrNoDeadline if the stream cannot.
func (s *stream) setWriteDeadline(t time.Time) error { return setWriteDeadline(s.rwc, t) }

// Close implements Transport.
func (s *stream) Close() error {
	s.closed.Store(true)
	s.once.Do(func() { s.cerr = s.rwc.Close() })
	return s.cerr
}
