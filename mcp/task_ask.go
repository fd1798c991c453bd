package mcp

import (
	"context"
	"encoding/json"
	"strconv"
	"time"
)

// adopt lets the body go on asking where the call left off: with the same identifier, and what was computed.
func (c *call) adopt(from *call, r *taskRun) {
	c.x.asker = r
	if !c.modern() {
		c.x.asker = relay{r}
	}
	f := c.flow()
	old := from.asks.Load()
	if old == nil {
		return
	}
	old.mu.Lock()
	defer old.mu.Unlock()
	f.id, f.start = old.id, old.start
	for key, text := range old.memos {
		f.keep(key, text)
	}
}

// ask implements asker: the question appears in the task, and the answer comes with a tasks/update.
func (r *taskRun) ask(ctx context.Context, key string, q *Question) (json.RawMessage, error) {
	g, err := r.group([]*Question{q})
	if err != nil {
		return nil, err
	}
	defer g.end()
	return g.ask(ctx, key, q)
}

// questions are some that a body asks together, so that the client sees all of them at once.
type questions struct {
	run   *taskRun
	keys  []string          // in the task
	byKey map[string]string // those, by the keys of the questions
}

// group puts questions into the task.
func (r *taskRun) group(qs []*Question) (*questions, error) {
	if err := context.Cause(r.call); err != nil {
		return nil, err
	}
	ctx, cancel := aside(r.call)
	defer cancel()
	g := &questions{run: r, byKey: make(map[string]string, len(qs))}
	_, err := r.change(ctx, func(t *Task) error {
		g.keys = g.keys[:0]
		for _, q := range qs {
			t.Serial++
			key := q.key + "-" + strconv.Itoa(t.Serial)
			t.Requests = append(t.Requests, TaskRequest{Key: key, Method: q.method, Params: q.params(r.call.rev)})
			g.keys = append(g.keys, key)
			g.byKey[q.key] = key
		}
		return nil
	})
	if err != nil {
		return nil, r.why(context.Background(), err)
	}
	r.asking.Do(func() { close(r.asked) })
	return g, nil
}

// why is the reason that something cannot be done to a task: the end of its context says more than the state it is in.
func (r *taskRun) why(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if cause := context.Cause(r.call); cause != nil {
		return cause
	}
	return err
}

const answerPause = 250 * time.Millisecond

// ask waits for the answer to one of them.
func (g *questions) ask(ctx context.Context, key string, q *Question) (json.RawMessage, error) {
	r := g.run
	name, ok := g.byKey[key]
	if !ok {
		return nil, errTaskState
	}
	if q.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, q.timeout, ErrAskTimeout)
		defer cancel()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(r.call, func() { cancel(context.Cause(r.call)) })()
	var changed <-chan struct{}
	if w := r.tasker.watcher; w != nil {
		changed, _ = w.Watch(ctx, []string{r.id})
	}
	tick := time.NewTimer(answerPause)
	defer tick.Stop()
	for {
		raw, err := r.fetch(ctx, name)
		if raw != nil || err != nil {
			return raw, err
		}
		var look <-chan time.Time
		if changed == nil {
			tick.Reset(answerPause)
			look = tick.C
		}
		select {
		case <-changed:
		case <-look:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// fetch takes the answer with that key out of the task, nil if there is none yet.
func (r *taskRun) fetch(ctx context.Context, key string) (answer json.RawMessage, err error) {
	k := r.tasker
	t, err := k.store.Get(ctx, r.owner(), r.id)
	if err == nil {
		switch q := t.request(key); {
		case t.Status.Terminal():
			err = errTaskOver
		case t.Bodies != r.bodies:
			err = errTaskGone
		case q == nil:
			err = errTaskState // somebody else has taken it
		case q.Answer == nil:
			return nil, nil
		default:
			answer = q.Answer
		}
	}
	if err != nil {
		if gone(err) {
			k.halt(r.id, errTaskGone)
		}
		return nil, r.why(ctx, err)
	}
	return answer, nil
}

func (r *taskRun) owner() string {
	owner, _ := PrincipalFrom(r.call)
	return owner
}

// end takes what was answered, and what will not be waited for any more, out of the task.
func (g *questions) end() {
	r := g.run
	ctx, cancel := aside(r.call)
	defer cancel()
	_, _ = r.change(ctx, func(t *Task) error {
		t.withdraw(g.keys...)
		return nil
	})
}
