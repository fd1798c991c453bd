//go:build poison

package jsonrpc2

// poison is set by the build tag of that name. Tests run with it find messages that are still used after their bytes were given back.
const poison = true

// scribble makes bytes that nobody may use any more unlike anything they were.
func scribble(p []byte) {
	if len(p) == 0 {
		return
	}
	p[0] = 0xDB
	for n := 1; n < len(p); n *= 2 { // far faster than a loop over bytes under the race detector
		copy(p[n:], p[:n])
	}
}
