package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Keys: what is the author's mistake is an internal error that says which.
func TestKeys(t *testing.T) {
	for _, c := range []struct {
		name  string
		ask   func(ctx context.Context, ses *Session) error
		want  string
		again bool // it can only be seen where functions wait
	}{
		{"one key for two questions", func(ctx context.Context, ses *Session) error {
			return ses.Ask(ctx, Form{Message: "A?"}.Question(Key("k")), Form{Message: "B?"}.Question(Key("k")))
		}, `two different questions have the key "k"`, true},
		{"a form that is none", func(ctx context.Context, ses *Session) error {
			_, err := ses.Elicit(ctx, Form{Message: "?", Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"object"}}}`)})
			return err
		}, `the property "a" must be`, true},
		{"a type that is no form", func(ctx context.Context, _ *Session) error {
			_, err := ElicitAs[[]int](ctx, "?")
			return err
		}, `form of type []int`, true},
		{"sampling without messages", func(ctx context.Context, ses *Session) error {
			_, err := ses.Sample(ctx, CreateMessageRequest{MaxTokens: 1})
			return err
		}, `sampling needs messages`, true},
		{"a page without a URL", func(ctx context.Context, ses *Session) error {
			_, err := ses.ElicitURL(ctx, URLElicitation{Message: "?"})
			return err
		}, `without a URL`, true},
		{"no keys at the same time", func(ctx context.Context, ses *Session) error {
			var all sync.WaitGroup
			errs := make([]error, 2)
			for i := range errs {
				all.Go(func() { errs[i] = ses.Confirm(ctx, "Q"+strconv.Itoa(i)) })
			}
			all.Wait()
			return errors.Join(errs...)
		}, `give them keys`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachAsking(t, func(t *testing.T, a asking) {
				if !c.again && a.again {
					return
				}
				var box Toolbox
				AddTool(&box, Tool{Name: "x"}, func(ctx context.Context, _ pathIn) (string, error) {
					return "", c.ask(ctx, SessionFrom(ctx))
				})
				rep := new(reports)
				cl := a.open(t, &Server{Caller: box.Call, Reporter: rep.report}, everyCapability)
				hold := make(chan struct{})
				got, _ := cl.call("tools/call", `,"name":"x"`, func(string, string) (string, error) {
					select {
					case <-hold:
					case <-time.After(50 * time.Millisecond): // the other goroutine has asked by then, or will be the one to fail
					}
					return accepted, nil
				})
				close(hold)
				if got != "error -32603 Internal error" || !strings.Contains(rep.String(), c.want) {
					t.Errorf("got %s, reported %s", got, rep)
				}
			})
		})
	}
	t.Run("one key for one question twice", func(t *testing.T) {
		eachAsking(t, func(t *testing.T, a asking) {
			s := asksFor(func(ctx context.Context) (string, error) {
				ses := SessionFrom(ctx)
				return "done", errors.Join(ses.Confirm(ctx, "?", Key("k")), ses.Confirm(ctx, "?", Key("k")), ses.Ask(ctx, Form{Message: "?"}.Question(Key("k")), Form{Message: "?"}.Question(Key("k"))))
			})
			if got, rounds := a.open(t, s, everyCapability).call("tools/call", `,"name":"x"`, inTurn(accepted)); got != "done" || rounds != 1 {
				t.Errorf("%d rounds: %s", rounds, got)
			}
		})
	})
}

// Values and the identifier of a call are the same in all its rounds, and log messages are sent once.
func TestMemo(t *testing.T) {
	eachAsking(t, func(t *testing.T, a asking) {
		var computed, entries atomic.Int32
		var ids sync.Map
		s := asksFor(func(ctx context.Context) (string, error) {
			ids.Store(CallID(ctx), true)
			n, err := Memo(ctx, "count", func() (int, error) { computed.Add(1); return int(entries.Add(1)) * 100, nil })
			if err != nil {
				return "", err
			}
			if _, err := Memo(ctx, "fails", func() (int, error) { return 0, errors.New("no") }); err == nil {
				t.Error("no error")
			}
			if again := entries.Add(1) > 2; a.again && Replaying(ctx) != again {
				t.Errorf("Replaying is %v", !again)
			}
			if err := SessionFrom(ctx).Confirm(ctx, fmt.Sprintf("Delete %d?", n)); err != nil {
				return "", err
			}
			if Replaying(ctx) {
				t.Error("still Replaying")
			}
			return strconv.Itoa(n), nil
		})
		got, rounds := a.open(t, s, everyCapability).call("tools/call", `,"name":"x"`, always(accepted))
		if got != "100" || rounds != 1 || computed.Load() != 1 {
			t.Errorf("%d rounds, computed %d times: %s", rounds, computed.Load(), got)
		}
		n := 0
		ids.Range(func(id, _ any) bool { n++; return len(id.(string)) >= 20 })
		if n != 1 {
			t.Errorf("%d identifiers", n)
		}
	})
}

// A log message before a question is sent in the first round only.
func TestLogReplayed(t *testing.T) {
	s := asksFor(func(ctx context.Context) (string, error) {
		ses := SessionFrom(ctx)
		_ = ses.Log(ctx, LevelInfo, "", "before")
		if err := ses.Confirm(ctx, "?"); err != nil {
			return "", err
		}
		_ = ses.Log(ctx, LevelInfo, "", "after")
		return "done", nil
	})
	s.Logging = true
	p := new(peer)
	meta := `{` + versionMember + `,"io.modelcontextprotocol/logLevel":"debug","io.modelcontextprotocol/clientCapabilities":` + everyCapability + `}`
	do := func(members string) string {
		return string(s.HandleModern(t.Context(), []byte(withMeta("1", "tools/call", meta, members)), p))
	}
	a, _ := readAsks(t, do(`,"name":"x"`))
	if got := final(t, do(retry(`,"name":"x"`, answersOf(a, accepted), a.State))); got != "done" {
		t.Errorf("got %s", got)
	}
	if got := strings.Join(p.sent, " "); strings.Count(got, "before") != 1 || strings.Count(got, "after") != 1 {
		t.Errorf("sent %s", got)
	}
}

// The result of a retry is not for keeping.
func TestRetryIsNotCached(t *testing.T) {
	s := asksFor(func(ctx context.Context) (string, error) {
		SetCache(ctx, CacheHint{TTL: time.Hour, Public: true})
		return "", SessionFrom(ctx).Confirm(ctx, "?")
	})
	do := func(members string) string {
		return string(s.HandleModern(t.Context(), []byte(withMeta("1", "resources/read", metaWith(everyCapability), members)), nil))
	}
	a, asked := readAsks(t, do(`,"uri":"x:x"`))
	if !asked || a.TTL != nil {
		t.Errorf("round 1: %v", a)
	}
	if got := do(retry(`,"uri":"x:x"`, answersOf(a, accepted), a.State)); !strings.Contains(got, `"ttlMs":0,"cacheScope":"private"`) {
		t.Errorf("got %s", got)
	}
}

// Work is done once, however often the last round comes.
func TestSingleUse(t *testing.T) {
	var works atomic.Int32
	var box Toolbox
	AddAskingTool(&box, Tool{Name: "x", SingleUse: true}, func(_ context.Context, _ pathIn, q *Asker) (bool, error) {
		return q.Confirm("sure", "Sure?"), nil
	}, func(context.Context, pathIn, bool) (string, error) { works.Add(1); return "done", nil })
	AddTool(&box, Tool{Name: "y"}, func(ctx context.Context, _ pathIn) (string, error) {
		if err := SessionFrom(ctx).Confirm(ctx, "Sure?"); err != nil {
			return "", err
		}
		if err := Claim(ctx); err != nil {
			return "", err
		}
		works.Add(1)
		return "done", nil
	})
	s := &Server{Lister: box.List, Caller: box.Call}
	for _, name := range []string{"x", "y"} {
		works.Store(0)
		members := `,"name":"` + name + `"`
		a, _ := readAsks(t, round(t, s, members))
		results := make(chan string)
		const n = 16
		for range n {
			go func() { results <- final(t, round(t, s, retry(members, answersOf(a, accepted), a.State))) }()
		}
		seen := map[string]int{}
		for range n {
			seen[<-results]++
		}
		if seen["done"] != 1 || seen["isError already done"] != n-1 || works.Load() != 1 {
			t.Errorf("%s: done %d times: %v", name, works.Load(), seen)
		}
		if b, _ := readAsks(t, round(t, s, members)); final(t, round(t, s, retry(members, answersOf(b, accepted), b.State))) != "done" {
			t.Errorf("%s: another call is not done", name)
		}
	}
	if b := round(t, s, `,"name":"x"`); strings.Contains(b, "SingleUse") {
		t.Error("it is sent")
	}
	defer func() {
		if recover() == nil {
			t.Error("AddTool takes SingleUse and does nothing about it")
		}
	}()
	AddTool(&box, Tool{Name: "z", SingleUse: true}, func(context.Context, pathIn) (string, error) { return "", nil })
}

// The part of a tool that works cannot ask.
func TestAskInTheBody(t *testing.T) {
	eachAsking(t, func(t *testing.T, a asking) {
		var box Toolbox
		AddAskingTool(&box, Tool{Name: "x"}, func(_ context.Context, _ pathIn, q *Asker) (int, error) { return 0, nil },
			func(ctx context.Context, _ pathIn, _ int) (string, error) {
				return "done", SessionFrom(ctx).Confirm(ctx, "?")
			})
		rep := new(reports)
		got, rounds := a.open(t, &Server{Caller: box.Call, Reporter: rep.report}, everyCapability).call("tools/call", `,"name":"x"`, always(accepted))
		if got != "error -32603 Internal error" || rounds != 0 || !strings.Contains(rep.String(), "it runs once") {
			t.Errorf("%d rounds: %s, reported %s", rounds, got, rep)
		}
	})
}

// Limits of a tool go with asking.
func TestAskWithLimits(t *testing.T) {
	eachAsking(t, func(t *testing.T, a asking) {
		var box Toolbox
		AddTool(&box, Tool{Name: "x", Timeout: time.Hour, Concurrency: 1}, func(ctx context.Context, _ pathIn) (string, error) {
			return "done", SessionFrom(ctx).Confirm(ctx, "?")
		})
		AddAskingTool(&box, Tool{Name: "y", Timeout: time.Hour, Concurrency: 1}, func(_ context.Context, _ pathIn, q *Asker) (int, error) { q.Confirm("k", "?"); return 0, nil },
			func(context.Context, pathIn, int) (string, error) { return "done", nil })
		c := a.open(t, &Server{Caller: box.Call}, everyCapability)
		for _, name := range []string{"x", "y", "x"} {
			if got, rounds := c.call("tools/call", `,"name":"`+name+`"`, always(accepted)); got != "done" || rounds != 1 {
				t.Errorf("%s: %d rounds: %s", name, rounds, got)
			}
		}
	})
}

// How long a user thinks is not the tool's time.
func TestAskStopsTheClock(t *testing.T) {
	const limit = 3 * time.Second
	for _, c := range []struct {
		name string
		tool func(box *Toolbox)
	}{
		{"tool that asks", func(box *Toolbox) {
			AddTool(box, Tool{Name: "x", Timeout: limit}, func(ctx context.Context, _ struct{}) (string, error) {
				time.Sleep(limit / 2)
				if err := SessionFrom(ctx).Confirm(ctx, "?"); err != nil {
					return "", err
				}
				if until, ok := ctx.Deadline(); !ok || time.Until(until) != limit-limit/2 {
					t.Errorf("%v until the deadline", time.Until(until))
				}
				<-ctx.Done()
				if !errors.Is(ctx.Err(), context.DeadlineExceeded) || !errors.Is(context.Cause(ctx), ErrToolTimeout) {
					t.Errorf("%v, because %v", ctx.Err(), context.Cause(ctx))
				}
				return "", ctx.Err()
			})
		}},
		{"asking tool", func(box *Toolbox) {
			AddAskingTool(box, Tool{Name: "x", Timeout: limit}, func(_ context.Context, _ struct{}, q *Asker) (int, error) {
				time.Sleep(limit / 4)
				q.Confirm("k", "?")
				return 0, nil
			}, func(ctx context.Context, _ struct{}, _ int) (string, error) {
				<-ctx.Done()
				return "", ctx.Err()
			})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var box Toolbox
				c.tool(&box)
				const think = time.Minute
				client := legacyHost("2025-11-25")(t, &Server{Caller: box.Call, AskTimeout: 10 * time.Minute}, everyCapability)
				answer := func(string, string) (string, error) { time.Sleep(think); return accepted, nil }
				begun := time.Now()
				if got, _ := client.call("tools/call", `,"name":"x"`, answer); got != "isError Tool x did not finish within 3s" {
					t.Errorf("got %s", got)
				}
				if took := time.Since(begun); took != think+limit {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

// A tool made of a typed function can ask by what it returns.
func TestAddToolInputRequired(t *testing.T) {
	ask := &InputRequired{Requests: map[string]*Question{"k": RootsQuestion()}}
	eachAsking(t, func(t *testing.T, a asking) {
		var box Toolbox
		AddTool(&box, Tool{Name: "any"}, func(ctx context.Context, _ struct{}) (any, error) {
			if _, ok := Received(ctx).Roots("k"); !ok {
				return ask, nil
			}
			return "done", nil
		})
		AddTool(&box, Tool{Name: "shown", OutputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)}, func(ctx context.Context, _ struct{}) (any, error) {
			if _, ok := Received(ctx).Roots("k"); !ok {
				return ask, nil
			}
			return map[string]int{"n": 1}, nil
		})
		c := a.open(t, &Server{Lister: box.List, Caller: box.Call}, everyCapability)
		for name, want := range map[string]string{"any": "done", "shown": `{"n":1}`} {
			if got, rounds := c.call("tools/call", `,"name":"`+name+`"`, always(`{"roots":[]}`)); !strings.HasPrefix(got, want) || rounds != 1 {
				t.Errorf("%s: %d rounds: %s", name, rounds, got)
			}
		}
	})
	var box Toolbox
	AddTool(&box, Tool{Name: "only"}, func(context.Context, struct{}) (*InputRequired, error) { return ask, nil })
	if list, _ := box.List(t.Context()); list[0].OutputSchema != nil {
		t.Errorf("a schema is shown: %s", list[0].OutputSchema)
	}
}

// Questions with keys can be asked from several goroutines, and one question of two is put once.
func TestAskSideBySide(t *testing.T) {
	eachAsking(t, func(t *testing.T, a asking) {
		if a.again {
			return // the first question ends the entry
		}
		s := asksFor(func(ctx context.Context) (string, error) {
			var all sync.WaitGroup
			errs := make([]error, 6)
			for i := range errs {
				all.Go(func() { errs[i] = SessionFrom(ctx).Confirm(ctx, "Q"+strconv.Itoa(i%3), Key(strconv.Itoa(i%3))) })
			}
			all.Wait()
			return "done", errors.Join(errs...)
		})
		if got, rounds := a.open(t, s, everyCapability).call("tools/call", `,"name":"x"`, always(accepted)); got != "done" || rounds != 3 {
			t.Errorf("%d rounds: %s", rounds, got)
		}
	})
}

// A failure of the client reaches a function that is run again as it reaches one that waits.
func TestFailureReplayed(t *testing.T) {
	for _, again := range []bool{false, true} {
		s := asksFor(func(ctx context.Context) (string, error) {
			if err := SessionFrom(ctx).Confirm(ctx, "First?"); err != nil {
				return "", err
			}
			_, err := SessionFrom(ctx).Sample(ctx, CreateMessageRequest{Messages: []SamplingMessage{{RoleUser, []Content{Text("?")}}}, MaxTokens: 1})
			if !errors.Is(err, ErrDeclined) {
				return "", fmt.Errorf("sampling: %w", err)
			}
			return "without a model", nil
		})
		got, rounds := legacyConnection("2025-11-25", again)(t, s, everyCapability).call("tools/call", `,"name":"x"`, func(method, _ string) (string, error) {
			if method == methodSample {
				return "", &jsonrpc2.Error{Code: -1, Message: "no"}
			}
			return accepted, nil
		})
		if got != "without a model" || rounds != 2 {
			t.Errorf("again %v: %d rounds: %s", again, rounds, got)
		}
	}
}

// The answers to an InputRequired, by kind.
func TestReceived(t *testing.T) {
	eachAsking(t, func(t *testing.T, a asking) {
		s := echoServer()
		s.Caller = func(ctx context.Context, _ string, _ Arguments) (any, error) {
			in := Received(ctx)
			roots, ok := in.Roots("roots")
			m := in.Message("model")
			if !ok || m == nil {
				if in.Elicited("model") != nil || in.Message("roots") != nil {
					t.Error("an answer of another kind")
				}
				return &InputRequired{Requests: map[string]*Question{"roots": RootsQuestion(), "model": CreateMessageRequest{Messages: []SamplingMessage{{RoleUser, []Content{Text("?")}}}, MaxTokens: 1}.Question()}}, nil
			}
			return TextResult(fmt.Sprint(m.Text(), roots)), nil
		}
		got, _ := a.open(t, s, everyCapability).call("tools/call", `,"name":"x"`, func(method, _ string) (string, error) {
			if method == methodRoots {
				return `{"roots":[]}`, nil
			}
			return `{"role":"assistant","content":[{"type":"text","text":"Hi"},{"type":"image","data":"eA==","mimeType":"image/png"}],"model":"m"}`, nil
		})
		if got != "Hi[]" {
			t.Errorf("got %s", got)
		}
	})
	if r := Received(t.Context()); r.State != nil || r.Elicited("x") != nil {
		t.Error("answers without a call")
	}
}
