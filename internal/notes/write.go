package notes

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Create writes a new note, with the directories it needs, and fails with
// ErrExists if there is a file at path.
//
// Like all writes it is safe against a crash and a full disk: the text goes to a
// temporary file in the same directory, is flushed to the disk, and only then
// takes its name. After an error nothing has changed. Symbolic links are not
// followed: a path through one is refused with ErrPath.
func (w *Workspace) Create(p, text string) (Change, error) {
	return w.write(p, text, func(disk *Note) error {
		if disk != nil || w.store.exists(p) {
			return fmt.Errorf("%w: %q", ErrExists, p)
		}
		return nil
	}, true)
}

// Write replaces the text of a note that has the given version, and fails with
// a *ConflictError if it is another one by now. The version is compared with the
// file, not with what the workspace last knew of it. A note with unsaved text is
// left alone: ErrUnsaved.
func (w *Workspace) Write(p, text, version string) (Change, error) {
	return w.write(p, text, func(disk *Note) error {
		if disk == nil {
			if version == "" {
				return fmt.Errorf("%w: %q", ErrNotFound, p)
			}
			return &ConflictError{Path: p, Want: version}
		}
		if disk.Version != version {
			return &ConflictError{Path: p, Want: version, Current: disk}
		}
		return nil
	}, false)
}

func (w *Workspace) write(p, text string, check func(disk *Note) error, create bool) (Change, error) {
	if err := w.writable(p); err != nil {
		return Change{}, err
	}
	if int64(len(text)) > w.options.MaxNote {
		return Change{}, fmt.Errorf("%q: %w: %d bytes, the limit is %d", p, ErrTooLarge, len(text), w.options.MaxNote)
	}
	w.files.Lock()
	defer w.files.Unlock()
	disk, err := w.fresh(p, check)
	if err != nil {
		return Change{}, err
	}
	if disk != nil && disk.Text == text && !disk.Repaired {
		return Change{Path: p, Old: disk, New: disk}, nil
	}
	n := Parse(p, text)
	if n.Repaired {
		return Change{}, fmt.Errorf("write %q: the text is not valid UTF-8", p)
	}
	if err := w.store.replace(p, text, create); err != nil {
		if errors.Is(err, fs.ErrExist) {
			err = fmt.Errorf("%w: %q", ErrExists, p)
		}
		return Change{}, fmt.Errorf("write %q: %w", p, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.met, p)
	return w.stored(p, n), nil
}

// Remove deletes the file of a note that has the given version, see Write.
func (w *Workspace) Remove(p, version string) (Change, error) {
	if err := w.writable(p); err != nil {
		return Change{}, err
	}
	w.files.Lock()
	defer w.files.Unlock()
	_, err := w.fresh(p, func(disk *Note) error {
		if disk == nil {
			return fmt.Errorf("%w: %q", ErrNotFound, p)
		}
		if disk.Version != version {
			return &ConflictError{Path: p, Want: version, Current: disk}
		}
		return nil
	})
	if err != nil {
		return Change{}, err
	}
	if err := w.store.root.Remove(p); err != nil {
		return Change{}, fmt.Errorf("remove %q: %w", p, err)
	}
	w.store.syncDir(path.Dir(p))
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stored(p, nil), nil
}

// Move gives the file of a note another path, which must be free. It changes no
// link; see RenameNote for the edits that keep them whole.
func (w *Workspace) Move(from, to string) ([]Change, error) {
	for _, p := range []string{from, to} {
		if err := w.writable(p); err != nil {
			return nil, err
		}
	}
	w.files.Lock()
	defer w.files.Unlock()
	disk, err := w.fresh(from, func(disk *Note) error {
		if disk == nil {
			return fmt.Errorf("%w: %q", ErrNotFound, from)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if _, err := w.fresh(to, func(*Note) error { return nil }); err != nil {
		return nil, err
	}
	if err := w.store.move(from, to); err != nil {
		if errors.Is(err, fs.ErrExist) {
			err = fmt.Errorf("%w: %q", ErrExists, to)
		}
		return nil, fmt.Errorf("move %q: %w", from, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	n := Parse(to, disk.Text)
	return []Change{w.stored(from, nil), w.stored(to, n)}, nil
}

// writable checks what can be checked of a path without looking at files.
func (w *Workspace) writable(p string) error {
	if !w.store.moving() {
		return ErrReadOnly
	}
	if err := checkNotePath(p); err != nil {
		return err
	}
	if w.store.ignored(p) || hidden(path.Base(p)) {
		return fmt.Errorf("%w: %q lies where the workspace does not look", ErrPath, p)
	}
	return checkFileName(p)
}

// Linked reports whether the file at path is, or lies behind, a symbolic link.
// Such a file is read and never written.
func (w *Workspace) Linked(p string) bool {
	return w.store.moving() && w.store.noLinks(p) != nil
}

// checkFileName refuses a path that is not one on every system.
func checkFileName(p string) error {
	for _, part := range strings.Split(p, "/") {
		if len(part) > maxName || strings.TrimRight(part, " .") != part || strings.ContainsAny(part, `<>:"|*?`) || hasControl(part) {
			return fmt.Errorf("%w: %q is not a file name on every system", ErrPath, p)
		}
	}
	return nil
}

// maxName bounds the bytes of a file name in what is written: 255 is the limit
// of most file systems, and the temporary file needs some.
const maxName = 200

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r == 0x7f })
}

// fresh reads the file at path, brings the workspace up to date with it, and
// asks check about it. The caller holds w.files.
func (w *Workspace) fresh(p string, check func(disk *Note) error) (*Note, error) {
	if err := w.store.noLinks(p); err != nil {
		return nil, err
	}
	disk, err := w.reread(p)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.meet(w.stored(p, disk))
	unsaved := w.entries[p] != nil && w.entries[p].overlay != nil
	w.mu.Unlock()
	if unsaved {
		return nil, fmt.Errorf("%w: %q", ErrUnsaved, p)
	}
	return disk, check(disk)
}

// maxMet bounds Workspace.met where nobody calls Refresh.
const maxMet = 1024

// meet keeps a change for the next Refresh to tell. The caller holds w.files.
func (w *Workspace) meet(c Change) {
	if c.Old == c.New {
		return
	}
	if before, ok := w.met[c.Path]; ok {
		c = before.then(c)
	}
	if w.met == nil {
		w.met = make(map[string]Change)
	}
	if w.met[c.Path] = c; len(w.met) > maxMet {
		clear(w.met)
	}
}

// then is what two changes of a note after each other come to.
func (c Change) then(d Change) Change {
	affected := slices.Concat(c.Affected, d.Affected)
	slices.Sort(affected)
	return Change{Path: c.Path, Old: c.Old, New: d.New, Affected: slices.Compact(affected)}
}
