package mcp

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// listenTasks opens a subscriptions/listen with id 7 of a principal, and returns what it was sent.
func listenTasks(t *testing.T, s *Server, principal, filter string) (p *peer, stop func()) {
	t.Helper()
	p = new(peer)
	ctx, stop := context.WithCancel(WithPrincipal(t.Context(), principal))
	go func() {
		out := s.HandleModern(ctx, []byte(withMeta("7", "subscriptions/listen", metaWith(tasksCaps), `,"notifications":`+filter)), p)
		if out != nil {
			p.mu.Lock()
			p.sent = append(p.sent, string(out))
			p.mu.Unlock()
		}
	}()
	synctest.Wait()
	return p, stop
}

// heardTasks is what a listen was told of tasks, in short, and in the order it was.
func heardTasks(t *testing.T, p *peer) (heard []string) {
	t.Helper()
	for _, m := range p.all() {
		params, ok := strings.CutPrefix(m, taskMethod+" ")
		if !ok {
			continue
		}
		if !strings.HasPrefix(params, `{"_meta":{"io.modelcontextprotocol/subscriptionId":7},"taskId":`) || strings.Contains(strings.SplitN(params, `"result"`, 2)[0], "resultType") {
			t.Errorf("told %s", m)
		}
		heard = append(heard, shortStatus(t, `"result":`+params+`}`))
	}
	return heard
}

func TestTaskListenGrants(t *testing.T) {
	bubble(t, Tasks{}, func(t *testing.T, s *Server, _ chan string, _ *taskClient) {
		ada, bob := newTaskClient(t, s, "ada"), newTaskClient(t, s, "bob")
		one, two, his := ada.start("wait"), ada.start("wait"), bob.start("wait")
		quoted := func(ids ...string) string { return `["` + strings.Join(ids, `","`) + `"]` }
		for _, x := range []struct{ name, filter, want string }{
			{"one", `{"taskIds":` + quoted(one) + `}`, `{"taskIds":` + quoted(one) + `}`},
			{"all there are", `{"taskIds":` + quoted("nobody", two, his, one, two, strings.Repeat("x", 1000)) + `}`, `{"taskIds":` + quoted(two, one) + `}`},
			{"none there is", `{"taskIds":` + quoted("nobody", his) + `}`, `{}`},
			{"empty", `{"taskIds":[]}`, `{}`},
			{"null", `{"taskIds":null}`, `{}`},
			{"beside others", `{"toolsListChanged":true,"taskIds":` + quoted(one) + `}`, `{"toolsListChanged":true,"taskIds":` + quoted(one) + `}`},
			{"number", `{"taskIds":5}`, ``},
			{"list of numbers", `{"taskIds":[5]}`, ``},
			{"text", `{"taskIds":"` + one + `"}`, ``},
			{"too many", `{"taskIds":["` + strings.Repeat(`x","`, maxTaskIDs) + `x"]}`, ``},
		} {
			p, stop := listenTasks(t, s, "ada", x.filter)
			if x.name == "beside others" {
				x.want = `{"taskIds":` + quoted(one) + `}` // lists do not change here
			}
			want := acknowledgedMethod + ` {"_meta":{"io.modelcontextprotocol/subscriptionId":7},"notifications":` + x.want + `}`
			if x.want == "" {
				want = `{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"` + errTaskIDs.Message + `"}}`
			}
			if sent := p.all(); sent[0] != want {
				t.Errorf("%s: %q", x.name, sent)
			}
			stop()
			synctest.Wait()
		}
		if n := len(s.tasks.store.(*MemoryTasks).watched); n != 0 {
			t.Errorf("%d are watched", n)
		}
	})
	t.Run("where tasks are off", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, _ := taskServer(nil)
			p, stop := listenTasks(t, s, "ada", `{"taskIds":["x"]}`)
			if sent := p.all(); len(sent) != 1 || !strings.HasSuffix(sent[0], `"notifications":{}}`) {
				t.Errorf("%q", sent)
			}
			stop()
		})
	})
	t.Run("where nothing is watched", func(t *testing.T) {
		bubble(t, Tasks{Store: &sharedTasks{TaskStore: new(MemoryTasks)}}, func(t *testing.T, s *Server, _ chan string, c *taskClient) {
			id := newTaskClient(t, s, "ada").start("wait")
			p, stop := listenTasks(t, s, "ada", `{"taskIds":["`+id+`"]}`)
			if sent := p.all(); len(sent) != 1 || !strings.HasSuffix(sent[0], `"notifications":{}}`) {
				t.Errorf("%q", sent)
			}
			stop()
		})
	})
}

