package mcptest

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-rpc/tandem/internal/leak"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
)

func TestMain(m *testing.M) { leak.Main(m) }

type word struct {
	Word string `json:"word"`
}

// full is a server with every feature a client can use without being asked.
func full() (*mcp.Server, *mcp.Toolbox) {
	box := new(mcp.Toolbox)
	mcp.AddTool(box, mcp.Tool{Name: "echo"}, func(_ context.Context, in word) (word, error) { return in, nil })
	mcp.AddTool(box, mcp.Tool{Name: "fail"}, func(context.Context, struct{}) (string, error) { return "", errors.New("on purpose") })
	mcp.AddTool(box, mcp.Tool{Name: "who"}, func(ctx context.Context, _ struct{}) (string, error) {
		name, _ := mcp.CallerFrom[string](ctx)
		return name, nil
	})
	mcp.AddTool(box, mcp.Tool{Name: "steps"}, func(ctx context.Context, _ struct{}) (string, error) {
		ses := mcp.SessionFrom(ctx)
		err := errors.Join(mcp.Progress(ctx, 1, 2, "half"), ses.Log(ctx, mcp.LevelInfo, "steps", "half"), mcp.Progress(ctx, 2, 2, "done"))
		return ses.Client().Name, err
	})
	mcp.AddTool(box, mcp.Tool{Name: "hang"}, func(ctx context.Context, _ struct{}) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	})
	s := &mcp.Server{
		Name: "Full", Version: "1.0.0", Instructions: "Use it.", Lister: box.List, Caller: box.Call, Logging: true, ListChanged: true,
		Resources: func(context.Context) ([]mcp.Resource, error) { return []mcp.Resource{{URI: "mem:a", Name: "a"}}, nil },
		Templates: func(context.Context) ([]mcp.Template, error) {
			return []mcp.Template{{URITemplate: "mem:{x}", Name: "t"}}, nil
		},
		Reader: func(_ context.Context, uri string) (any, error) {
			if uri == "mem:a" {
				return []mcp.ResourceContents{{URI: uri, Text: "A"}, {URI: uri, Blob: []byte{1, 2}}}, nil
			}
			return nil, mcp.ResourceNotFound(uri)
		},
		Subscriber: func(_ context.Context, uri string) error { return nil },
		Prompts:    func(context.Context) ([]mcp.Prompt, error) { return []mcp.Prompt{{Name: "p"}}, nil },
		Prompter: func(_ context.Context, _ string, a mcp.Arguments) (any, error) {
			v, _ := a.Text("x")
			return &mcp.PromptResult{Messages: []mcp.PromptMessage{{Role: mcp.RoleUser, Content: mcp.Text("x is " + v)}}}, nil
		},
		Completer: func(_ context.Context, r mcp.CompleteRequest) (*mcp.Completion, error) {
			return &mcp.Completion{Values: []string{r.Prompt + r.Template + r.Value + r.Others["y"]}}, nil
		},
	}
	return s, box
}

