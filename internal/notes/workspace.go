package notes

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Options limits a workspace. The zero value, and nil, mean the defaults.
type Options struct {
	MaxNote  int64 // bytes of one note; default 32 MiB
	MaxTotal int64 // bytes of all notes together; default 1 GiB
	MaxNotes int   // number of notes; default 100,000, at most 1,048,576

	// Flat has only the files of the directory itself read, not those below it.
	// Links to files below work if the files exist.
	Flat bool

	// Progress, if set, is told while Open reads how many of the notes found
	// have been read. It is called from one goroutine at a time.
	Progress func(done, total int)

	// Wrap, if set, stands between the workspace and each file that it writes.
	// Tests have writes fail with it.
	Wrap func(io.Writer) io.Writer
}

const (
	maxFiles = 1 << 20 // files and directories one scan looks at
	maxNotes = maxFiles
)

func (o *Options) withDefaults() Options {
	var d Options
	if o != nil {
		d = *o
	}
	if d.MaxNote <= 0 {
		d.MaxNote = 32 << 20
	}
	if d.MaxTotal <= 0 {
		d.MaxTotal = 1 << 30
	}
	if d.MaxNotes <= 0 {
		d.MaxNotes = 100_000
	}
	d.MaxNotes = min(d.MaxNotes, maxNotes)
	return d
}

// A Workspace is a folder of notes with everything known about how they hang
// together. All methods are safe for concurrent use.
type Workspace struct {
	options Options
	dir     string // absolute; "" unless on disk
	real    string // dir without symbolic links
	store   store

	// files is held while the workspace reads or writes files and applies what
	// it found, so that an older reading never replaces a newer one. It is taken
	// before mu, and never while mu is held.
	files sync.Mutex
	file  []byte // memory for the next file to be read; held by files

	// met are changes that a write met in the file it was about to change, and
	// that the next Refresh has to tell of, by path; held by files.
	met map[string]Change

	mu         sync.RWMutex
	closed     bool
	entries    map[string]*entry
	folded     map[string][]string // lower-case path -> paths
	names      map[string][]string // nameKey of file name or title -> paths
	refs       map[string][]string // link key -> paths of the notes with such a link
	tags       map[string]int      // tag as written -> notes that have it
	dirs       map[string]int      // directory -> files below it
	assets     map[string]struct{}
	assetNames map[string]string // lower-case base name -> the first such asset
	skipped    map[string]struct{}
	bad        []Skipped
	total      int64
	sorted     []*Note  // cache of Notes, nil when stale
	catalog    []listed // all notes, in no order

	search *searchIndex
}

// An entry is a note as stored and as edited; at least one is set.
type entry struct {
	disk, overlay *Note
	at            int // index in Workspace.catalog, set by replace
}

// A listed note has at hand, side by side with the others, what completion looks
// through.
type listed struct {
	note              *Note
	path, title, fold string

	// Of titles, and directories, that differ in these no more need be looked at.
	head uint64 // the first bytes of the title, in order
	dir  uint32 // a hash of the directory
}

func (e *entry) note() *Note {
	if e.overlay != nil {
		return e.overlay
	}
	return e.disk
}

// Open reads the notes of the directory dir and of all directories below it,
// except hidden ones and node_modules. Files that cannot be read, are too large
// or lie behind a symbolic link out of dir are left out and listed by Skipped.
func Open(dir string, o *Options) (*Workspace, error) {
	return OpenContext(context.Background(), dir, o)
}

// OpenContext is Open under a context. When it ends, opening stops with the
// context's error.
func OpenContext(ctx context.Context, dir string, o *Options) (*Workspace, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	w := newWorkspace(store{fsys: root.FS(), root: root}, o)
	w.dir, w.real = abs, abs
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		w.real = real
	}
	if err := w.load(ctx); err != nil {
		root.Close()
		return nil, err
	}
	return w, nil
}

// OpenFS reads the notes of a file system, which must not change while the
// workspace is in use. Nothing can be written to it.
func OpenFS(fsys fs.FS, o *Options) (*Workspace, error) {
	w := newWorkspace(store{fsys: fsys}, o)
	if err := w.load(context.Background()); err != nil {
		return nil, err
	}
	return w, nil
}

