//go:build unix

package framework

import (
	"fmt"
	"os"
	"syscall"
)

// guardDescriptor moves descriptor 1 to a new one and makes 1 a copy of 2. A standard output that somebody put elsewhere, a test mostly, is left
// where it is: then only the variable is guarded.
func guardDescriptor(was *os.File) (out *os.File, undo func(), err error) {
	if !isDescriptor(was, 1) {
		return was, func() {}, nil
	}
	syscall.ForkLock.RLock()
	fd, err := syscall.Dup(1)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, fmt.Errorf("framework: standard output: %w", err)
	}
	out = os.NewFile(uintptr(fd), "/dev/stdout")
	if err := dup2(2, 1); err != nil { // no standard error: stray output goes nowhere
		null, openErr := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if openErr != nil {
			_ = out.Close()
			return nil, nil, fmt.Errorf("framework: standard output: %w", openErr)
		}
		err = dup2(int(null.Fd()), 1)
		_ = null.Close()
		if err != nil {
			_ = out.Close()
			return nil, nil, fmt.Errorf("framework: standard output: %w", err)
		}
	}
	return out, func() {
		_ = dup2(fd, 1)
		_ = out.Close()
	}, nil
}

// isDescriptor looks at the number without the side effects of Fd.
func isDescriptor(f *os.File, want uintptr) bool {
	c, err := f.SyscallConn()
	if err != nil {
		return false
	}
	is := false
	err = c.Control(func(fd uintptr) { is = fd == want })
	return err == nil && is
}
