package framework

import (
	"context"
	"fmt"
	"time"
)

// parentPoll is how often a watched process is looked at. Polling is the one way that works on every system for a process that is not a
// child; twice a second costs nothing that can be measured and is quick enough for a person who closed an editor.
const parentPoll = 500 * time.Millisecond

// ParentGoneError is the reason a session ends when the process it belongs to has ended.
type ParentGoneError struct{ PID int }

// Error names the process.
func (e *ParentGoneError) Error() string {
	return fmt.Sprintf("framework: parent process %d has ended", e.PID)
}

// waitProcess returns nil when the process has ended, at once if there is none of that id, or ctx's error. It is not fooled by a process that
// took over the id where the system can tell (Linux and Windows), nor, on Linux, by one that has ended and was not yet waited for.
func waitProcess(ctx context.Context, pid int) error {
	p := openProcess(pid)
	defer p.close()
	t := time.NewTicker(parentPoll)
	defer t.Stop()
	for p.alive() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		}
	}
	return nil
}
