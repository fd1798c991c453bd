package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"
)

// Many clients do everything to many tasks at the same time; in the end each task has ended, once, and nothing is left running.
func TestTaskStress(t *testing.T) {
	s, _ := taskServer(&Tasks{Running: 8, Experimental: true, Store: &MemoryTasks{Max: 10_000, PerOwner: 1000}})
	s.Caller = func(ctx context.Context, name string, _ Arguments) (any, error) {
		return RunTask(ctx, TaskOptions{}, func(ctx context.Context) (any, error) {
			h := TaskFrom(ctx)
			for i := range 3 {
				_ = h.SetStatusMessage(ctx, fmt.Sprint(i))
			}
			_ = h.SetTTL(ctx, time.Hour)
			if err := SessionFrom(ctx).Confirm(ctx, "Sure?"); err != nil {
				return nil, err
			}
			return TextResult(name), nil
		})
	}
	const clients, each = 8, 40
	var ids [clients][]string
	var all sync.WaitGroup
	for n := range clients {
		all.Go(func() {
			c := newTaskClient(t, s, fmt.Sprintf("client %d", n))
			for i := range each {
				id := c.start("x")
				ids[n] = append(ids[n], id)
				stop := func() {}
				if i%8 == 0 {
					var ctx context.Context
					ctx, stop = context.WithCancel(WithPrincipal(t.Context(), fmt.Sprintf("client %d", n)))
					all.Go(func() {
						s.HandleModern(ctx, []byte(withMeta("7", "subscriptions/listen", metaWith(tasksCaps), `,"notifications":{"taskIds":["`+id+`"]}`)), new(peer))
					})
				}
				for range 3 {
					some := ids[n][rand.IntN(len(ids[n]))]
					switch rand.IntN(3) {
					case 0:
						c.get(some)
					case 1:
						c.update(some, `{"elicit-1-1":{"action":"accept"}}`)
					case 2:
						c.about("tasks/cancel", some, "")
					}
				}
				stop()
			}
		})
	}
	all.Wait()
	// All are answered, by turns: most wait for those that run.
	deadline := time.Now().Add(3 * time.Minute)
	for open := true; open; {
		if open = false; time.Now().After(deadline) {
			t.Fatal("tasks do not end")
		}
		for n := range clients {
			for _, id := range ids[n] {
				task, err := s.tasks.load(t.Context(), fmt.Sprintf("client %d", n), id, false) // past the limit of requests
				if err != nil {
					t.Fatal(err)
				}
				if task.Status.Terminal() {
					continue
				}
				open = true
				if task.Status == TaskInputRequired {
					_, _ = s.tasks.change(t.Context(), id, func(t *Task) error {
						for i := range t.Requests {
							t.Requests[i].Answer = []byte(`{"action":"accept"}`)
						}
						return nil
					})
				}
			}
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	k := s.tasks
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.runs) != 0 || len(k.queue) != 0 || k.active != 0 {
		t.Errorf("left: %d runs, %d waiting, %d active", len(k.runs), len(k.queue), k.active)
	}
}

// Whatever the params of a request about tasks are, the answer is an answer.
func FuzzTaskParams(f *testing.F) {
	for _, members := range []string{
		``, `,"taskId":"ID"`, `,"taskId":"ID","inputResponses":{"elicit-1-1":{"action":"accept"}}`, `,"taskId":"ID","inputResponses":{"elicit-1-1":5}`,
		`,"taskId":"I\u0044","inputResponses":{"\u0065licit-1-1":{"action":"decline"}}`, `,"taskId":{},"inputResponses":[]`, `,"taskId":"ID","taskId":5`,
		`,"notifications":{"taskIds":["ID"]}`, `,"notifications":{"taskIds":[["ID"]]}`, `,"name":"x","task":{"ttl":1}`, `,"cursor":"x"`,
	} {
		f.Add(members)
	}
	s, _ := taskServer(&Tasks{Experimental: true})
	taskAsking(s, func(ctx context.Context, ses *Session) (string, error) { return "yes", ses.Confirm(ctx, "Sure?") })
	f.Cleanup(func() { endTasks(s) })
	f.Fuzz(func(t *testing.T, members string) {
		if whole := `{"x":1` + members + `}`; !json.Valid([]byte(whole)) || strings.Contains(members, `\u`) && strings.Contains(members, "_meta") {
			return
		}
		c := newTaskClient(t, s, "")
		id := c.start("x")
		members = strings.ReplaceAll(members, "ID", id)
		ses := opened(t, s, new(peer), "2025-11-25")
		for _, method := range []string{"tasks/get", "tasks/update", "tasks/result", "tasks/list", "tasks/cancel"} {
			if method != "tasks/result" || !strings.Contains(members, id) {
				legacy := string(ses.Handle(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{"x":1`+members+`}}`)))
				if !strings.Contains(legacy, `"jsonrpc":"2.0"`) {
					t.Errorf("%s: %q", method, legacy)
				}
			}
			out := c.send(method, members)
			if !strings.HasPrefix(out, `"result":{`) && !strings.HasPrefix(out, `"error":{`) && !strings.Contains(out, `"error":{"code":-32`) {
				t.Errorf("%s: %q", method, out)
			}
		}
		c.about("tasks/cancel", id, "")
		_ = s.tasks.store.Delete(t.Context(), id)
	})
}
