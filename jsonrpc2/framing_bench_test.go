package jsonrpc2

import (
	"bytes"
	"fmt"
	"io"
	"testing"
)

// endless repeats its bytes, as many at a time as a pipe would give.
type endless struct {
	in []byte
	at int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.at == len(e.in) {
		e.at = 0
	}
	n := copy(p[:min(len(p), 64<<10)], e.in[e.at:])
	e.at += n
	return n, nil
}

func (e *endless) Write(p []byte) (int, error) { return len(p), nil }
func (e *endless) Close() error                { return nil }

// BenchmarkRead takes messages out of a stream that always has more.
func BenchmarkRead(b *testing.B) {
	for _, f := range []Framing{Lines, Header} {
		for _, size := range []int{300, 4 << 10, 1 << 20} {
			b.Run(fmt.Sprintf("%v/%d", f, size), func(b *testing.B) {
				m := bytes.Repeat([]byte("x"), size)
				s := Open(nil, f).(*stream)
				one := s.appendEnd(append(s.appendOpen(nil, size), m...))
				s.rwc = &endless{in: bytes.Repeat(one, max(1, chunkSize*4/len(one)))}
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					got, err := s.Read()
					if err != nil || len(got) != size {
						b.Fatal(len(got), err)
					}
				}
			})
		}
	}
}

// BenchmarkReadHeld is the same with every message held until eight more were read, as by handlers on goroutines of their own.
func BenchmarkReadHeld(b *testing.B) {
	for _, f := range []Framing{Lines, Header} {
		for _, size := range []int{300, 4 << 10, 1 << 20} {
			b.Run(fmt.Sprintf("%v/%d", f, size), func(b *testing.B) {
				m := bytes.Repeat([]byte("x"), size)
				s := Open(nil, f).(*stream)
				one := s.appendEnd(append(s.appendOpen(nil, size), m...))
				s.rwc = &endless{in: bytes.Repeat(one, max(1, chunkSize*4/len(one)))}
				var held [8]*chunk
				i := 0
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := s.Read(); err != nil {
						b.Fatal(err)
					}
					if i = (i + 1) % len(held); held[i] != nil {
						held[i].release()
					}
					held[i] = s.chunk()
					held[i].retain()
				}
			})
		}
	}
}

// BenchmarkWrite is the copy that puts a frame around a message.
func BenchmarkWrite(b *testing.B) {
	for _, f := range []Framing{Lines, Header} {
		for _, size := range []int{300, 4 << 10, 1 << 20} {
			b.Run(fmt.Sprintf("%v/%d", f, size), func(b *testing.B) {
				m := bytes.Repeat([]byte("x"), size)
				s := Open(&endless{}, f)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					if err := s.Write(m); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// TestReadAllocatesNothing holds the number of BenchmarkRead for small messages.
func TestReadAllocatesNothing(t *testing.T) {
	for _, f := range []Framing{Lines, Header} {
		s := Open(nil, f).(*stream)
		one := s.appendEnd(append(s.appendOpen(nil, 300), bytes.Repeat([]byte("x"), 300)...))
		s.rwc = &endless{in: bytes.Repeat(one, 1000)}
		n := testing.AllocsPerRun(10_000, func() {
			if _, err := s.Read(); err != nil && err != io.EOF {
				t.Fatal(err)
			}
		})
		if n != 0 {
			t.Errorf("%v: %v allocations a message", f, n)
		}
	}
}
