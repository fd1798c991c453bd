package framework

import (
	"os"
	"syscall"
)

// dup2 by the system call that every architecture has.
func dup2(from, to int) error { return syscall.Dup3(from, to, 0) }

const fcntlSetPipeSize = 1031 // F_SETPIPE_SZ

// setPipeSize is a wish: the system may refuse, and what is no pipe has no size.
func setPipeSize(f *os.File, size int) {
	c, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = c.Control(func(fd uintptr) {
		_, _, _ = syscall.Syscall(syscall.SYS_FCNTL, fd, fcntlSetPipeSize, uintptr(size))
	})
}