// Who listens is told the state there is, then each change, at most one in 15 ms, as tasks/get shows it; and nothing after the end.
func TestTaskListen(t *testing.T) {
	bubble(t, Tasks{}, func(t *testing.T, s *Server, release chan string, _ *taskClient) {
		c := newTaskClient(t, s, "ada")
		taskAsking(s, func(ctx context.Context, ses *Session) (string, error) {
			h := TaskFrom(ctx)
			if err := ses.Confirm(ctx, "Sure?"); err != nil {
				return "", err
			}
			for range 50 { // too fast for anybody
				if err := h.SetStatusMessage(ctx, <-release); err != nil {
					return "", err
				}
			}
			<-release
			return "done", nil
		})
		id := c.start("x")
		synctest.Wait()
		p, stop := listenTasks(t, s, "ada", `{"taskIds":["`+id+`"]}`)
		defer stop()
		asks := `input_required{` + confirmRequest("elicit-1-1", "Sure?") + `}`
		if got := heardTasks(t, p); !slices.Equal(got, []string{asks}) {
			t.Fatalf("at first %q", got)
		}
		time.Sleep(time.Second)
		c.update(id, `{"elicit-1-1":{"action":"accept"}}`)
		synctest.Wait()
		if got := heardTasks(t, p); !slices.Equal(got, []string{asks, `working`}) {
			t.Fatalf("after the answer %q", got)
		}
		for i := range 50 {
			release <- strings.Repeat("x", i+1)
		}
		synctest.Wait()
		if got := heardTasks(t, p); len(got) != 2 {
			t.Errorf("not coalesced: %q", got)
		}
		time.Sleep(feedPause)
		synctest.Wait()
		if got := p.all(); len(got) != 4 || !strings.Contains(got[3], `"statusMessage":"`+strings.Repeat("x", 50)+`"`) {
			t.Errorf("the latest: %q", got)
		}
		time.Sleep(time.Second)
		close(release)
		synctest.Wait()
		want := []string{asks, `working`, `working`, `completed done`}
		if got := heardTasks(t, p); !slices.Equal(got, want) {
			t.Errorf("in the end %q", got)
		}
		c.cancel(id)
		time.Sleep(time.Hour)
		if got := heardTasks(t, p); !slices.Equal(got, want) {
			t.Errorf("after the end %q", got)
		}
		s.Close() // and only now the listen is over
		synctest.Wait()
		if sent := p.all(); !strings.Contains(sent[len(sent)-1], `"resultType":"complete"`) {
			t.Errorf("%q", sent)
		}
	})
}

// A task that ends while its client begins to listen is told, whatever came first.
func TestTaskListenAtTheEnd(t *testing.T) {
	s, release := taskServer(&Tasks{})
	c := newTaskClient(t, s, "")
	for range 50 {
		id := c.start("wait")
		go func() { release <- "done" }()
		heard := make(chan struct{}, 16)
		ctx, stop := context.WithCancel(t.Context())
		p := &peer{tell: func(_ context.Context, method string, params any) error {
			b, err := Encode(params)
			if method == taskMethod && strings.Contains(string(b), `"status":"completed"`) {
				heard <- struct{}{}
			}
			return err
		}}
		over := make(chan struct{})
		go func() {
			defer close(over)
			s.HandleModern(ctx, []byte(withMeta("7", "subscriptions/listen", metaWith(tasksCaps), `,"notifications":{"taskIds":["`+id+`"]}`)), p)
		}()
		select {
		case <-heard:
		case <-time.After(time.Minute):
			t.Fatal("not told")
		}
		stop()
		<-over
	}
}
