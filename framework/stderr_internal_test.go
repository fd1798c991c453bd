package framework

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// gate is a pipe that nobody reads until it is opened.
type gate struct {
	open chan struct{}
	buf  strings.Builder
	err  error
}

func (g *gate) Write(p []byte) (int, error) {
	<-g.open
	if g.err != nil {
		return 0, g.err
	}
	return g.buf.Write(p)
}

func TestPatientKeepsOrder(t *testing.T) {
	g := &gate{open: make(chan struct{})}
	close(g.open)
	p := &patient{w: g}
	var want strings.Builder
	for i := range 1000 {
		fmt.Fprintf(p, "line %d\n", i)
		fmt.Fprintf(&want, "line %d\n", i)
	}
	p.flush()
	if got := g.buf.String(); got != want.String() {
		t.Errorf("got %d bytes, want %d", len(got), want.Len())
	}
}

func TestPatientDropsWhatNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		p := &patient{w: g}
		record := []byte(strings.Repeat("x", 1023) + "\n")
		for range 1000 {
			if n, err := p.Write(record); n != len(record) || err != nil {
				t.Fatalf("Write returned %d, %v", n, err)
			}
		}
		begun := time.Now()
		p.flush() // nobody reads: it must not wait for ever
		if d := time.Since(begun); d != flushGrace {
			t.Errorf("flush took %v", d)
		}
		close(g.open)
		synctest.Wait()
		kept := strings.Count(g.buf.String(), string(record))
		if kept != maxUnread/1024 {
			t.Errorf("%d records kept", kept)
		}
		dropped := 0
		for _, part := range strings.Split(g.buf.String(), ": ") {
			n := 0
			_, _ = fmt.Sscanf(part, "%d log records dropped", &n)
			dropped += n
		}
		if dropped != 1000-kept {
			t.Errorf("%d records are said to be dropped, want %d", dropped, 1000-kept)
		}
		fmt.Fprintln(p, "after")
		p.flush()
		if !strings.HasSuffix(g.buf.String(), "after\n") {
			t.Error("nothing is written any more")
		}
	})
}

func TestPatientSurvivesErrors(t *testing.T) {
	g := &gate{open: make(chan struct{}), err: errors.New("broken pipe")}
	close(g.open)
	p := &patient{w: g}
	for range 10 {
		if _, err := p.Write([]byte("x\n")); err != nil {
			t.Errorf("Write returned %v", err)
		}
		p.flush()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.writing || p.size != 0 {
		t.Errorf("writing %t, %d bytes wait", p.writing, p.size)
	}
}
