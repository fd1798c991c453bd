//go:build !race && !poison

package e2e

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestVim: Vim edits notes with ALE and the Markdown language server. ALE never
// asks a server to leave: Vim sends it a signal as it ends, on which the server
// ends with code 0.
func TestVim(t *testing.T) {
	vim := need(t, "vim")
	if runtime.GOOS != "linux" {
		t.Fatal("script(1) of other systems has other flags")
	}
	server := build(t, "cmd/demo-lsp")
	t.Parallel()

	folder, report := notes(t), filepath.Join(t.TempDir(), "report")
	// ALE 3.3 takes positions for bytes: it would edit the wrong ones behind other characters.
	check := headings(t, folder, "")
	script, err := filepath.Abs(filepath.Join("testdata", "vim.vim"))
	if err != nil {
		t.Fatal(err)
	}
	recorder, recording := record(t, server, folder)
	program, ended := terminated(t, recorder)
	config := configuration(t, "Vim", "vim", program)
	// Vim wants a terminal, which script(1) is as long as its own input lasts.
	input, silent, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	defer silent.Close()
	const run = `script -qec '"$E2E_VIM" -Nu NONE -S "$E2E_SCRIPT"' /dev/null >/dev/null; code=$?; cat "$E2E_REPORT"; exit "$code"`
	cmd := client(t, "/bin/sh", "-c", run)
	cmd.Stdin = input
	cmd.Dir = folder
	cmd.Env = append(cmd.Env, "E2E_VIM="+vim[0], "E2E_SCRIPT="+script, "E2E_ALE="+ale, "E2E_REPORT="+report,
		"E2E_CONFIG="+config, "E2E_FILE="+filepath.Join(folder, "index.md"), "LC_ALL=C.UTF-8", "TERM=xterm")
	runChecks(t, cmd)
	check()
	ended()
	recording.replay(t, 1)
}
