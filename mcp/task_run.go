package mcp

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// tasker runs the bodies of a Server's tasks. The Store knows what becomes of them; what is here is only what this process works on. A task that waits for
// its turn is no goroutine.
type tasker struct {
	server  *Server
	conf    Tasks
	store   TaskStore
	watcher TaskWatcher // nil: the Store is none
	rates   taskRates

	mu      sync.Mutex
	runs    map[string]*taskRun // all whose body has not returned
	queue   []*taskRun          // those whose body has not begun
	active  int
	closed  bool
	idle    chan struct{} // closed when runs is empty; nil: nobody waits for that
	renewal *time.Timer
}

// taskRun is one task that is worked on here.
type taskRun struct {
	tasker *tasker
	id     string
	bodies int   // that were before
	call   *call // of the body
	stop   context.CancelCauseFunc
	body   func(context.Context) (any, error)
	expiry *time.Timer
	begun  bool // guarded by the tasker's mu

	over   chan struct{} // closed when the body has returned and the outcome is stored
	asked  chan struct{} // closed when it asks for the first time
	asking sync.Once
	value  any
	err    error
	stored bool // the outcome became the task's
	waiter waiters
}

var (
	errTaskExpired = errors.New("mcp: the task has expired")
	errTaskGone    = errors.New("mcp: somebody else has ended the task")
	errTaskExit    = errors.New("mcp: the body of a task called runtime.Goexit")

	taskExpired     = encoded(`{"code":-32603,"message":"Task expired"}`)
	taskInterrupted = encoded(`{"code":-32603,"message":"Task interrupted"}`)
	taskBroken      = encoded(`{"code":-32603,"message":"Internal error"}`)
)

func newTasker(s *Server) *tasker {
	k := &tasker{server: s, conf: s.Tasks.withDefaults(), runs: make(map[string]*taskRun)}
	k.store = k.conf.Store
	k.watcher, _ = k.store.(TaskWatcher)
	return k
}

func newTaskID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// storeTime is how long an answer of the Store is waited for where nobody else says how long.
const storeTime = 10 * time.Second

// aside is a context for the Store that does not end with what is worked on.
func aside(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), storeTime)
}

// change updates a task, inside the rules. A Store that panics fails: this is called by timers and by tasks that end.
func (k *tasker) change(ctx context.Context, id string, f func(*Task) error) (t Task, err error) {
	defer k.server.caught(ctx, &err)
	return k.store.Update(ctx, id, func(t *Task) error {
		old := t.clone()
		if old.Status.Terminal() {
			return errTaskOver
		}
		if err := f(t); err != nil {
			return err
		}
		return transition(&old, t, time.Now().UTC(), k.conf.Linger)
	})
}

// change updates the task, if it is still this run's.
func (r *taskRun) change(ctx context.Context, f func(*Task) error) (Task, error) {
	return r.tasker.change(ctx, r.id, func(t *Task) error {
		if t.Bodies != r.bodies {
			return errTaskGone
		}
		return f(t)
	})
}

// gone reports whether an error says that the task is not this run's any more.
func gone(err error) bool {
	return errors.Is(err, errTaskOver) || errors.Is(err, errTaskGone) || errors.Is(err, ErrNoTask)
}

// fail ends a task with an error.
func (k *tasker) fail(ctx context.Context, id string, wire []byte, message string) error {
	_, err := k.change(ctx, id, func(t *Task) error {
		t.Status, t.Error, t.Message = TaskFailed, wire, message
		return nil
	})
	return err
}

// launch runs a task now or when it is its turn. It reports false if the server is shutting down.
func (k *tasker) launch(r *taskRun, t *Task) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return false
	}
	k.runs[r.id] = r
	r.expiry = time.AfterFunc(time.Until(t.deadline()), r.expire)
	if k.conf.Lease > 0 && k.renewal == nil {
		k.renewal = time.AfterFunc(k.conf.Lease/3, k.renew)
	}
	k.queue = append(k.queue, r)
	k.next()
	return true
}

// next begins what there is room for. mu is held.
func (k *tasker) next() {
	for k.active < k.conf.Running && len(k.queue) > 0 {
		r := k.queue[0]
		k.queue[0] = nil
		if k.queue = k.queue[1:]; len(k.queue) == 0 {
			k.queue = nil
		}
		k.active++
		r.begun = true
		go r.run()
	}
}

// leave forgets a run that is over. mu is held.
func (k *tasker) leave(r *taskRun) {
	delete(k.runs, r.id)
	r.expiry.Stop()
	if len(k.runs) > 0 {
		return
	}
	if k.idle != nil {
		close(k.idle)
		k.idle = nil
	}
	if k.renewal != nil {
		k.renewal.Stop()
		k.renewal = nil
	}
}

// halt ends the work on a task whose end is stored already. What has not begun never will.
func (k *tasker) halt(id string, cause error) {
	k.mu.Lock()
	r := k.runs[id]
	waiting := r != nil && !r.begun
	if waiting {
		for i, q := range k.queue {
			if q == r {
				k.queue = append(k.queue[:i:i], k.queue[i+1:]...)
				break
			}
		}
		k.leave(r)
	}
	k.mu.Unlock()
	if r == nil {
		return
	}
	r.stop(cause)
	if waiting {
		close(r.over)
		r.call.finish()
	}
}

// run is the goroutine of a task.
func (r *taskRun) run() {
	k := r.tasker
	defer func() {
		r.stop(errTaskGone)
		r.call.finish()
		close(r.over)
		k.mu.Lock()
		defer k.mu.Unlock()
		k.active--
		k.leave(r)
		k.next()
	}()
	returned := false
	defer func() {
		// A panic is the body's; without one and without a return it has called Goexit.
		if !returned {
			p := recover()
			r.err = errTaskExit
			if p != nil {
				r.err = panicked(p)
			}
		}
		r.settle()
	}()
	r.value, r.err = r.body(r.call)
	returned = true
	if r.err != nil {
		r.value, r.err = k.server.outcome(r.call, &target{what: 't'}, r.err)
	}
}

// expire is called when the time of a task is over.
func (r *taskRun) expire() {
	k := r.tasker
	ctx, cancel := aside(r.call)
	defer cancel()
	_, err := r.change(ctx, r.outcome(nil, taskExpired, "Task expired"))
	switch {
	case err == nil, gone(err):
	default:
		k.server.report(r.call, nil, fmt.Errorf("mcp: expired task: %w", err))
	}
	k.halt(r.id, errTaskExpired)
}

// reset is for a new time to live.
func (r *taskRun) reset(t *Task) {
	k := r.tasker
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.runs[r.id] == r {
		r.expiry.Reset(time.Until(t.deadline()))
	}
}

// renew says that this process lives, and learns which of its tasks others have ended.
func (k *tasker) renew() {
	k.mu.Lock()
	runs := make([]*taskRun, 0, len(k.runs))
	for _, r := range k.runs {
		runs = append(runs, r)
	}
	k.mu.Unlock()
	for _, r := range runs {
		ctx, cancel := aside(r.call)
		_, err := r.change(ctx, func(t *Task) error {
			t.Lease = time.Now().Add(k.conf.Lease).UTC()
			return nil
		})
		cancel()
		if gone(err) {
			k.halt(r.id, errTaskGone)
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.renewal != nil {
		k.renewal.Reset(k.conf.Lease / 3)
	}
}

func panicked(p any) error { return &jsonrpc2.PanicError{Value: p, Stack: debug.Stack()} }

// truncate shortens text to n bytes.
func truncate(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "")
}
