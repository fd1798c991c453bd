package e2e

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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

// TestGoSDK: the client of the official Go SDK, with the newest revision of each era and over both transports. Its program is a module of its own in gosdk;
// where that module's dependencies cannot be had the test is skipped, and fails with CI=true.
func TestGoSDK(t *testing.T) {
	program := filepath.Join(scratch, "gosdk.exe")
	if out, err := exec.Command("go", "build", "-C", "gosdk", "-buildvcs=false", "-o", program, ".").CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("CI must have the Go SDK: %v\n%s", err, out)
		}
		t.Skipf("the Go SDK cannot be built here: %v\n%s", err, out)
	}
	url := everythingHTTP(t)
	for _, revision := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		for way, where := range map[string]string{"stdio": build(t, "internal/conformance/everything"), "http": url} {
			t.Run(revision+"/"+way, func(t *testing.T) {
				runChecks(t, client(t, program, revision, way, where))
			})
		}
	}
}

// TestInspectorEverywhere: the MCP Inspector's command line in both eras and over both transports, against the same process over HTTP.
func TestInspectorEverywhere(t *testing.T) {
	argv := append(need(t, "inspector"), "--cli")
	url := everythingHTTP(t)
	for way, target := range map[string][]string{
		"stdio": {build(t, "internal/conformance/everything")}, "http": {url, "--transport", "http"},
	} {
		for _, era := range []string{"legacy", "modern"} {
			i := &inspector{slices.Concat(argv, target, []string{"--protocol-era", era, "--format", "json"})}
			for _, tt := range []struct {
				name, want string
				args       []string
			}{
				{"tools/list strict", "test_simple_text", []string{"--method", "tools/list", "--strict"}},
				{"tools/call", "simple text", []string{"--method", "tools/call", "--tool-name", "test_simple_text"}},
				{"tools/call with progress", "successfully", []string{"--method", "tools/call", "--tool-name", "test_tool_with_progress"}},
				{"resources/read", "static text", []string{"--method", "resources/read", "--uri", "test://static-text"}},
				{"resources/templates/list", "test://template/{id}/data", []string{"--method", "resources/templates/list"}},
				{"prompts/get", "arg1='a'", []string{
					"--method", "prompts/get", "--prompt-name", "test_prompt_with_arguments", "--prompt-args", "arg1=a", "arg2=b",
				}},
			} {
				t.Run(way+"/"+era+"/"+tt.name, func(t *testing.T) {
					stdout, stderr, code := i.run(t, tt.args...)
					if code != 0 || !strings.Contains(stdout, tt.want) {
						t.Errorf("exit code %d, want 0 and %q\n%s%s", code, tt.want, tail(stdout, 2000), tail(stderr, 4000))
					}
				})
			}
			t.Run(way+"/"+era+"/load", func(t *testing.T) {
				var got struct{ Requests, OK, ToolErrors, Errors int }
				i.result(t, &got, "--method", "tools/call", "--tool-name", "test_simple_text",
					"--load", "--load-requests", "2000", "--load-concurrency", "16", "--load-duration", "240")
				if got.Requests != 2000 || got.OK != 2000 {
					t.Errorf("2000 calls, 16 at a time: %+v", got)
				}
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
	t.Cleanup(func() { interrupt(t, cmd) })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the server does not say where it is: %v", err)
	}
	return strings.TrimSpace(line)
}
