package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const busy = `"result":{"content":[{"type":"text","text":"` + busyResult + `"}],"isError":true,"resultType":"complete",` + signed + `}}`

func TestTaskTTL(t *testing.T) {
	for _, x := range []struct {
		name  string
		conf  Tasks
		want  time.Duration // asked for
		owner string
		ttl   time.Duration
	}{
		{"anonymous", Tasks{}, 0, "", 15 * time.Minute},
		{"principal", Tasks{}, 0, "ada", time.Hour},
		{"configured", Tasks{TTL: 2 * time.Hour}, 0, "", 2 * time.Hour},
		{"asked for", Tasks{TTL: 2 * time.Hour}, time.Minute, "", time.Minute},
		{"too short", Tasks{}, time.Nanosecond, "", time.Second},
		{"too long", Tasks{}, 100 * time.Hour, "", 24 * time.Hour},
		{"configured too long", Tasks{TTL: 3 * time.Hour, MaxTTL: time.Hour}, 0, "ada", time.Hour},
		{"asked for too much", Tasks{MaxTTL: time.Minute}, time.Hour, "ada", time.Minute},
	} {
		conf := x.conf.withDefaults()
		if got := conf.ttl(x.want, x.owner); got != x.ttl {
			t.Errorf("%s: %v", x.name, got)
		}
	}
}

// A task that takes too long fails at its time, its body is told, and it is forgotten later; one that has ended can be read for a while.
func TestTaskExpires(t *testing.T) {
	const expired = `failed{"code":-32603,"message":"Task expired"}`
	inTaskWays(t, Tasks{TTL: time.Minute, Linger: 10 * time.Second}, func(t *testing.T, s *Server, release chan string, c *taskClient) {
		slow, deaf, quick := c.start("wait"), c.start("deaf"), c.start("may")
		time.Sleep(time.Minute - time.Millisecond)
		c.want(c.status(slow), `working`)
		c.want(c.status(quick), `completed Hello, Ada!`)
		time.Sleep(time.Millisecond)
		synctest.Wait()
		c.want(c.status(slow), expired)
		c.want(c.status(deaf), expired)
		c.want(c.get(quick), noTask) // its time is over, and it was there for longer than Linger
		release <- "too late"
		synctest.Wait()
		c.want(c.status(deaf), expired)
		time.Sleep(10*time.Second - time.Millisecond)
		c.want(c.status(slow), expired)
		time.Sleep(time.Millisecond)
		c.want(c.get(slow), noTask)
		c.want(c.about("tasks/cancel", slow, ""), noTask)
		c.want(c.update(slow, `{}`), noTask)
		time.Sleep(2 * sweepPause)
		m := s.tasks.store.(*MemoryTasks)
		m.mu.Lock()
		defer m.mu.Unlock()
		if len(m.tasks) != 0 || m.bytes != 0 || len(m.owners) != 0 || m.sweeper != nil || len(m.watched) != 0 {
			t.Errorf("left: %d tasks, %d bytes, %d owners, sweeper %v, watched %d", len(m.tasks), m.bytes, len(m.owners), m.sweeper != nil, len(m.watched))
		}
	})
}

