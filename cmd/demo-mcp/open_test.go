package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tandem-rpc/tandem/internal/agent"
)

// A session begins before the notes have been read, and the first question about them waits until they are.
func TestOpening(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte("# A\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := begin(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := agent.New(agent.Options{Name: "demo-mcp", Folders: o.folders})
	if got := s.Handle(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`)); !strings.Contains(string(got), `"protocolVersion":"2025-11-25"`) {
		t.Errorf("initialize: %s", got)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := o.folders(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("somebody who has left: %v", err)
	}
	answer := make(chan string, 1)
	go func() {
		answer <- string(s.Handle(t.Context(), []byte(`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"notes://a"}}`)))
	}()
	stop := o.follow(s)
	defer stop()
	if got := <-answer; !strings.Contains(got, `"text":"# A\n"`) {
		t.Errorf("read: %s", got)
	}
}

func TestOpeningFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.md")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, root := range map[string]string{"file": file, "nothing": file + "x"} {
		if _, err := begin(root); err == nil || !strings.Contains(err.Error(), filepath.Base(root)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Gone between begin and follow.
	dir := filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	o, err := begin(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	stop := o.follow(agent.New(agent.Options{Folders: o.folders}))
	defer stop()
	if _, err := o.folders(t.Context()); err == nil {
		t.Error("a folder that is gone was read")
	}
}
