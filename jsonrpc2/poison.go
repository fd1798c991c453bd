//go:build poison

package jsonrpc2

// poison is set by the build tag of that name. Tests run with it find messages that are still used after their bytes were given back.
const poison = true

// scribble makes bytes that nobody may use any more unlike anything they were.
func scribble(p []byte) {
	for i := range p {
		p[i] = 0xDB
	}
}
