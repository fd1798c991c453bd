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

// asking lets a tool ask in its task. What it returns becomes the result.
func taskAsking(s *Server, f func(ctx context.Context, ses *Session) (string, error)) {
	s.Caller = func(ctx context.Context, _ string, _ Arguments) (any, error) {
		return RunTask(ctx, TaskOptions{Only: true}, func(ctx context.Context) (any, error) { return f(ctx, SessionFrom(ctx)) })
	}
}

func confirmRequest(key, message string) string {
	return `"` + key + `":{"method":"elicitation/create","params":{"mode":"form","message":"` + message + `","requestedSchema":{"type":"object","properties":{}}}}`
}

func TestTaskAsks(t *testing.T) {
	inTaskWays(t, Tasks{}, func(t *testing.T, s *Server, _ chan string, c *taskClient) {
		taskAsking(s, func(ctx context.Context, ses *Session) (string, error) {
			if err := ses.Confirm(ctx, "One?"); err != nil {
				return "", err
			}
			two, three := Form{Message: "Two?"}.Question(Key("b")), Form{Message: "Three?"}.Question(Key("c"))
			if err := ses.Ask(ctx, two, three); err != nil {
				return "", err
			}
			return string(two.Elicited().Action + " " + three.Elicited().Action), nil
		})
		id := c.start("x")
		synctest.Wait()
		one, two, three := confirmRequest("elicit-1-1", "One?"), confirmRequest("b-2", "Two?"), confirmRequest("c-3", "Three?")
		c.want(c.status(id), `input_required{`+one+`}`)

		for _, x := range []struct{ name, answers, want string }{
			{"nothing", `{}`, ack},
			{"unknown keys", `{"b-2":{"action":"accept"},"elicit-1":5,"":null}`, ack},
			{"null", `null`, `"error":{"code":-32602,"message":"Invalid params: inputResponses must be an object"}}`},
			{"list", `[]`, `"error":{"code":-32602,"message":"Invalid params: inputResponses must be an object"}}`},
			{"twice", `{"elicit-1-1":{"action":"accept"},"elicit-1-1":{"action":"accept"}}`, `"error":{"code":-32602,"message":"Invalid params: inputResponses must be an object"}}`},
			{"number", `{"elicit-1-1":5}`, `"error":{"code":-32602,"message":"Invalid params: inputResponses: \"elicit-1-1\" is no answer to what was asked"}}`},
			{"unknown action", `{"elicit-1-1":{"action":"maybe"}}`, `"error":{"code":-32602,"message":"Invalid params: inputResponses: \"elicit-1-1\" is no answer to what was asked"}}`},
			{"null answer", `{"elicit-1-1":null}`, `"error":{"code":-32602,"message":"Invalid params: inputResponses: \"elicit-1-1\" is no answer to what was asked"}}`},
		} {
			c.want(c.update(id, x.answers), x.want)
			c.want(c.status(id), `input_required{`+one+`}`)
		}
		c.want(c.about("tasks/update", id, ``), `"error":{"code":-32602,"message":"Invalid params: inputResponses must be an object"}}`)

		c.want(c.update(id, `{"elicit-1-1":{"action":"accept","content":{}},"more":1}`), ack)
		synctest.Wait()
		c.want(c.status(id), `input_required{`+two+`,`+three+`}`) // both at once
		c.want(c.update(id, `{"b-2":{"action":"accept"},"c-3":7}`), `"error":{"code":-32602,"message":"Invalid params: inputResponses: \"c-3\" is no answer to what was asked"}}`)
		c.want(c.status(id), `input_required{`+two+`,`+three+`}`) // nothing was applied
		c.want(c.update(id, `{"c-3":{"action":"decline"}}`), ack)
		c.want(c.status(id), `input_required{`+two+`}`) // at once
		synctest.Wait()
		c.want(c.update(id, `{"c-3":{"action":"accept"}}`), ack) // answered: it stays what it is
		c.want(c.status(id), `input_required{`+two+`}`)
		c.want(c.update(id, `{"b-2":{"action":"cancel"}}`), ack)
		synctest.Wait()
		c.want(c.status(id), `completed cancel decline`)
		c.want(c.update(id, `{"b-2":{"action":"cancel"}}`), ack)
	})
}

