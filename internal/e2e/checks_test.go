package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// A line is what a client script prints about its work, one JSON object a
// line: first the plan, then one line for each check as it ends.
type line struct {
	Plan   []string `json:"plan"`
	Check  string   `json:"check"`
	OK     bool     `json:"ok"`
	Detail string   `json:"detail"`
}

// runChecks runs a client script and makes each of its checks a subtest. A
// check of the plan that never reported fails, as does a script that leaves
// with another code than 0.
func runChecks(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	failed := cmd.Run()

	var plan []string
	done := make(map[string]line)
	for lines := bufio.NewScanner(&stdout); lines.Scan(); {
		text, ok := strings.CutPrefix(lines.Text(), "e2e ")
		if !ok {
			t.Logf("stdout: %s", lines.Text()) // editors print messages of their own
			continue
		}
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Errorf("the script printed no check: %q: %v", text, err)
			continue
		}
		plan = append(plan, l.Plan...)
		if l.Check != "" {
			done[l.Check] = l
		}
	}
	if len(plan) == 0 {
		t.Error("the script printed no plan")
	}
	for name := range done {
		if !slices.Contains(plan, name) {
			t.Errorf("check %q is not in the plan", name)
		}
	}
	for _, name := range plan {
		t.Run(name, func(t *testing.T) {
			switch l, ok := done[name]; {
			case !ok:
				t.Error("the script ended before this check reported")
			case !l.OK:
				t.Error(l.Detail)
			case l.Detail != "":
				t.Log(l.Detail)
			}
		})
	}
	if failed != nil {
		t.Errorf("%s: %v", cmd.Args[0], failed)
	}
	if t.Failed() && stderr.Len() > 0 {
		t.Logf("stderr:\n%s", tail(stderr.String(), 8000))
	}
}

// tail is the last n bytes of s, from the start of a line.
func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n:]
	if _, rest, ok := strings.Cut(s, "\n"); ok {
		return rest
	}
	return s
}
