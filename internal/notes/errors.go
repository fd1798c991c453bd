package notes

import "errors"

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
