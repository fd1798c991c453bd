//go:build poison

package mcphttp

// scribble makes whoever looks at a body that was given back see it.
func scribble(b []byte) {
	for i := range b {
		b[i] = 'X'
	}
}
