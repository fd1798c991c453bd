package notes

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTop holds the best of a list to what sorting all of it gives.
func TestTop(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		list := make([]int, r.IntN(200))
		for i := range list {
			list[i] = r.IntN(50)
		}
		limit := 1 + r.IntN(40)
		best := top[int]{limit: limit, compare: cmp.Compare[int]}
		for _, x := range list {
			best.offer(x)
			if len(best.list) > 2*limit+1 {
				t.Fatalf("with limit %d the list has grown to %d", limit, len(best.list))
			}
		}
		got := best.finish()
		slices.Sort(list)
		if want := list[:min(limit, len(list))]; !slices.Equal(got, want) || best.cut != (len(list) > limit) {
			t.Fatalf("limit %d: got %v, cut %v, want %v of %d", limit, got, best.cut, want, len(list))
		}
	}
}
