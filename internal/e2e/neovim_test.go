package e2e

import (
	"encoding/json"
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
	argv, ended := witnessed(t, server, "--stdio")
	words, err := json.Marshal(argv)
	if err != nil {
		t.Fatal(err)
	}
	cmd := client(t, append(nvim, "--clean", "--headless", "-n", "-c", "luafile "+script)...)
	cmd.Dir = folder
	cmd.Env = append(cmd.Env, "E2E_SERVER="+string(words), "E2E_FILE="+filepath.Join(folder, "index.md"))
	runChecks(t, cmd)
	check()
	ended()
}
