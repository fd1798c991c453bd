package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestTaskTransition(t *testing.T) {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	now := began.Add(time.Minute)
	question := func(key, answer string) TaskRequest {
		r := TaskRequest{Key: key, Method: methodElicit, Params: json.RawMessage(`{"a":1}`)}
		if answer != "" {
			r.Answer = json.RawMessage(answer)
		}
		return r
	}
	base := Task{ID: "1", Owner: "ada", Method: "tools/call", Tool: "x", Status: TaskWorking, Created: began, Updated: began, TTL: time.Hour, Poll: time.Second}
	asking := base
	asking.Status, asking.Serial = TaskInputRequired, 2
	asking.Requests = []TaskRequest{question("a-1", ""), question("b-2", `{}`)}
	completed := base
	completed.Status, completed.Result = TaskCompleted, json.RawMessage(`{}`)
	for _, x := range []struct {
		name   string
		old    Task
		change func(*Task)
		err    error      // that it must be
		status TaskStatus // and otherwise what it becomes
		seen   bool       // lastUpdatedAt changes
	}{
		{"nothing", base, func(t *Task) {}, nil, TaskWorking, false},
		{"message", base, func(t *Task) { t.Message = "x" }, nil, TaskWorking, true},
		{"time", base, func(t *Task) { t.TTL = 2 * time.Hour }, nil, TaskWorking, true},
		{"poll", base, func(t *Task) { t.Poll = time.Minute }, nil, TaskWorking, true},
		{"lease", base, func(t *Task) { t.Lease = now }, nil, TaskWorking, false},
		{"asks", base, func(t *Task) { t.Requests, t.Serial = []TaskRequest{question("a-1", "")}, 1 }, nil, TaskInputRequired, true},
		{"asks for nothing", base, func(t *Task) { t.Status = TaskInputRequired }, nil, TaskWorking, false},
		{"asks another", asking, func(t *Task) { t.Requests, t.Serial = append(t.Requests, question("c-3", "")), 3 }, nil, TaskInputRequired, true},
		{"one is answered", asking, func(t *Task) { t.Requests[0].Answer = json.RawMessage(`1`) }, nil, TaskWorking, true},
		{"an answer is fetched", asking, func(t *Task) { t.withdraw("b-2") }, nil, TaskInputRequired, false},
		{"all are withdrawn", asking, func(t *Task) { t.withdraw("a-1", "b-2") }, nil, TaskWorking, true},
		{"completed", asking, func(t *Task) { t.Status, t.Result = TaskCompleted, json.RawMessage(`{}`) }, nil, TaskCompleted, true},
		{"failed", base, func(t *Task) { t.Status, t.Error = TaskFailed, taskExpired.raw() }, nil, TaskFailed, true},
		{"cancelled", asking, func(t *Task) { t.Status = TaskCancelled }, nil, TaskCancelled, true},

		{"after the end", completed, func(t *Task) {}, errTaskOver, "", false},
		{"from the end", completed, func(t *Task) { t.Status, t.Result = TaskWorking, nil }, errTaskOver, "", false},
		{"completed without a result", base, func(t *Task) { t.Status = TaskCompleted }, errTaskState, "", false},
		{"completed with an error", base, func(t *Task) { t.Status, t.Result, t.Error = TaskCompleted, []byte(`{}`), []byte(`{}`) }, errTaskState, "", false},
		{"failed without an error", base, func(t *Task) { t.Status = TaskFailed }, errTaskState, "", false},
		{"failed with a result", base, func(t *Task) { t.Status, t.Result = TaskFailed, []byte(`{}`) }, errTaskState, "", false},
		{"cancelled with a result", base, func(t *Task) { t.Status, t.Result = TaskCancelled, []byte(`{}`) }, errTaskState, "", false},
		{"a result before the end", base, func(t *Task) { t.Result = []byte(`{}`) }, errTaskState, "", false},
		{"another id", base, func(t *Task) { t.ID = "2" }, errTaskState, "", false},
		{"another owner", base, func(t *Task) { t.Owner = "bob" }, errTaskState, "", false},
		{"another tool", base, func(t *Task) { t.Tool = "y" }, errTaskState, "", false},
		{"another beginning", base, func(t *Task) { t.Created = now }, errTaskState, "", false},
		{"other capabilities", base, func(t *Task) { t.Capabilities = []byte(`{}`) }, errTaskState, "", false},
		{"no time", base, func(t *Task) { t.TTL = 0 }, errTaskState, "", false},
		{"no poll", base, func(t *Task) { t.Poll = -1 }, errTaskState, "", false},
		{"a long message", base, func(t *Task) { t.Message = strings.Repeat("x", maxTaskMessage+1) }, errTaskState, "", false},
		{"a key that is not counted", base, func(t *Task) { t.Requests = []TaskRequest{question("a-1", "")} }, errTaskState, "", false},
		{"a key that is back", base, func(t *Task) { t.Requests, t.Serial = []TaskRequest{question("a-1", "")}, 0 }, errTaskState, "", false},
		{"a key twice", asking, func(t *Task) { t.Requests, t.Serial = append(t.Requests, question("a-1", "")), 3 }, errTaskState, "", false},
		{"a key for another question", asking, func(t *Task) { t.Requests[0].Params = nil }, errTaskState, "", false},
		{"a key for another method", asking, func(t *Task) { t.Requests[0].Method = methodRoots }, errTaskState, "", false},
		{"another answer", asking, func(t *Task) { t.Requests[1].Answer = []byte(`2`) }, errTaskState, "", false},
		{"an answer taken back", asking, func(t *Task) { t.Requests[1].Answer = nil }, errTaskState, "", false},
		{"too many questions", base, func(t *Task) {
			for t.Serial = range maxTaskRequests + 1 {
				t.Requests = append(t.Requests, question(fmt.Sprint(t.Serial), ""))
			}
			t.Serial++
		}, errTaskAsks, "", false},
	} {
		t.Run(x.name, func(t *testing.T) {
			old, next := x.old.clone(), x.old.clone()
			x.change(&next)
			err := transition(&old, &next, now, time.Minute)
			if !errors.Is(err, x.err) {
				t.Fatalf("%v", err)
			}
			if err != nil {
				return
			}
			if next.Status != x.status || next.Updated.Equal(now) != x.seen || !x.seen && !next.Updated.Equal(began) {
				t.Errorf("%s, updated %v", next.Status, next.Updated)
			}
			if next.Status.Terminal() && (len(next.Requests) > 0 || !next.Lease.IsZero()) {
				t.Errorf("left: %+v", next)
			}
			if next.Expires.Before(next.deadline()) {
				t.Errorf("expires %v", next.Expires)
			}
		})
	}
	t.Run("the clock stands still", func(t *testing.T) {
		next := base.clone()
		next.Message = "x"
		if err := transition(&base, &next, began, 0); err != nil || !next.Updated.After(began) {
			t.Errorf("%v %v", next.Updated, err)
		}
	})
	t.Run("the end of a task near its time", func(t *testing.T) {
		next := base.clone()
		next.Status = TaskCancelled
		at := began.Add(time.Hour - time.Second)
		if err := transition(&base, &next, at, 5*time.Minute); err != nil || !next.Expires.Equal(at.Add(5*time.Minute)) {
			t.Errorf("%v %v", next.Expires, err)
		}
	})
}

