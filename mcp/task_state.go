package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"
)

var (
	errTaskOver  = errors.New("mcp: the task has ended")
	errTaskSame  = errors.New("mcp: nothing has changed")
	errTaskAsks  = fmt.Errorf("mcp: a task can have %d questions open", maxTaskRequests)
	errTaskState = errors.New("mcp: a task cannot change that way")
)

// transition is the one place that decides what may become of a task: next is what somebody wants old to become, and becomes what is stored. What follows
// from other members is set here: the status of a task that has not ended, the times (MCP tasks, task states).
func transition(old, next *Task, now time.Time, linger time.Duration) error {
	if old.Status.Terminal() {
		return errTaskOver
	}
	switch {
	case old.ID != next.ID, old.Owner != next.Owner, old.Method != next.Method, old.Tool != next.Tool, old.Experimental != next.Experimental,
		!old.Created.Equal(next.Created), !bytes.Equal(old.Capabilities, next.Capabilities):
		return fmt.Errorf("%w: it would be another one", errTaskState)
	case next.TTL <= 0, next.Poll <= 0:
		return fmt.Errorf("%w: a time that is not positive", errTaskState)
	case len(next.Message) > maxTaskMessage:
		return fmt.Errorf("%w: a message of more than %d bytes", errTaskState, maxTaskMessage)
	}
	if next.Status.Terminal() {
		next.Requests = nil
		next.Lease = time.Time{}
		if (next.Status == TaskCompleted) != (next.Result != nil) || (next.Status == TaskFailed) != (next.Error != nil) {
			return fmt.Errorf("%w: %s with the wrong outcome", errTaskState, next.Status)
		}
	} else {
		if next.Result != nil || next.Error != nil {
			return fmt.Errorf("%w: an outcome before the end", errTaskState)
		}
		if err := sameRequests(old, next); err != nil {
			return err
		}
		next.Status = TaskWorking
		if len(next.asked()) > 0 {
			next.Status = TaskInputRequired
		}
	}
	next.Updated = old.Updated
	if seen(old, next) {
		// Strictly later, so that whoever compares sees a change, even if the clock does not.
		next.Updated = later(now, old.Updated.Add(time.Millisecond))
	}
	next.Expires = next.deadline().Add(linger)
	if next.Status.Terminal() {
		next.Expires = later(next.deadline(), now.Add(linger))
	}
	return nil
}

// sameRequests checks that keys stand for what they stood for, and that none is used again.
func sameRequests(old, next *Task) error {
	fresh := 0
	for i, r := range next.Requests {
		if slices.ContainsFunc(next.Requests[:i], func(o TaskRequest) bool { return o.Key == r.Key }) {
			return fmt.Errorf("%w: the key %q twice", errTaskState, r.Key)
		}
		switch had := old.request(r.Key); {
		case had == nil:
			fresh++
		case had.Method != r.Method, !bytes.Equal(had.Params, r.Params):
			return fmt.Errorf("%w: the key %q for another question", errTaskState, r.Key)
		case had.Answer != nil && !bytes.Equal(had.Answer, r.Answer):
			return fmt.Errorf("%w: the key %q with another answer", errTaskState, r.Key)
		}
	}
	if next.Serial != old.Serial+fresh {
		return fmt.Errorf("%w: keys that are not counted", errTaskState)
	}
	if fresh > 0 && len(next.asked()) > maxTaskRequests {
		return errTaskAsks
	}
	return nil
}

// seen reports whether clients see a difference.
func seen(old, next *Task) bool {
	return old.Status != next.Status || old.Message != next.Message || old.TTL != next.TTL || old.Poll != next.Poll ||
		!slices.Equal(old.asked(), next.asked())
}

// asked returns the keys of the requests that wait for an answer.
func (t *Task) asked() (keys []string) {
	for i := range t.Requests {
		if t.Requests[i].Answer == nil {
			keys = append(keys, t.Requests[i].Key)
		}
	}
	return keys
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
