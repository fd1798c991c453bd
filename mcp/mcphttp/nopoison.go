//go:build !poison

package mcphttp

func scribble([]byte) {}
