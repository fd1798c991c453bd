//go:build !race && !poison

package e2e

import (
	"path/filepath"
	"testing"
)

// TestEmacs: Emacs edits notes with Eglot and the Markdown language server.
// Eglot asks the server to leave and kills it at once; left alone it ends with
// code 0.
func TestEmacs(t *testing.T) {
	emacs := need(t, "emacs")
	server := build(t, "cmd/demo-lsp")
	t.Parallel()

	folder := notes(t)
	check := headings(t, folder, "😀😀 ")
	script, err := filepath.Abs(filepath.Join("testdata", "emacs.el"))
	if err != nil {
		t.Fatal(err)
	}
	recorder, recording := record(t, server, folder)
	program, ended := witnessed(t, recorder)
	config := configuration(t, "Emacs", "elisp", program)
	cmd := client(t, append(emacs, "-Q", "--batch", "-l", script)...)
	cmd.Dir = folder
	cmd.Env = append(cmd.Env, "E2E_CONFIG="+config, "E2E_FILE="+filepath.Join(folder, "index.md"), "LC_ALL=C.UTF-8")
	runChecks(t, cmd)
	check()
	ended()
	// Eglot asks for hovers when Emacs is idle, also once it has saved and closed what it renamed: they are about files that nobody saves in a replay.
	recording.replay(t, 1, "--replay-ignore", "textDocument/hover:result")
}
