// Command gosdk is the client of the official Go SDK of MCP, checking the server "everything". It is a module of its own, so that Tandem does not
// depend on the SDK.
//
//	gosdk REVISION stdio PROGRAM
//	gosdk REVISION http URL
//
// It prints its checks as the other clients here do: a plan, then a line of JSON for each.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const limit = 30 * time.Second

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: gosdk REVISION stdio|http PROGRAM|URL")
		os.Exit(2)
	}
	c := &checker{revision: os.Args[1], way: os.Args[2], where: os.Args[3]}
	if !c.run() {
		os.Exit(1)
	}
}

// checker is one session, and what has been heard in it.
type checker struct {
	revision, way, where string
	session              *mcp.ClientSession

	mu       sync.Mutex
	logged   []string
	progress []float64
	changed  int
	updated  []string
}

type check struct {
	name string
	run  func(ctx context.Context) error
}

func (c *checker) run() bool {
	checks := []check{
		{"connect", c.connect},
		{"tools", c.tools},
		{"structured content", c.structured},
		{"failing and unknown tools", c.failing},
		{"progress", c.steps},
		{"logging", c.logging},
		{"sampling", c.says("test_sampling", map[string]any{"prompt": "the prompt"}, "LLM response: heard the prompt")},
		{"elicitation", c.says("test_elicitation", map[string]any{"message": "who?"}, "ada@example.com")},
		{"roots", c.says("test_input_required_result_list_roots", nil, "1 roots")},
		{"three questions at once", c.says("test_input_required_result_multiple_inputs", nil, "heard Write a greeting (1 roots)")},
		{"two rounds", c.says("test_input_required_result_multi_round", nil, "likes")},
		{"cancellation", c.cancellation},
		{"resources", c.resources},
		{"prompts", c.prompts},
		{"completion", c.completion},
		{"changes", c.changes},
		{"a stream that is closed and taken up again", c.says("test_reconnection", nil, "completed")},
		{"100 calls at once", c.many},
		{"close", func(context.Context) error { return c.session.Close() }},
	}
	var plan []string
	for _, k := range checks {
		plan = append(plan, k.name)
	}
	report(map[string]any{"plan": plan})
	all := true
	for _, k := range checks {
		ctx, stop := context.WithTimeout(context.Background(), limit)
		err := errors.New("the connection failed")
		if c.session != nil || k.name == "connect" {
			err = k.run(ctx)
		}
		stop()
		line := map[string]any{"check": k.name, "ok": err == nil}
		if err != nil {
			all, line["detail"] = false, err.Error()
		}
		report(line)
	}
	return all
}

func report(line any) {
	b, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	fmt.Printf("e2e %s\n", b)
}

func (c *checker) modern() bool { return c.revision >= "2026-07-28" }

// note changes what has been heard.
func (c *checker) note(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

// until waits for what comes on its own.
func (c *checker) until(ctx context.Context, what string, holds func() bool) error {
	for {
		ok := false
		if c.note(func() { ok = holds() }); ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, ctx.Err())
		case <-time.After(2 * time.Millisecond):
		}
	}
}

func (c *checker) connect(ctx context.Context) (err error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1.0.0"}, &mcp.ClientOptions{
		CreateMessageHandler: func(_ context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			heard := r.Params.Messages[0].Content.(*mcp.TextContent).Text
			return &mcp.CreateMessageResult{Role: "assistant", Model: "e2e", Content: &mcp.TextContent{Text: "heard " + heard}}, nil
		},
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			b, err := json.Marshal(r.Params.RequestedSchema)
			if err != nil {
				return nil, err
			}
			var form struct{ Properties map[string]any }
			if err := json.Unmarshal(b, &form); err != nil {
				return nil, err
			}
			content := map[string]any{}
			for name := range form.Properties {
				content[name] = "ada@example.com"
			}
			return &mcp.ElicitResult{Action: "accept", Content: content}, nil
		},
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) {
			c.note(func() { c.logged = append(c.logged, string(r.Params.Level)) })
		},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			c.note(func() { c.progress = append(c.progress, r.Params.Progress) })
		},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { c.note(func() { c.changed++ }) },
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
			c.note(func() { c.updated = append(c.updated, r.Params.URI) })
		},
	})
	client.AddRoots(&mcp.Root{URI: "file:///e2e", Name: "e2e"})
	var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: c.where}
	if c.way == "stdio" {
		cmd := exec.Command(c.where)
		cmd.Stderr = os.Stderr
		transport = &mcp.CommandTransport{Command: cmd}
	}
	// The session lives as long as the context it was connected with.
	c.session, err = client.Connect(context.WithoutCancel(ctx), transport, &mcp.ClientSessionOptions{ProtocolVersion: c.revision})
	if err != nil {
		return err
	}
	r := c.session.InitializeResult()
	if r.ProtocolVersion != c.revision || r.ServerInfo == nil || r.ServerInfo.Name != "everything" || r.Instructions == "" {
		return fmt.Errorf("connected to %+v", r)
	}
	return nil
}