// After the last answer the task is working, though the body has not seen it yet.
func TestTaskWorksAfterTheLastAnswer(t *testing.T) {
	bubble(t, Tasks{}, func(t *testing.T, s *Server, release chan string, c *taskClient) {
		taskAsking(s, func(ctx context.Context, ses *Session) (string, error) {
			if err := ses.Confirm(ctx, "Sure?"); err != nil {
				return "", err
			}
			return <-release, nil
		})
		id := c.start("x")
		synctest.Wait()
		c.update(id, `{"elicit-1-1":{"action":"accept"}}`)
		c.want(c.status(id), `working`)
		release <- "done"
		synctest.Wait()
		c.want(c.status(id), `completed done`)
	})
}

func TestTaskAskKinds(t *testing.T) {
	for _, x := range []struct {
		name, caps string
		ask        func(ctx context.Context, ses *Session) (string, error)
		request    string // "": it cannot be asked
		answer     string
		want       string
	}{
		{"roots", tasksCaps, func(ctx context.Context, ses *Session) (string, error) {
			roots, err := ses.Roots(ctx)
			return fmt.Sprint(len(roots)), err
		}, `"method":"roots/list"`, `{"roots":[{"uri":"file:///a"}]}`, `completed 1`},
		{"decline", tasksCaps, func(ctx context.Context, ses *Session) (string, error) { return "yes", ses.Confirm(ctx, "Sure?") },
			`"method":"elicitation/create"`, `{"action":"decline"}`, `completed isError the user declined`},
		{"cancel", tasksCaps, func(ctx context.Context, ses *Session) (string, error) { return "yes", ses.Confirm(ctx, "Sure?") },
			`"method":"elicitation/create"`, `{"action":"cancel"}`, `completed isError the user cancelled`},
		{"not declared", `{"extensions":{"io.modelcontextprotocol/tasks":{}},"roots":{}}`, func(ctx context.Context, ses *Session) (string, error) { return "yes", ses.Confirm(ctx, "Sure?") },
			``, ``, `failed{"code":-32021,"message":"Missing required client capability","data":{"requiredCapabilities":{"elicitation":{"form":{}}}}}`},
		{"pages are not declared", tasksCaps, func(ctx context.Context, ses *Session) (string, error) {
			_, err := ses.ElicitURL(ctx, URLElicitation{Message: "x", URL: "https://example.com"})
			return "", err
		}, ``, ``, `failed{"code":-32021,"message":"Missing required client capability","data":{"requiredCapabilities":{"elicitation":{"url":{}}}}}`},
	} {
		t.Run(x.name, func(t *testing.T) {
			bubble(t, Tasks{}, func(t *testing.T, s *Server, _ chan string, c *taskClient) {
				taskAsking(s, x.ask)
				c.caps = x.caps
				id := c.start("x")
				synctest.Wait()
				if x.request != "" {
					c.caps = `{"extensions":{"io.modelcontextprotocol/tasks":{}}}` // of no interest: the request that created the task counts
					key, request := onlyRequest(t, c, id)
					if !strings.Contains(request, x.request) {
						t.Errorf("asked %s", request)
					}
					c.want(c.update(id, `{"`+key+`":`+x.answer+`}`), ack)
					synctest.Wait()
				}
				c.want(c.status(id), x.want)
			})
		})
	}
}

func onlyRequest(t *testing.T, c *taskClient, id string) (key, request string) {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(member(t, "{"+c.get(id), "result", "inputRequests")), &m); err != nil || len(m) != 1 {
		t.Fatalf("%s: %v", c.get(id), err)
	}
	for key, raw := range m {
		return key, string(raw)
	}
	return "", ""
}

// What does not fit the form is asked for again, by a key of its own, and not for ever.
func TestTaskAsksAgain(t *testing.T) {
	bubble(t, Tasks{}, func(t *testing.T, s *Server, _ chan string, c *taskClient) {
		type age struct {
			Age int `json:"age" minimum:"18"`
		}
		taskAsking(s, func(ctx context.Context, ses *Session) (string, error) {
			v, err := ElicitAs[age](ctx, "How old?", Key("age"))
			return fmt.Sprint(v.Age), err
		})
		id := c.start("x")
		var keys []string
		for _, content := range []string{`{"age":3}`, `{}`, `{"age":20}`} {
			synctest.Wait()
			key, _ := onlyRequest(t, c, id)
			keys = append(keys, key)
			c.want(c.update(id, `{"`+key+`":`+acceptedWith(content)+`}`), ack)
		}
		synctest.Wait()
		c.want(c.status(id), `completed 20`)
		if !slices.Equal(keys, []string{"age-1", "age-2", "age-3"}) {
			t.Errorf("keys %q", keys)
		}
		id = c.start("x")
		for range 3 {
			synctest.Wait()
			key, _ := onlyRequest(t, c, id)
			c.update(id, `{"`+key+`":`+acceptedWith(`{"age":"x"}`)+`}`)
		}
		synctest.Wait()
		if got := c.status(id); !strings.HasPrefix(got, `completed isError mcp: the answer of the client does not fit`) {
			t.Error(got)
		}
	})
}

