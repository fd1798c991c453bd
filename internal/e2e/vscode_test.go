package e2e

import (
	"path/filepath"
	"testing"
)

// TestVSCodeStdio: vscode-jsonrpc, the library under VS Code's language client,
// as the client of an echo server on standard input and output.
func TestVSCodeStdio(t *testing.T) {
	node := need(t, "vscode-jsonrpc")
	server := build(t, "internal/benchserver")
	t.Parallel()
	runChecks(t, client(t, append(node, filepath.Join("testdata", "stdio.mjs"),
		server, "-proto", "jsonrpc", "-framing", "header")...))
}

// TestVSCodeSocket: vscode-jsonrpc and the engine over a socket, both calling
// each other. An editor listens and its server connects; the other way round
// is how a server is debugged.
func TestVSCodeSocket(t *testing.T) {
	node := need(t, "vscode-jsonrpc")
	peer := build(t, "internal/e2e/peer")
	for _, mode := range []string{"connect", "listen", "pipe"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			runChecks(t, client(t, append(node, filepath.Join("testdata", "socket.mjs"), mode, peer)...))
		})
	}
}

// TestVSCodeLanguage: a session with the Markdown language server the way VS
// Code's client opens one, over each of its transports.
func TestVSCodeLanguage(t *testing.T) {
	node := need(t, "vscode-jsonrpc")
	server := build(t, "cmd/demo-lsp")
	for _, mode := range []string{"stdio", "pipe", "socket"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			folder := notes(t)
			recorder, recording := record(t, server, folder)
			runChecks(t, client(t, append(node, filepath.Join("testdata", "language.mjs"), mode, folder, recorder)...))
			recording.replay(t, 1)
		})
	}
}
