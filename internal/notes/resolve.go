package notes

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// A Target is what a link leads to.
type Target struct {
	Path     string   // the file it names, relative to the root; "" for an external link
	Note     *Note    // nil unless the file is a note of the workspace
	Heading  *Heading // nil unless the fragment names a heading of Note
	Anchor   *Anchor  // nil unless the fragment names an anchor in raw HTML
	Fragment string   // decoded, without '#'
	External bool     // has a scheme or host of its own: never checked, never fetched

	// Err is nil if the link works, else it wraps ErrNoNote, ErrNoHeading,
	// ErrNoFile or ErrOutside and says what is missing. With ErrNoHeading the
	// Note is set.
	Err error
}

// Broken reports whether the link leads nowhere.
func (t Target) Broken() bool { return t.Err != nil }

// Resolve follows a link of a note. The note may be older than the workspace;
// the target is always current.
//
// A path is relative to the note, or to the root if it begins with '/'; it may
// leave out the extension, and a directory stands for its README or index note.
// A wiki name matches, in this order, a path, a file name and a title, without
// regard to case, blanks or punctuation; of several matches the nearest to the
// linking note wins, then the shorter path, then the lower one.
func (w *Workspace) Resolve(n *Note, l Link) Target {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.resolve(n, l)
}

func (w *Workspace) resolve(n *Note, l Link) Target {
	if l.Kind == Auto || l.Kind != Wiki && external(l.Dest) {
		return Target{External: true}
	}
	if l.Kind == Wiki {
		return w.resolveWiki(n, l)
	}
	file, fragment, _ := splitDest(l.Dest)
	t := Target{Fragment: fragment}
	if file == "" {
		return w.withHeading(t, w.current(n))
	}
	p, ok := joinDest(n.Path, file)
	if !ok {
		t.Err = fmt.Errorf("%q is %w", clip(l.Dest), ErrOutside)
		return t
	}
	found, asset := w.lookupPath(p)
	if found == nil && !asset {
		if cut, _, query := strings.Cut(file, "?"); query && cut != "" {
			if q, ok := joinDest(n.Path, cut); ok {
				if found, asset = w.lookupPath(q); found != nil || asset {
					p = q
				}
			}
		}
	}
	switch {
	case found != nil:
		return w.withHeading(t, found)
	case asset:
		t.Path = p
	case path.Ext(p) == "" || IsNote(p):
		t.Path = p
		if !IsNote(p) {
			t.Path += ".md"
		}
		t.Err = fmt.Errorf("%w: %q", ErrNoNote, clip(p))
	default:
		t.Path = p
		t.Err = fmt.Errorf("%w: %q", ErrNoFile, clip(p))
	}
	return t
}

// lookupPath finds the note or other file that a path in a link names.
func (w *Workspace) lookupPath(p string) (n *Note, asset bool) {
	for _, ext := range [...]string{"", ".md", ".markdown", "/README.md", "/index.md", "/readme.md"} {
		q := p + ext
		if p == "." {
			q = strings.TrimPrefix(ext, "/")
		}
		if n := w.note(q); n != nil {
			return n, false
		}
	}
	if p == "." || w.dirs[p] > 0 {
		return nil, true
	}
	if _, ok := w.assets[p]; ok {
		return nil, true
	}
	// Files below a directory the scan did not enter are looked at on demand.
	for dir := p; dir != "."; dir = path.Dir(dir) {
		if _, ok := w.skipped[dir]; ok {
			return nil, w.store.exists(p)
		}
	}
	return nil, false
}

