package jsonrpc2

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// script is a stream of which each read and write is a function.
type script struct {
	read  func(p []byte) (int, error)
	write func(p []byte) (int, error)
	close func() error
}

func (s *script) Read(p []byte) (int, error)  { return s.read(p) }
func (s *script) Write(p []byte) (int, error) { return s.write(p) }
func (s *script) Close() error {
	if s.close == nil {
		return nil
	}
	return s.close()
}

func TestReadErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, f := range []Framing{Lines, Header} {
		s := Open(&pieces{}, f).(*stream)
		in := string(s.appendEnd(append(s.appendOpen(nil, 2), "{}"...)))
		for name, p := range map[string]*pieces{
			"after":         {in: whole(in), err: broken},
			"with":          {in: whole(in), err: broken, with: true},
			"in a message":  {in: whole(in + "Con"), err: broken},
			"reads nothing": {in: [][]byte{nil, []byte(in), nil, nil}, err: broken},
		} {
			got, end := drain(t, f, limits{}, p)
			if len(got) != 1 || got[0] != "{}" || end != "read: broken" {
				t.Errorf("%v, %s: got %q, end %q", f, name, got, end)
			}
		}
		_, err := Open(&pieces{err: broken}, f).Read()
		if !errors.Is(err, broken) {
			t.Errorf("%v: %v does not wrap the cause", f, err)
		}
		_, err = Open(&script{read: func([]byte) (int, error) { return 0, nil }}, f).Read()
		if !errors.Is(err, io.ErrNoProgress) {
			t.Errorf("%v: a reader that returns nothing for ever gives %v", f, err)
		}
		_, err = Open(&script{read: func(p []byte) (int, error) { return len(p) + 1, nil }}, f).Read()
		if err == nil || !strings.Contains(err.Error(), "reader returned") {
			t.Errorf("%v: a reader that lies gives %v", f, err)
		}
	}
}

// Close makes a read that waits end like the end of input, whatever error the read returns, and a message cut by it is not one.
func TestCloseEndsRead(t *testing.T) {
	for _, f := range []Framing{Lines, Header} {
		r, w := io.Pipe()
		s := Open(Join(r, w), f)
		got := make(chan error)
		go func() {
			_, err := s.Read()
			got <- err
		}()
		if _, err := w.Write([]byte("Content")); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-got; err != io.EOF {
			t.Errorf("%v: got %v, want io.EOF", f, err)
		}
		if err := s.Write([]byte("{}")); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%v: a write after Close gives %v", f, err)
		}
	}
}

func TestWrite(t *testing.T) {
	p := &pieces{}
	s := Open(p, Lines)
	pretty := []byte("\n{\n\n\"a\":\r\n\"\\n\u2028\"}\n")
	kept := bytes.Clone(pretty)
	if err := s.Write(pretty, []byte("2"), nil); err != nil {
		t.Fatal(err)
	}
	if want := " {  \"a\":\r \"\\n\u2028\"} \n2\n\n"; p.out.String() != want {
		t.Errorf("got %q, want %q", p.out.String(), want)
	}
	if !bytes.Equal(pretty, kept) {
		t.Error("Write changed a frame")
	}

	var calls int
	var got []byte
	short := Open(&script{write: func(b []byte) (int, error) {
		calls++
		n := min(len(b), 7)
		got = append(got, b[:n]...)
		return n, nil
	}}, Header)
	if err := short.Write([]byte(strings.Repeat("x", 20))); err != nil || string(got) != "Content-Length: 20\r\n\r\n"+strings.Repeat("x", 20) {
		t.Errorf("short writes: %q, %v", got, err)
	}
	if calls != 6 {
		t.Errorf("%d writes, want 6", calls)
	}
	stuck := Open(&script{write: func([]byte) (int, error) { return 0, nil }}, Lines)
	if err := stuck.Write([]byte("1")); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("a writer that writes nothing gives %v", err)
	}
	full := Open(&script{write: func([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }}, Lines)
	if err := full.Write([]byte("1")); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a writer that fails gives %v", err)
	}
}

