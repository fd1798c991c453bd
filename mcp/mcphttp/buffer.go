package mcphttp

import "sync"

// Large bodies and all answers are in memory that is used again. The garbage collector empties the pools, so what a burst of large messages took is given back.
var (
	bodyPool   sync.Pool
	answerPool = sync.Pool{New: func() any { b := make([]byte, 0, 1<<10); return &b }}
)

// maxPooled is the size of a buffer that is kept.
const maxPooled = 4<<20 + 1

// largeBody returns an empty buffer for n bytes.
func largeBody(n int) []byte {
	if b := usedBody(n); b != nil {
		return b
	}
	return make([]byte, 0, n)
}

// usedBody returns a buffer for n bytes that is there already, nil if none is.
func usedBody(n int) []byte {
	if p, _ := bodyPool.Get().(*[]byte); p != nil && cap(*p) >= n {
		return *p
	}
	return nil
}

// reuse gives a body back, which nobody may look at any more.
func reuse(body []byte) {
	if cap(body) <= trusted+1 || cap(body) > maxPooled {
		return
	}
	scribble(body)
	body = body[:0]
	bodyPool.Put(&body)
}