// call runs a tool and returns its text.
func (c *checker) call(ctx context.Context, name string, arguments any) (string, *mcp.CallToolResult, error) {
	p := &mcp.CallToolParams{Name: name, Arguments: arguments}
	if c.modern() {
		p.Meta = mcp.Meta{"io.modelcontextprotocol/logLevel": "info"}
	}
	r, err := c.session.CallTool(ctx, p)
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", name, err)
	}
	var texts []string
	for _, b := range r.Content {
		if t, ok := b.(*mcp.TextContent); ok {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, "\n"), r, nil
}

// says is the check that a tool's text has a text in it.
func (c *checker) says(tool string, arguments any, want string) func(context.Context) error {
	return func(ctx context.Context) error {
		got, r, err := c.call(ctx, tool, arguments)
		if err == nil && (r.IsError || !strings.Contains(got, want)) {
			err = fmt.Errorf("%s: got %q, want %q in it", tool, got, want)
		}
		return err
	}
}

func (c *checker) tools(ctx context.Context) error {
	n := 0
	for tool, err := range c.session.Tools(ctx, nil) {
		if err != nil {
			return err
		}
		if tool.Name == "" || tool.InputSchema == nil {
			return fmt.Errorf("tool %+v", tool)
		}
		n++
	}
	if n < 30 {
		return fmt.Errorf("%d tools", n)
	}
	return c.says("test_simple_text", nil, "simple text")(ctx)
}

func (c *checker) structured(ctx context.Context) error {
	_, r, err := c.call(ctx, "test_structured_content", map[string]any{"city": "Paris"})
	if err != nil {
		return err
	}
	if m, _ := r.StructuredContent.(map[string]any); m["city"] != "Paris" || m["celsius"] != 21.5 {
		return fmt.Errorf("structured content %v", r.StructuredContent)
	}
	return nil
}

func (c *checker) failing(ctx context.Context) error {
	for name, arguments := range map[string]any{"test_error_handling": nil, "test_structured_content": map[string]any{"city": 5}} {
		if _, r, err := c.call(ctx, name, arguments); err != nil || !r.IsError {
			return fmt.Errorf("%s: %+v, %w", name, r, err)
		}
	}
	_, _, err := c.call(ctx, "nothing", nil)
	return wantCode(err, -32602)
}

func wantCode(err error, code int64) error {
	var answer *jsonrpc.Error
	if !errors.As(err, &answer) || answer.Code != code {
		return fmt.Errorf("got %v, want an error with code %d", err, code)
	}
	return nil
}

func (c *checker) steps(ctx context.Context) error {
	p := &mcp.CallToolParams{Name: "test_tool_with_progress"}
	p.SetProgressToken("steps")
	if _, err := c.session.CallTool(ctx, p); err != nil {
		return err
	}
	if err := c.until(ctx, "progress", func() bool { return len(c.progress) == 3 }); err != nil {
		return err
	}
	if !slices.Equal(c.progress, []float64{0, 50, 100}) {
		return fmt.Errorf("progress %v", c.progress)
	}
	return nil
}

func (c *checker) logging(ctx context.Context) error {
	if !c.modern() {
		if err := c.session.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: "info"}); err != nil {
			return err
		}
	}
	if _, _, err := c.call(ctx, "test_tool_with_logging", nil); err != nil {
		return err
	}
	return c.until(ctx, "log messages", func() bool { return len(c.logged) == 3 && c.logged[0] == "info" })
}

