package framework

import (
	"bytes"
	"fmt"
	"os"
)

// ended reports whether the process is a zombie: it has ended, and only its parent has not asked for its exit code. Signal 0 still reaches it.
func ended(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false // no /proc, or not for us: the signal decides
	}
	// pid (name) state ...; the name may hold anything, parentheses too.
	i := bytes.LastIndexByte(stat, ')')
	return i >= 0 && i+2 < len(stat) && (stat[i+2] == 'Z' || stat[i+2] == 'X')
}
