package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tandem-rpc/tandem/internal/leak"
)

// TestMain makes the test binary the program as well.
func TestMain(m *testing.M) {
	if os.Getenv("DEMO_MCP") != "" {
		os.Exit(run())
	}
	leak.Main(m)
}

// program returns a command that runs the program.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(stop)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(ctx, self, args...)
	c.Env = append(os.Environ(), "DEMO_MCP=1")
	return c
}

func TestTry(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.md": "# A\ndeploy [b](b.md) [c](c.md)\n", "b.md": "# B\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"-try"}, {"-try", "-root", dir}} {
		t.Run(strings.Join(args[:len(args)/2+1], " "), func(t *testing.T) {
			var errs bytes.Buffer
			c := program(t, args...)
			c.Stderr = &errs
			out, err := c.Output()
			if err != nil {
				t.Fatalf("%v\n%s\n%s", err, out, &errs)
			}
			if errs.Len() > 0 {
				t.Errorf("standard error: %s", &errs)
			}
			for _, want := range []string{
				`(?s)→ .*"method":"initialize".*← .*"protocolVersion":"2025-11-25"`, `← .*"tools":\[\{"name":"backlinks"`, `a tool: search`,
				`← .*"notifications/progress".*"progressToken":"index-1"`, `→ .*"notifications/cancelled"`, `← .*want string, got integer`,
				`← .*Unknown tool: delete_everything`, `# A person joins`, `editor ← .*workspace/applyEdit`, `the editor shows: A line that an agent has edited`, `(?m)ended with exit code 0$`, `(?m)^ +\d+\.\dms `,
			} {
				if !regexp.MustCompile(want).Match(out) {
					t.Errorf("no %s in\n%s", want, out)
				}
			}
			// The cancelled call, id 5, is never answered.
			if regexp.MustCompile(`← \{"jsonrpc":"2.0","id":5,`).Match(out) {
				t.Errorf("the cancelled call was answered:\n%s", out)
			}
		})
	}
}

func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		errs string
	}{
		{[]string{"-help"}, 0, "-root"},
		{[]string{"-what"}, 2, "-what"},
		{[]string{"notes"}, 2, `unexpected argument "notes"`},
		{[]string{"-root", filepath.Join(t.TempDir(), "none")}, 1, "none"},
		{[]string{"-stats"}, 0, "ping"},
	} {
		t.Run(strings.Join(c.args[:1], " "), func(t *testing.T) {
			var errs bytes.Buffer
			p := program(t, c.args...)
			p.Stderr = &errs
			p.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n")
			out, _ := p.Output()
			if code := p.ProcessState.ExitCode(); code != c.code || !strings.Contains(errs.String(), c.errs) {
				t.Errorf("code %d, want %d; standard error %s", code, c.code, &errs)
			}
			if c.args[0] == "-stats" && string(out) != `{"jsonrpc":"2.0","id":1,"result":{}}`+"\n" {
				t.Errorf("got %s", out)
			}
		})
	}
}

// The input comes from a file and is over at once: every request is answered all the same, and the code is 0.
func TestOneShot(t *testing.T) {
	c := program(t, "--stdio")
	c.Stdin = strings.NewReader(strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"index","arguments":{"pause_ms":20},"_meta":{"progressToken":7}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`,
		`{not json`,
	}, "\n"))
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2024-11-05"`,
		`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"{\"notes\":7`, `{"jsonrpc":"2.0","id":3,"result":{"tools":[`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`,
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
	// The oldest revision knows neither titles nor structured results.
	for _, unknown := range []string{`"title"`, `"structuredContent"`, `"outputSchema"`, `"annotations"`, `"completions"`} {
		if strings.Contains(string(out), unknown) {
			t.Errorf("%s in\n%s", unknown, out)
		}
	}
}

// Over a folder of two notes: a note by its URI, one that is not there, and the prompt about one, to the byte.
func TestTwoNotes(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"welcome.md": "Welcome to the team!", "deploy.md": "Deploys run on Fridays."} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := program(t, "--stdio", "-root", dir)
	c.Stdin = strings.NewReader(strings.Join([]string{
		`{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}`,
		`{"jsonrpc": "2.0", "id": 4, "method": "resources/read", "params": {"uri": "notes://deploy"}}`,
		`{"jsonrpc": "2.0", "id": 5, "method": "resources/read", "params": {"uri": "notes://missing"}}`,
		`{"jsonrpc": "2.0", "id": 7, "method": "prompts/get", "params": {"name": "summarize", "arguments": {"slug": "deploy"}}}`,
	}, "\n") + "\n")
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	answers := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(answers) != 4 || !strings.HasPrefix(answers[0], `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25",`) {
		t.Errorf("got %d answers, %s", len(answers), out)
	}
	for _, want := range []string{
		`{"jsonrpc":"2.0","id":4,"result":{"contents":[{"uri":"notes://deploy","mimeType":"text/markdown","text":"Deploys run on Fridays."}]}}`,
		`{"jsonrpc":"2.0","id":5,"error":{"code":-32002,"message":"Resource not found","data":{"uri":"notes://missing"}}}`,
		`{"jsonrpc":"2.0","id":7,"result":{"description":"Summarize one note.","messages":[{"role":"user","content":{"type":"text","text":"Summarize the note notes://deploy."}}]}}`,
	} {
		if !slices.Contains(answers, want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}
