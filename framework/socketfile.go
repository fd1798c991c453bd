//go:build !windows

package framework

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// listenUnix makes the socket in a directory nobody else can enter and moves it to its place when its mode is right: between bind and chmod
// anyone could connect, and umask is the whole process's.
func listenUnix(path string) (net.Listener, error) {
	if path == "" {
		return nil, errors.New("framework: listen: unix: needs a path")
	}
	if strings.HasPrefix(path, "@") {
		return nil, fmt.Errorf("framework: listen: %q: an abstract socket has no mode, every user could open it", path)
	}
	if err := makeWay(path); err != nil {
		return nil, fmt.Errorf("framework: listen: %w", err)
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".s*")
	if err != nil {
		return nil, fmt.Errorf("framework: listen: %w", err)
	}
	defer os.RemoveAll(dir)
	private := filepath.Join(dir, "s")
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: private, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("framework: listen: %w", err)
	}
	ln.SetUnlinkOnClose(false)
	if err := errors.Join(os.Chmod(private, 0o600), os.Rename(private, path)); err != nil {
		_ = ln.Close()
		return nil, fmt.Errorf("framework: listen: %w", err)
	}
	made, err := os.Lstat(path)
	if err != nil {
		_ = ln.Close()
		return nil, fmt.Errorf("framework: listen: %w", err)
	}
	return &socketFile{UnixListener: ln, path: path, made: made}, nil
}

// makeWay makes sure that no file that matters stands at path.
func makeWay(path string) error {
	at, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case at.Mode()&fs.ModeSocket == 0:
		return fmt.Errorf("%q exists and is not a socket", path)
	}
	c, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		_ = c.Close()
	}
	if err == nil || !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("%q: %w", path, syscall.EADDRINUSE)
	}
	return nil // nobody listens: the rename replaces it
}

// socketFile is a listener that removes its file.
type socketFile struct {
	*net.UnixListener
	path string
	made fs.FileInfo
	once sync.Once
}

// Addr is the path the socket has now, not the one it was made at.
func (l *socketFile) Addr() net.Addr { return &net.UnixAddr{Name: l.path, Net: "unix"} }

func (l *socketFile) Close() error {
	l.once.Do(func() {
		if at, err := os.Lstat(l.path); err == nil && os.SameFile(at, l.made) {
			_ = os.Remove(l.path)
		}
	})
	return l.UnixListener.Close()
}
