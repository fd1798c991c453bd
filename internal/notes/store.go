package notes

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
)

// A store is where the files of a workspace are. On disk it is an os.Root,
// which follows no symbolic link out of its directory.
type store struct {
	fsys   fs.FS             // nil for memory
	root   *os.Root          // nil unless on disk
	memory map[string]string // path -> content, nil unless in memory

	rules *ignoreRules
	flat  bool                      // no directory but the root is entered
	wrap  func(io.Writer) io.Writer // see Options.Wrap
}

// read appends to buf the content of a regular file of at most limit bytes.
func (s *store) read(buf []byte, name string, limit int64) ([]byte, error) {
	if s.memory != nil {
		body, ok := s.memory[name]
		if !ok {
			return buf, fmt.Errorf("%q: %w", name, fs.ErrNotExist)
		}
		if int64(len(body)) > limit {
			return buf, fmt.Errorf("%q: %w: %d bytes, the limit is %d", name, ErrTooLarge, len(body), limit)
		}
		return append(buf, body...), nil
	}
	f, err := s.fsys.Open(name)
	if err != nil {
		return buf, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return buf, err
	}
	if !info.Mode().IsRegular() {
		return buf, fmt.Errorf("%q is no regular file", name)
	}
	if info.Size() > limit {
		return buf, fmt.Errorf("%q: %w: %d bytes, the limit is %d", name, ErrTooLarge, info.Size(), limit)
	}
	// The file may grow between the two calls; one byte more than the limit
	// tells. The end is found by a read of nothing, which needs some room.
	start := len(buf)
	limit = min(limit, math.MaxInt64/2)
	buf = slices.Grow(buf, int(info.Size())+1)
	for {
		room := buf[len(buf):min(int64(cap(buf)), int64(start)+limit+1)]
		n, err := f.Read(room)
		buf = buf[:len(buf)+n]
		switch {
		case int64(len(buf)-start) > limit:
			return buf, fmt.Errorf("%q: %w: more than %d bytes", name, ErrTooLarge, limit)
		case err == io.EOF:
			return buf, nil
		case err != nil:
			return buf, err
		case len(buf) == cap(buf):
			buf = slices.Grow(buf, 4096)
		}
	}
}

func (s *store) exists(name string) bool {
	if s.memory != nil {
		_, ok := s.memory[name]
		return ok
	}
	_, err := fs.Stat(s.fsys, name)
	return err == nil
}

// A listing is what a walk of the store found.
type listing struct {
	notes   []string
	assets  []string
	skipped []string // directories not entered and files passed over
	bad     []Skipped
}

// Skipped is a file or directory that was left out of the workspace, and why.
type Skipped struct {
	Path string
	Err  error
}

// list walks the store, or the part of it below dir. Unreadable parts are noted and left out.
func (s *store) list(dir string, maxFiles int) listing {
	var l listing
	if s.memory != nil {
		for _, p := range slices.Sorted(maps.Keys(s.memory)) {
			switch {
			case IsNote(p):
				l.notes = append(l.notes, p)
			default:
				l.assets = append(l.assets, p)
			}
		}
		return l
	}
	files := 0
	_ = fs.WalkDir(s.fsys, dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			l.bad = append(l.bad, Skipped{p, err})
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if p == "." {
			s.loadRules(p)
			return nil
		}
		if strings.HasPrefix(d.Name(), tempPrefix) {
			return nil
		}
		if files++; files > maxFiles {
			l.bad = append(l.bad, Skipped{p, fmt.Errorf("%w: more than %d files", ErrTooLarge, maxFiles)})
			return fs.SkipAll
		}
		if d.IsDir() {
			if s.ignoredDir(p) {
				l.skipped = append(l.skipped, p)
				return fs.SkipDir
			}
			s.loadRules(p)
			return nil
		}
		if s.rules.ignore(p, false) {
			l.skipped = append(l.skipped, p)
			return nil
		}
		if err := checkPath(p); err != nil {
			l.bad = append(l.bad, Skipped{p, err})
			return nil
		}
		if d.Type()&fs.ModeSymlink != 0 {
			// A link to a file inside the root is that file; one to a directory
			// is not entered, so that cycles cannot matter.
			info, err := fs.Stat(s.fsys, p)
			if err != nil {
				l.bad = append(l.bad, Skipped{p, err})
				return nil
			}
			if info.IsDir() {
				l.skipped = append(l.skipped, p)
				return nil
			}
			if !info.Mode().IsRegular() {
				return nil
			}
		} else if !d.Type().IsRegular() {
			return nil
		}
		if IsNote(p) {
			l.notes = append(l.notes, p)
		} else {
			l.assets = append(l.assets, p)
		}
		return nil
	})
	return l
}

// dirs returns the directory at path and those below it that a scan enters.
func (s *store) dirs(p string, limit int) (list []string) {
	if info, err := fs.Stat(s.fsys, p); err != nil || !info.IsDir() {
		return nil
	}
	_ = fs.WalkDir(s.fsys, p, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir():
			return nil
		case p != "." && s.ignoredDir(p):
			return fs.SkipDir
		case len(list) > limit:
			return fs.SkipAll
		}
		list = append(list, p)
		return nil
	})
	return list
}

// moving reports whether files can change behind the workspace's back.
func (s *store) moving() bool { return s.root != nil }

func (s *store) close() error {
	if s.root == nil {
		return nil
	}
	return s.root.Close()
}
