package mcp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tandem-rpc/tandem/cancel"
)

// shutdown waits until nothing is worked on, or ends what is when ctx ends.
func (k *tasker) shutdown(ctx context.Context) error {
	k.mu.Lock()
	k.closed = true
	if len(k.runs) == 0 {
		k.mu.Unlock()
		return nil
	}
	if k.idle == nil {
		k.idle = make(chan struct{})
	}
	idle := k.idle
	k.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
	}
	k.mu.Lock()
	ids := make([]string, 0, len(k.runs))
	for id := range k.runs {
		ids = append(ids, id)
	}
	k.mu.Unlock()
	storing, cancelStoring := aside(ctx)
	defer cancelStoring()
	for _, id := range ids {
		if err := k.fail(storing, id, taskInterrupted, "Task interrupted"); err != nil && !errors.Is(err, errTaskOver) && !errors.Is(err, ErrNoTask) {
			k.server.report(storing, nil, fmt.Errorf("mcp: interrupted task: %w", err))
		}
		k.halt(id, cancel.ErrClosing)
	}
	after := time.NewTimer(time.Second)
	defer after.Stop()
	select {
	case <-idle:
	case <-after.C: // bodies that do not heed their context
	}
	return ctx.Err()
}

// Shutdown ends the Server's tasks, after what [Server.Close] does. No task is begun any more. Those there are may go on until ctx ends; then their contexts
// end with [cancel.ErrClosing] as the cause, and they have failed. It returns when no task is worked on, and ctx's error if it had to end one; a body that
// does not heed its context is waited for one second more.
func (s *Server) Shutdown(ctx context.Context) error {
	s.once.Do(s.build)
	s.Close()
	if s.tasks == nil {
		return nil
	}
	return s.tasks.shutdown(ctx)
}
