package e2e

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// chromium is the command line of a script that drives a browser.
func chromium(t *testing.T, script string) []string {
	t.Helper()
	browser := need(t, "chromium")
	node := need(t, "playwright")
	return append(node, filepath.Join("testdata", script), browser[0])
}

// TestInspectorPage: somebody clicks through the MCP Inspector's page in
// Chromium, with the configuration file that docs/clients.md shows: a server on
// standard input and output, and one on HTTP in both eras. The page's requests
// go through the Inspector's own process.
func TestInspectorPage(t *testing.T) {
	argv := chromium(t, "inspector-page.mjs")
	inspector := need(t, "inspector")
	folder := notes(t)
	_, address := demoHTTP(t, folder)
	servers := documented(t, "MCP Inspector", "mcpServers", folder, address)
	delete(servers, "notes-from-source") // TestDocumentedConfigurations starts it
	legacy := make(map[string]any)
	for k, v := range servers["notes-http"] {
		legacy[k] = v
	}
	legacy["protocolEra"] = "legacy"
	servers["notes-http-legacy"] = legacy
	config := writeConfig(t, servers)
	t.Parallel()
	runChecks(t, client(t, append(argv, inspector[1], config)...))
}

// demoHTTP starts demo-mcp on HTTP for a folder and returns it and its URL.
// The test fails if it does not end well when it is interrupted.
func demoHTTP(t *testing.T, folder string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(build(t, "cmd/demo-mcp"), "-root", folder, "-http", "localhost:0")
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stderr)
	t.Cleanup(func() { interrupt(t, cmd) })
	line, err := lines.ReadString('\n')
	at, ok := strings.CutPrefix(strings.TrimSpace(line), "demo-mcp: serving ")
	if err != nil || !ok {
		t.Fatalf("demo-mcp does not say where it is: %q, %v", line, err)
	}
	go drain(lines)
	return cmd, at
}

// drain reads what else a server says, so that it can say it.
func drain(lines *bufio.Reader) { _, _ = io.Copy(io.Discard, lines) }

// interrupt ends a server the way Ctrl-C does.
func interrupt(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	interrupted := cmd.Process.Signal(os.Interrupt)
	if interrupted != nil { // as on Windows
		_ = cmd.Process.Kill()
	}
	kill := time.AfterFunc(15*time.Second, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	if err := cmd.Wait(); err != nil && interrupted == nil {
		t.Errorf("%s does not end well: %v", filepath.Base(cmd.Path), err)
	}
}

// writeConfig writes servers as a configuration file of the Inspector.
func writeConfig(t *testing.T, servers map[string]map[string]any) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "inspector.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
