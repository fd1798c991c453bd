//go:build unix && !linux

package framework

// ended is for systems that can tell a process which has ended from one that runs better than signal 0 can.
func ended(int) bool { return false }
