package notes

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// A Move gives a file, or a directory with all that is in it, another path.
type Move struct{ From, To string }

// apply returns the path that a file has after the move.
func (m Move) apply(p string) (string, bool) {
	if p == m.From {
		return m.To, true
	}
	if rest, ok := strings.CutPrefix(p, m.From+"/"); ok {
		return m.To + "/" + rest, true
	}
	return p, false
}

// RenameNote returns the edits that keep all links working when the note at one
// path gets another: links to it, and the relative links it holds. The edits are
// for the notes as they are before the move.
func (w *Workspace) RenameNote(from, to string) ([]NoteEdits, error) {
	if err := checkNotePath(to); err != nil {
		return nil, err
	}
	if _, ok := w.At(from); !ok {
		return nil, fmt.Errorf("%w: %q", ErrNotFound, from)
	}
	return w.RenameFiles([]Move{{from, to}})
}

// RenameFiles is RenameNote for any files and directories at once. Moves of what
// the workspace does not know ask for no edits; one onto a note that stays fails
// with ErrExists.
func (w *Workspace) RenameFiles(moves []Move) ([]NoteEdits, error) {
	for _, m := range moves {
		for _, p := range []string{m.From, m.To} {
			if err := checkPath(p); err != nil {
				return nil, err
			}
		}
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	moved := func(p string) (string, bool) {
		for _, m := range moves {
			if q, ok := m.apply(p); ok {
				return q, q != p
			}
		}
		return p, false
	}
	became := make(map[*Note]*Note)
	var keys []string
	for p, e := range w.entries {
		if to, ok := moved(p); ok && IsNote(to) {
			n := e.note()
			became[n] = parseAs(n, to)
			keys = append(append(keys, targetKeys(n)...), targetKeys(became[n])...)
		}
	}
	for _, n := range became {
		if other := w.note(n.Path); other != nil && became[other] == nil {
			return nil, fmt.Errorf("%w: %q", ErrExists, n.Path)
		}
	}
	for p := range w.assets {
		if _, ok := moved(p); ok {
			keys = append(keys, fileKey(p), nameKey(path.Base(p)))
		}
	}
	for p := range w.dirs {
		if _, ok := moved(p); ok {
			keys = append(keys, fileKey(p))
		}
	}
	after := w.with(became)
	edits := make(editSet)
	relink := func(other *Note, at string) {
		for _, l := range other.Links {
			t := w.resolve(other, l)
			to, ok := moved(t.Path)
			if file, _, _ := splitDest(l.Dest); l.Kind != Wiki && t.Note != nil {
				// A link to a directory, for its README, stays one if it moves.
				if dir, in := joinDest(other.Path, file); in && w.dirs[dir] > 0 {
					if q, also := moved(dir); also {
						to = q
					}
				}
			}
			switch {
			case l.Kind == Wiki && t.Note != nil:
				after.rename(edits, other, l, t.Note, at)
			case l.Kind == Wiki && ok && t.Err == nil && strings.Contains(l.Dest, "/"):
				edits.add(other, Edit{l.DestSpan, to})
			case l.Kind == Wiki || t.External || t.Path == "":
			case ok && (t.Note == nil || became[t.Note] != nil):
				relinkPath(edits, other, l, t, at, to)
			case at != other.Path:
				relinkPath(edits, other, l, t, at, t.Path)
			}
		}
	}
	// A note may also take a name over that meant another one.
	slices.Sort(keys)
	for _, p := range w.linkers(slices.Compact(keys)) {
		if other := w.note(p); became[other] == nil {
			relink(other, p)
		}
	}
	for n, is := range became {
		relink(n, is.Path)
	}
	return edits.list(), nil
}

// parseAs is what a note becomes at another path.
func parseAs(n *Note, p string) *Note {
	is := *n
	is.Path, is.Slug = p, SlugOf(p)
	is.Title = is.title()
	is.keys = linkKeys(&is)
	is.fold = strings.ToLower(is.Path + "\n" + is.Title)
	return &is
}

// rename adds the edit, if one is needed, that makes a wiki link of a note,
// which then will be at path from, lead to the note that target becomes.
func (v view) rename(edits editSet, n *Note, l Link, target *Note, from string) {
	was := target
	if is := v.became[target]; is != nil {
		target = is
	}
	raw, _, _ := strings.Cut(n.Slice(l.DestSpan), "#")
	raw = strings.TrimRight(raw, " ")
	if raw == "" || v.lookupName(from, raw) == target {
		return
	}
	stem, _ := cutNoteExt(target.Path)
	names := []string{path.Base(stem), stem, target.Path, nameKey(path.Base(stem))}
	if strings.Contains(raw, "/") {
		names = names[1:]
	}
	if target != was && nameKey(raw) == nameKey(was.Title) && !strings.ContainsAny(target.Title, "/\n") {
		names = slices.Insert(names, 0, target.Title) // it was called by its title
	}
	for _, name := range names {
		if !strings.ContainsAny(name, "[]|#") && v.lookupName(from, name) == target {
			edits.add(n, Edit{Span{l.DestSpan.Start, l.DestSpan.Start + len(raw)}, name})
			return
		}
	}
}
