package mcp

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

const (
	tasksCaps = `{"extensions":{"io.modelcontextprotocol/tasks":{}},"elicitation":{},"sampling":{},"roots":{}}`
	needTasks = `"error":{"code":-32021,"message":"Missing required client capability","data":{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`
	noTask    = `"error":{"code":-32602,"message":"Invalid params: unknown task"}}`
	ack       = `"result":{"resultType":"complete",` + signed + `}}`
)

// taskServer has a tool for each way that a task can go. release lets "wait" return.
func taskServer(conf *Tasks) (s *Server, release chan string) {
	release = make(chan string)
	var b Toolbox
	s = &Server{Name: "Test", Version: "1.0.0", Lister: b.List, Caller: b.Call, Logging: true, Tasks: conf}
	type in struct {
		Name string `json:"name,omitempty"`
	}
	tool := func(name string, support TaskSupport, f func(ctx context.Context, name string) (string, error)) {
		AddTool(&b, Tool{Name: name, Task: support}, func(ctx context.Context, a in) (string, error) { return f(ctx, a.Name) })
	}
	tool("greet", TaskNever, func(_ context.Context, name string) (string, error) { return "Hello, " + name + "!", nil })
	tool("may", TaskMay, func(_ context.Context, name string) (string, error) { return "Hello, " + name + "!", nil })
	tool("must", TaskMust, func(_ context.Context, name string) (string, error) { return "Hello, " + name + "!", nil })
	tool("wait", TaskMay, func(ctx context.Context, _ string) (string, error) {
		select {
		case text := <-release:
			return text, nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	})
	tool("deaf", TaskMay, func(context.Context, string) (string, error) { return <-release, nil })
	tool("fail", TaskMay, func(context.Context, string) (string, error) { return "", errors.New("no luck") })
	tool("protocol", TaskMay, func(context.Context, string) (string, error) {
		return "", &jsonrpc2.Error{Code: -32099, Message: "not today", Data: []byte(`{"when":"tomorrow"}`)}
	})
	tool("panic", TaskMay, func(context.Context, string) (string, error) { panic("secret") })
	tool("exit", TaskMay, func(context.Context, string) (string, error) { runtime.Goexit(); return "", nil })
	tool("big", TaskMay, func(context.Context, string) (string, error) { return strings.Repeat("x", 2000), nil })
	tool("badmeta", TaskMay, func(context.Context, string) (string, error) {
		return "", &jsonrpc2.Error{Code: 1, Message: "x", Data: []byte(`{`)}
	})
	return s, release
}

// taskClient sends requests as one principal.
type taskClient struct {
	t    *testing.T
	caps string
	ask  func(payload string) string
}

// taskWays are the roads that requests about tasks can come.
var taskWays = []struct {
	name string
	ask  func(t *testing.T, s *Server) func(string) string
}{
	{"connection", func(t *testing.T, s *Server) func(string) string {
		w := host(t, s)
		return func(p string) string { w.send(p); return w.recv() }
	}},
	{"host", func(t *testing.T, s *Server) func(string) string {
		return func(p string) string { return string(s.HandleModern(t.Context(), []byte(p), nil)) }
	}},
}

func newTaskClient(t *testing.T, s *Server, principal string) *taskClient {
	return &taskClient{t, tasksCaps, func(p string) string {
		ctx := t.Context()
		if principal != "" {
			ctx = WithPrincipal(ctx, principal)
		}
		return string(s.HandleModern(ctx, []byte(p), nil))
	}}
}

// send returns the answer, without what every answer begins with.
func (c *taskClient) send(method, members string) string {
	c.t.Helper()
	out := c.ask(withMeta("1", method, metaWith(c.caps), members))
	return strings.TrimPrefix(out, `{"jsonrpc":"2.0","id":1,`)
}

func (c *taskClient) call(tool, arguments string) string {
	c.t.Helper()
	return c.send("tools/call", `,"name":"`+tool+`","arguments":`+arguments)
}

var taskIDs = regexp.MustCompile(`"taskId":"([A-Za-z0-9_-]{22})"`)

// start calls a tool and returns the id of the task.
func (c *taskClient) start(tool string) string {
	c.t.Helper()
	out := c.call(tool, `{"name":"Ada"}`)
	m := taskIDs.FindStringSubmatch(out)
	if m == nil || !strings.Contains(out, `"resultType":"task"`) {
		c.t.Fatalf("no task: %s", out)
	}
	return m[1]
}

func (c *taskClient) about(method, id, members string) string {
	c.t.Helper()
	return c.send(method, `,"taskId":"`+id+`"`+members)
}

func (c *taskClient) get(id string) string { c.t.Helper(); return c.about("tasks/get", id, "") }

func (c *taskClient) cancel(id string) {
	c.t.Helper()
	c.want(c.about("tasks/cancel", id, ""), ack)
}

func (c *taskClient) update(id, answers string) string {
	c.t.Helper()
	return c.about("tasks/update", id, `,"inputResponses":`+answers)
}

// status is what tasks/get says, in short: the status, and what comes with it.
func (c *taskClient) status(id string) string {
	c.t.Helper()
	return shortStatus(c.t, c.get(id))
}

func shortStatus(t *testing.T, answer string) string {
	t.Helper()
	if strings.HasPrefix(answer, `"error"`) {
		return answer
	}
	message := "{" + answer
	out := strings.Trim(member(t, message, "result", "status"), `"`)
	if r := member(t, message, "result", "result"); r != "" {
		out += " " + final(t, `{"result":`+r+`}`)
	}
	return out + member(t, message, "result", "error") + member(t, message, "result", "inputRequests")
}

func (c *taskClient) want(got, want string) {
	c.t.Helper()
	if got != want {
		c.t.Errorf("got  %s\nwant %s", got, want)
	}
}

// inTaskWays runs a test by each road, in a bubble, where time stands still until all wait. The server is shut down at the end.
func inTaskWays(t *testing.T, conf Tasks, f func(t *testing.T, s *Server, release chan string, c *taskClient)) {
	t.Helper()
	for _, way := range taskWays {
		t.Run(way.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conf := conf
				s, release := taskServer(&conf)
				defer endTasks(s)
				f(t, s, release, &taskClient{t, tasksCaps, way.ask(t, s)})
			})
		})
	}
}

// endTasks ends all tasks at once.
func endTasks(s *Server) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = s.Shutdown(ctx)
}

// bubble runs a test in a bubble with a server of its own, and a client without principal.
func bubble(t *testing.T, conf Tasks, f func(t *testing.T, s *Server, release chan string, c *taskClient)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s, release := taskServer(&conf)
		defer endTasks(s)
		f(t, s, release, newTaskClient(t, s, ""))
	})
}

// plainTask is a task of the extension as it is sent, in a bubble, so many milliseconds after its beginning.
func plainTask(id, status string, created, updated, ttl time.Duration) string {
	at := func(d time.Duration) string {
		return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(d).Format("2006-01-02T15:04:05.000Z")
	}
	return fmt.Sprintf(`"taskId":%q,"status":%q,"createdAt":%q,"lastUpdatedAt":%q,"ttlMs":%d,"pollIntervalMs":1000`, id, status, at(created), at(updated), ttl.Milliseconds())
}
