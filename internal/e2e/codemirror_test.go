//go:build !race && !poison

package e2e

import (
	"bufio"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// TestCodeMirror: somebody edits a note in a web page, with CodeMirror and its
// LSP client in Chromium, and demo-lsp on the other end of a WebSocket.
func TestCodeMirror(t *testing.T) {
	argv := chromium(t, "codemirror.mjs")
	_ = need(t, "codemirror")
	folder := notes(t)
	recorder, recording := record(t, build(t, "cmd/demo-lsp"), folder)
	cmd := exec.Command(recorder, "-ws", "localhost:0")
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	end := sync.OnceFunc(func() { interrupt(t, cmd) })
	t.Cleanup(end)
	lines := bufio.NewReader(stderr)
	line, err := lines.ReadString('\n')
	at, ok := strings.CutPrefix(strings.TrimSpace(line), "demo-lsp: serving ")
	if err != nil || !ok {
		t.Fatalf("demo-lsp does not say where it is: %q, %v", line, err)
	}
	go drain(lines)
	runChecks(t, client(t, append(argv, at, folder)...))
	end()
	recording.replay(t, 1)
}
