package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

func TestTaskDiscovery(t *testing.T) {
	for _, c := range []struct {
		name       string
		tasks      *Tasks
		extensions map[string]any
		want       string
	}{
		{"off", nil, nil, ``},
		{"on", &Tasks{}, nil, `{"io.modelcontextprotocol/tasks":{}}`},
		{"beside others", &Tasks{}, map[string]any{"com.example/x": map[string]any{}}, `{"com.example/x":{},"io.modelcontextprotocol/tasks":{}}`},
		{"the experiment is another thing", &Tasks{Experimental: true}, nil, `{"io.modelcontextprotocol/tasks":{}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, _ := taskServer(c.tasks)
			s.Extensions = c.extensions
			out := newTaskClient(t, s, "").send("server/discover", "")
			if got := member(t, "{"+out, "result", "capabilities", "extensions"); got != c.want {
				t.Errorf("got %s", got)
			}
			if got := member(t, "{"+out, "result", "capabilities", "tasks"); got != "" {
				t.Errorf("capabilities.tasks: %s", got)
			}
			if len(s.Extensions) != len(c.extensions) {
				t.Error("the program's map was changed")
			}
		})
	}
}

// A request that does not declare the extension has no tasks, whatever earlier ones said; and hears that before anything else.
func TestTaskNegotiation(t *testing.T) {
	inTaskWays(t, Tasks{}, func(t *testing.T, s *Server, release chan string, c *taskClient) {
		id := c.start("wait")
		for _, x := range []struct {
			name, caps string
			declared   bool
		}{
			{"settings", `{"extensions":{"x":{},"io.modelcontextprotocol/tasks":{"list":true}}}`, true},
			{"escaped", `{"extensions":{"io.modelcontextprotocol\/t\u0061sks":{}}}`, true},
			{"none", `{}`, false},
			{"others", `{"extensions":{"com.example/tasks":{}}}`, false},
			{"null", `{"extensions":{"io.modelcontextprotocol/tasks":null}}`, false},
			{"true", `{"extensions":{"io.modelcontextprotocol/tasks":true}}`, false},
			{"list", `{"extensions":{"io.modelcontextprotocol/tasks":[]}}`, false},
			{"extensions is a list", `{"extensions":["io.modelcontextprotocol/tasks"]}`, false},
			{"the capability of 2025-11-25", `{"tasks":{"requests":{"tools":{"call":{}}}}}`, false},
		} {
			c.caps = x.caps
			got := c.get(id)
			if declared := strings.HasPrefix(got, `"result":{"taskId"`); declared != x.declared {
				t.Errorf("%s: %s", x.name, got)
			}
			if x.declared {
				continue
			}
			for _, members := range []string{``, `,"taskId":5`, `,"taskId":"a","taskId":"b"`, `,"taskId":"nobody"`} {
				for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
					c.want(c.send(method, members), needTasks)
				}
			}
			c.want(c.call("may", `{"name":"Ada"}`), `"result":{"content":[{"type":"text","text":"Hello, Ada!"}],"isError":false,"resultType":"complete",`+signed+`}}`)
			c.want(c.call("must", `{"name":5}`), needTasks)
			c.want(c.send("subscriptions/listen", `,"notifications":{"taskIds":5}`), needTasks)
		}
	})
}

func TestTaskMethodsAreOff(t *testing.T) {
	s, _ := taskServer(nil)
	c := newTaskClient(t, s, "")
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel", "tasks/result", "tasks/list"} {
		c.want(c.send(method, `,"taskId":"x"`), `"error":{"code":-32601,"message":"Method not found"}}`)
	}
	c.want(c.call("may", `{"name":"Ada"}`), `"result":{"content":[{"type":"text","text":"Hello, Ada!"}],"isError":false,"resultType":"complete",`+signed+`}}`)
	s, _ = taskServer(&Tasks{Experimental: true})
	c = newTaskClient(t, s, "")
	for _, method := range []string{"tasks/result", "tasks/list"} {
		c.want(c.send(method, `,"taskId":"x"`), `"error":{"code":-32601,"message":"Method not found"}}`)
	}
	if !s.Serves("2026-07-28", "tasks/get") || s.Serves("2026-07-28", "tasks/list") {
		t.Error("Serves")
	}
}

// The messages, to the byte.
func TestTaskMessages(t *testing.T) {
	inTaskWays(t, Tasks{}, func(t *testing.T, s *Server, release chan string, c *taskClient) {
		got := c.send("tools/call", `,"name":"wait","arguments":{},"task":{"ttl":5}`)
		id := taskIDs.FindStringSubmatch(got)[1]
		quarter := 15 * time.Minute
		c.want(got, `"result":{`+plainTask(id, "working", 0, 0, quarter)+`,"resultType":"task",`+signed+`}}`)
		c.want(c.get(id), `"result":{`+plainTask(id, "working", 0, 0, quarter)+`,"resultType":"complete",`+signed+`}}`)
		time.Sleep(2 * time.Second)
		release <- "done"
		synctest.Wait()
		c.want(c.get(id), `"result":{`+plainTask(id, "completed", 0, 2*time.Second, quarter)+
			`,"result":{"content":[{"type":"text","text":"done"}],"isError":false,"resultType":"complete",`+signed+`},"resultType":"complete",`+signed+`}}`)
		c.want(c.call("greet", `{"name":"Ada"}`), `"result":{"content":[{"type":"text","text":"Hello, Ada!"}],"isError":false,"resultType":"complete",`+signed+`}}`)
	})
}

func TestTaskOutcomes(t *testing.T) {
	const internal = `failed{"code":-32603,"message":"Internal error"}`
	for _, x := range []struct{ tool, want, message, reported string }{
		{"may", `completed Hello, Ada!`, ``, ``},
		{"must", `completed Hello, Ada!`, ``, ``},
		{"fail", `completed isError no luck`, ``, ``},
		{"protocol", `failed{"code":-32099,"message":"not today","data":{"when":"tomorrow"}}`, `"not today"`, ``},
		{"panic", internal, `"Internal error"`, `panic in handler: secret`},
		{"exit", internal, `"Internal error"`, `mcp: the body of a task called runtime.Goexit`},
		{"big", internal, `"Internal error"`, `mcp: result of a task: jsonrpc2: message over the frame limit`},
		{"badmeta", internal, `"Internal error"`, `mcp: data of an error with code 1 is no JSON`},
	} {
		t.Run(x.tool, func(t *testing.T) {
			inTaskWays(t, Tasks{MaxResult: 1000}, func(t *testing.T, s *Server, _ chan string, c *taskClient) {
				var r reports
				s.Reporter = r.report
				id := c.start(x.tool)
				synctest.Wait()
				c.want(c.status(id), x.want)
				if got := member(t, "{"+c.get(id), "result", "statusMessage"); got != x.message {
					t.Errorf("statusMessage %s", got)
				}
				if got := r.String(); got != x.reported {
					t.Errorf("reported %q", got)
				}
				c.cancel(id) // nothing changes
				c.want(c.status(id), x.want)
				c.want(c.update(id, `{"x":{}}`), ack)
			})
		})
	}
}

// Values that only a Caller can return, and what a MarshalJSON can do.
func TestRunTaskOutcomes(t *testing.T) {
	for _, x := range []struct {
		name string
		body func(ctx context.Context) (any, error)
		want string
	}{
		{"nil", func(context.Context) (any, error) { return nil, nil }, `completed `},
		{"text", func(context.Context) (any, error) { return "a", nil }, `completed a`},
		{"whole result", func(context.Context) (any, error) { return ErrorResult("a"), nil }, `completed isError a`},
		{"structure", func(context.Context) (any, error) { return map[string]int{"n": 1}, nil }, `completed {"n":1}`},
		{"error", func(context.Context) (any, error) { return nil, errors.New("a") }, `completed isError a`},
		{"a task again", func(ctx context.Context) (any, error) {
			return RunTask(ctx, TaskOptions{Only: true}, func(context.Context) (any, error) { return "inner", nil })
		}, `completed inner`},
		{"what asks", func(context.Context) (any, error) { return &InputRequired{State: []byte("x")}, nil }, `failed{"code":-32603,"message":"Internal error"}`},
		{"what cannot be encoded", func(context.Context) (any, error) { return &CallToolResult{StructuredContent: make(chan int)}, nil }, `failed{"code":-32603,"message":"Internal error"}`},
		{"what panics", func(context.Context) (any, error) { return &CallToolResult{StructuredContent: grenade{}}, nil }, `failed{"code":-32603,"message":"Internal error"}`},
		{"the client cannot", func(context.Context) (any, error) { return nil, tasksMissing() }, `failed{"code":-32021,"message":"Missing required client capability","data":{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}`},
	} {
		t.Run(x.name, func(t *testing.T) {
			bubble(t, Tasks{}, func(t *testing.T, s *Server, _ chan string, c *taskClient) {
				s.Caller = func(ctx context.Context, _ string, _ Arguments) (any, error) {
					return RunTask(ctx, TaskOptions{TTL: time.Minute, Poll: 2 * time.Second, Message: "began"}, x.body)
				}
				out := c.call("x", `{}`)
				if !strings.Contains(out, `"statusMessage":"began"`) || !strings.Contains(out, `"ttlMs":60000,"pollIntervalMs":2000`) {
					t.Error(out)
				}
				id := taskIDs.FindStringSubmatch(out)[1]
				synctest.Wait()
				c.want(c.status(id), x.want)
				task, err := s.tasks.store.Get(t.Context(), "", id)
				if err != nil || task.Tool != "x" || task.Method != "tools/call" {
					t.Errorf("%+v %v", task, err)
				}
			})
		})
	}
}

type grenade struct{}

func (grenade) MarshalJSON() ([]byte, error) { panic("boom") }

func TestTaskIDs(t *testing.T) {
	inTaskWays(t, Tasks{}, func(t *testing.T, s *Server, _ chan string, c *taskClient) {
		const bad = `"error":{"code":-32602,"message":"Invalid params: taskId must be a string"}}`
		for _, x := range []struct{ members, want string }{
			{``, bad}, {`,"taskId":5`, bad}, {`,"taskId":null`, bad}, {`,"taskId":""`, bad}, {`,"taskId":["a"]`, bad}, {`,"taskId":{}`, bad},
			{`,"taskId":"nobody"`, noTask}, {`,"taskId":"` + strings.Repeat("x", 10_000) + `"`, noTask},
			{`,"taskId":"a","taskId":"b"`, `"error":{"code":-32602,"message":"Invalid params"}}`},
		} {
			for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
				c.want(c.send(method, x.members), x.want)
			}
		}
	})
}

func TestTaskCancel(t *testing.T) {
	inTaskWays(t, Tasks{}, func(t *testing.T, s *Server, release chan string, c *taskClient) {
		var r reports
		s.Reporter = r.report
		id := c.start("wait")
		c.cancel(id)
		c.want(c.status(id), `cancelled`)
		synctest.Wait() // the body has returned
		c.cancel(id)
		c.want(c.status(id), `cancelled`)
		deaf := c.start("deaf")
		c.cancel(deaf)
		c.want(c.status(deaf), `cancelled`)
		release <- "too late"
		synctest.Wait()
		c.want(c.status(deaf), `cancelled`)
		if r.String() != "" {
			t.Errorf("reported %s", &r)
		}
	})
}

// What a body sees of the end of its task.
func TestTaskCauses(t *testing.T) {
	for _, x := range []struct {
		name string
		end  func(s *Server, c *taskClient, id string)
		want error
	}{
		{"cancelled", func(s *Server, c *taskClient, id string) { c.cancel(id) }, cancel.ByPeer{Method: "tasks/cancel"}},
		{"expired", func(s *Server, c *taskClient, id string) { time.Sleep(time.Hour) }, errTaskExpired},
		{"shut down", func(s *Server, c *taskClient, id string) { endTasks(s) }, cancel.ErrClosing},
	} {
		t.Run(x.name, func(t *testing.T) {
			bubble(t, Tasks{}, func(t *testing.T, s *Server, _ chan string, c *taskClient) {
				cause := make(chan error, 1)
				s.Caller = func(ctx context.Context, _ string, _ Arguments) (any, error) {
					return RunTask(ctx, TaskOptions{}, func(ctx context.Context) (any, error) {
						<-ctx.Done()
						cause <- context.Cause(ctx)
						return nil, ctx.Err()
					})
				}
				id := c.start("x")
				x.end(s, c, id)
				if got := <-cause; got != x.want {
					t.Errorf("got %v", got)
				}
			})
		})
	}
}

// The work goes on when the request and the connection end, with the values of its context, and sends nothing.
func TestTaskSurvivesTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := taskServer(&Tasks{})
		defer endTasks(s)
		type key struct{}
		done := make(chan error, 1)
		s.Caller = func(ctx context.Context, _ string, _ Arguments) (any, error) {
			ctx = context.WithValue(ctx, key{}, "kept")
			return RunTask(ctx, TaskOptions{}, func(ctx context.Context) (any, error) {
				<-time.After(time.Minute)
				ses := SessionFrom(ctx)
				principal, _ := PrincipalFrom(ctx)
				switch {
				case ctx.Err() != nil:
					done <- ctx.Err()
				case ctx.Value(key{}) != "kept" || principal != "ada" || ses.Revision() != "2026-07-28" || !ses.Can(KindForm) || ses.Client().Name != "me":
					done <- errors.New("values are lost")
				case !errors.Is(ses.Call(ctx, "x", nil, nil), ErrNoRequests):
					done <- errors.New("a request")
				default:
					_ = ses.Log(ctx, LevelError, "", "unheard")
					_ = ses.Notify(ctx, "custom", nil)
					done <- Progress(ctx, 1, 2, "unheard")
				}
				return "done", nil
			})
		}
		p := new(peer)
		ctx, end := context.WithCancel(WithPrincipal(t.Context(), "ada"))
		meta := `{` + versionMember + `,"io.modelcontextprotocol/clientCapabilities":` + tasksCaps + `,"io.modelcontextprotocol/clientInfo":{"name":"me","version":"1"},"io.modelcontextprotocol/logLevel":"debug","progressToken":1}`
		out := string(s.HandleModern(ctx, []byte(withMeta("1", "tools/call", meta, `,"name":"x"`)), p))
		end()
		if err := <-done; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if sent := p.all(); len(sent) > 0 {
			t.Errorf("sent %q", sent)
		}
		c := newTaskClient(t, s, "ada")
		c.want(c.status(taskIDs.FindStringSubmatch(out)[1]), `completed done`)
	})
}

// A request whose client has gone before there was an answer leaves nothing behind.
func TestTaskOfNobody(t *testing.T) {
	bubble(t, Tasks{}, func(t *testing.T, s *Server, _ chan string, _ *taskClient) {
		ctx, end := context.WithCancel(t.Context())
		ran := false
		s.Caller = func(ctx context.Context, _ string, _ Arguments) (any, error) {
			end()
			return RunTask(ctx, TaskOptions{}, func(context.Context) (any, error) { ran = true; return nil, nil })
		}
		if out := s.HandleModern(ctx, []byte(withMeta("1", "tools/call", metaWith(tasksCaps), `,"name":"x"`)), nil); out != nil {
			t.Errorf("%s", out)
		}
		synctest.Wait()
		if n := len(s.tasks.store.(*MemoryTasks).tasks); n != 0 || ran {
			t.Errorf("%d tasks, ran %v", n, ran)
		}
	})
}

func TestRunTaskQuick(t *testing.T) {
	for _, x := range []struct {
		name string
		body func(ctx context.Context) (any, error)
		want string // of the answer; "": a task
	}{
		{"quick", func(context.Context) (any, error) { time.Sleep(time.Second); return "a", nil }, `a`},
		{"quick error", func(context.Context) (any, error) { return nil, &jsonrpc2.Error{Code: 7, Message: "x"} }, `error 7 x`},
		{"slow", func(ctx context.Context) (any, error) { <-ctx.Done(); return nil, ctx.Err() }, ``},
		{"asks", func(ctx context.Context) (any, error) { return nil, SessionFrom(ctx).Confirm(ctx, "Sure?") }, ``},
	} {
		t.Run(x.name, func(t *testing.T) {
			bubble(t, Tasks{}, func(t *testing.T, s *Server, _ chan string, c *taskClient) {
				s.Caller = func(ctx context.Context, _ string, _ Arguments) (any, error) {
					return RunTask(ctx, TaskOptions{Quick: 2 * time.Second}, x.body)
				}
				out := c.call("x", `{}`)
				kept := len(s.tasks.store.(*MemoryTasks).tasks)
				if isTask := taskIDs.MatchString(out); isTask != (x.want == "") || kept != map[bool]int{true: 1}[isTask] {
					t.Fatalf("%d kept: %s", kept, out)
				}
				if x.want != "" {
					c.want(final(t, "{"+out), x.want)
				}
			})
		})
	}
}

func TestTaskHandle(t *testing.T) {
	var none *TaskHandle
	if TaskFrom(t.Context()) != nil || none.ID() != "" || none.SetStatusMessage(t.Context(), "x") != nil || none.SetTTL(t.Context(), 1) != nil || none.SetPoll(t.Context(), 1) != nil {
		t.Error("a nil handle does something")
	}
	bubble(t, Tasks{}, func(t *testing.T, s *Server, _ chan string, c *taskClient) {
		step := make(chan struct{})
		var id string
		s.Caller = func(ctx context.Context, _ string, _ Arguments) (any, error) {
			if TaskFrom(ctx) != nil {
				t.Error("a task before there is one")
			}
			return RunTask(ctx, TaskOptions{}, func(ctx context.Context) (any, error) {
				h := TaskFrom(ctx)
				id = h.ID()
				errs := []error{h.SetStatusMessage(ctx, "half\x00 "+strings.Repeat("é", 600)), h.SetTTL(ctx, 100*time.Hour), h.SetPoll(ctx, time.Nanosecond)}
				step <- struct{}{}
				<-ctx.Done()
				errs = append(errs, h.SetStatusMessage(context.WithoutCancel(ctx), "late"))
				if got := errors.Join(errs...); got == nil || got.Error() != errTaskOver.Error() {
					t.Errorf("got %v", got)
				}
				close(step)
				return nil, nil
			})
		}
		want := c.start("x")
		time.Sleep(time.Second)
		<-step
		if id != want {
			t.Errorf("ID %q", id)
		}
		var m struct {
			Result struct {
				StatusMessage         string
				LastUpdatedAt         string
				TTLMs, PollIntervalMs int
			}
		}
		if err := json.Unmarshal([]byte("{"+c.get(id)), &m); err != nil {
			t.Fatal(err)
		}
		if r := m.Result; len(r.StatusMessage) > maxTaskMessage || !strings.HasPrefix(r.StatusMessage, "half\x00 éé") || !strings.HasSuffix(r.StatusMessage, "éé") ||
			r.TTLMs != 24*3600*1000 || r.PollIntervalMs != 100 || r.LastUpdatedAt != "2000-01-01T00:00:00.003Z" {
			t.Errorf("%+v", r)
		}
		c.cancel(id)
		<-step
	})
}

// What is asked before the work is asked before there is a task.
func TestTaskAfterQuestions(t *testing.T) {
	inTaskWays(t, Tasks{}, func(t *testing.T, s *Server, _ chan string, c *taskClient) {
		var b Toolbox
		type name struct {
			Name string `json:"name"`
		}
		var first, second string
		AddAskingTool(&b, Tool{Name: "ask", Task: TaskMust, SingleUse: true}, func(ctx context.Context, _ struct{}, q *Asker) (string, error) {
			first = CallID(ctx)
			n, ok := FormAs[name](q, "who", "Who are you?")
			if !ok {
				return "", nil
			}
			return n.Name, nil
		}, func(ctx context.Context, _ struct{}, who string) (string, error) {
			second = CallID(ctx)
			if TaskFrom(ctx) == nil {
				return "", errors.New("no task")
			}
			return "Hello, " + who, nil
		})
		s.Lister, s.Caller = b.List, b.Call
		out := c.call("ask", `{}`)
		a, asked := readAsks(t, "{"+out)
		if !asked || taskIDs.MatchString(out) || a.Requests["who"].Method == "" {
			t.Fatal(out)
		}
		members := retry(`,"name":"ask","arguments":{}`, map[string]string{"who": acceptedWith(`{"name":"Alice"}`)}, a.State)
		out = c.send("tools/call", members)
		if strings.Contains(out, "requestState") || strings.Contains(out, "inputRequests") {
			t.Error(out)
		}
		id := taskIDs.FindStringSubmatch(out)[1]
		synctest.Wait()
		c.want(c.status(id), `completed Hello, Alice`)
		if first == "" || first != second {
			t.Errorf("CallID %q, then %q", first, second)
		}
		again := taskIDs.FindStringSubmatch(c.send("tools/call", members))[1]
		synctest.Wait()
		c.want(c.status(again), `completed isError already done`)
		c.caps = `{"elicitation":{}}`
		c.want(c.call("ask", `{}`), needTasks)
	})
}

func TestTaskPolicy(t *testing.T) {
	bubble(t, Tasks{Policy: func(_ context.Context, tool string) bool { return tool == "wait" }}, func(t *testing.T, s *Server, _ chan string, c *taskClient) {
		c.start("wait")
		c.start("must")
		c.want(final(t, "{"+c.call("may", `{"name":"Ada"}`)), `Hello, Ada!`)
	})
}

// The arguments are the body's as long as it runs, though the buffer they came in is used again.
func TestTaskKeepsArguments(t *testing.T) {
	inTaskWays(t, Tasks{}, func(t *testing.T, s *Server, _ chan string, c *taskClient) {
		var b Toolbox
		b.Add(Tool{Name: "echo", Task: TaskMay}, func(ctx context.Context, a Arguments) (any, error) {
			time.Sleep(time.Second)
			text, _ := a.Text("text")
			return TextResult(text + string(a.Raw())), nil
		})
		s.Lister, s.Caller = b.List, b.Call
		id := taskIDs.FindStringSubmatch(c.call("echo", `{"text":"mine"}`))[1]
		for range 20 {
			c.call("echo", `{"text":"else"}`)
		}
		time.Sleep(2 * time.Second)
		c.want(c.status(id), `completed mine{"text":"mine"}`)
	})
}

func TestTaskSupportJSON(t *testing.T) {
	for i, text := range []string{`{"taskSupport":"forbidden"}`, `{"taskSupport":"optional"}`, `{"taskSupport":"required"}`} {
		got, err := json.Marshal(TaskSupport(i))
		var back TaskSupport
		if err != nil || string(got) != text || json.Unmarshal(got, &back) != nil || back != TaskSupport(i) {
			t.Errorf("%d: %s %v, back %d", i, got, err, back)
		}
	}
	for _, text := range []string{`{}`, `{"taskSupport":5}`, `{"taskSupport":"sometimes"}`} {
		got := TaskMust
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != TaskNever {
			t.Errorf("%s: %v %v", text, got, err)
		}
	}
}
