package notes

import "fmt"

// A Change tells what one edit did. Old is nil for a new note, New for one that
// is gone, and both for a file that is no note.
type Change struct {
	Path     string
	Old, New *Note

	// Affected holds, in order, the paths of other notes with links that may
	// lead elsewhere than before: their problems are worth another look. It is
	// empty for an edit that leaves title, headings and anchors alone.
	Affected []string
}

// SetOverlay puts unsaved text over the note at path, in place of an overlay
// that may be there. The note need not exist yet. Only this note is parsed
// anew. The version is the caller's own and is kept as Note.EditVersion.
func (w *Workspace) SetOverlay(p, text string, version int32) (Change, error) {
	if err := checkNotePath(p); err != nil {
		return Change{}, err
	}
	if int64(len(text)) > w.options.MaxNote {
		return Change{}, fmt.Errorf("%q: %w: %d bytes, the limit is %d", p, ErrTooLarge, len(text), w.options.MaxNote)
	}
	n := w.same(p, text)
	if n == nil {
		n = Parse(p, text) // outside the lock: readers go on meanwhile
	}
	n.Overlay, n.EditVersion = true, version

	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return Change{}, ErrClosed
	}
	old := w.entries[p]
	e := &entry{overlay: n}
	if old == nil && len(w.entries) >= w.options.MaxNotes {
		return Change{}, fmt.Errorf("%w: more than %d notes", ErrTooLarge, w.options.MaxNotes)
	}
	had := 0
	if old != nil {
		e.disk = old.disk
		had = len(old.note().Text)
	}
	if w.total+int64(len(n.Text)-had) > w.options.MaxTotal {
		return Change{}, fmt.Errorf("%q: %w: the notes exceed %d bytes", p, ErrTooLarge, w.options.MaxTotal)
	}
	return w.changed(p, e), nil
}

// same returns a copy of the note at path if it has this very text, else nil.
// Editors open files unchanged and ask again about texts they have sent.
func (w *Workspace) same(p, text string) *Note {
	current, _ := w.At(p)
	if current == nil || current.Text != text || current.Repaired {
		return nil
	}
	n := *current
	return &n
}

// ClearOverlay takes the unsaved text off the note at path. The note then reads
// as its file does now, which the editor may have saved meanwhile, or is gone if
// there is no file. Without an overlay nothing happens.
func (w *Workspace) ClearOverlay(p string) (Change, error) {
	w.files.Lock()
	defer w.files.Unlock()
	disk, err := w.reread(p)
	if err != nil {
		return Change{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return Change{}, ErrClosed
	}
	old := w.entries[p]
	switch {
	case old == nil || old.overlay == nil:
		n := w.note(p)
		return Change{Path: p, Old: n, New: n}, nil
	case disk == nil:
		return w.changed(p, nil), nil
	}
	return w.changed(p, &entry{disk: disk}), nil
}

// changed replaces an entry and notes that the search index is behind.
func (w *Workspace) changed(p string, e *entry) Change {
	c := w.replace(p, e)
	w.search.touch(p)
	return c
}