func (e encoded) raw() json.RawMessage { return json.RawMessage(e) }

// storedTask is a task that a store can keep for an hour.
func storedTask(id, owner string) Task {
	now := time.Now().UTC()
	return Task{ID: id, Owner: owner, Status: TaskWorking, Created: now, Updated: now, TTL: time.Hour, Poll: time.Second, Expires: now.Add(time.Hour)}
}

func TestMemoryTasks(t *testing.T) {
	ctx := t.Context()
	synctest.Test(t, func(t *testing.T) {
		m := new(MemoryTasks)
		first := storedTask("1", "ada")
		first.Requests = []TaskRequest{{Key: "a"}}
		if err := m.Create(ctx, first); err != nil {
			t.Fatal(err)
		}
		first.Requests[0].Key = "changed"
		if err := m.Create(ctx, storedTask("1", "bob")); !errors.Is(err, ErrTaskExists) {
			t.Errorf("a second task with the id: %v", err)
		}
		got, err := m.Get(ctx, "ada", "1")
		if err != nil || got.Requests[0].Key != "a" || got.Version != 1 {
			t.Fatalf("%+v %v", got, err)
		}
		got.Requests[0].Key = "changed"
		for _, x := range []struct{ owner, id string }{{"bob", "1"}, {"", "1"}, {"ada", "2"}} {
			if _, err := m.Get(ctx, x.owner, x.id); !errors.Is(err, ErrNoTask) {
				t.Errorf("%+v: %v", x, err)
			}
		}
		got, err = m.Update(ctx, "1", func(t *Task) error {
			t.Requests[0].Answer = []byte(`1`)
			t.ID, t.Owner = "2", "bob" // they stay
			return nil
		})
		if err != nil || got.Version != 2 {
			t.Errorf("%+v %v", got, err)
		}
		refused := errors.New("refused")
		if _, err := m.Update(ctx, "1", func(t *Task) error { t.Message = "x"; t.Requests[0].Key = "x"; return refused }); err != refused {
			t.Error(err)
		}
		got, err = m.Get(ctx, "ada", "1")
		if err != nil || got.Version != 2 || got.Message != "" || got.Requests[0].Key != "a" || string(got.Requests[0].Answer) != "1" {
			t.Errorf("%+v %v", got, err)
		}
		if _, err := m.Update(ctx, "2", func(*Task) error { return nil }); !errors.Is(err, ErrNoTask) {
			t.Error(err)
		}
		if err := errors.Join(m.Delete(ctx, "1"), m.Delete(ctx, "1")); err != nil {
			t.Error(err)
		}
		if _, err := m.Get(ctx, "ada", "1"); !errors.Is(err, ErrNoTask) {
			t.Error(err)
		}
		if m.bytes != 0 || len(m.owners) != 0 {
			t.Errorf("%d bytes, %v", m.bytes, m.owners)
		}
		old := storedTask("3", "")
		if err := m.Create(ctx, old); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if _, err := m.Update(ctx, "3", func(*Task) error { return nil }); !errors.Is(err, ErrNoTask) {
			t.Errorf("expired: %v", err)
		}
	})
}

