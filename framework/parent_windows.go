package framework

import (
	"errors"
	"syscall"
)

// process is another process by handle, so a new process with the same id cannot be taken for it.
type process struct {
	h       syscall.Handle
	foreign bool // there is one, but it may not be opened
}

func openProcess(pid int) *process {
	h, err := syscall.OpenProcess(syscall.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return &process{foreign: errors.Is(err, syscall.ERROR_ACCESS_DENIED)}
	}
	return &process{h: h}
}

func (p *process) alive() bool {
	if p.h == 0 {
		return p.foreign
	}
	event, err := syscall.WaitForSingleObject(p.h, 0)
	return err == nil && event == syscall.WAIT_TIMEOUT
}

func (p *process) close() {
	if p.h != 0 {
		_ = syscall.CloseHandle(p.h)
	}
}
