package jsonrpc2

import (
	"sync"
	"testing"
)

func TestChunkClass(t *testing.T) {
	for _, c := range []struct{ n, class, size int }{
		{0, 0, 64 << 10}, {1, 0, 64 << 10}, {64 << 10, 0, 64 << 10}, {64<<10 + 1, 1, 80 << 10}, {100 << 10, 3, 112 << 10}, {128 << 10, 4, 128 << 10},
		{128<<10 + 1, 5, 160 << 10}, {1 << 20, 16, 1 << 20}, {1<<20 + 1, 17, 1280 << 10}, {2 << 20, 20, 2 << 20}, {2<<20 + 1, -1, 2<<20 + 1}, {16 << 20, -1, 16 << 20},
	} {
		if got, size := chunkClass(c.n); got != c.class || size != c.size {
			t.Errorf("class of %d is %d of %d bytes, want %d of %d", c.n, got, size, c.class, c.size)
		}
		if got := newChunk(c.n); len(got.buf) != c.size || !got.alone() {
			t.Errorf("chunk for %d: %d bytes, alone %v, want %d", c.n, len(got.buf), got.alone(), c.size)
		}
	}
	for n, last := 1, 0; n <= pooledSize; n += 999 {
		class, size := chunkClass(n)
		if again, same := chunkClass(size); class < last || class > last+1 || size < n || again != class || same != size {
			t.Fatalf("class of %d is %d of %d bytes, whose own is %d", n, class, size, again)
		}
		last = class
	}
	if last, _ := chunkClass(pooledSize); last != len(chunkPools)-1 {
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
