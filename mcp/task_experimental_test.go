package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// experimentalClient is a client of 2025-11-25 with a session, on a connection or of a host.
type experimentalClient struct {
	t     *testing.T
	hello string
	ask   func(payload string) string // a request, and the answer
	sent  func() []string             // what came beside answers
}

const experimentalHello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{},"roots":{}},"clientInfo":{"name":"test","version":"1"}}}`

// experimentalWays are the roads that a client of 2025-11-25 can come. answer is what it says to every request.
var experimentalWays = []struct {
	name string
	open func(t *testing.T, s *Server, principal, answer string) *experimentalClient
}{
	{"connection", func(t *testing.T, s *Server, _, answer string) *experimentalClient {
		w := host(t, s)
		var mu sync.Mutex
		var beside []string
		answers := make(chan string, 64)
		go func() {
			for m := range w.in {
				var head struct {
					ID     json.RawMessage
					Method string
				}
				_ = json.Unmarshal([]byte(m), &head)
				if head.Method == "" {
					answers <- m
					continue
				}
				mu.Lock()
				beside = append(beside, m)
				mu.Unlock()
				if head.ID != nil {
					w.send(`{"jsonrpc":"2.0","id":` + string(head.ID) + `,"result":` + answer + `}`)
				}
			}
			close(answers)
		}()
		c := &experimentalClient{t: t, ask: func(p string) string { w.send(p); return <-answers }, sent: func() []string {
			mu.Lock()
			defer mu.Unlock()
			return append([]string(nil), beside...)
		}}
		c.hello = c.ask(experimentalHello)
		return c
	}},
	{"host", func(t *testing.T, s *Server, principal, answer string) *experimentalClient {
		p := new(peer)
		p.call = func(ctx context.Context, method string, params, result any) error {
			b, _ := Encode(params)
			stream, _ := ctx.Value(streamKey{}).(string)
			p.mu.Lock()
			p.sent = append(p.sent, fmt.Sprintf("%s asks %s %s", stream, method, b))
			p.mu.Unlock()
			return json.Unmarshal([]byte(answer), result)
		}
		ses, err := s.NewSession(p)
		if err != nil {
			t.Fatal(err)
		}
		c := &experimentalClient{t: t, sent: p.all, ask: func(payload string) string {
			m, _ := Inspect([]byte(payload))
			ctx := context.WithValue(t.Context(), streamKey{}, m.Method)
			if principal != "" {
				ctx = WithPrincipal(ctx, principal)
			}
			return string(ses.Handle(ctx, []byte(payload)))
		}}
		c.hello = c.ask(experimentalHello)
		return c
	}},
}

type streamKey struct{}

func (c *experimentalClient) send(method, members string) string {
	c.t.Helper()
	out := c.ask(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + strings.TrimPrefix(members, ",") + `}}`)
	return strings.TrimPrefix(out, `{"jsonrpc":"2.0","id":1,`)
}

func (c *experimentalClient) call(tool, more string) string {
	c.t.Helper()
	return c.send("tools/call", `"name":"`+tool+`","arguments":{"name":"Ada"}`+more)
}

func (c *experimentalClient) start(tool, more string) string {
	c.t.Helper()
	out := c.call(tool, `,"task":{}`+more)
	m := taskIDs.FindStringSubmatch(out)
	if m == nil || !strings.HasPrefix(out, `"result":{"task":{`) {
		c.t.Fatalf("no task: %s", out)
	}
	return m[1]
}

func (c *experimentalClient) about(method, id string) string {
	c.t.Helper()
	return c.send(method, `"taskId":"`+id+`"`)
}

func (c *experimentalClient) status(id string) string {
	c.t.Helper()
	return shortStatus(c.t, c.about("tasks/get", id))
}

func (c *experimentalClient) want(got, want string) {
	c.t.Helper()
	if got != want {
		c.t.Errorf("got  %s\nwant %s", got, want)
	}
}

func inExperimentalWays(t *testing.T, conf Tasks, answer string, f func(t *testing.T, s *Server, release chan string, c *experimentalClient)) {
	t.Helper()
	conf.Experimental = true
	for _, way := range experimentalWays {
		t.Run(way.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conf := conf
				s, release := taskServer(&conf)
				defer endTasks(s)
				f(t, s, release, way.open(t, s, "", answer))
			})
		})
	}
}

func TestExperimentalOff(t *testing.T) {
	for _, x := range []struct {
		name     string
		conf     *Tasks
		revision string
	}{
		{"no tasks", nil, "2025-11-25"},
		{"only the extension", &Tasks{}, "2025-11-25"},
		{"an older revision", &Tasks{Experimental: true}, "2025-06-18"},
	} {
		t.Run(x.name, func(t *testing.T) {
			s, _ := taskServer(x.conf)
			ses := opened(t, s, new(peer), x.revision)
			do := func(method, members string) string {
				return string(ses.Handle(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+members+`}}`)))
			}
			if got := string(ses.Handle(t.Context(), []byte(experimentalHello))); strings.Contains(got, `"tasks"`) {
				t.Error(got)
			}
			for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel", "tasks/list", "tasks/update"} {
				if got := do(method, `"taskId":"x"`); !strings.Contains(got, `"code":-32601`) {
					t.Errorf("%s: %s", method, got)
				}
			}
			if got := do("tools/call", `"name":"may","arguments":{"name":"Ada"},"task":{"ttl":5}`); !strings.Contains(got, "Hello, Ada!") {
				t.Error(got)
			}
			if got := do("tools/call", `"name":"may","arguments":{"name":"Ada"},"task":5`); !strings.Contains(got, "Hello, Ada!") {
				t.Error(got)
			}
			if got := do("tools/call", `"name":"must","arguments":{}`); x.conf != nil && !strings.Contains(got, "This tool needs a client that supports tasks.") {
				t.Error(got)
			}
			if got := do("tools/list", ``); strings.Contains(got, "execution") {
				t.Error(got)
			}
		})
	}
}

func TestExperimentalCapability(t *testing.T) {
	for _, x := range []struct{ principal, want string }{
		{"", `{"cancel":{},"requests":{"tools":{"call":{}}}}`},
		{"ada", `{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`},
	} {
		s, _ := taskServer(&Tasks{Experimental: true})
		c := experimentalWays[1].open(t, s, x.principal, "")
		if got := member(t, c.hello, "result", "capabilities", "tasks"); got != x.want {
			t.Errorf("%q: %s", x.principal, got)
		}
		if strings.Contains(c.hello, TasksExtension) {
			t.Error(c.hello)
		}
		list := c.send("tools/list", ``)
		for tool, want := range map[string]string{"greet": ``, "may": `{"taskSupport":"optional"}`, "must": `{"taskSupport":"required"}`} {
			var m struct {
				Result struct {
					Tools []struct {
						Name      string
						Execution json.RawMessage
					}
				}
			}
			if err := json.Unmarshal([]byte("{"+list), &m); err != nil {
				t.Fatal(err)
			}
			for _, one := range m.Result.Tools {
				if one.Name == tool && string(one.Execution) != want {
					t.Errorf("%s: %s", tool, one.Execution)
				}
			}
		}
		if list := newTaskClient(t, s, "").send("tools/list", ``); strings.Contains(list, "execution") {
			t.Error(list) // 2026-07-28 does not know it
		}
	}
}

// The client decides.
func TestExperimentalCreate(t *testing.T) {
	inExperimentalWays(t, Tasks{}, `{}`, func(t *testing.T, s *Server, release chan string, c *experimentalClient) {
		const plain = `"result":{"content":[{"type":"text","text":"Hello, Ada!"}],"isError":false}}`
		for _, x := range []struct{ tool, more, want string }{
			{"may", ``, plain},
			{"greet", ``, plain},
			{"greet", `,"task":null`, plain},
			{"greet", `,"task":{}`, `"error":{"code":-32601,"message":"The tool cannot be called as a task"}}`},
			{"must", ``, `"error":{"code":-32601,"message":"The tool must be called as a task"}}`},
			{"may", `,"task":5`, `"error":{"code":-32602,"message":"Invalid params: task must be an object"}}`},
			{"may", `,"task":{"ttl":"5"}`, `"error":{"code":-32602,"message":"Invalid params: ttl of a task must be a number of milliseconds"}}`},
			{"may", `,"task":{"ttl":-1}`, `"error":{"code":-32602,"message":"Invalid params: ttl of a task must be a number of milliseconds"}}`},
			{"may", `,"task":{"ttl":0}`, `"error":{"code":-32602,"message":"Invalid params: ttl of a task must be a number of milliseconds"}}`},
			{"nobody", `,"task":{}`, `"error":{"code":-32602,"message":"Unknown tool: nobody"}}`},
		} {
			c.want(c.call(x.tool, x.more), x.want)
		}
		got := c.call("wait", `,"task":{"ttl":60000.5}`)
		id := taskIDs.FindStringSubmatch(got)[1]
		shown := strings.NewReplacer("ttlMs", "ttl", "pollIntervalMs", "pollInterval").Replace(plainTask(id, "working", 0, 0, time.Minute))
		c.want(got, `"result":{"task":{`+shown+`}}}`)
		c.want(c.about("tasks/get", id), `"result":{`+shown+`}}`)
		c.want(c.about("tasks/cancel", id), `"result":{`+strings.Replace(strings.Replace(shown, "working", "cancelled", 1), `"lastUpdatedAt":"2000-01-01T00:00:00.000Z"`, `"lastUpdatedAt":"2000-01-01T00:00:00.001Z"`, 1)+`}}`)
		c.want(c.about("tasks/cancel", id), `"error":{"code":-32602,"message":"Invalid params: the task has ended"}}`)
		c.want(c.about("tasks/result", id), `"error":{"code":-32603,"message":"Task cancelled"}}`)
		for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
			c.want(c.about(method, "nobody"), noTask)
			c.want(c.send(method, `"taskId":5`), `"error":{"code":-32602,"message":"Invalid params: taskId must be a string"}}`)
		}
		c.want(c.about("tasks/update", id), `"error":{"code":-32601,"message":"Method not found"}}`)
		c.want(c.send("tasks/list", ``), `"error":{"code":-32601,"message":"Method not found"}}`)

		long := c.call("wait", `,"task":{"ttl":1e300}`)
		if !strings.Contains(long, `"ttl":86400000,`) {
			t.Error(long)
		}
	})
}

func TestExperimentalOutcomes(t *testing.T) {
	for _, x := range []struct{ tool, status, result string }{
		{"may", `completed`, `"result":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"ID"}},"content":[{"type":"text","text":"Hello, Ada!"}],"isError":false}}`},
		{"fail", `failed`, `"result":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"ID"}},"content":[{"type":"text","text":"no luck"}],"isError":true}}`},
		{"protocol", `failed`, `"error":{"code":-32099,"message":"not today","data":{"when":"tomorrow"}}}`},
		{"panic", `failed`, `"error":{"code":-32603,"message":"Internal error"}}`},
	} {
		t.Run(x.tool, func(t *testing.T) {
			inExperimentalWays(t, Tasks{}, `{}`, func(t *testing.T, s *Server, _ chan string, c *experimentalClient) {
				id := c.start(x.tool, ``)
				synctest.Wait()
				c.want(c.status(id), x.status)
				for range 2 {
					c.want(c.about("tasks/result", id), strings.ReplaceAll(x.result, "ID", id))
				}
			})
		})
	}
}

// tasks/result waits, and that its request ends is not the end of the task.
func TestExperimentalResultWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, store := range map[string]TaskStore{"watched": new(MemoryTasks), "not watched": &sharedTasks{TaskStore: new(MemoryTasks)}} {
			s, release := taskServer(&Tasks{Experimental: true, Store: store})
			ses := opened(t, s, new(peer), "2025-11-25")
			do := func(ctx context.Context, method, members string) string {
				return string(ses.Handle(ctx, []byte(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+members+`}}`)))
			}
			id := taskIDs.FindStringSubmatch(do(t.Context(), "tools/call", `"name":"wait","arguments":{},"task":{}`))[1]
			short, cancel := context.WithTimeout(t.Context(), time.Second)
			_ = do(short, "tasks/result", `"taskId":"`+id+`"`)
			cancel()
			got := make(chan string)
			for range 2 {
				go func() { got <- do(t.Context(), "tasks/result", `"taskId":"`+id+`"`) }()
			}
			synctest.Wait()
			release <- "done"
			for range 2 {
				if out := <-got; !strings.Contains(out, `"text":"done"`) {
					t.Errorf("%s: %s", name, out)
				}
			}
			endTasks(s)
		}
	})
}

// Questions are requests that say which task they belong to: at once on a connection, on the stream of a tasks/result of a host.
func TestExperimentalAsks(t *testing.T) {
	const params = `{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"ID"}},"mode":"form","message":"Sure?","requestedSchema":{"type":"object","properties":{}}}`
	inExperimentalWays(t, Tasks{}, `{"action":"accept"}`, func(t *testing.T, s *Server, _ chan string, c *experimentalClient) {
		taskAsking(s, func(ctx context.Context, ses *Session) (string, error) {
			time.Sleep(time.Second)
			return "yes", ses.Confirm(ctx, "Sure?")
		})
		s.Lister = nil
		id := c.start("x", ``)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		want := strings.ReplaceAll(params, "ID", id)
		if strings.HasSuffix(t.Name(), "host") {
			c.want(c.status(id), `input_required`)
			if sent := c.sent(); len(sent) != 0 {
				t.Errorf("asked on no stream: %q", sent)
			}
			want = `tasks/result asks elicitation/create ` + want
		}
		if got := c.about("tasks/result", id); !strings.Contains(got, `"text":"yes"`) {
			t.Error(got)
		}
		if sent := c.sent(); len(sent) != 1 || !strings.Contains(sent[0], want) {
			t.Errorf("asked %q\nwant  %s", sent, want)
		}
		c.want(c.status(id), `completed`)
	})
}

// A host's client whose tasks/result ends is asked again on the next.
func TestExperimentalAsksOnTheNextStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := taskServer(&Tasks{Experimental: true})
		defer endTasks(s)
		taskAsking(s, func(ctx context.Context, ses *Session) (string, error) { return "yes", ses.Confirm(ctx, "Sure?") })
		s.Lister = nil
		p := new(peer)
		n := 0
		p.call = func(ctx context.Context, _ string, _, result any) error {
			if n++; n == 1 {
				<-ctx.Done()
				return ctx.Err()
			}
			return json.Unmarshal([]byte(`{"action":"accept"}`), result)
		}
		ses, err := s.NewSession(p)
		if err != nil {
			t.Fatal(err)
		}
		ses.Handle(t.Context(), []byte(experimentalHello))
		do := func(ctx context.Context, method, members string) string {
			return string(ses.Handle(ctx, []byte(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+members+`}}`)))
		}
		id := taskIDs.FindStringSubmatch(do(t.Context(), "tools/call", `"name":"x","task":{}`))[1]
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_ = do(short, "tasks/result", `"taskId":"`+id+`"`)
		if out := do(t.Context(), "tasks/result", `"taskId":"`+id+`"`); !strings.Contains(out, `"text":"yes"`) || n != 2 {
			t.Errorf("asked %d times: %s", n, out)
		}
	})
}

// Progress goes on after the answer, with the token of the tools/call, until the task has ended.
func TestExperimentalProgress(t *testing.T) {
	inExperimentalWays(t, Tasks{}, `{}`, func(t *testing.T, s *Server, release chan string, c *experimentalClient) {
		late := make(chan error)
		s.Lister = nil
		s.Caller = func(ctx context.Context, _ string, _ Arguments) (any, error) {
			return RunTask(ctx, TaskOptions{}, func(ctx context.Context) (any, error) {
				<-release
				if SessionFrom(ctx).Revision() != "2025-11-25" {
					t.Error("another session")
				}
				if err := Progress(ctx, 1, 2, "half"); err != nil {
					return nil, err
				}
				go func() { <-release; late <- Progress(ctx, 2, 2, "") }()
				return "done", nil
			})
		}
		id := c.start("x", `,"_meta":{"progressToken":"tok"}`)
		release <- ""
		synctest.Wait()
		c.want(c.status(id), `completed`)
		release <- ""
		if err := <-late; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if sent := c.sent(); len(sent) != 1 || !strings.Contains(sent[0], `{"progressToken":"tok","progress":1,"total":2,"message":"half"}`) {
			t.Errorf("sent %q", sent)
		}
	})
}

func TestExperimentalList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := taskServer(&Tasks{Experimental: true, Store: &MemoryTasks{PerOwner: 1000}})
		defer endTasks(s)
		ada, bob := experimentalWays[1].open(t, s, "ada", ""), experimentalWays[1].open(t, s, "bob", "")
		modernAda := newTaskClient(t, s, "ada")
		bob.start("may", ``)
		other := modernAda.start("may") // of the other protocol
		want := map[string]bool{}
		for range taskPage + 3 {
			want[ada.start("may", ``)] = true
		}
		synctest.Wait()
		last := ``
		for pages := 0; ; pages++ {
			out := ada.send("tasks/list", last)
			var m struct {
				Result struct {
					Tasks []struct {
						TaskID string
						TTL    int
					}
					NextCursor string
				}
			}
			if err := json.Unmarshal([]byte("{"+out), &m); err != nil || pages > 2 {
				t.Fatal(out, err)
			}
			for _, task := range m.Result.Tasks {
				if !want[task.TaskID] || task.TTL == 0 {
					t.Errorf("%+v", task)
				}
				delete(want, task.TaskID)
			}
			if m.Result.NextCursor == "" {
				break
			}
			last = `"cursor":"` + m.Result.NextCursor + `"`
		}
		if len(want) > 0 {
			t.Errorf("%d are missing", len(want))
		}
		for _, cursor := range []string{`"cursor":"x"`, `"cursor":5`, `"cursor":""`, strings.TrimSuffix(last, `"`) + `\n"`} {
			ada.want(ada.send("tasks/list", cursor), `"error":{"code":-32602,"message":"Invalid params: unknown cursor"}}`)
		}
		// Neither protocol has the tasks of the other.
		ada.want(ada.about("tasks/get", other), noTask)
		modernAda.want(modernAda.get(ada.start("may", ``)), noTask)
	})
}

func TestRelated(t *testing.T) {
	for _, x := range []struct{ in, want string }{
		{`{}`, `{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"x"}}}`},
		{`{ "a":1}`, `{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"x"}},"a":1}`},
		{`{"_meta":{},"a":1}`, `{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"x"}},"a":1}`},
		{`{"a":1,"_meta":{"b":{}}}`, `{"a":1,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"x"},"b":{}}}`},
	} {
		got, err := related{[]byte(x.in), "x"}.appendJSON(nil)
		if err != nil || string(got) != x.want {
			t.Errorf("%s: %s %v", x.in, got, err)
		}
	}
	if e := wireError([]byte(`[]`)); e.Code != -32603 {
		t.Error(e)
	}
	if e := wireError([]byte(`{"code":"x","message":"y"}`)); e.Code != -32603 {
		t.Error(e)
	}
}
