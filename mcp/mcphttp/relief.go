package mcphttp

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"
)

const reliefDelay = 5 * time.Second // for what follows the end of sessions: their connections close

// relief gives memory back to the system when a crowd of sessions has gone. The runtime would do so too, but after minutes: a process that has nothing to
// do any more collects no garbage. It is done once for each crowd, after a pause in which none of them came back, so that a busy handler never pays for it.
type relief struct {
	crowd int // sessions that take memory worth giving back; negative: none do
	most  int // sessions, since the last time
	timer *time.Timer
}

// came notes how many sessions there are. The handler's mu is held.
func (r *relief) came(n int) {
	if r.crowd < 0 {
		return
	}
	if r.most = max(r.most, n); r.most >= r.crowd {
		r.stop() // there is another
	}
}

// went is came for those that have ended. It only starts a timer: what that does is done on a goroutine of its own.
func (r *relief) went(n int) {
	if r.crowd < 0 || r.timer != nil || r.most < r.crowd || n > r.most/4 {
		return
	}
	r.most = n
	r.timer = time.AfterFunc(reliefDelay, func() { relieving.do(returnMemory) })
}

func (r *relief) stop() {
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
}

// turn runs one thing at a time. Memory is the process's: handlers share one.
type turn struct{ taken atomic.Bool }

var relieving turn

// do runs f, or nothing if another is being run.
func (t *turn) do(f func()) {
	if !t.taken.CompareAndSwap(false, true) {
		return
	}
	defer t.taken.Store(false)
	f()
}

func returnMemory() {
	runtime.GC() // pools and what has finalizers, such as connections, go with the second collection
	debug.FreeOSMemory()
}