// New returns a workspace in memory that holds the files given by path.
func New(files map[string]string, o *Options) (*Workspace, error) {
	for p := range files {
		if err := checkPath(p); err != nil {
			return nil, err
		}
	}
	w := newWorkspace(store{memory: maps.Clone(files)}, o)
	if w.store.memory == nil {
		w.store.memory = make(map[string]string)
	}
	if err := w.load(context.Background()); err != nil {
		return nil, err
	}
	return w, nil
}

func newWorkspace(s store, o *Options) *Workspace {
	s.rules = new(ignoreRules)
	options := o.withDefaults()
	s.flat, s.wrap = options.Flat, options.Wrap
	return &Workspace{
		options:    options,
		store:      s,
		entries:    make(map[string]*entry),
		folded:     make(map[string][]string),
		names:      make(map[string][]string),
		refs:       make(map[string][]string),
		tags:       make(map[string]int),
		dirs:       make(map[string]int),
		assets:     make(map[string]struct{}),
		assetNames: make(map[string]string),
		skipped:    make(map[string]struct{}),
		search:     newSearchIndex(),
	}
}

// Close releases the root directory. The notes stay readable.
func (w *Workspace) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	return w.store.close()
}

// Dir returns the absolute path of the root, "" for a workspace that is not on
// disk.
func (w *Workspace) Dir() string { return w.dir }

// Rel turns the absolute path of a file into its path in the workspace. ok is
// false when the file is not below the root. Where the file system does not tell
// cases apart, the spelling of a note that is there already is kept.
func (w *Workspace) Rel(file string) (p string, ok bool) {
	if w.dir == "" {
		return "", false
	}
	for _, root := range []string{w.dir, w.real} {
		rel, err := filepath.Rel(root, file)
		if err != nil {
			continue
		}
		if rel = filepath.ToSlash(rel); checkPath(rel) == nil {
			return w.spelling(rel), true
		}
	}
	return "", false
}

// spelling returns the path of the note that is the same file as the one at p.
func (w *Workspace) spelling(p string) string {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.note(p) != nil || w.closed {
		return p
	}
	for _, q := range w.folded[strings.ToLower(p)] {
		a, errA := w.store.root.Stat(p)
		b, errB := w.store.root.Stat(q)
		if errA == nil && errB == nil && os.SameFile(a, b) {
			return q
		}
	}
	return p
}

// Abs returns the absolute path of a path in the workspace, "" for a workspace
// that is not on disk.
func (w *Workspace) Abs(p string) string {
	if w.dir == "" {
		return ""
	}
	return filepath.Join(w.dir, filepath.FromSlash(p))
}

// Skipped returns what was left out of the workspace and why.
func (w *Workspace) Skipped() []Skipped {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return slices.Clone(w.bad)
}

// Notes returns all notes ordered by path. The slice is the caller's.
func (w *Workspace) Notes() []*Note {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sorted == nil {
		w.sorted = make([]*Note, 0, len(w.entries))
		for _, e := range w.entries {
			w.sorted = append(w.sorted, e.note())
		}
		slices.SortFunc(w.sorted, func(a, b *Note) int { return strings.Compare(a.Path, b.Path) })
	}
	return slices.Clone(w.sorted)
}

// Len returns the number of notes.
func (w *Workspace) Len() int {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return len(w.entries)
}

// Note returns the note with this slug.
func (w *Workspace) Note(slug string) (*Note, bool) { return w.At(PathOf(slug)) }

// At returns the note at this path.
func (w *Workspace) At(p string) (*Note, bool) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	n := w.note(p)
	return n, n != nil
}

func (w *Workspace) note(p string) *Note {
	if e := w.entries[p]; e != nil {
		return e.note()
	}
	return nil
}

// Stored returns the note at this path as it is in the file, whatever overlay
// lies over it.
func (w *Workspace) Stored(p string) (*Note, bool) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if e := w.entries[p]; e != nil && e.disk != nil {
		return e.disk, true
	}
	return nil, false
}
