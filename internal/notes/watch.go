package notes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// How the watcher waits and what it holds.
const (
	watchQuiet   = 30 * time.Millisecond  // a burst of events ends when none came for this long
	watchPatient = 250 * time.Millisecond // but is looked at after this long in any case
	watchPoll    = 5 * time.Second        // between scans when directories cannot be watched
	watchPending = 1024                   // paths in a burst; beyond that everything is read again
	watchDirs    = 16_384                 // directories watched
)

// Watch follows the files of the workspace until ctx ends, and calls f with the
// changes of each burst of events, never with none and never twice at once. It
// begins with a scan, so nothing that happened since Open is missed. What the
// workspace wrote itself is no news and is not reported.
//
// Events that come faster than they can be taken in, or that the system lost,
// lead to a full scan; where the system has no room for more watches, the folder
// is scanned every five seconds instead. Watch returns nil when ctx ends and
// when the workspace is closed.
func (w *Workspace) Watch(ctx context.Context, f func([]Change)) error {
	if !w.store.moving() {
		return fmt.Errorf("watch: %w", ErrReadOnly)
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	defer watcher.Close()
	l := watchLoop{
		w: w, f: f,
		events: watcher.Events, errors: watcher.Errors,
		add:     func(p string) error { return watcher.Add(w.Abs(p)) },
		drop:    func(p string) { _ = watcher.Remove(w.Abs(p)) }, // the system may have done so
		watched: make(map[string]struct{}),
		pending: make(map[string]struct{}),
		all:     true,
	}
	l.watch(".")
	err = l.run(ctx)
	if errors.Is(err, ErrClosed) {
		return nil
	}
	return err
}

// A watchLoop turns events into changes.
type watchLoop struct {
	w       *Workspace
	f       func([]Change)
	events  <-chan fsnotify.Event
	errors  <-chan error
	add     func(dir string) error
	drop    func(dir string)
	watched map[string]struct{}
	blind   bool // some directory cannot be watched

	pending map[string]struct{}
	all     bool      // read everything again
	since   time.Time // of the first event of the burst
}

func (l *watchLoop) run(ctx context.Context) error {
	if err := l.flush(ctx); err != nil {
		return err
	}
	wake := time.NewTimer(0)
	defer wake.Stop()
	poll := time.NewTicker(watchPoll)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, ok := <-l.events:
			if !ok {
				return nil
			}
			if !l.take(e) {
				continue
			}
		case err, ok := <-l.errors:
			if !ok {
				return nil
			}
			// An overflow, or something as bad: some events are lost.
			_ = err
			l.all = true
		case <-poll.C:
			if !l.blind {
				continue
			}
			l.all = true
		case <-wake.C:
			if err := l.flush(ctx); err != nil {
				return err
			}
			continue
		}
		now := time.Now()
		if l.since.IsZero() {
			l.since = now
		}
		wake.Reset(min(watchQuiet, max(0, watchPatient-now.Sub(l.since))))
	}
}

// take notes what an event is about and reports whether it matters.
func (l *watchLoop) take(e fsnotify.Event) bool {
	if e.Op == fsnotify.Chmod {
		return false
	}
	p, ok := l.w.Rel(e.Name)
	if !ok || strings.HasPrefix(path.Base(p), tempPrefix) {
		return false
	}
	if _, dir := l.watched[p]; dir && (e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)) {
		// A directory that moves takes its watches along, and they go on to
		// report its old name.
		for dir := range l.watched {
			if dir == p || strings.HasPrefix(dir, p+"/") {
				delete(l.watched, dir)
				l.drop(dir)
			}
		}
	}
	if len(l.pending) >= watchPending {
		l.all = true
	} else {
		l.pending[p] = struct{}{}
	}
	return true
}

// flush reads what has changed and tells of it.
func (l *watchLoop) flush(ctx context.Context) error {
	l.since = time.Time{}
	if !l.all && len(l.pending) == 0 || ctx.Err() != nil {
		return nil
	}
	paths := []string{"."}
	if !l.all {
		paths = slices.Sorted(maps.Keys(l.pending))
	}
	clear(l.pending)
	l.all = false
	// Watch new directories before reading them: what appears in between is then
	// seen by one or the other.
	for _, p := range paths {
		l.watch(p)
	}
	changes, err := l.w.Refresh(paths...)
	if len(changes) > 0 {
		l.f(changes)
	}
	return err
}

// watch watches the directory at path and all below it.
func (l *watchLoop) watch(p string) {
	if p != "." && (l.w.store.ignored(p) || l.w.store.ignoredDir(p)) {
		return
	}
	for _, dir := range l.w.store.dirs(p, watchDirs) {
		if _, ok := l.watched[dir]; ok {
			continue
		}
		if len(l.watched) >= watchDirs {
			l.blind = true
			return
		}
		if err := l.add(dir); err != nil {
			l.blind = true
			continue
		}
		l.watched[dir] = struct{}{}
	}
}
