package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A recording is what a server wrote down of its sessions with a client, with the files as they were before.
type recording struct {
	server, folder string
	kept, file     string
}

// record returns a command that starts a server as it is, and has it write down what it does with the files of a folder.
func record(t *testing.T, server, folder string) (command string, r *recording) {
	t.Helper()
	dir := t.TempDir()
	r = &recording{server: server, folder: folder, kept: filepath.Join(dir, "kept"), file: filepath.Join(dir, "traffic.jsonl")}
	if err := os.CopyFS(r.kept, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	command = filepath.Join(dir, filepath.Base(server))
	script := fmt.Sprintf("#!/bin/sh\nexec '%s' --record '%s' \"$@\"\n", server, r.file)
	if err := os.WriteFile(command, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return command, r
}

// replay puts the files back and has the server do everything once more, in at least so many sessions. Nothing may be different.
func (r *recording) replay(t *testing.T, sessions int, args ...string) {
	t.Helper()
	if t.Failed() { // a client that gave up left something that nobody waited for
		return
	}
	if err := emptied(r.folder); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(r.folder, os.DirFS(r.kept)); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), limit)
	defer stop()
	cmd := exec.CommandContext(ctx, r.server, append(args, "--replay", r.file)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	err := cmd.Run()
	took, said := time.Since(began).Round(time.Millisecond), stdout.String()
	same := len(alike.FindAllString(said, -1))
	if err != nil || same < sessions || same != strings.Count(said, "\n") {
		t.Errorf("replayed in %v: %v, want %d sessions without difference\n%s%s", took, err, sessions, tail(said, 8000), tail(stderr.String(), 4000))
		return
	}
	t.Logf("replayed in %v: %d sessions, no difference", took, same)
}

var alike = regexp.MustCompile(`(?m)^\S+, \w+: [1-9]\d* messages sent, [1-9]\d* compared, 0 skipped(, \d+ beyond the end)?: no difference$`)

// emptied removes what is in a folder, which stays.
func emptied(folder string) error {
	return fs.WalkDir(os.DirFS(folder), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		if err := os.RemoveAll(filepath.Join(folder, path)); err != nil || !d.IsDir() {
			return err
		}
		return fs.SkipDir
	})
}