// All frames of a Write are one write of the stream, so that a reader that is woken finds all of them.
func TestWriteIsOneWrite(t *testing.T) {
	for _, f := range []Framing{Lines, Header} {
		calls := 0
		s := Open(&script{write: func(b []byte) (int, error) { calls++; return len(b), nil }}, f)
		big := bytes.Repeat([]byte("x"), 3*chunkSize)
		if err := s.Write([]byte("1"), big, []byte("2")); err != nil || calls != 1 {
			t.Errorf("%v: %d writes, %v", f, calls, err)
		}
		if s.(*stream).out != nil {
			t.Errorf("%v: the buffer of a large write is kept", f)
		}
	}
}

// mix is a stream of messages of sizes around every boundary there is.
func mix(f Framing, seed uint64) (in []byte, messages []string) {
	random := rand.New(rand.NewPCG(seed, 7))
	s := &stream{framing: f}
	for _, size := range []int{1, 300, 70_000, 4096, 65_535, 65_536, 65_537, 2, 1 << 20, 131_072, 40_000, 40_000, 40_000, 2<<20 + 1, 5, 3 << 20, 60_000} {
		m := make([]byte, size+random.IntN(3))
		for i := range m {
			m[i] = 'a' + byte(random.IntN(26))
		}
		messages = append(messages, string(m))
		in = s.appendEnd(append(s.appendOpen(in, len(m)), m...))
	}
	return in, messages
}

// Messages of all sizes come out whole when their chunks are held by others, kept, or given back at once, for reads of any size. With the
// poison build tag a chunk that is given back too early is seen here.
func TestHeldMessages(t *testing.T) {
	for _, f := range []Framing{Lines, Header} {
		in, want := mix(f, 3)
		for _, read := range []int{1 << 10, 4093, 65_536, 1 << 30} {
			random := rand.New(rand.NewPCG(uint64(read), 7))
			s := Open(&pieces{in: whole(string(in))}, f).(*stream)
			rest := s.rwc
			s.rwc = &script{read: func(p []byte) (int, error) { return rest.Read(p[:min(len(p), 1+random.IntN(read))]) }}
			type held struct {
				c *chunk
				m []byte
				i int
			}
			var hold []held
			let := func(n int) {
				for len(hold) > n {
					h := hold[0]
					hold = hold[1:]
					if string(h.m) != want[h.i] {
						t.Fatalf("%v, reads of %d: message %d of %d bytes differs", f, read, h.i, len(want[h.i]))
					}
					h.c.release()
				}
			}
			i := 0
			for {
				m, ok, err := s.next()
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					if err := s.fill(); err != nil {
						break
					}
					continue
				}
				if string(m) != want[i] {
					t.Fatalf("%v, reads of %d: message %d of %d bytes, want %d", f, read, i, len(m), len(want[i]))
				}
				if cap(m) != len(m) {
					t.Fatalf("%v: an append to message %d would write into the next one", f, i)
				}
				switch random.IntN(3) {
				case 0: // done with at once
				case 1:
					s.chunk().retain()
					hold = append(hold, held{s.chunk(), m, i})
				case 2:
					s.chunk().retain()
					s.chunk().keep()
					hold = append(hold, held{s.chunk(), m, i})
				}
				i++
				let(random.IntN(4))
			}
			if let(0); i != len(want) {
				t.Fatalf("%v, reads of %d: %d messages, want %d", f, read, i, len(want))
			}
		}
	}
}