func TestTaskTTLCanGrow(t *testing.T) {
	bubble(t, Tasks{TTL: time.Minute}, func(t *testing.T, s *Server, release chan string, c *taskClient) {
		s.Caller = func(ctx context.Context, _ string, _ Arguments) (any, error) {
			return RunTask(ctx, TaskOptions{}, func(ctx context.Context) (any, error) {
				if err := TaskFrom(ctx).SetTTL(ctx, time.Hour); err != nil {
					return nil, err
				}
				select {
				case text := <-release:
					return text, nil
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			})
		}
		id := c.start("x")
		time.Sleep(59 * time.Minute)
		release <- "done"
		synctest.Wait()
		c.want(c.status(id), `completed done`)
	})
}

// More than may run wait for their turn, as working; one that is cancelled meanwhile never runs.
func TestTaskQueue(t *testing.T) {
	bubble(t, Tasks{Running: 2}, func(t *testing.T, s *Server, release chan string, c *taskClient) {
		var ids []string
		for range 5 {
			ids = append(ids, c.start("wait"))
		}
		synctest.Wait()
		k := s.tasks
		active := func() (active, waiting int) {
			synctest.Wait()
			k.mu.Lock()
			defer k.mu.Unlock()
			return k.active, len(k.queue)
		}
		if a, w := active(); a != 2 || w != 3 {
			t.Errorf("%d run, %d wait", a, w)
		}
		c.want(c.status(ids[4]), `working`)
		c.cancel(ids[3])
		if a, w := active(); a != 2 || w != 2 {
			t.Errorf("after cancelling one that waits: %d run, %d wait", a, w)
		}
		c.cancel(ids[0])
		if a, w := active(); a != 2 || w != 1 {
			t.Errorf("after cancelling one that runs: %d run, %d wait", a, w)
		}
		for range 3 {
			release <- "done"
			synctest.Wait()
		}
		for i, want := range []string{`cancelled`, `completed done`, `completed done`, `cancelled`, `completed done`} {
			c.want(c.status(ids[i]), want)
		}
		if a, w := active(); a != 0 || w != 0 || len(k.runs) != 0 {
			t.Errorf("in the end %d run, %d wait, %d are known", a, w, len(k.runs))
		}
	})
}

// What waits for its turn has no more time than what runs.
func TestTaskExpiresInQueue(t *testing.T) {
	bubble(t, Tasks{Running: 1, TTL: time.Minute}, func(t *testing.T, s *Server, release chan string, c *taskClient) {
		deaf, waits := c.start("deaf"), c.start("wait")
		time.Sleep(time.Minute)
		synctest.Wait()
		c.want(c.status(waits), `failed{"code":-32603,"message":"Task expired"}`)
		release <- "x"
		synctest.Wait()
		c.want(c.status(deaf), `failed{"code":-32603,"message":"Task expired"}`)
		if n := len(s.tasks.runs); n != 0 {
			t.Errorf("%d runs", n)
		}
	})
}

func TestTasksAreBounded(t *testing.T) {
	t.Run("in all", func(t *testing.T) {
		bubble(t, Tasks{Store: &MemoryTasks{Max: 2}}, func(t *testing.T, s *Server, _ chan string, c *taskClient) {
			c.start("wait")
			first := c.start("may")
			c.want(final(t, "{"+c.call("may", `{"name":"Ada"}`)), `Hello, Ada!`) // no task, and none needed
			c.want(c.call("must", `{}`), busy)
			time.Sleep(20 * time.Minute) // those are gone by then
			c.start("may")
			c.want(c.get(first), noTask)
		})
	})
	t.Run("each principal", func(t *testing.T) {
		bubble(t, Tasks{Store: &MemoryTasks{PerOwner: 3}}, func(t *testing.T, s *Server, _ chan string, _ *taskClient) {
			ada, bob := newTaskClient(t, s, "ada"), newTaskClient(t, s, "bob")
			var ids []string
			for range 3 {
				ids = append(ids, ada.start("wait"))
			}
			ada.want(ada.call("must", `{}`), busy)
			bob.start("must")
			ada.cancel(ids[0])
			ada.start("must")
			synctest.Wait()
			for range 30 - 4 {
				ada.start("must")
				synctest.Wait()
			}
			ada.want(ada.call("must", `{}`), busy) // what has ended counts, too
			bob.start("must")
		})
	})
	t.Run("memory", func(t *testing.T) {
		bubble(t, Tasks{Store: &MemoryTasks{MaxBytes: 2000}}, func(t *testing.T, s *Server, _ chan string, c *taskClient) {
			var r reports
			s.Reporter = r.report
			id := c.start("big")
			synctest.Wait()
			c.want(c.status(id), `failed{"code":-32603,"message":"Internal error"}`)
			if got := r.String(); got != `mcp: result of a task: mcp: too many tasks` {
				t.Errorf("reported %q", got)
			}
		})
	})
}

// Nobody but who created a task learns that there is one.
func TestTaskOwners(t *testing.T) {
	bubble(t, Tasks{}, func(t *testing.T, s *Server, _ chan string, nobody *taskClient) {
		ada, bob := newTaskClient(t, s, "ada"), newTaskClient(t, s, "bob")
		hers, none := ada.start("wait"), nobody.start("wait")
		for _, x := range []struct {
			who *taskClient
			id  string
		}{{bob, hers}, {nobody, hers}, {ada, none}, {bob, none}} {
			x.who.want(x.who.get(x.id), noTask)
			x.who.want(x.who.update(x.id, `{}`), noTask)
			x.who.want(x.who.about("tasks/cancel", x.id, ""), noTask)
		}
		ada.want(ada.status(hers), `working`)
		nobody.want(nobody.status(none), `working`)
	})
}

func TestTaskRates(t *testing.T) {
	bubble(t, Tasks{}, func(t *testing.T, s *Server, _ chan string, nobody *taskClient) {
		ada, bob := newTaskClient(t, s, "ada"), newTaskClient(t, s, "bob")
		const limited = `"error":{"code":-32603,"message":"Too many requests about tasks"}}`
		for range taskBurst {
			ada.want(ada.get("x"), noTask)
		}
		ada.want(ada.get("x"), limited)
		bob.want(bob.get("x"), noTask)
		time.Sleep(time.Second / taskRate)
		ada.want(ada.get("x"), noTask)
		ada.want(ada.get("x"), limited)
		for range 2 * taskBurst {
			nobody.want(nobody.get("x"), noTask)
		}
		for i := range 2 * taskOwners {
			s.tasks.rates.allow(fmt.Sprint(i))
		}
		if n := len(s.tasks.rates.owners); n > taskOwners {
			t.Errorf("%d principals are remembered", n)
		}
	})
}

func TestTaskShutdown(t *testing.T) {
	t.Run("nothing to do", func(t *testing.T) {
		bubble(t, Tasks{}, func(t *testing.T, s *Server, _ chan string, c *taskClient) {
			if err := s.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
			c.want(c.call("must", `{}`), busy)
			c.want(final(t, "{"+c.call("may", `{"name":"Ada"}`)), `Hello, Ada!`)
			if n := len(s.tasks.store.(*MemoryTasks).tasks); n != 0 {
				t.Errorf("%d tasks", n)
			}
		})
		if err := new(Server).Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
	t.Run("grace", func(t *testing.T) {
		bubble(t, Tasks{Running: 1}, func(t *testing.T, s *Server, release chan string, c *taskClient) {
			ids := []string{c.start("wait"), c.start("wait")}
			done := make(chan error)
			go func() { done <- s.Shutdown(t.Context()) }()
			synctest.Wait()
			c.want(c.call("must", `{}`), busy)
			release <- "one"
			release <- "two"
			if err := <-done; err != nil {
				t.Error(err)
			}
			c.want(c.status(ids[0])+", "+c.status(ids[1]), `completed one, completed two`)
		})
	})
	t.Run("no more grace", func(t *testing.T) {
		bubble(t, Tasks{Running: 2}, func(t *testing.T, s *Server, release chan string, c *taskClient) {
			ids := []string{c.start("wait"), c.start("deaf"), c.start("wait")}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			began := time.Now()
			if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Minute+time.Second {
				t.Errorf("%v after %v", err, time.Since(began))
			}
			for _, id := range ids {
				c.want(c.status(id), `failed{"code":-32603,"message":"Task interrupted"}`)
			}
			release <- "x" // or the bubble would not end
		})
	})
}

// sharedTasks is a store of several servers, which can do no more than it must.
type sharedTasks struct {
	TaskStore
	broken error // what every change fails with
}

func (s *sharedTasks) Update(ctx context.Context, id string, f func(*Task) error) (Task, error) {
	if s.broken != nil {
		return Task{}, s.broken
	}
	return s.TaskStore.Update(ctx, id, f)
}

// A client can come to any of several processes, also where their store does not say when something changes.
func TestTasksOfManyProcesses(t *testing.T) {
	memory := func() TaskStore { return new(MemoryTasks) }
	plain := func() TaskStore { return &sharedTasks{TaskStore: new(MemoryTasks)} }
	for name, store := range map[string]func() TaskStore{"watched": memory, "not watched": plain} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conf := Tasks{Store: store(), Lease: 30 * time.Second}
				s1, release := taskServer(&conf)
				s2, _ := taskServer(&conf)
				defer endTasks(s1)
				defer endTasks(s2)
				c1, c2 := newTaskClient(t, s1, "ada"), newTaskClient(t, s2, "ada")
				box := s1.Caller
				taskAsking(s1, func(ctx context.Context, ses *Session) (string, error) { return "yes", ses.Confirm(ctx, "Sure?") })
				asks := c1.start("x")
				s1.Caller = box
				long := c1.start("wait")
				cancelled := c1.start("wait")
				synctest.Wait()
				key, _ := onlyRequest(t, c2, asks)
				c2.want(c2.update(asks, `{"`+key+`":{"action":"accept"}}`), ack)
				time.Sleep(answerPause)
				synctest.Wait()
				c2.want(c2.status(asks), `completed yes`)

				c2.cancel(cancelled)
				c1.want(c1.status(cancelled), `cancelled`)
				time.Sleep(10 * time.Second)
				synctest.Wait()
				if n := len(s1.tasks.runs); n != 1 {
					t.Errorf("%d run after one was cancelled elsewhere", n)
				}
				time.Sleep(10 * time.Minute) // the lease is renewed
				c2.want(c2.status(long), `working`)
				release <- "done"
				synctest.Wait()
				c2.want(c2.status(long), `completed done`)
				if s1.tasks.renewal != nil {
					t.Error("leases are renewed for nothing")
				}
			})
		})
	}
}

