package notes

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
)

// tempPrefix begins the names of temporary files. The dot keeps the scan, and
// other programs that read notes, away from them.
const tempPrefix = ".tandem-"

// noLinks refuses a path that is, or goes through, a symbolic link. Inside the
// root a link would be harmless, but replacing a file by rename would turn the
// link into a file.
func (s *store) noLinks(p string) error {
	for dir := p; dir != "."; dir = path.Dir(dir) {
		info, err := s.root.Lstat(dir)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%w: %q is a symbolic link", ErrPath, dir)
		}
	}
	return nil
}

// replace puts text into the file at path in one step. With create the file must
// not exist, and fs.ErrExist says that it does.
func (s *store) replace(p, text string, create bool) (err error) {
	dir := path.Dir(p)
	mode := fs.FileMode(0) // as the umask has it
	if create {
		if dir != "." {
			if err := s.root.MkdirAll(dir, 0o755); err != nil {
				return err
			}
		}
	} else {
		info, err := s.root.Lstat(p)
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%w: no regular file", ErrPath)
		}
		mode = info.Mode().Perm()
	}
	temp := path.Join(dir, tempPrefix+rand.Text())
	if err := s.writeTemp(temp, text, mode); err != nil {
		return errors.Join(err, ignoreMissing(s.root.Remove(temp)))
	}
	if create {
		err = s.link(temp, p)
	} else {
		err = s.root.Rename(temp, p)
	}
	if err != nil {
		return errors.Join(err, ignoreMissing(s.root.Remove(temp)))
	}
	s.syncDir(dir)
	return nil
}

// writeTemp writes a new file and flushes it to the disk. Mode 0 leaves the mode
// to the umask.
func (s *store) writeTemp(name, text string, mode fs.FileMode) error {
	f, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	var out io.Writer = f
	if s.wrap != nil {
		out = s.wrap(f)
	}
	_, err = io.WriteString(out, text)
	if err == nil && mode != 0 {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// link gives a file a name that must be free and takes the old one away. A hard
// link cannot replace a file, unlike a rename; where there are none, a look
// before the rename has to do.
func (s *store) link(from, to string) error {
	err := s.root.Link(from, to)
	if err == nil {
		return s.root.Remove(from)
	}
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, err := s.root.Lstat(to); err == nil {
		return fs.ErrExist
	}
	return s.root.Rename(from, to)
}

// move renames a file to a name that must be free, or is the same file in other
// letters on a file system that does not tell the cases apart.
func (s *store) move(from, to string) error {
	if dir := path.Dir(to); dir != "." {
		if err := s.root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	a, err := s.root.Lstat(from)
	if err != nil {
		return err
	}
	if b, err := s.root.Lstat(to); err == nil {
		if from == to || !os.SameFile(a, b) {
			return fs.ErrExist
		}
		err = s.root.Rename(from, to)
		s.syncDir(path.Dir(to))
		return err
	}
	if err := s.link(from, to); err != nil {
		return err
	}
	s.syncDir(path.Dir(to))
	if path.Dir(from) != path.Dir(to) {
		s.syncDir(path.Dir(from))
	}
	return nil
}

// syncDir flushes a directory, so that a rename in it outlives a crash. Some
// systems cannot; the rename has happened all the same, so that is no error.
func (s *store) syncDir(dir string) {
	if d, err := s.root.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