// An announcement is not an allocation: what is held never exceeds a small multiple of what has come.
func TestAnnouncedLengthIsNotAllocated(t *testing.T) {
	s := Open(nil, Header).(*stream)
	s.setLimits(limits{maxFrame: 500_000_000})
	sent := 0
	s.rwc = &script{read: func(p []byte) (int, error) {
		if sent == 0 {
			sent = copy(p, "Content-Length: 500000000\r\n\r\n")
			return sent, nil
		}
		if held := len(s.cur.buf); held > 4*sent+chunkSize {
			t.Fatalf("%d bytes are held when %d have come", held, sent)
		}
		if sent > 24<<20 {
			return 0, io.EOF
		}
		sent += len(p)
		return len(p), nil
	}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := s.Read()
	runtime.ReadMemStats(&after)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 256<<20 {
		t.Errorf("%d bytes allocated for %d", n, sent)
	}
}

// A refused message is dropped as it comes: neither framing holds more than a chunk of it.
func TestRefusedMessageIsNotStored(t *testing.T) {
	for _, f := range []Framing{Lines, Header} {
		const size = 60 << 20
		left := size
		s := Open(nil, f).(*stream)
		s.setLimits(limits{maxFrame: 1 << 20})
		begun := false
		s.rwc = &script{read: func(p []byte) (int, error) {
			if !begun {
				begun = true
				return copy(p, s.appendOpen(nil, size)), nil // of 0 bytes in Lines
			}
			if len(p) > 2<<20 {
				t.Fatalf("%v: a read of %d bytes", f, len(p))
			}
			if left == 0 {
				left = -1
				return copy(p, s.appendEnd(s.appendEnd(append(s.appendEnd(s.appendOpen(nil, 1)), '1')))), nil
			}
			n := min(left, len(p))
			if left < 0 {
				return 0, io.EOF
			}
			for i := range n {
				p[i] = 'x'
			}
			left -= n
			return n, nil
		}}
		var refused *MessageError
		if _, err := s.Read(); !errors.As(err, &refused) || left < 58<<20 {
			t.Fatalf("%v: got %v with %d bytes to come", f, err, left)
		}
		m, err := s.Read()
		if err != nil || string(m) != "1" {
			t.Fatalf("%v: got %q, %v", f, m, err)
		}
		if s.cur.own() {
			t.Errorf("%v: a chunk of %d bytes is held", f, len(s.cur.buf))
		}
		if _, err := s.Read(); err != io.EOF || s.cur != nil {
			t.Errorf("%v: got %v, chunk %v", f, err, s.cur)
		}
	}
}

// A large message is searched for its end once, not again with every read: 1 MiB in reads of 64 bytes.
func TestLongLineIsSearchedOnce(t *testing.T) {
	in := strings.Repeat("x", 1<<20) + "\n"
	s := Open(&pieces{in: whole(in)}, Lines).(*stream)
	rest := s.rwc
	s.rwc = &script{read: func(p []byte) (int, error) { return rest.Read(p[:min(len(p), 64)]) }}
	for {
		m, ok, err := s.next()
		if ok || err != nil {
			if len(m) != 1<<20 {
				t.Errorf("%d bytes, %v", len(m), err)
			}
			return
		}
		if s.scan != s.buffered() {
			t.Fatalf("%d of %d bytes are searched", s.scan, s.buffered())
		}
		if err := s.fill(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBuffered(t *testing.T) {
	s := Open(&pieces{in: whole("1\n22\n333")}, Lines).(*stream)
	for _, want := range []int{6, 3, 0} {
		if _, err := s.Read(); err != nil {
			t.Fatal(err)
		}
		if s.Buffered() != want {
			t.Errorf("%d bytes buffered, want %d", s.Buffered(), want)
		}
	}
}

type deadlined struct {
	pieces
	at time.Time
}

func (d *deadlined) SetWriteDeadline(t time.Time) error { d.at = t; return nil }

func TestWriteDeadline(t *testing.T) {
	now := time.Unix(1, 0)
	d := new(deadlined)
	_, replayed, err := Detect(Join(strings.NewReader("{}"), d))
	if err != nil {
		t.Fatal(err)
	}
	s := Open(replayed, Lines).(*stream)
	if err := s.setWriteDeadline(now); err != nil || !d.at.Equal(now) {
		t.Errorf("deadline %v, %v", d.at, err)
	}
	if err := Open(&pieces{}, Lines).(*stream).setWriteDeadline(now); err != os.ErrNoDeadline {
		t.Errorf("got %v, want os.ErrNoDeadline", err)
	}
}
