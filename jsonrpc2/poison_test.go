//go:build poison

package jsonrpc2

import (
	"strings"
	"testing"
)

// A message that is used after its time is not what it was, wherever its chunk went: written over, moved, or recycled.
func TestPoison(t *testing.T) {
	for name, in := range map[string][]string{
		"chunk used again": {"abc\n", "d\n"},
		"rest moved":       {"abc\n" + strings.Repeat("x", 30), strings.Repeat("x", chunkSize/2-40), strings.Repeat("y", chunkSize/2-200), "z"},
		"chunk recycled":   {"abc\n" + strings.Repeat("x", chunkSize-10), "z\n"},
		"end of input":     {"abc\n"},
	} {
		p := &pieces{}
		for _, piece := range in {
			p.in = append(p.in, []byte(piece))
		}
		s := Open(p, Lines)
		m, err := s.Read()
		if err != nil || string(m) != "abc" {
			t.Fatalf("%s: %q, %v", name, m, err)
		}
		_, _ = s.Read()
		if string(m) == "abc" {
			t.Errorf("%s: the old message can still be read", name)
		}
	}
}

func TestPoisonSecondRelease(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	c := &chunk{buf: make([]byte, pooledSize+1)}
	c.refs.Store(1)
	c.release()
	c.release()
}
