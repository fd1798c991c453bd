package mcphttp

import (
	"errors"
	"net/http"
	"sync"
	"time"
)

// outlet is one HTTP response a stream is written to. The goroutine that serves the request waits for done; nothing touches w after that.
type outlet struct {
	w     http.ResponseWriter
	rc    *http.ResponseController
	limit time.Duration
	fresh bool      // its headers were not written yet
	first string    // written behind the headers
	last  time.Time // of the last write
	done  chan struct{}

	mu      sync.Mutex
	stuck   bool // abort was called
	over    bool // release was called
	unstick *time.Timer
}

// patienceWithStuck is how long a write may still take on a response that is not wanted any more. What writes there has something else to write to.
const patienceWithStuck = 100 * time.Millisecond

// newOutlet makes one. done nil: a channel of its own.
func newOutlet(w http.ResponseWriter, limit time.Duration, done chan struct{}) *outlet {
	if done == nil {
		done = make(chan struct{})
	}
	return &outlet{w: w, rc: http.NewResponseController(w), limit: limit, fresh: true, done: done}
}

// prepare sets the headers of a stream.
func (o *outlet) prepare() {
	header := o.w.Header()
	header["Content-Type"] = streamType
	header["Cache-Control"] = streamCache
	header["X-Accel-Buffering"] = streamBuffers
}

// write writes b and sees to it that it leaves.
func (o *outlet) write(fresh bool, b []byte) error {
	o.mu.Lock()
	if !o.stuck {
		_ = o.rc.SetWriteDeadline(time.Now().Add(o.limit)) // not all writers have deadlines
	}
	o.mu.Unlock()
	if fresh {
		o.w.WriteHeader(http.StatusOK)
		if o.first != "" {
			b = append([]byte(o.first), b...)
		}
	}
	if len(b) > 0 {
		if _, err := o.w.Write(b); err != nil {
			return err
		}
	}
	if err := o.rc.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// hurry makes a write fail that does not end soon.
func (o *outlet) hurry() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.over && o.unstick == nil {
		o.unstick = time.AfterFunc(patienceWithStuck, o.abort)
	}
}

// abort makes a write that is stuck fail. The connection is of no use afterwards.
func (o *outlet) abort() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.over {
		o.stuck = true
		_ = o.rc.SetWriteDeadline(time.Unix(1, 0))
	}
}

// release ends the response.
func (o *outlet) release() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
	if o.unstick != nil {
		o.unstick.Stop()
	}
	if !o.stuck {
		_ = o.rc.SetWriteDeadline(time.Time{}) // the connection is used again
	}
	close(o.done)
}
