//go:build unix

package notes

import (
	"syscall"
	"testing"
)

// cpuTime reports the processor time of the whole process for each run of a
// benchmark, garbage collection included: on a machine with other work to do it
// is the steadier figure. Call what it returns at the end.
func cpuTime(b *testing.B) (report func()) {
	used := func() int64 {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return u.Utime.Nano() + u.Stime.Nano()
	}
	start := used()
	return func() { b.ReportMetric(float64(used()-start)/1e6/float64(b.N), "cpu-ms/op") }
}
