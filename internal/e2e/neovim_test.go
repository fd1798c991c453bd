package e2e

import (
	"path/filepath"
	"runtime"
	"testing"
)

// TestNeovim: a headless Neovim edits notes with the Markdown language server.
// The editor shuts it down by itself on :quitall, and the server's process
// then ends with code 0.
func TestNeovim(t *testing.T) {
	nvim := need(t, "nvim")
	if runtime.GOOS == "windows" {
		t.Fatal("the exit code of the server is taken with a shell")
	}
	server := build(t, "cmd/demo-lsp")
	t.Parallel()

	folder := notes(t)
	check := headings(t, folder, "😀😀 ")
	script, err := filepath.Abs(filepath.Join("testdata", "neovim.lua"))
	if err != nil {
		t.Fatal(err)
	}
	recorder, recording := record(t, server, folder)
	program, ended := witnessed(t, recorder)
	newer, older := configuration(t, "Neovim", "lua", program), configuration(t, "Neovim before 0.11", "lua", program)
	cmd := client(t, append(nvim, "--clean", "--headless", "-n", "-c", "luafile "+script)...)
	cmd.Dir = folder
	cmd.Env = append(cmd.Env, "E2E_CONFIG="+newer, "E2E_OLDER="+older, "E2E_FILE="+filepath.Join(folder, "index.md"))
	runChecks(t, cmd)
	check()
	ended()
	recording.replay(t, 1)
}
