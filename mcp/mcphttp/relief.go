package mcphttp

import (
	"runtime"
	"runtime/debug"
	"time"
)

const (
	crowd       = 500             // sessions that take memory worth giving back
	reliefDelay = 5 * time.Second // for what follows the end of sessions: their connections close
)

// relief gives memory back to the system when a crowd of sessions has gone. The runtime would do so too, but after minutes: a process that has nothing to
// do any more collects no garbage. It is done once for each crowd, so that a busy handler never pays for it.
type relief struct {
	most  int // sessions, since the last time
	timer *time.Timer
}

// came notes how many sessions there are. The handler's mu is held.
func (r *relief) came(n int) {
	if r.most = max(r.most, n); r.most >= crowd {
		r.stop() // there is another
	}
}

// went is came for those that have ended.
func (r *relief) went(n int) {
	if r.timer != nil || r.most < crowd || n > r.most/4 {
		return
	}
	r.most = n
	r.timer = time.AfterFunc(reliefDelay, func() {
		runtime.GC() // pools and what has finalizers, such as connections, go with the second collection
		debug.FreeOSMemory()
	})
}

func (r *relief) stop() {
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
}
