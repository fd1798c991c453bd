package notes

import (
	"errors"
	"fmt"
)

// Errors of the workspace; test for them with errors.Is. Paths and other text
// that came from outside is quoted in their messages.
var (
	// ErrPath says that a path is malformed, leaves the root or is not a note's.
	ErrPath = errors.New("bad note path")
	// ErrNotFound says that there is no such note.
	ErrNotFound = errors.New("no such note")
	// ErrTooLarge says that a text is longer than Options.MaxNote, or that the
	// workspace has reached Options.MaxNotes or Options.MaxTotal.
	ErrTooLarge = errors.New("too large")
	// ErrReadOnly says that the workspace is not on disk.
	ErrReadOnly = errors.New("read-only workspace")
	// ErrExists says that there is a file where a new one was to be made.
	ErrExists = errors.New("file exists")
	// ErrUnsaved says that a note has an overlay: whoever holds the unsaved text
	// has to make the edit.
	ErrUnsaved = errors.New("note has unsaved text")
	// ErrClosed says that the workspace was closed.
	ErrClosed = errors.New("workspace closed")
)

// Reasons for which a link is broken; they are found in Target.Err.
var (
	// ErrNoNote says that the note a link names does not exist.
	ErrNoNote = errors.New("no such note")
	// ErrNoHeading says that the note exists but has no such heading or anchor.
	ErrNoHeading = errors.New("no such heading")
	// ErrNoFile says that a link to something other than a note, an image for
	// instance, names no file of the workspace.
	ErrNoFile = errors.New("no such file")
	// ErrOutside says that a link leads out of the workspace. Such a file is
	// never looked at.
	ErrOutside = errors.New("outside the workspace")
)

// A ConflictError says that a note is not, or no longer, in the version that a
// write was meant for. Nothing was written.
type ConflictError struct {
	Path    string
	Want    string // the version the caller expected
	Current *Note  // the note as it is now, nil if it is gone
}

// Error implements error.
func (e *ConflictError) Error() string {
	if e.Current == nil {
		return fmt.Sprintf("%q is gone, expected version %.64q", e.Path, e.Want)
	}
	return fmt.Sprintf("%q has changed: it is in version %s, expected was %.64q", e.Path, e.Current.Version, e.Want)
}