func (w *Workspace) resolveWiki(n *Note, l Link) Target {
	name, fragment, _ := strings.Cut(l.Dest, "#")
	name = strings.TrimSpace(name)
	t := Target{Fragment: strings.TrimSpace(fragment)}
	// [[a#b#c]] names the heading c below b, as Obsidian writes it.
	if i := strings.LastIndexByte(t.Fragment, '#'); i >= 0 {
		t.Fragment = strings.TrimSpace(t.Fragment[i+1:])
	}
	if name == "" {
		return w.withHeading(t, w.current(n))
	}
	if found := (view{Workspace: w}).lookupName(n.Path, name); found != nil {
		return w.withHeading(t, found)
	}
	if ext := path.Ext(name); ext != "" && !IsNote(name) {
		// [[picture.png]] names a file by its path or, as a last resort, by its
		// base name anywhere.
		for _, p := range [...]string{path.Join(path.Dir(n.Path), name), path.Clean(strings.TrimLeft(name, "/"))} {
			if _, ok := w.assets[p]; ok {
				t.Path = p
				return t
			}
		}
		if p, ok := w.assetNames[strings.ToLower(path.Base(name))]; ok && !strings.Contains(name, "/") {
			t.Path = p
			return t
		}
	}
	t.Path = name
	missing := ErrNoNote
	if l.Image && path.Ext(name) != "" && !IsNote(name) {
		missing = ErrNoFile
	} else if !IsNote(t.Path) {
		t.Path += ".md"
	}
	if dir := path.Dir(n.Path); !strings.Contains(name, "/") && dir != "." {
		t.Path = dir + "/" + t.Path
	}
	t.Err = fmt.Errorf("%w: %q", missing, clip(name))
	return t
}

// A view is the workspace as it is, or as it would be with other notes in place
// of some.
type view struct {
	*Workspace
	became map[*Note]*Note
	added  map[string]*Note   // what they become, by path
	names  map[string][]*Note // and by each of targetKeys
}

func (w *Workspace) with(became map[*Note]*Note) view {
	v := view{w, became, make(map[string]*Note, len(became)), make(map[string][]*Note)}
	for _, n := range became {
		v.added[n.Path] = n
		for _, key := range targetKeys(n) {
			v.names[key] = append(v.names[key], n)
		}
	}
	return v
}

func (v view) at(p string) *Note {
	if n := v.added[p]; n != nil {
		return n
	}
	if n := v.note(p); n != nil && v.became[n] == nil {
		return n
	}
	return nil
}

// named calls f with the notes whose file name or title has a key.
func (v view) named(key string, f func(*Note)) {
	for _, p := range v.Workspace.names[key] {
		if n := v.note(p); v.became[n] == nil {
			f(n)
		}
	}
	for _, n := range v.names[key] {
		f(n)
	}
}

// lookupName finds the note that a wiki link of the note at from names, nil if
// there is none.
func (v view) lookupName(from, name string) *Note {
	if n := v.at(PathOf(strings.TrimPrefix(name, "/"))); n != nil {
		return n
	}
	stem, _ := cutNoteExt(name)
	dir, base := path.Split(stem)
	dir = strings.ToLower(strings.Trim(dir, "/"))
	var best *Note
	v.named(nameKey(base), func(n *Note) {
		if dir != "" {
			d := strings.ToLower(path.Dir(n.Path))
			if d != dir && !strings.HasSuffix(d, "/"+dir) {
				return
			}
		}
		if best == nil || nearer(from, n, best, base) {
			best = n
		}
	})
	return best
}

// nearer orders the candidates for a wiki name.
func nearer(from string, a, b *Note, base string) bool {
	rank := func(n *Note) (r int) {
		stem, _ := cutNoteExt(path.Base(n.Path))
		switch {
		case stem == base:
		case nameKey(stem) == nameKey(base):
			r = 1
		default:
			r = 2 // by title
		}
		r *= 2
		if path.Dir(n.Path) != path.Dir(from) {
			r++
		}
		return r
	}
	if ra, rb := rank(a), rank(b); ra != rb {
		return ra < rb
	}
	if len(a.Path) != len(b.Path) {
		return len(a.Path) < len(b.Path)
	}
	return a.Path < b.Path
}

