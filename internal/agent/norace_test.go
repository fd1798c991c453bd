//go:build !race

package agent

const (
	hugeNote  = 20 << 20
	manyLinks = 100_000
)
