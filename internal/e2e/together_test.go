package e2e

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestTogether: a person in Neovim and an agent with the official TypeScript SDK at the same notes, in one demo-lsp process: the agent reads what has not
// been saved and edits it, the person types on, the agent is told; when the editor quits, the agent's session ends and the process with code 0.
func TestTogether(t *testing.T) {
	nvim, node := need(t, "nvim"), need(t, "typescript-sdk")
	if runtime.GOOS == "windows" {
		t.Fatal("the exit code of the server is taken with a shell")
	}
	server := build(t, "cmd/demo-lsp")
	t.Parallel()

	folder, scratch := notes(t), t.TempDir()
	lua, err := filepath.Abs(filepath.Join("testdata", "together.lua"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := client(t, append(node, filepath.Join("testdata", "together.mjs"))...)
	cmd.Env = append(cmd.Env, "E2E_NVIM="+nvim[0], "E2E_LUA="+lua, "E2E_SERVER="+server, "E2E_FOLDER="+folder, "E2E_SCRATCH="+scratch)
	runChecks(t, cmd)
	code, err := os.ReadFile(filepath.Join(scratch, "status"))
	if err != nil || strings.TrimSpace(string(code)) != "0" {
		t.Errorf("the server ended with code %q, %v, want 0", code, err)
	}
}
