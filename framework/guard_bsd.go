//go:build unix && !linux

package framework

import (
	"os"
	"syscall"
)

func dup2(from, to int) error { return syscall.Dup2(from, to) }

func setPipeSize(*os.File, int) {}
