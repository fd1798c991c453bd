package notes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// reread returns the note at path as its file is now, nil if there is none. The
// same *Note comes back if the file has the same text. The caller holds w.files.
func (w *Workspace) reread(p string) (*Note, error) {
	w.mu.RLock()
	closed := w.closed
	var disk *Note
	if e := w.entries[p]; e != nil {
		disk = e.disk
	}
	w.mu.RUnlock()
	if closed {
		return nil, ErrClosed
	}
	if !w.store.moving() || checkNotePath(p) != nil {
		return disk, nil
	}
	if w.store.ignored(p) {
		return nil, nil
	}
	body, err := w.store.read(w.file[:0], p, w.options.MaxNote)
	if w.file = body; cap(body) > keepBuffer {
		w.file = nil
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		// Unreadable, too large now, or no longer a file: as a note it is gone.
		w.mu.Lock()
		w.skip(p, err)
		w.mu.Unlock()
		return nil, nil
	}
	if disk != nil && !disk.Repaired && disk.Text == string(body) {
		return disk, nil
	}
	return Parse(p, string(body)), nil
}

// maxSkipped bounds the list that Skipped returns.
const maxSkipped = 10_000

// skip notes that a path was left out. The caller holds w.mu.
func (w *Workspace) skip(p string, err error) {
	w.bad = slices.DeleteFunc(w.bad, func(s Skipped) bool { return s.Path == p })
	if len(w.bad) < maxSkipped {
		w.bad = append(w.bad, Skipped{p, err})
	}
}

// Refresh reads again the files at the given paths, and all files below paths
// that are directories, and returns what changed. A path that is gone takes the
// notes below it along. Overlays stay. Only a workspace on disk changes.
func (w *Workspace) Refresh(paths ...string) ([]Change, error) {
	w.files.Lock()
	defer w.files.Unlock()
	if !w.store.moving() {
		return nil, nil
	}
	touched := make(map[string]struct{})
	for _, p := range paths {
		if path.Base(p) == ignoreFile { // it decides about everything beside it
			p = path.Dir(p)
		}
		if p != "." {
			if err := checkPath(p); err != nil {
				return nil, err
			}
		}
		if err := w.touched(p, touched); err != nil {
			return nil, err
		}
	}
	var changes []Change
	for _, p := range slices.Sorted(maps.Keys(touched)) {
		c, err := w.refresh(p)
		if err != nil {
			return changes, err
		}
		if before, ok := w.met[p]; ok {
			c = before.then(c)
			delete(w.met, p)
		}
		if c.Old != c.New || len(c.Affected) > 0 {
			changes = append(changes, c)
		}
	}
	if len(changes) > 0 { // else the next search would do it, with somebody waiting
		w.search.mu.Lock()
		w.catchUp()
		w.search.mu.Unlock()
	}
	return changes, nil
}

// touched adds to set the files that are, or were, at path or below it.
func (w *Workspace) touched(p string, set map[string]struct{}) error {
	w.mu.RLock()
	if w.closed {
		w.mu.RUnlock()
		return ErrClosed
	}
	below := func(q string) bool { return p == "." || q == p || strings.HasPrefix(q, p+"/") }
	_, isNote := w.entries[p]
	_, isAsset := w.assets[p]
	if !isNote && !isAsset { // it may be a directory, or have been one
		for q := range w.entries {
			if below(q) {
				set[q] = struct{}{}
			}
		}
		for q := range w.assets {
			if below(q) {
				set[q] = struct{}{}
			}
		}
	}
	w.mu.RUnlock()
	set[p] = struct{}{}
	info, err := fs.Stat(w.store.fsys, p)
	if err != nil || !info.IsDir() || p != "." && (w.store.ignored(p) || w.store.ignoredDir(p)) {
		return nil
	}
	delete(set, p)
	l := w.store.list(p, maxFiles)
	for _, q := range slices.Concat(l.notes, l.assets) {
		set[q] = struct{}{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	maps.DeleteFunc(w.skipped, func(q string, _ struct{}) bool { return below(q) })
	for _, q := range l.skipped {
		w.skipped[q] = struct{}{}
	}
	for _, s := range l.bad {
		w.skip(s.Path, s.Err)
	}
	return nil
}

// refresh brings one file up to date.
func (w *Workspace) refresh(p string) (Change, error) {
	if !IsNote(p) {
		return w.refreshAsset(p)
	}
	disk, err := w.reread(p)
	if err != nil {
		return Change{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return Change{}, ErrClosed
	}
	return w.stored(p, disk), nil
}

// stored makes disk what the workspace believes to be in the file at path. The
// caller holds w.files and w.mu.
func (w *Workspace) stored(p string, disk *Note) Change {
	old := w.entries[p]
	current := w.note(p)
	switch {
	case old == nil && disk == nil, old != nil && old.disk == disk:
		return Change{Path: p, Old: current, New: current}
	case old != nil && old.overlay != nil:
		// What is read stays the overlay.
		w.entries[p] = &entry{disk: disk, overlay: old.overlay, at: old.at}
		return Change{Path: p, Old: current, New: current}
	case disk == nil:
		return w.changed(p, nil)
	}
	full := error(nil)
	if old == nil && len(w.entries) >= w.options.MaxNotes {
		full = fmt.Errorf("%w: more than %d notes", ErrTooLarge, w.options.MaxNotes)
	} else if w.total+int64(len(disk.Text)) > w.options.MaxTotal {
		full = fmt.Errorf("%w: the notes exceed %d bytes", ErrTooLarge, w.options.MaxTotal)
	}
	if full != nil {
		w.skip(p, full)
		if old != nil {
			return w.changed(p, nil)
		}
		return Change{Path: p}
	}
	w.bad = slices.DeleteFunc(w.bad, func(s Skipped) bool { return s.Path == p })
	return w.changed(p, &entry{disk: disk})
}

// refreshAsset notes whether the file at path, which is no note, exists.
func (w *Workspace) refreshAsset(p string) (Change, error) {
	info, err := fs.Stat(w.store.fsys, p)
	exists := err == nil && info.Mode().IsRegular() && !w.store.ignored(p)
	w.mu.Lock()
	defer w.mu.Unlock()
	c := Change{Path: p}
	if w.closed {
		return c, ErrClosed
	}
	if _, had := w.assets[p]; had == exists {
		return c, nil
	}
	if exists {
		w.addAsset(p)
	} else {
		w.removeAsset(p)
	}
	c.Affected = w.linkers([]string{fileKey(p), nameKey(path.Base(p))})
	return c, nil
}

// Rescan reads again everything that has changed on disk and returns what
// differs. It stops with the context.
func (w *Workspace) Rescan(ctx context.Context) ([]Change, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return w.Refresh(".")
}
