package mcp

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

const taskMethod = "notifications/tasks"

var errTaskIDs = &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "Invalid params: taskIds must be a list of at most 100 ids"}

// taskFeed tells a subscriptions/listen of some tasks. It has no goroutine: the one that waits for the end of the listen asks it. A nil taskFeed has nothing
// to tell.
type taskFeed struct {
	tasker  *tasker
	owner   string
	ids     []string             // of those that are there
	told    map[string]time.Time // lastUpdatedAt of what was told
	changed <-chan struct{}
	pause   *time.Timer
	resting bool
	cancel  context.CancelFunc
}

// taskFeed reads the taskIds of a listen, nil if there are none. Ids of other owners and of nothing are left out without a word.
func (s *Server) taskFeed(ctx context.Context, c *call, filter []byte) (*taskFeed, error) {
	var v [1][]byte
	if pick(filter, []string{"taskIds"}, v[:]); v[0] == nil || s.tasks == nil {
		return nil, nil
	}
	if !c.declaresTasks() {
		return nil, tasksMissing().wire()
	}
	ids, ok := stringList(v[0])
	if !ok || len(ids) > maxTaskIDs {
		return nil, errTaskIDs
	}
	k := s.tasks
	f := &taskFeed{tasker: k}
	f.owner, _ = PrincipalFrom(ctx)
	if !k.rates.allow(f.owner) {
		return nil, errTaskRate
	}
	if k.watcher == nil || len(ids) == 0 {
		return nil, nil
	}
	watching, cancel := context.WithCancel(ctx)
	changed, err := k.watcher.Watch(watching, ids) // before looking: what changes from now on is told
	if err != nil {
		cancel()
		return nil, err
	}
	for _, id := range ids {
		if len(id) > maxTaskID || slices.Contains(f.ids, id) {
			continue
		}
		if _, err := k.load(ctx, f.owner, id, false); err == nil {
			f.ids = append(f.ids, id)
		}
	}
	if len(f.ids) == 0 {
		cancel()
		return nil, nil
	}
	f.changed, f.cancel, f.told = changed, cancel, make(map[string]time.Time, len(f.ids))
	f.pause = time.NewTimer(time.Hour)
	f.pause.Stop()
	return f, nil
}

// grant adds the ids to what the acknowledgement says.
func (f *taskFeed) grant(granted []byte) []byte {
	if f == nil {
		return granted
	}
	granted = granted[:len(granted)-1]
	if len(granted) > 1 {
		granted = append(granted, ',')
	}
	granted = append(granted, `"taskIds":[`...)
	for i, id := range f.ids {
		if i > 0 {
			granted = append(granted, ',')
		}
		granted = appendString(granted, id)
	}
	return append(granted, "]}"...)
}

// due returns the channels to wait for, both nil if there is nothing to come: a change, or in the pause after one was told its end.
func (f *taskFeed) due() (<-chan struct{}, <-chan time.Time) {
	switch {
	case f == nil || len(f.ids) == 0:
		return nil, nil
	case f.resting:
		return nil, f.pause.C
	}
	return f.changed, nil
}

// tell sends what has changed since it was told, the state as it is now, and begins a pause. meta is the member that names the subscription.
func (f *taskFeed) tell(ctx context.Context, c *call, meta string) {
	if f == nil {
		return
	}
	f.resting = false
	f.ids = slices.DeleteFunc(f.ids, func(id string) bool {
		t, err := f.tasker.load(ctx, f.owner, id, false)
		if err != nil {
			return ctx.Err() == nil
		}
		if t.Updated.Equal(f.told[id]) {
			return false
		}
		f.told[id] = t.Updated
		f.resting = true
		p := append([]byte(`{`), meta...)
		p = append(t.appendDetailed(append(p, ',')), '}')
		c.mu.Lock()
		_ = c.send(taskMethod, encoded(p))
		c.mu.Unlock()
		return t.Status.Terminal() // nothing will follow
	})
	if f.resting {
		f.pause.Reset(feedPause)
	}
}

// rested ends the pause. It reports whether something is to be told.
func (f *taskFeed) rested() bool {
	f.resting = false
	select {
	case <-f.changed:
		return true
	default:
		return false
	}
}

func (f *taskFeed) end() {
	if f != nil {
		f.cancel()
		f.pause.Stop()
	}
}

// stringList reads a list of strings.
func stringList(raw []byte) (list []string, ok bool) {
	if raw = bytes.TrimSpace(raw); len(raw) < 2 || raw[0] != '[' {
		return nil, false
	}
	for i := skipSpace(raw, 1); i < len(raw)-1; {
		end := skipValue(raw, i)
		s, ok := stringValue(raw[i:end])
		if !ok || end == i {
			return nil, false
		}
		list = append(list, s)
		if i = skipSpace(raw, end); raw[i] == ',' {
			i = skipSpace(raw, i+1)
		}
	}
	return list, true
}
