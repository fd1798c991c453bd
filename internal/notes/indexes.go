package notes

import (
	"encoding/binary"
	"hash/maphash"
	"path"
	"slices"
	"strings"
)

// replace makes e the entry of path, nil to remove it, and keeps every index in
// step. It touches only what differs between the old note and the new one. The
// caller holds the lock.
func (w *Workspace) replace(p string, e *entry) Change {
	c, targets := w.put(p, e)
	c.Affected = slices.DeleteFunc(w.linkers(targets), func(q string) bool { return q == p })
	return c
}

// put is replace without the affected notes, which are those with links to one
// of the targets.
func (w *Workspace) put(p string, e *entry) (c Change, targets []string) {
	c = Change{Path: p, Old: w.note(p)}
	w.list(p, e)
	var oldTargets, newTargets, oldKeys, newKeys []string
	if c.Old != nil {
		oldTargets, oldKeys = targetKeys(c.Old), c.Old.keys
		w.total -= int64(len(c.Old.Text))
	}
	if e != nil {
		c.New = e.note()
		newTargets, newKeys = targetKeys(c.New), c.New.keys
		w.total += int64(len(c.New.Text))
		w.entries[p] = e
	} else {
		delete(w.entries, p)
	}
	diff(oldTargets, newTargets, func(k string, add bool) { update(w.names, k, p, add) })
	diff(oldKeys, newKeys, func(k string, add bool) { update(w.refs, k, p, add) })
	w.countTags(c.Old, -1)
	w.countTags(c.New, 1)
	if (c.Old == nil) != (c.New == nil) {
		update(w.folded, strings.ToLower(p), p, c.New != nil)
		w.countDirs(p, c.New != nil)
	}
	if c.Old == nil || c.New == nil || !slices.Equal(oldTargets, newTargets) || !sameAnchors(c.Old, c.New) {
		targets = slices.Concat(oldTargets, newTargets)
	}
	w.sorted = nil
	return c, targets
}

// list keeps the catalog: the entry of path is about to become e.
func (w *Workspace) list(p string, e *entry) {
	old := w.entries[p]
	switch {
	case e != nil && old != nil:
		e.at = old.at
	case e != nil:
		e.at = len(w.catalog)
		w.catalog = append(w.catalog, listed{})
	case old != nil:
		last := len(w.catalog) - 1
		w.catalog[old.at] = w.catalog[last]
		w.entries[w.catalog[old.at].path].at = old.at
		w.catalog[last] = listed{}
		w.catalog = w.catalog[:last]
		return
	default:
		return
	}
	n := e.note()
	w.catalog[e.at] = listed{n, p, n.Title, n.fold, headOf(n.Title), hashOf(directory(p))}
}

// headOf returns the first bytes of a text as a number that orders as they do.
func headOf(s string) uint64 {
	var buf [8]byte
	copy(buf[:], s)
	return binary.BigEndian.Uint64(buf[:])
}

func hashOf(s string) uint32 { return uint32(maphash.String(termSeed, s)) }

func (w *Workspace) addAsset(p string) {
	if _, ok := w.assets[p]; ok {
		return
	}
	w.assets[p] = struct{}{}
	w.countDirs(p, true)
	base := strings.ToLower(path.Base(p))
	if first, ok := w.assetNames[base]; !ok || p < first {
		w.assetNames[base] = p
	}
}

func (w *Workspace) removeAsset(p string) {
	if _, ok := w.assets[p]; !ok {
		return
	}
	delete(w.assets, p)
	w.countDirs(p, false)
	base := strings.ToLower(path.Base(p))
	if w.assetNames[base] != p {
		return
	}
	delete(w.assetNames, base)
	for q := range w.assets { // rare enough to look at all
		if strings.ToLower(path.Base(q)) != base {
			continue
		}
		if first, ok := w.assetNames[base]; !ok || q < first {
			w.assetNames[base] = q
		}
	}
}

// countDirs keeps the set of directories that hold something.
func (w *Workspace) countDirs(p string, add bool) {
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if add {
			w.dirs[dir]++
		} else if w.dirs[dir]--; w.dirs[dir] == 0 {
			delete(w.dirs, dir)
		}
	}
}

// countTags adds by to the count of each tag of a note.
func (w *Workspace) countTags(n *Note, by int) {
	if n == nil {
		return
	}
	for i, t := range n.Tags {
		if slices.ContainsFunc(n.Tags[:min(i, maxTagRepeats)], func(u Tag) bool { return u.Name == t.Name }) {
			continue
		}
		if w.tags[t.Name] += by; w.tags[t.Name] <= 0 {
			delete(w.tags, t.Name)
		}
	}
}

// maxTagRepeats bounds the search for repeats of a tag in one note. Beyond it a
// repeat counts as another note, the same way each time.
const maxTagRepeats = 64

// A TagCount is a tag with the number of notes that have it.
type TagCount struct {
	Name  string
	Notes int
}

// Tags returns all tags, ordered by name.
func (w *Workspace) Tags() []TagCount {
	w.mu.RLock()
	defer w.mu.RUnlock()
	list := make([]TagCount, 0, len(w.tags))
	for name, n := range w.tags {
		list = append(list, TagCount{name, n})
	}
	slices.SortFunc(list, func(a, b TagCount) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// sameAnchors reports whether links into the notes by heading fare equally.
func sameAnchors(a, b *Note) bool {
	return slices.EqualFunc(a.Headings, b.Headings, func(x, y Heading) bool { return x.Slug == y.Slug && x.ID == y.ID }) &&
		slices.EqualFunc(a.Anchors, b.Anchors, func(x, y Anchor) bool { return x.ID == y.ID })
}

// diff calls f for each key that only one of two sorted lists has.
func diff(old, new []string, f func(key string, add bool)) {
	for len(old) > 0 || len(new) > 0 {
		switch {
		case len(new) == 0 || len(old) > 0 && old[0] < new[0]:
			f(old[0], false)
			old = old[1:]
		case len(old) == 0 || new[0] < old[0]:
			f(new[0], true)
			new = new[1:]
		default:
			old, new = old[1:], new[1:]
		}
	}
}

// update adds a path to, or removes it from, the list of a key.
func update(m map[string][]string, key, p string, add bool) {
	list := m[key]
	if add {
		if list == nil {
			key = strings.Clone(key) // else it would keep the whole note
		}
		m[key] = append(list, p)
		return
	}
	if i := slices.Index(list, p); i >= 0 {
		list = slices.Delete(list, i, i+1)
	}
	if len(list) == 0 {
		delete(m, key)
	} else {
		m[key] = list
	}
}
