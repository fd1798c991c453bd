//go:build !race

package notes

const hostileSize = 256 << 10