// withHeading completes a target whose note is known.
func (w *Workspace) withHeading(t Target, n *Note) Target {
	t.Note, t.Path = n, n.Path
	if t.Fragment == "" || t.Fragment == "top" {
		return t
	}
	if h, ok := n.Heading(t.Fragment); ok {
		t.Heading = h
		return t
	}
	// Wiki links, and people, write the heading's text instead of its slug.
	if h, ok := n.Heading(Slugify(t.Fragment)); ok {
		t.Heading = h
		return t
	}
	if a, ok := n.Anchor(t.Fragment); ok {
		t.Anchor = a
		return t
	}
	t.Err = fmt.Errorf("%w: %q in %q", ErrNoHeading, clip(t.Fragment), n.Path)
	return t
}

// current returns the newest form of a note, or the note itself if it is not in
// the workspace.
func (w *Workspace) current(n *Note) *Note {
	if c := w.note(n.Path); c != nil {
		return c
	}
	return n
}

// nameKey is the form in which wiki names, file names and titles are compared.
func nameKey(name string) string {
	if k := Slugify(name); k != "" {
		return k
	}
	return strings.ToLower(name) // nothing but punctuation
}

// fileKey is the form in which paths are compared to find who may link to them:
// lower case, without extension, a README or index note under its directory.
func fileKey(p string) string {
	if p == "." {
		return "/"
	}
	stem, _ := cutNoteExt(p)
	stem = strings.ToLower(stem)
	switch path.Base(stem) {
	case "readme", "index":
		return "/" + strings.TrimPrefix(path.Dir(stem), ".")
	}
	return "/" + stem
}

// linkKeys returns, sorted and without repeats, a key for each thing the links
// of a note could lead to. Two links with different keys never have the same
// target; equal keys are candidates only.
func linkKeys(n *Note) []string {
	var keys []string
	for _, l := range n.Links {
		switch {
		case l.Kind == Wiki:
			name, _, _ := strings.Cut(l.Dest, "#")
			if name = strings.TrimSpace(name); name == "" {
				keys = append(keys, fileKey(n.Path))
				continue
			}
			stem, _ := cutNoteExt(name)
			keys = append(keys, nameKey(path.Base(stem)))
		case external(l.Dest):
		default:
			file, _, _ := splitDest(l.Dest)
			if file == "" {
				keys = append(keys, fileKey(n.Path))
				continue
			}
			if p, ok := joinDest(n.Path, file); ok {
				keys = append(keys, fileKey(p))
			}
			if cut, _, query := strings.Cut(file, "?"); query && cut != "" {
				if p, ok := joinDest(n.Path, cut); ok {
					keys = append(keys, fileKey(p))
				}
			}
		}
	}
	slices.Sort(keys)
	return slices.Clip(slices.Compact(keys))
}

// targetKeys returns the keys under which links to a note are filed.
func targetKeys(n *Note) []string {
	stem, _ := cutNoteExt(path.Base(n.Path))
	keys := []string{fileKey(n.Path), nameKey(stem), nameKey(n.Title)}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// A Backlink is a link seen from its target.
type Backlink struct {
	Note    *Note // the note that holds the link
	Link    Link
	Heading *Heading // the heading of the target it names, if any
}

// Backlinks returns the links of other notes, and of the note itself, that lead
// to the note with this slug: ordered by path, then by position.
func (w *Workspace) Backlinks(slug string) []Backlink {
	w.mu.RLock()
	defer w.mu.RUnlock()
	target := w.note(PathOf(slug))
	if target == nil {
		return nil
	}
	var list []Backlink
	for _, p := range w.linkers(targetKeys(target)) {
		n := w.note(p)
		for _, l := range n.Links {
			if t := w.resolve(n, l); t.Note == target {
				list = append(list, Backlink{n, l, t.Heading})
			}
		}
	}
	return list
}

// linkers returns the paths of the notes that hold a link with one of the keys,
// in order.
func (w *Workspace) linkers(keys []string) []string {
	var list []string
	for _, k := range keys {
		list = append(list, w.refs[k]...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
