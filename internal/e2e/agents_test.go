package e2e

import (
	"path/filepath"
	"testing"
)

// TestRecordedAgents: two clients of the official TypeScript SDK are at one demo-mcp over HTTP at the same time, with the same ids, one with a session and one of the
// revision without. What they did is recorded as two sessions, and each of them replays by itself without a difference.
func TestRecordedAgents(t *testing.T) {
	node := need(t, "typescript-sdk")
	folder := notes(t)
	command, recording := record(t, build(t, "cmd/demo-mcp"), folder)
	t.Parallel()
	cmd, url := startHTTP(t, command, folder)
	runChecks(t, client(t, append(node, filepath.Join("testdata", "agents.mjs"), url)...))
	interrupt(t, cmd)
	recording.replay(t, 2, "-root", folder)
}
