package e2e

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// inspect runs the MCP Inspector's command line against demo-mcp on stdio and
// decodes the result it prints. code is the exit code of the Inspector.
func inspect(t *testing.T, result any, args ...string) (stderr string, code int) {
	t.Helper()
	argv := append(need(t, "inspector"), "--cli", build(t, "cmd/demo-mcp"), "--stdio", "--format", "json")
	cmd := client(t, append(argv, args...)...)
	var stdout, errout bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &errout
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if code = cmd.ProcessState.ExitCode(); code != 0 {
		return errout.String(), code
	}
	var answer struct {
		Result json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(stdout.Bytes(), &answer); err != nil {
		t.Fatalf("no JSON: %q: %v\nstderr:\n%s", stdout.String(), err, tail(errout.String(), 4000))
	}
	if err := json.Unmarshal(answer.Result, result); err != nil {
		t.Fatalf("result %s: %v", answer.Result, err)
	}
	return errout.String(), 0
}

// The parts of MCP's results that the tests look at.
type (
	content struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	toolResult struct {
		Content    []content       `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool            `json:"isError"`
	}
)

func (r toolResult) text() string {
	var all []string
	for _, c := range r.Content {
		all = append(all, c.Text)
	}
	return strings.Join(all, "\n")
}
