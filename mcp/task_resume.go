package mcp

import (
	"context"
	"errors"
	"time"
)

// resume goes on with a task of a process that has died, and reports whether somebody does. t becomes what it is then.
func (k *tasker) resume(ctx context.Context, t *Task) bool {
	if k.conf.Resume == nil || t.Experimental {
		return false // the sessions of the other protocol have died with it
	}
	claimed, err := k.change(ctx, t.ID, func(t *Task) error {
		if !time.Now().After(t.Lease) {
			return errTaskSame // another process was faster
		}
		t.Lease = time.Now().Add(k.lease()).UTC()
		t.Requests = nil
		t.Bodies++
		return nil
	})
	switch {
	case errors.Is(err, errTaskSame):
		return true
	case err != nil:
		return false
	}
	*t = claimed
	base := context.Background()
	if t.Owner != "" {
		base = WithPrincipal(base, t.Owner)
	}
	c := &call{session: k.server.nobody, begun: true, done: true, rev: lastRevision}
	c.Context = base
	c.x = &extra{server: k.server, own: &Session{server: k.server, request: c}}
	c.x.own.terms.Store(&terms{revision: lastRevision, capabilities: readCapabilities(t.Capabilities)})
	body := k.left(ctx, t)
	if body == nil {
		return false
	}
	r := k.newRun(c, c, t, resulting(body))
	if !k.launch(r, t) {
		r.stop(nil)
		return false
	}
	return true
}

func (k *tasker) lease() time.Duration {
	if k.conf.Lease > 0 {
		return k.conf.Lease
	}
	return time.Minute
}

// left asks the program what is left to do. A panic is its answer "nothing".
func (k *tasker) left(ctx context.Context, t *Task) (body func(context.Context) (any, error)) {
	defer func() {
		if p := recover(); p != nil {
			k.server.report(ctx, nil, panicked(p))
			body = nil
		}
	}()
	return k.conf.Resume(ctx, t.clone())
}