// A wait for input ends with the task, with what the program says, and with the context it has.
func TestTaskWaitsEnd(t *testing.T) {
	for _, x := range []struct {
		name string
		ask  func(ctx context.Context, ses *Session) error
		end  func(s *Server, c *taskClient, id string)
		want string // of the task, half a minute later
	}{
		{"cancel", func(ctx context.Context, ses *Session) error { return ses.Confirm(ctx, "?") },
			func(_ *Server, c *taskClient, id string) { c.cancel(id) }, `cancelled`},
		{"shutdown", func(ctx context.Context, ses *Session) error { return ses.Confirm(ctx, "?") },
			func(s *Server, _ *taskClient, id string) { endTasks(s) }, `failed{"code":-32603,"message":"Task interrupted"}`},
		{"time to live", func(ctx context.Context, ses *Session) error { return ses.Confirm(ctx, "?") },
			func(_ *Server, c *taskClient, id string) { time.Sleep(time.Minute) }, `failed{"code":-32603,"message":"Task expired"}`},
		{"Within", func(ctx context.Context, ses *Session) error { return ses.Confirm(ctx, "?", Within(time.Second)) },
			func(_ *Server, c *taskClient, id string) { time.Sleep(time.Second) }, `completed isError mcp: the client did not answer in time`},
		{"its own context", func(ctx context.Context, ses *Session) error {
			short, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			if err := ses.Confirm(short, "?"); !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("got %w", err)
			}
			return ses.Confirm(ctx, "again?")
		}, func(_ *Server, c *taskClient, id string) { time.Sleep(time.Second) }, `input_required{` + confirmRequest("elicit-2-2", "again?") + `}`},
	} {
		t.Run(x.name, func(t *testing.T) {
			bubble(t, Tasks{TTL: time.Minute}, func(t *testing.T, s *Server, _ chan string, c *taskClient) {
				over := false
				taskAsking(s, func(ctx context.Context, ses *Session) (string, error) {
					err := x.ask(ctx, ses)
					over = true
					return "", err
				})
				id := c.start("x")
				synctest.Wait()
				x.end(s, c, id)
				synctest.Wait()
				c.want(c.status(id), x.want)
				if !over && !strings.HasPrefix(x.want, "input") {
					t.Error("the body still waits")
				}
			})
		})
	}
}

// Many goroutines of one body ask at the same time, and many clients answer.
func TestTaskAsksAtOnce(t *testing.T) {
	s, _ := taskServer(&Tasks{})
	const n = maxTaskRequests
	taskAsking(s, func(ctx context.Context, ses *Session) (string, error) {
		var all sync.WaitGroup
		errs := make([]error, n)
		for i := range n {
			all.Go(func() { errs[i] = ses.Confirm(ctx, fmt.Sprint(i), Key(fmt.Sprint(i))) })
		}
		all.Wait()
		return "all", errors.Join(errs...)
	})
	c := newTaskClient(t, s, "")
	id := c.start("x")
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for {
				out := c.get(id)
				if strings.Contains(out, `"status":"completed"`) {
					return
				}
				var m struct {
					Result struct{ InputRequests map[string]any }
				}
				if err := json.Unmarshal([]byte("{"+out), &m); err != nil {
					t.Error(err)
					return
				}
				for key := range m.Result.InputRequests {
					if got := c.update(id, `{"`+key+`":{"action":"accept"}}`); got != ack {
						t.Error(got)
					}
				}
			}
		})
	}
	clients.Wait()
	c.want(c.status(id), `completed all`)
}

func TestTaskAsksTooMuch(t *testing.T) {
	bubble(t, Tasks{}, func(t *testing.T, s *Server, _ chan string, c *taskClient) {
		taskAsking(s, func(ctx context.Context, ses *Session) (string, error) {
			var qs []*Question
			for i := range maxTaskRequests + 1 {
				qs = append(qs, Form{Message: "?"}.Question(Key(fmt.Sprint(i))))
			}
			return "", ses.Ask(ctx, qs...)
		})
		id := c.start("x")
		synctest.Wait()
		c.want(c.status(id), `completed isError mcp: a task can have 16 questions open`)
	})
}
