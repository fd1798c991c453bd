package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tandem-rpc/tandem/internal/notes"
)

// editorTime is how long an editor may take to make an edit, questions to its user included. Nobody else can write meanwhile.
const editorTime = 30 * time.Second

// change makes edits and a move: through the editors where a note lies open, in the files elsewhere. Editors come first, as they can refuse. Where it fails
// in the middle, the error says what had been done.
func (s *Server) change(ctx context.Context, f Folder, label string, edits []notes.NoteEdits, move *notes.Move) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var open, files []notes.NoteEdits
	opened := false // the note that moves lies open
	if move != nil {
		n, ok := f.At(move.From)
		opened = ok && n.Overlay
	}
	for _, e := range edits {
		switch now, ok := f.At(e.Note.Path); {
		case !ok || now.Version != e.Note.Version:
			return explain(&notes.ConflictError{Path: e.Note.Path, Want: e.Note.Version, Current: now})
		case now.Overlay:
			open = append(open, notes.NoteEdits{Note: now, Edits: e.Edits})
		default:
			files = append(files, e)
		}
	}
	if len(open) > 0 || opened {
		if s.o.Editors == nil {
			return explain(notes.ErrUnsaved)
		}
		moves := move
		if !opened {
			moves = nil
		}
		ctx, stop := context.WithTimeout(ctx, editorTime)
		defer stop()
		if err := s.o.Editors.Apply(ctx, f.Workspace, label, open, moves); err != nil {
			return err
		}
	}
	var done []notes.Change
	defer func() { s.changed(f.Workspace, done...) }()
	for i, e := range files {
		c, err := f.Write(e.Note.Path, e.Apply(), e.Note.Version)
		if err != nil {
			return partly(unwritten(err), len(open)+i, len(edits))
		}
		done = append(done, c)
	}
	if move != nil && !opened {
		moved, err := f.Move(move.From, move.To)
		if err != nil {
			return partly(unwritten(err), len(edits), len(edits))
		}
		done = append(done, moved...)
	}
	return nil
}

// partly says how much was done before it failed.
func partly(err error, done, all int) error {
	if done == 0 {
		return err
	}
	return fmt.Errorf("%w; %d of %d notes had been edited by then", err, done, all)
}

// changed tells who wants to know of files that were written.
func (s *Server) changed(w *notes.Workspace, changes ...notes.Change) {
	if len(changes) == 0 {
		return
	}
	s.Changed(w, changes...)
	if s.o.OnChange != nil {
		s.o.OnChange(w, changes)
	}
}

// now is the state of a note that has been given a text. Somebody else may have changed it again.
func (s *Server) now(name string, f Folder, p, text string) state {
	n, ok := f.At(p)
	if ok && n.Text == text {
		return stateOf(place{f, name, n})
	}
	st := stateOf(place{f, name, notes.Parse(p, text)})
	st.Unsaved = ok && n.Overlay
	return st
}

// ordered sorts edits, and refuses those that overlap.
func ordered(edits []notes.Edit) ([]notes.Edit, error) {
	slices.SortFunc(edits, func(a, b notes.Edit) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	for i := 1; i < len(edits); i++ {
		if edits[i].Span.Start < edits[i-1].Span.End {
			return nil, errors.New("two of the edits are about the same piece of text")
		}
	}
	return edits, nil
}

// explain makes the errors of a workspace ones that a model can act on.
func explain(err error) error {
	if c, ok := errors.AsType[*notes.ConflictError](err); ok && c.Current == nil {
		return fmt.Errorf("%w; create_note can make it again", err)
	} else if ok {
		return fmt.Errorf("%w; somebody else has changed it: read it and try again", err)
	}
	for _, x := range []struct {
		is   error
		says string
	}{
		{notes.ErrReadOnly, "these notes cannot be changed: they are not in a folder on disk: %w"},
		{notes.ErrPath, "that is no slug a note can have: %w"},
		{notes.ErrUnsaved, "%w, in an editor that cannot be reached from here: ask the user to save it, then read it and try again"},
		{notes.ErrExists, "%w: take another slug, or read it and use edit_note"},
		{notes.ErrTooLarge, "%w; make several notes of it"},
		{notes.ErrClosed, "%w: its folder is no longer open"},
	} {
		if errors.Is(err, x.is) {
			return fmt.Errorf(x.says, err)
		}
	}
	return err
}

// unwritten is explain for what came of writing a file.
func unwritten(err error) error {
	if told := explain(err); told != err {
		return told
	}
	return fmt.Errorf("the file could not be written and is as it was; the user may know why: %w", err)
}
