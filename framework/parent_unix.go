//go:build unix

package framework

import (
	"errors"
	"os"
	"syscall"
)

// process is another process, by handle where the system has one: [os.FindProcess] holds a pidfd on Linux, which a new process with the same id
// does not answer to.
type process struct {
	pid int
	p   *os.Process
}

func openProcess(pid int) *process {
	p, err := os.FindProcess(pid)
	if err != nil {
		p = nil
	}
	return &process{pid, p}
}

// alive asks with signal 0. EPERM means there is such a process, of somebody else.
func (p *process) alive() bool {
	if p.p == nil {
		return false
	}
	err := p.p.Signal(syscall.Signal(0))
	return (err == nil || errors.Is(err, syscall.EPERM)) && !ended(p.pid)
}

func (p *process) close() {
	if p.p != nil {
		_ = p.p.Release()
	}
}