func TestMethods(t *testing.T) {
	Everywhere(t, func(t *testing.T, o Options) {
		ctx := t.Context()
		s, _ := full()
		c := New(t, s, &o)
		if c.Instructions() != "Use it." || c.Capabilities()["tools"] == nil || c.Revision() != o.Revision {
			t.Errorf("introduced as %+v, %q", c.server, c.Revision())
		}
		if !c.Modern() && c.Info().Name != "Full" {
			t.Errorf("Info = %+v", c.Info())
		}
		tools, err := c.Tools(ctx)
		if err != nil || len(tools) != 5 || tools[0].Name != "echo" || !json.Valid(tools[0].InputSchema.(json.RawMessage)) {
			t.Errorf("Tools = %+v, %v", tools, err)
		}
		got, err := c.CallTool(ctx, "echo", word{"hello"})
		if err != nil || got.IsError || got.Text() != `{"word":"hello"}` {
			t.Errorf("echo = %+v, %v", got, err)
		}
		if o.Revision >= "2025-06-18" {
			var w word
			if err := got.Decode(&w); err != nil || w.Word != "hello" {
				t.Errorf("structured %s, %v", got.Structured, err)
			}
		}
		if got, err = c.CallTool(ctx, "fail", nil); err != nil || !got.IsError || got.Text() != "on purpose" {
			t.Errorf("fail = %+v, %v", got, err)
		}
		var answer *jsonrpc2.Error
		if _, err = c.CallTool(ctx, "nothing", nil); !errors.As(err, &answer) || answer.Code != jsonrpc2.CodeInvalidParams {
			t.Errorf("an unknown tool: %v", err)
		}
		if r, err := c.Resources(ctx); err != nil || len(r) != 1 || r[0].URI != "mem:a" {
			t.Errorf("Resources = %+v, %v", r, err)
		}
		if r, err := c.Templates(ctx); err != nil || len(r) != 1 || r[0].URITemplate != "mem:{x}" {
			t.Errorf("Templates = %+v, %v", r, err)
		}
		if r, err := c.Read(ctx, "mem:a"); err != nil || len(r) != 2 || r[0].Text != "A" || len(r[1].Blob) != 2 {
			t.Errorf("Read = %+v, %v", r, err)
		}
		if _, err := c.Read(ctx, "mem:b"); !errors.As(err, &answer) || !strings.Contains(string(answer.Data), "mem:b") {
			t.Errorf("an unknown resource: %v", err)
		}
		if p, err := c.Prompts(ctx); err != nil || len(p) != 1 || p[0].Name != "p" {
			t.Errorf("Prompts = %+v, %v", p, err)
		}
		if p, err := c.Prompt(ctx, "p", map[string]string{"x": "1"}); err != nil || p.Text() != "x is 1" {
			t.Errorf("Prompt = %+v, %v", p, err)
		}
		for _, r := range []mcp.CompleteRequest{
			{Prompt: "p", Name: "x", Value: "1", Others: map[string]string{"y": "2"}},
			{Template: "mem:{x}", Name: "x", Value: "1", Others: map[string]string{"y": "2"}},
		} {
			if p, err := c.Complete(ctx, r); err != nil || !slices.Equal(p.Values, []string{r.Prompt + r.Template + "12"}) {
				t.Errorf("Complete = %+v, %v", p, err)
			}
		}
	})
}

func TestNotifications(t *testing.T) {
	Everywhere(t, func(t *testing.T, o Options) {
		var told atomic.Int64
		o.Progress, o.LogLevel, o.Client.Name = true, "debug", "tester"
		o.Notified = func(Notification) { told.Add(1) }
		s, _ := full()
		c := New(t, s, &o)
		got, err := c.CallTool(t.Context(), "steps", nil)
		if err != nil || got.Text() != "tester" {
			t.Fatalf("steps = %+v, %v", got, err)
		}
		var methods []string
		for _, n := range c.Notifications() {
			methods = append(methods, n.Method)
		}
		if want := []string{"notifications/progress", "notifications/message", "notifications/progress"}; !slices.Equal(methods, want) {
			t.Errorf("notifications %q, want %q", methods, want)
		}
		if told.Load() != 3 {
			t.Errorf("Notified was called %d times", told.Load())
		}
		for _, want := range []string{`"progress":1`, `"progress":2`} {
			if p, err := c.Notification(t.Context(), "notifications/progress"); err != nil || !strings.Contains(string(p), want) {
				t.Errorf("progress %s, %v, want %s", p, err, want)
			}
		}
	})
}

func TestContext(t *testing.T) {
	Everywhere(t, func(t *testing.T, o Options) {
		o.Context = mcp.WithCaller(context.Background(), "Ada")
		s, _ := full()
		if got, err := New(t, s, &o).CallTool(t.Context(), "who", nil); err != nil || got.Text() != "Ada" {
			t.Errorf("who = %+v, %v", got, err)
		}
	})
}

