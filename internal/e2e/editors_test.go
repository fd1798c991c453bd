package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// headings adds two notes to a folder: guide.md has a heading "Old name" on
// line 3, and cites.md links to it twice, once behind the given text. The
// function that it returns checks that the heading was renamed "New name", and
// the links with it.
func headings(t *testing.T, folder, behind string) (check func()) {
	t.Helper()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	guide := "# Guide\n\n## Old name\n\nWhere 😀 it is said.\n"
	cites := "# Cites\n\nSee [one](guide.md#old-name).\n" + behind + "and [two](guide.md#old-name) é\n"
	write("guide.md", guide)
	write("cites.md", cites)
	return func() {
		t.Helper()
		for name, want := range map[string]string{
			"guide.md": strings.ReplaceAll(guide, "Old name", "New name"),
			"cites.md": strings.ReplaceAll(cites, "old-name", "new-name"),
		} {
			text, err := os.ReadFile(filepath.Join(folder, name))
			if got := string(text); err != nil || got != want {
				t.Errorf("%s: %q, %v, want %q", name, got, err, want)
			}
		}
	}
}

// witnessed returns a command line for a server whose exit code is written
// down, and a function that checks that it was 0. Editors do not tell: some are
// gone before the server is, and Emacs kills it as soon as it has asked it to
// leave. So a shell between the two has the server in a session of its own,
// where it outlives a kill and ends as it would by itself. The pipes are passed
// on as they are.
func witnessed(t *testing.T, server ...string) (argv []string, ended func()) {
	t.Helper()
	return recorded(t, `exec setsid --fork --wait /bin/sh -c '"$@"; echo $? >"$0.new"; mv "$0.new" "$0"' "$0" "$@"`, server)
}

// terminated is witnessed for editors that end the server with SIGTERM, which
// here reaches the server and is survived by the shell.
func terminated(t *testing.T, server ...string) (argv []string, ended func()) {
	t.Helper()
	return recorded(t, `trap : TERM; "$@"; echo $? >"$0.new"; mv "$0.new" "$0"`, server)
}

// recorded has a shell script run a server and write its exit code to the file $0.
func recorded(t *testing.T, script string, server []string) (argv []string, ended func()) {
	t.Helper()
	status := filepath.Join(t.TempDir(), "status")
	return append([]string{"/bin/sh", "-c", script, status}, server...), func() {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			text, err := os.ReadFile(status)
			if err == nil {
				if got := strings.TrimSpace(string(text)); got != "0" {
					t.Errorf("the server ended with code %s, want 0", got)
				}
				return
			}
			if time.Now().After(end) {
				t.Errorf("the server did not end by itself: %v", err)
				return
			}
		}
	}
}