func (c *checker) cancellation(ctx context.Context) error {
	hanging := func(want string) error {
		for {
			got, _, err := c.call(ctx, "test_hanging", nil)
			if err != nil || got == want {
				return err
			}
		}
	}
	hang, stop := context.WithCancel(ctx)
	defer stop()
	failed := make(chan error, 1)
	go func() {
		_, _, err := c.call(hang, "test_hang", nil)
		failed <- err
	}()
	if err := hanging("1"); err != nil {
		return err
	}
	stop()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		return fmt.Errorf("the call that was cancelled: %v", err)
	}
	return hanging("0")
}

func (c *checker) resources(ctx context.Context) error {
	list, err := c.session.ListResources(ctx, nil)
	if err != nil || len(list.Resources) != 3 {
		return fmt.Errorf("resources %+v, %w", list, err)
	}
	templates, err := c.session.ListResourceTemplates(ctx, nil)
	if err != nil || len(templates.ResourceTemplates) != 1 {
		return fmt.Errorf("templates %+v, %w", templates, err)
	}
	r, err := c.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: "test://static-text"})
	if err != nil || !strings.Contains(r.Contents[0].Text, "static text") {
		return fmt.Errorf("contents %+v, %w", r, err)
	}
	code := int64(-32002)
	if c.modern() {
		code = -32602
	}
	_, err = c.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: "test://nothing"})
	return wantCode(err, code)
}

func (c *checker) prompts(ctx context.Context) error {
	list, err := c.session.ListPrompts(ctx, nil)
	if err != nil || len(list.Prompts) < 5 {
		return fmt.Errorf("prompts %+v, %w", list, err)
	}
	for name, want := range map[string]string{
		"test_prompt_with_arguments": "arg1='a', arg2='b'", "test_input_required_result_prompt": "ada@example.com",
	} {
		r, err := c.session.GetPrompt(ctx, &mcp.GetPromptParams{Name: name, Arguments: map[string]string{"arg1": "a", "arg2": "b"}})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if t, ok := r.Messages[0].Content.(*mcp.TextContent); !ok || !strings.Contains(t.Text, want) {
			return fmt.Errorf("%s: %+v", name, r.Messages[0].Content)
		}
	}
	return nil
}

func (c *checker) completion(ctx context.Context) error {
	r, err := c.session.Complete(ctx, &mcp.CompleteParams{
		Ref:      &mcp.CompleteReference{Type: "ref/prompt", Name: "test_prompt_with_arguments"},
		Argument: mcp.CompleteParamsArgument{Name: "arg1", Value: "par"},
	})
	if err != nil || !slices.Equal(r.Completion.Values, []string{"paris", "park", "party"}) {
		return fmt.Errorf("completion %+v, %w", r, err)
	}
	return nil
}

func (c *checker) changes(ctx context.Context) error {
	const watched = "test://watched-resource"
	if err := c.session.Subscribe(ctx, &mcp.SubscribeParams{URI: watched}); err != nil {
		return err
	}
	for {
		// A subscription may take effect after it was answered, where it is a stream of its own.
		if _, _, err := c.call(ctx, "test_trigger_resource_update", nil); err != nil {
			return err
		}
		soon, stop := context.WithTimeout(ctx, time.Second)
		err := c.until(soon, "resources/updated", func() bool { return len(c.updated) > 0 && c.updated[0] == watched })
		stop()
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			return err
		}
	}
	for range 2 { // the second time it is as it was
		if _, _, err := c.call(ctx, "test_trigger_tool_change", nil); err != nil {
			return err
		}
	}
	if err := c.until(ctx, "tools/list_changed", func() bool { return c.changed > 0 }); err != nil {
		return err
	}
	return c.session.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: watched})
}

func (c *checker) many(ctx context.Context) error {
	errs := make(chan error)
	for i := range 100 {
		go func() {
			name := strconv.Itoa(i)
			errs <- c.says("greet", map[string]any{"name": name}, "Hello, "+name+"!")(ctx)
		}()
	}
	var all error
	for range 100 {
		all = errors.Join(all, <-errs)
	}
	return all
}
