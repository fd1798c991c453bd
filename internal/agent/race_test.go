//go:build race

package agent

// With the race detector on, parsing is ten times slower.
const (
	hugeNote  = 2 << 20
	manyLinks = 10_000
)