// A process that dies leaves tasks that count as failed when the lease is over.
func TestTaskOfTheDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conf := Tasks{Store: new(MemoryTasks), Lease: 30 * time.Second}
		s1, _ := taskServer(&conf)
		s2, _ := taskServer(&conf)
		c := newTaskClient(t, s1, "")
		id := c.start("wait")
		synctest.Wait()
		s1.tasks.mu.Lock() // it has died: nothing is renewed
		s1.tasks.renewal.Stop()
		s1.tasks.renewal = nil
		s1.tasks.mu.Unlock()
		c = newTaskClient(t, s2, "")
		time.Sleep(30 * time.Second)
		c.want(c.status(id), `working`)
		time.Sleep(time.Millisecond)
		c.want(c.status(id), `failed{"code":-32603,"message":"Task interrupted"}`)
		endTasks(s1)
	})
}

// What is left of a task of the dead can be done by another process: once, for its owner, with the capabilities it began with.
func TestTaskResumes(t *testing.T) {
	for _, x := range []struct {
		name string
		body func(ctx context.Context) (any, error)
		want string
	}{
		{"done", func(context.Context) (any, error) { return "done by another", nil }, `completed done by another`},
		{"asks", func(ctx context.Context) (any, error) { return "sure", SessionFrom(ctx).Confirm(ctx, "Still sure?") },
			`input_required{` + confirmRequest("elicit-1-2", "Still sure?") + `}`},
		{"cannot ask that", func(ctx context.Context) (any, error) {
			_, err := SessionFrom(ctx).ElicitURL(ctx, URLElicitation{Message: "x", URL: "https://example.com"})
			return nil, err
		}, `failed{"code":-32021,"message":"Missing required client capability","data":{"requiredCapabilities":{"elicitation":{"url":{}}}}}`},
		{"the owner", func(ctx context.Context) (any, error) { p, _ := PrincipalFrom(ctx); return p, nil }, `completed ada`},
		{"nothing", nil, `failed{"code":-32603,"message":"Task interrupted"}`},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conf := Tasks{Store: new(MemoryTasks), Lease: 30 * time.Second}
				s1, _ := taskServer(&conf)
				resumed := 0
				conf2 := conf
				conf2.Resume = func(_ context.Context, task Task) func(context.Context) (any, error) {
					if resumed++; task.Tool != "x" || task.Owner != "ada" || len(task.Requests) != 0 {
						t.Errorf("%+v", task)
					}
					return x.body
				}
				s2, _ := taskServer(&conf2)
				defer endTasks(s2)
				taskAsking(s1, func(ctx context.Context, ses *Session) (string, error) { return "yes", ses.Confirm(ctx, "Sure?") })
				id := newTaskClient(t, s1, "ada").start("x")
				synctest.Wait()
				s1.tasks.mu.Lock()
				s1.tasks.renewal.Stop()
				s1.tasks.renewal = nil
				dead := s1.tasks.runs[id]
				s1.tasks.mu.Unlock()
				c := newTaskClient(t, s2, "ada")
				time.Sleep(31 * time.Second)
				if x.body != nil {
					c.want(c.status(id), `working`)
				}
				synctest.Wait()
				c.want(c.status(id), x.want)
				time.Sleep(2 * time.Minute)
				c.want(c.status(id), x.want)
				if resumed != 1 {
					t.Errorf("resumed %d times", resumed)
				}
				select {
				case <-dead.over: // it was only slow, and has learned it
				default:
					if x.body != nil {
						t.Error("two bodies")
					}
				}
				dead.stop(errTaskGone)
			})
		})
	}
}

