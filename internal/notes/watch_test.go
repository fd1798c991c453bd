package notes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// watching runs Watch and hands out its changes.
func watching(t *testing.T, w *Workspace) <-chan []Change {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	changes := make(chan []Change, 100)
	done := make(chan error, 1)
	go func() { done <- w.Watch(ctx, func(c []Change) { changes <- c }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Watch: %v", err)
		}
	})
	return changes
}

// await takes changes until the note at path has the text; "" means gone.
func await(t *testing.T, w *Workspace, changes <-chan []Change, p, text string) {
	t.Helper()
	deadline := time.After(2 * time.Minute)
	for {
		n, ok := w.At(p)
		if ok && text != "" && n.Text == text || !ok && text == "" {
			return
		}
		select {
		case <-changes:
		case <-deadline:
			t.Fatalf("%s never became %q", p, text)
		}
	}
}

func TestWatch(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "a", "sub/b.md": "b"})
	w := open(t, dir, nil)
	write := func(p, body string) {
		t.Helper()
		file := filepath.Join(dir, p)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("early.md", "before Watch")
	changes := watching(t, w)
	await(t, w, changes, "early.md", "before Watch")
	write("a.md", "a2")
	await(t, w, changes, "a.md", "a2")
	write("sub/c.md", "c")
	await(t, w, changes, "sub/c.md", "c")
	write("new/deep/d.md", "d")
	await(t, w, changes, "new/deep/d.md", "d")
	write("new/deep/d.md", "d2")
	await(t, w, changes, "new/deep/d.md", "d2")
	if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "moved")); err != nil {
		t.Fatal(err)
	}
	await(t, w, changes, "moved/deep/d.md", "d2")
	await(t, w, changes, "new/deep/d.md", "")
	write("moved/deep/d.md", "d3")
	await(t, w, changes, "moved/deep/d.md", "d3")
	if err := os.RemoveAll(filepath.Join(dir, "sub")); err != nil {
		t.Fatal(err)
	}
	await(t, w, changes, "sub/b.md", "")
	await(t, w, changes, "sub/c.md", "")
	checkIndex(t, w)
}

// TestWatchOwnWrites shows that a note the workspace wrote is not news.
func TestWatchOwnWrites(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "a"})
	w := open(t, dir, nil)
	changes := watching(t, w)
	a, _ := w.Note("a")
	if _, err := w.Write("a.md", "mine", a.Version); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "b.md"), []byte("theirs"), 0o644); err != nil {
		t.Fatal(err)
	}
	await(t, w, changes, "b.md", "theirs")
	for len(changes) > 0 {
		for _, c := range <-changes {
			if c.Path == "a.md" {
				t.Errorf("own write was reported: %+v", c)
			}
		}
	}
}

func TestWatchReadOnly(t *testing.T) {
	if err := Sample().Watch(t.Context(), nil); !errors.Is(err, ErrReadOnly) {
		t.Errorf("Watch of the sample: %v", err)
	}
}

func TestWatchClosed(t *testing.T) {
	w := open(t, folder(t, nil), nil)
	w.Close()
	if err := w.Watch(t.Context(), func([]Change) {}); err != nil {
		t.Errorf("Watch of a closed workspace: %v", err)
	}
}

// loop returns a loop fed by hand.
func loop(t *testing.T, w *Workspace) (*watchLoop, chan fsnotify.Event, chan error, <-chan []Change) {
	events, failures := make(chan fsnotify.Event), make(chan error)
	changes := make(chan []Change, 100)
	l := &watchLoop{
		w: w, f: func(c []Change) { changes <- c }, events: events, errors: failures,
		add: func(string) error { return nil }, drop: func(string) {}, watched: map[string]struct{}{}, pending: map[string]struct{}{},
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- l.run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
	})
	return l, events, failures, changes
}

// TestWatchOverflow loses events and floods the loop: a scan has to find what
// they were about.
func TestWatchOverflow(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "a"})
	w := open(t, dir, nil)
	_, events, failures, changes := loop(t, w)
	write := func(body string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("lost")
	failures <- fsnotify.ErrEventOverflow
	await(t, w, changes, "a.md", "lost")
	write("drowned")
	for i := range 3 * watchPending {
		events <- fsnotify.Event{Name: filepath.Join(dir, fmt.Sprintf("none%d.md", i)), Op: fsnotify.Write}
	}
	await(t, w, changes, "a.md", "drowned")
}

func TestWatchTakes(t *testing.T) {
	dir := folder(t, nil)
	w := open(t, dir, nil)
	var dropped []string
	l := watchLoop{
		w: w, pending: map[string]struct{}{}, watched: map[string]struct{}{"gone": {}, "gone/deep": {}, "gone2": {}},
		drop: func(dir string) { dropped = append(dropped, dir) },
	}
	for name, want := range map[string]bool{"a.md": true, tempPrefix + "x": false, "sub/" + tempPrefix + "x": false, "../a.md": false, "x.png": true} {
		if got := l.take(fsnotify.Event{Name: filepath.Join(dir, filepath.FromSlash(name)), Op: fsnotify.Write}); got != want {
			t.Errorf("take(%q) = %v", name, got)
		}
	}
	if l.take(fsnotify.Event{Name: filepath.Join(dir, "a.md"), Op: fsnotify.Chmod}) {
		t.Error("a change of mode counts")
	}
	l.take(fsnotify.Event{Name: filepath.Join(dir, "gone"), Op: fsnotify.Remove})
	if len(l.watched) != 1 || len(dropped) != 2 {
		t.Errorf("watched = %v, dropped = %v", l.watched, dropped)
	}
	for i := range 3 * watchPending {
		l.take(fsnotify.Event{Name: filepath.Join(dir, fmt.Sprint(i)), Op: fsnotify.Write})
	}
	if len(l.pending) > watchPending || !l.all {
		t.Errorf("%d paths are pending, all = %v", len(l.pending), l.all)
	}
}

// TestWatchBlind runs out of watches.
func TestWatchBlind(t *testing.T) {
	w := open(t, folder(t, map[string]string{"x/y/a.md": ""}), nil)
	l := watchLoop{w: w, watched: map[string]struct{}{}, add: func(p string) error {
		if p == "x/y" {
			return errors.New("no space left on device")
		}
		return nil
	}}
	l.watch(".")
	if !l.blind || len(l.watched) != 2 {
		t.Errorf("blind = %v, watched = %v", l.blind, l.watched)
	}
}