// No update is lost, whoever else updates.
func TestMemoryTasksUpdatesAtOnce(t *testing.T) {
	m := new(MemoryTasks)
	if err := m.Create(t.Context(), storedTask("1", "")); err != nil {
		t.Fatal(err)
	}
	const workers, each = 8, 200
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for range each {
				if _, err := m.Update(t.Context(), "1", func(t *Task) error { t.Serial++; return nil }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got, err := m.Get(t.Context(), "", "1"); err != nil || got.Serial != workers*each || got.Version != workers*each+1 {
		t.Errorf("%d, version %d, %v", got.Serial, got.Version, err)
	}
}

// An update that never gets its turn ends with its context.
func TestMemoryTasksUpdateGivesUp(t *testing.T) {
	m := new(MemoryTasks)
	if err := m.Create(t.Context(), storedTask("1", "")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	_, err := m.Update(ctx, "1", func(task *Task) error {
		if n++; n == 3 {
			cancel()
		}
		_, err := m.Update(t.Context(), "1", func(*Task) error { return nil }) // somebody is always faster
		return err
	})
	if !errors.Is(err, context.Canceled) || n != 3 {
		t.Errorf("%v after %d", err, n)
	}
}

func TestMemoryTasksWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := new(MemoryTasks)
		for _, id := range []string{"1", "2", "3"} {
			if err := m.Create(t.Context(), storedTask(id, "")); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		changed, err := m.Watch(ctx, []string{"1", "2"})
		if err != nil {
			t.Fatal(err)
		}
		heard := func() bool {
			select {
			case <-changed:
				return true
			default:
				return false
			}
		}
		touch := func(id string) { _, _ = m.Update(t.Context(), id, func(*Task) error { return nil }) }
		touch("3")
		if heard() {
			t.Error("of another task")
		}
		touch("1")
		touch("2")
		touch("1")
		if !heard() || heard() {
			t.Error("changes are not one")
		}
		_ = m.Delete(t.Context(), "2")
		if !heard() {
			t.Error("not of the end")
		}
		cancel()
		synctest.Wait()
		touch("1")
		if heard() || len(m.watched) != 0 {
			t.Error("after the end")
		}
	})
}

func TestMemoryTasksList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := new(MemoryTasks)
		var want []string
		for i := range 7 {
			id := fmt.Sprint(9 - i)
			want = append(want, id)
			if err := m.Create(t.Context(), storedTask(id, "ada")); err != nil {
				t.Fatal(err)
			}
			if i != 3 { // two of the same time
				time.Sleep(time.Millisecond)
			}
		}
		want[3], want[4] = want[4], want[3]
		if err := m.Create(t.Context(), storedTask("x", "bob")); err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{1, 2, 3, 7, 100} {
			var got []string
			cursor := ""
			for {
				page, next, err := m.List(t.Context(), "ada", cursor, n)
				if err != nil || len(page) > n || len(page) == 0 {
					t.Fatalf("%d: %d tasks, %v", n, len(page), err)
				}
				for _, task := range page {
					got = append(got, task.ID)
				}
				if cursor = next; cursor == "" {
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d: %q", n, got)
			}
		}
		_, cursor, _ := m.List(t.Context(), "ada", "", 3)
		_ = m.Delete(t.Context(), want[2]) // the one that the cursor names
		if page, _, err := m.List(t.Context(), "ada", cursor, 1); err != nil || page[0].ID != want[3] {
			t.Errorf("%+v %v", page, err)
		}
		for _, made := range []string{"x", "!", strings.Repeat("A", 10)} {
			if _, _, err := m.List(t.Context(), "ada", made, 3); err == nil {
				t.Errorf("cursor %q", made)
			}
		}
	})
}