// A store that fails keeps no task from ending.
func TestTaskStoreFails(t *testing.T) {
	t.Run("when it ends", func(t *testing.T) {
		store := &sharedTasks{TaskStore: new(MemoryTasks)}
		bubble(t, Tasks{Store: store, TTL: time.Minute}, func(t *testing.T, s *Server, release chan string, c *taskClient) {
			var r reports
			s.Reporter = r.report
			id := c.start("wait")
			store.broken = errors.New("disk full")
			release <- "done"
			synctest.Wait()
			if got := r.String(); got != `mcp: outcome of a task: disk full` {
				t.Errorf("reported %q", got)
			}
			store.broken = nil
			c.want(c.status(id), `working`)
			time.Sleep(time.Minute)
			c.want(c.status(id), `failed{"code":-32603,"message":"Task expired"}`)
		})
	})
	t.Run("when it begins", func(t *testing.T) {
		bubble(t, Tasks{Store: brokenTasks{}}, func(t *testing.T, s *Server, _ chan string, c *taskClient) {
			var r reports
			s.Reporter = r.report
			c.want(c.call("may", `{}`), `"error":{"code":-32603,"message":"Internal error"}}`)
			c.want(c.get("x"), `"error":{"code":-32603,"message":"Internal error"}}`)
			if got := r.String(); got != "no disk\nno disk" {
				t.Errorf("reported %q", got)
			}
		})
	})
}

type brokenTasks struct{}

var errNoDisk = errors.New("no disk")

func (brokenTasks) Create(context.Context, Task) error                { return errNoDisk }
func (brokenTasks) Get(context.Context, string, string) (Task, error) { return Task{}, errNoDisk }
func (brokenTasks) Delete(context.Context, string) error              { return errNoDisk }
func (brokenTasks) Update(context.Context, string, func(*Task) error) (Task, error) {
	return Task{}, errNoDisk
}

// Ids are random, and long enough.
func TestNewTaskID(t *testing.T) {
	var ids []string
	for range 1000 {
		ids = append(ids, newTaskID())
	}
	slices.Sort(ids)
	if n := len(slices.Compact(ids)); n != 1000 || len(ids[0]) != 22 || strings.ContainsAny(strings.Join(ids, ""), "+/=") {
		t.Errorf("%d ids like %q", n, ids[0])
	}
}
