// Package leak fails the tests of a package that leave goroutines behind.
//
//	func TestMain(m *testing.M) { leak.Main(m) }
//
// It is goleak with more patience. That allows goroutines less than half a
// second to end, which is plenty on an idle machine, and too little where the
// connections a test has closed wait for a processor that others use.
package leak

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is how long goroutines may take to end. Only what leaks takes it whole.
const patience = time.Minute

// Main runs the tests of a package and ends the process, with an error if the
// tests fail or goroutines are left a minute after them. It does not return.
func Main(m *testing.M) {
	code := m.Run()
	if code == 0 {
		if err := left(patience); err != nil {
			fmt.Fprintln(os.Stderr, "goroutines are left when the tests are over:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// left returns nil as soon as no goroutine is left, and an error that lists
// them if that is not so in time.
func left(patience time.Duration) error {
	for end := time.Now().Add(patience); ; {
		err := goleak.Find()
		if err == nil || time.Now().After(end) {
			return err
		}
	}
}
