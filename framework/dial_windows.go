package framework

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

const (
	errorPipeBusy      = syscall.Errno(231)
	securityAnonymous  = 0x0 // SECURITY_ANONYMOUS: the other end must not act as us
	securitySQOS       = 0x100000
	pipeRetry          = 50 * time.Millisecond
	fileFlagOverlapped = syscall.FILE_FLAG_OVERLAPPED
)

// dialPipe connects to the named pipe that an editor listens on, \\.\pipe\NAME, of which NAME is enough. It is opened for overlapped use, as reads and writes on a handle
// without it wait for each other.
func dialPipe(ctx context.Context, name string) (io.ReadWriteCloser, error) {
	name = pipePath(name)
	path, err := syscall.UTF16PtrFromString(name)
	if err != nil {
		return nil, fmt.Errorf("framework: pipe name %q: %w", name, err)
	}
	for {
		h, err := syscall.CreateFile(path, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_EXISTING,
			fileFlagOverlapped|securitySQOS|securityAnonymous, 0)
		if err == nil {
			return os.NewFile(uintptr(h), name), nil
		}
		if !errors.Is(err, errorPipeBusy) {
			return nil, fmt.Errorf("framework: connect to pipe %q: %w", name, err)
		}
		select { // every instance of the pipe has a client: the editor makes a new one in a moment
		case <-ctx.Done():
			return nil, fmt.Errorf("framework: connect to pipe %q: %w", name, ctx.Err())
		case <-time.After(pipeRetry):
		}
	}
}
