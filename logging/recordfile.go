package logging

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// CreateRecording opens a file for a [Recorder]. It is made with mode 0600: traffic is private even without its secrets. A recording that is
// there is appended to, as editors start a server again and again with the same flags, and gets that mode; whatever else is there stays as it is, and
// the error says so, [ErrNotRecording] for a file that holds something else.
func CreateRecording(path string) (*os.File, error) {
	at, err := os.Stat(path)
	switch {
	case err == nil && !at.Mode().IsRegular():
		return nil, fmt.Errorf("logging: recording %q: not a regular file", path)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("logging: recording: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("logging: recording: %w", err)
	}
	if err := prepare(f); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("logging: recording %q: %w", path, err)
	}
	return f, nil
}

// prepare makes sure that a file can be appended to.
func prepare(f *os.File) error {
	at, err := f.Stat()
	if err != nil || at.Size() == 0 {
		return err
	}
	// One header is short; a file without a line end in so many bytes is none.
	r := NewRecordReader(io.NewSectionReader(f, 0, 64<<10))
	if _, err := r.Next(); err != nil {
		return err
	}
	if at.Mode().Perm()&0o077 != 0 {
		if err := f.Chmod(0o600); err != nil {
			return err
		}
	}
	last := []byte{'\n'}
	if _, err := f.ReadAt(last, at.Size()-1); err != nil {
		return err
	}
	if last[0] != '\n' { // the last process was killed while it wrote
		_, err = f.Write([]byte{'\n'})
	}
	return err
}
