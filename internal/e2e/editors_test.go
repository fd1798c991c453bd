package e2e

import (
	"fmt"
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

// configuration returns a file with the configuration that docs/clients.md shows
// for an editor, in that language, with the placeholder replaced by a server.
func configuration(t *testing.T, editor, language, server string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "clients.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n### "+editor+"\n")
	section, _, _ = strings.Cut(section, "\n### ")
	_, block, shown := strings.Cut(section, "```"+language+"\n")
	block, _, closed := strings.Cut(block, "```")
	const placeholder = "/absolute/path/to/demo-lsp"
	if !found || !shown || !closed || strings.Count(block, placeholder) != 1 {
		t.Fatalf("docs/clients.md shows no configuration for %s with one %s", editor, placeholder)
	}
	path := filepath.Join(t.TempDir(), "configuration")
	text := strings.Replace(block, placeholder, server, 1)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// witnessed returns a program that is a server whose exit code is written down,
// and a function that checks that it was 0. Editors do not tell: some are gone
// before the server is, and some kill it as soon as they have asked it to
// leave. So a shell between the two has the server in a session of its own,
// where it outlives a kill and ends as it would by itself. The pipes are passed
// on as they are.
func witnessed(t *testing.T, server string, flags ...string) (program string, ended func()) {
	t.Helper()
	return recorded(t, `exec setsid --fork --wait /bin/sh -c '"$@"; echo $? >"$0.new"; mv "$0.new" "$0"' "$status" "$@"`, server, flags)
}

// terminated is witnessed for editors that end the server with SIGTERM, which
// here reaches the server and is survived by the shell.
func terminated(t *testing.T, server string, flags ...string) (program string, ended func()) {
	t.Helper()
	return recorded(t, `trap : TERM; "$@"; echo $? >"$status.new"; mv "$status.new" "$status"`, server, flags)
}

// recorded makes a shell script that runs the server "$@" and writes its exit
// code to the file $status.
func recorded(t *testing.T, script, server string, flags []string) (program string, ended func()) {
	t.Helper()
	dir := t.TempDir()
	program, status := filepath.Join(dir, "server"), filepath.Join(dir, "status")
	words := append([]string{server}, flags...)
	text := fmt.Sprintf("#!/bin/sh\nstatus='%s'\nset -- '%s' \"$@\"\n%s\n", status, strings.Join(words, "' '"), script)
	if err := os.WriteFile(program, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return program, func() {
		t.Helper()
		for end := time.Now().Add(3 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
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
