//go:build !poison

package jsonrpc2

const poison = false

func scribble([]byte) {}
