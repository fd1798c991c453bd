package mcphttp

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestReliefComesOnceForEachCrowd(t *testing.T) {
	for _, c := range []struct {
		name  string
		crowd int
		peaks []int // of sessions, each followed by a fall to none
		armed []bool
	}{
		{"a crowd", 100, []int{100}, []bool{true}},
		{"too few", 100, []int{99}, []bool{false}},
		{"two crowds", 100, []int{100, 200}, []bool{true, true}},
		{"a crowd and stragglers", 100, []int{100, 10}, []bool{true, true}}, // the first one's timer is still there
		{"never", -1, []int{10_000}, []bool{false}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := relief{crowd: c.crowd}
			defer r.stop()
			for i, peak := range c.peaks {
				var before *time.Timer
				for n := 1; n <= peak; n++ {
					r.came(n)
				}
				before = r.timer
				for n := peak - 1; n >= 0; n-- {
					r.went(n)
					if n > peak/4 && r.timer != before {
						t.Fatalf("peak %d: at %d left already", peak, n)
					}
				}
				if (r.timer != nil) != c.armed[i] {
					t.Errorf("peak %d: timer %v", peak, r.timer)
				}
				if peak < c.crowd && r.timer != before {
					t.Errorf("peak %d: once more", peak)
				}
			}
		})
	}
}

func TestReliefWaitsForAPause(t *testing.T) {
	r := relief{crowd: 100}
	for n := range 400 {
		r.came(n + 1)
	}
	r.went(100)
	if r.timer == nil {
		t.Fatal("no timer")
	}
	if r.came(101); r.timer != nil {
		t.Error("there is a crowd, and the timer runs on")
	}
	r.stop()
}

// Memory is given back by nobody while somebody does, whichever handler that belongs to.
func TestReliefNeverRunsTwiceAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var one turn
		runs := 0
		release := make(chan struct{})
		go one.do(func() {
			runs++
			<-release
		})
		synctest.Wait()
		one.do(func() { t.Error("twice at once") })
		close(release)
		synctest.Wait()
		one.do(func() { runs++ })
		if runs != 2 {
			t.Errorf("%d runs", runs)
		}
	})
}

func TestReturnMemoryOption(t *testing.T) {
	for _, c := range []struct{ given, want int }{{0, DefaultReturnMemory}, {7, 7}, {-1, -1}} {
		h := New(newServer(&fixture{t: t}), &Options{ReturnMemory: c.given})
		if h.relief.crowd != c.want {
			t.Errorf("ReturnMemory %d: %d", c.given, h.relief.crowd)
		}
	}
}
