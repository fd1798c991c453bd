//go:build race

package notes

// The race detector makes parsing several times slower.
const hostileSize = 32 << 10
