package mcptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
)

// asking is a server whose tools ask.
func asking() *mcp.Server {
	box := new(mcp.Toolbox)
	mcp.AddTool(box, mcp.Tool{Name: "sample"}, func(ctx context.Context, _ struct{}) (string, error) {
		m, err := mcp.SessionFrom(ctx).Sample(ctx, mcp.CreateMessageRequest{
			MaxTokens: 5, Messages: []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: []mcp.Content{mcp.Text("hi")}}},
		})
		if err != nil {
			return "", err
		}
		return m.Text(), nil
	})
	mcp.AddTool(box, mcp.Tool{Name: "roots"}, func(ctx context.Context, _ struct{}) (string, error) {
		roots, err := mcp.SessionFrom(ctx).Roots(ctx)
		return fmt.Sprint(roots), err
	})
	mcp.AddTool(box, mcp.Tool{Name: "two"}, func(ctx context.Context, _ struct{}) (string, error) {
		one, err := mcp.ElicitAs[word](ctx, "one?")
		if err != nil {
			return "", err
		}
		two, err := mcp.ElicitAs[word](ctx, "two after "+one.Word+"?")
		return one.Word + two.Word, err
	})
	mcp.AddTool(box, mcp.Tool{Name: "job", Task: mcp.TaskMay}, func(ctx context.Context, _ struct{}) (string, error) {
		w, err := mcp.ElicitAs[word](ctx, "which?")
		return "worked on " + w.Word, err
	})
	mcp.AddTool(box, mcp.Tool{Name: "broken", Task: mcp.TaskMay}, func(context.Context, struct{}) (string, error) {
		return "", jsonrpc2.Errorf(-7, "broken")
	})
	mcp.AddTool(box, mcp.Tool{Name: "endless", Task: mcp.TaskMay}, func(ctx context.Context, _ struct{}) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	})
	return &mcp.Server{Name: "Asking", Version: "1.0.0", Lister: box.List, Caller: box.Call, Tasks: new(mcp.Tasks)}
}

func TestScripts(t *testing.T) {
	Everywhere(t, func(t *testing.T, o Options) {
		o.Sample = Says("hello")
		o.Roots = []Root{{URI: "file:///a", Name: "a"}}
		o.Elicit = func(_ context.Context, q Question) (Reply, error) {
			if q.Mode != "form" || !json.Valid(q.Schema) || !json.Valid(q.Params) || (q.Key != "") != (o.Revision == "2026-07-28") {
				t.Errorf("question %+v", q)
			}
			return Accept(word{strings.Fields(q.Message)[0]}), nil
		}
		c := New(t, asking(), &o)
		tests := map[string]string{"sample": "hello", "roots": "[{file:///a a}]", "two": "one?two"}
		if o.Revision < "2025-06-18" {
			delete(tests, "two") // nobody could be asked
		}
		for tool, want := range tests {
			if got, err := c.CallTool(t.Context(), tool, nil); err != nil || got.Text() != want {
				t.Errorf("%s = %+v, %v, want %q", tool, got, err, want)
			}
		}
	})
}

func TestScriptEnds(t *testing.T) {
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		for _, hosted := range []bool{false, true} {
			c := New(t, asking(), &Options{Revision: revision, Hosted: hosted, Elicit: Replies(Accept(word{"a"}), Decline(), Accept(word{"b"}), Dismiss()), Sample: Says()})
			for _, want := range []string{"the user declined", "the user cancelled"} {
				if got, err := c.CallTool(t.Context(), "two", nil); err != nil || !got.IsError || !strings.Contains(got.Text(), want) {
					t.Errorf("%s: got %+v, %v, want %q", revision, got, err, want)
				}
			}
			for _, tool := range []string{"two", "sample"} {
				got, err := c.CallTool(t.Context(), tool, nil)
				if c.Modern() {
					if !errors.Is(err, ErrScript) {
						t.Errorf("%s %s: %+v, %v", revision, tool, got, err)
					}
				} else if err != nil || !got.IsError {
					t.Errorf("%s %s: %+v, %v", revision, tool, got, err)
				}
			}
		}
	}
}

func TestNothingToAsk(t *testing.T) {
	Everywhere(t, func(t *testing.T, o Options) {
		c := New(t, asking(), &o)
		var answer *jsonrpc2.Error
		got, err := c.CallTool(t.Context(), "roots", nil)
		if c.Modern() {
			if !errors.As(err, &answer) || answer.Code != mcp.CodeMissingCapability {
				t.Errorf("got %+v, %v", got, err)
			}
		} else if err != nil || !got.IsError {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

func TestCapabilities(t *testing.T) {
	o := Options{Roots: []Root{}, Sample: Says(), Elicit: Replies(), Capabilities: map[string]any{"sampling": nil, "experimental": map[string]any{}}}
	for revision, want := range map[string]string{
		"2024-11-05": `{"experimental":{},"roots":{}}`,
		"2025-06-18": `{"elicitation":{},"experimental":{},"roots":{}}`,
		"2026-07-28": `{"elicitation":{"form":{},"url":{}},"experimental":{},"roots":{}}`,
	} {
		o.Revision = revision
		if got, err := json.Marshal(o.capabilities()); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v, want %s", revision, got, err, want)
		}
	}
}

func TestTasks(t *testing.T) {
	for _, hosted := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := asking()
			c, err := Dial(t.Context(), s, &Options{
				Hosted: hosted, Elicit: Replies(Accept(word{"it"})),
				Capabilities: map[string]any{"extensions": map[string]any{mcp.TasksExtension: map[string]any{}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := c.CallTool(t.Context(), "job", nil); err != nil || got.Text() != "worked on it" {
				t.Errorf("job = %+v, %v", got, err)
			}
			if got, err := c.CallTool(t.Context(), "job", nil); !errors.Is(err, ErrScript) {
				t.Errorf("a job without an answer = %+v, %v", got, err)
			}
			var answer *jsonrpc2.Error
			if got, err := c.CallTool(t.Context(), "broken", nil); !errors.As(err, &answer) || answer.Code != -7 {
				t.Errorf("broken = %+v, %v", got, err)
			}
			start := time.Now()
			if got, err := c.CallTool(t.Context(), "endless", nil); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != DefaultTimeout {
				t.Errorf("endless = %+v, %v after %v", got, err, time.Since(start))
			}
			if text := c.Text(); strings.Count(text, `"method":"tasks/cancel"`) != 2 || !strings.Contains(text, `"taskId":"(taskId 1)"`) {
				t.Errorf("transcript\n%s", text)
			}
			end, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			if err := errors.Join(c.Close(), s.Shutdown(end)); err != nil {
				t.Error(err)
			}
		})
	}
}
