//go:build !race && !poison

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
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
