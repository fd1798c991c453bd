package e2e

import (
	"bytes"
	"context"
	"encoding/json"
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
	r.putBack(t)
	r.play(t, r.file, sessions, args...)
}

// replaySaved is for a client that saves and closes documents, starts the server again, and does not save any more. What the server makes of a
// closed document is up to the file, which nobody saves in a replay; whether the client asks depends on how fast it is. So this replays the first
// session up to where the client closes a document, with the files as they were, and the last one with those that the client left.
func (r *recording) replaySaved(t *testing.T) {
	t.Helper()
	if t.Failed() {
		return
	}
	text, err := os.ReadFile(r.file)
	if err != nil {
		t.Fatal(err)
	}
	var first, last []byte // the lines of those processes
	var closed bool
	asked := map[string]bool{} // ids of requests of the first session
	var was, now string
	for line := range bytes.Lines(text) {
		var record struct{ Process, Direction, Message string }
		var message struct {
			Method string
			ID     json.RawMessage
		}
		if err := json.Unmarshal(line, &record); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		_ = json.Unmarshal([]byte(record.Message), &message) // nothing of it where it is a remark
		if was == "" {
			was = record.Process
		}
		switch {
		case record.Process != was:
			if record.Process != now {
				now, last = record.Process, nil
			}
			last = append(last, line...)
		case record.Direction == "inbound":
			if closed = closed || message.Method == "textDocument/didClose"; !closed {
				asked[string(message.ID)] = true
				first = append(first, line...)
			}
		case !closed, message.Method == "" && asked[string(message.ID)]: // that request was on its way already
			first = append(first, line...)
		}
	}
	if !closed || last == nil {
		t.Fatalf("a document was closed: %t; the server was started again: %t", closed, last != nil)
	}
	dir := t.TempDir()
	for name, part := range map[string][]byte{"first": first, "last": last} {
		if err := os.WriteFile(filepath.Join(dir, name), part, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.play(t, filepath.Join(dir, "last"), 1)
	r.putBack(t)
	r.play(t, filepath.Join(dir, "first"), 1)
}

// putBack gives the folder the files it had.
func (r *recording) putBack(t *testing.T) {
	t.Helper()
	if err := emptied(r.folder); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(r.folder, os.DirFS(r.kept)); err != nil {
		t.Fatal(err)
	}
}

func (r *recording) play(t *testing.T, file string, sessions int, args ...string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), limit)
	defer stop()
	cmd := exec.CommandContext(ctx, r.server, append(args, "--replay", file)...)
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
