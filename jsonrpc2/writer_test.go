package jsonrpc2

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// countingPeer is a stream whose reads return what is put into in, one each, and that counts the answers in each write.
type countingPeer struct {
	in     chan string
	writes []int
}

func (p *countingPeer) Read(b []byte) (int, error) {
	s, ok := <-p.in
	if !ok {
		return 0, io.EOF
	}
	return copy(b, s), nil
}

func (p *countingPeer) Write(b []byte) (int, error) {
	p.writes = append(p.writes, bytes.Count(b, []byte{'\n'}))
	return len(b), nil
}

func (p *countingPeer) Close() error { return nil }

// The answers to a burst are written in few writes, the first one at once, and all of them before the next read.
func TestWritesOfBurst(t *testing.T) {
	line := request("1000000", "echo", `["text"]`) + "\n"
	long := request("1000000", "echo", `["`+strings.Repeat("x", 16<<10)+`"]`) + "\n"
	tests := []struct {
		name  string
		burst string
		want  []int
	}{
		{"one", line, []int{1}},
		{"two", strings.Repeat(line, 2), []int{1, 1}},
		{"four", strings.Repeat(line, 4), []int{1, 2, 1}},
		{"sixteen", strings.Repeat(line, 16), []int{1, 8, 4, 2, 1}},
		{"many", strings.Repeat(line, 256), []int{1, 64, 64, 64, 32, 16, 8, 4, 2, 1}},
		{"the last is not whole", strings.Repeat(line, 4) + line[:20], []int{1, 2, 1}},
		{"long ones", strings.Repeat(long, 3), []int{1, 1, 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := &countingPeer{in: make(chan string)}
				w := serveWire(t, Open(p, Lines), nil, testMux(nil), nil)
				for range 20 { // until the method runs where it is read
					p.in <- line
					synctest.Wait()
				}
				p.writes = nil
				p.in <- tt.burst
				synctest.Wait()
				if !slices.Equal(p.writes, tt.want) {
					t.Errorf("answers in each write: %v, want %v", p.writes, tt.want)
				}
				close(p.in)
				<-w.err
			})
		})
	}
}
