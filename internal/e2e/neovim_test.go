package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
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
	script, err := filepath.Abs(filepath.Join("testdata", "neovim.lua"))
	if err != nil {
		t.Fatal(err)
	}
	// Neovim hands the exit code to a callback that its own end outruns, so a
	// shell between the two writes it down. It passes the pipes on as they are.
	status := filepath.Join(t.TempDir(), "status")
	argv, err := json.Marshal([]string{"/bin/sh", "-c", `"$@"; echo $? >"$0"`, status, server, "--stdio"})
	if err != nil {
		t.Fatal(err)
	}
	cmd := client(t, append(nvim, "--clean", "--headless", "-n", "-c", "luafile "+script)...)
	cmd.Dir = folder
	cmd.Env = append(cmd.Env, "E2E_SERVER="+string(argv), "E2E_FILE="+filepath.Join(folder, "index.md"))
	runChecks(t, cmd)

	code, err := os.ReadFile(status)
	if err != nil {
		t.Fatalf("the server did not end by itself: %v", err)
	}
	if got := strings.TrimSpace(string(code)); got != "0" {
		t.Errorf("the server ended with code %s, want 0", got)
	}
}
