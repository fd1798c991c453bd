package leak

import (
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) { Main(m) }

// parked waits for the end of the channel, under a name to be found by.
func parked(c <-chan struct{}) { <-c }

func TestLeft(t *testing.T) {
	if err := left(time.Minute); err != nil {
		t.Errorf("before: %v", err)
	}
	release := make(chan struct{})
	go parked(release)
	if err := left(0); err == nil || !strings.Contains(err.Error(), "leak.parked") {
		t.Errorf("while one waits: %v", err)
	}
	time.AfterFunc(time.Second, func() { close(release) }) // later than goleak waits by itself
	if err := left(time.Minute); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
