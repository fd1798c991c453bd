package jsonrpc2

import (
	"sync"
	"testing"
)

func TestChunkClass(t *testing.T) {
	for _, c := range []struct{ n, class, size int }{
		{0, 0, 64 << 10}, {1, 0, 64 << 10}, {64 << 10, 0, 64 << 10}, {64<<10 + 1, 1, 128 << 10}, {128 << 10, 1, 128 << 10},
		{1 << 20, 4, 1 << 20}, {1<<20 + 1, 5, 2 << 20}, {2 << 20, 5, 2 << 20}, {2<<20 + 1, -1, 2<<20 + 1}, {16 << 20, -1, 16 << 20},
	} {
		if got := chunkClass(c.n); got != c.class {
			t.Errorf("class of %d is %d, want %d", c.n, got, c.class)
		}
		if got := newChunk(c.n); len(got.buf) != c.size || !got.alone() {
			t.Errorf("chunk for %d: %d bytes, alone %v, want %d", c.n, len(got.buf), got.alone(), c.size)
		}
	}
	if last := chunkClass(pooledSize); last != len(chunkPools)-1 {
		t.Errorf("%d pools, the last class is %d", len(chunkPools), last)
	}
}

func TestChunkKept(t *testing.T) {
	c := newChunk(1)
	c.buf[0] = 'x'
	c.retain()
	if c.alone() {
		t.Error("alone with two references")
	}
	c.keep()
	c.release()
	if c.alone() {
		t.Error("alone when kept")
	}
	c.release()
	if c.buf[0] != 'x' {
		t.Error("a kept chunk was scribbled on")
	}
	for range 100 {
		if d := newChunk(1); d == c {
			t.Fatal("a kept chunk was recycled")
		}
	}
}

// Holders on many goroutines let go in any order; no chunk is in two hands at once.
func TestChunkConcurrent(t *testing.T) {
	var wg sync.WaitGroup
	for g := range byte(8) {
		wg.Go(func() {
			for range 200 {
				c := newChunk(1)
				c.buf[0] = g
				c.retain()
				done := make(chan struct{})
				go func() {
					defer close(done)
					if c.buf[0] != g {
						t.Error("another's bytes")
					}
					c.release()
				}()
				if c.buf[0] != g {
					t.Error("another's bytes")
				}
				c.release()
				<-done
			}
		})
	}
	wg.Wait()
}