func TestCancel(t *testing.T) {
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		for _, hosted := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				s, _ := full()
				c, err := Dial(t.Context(), s, &Options{Revision: revision, Hosted: hosted})
				if err != nil {
					t.Fatal(err)
				}
				ctx, stop := context.WithTimeout(t.Context(), time.Second)
				defer stop()
				if _, err := c.CallTool(ctx, "hang", nil); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s: a call that is cancelled: %v", revision, err)
				}
				start := time.Now()
				if _, err := c.CallTool(t.Context(), "hang", nil); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != DefaultTimeout {
					t.Errorf("%s: a call without deadline: %v after %v", revision, err, time.Since(start))
				}
				synctest.Wait()
				if last := c.Transcript()[len(c.Transcript())-1]; !last.Sent || !strings.Contains(string(last.Payload), "notifications/cancelled") {
					t.Errorf("%s: the last message is %s", revision, last)
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestWatch(t *testing.T) {
	Everywhere(t, func(t *testing.T, o Options) {
		s, box := full()
		c := New(t, s, &o)
		stop, err := c.Watch(t.Context(), []mcp.List{mcp.Tools}, "mem:a")
		if err != nil {
			t.Fatal(err)
		}
		box.Remove("hang")
		s.Changed(mcp.Tools)
		if _, err := c.Notification(t.Context(), "notifications/tools/list_changed"); err != nil {
			t.Error(err)
		}
		s.Updated("mem:a")
		if p, err := c.Notification(t.Context(), "notifications/resources/updated"); err != nil || !strings.Contains(string(p), `"uri":"mem:a"`) {
			t.Errorf("updated %s, %v", p, err)
		}
		stop()
		short, end := context.WithTimeout(t.Context(), time.Nanosecond)
		defer end()
		if _, err := c.Notification(short, "notifications/resources/updated"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("nothing to come: %v", err)
		}
	})
}

func TestWatchRefused(t *testing.T) {
	s, _ := full()
	s.Resources, s.Reader, s.Templates, s.Subscriber = nil, nil, nil, nil
	c := New(t, s, &Options{Revision: "2025-11-25"})
	var answer *jsonrpc2.Error
	if _, err := c.Watch(t.Context(), nil, "mem:a"); !errors.As(err, &answer) {
		t.Errorf("a resource where there are none: %v", err)
	}
	m := New(t, s, nil)
	s.Close()
	if _, err := m.Watch(t.Context(), []mcp.List{mcp.Tools}); !errors.As(err, &answer) {
		t.Errorf("a server that is closing: %v", err)
	}
}

func TestRaw(t *testing.T) {
	tests := []struct {
		name, revision, payload, want string
	}{
		{"ping", "2025-11-25", `{"jsonrpc":"2.0","id":"x","method":"ping"}`, `{"jsonrpc":"2.0","id":"x","result":{}}`},
		{"batch", "2025-03-26", `[{"jsonrpc":"2.0","id":5,"method":"ping"}]`, `[{"jsonrpc":"2.0","id":5,"result":{}}]`},
		{"notification", "2025-11-25", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, ""},
		{"batch of notifications", "2025-03-26", `[{"jsonrpc":"2.0","method":"notifications/initialized"}]`, ""},
		{"no JSON", "2025-11-25", `{`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`},
		{"no message", "2025-11-25", `5`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}`},
		{"neither request nor response", "2025-11-25", `{"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}`},
		{"response", "2025-11-25", `{"jsonrpc":"2.0","id":7,"result":{}}`, ""},
	}
	for _, tt := range tests {
		for _, hosted := range []bool{false, true} {
			t.Run(tt.name, func(t *testing.T) {
				s, _ := full()
				c := New(t, s, &Options{Revision: tt.revision, Hosted: hosted})
				got, err := c.Raw(t.Context(), []byte(tt.payload))
				if err != nil || string(got) != tt.want {
					t.Errorf("got %s, %v, want %s", got, err, tt.want)
				}
			})
		}
	}
}

func TestClosed(t *testing.T) {
	Everywhere(t, func(t *testing.T, o Options) {
		s, box := full()
		runs := make(chan struct{})
		mcp.AddTool(box, mcp.Tool{Name: "hold"}, func(ctx context.Context, _ struct{}) (string, error) {
			close(runs)
			<-ctx.Done()
			return "", ctx.Err()
		})
		c, err := Dial(t.Context(), s, &o)
		if err != nil {
			t.Fatal(err)
		}
		failed := make(chan error, 1)
		go func() {
			_, err := c.CallTool(context.Background(), "hold", nil)
			failed <- err
		}()
		<-runs
		if err := errors.Join(c.Close(), c.Close()); err != nil {
			t.Error(err)
		}
		if err := <-failed; !errors.Is(err, ErrClosed) {
			t.Errorf("a call that ran: %v", err)
		}
		if _, err := c.Tools(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("a call behind Close: %v", err)
		}
		if _, err := c.Notification(t.Context(), "x"); !errors.Is(err, ErrClosed) {
			t.Errorf("waiting behind Close: %v", err)
		}
		if _, err := c.Watch(t.Context(), []mcp.List{mcp.Tools}, "mem:a"); !errors.Is(err, ErrClosed) {
			t.Errorf("Watch behind Close: %v", err)
		}
	})
}

func TestDialFails(t *testing.T) {
	s, _ := full()
	for _, o := range []Options{{Revision: "1999-01-01"}, {Revision: "1999-01-01", Hosted: true}} {
		if c, err := Dial(t.Context(), s, &o); err == nil || !strings.Contains(err.Error(), "1999-01-01") {
			t.Errorf("%+v: %v, %v", o, c, err)
		}
	}
	broken := &mcp.Server{Name: "Broken", Version: "1", Batch: -5}
	for _, o := range []Options{{}, {Hosted: true, Revision: "2025-11-25"}, {Hosted: true}} {
		if _, err := Dial(t.Context(), broken, &o); err == nil {
			t.Errorf("%+v: a server that cannot be used was dialled", o)
		}
	}
}

// failing keeps what a test would have said.
type failing struct {
	testing.TB
	said []string
}

func (f *failing) Helper() {}

func (f *failing) Errorf(format string, args ...any) { f.said = append(f.said, format) }

func (f *failing) Fatalf(format string, args ...any) { f.Errorf(format, args...) }

func (f *failing) Fatal(args ...any) { f.Errorf("fatal", args...) }

func TestGolden(t *testing.T) {
	file := filepath.Join(t.TempDir(), "golden", "echo.txt")
	run := func(tb testing.TB, w string, renew bool) {
		t.Helper()
		s, _ := full()
		c := New(t, s, &Options{Revision: "2025-11-25"})
		if _, err := c.CallTool(t.Context(), "echo", word{w}); err != nil {
			t.Fatal(err)
		}
		*update = renew
		defer func() { *update = false }()
		c.Golden(tb, file)
	}
	f := &failing{TB: t}
	if run(f, "a", false); len(f.said) == 0 {
		t.Error("a file that is missing is no error")
	}
	run(t, "a", true)
	run(t, "a", false)
	f.said = nil
	if run(f, "b", false); len(f.said) != 1 || !strings.Contains(f.said[0], "differs") {
		t.Errorf("another transcript: %q", f.said)
	}
	b, err := os.ReadFile(file)
	if err != nil || strings.Count(string(b), "\n") != 5 || !strings.HasPrefix(string(b), `-> {"jsonrpc"`) {
		t.Errorf("the file is %s, %v", b, err)
	}
}

func TestText(t *testing.T) {
	c := &Client{entries: []Entry{
		{Payload: []byte(`{"taskId":"b1","createdAt":"2026-01-01","requestState":"v1.x"}`)},
		{Sent: true, Payload: []byte(`{"requestState":"v1.x","taskId":"b2","lastUpdatedAt":"2026"}`)},
		{Sent: true, Payload: []byte(`{"requestState":"v1.y\"","taskId":"b1","createdAt":"2027-01-01"}`)},
	}}
	const want = `<- {"taskId":"(taskId 1)","createdAt":"(createdAt)","requestState":"(requestState 1)"}
-> {"requestState":"(requestState 1)","taskId":"(taskId 2)","lastUpdatedAt":"(lastUpdatedAt)"}
-> {"requestState":"(requestState 2)","taskId":"(taskId 1)","createdAt":"(createdAt)"}
`
	if got := c.Text(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
