package e2e

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTypeScriptSDK: the client of the official TypeScript SDK in both eras and over both transports; over HTTP both at one URL of one process.
func TestTypeScriptSDK(t *testing.T) {
	node := need(t, "typescript-sdk")
	url := everythingHTTP(t)
	for _, era := range []string{"legacy", "modern"} {
		for way, where := range map[string]string{"stdio": build(t, "internal/conformance/everything"), "http": url} {
			t.Run(era+"/"+way, func(t *testing.T) {
				runChecks(t, client(t, append(node, filepath.Join("testdata", "mcp.mjs"), era, way, where)...))
			})
		}
	}
}

// everythingHTTP starts the server of the conformance suites on HTTP and returns its URL.
func everythingHTTP(t *testing.T) string {
	t.Helper()
	cmd := exec.Command(build(t, "internal/conformance/everything"), "-http", "localhost:0")
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		kill := time.AfterFunc(15*time.Second, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server does not end well: %v", err)
		}
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the server does not say where it is: %v", err)
	}
	return strings.TrimSpace(line)
}
