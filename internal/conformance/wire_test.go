package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-rpc/tandem/internal/leak"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
	"github.com/tandem-rpc/tandem/mcp/mcptest"
)

func TestMain(m *testing.M) { leak.Main(m) }

// TestWire uses everything there is in every revision, over a connection and through the host API, and holds every message of the server against the
// published schema of the revision. The schema also says which methods there are: each must have been answered with a result.
func TestWire(t *testing.T) {
	for _, revision := range slices.Concat(mcp.ModernVersions, mcp.Versions) {
		d := loadDefinitions(t, revision)
		for _, hosted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s hosted %v", revision, hosted), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c, err := use(t, revision, hosted)
					if err != nil {
						t.Fatal(err)
					}
					inspect(t, d, c.Transcript())
				})
			})
		}
	}
}

// inspect checks the messages of a transcript.
func inspect(t *testing.T, d *definitions, entries []mcptest.Entry) {
	t.Helper()
	methods := make(map[string]string) // of requests, by id
	answered, heard := make(map[string]bool), make(map[string]bool)
	for _, e := range entries {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				TaskID json.RawMessage
			}
			Result json.RawMessage
		}
		if err := json.Unmarshal(e.Payload, &m); err != nil {
			if !e.Sent {
				t.Errorf("%s: %v", e, err)
			}
			continue
		}
		if e.Sent {
			if m.Method != "" {
				methods[string(m.ID)] = m.Method
			}
			continue
		}
		asked := methods[string(m.ID)]
		switch {
		case m.Method != "":
			heard[m.Method] = true
		case m.Result != nil:
			answered[asked] = true
		}
		if extension(d.revision, asked, m.Method, m.Result) {
			continue
		}
		if err := d.message(e.Payload, asked); err != nil {
			t.Errorf("%v\n%s", err, e)
		}
	}
	for _, method := range d.methods("ClientRequest") {
		if !answered[method] {
			t.Errorf("%s has not been answered with a result", method)
		}
	}
	for _, union := range []string{"ServerNotification", "ServerRequest"} {
		if !d.has(union) {
			continue
		}
		for _, method := range d.methods(union) {
			if !heard[method] && !slices.Contains(silent, method) {
				t.Errorf("%s has not been sent", method)
			}
		}
	}
}

// silent are messages a server may send, and this one does not.
var silent = []string{
	"notifications/cancelled",                                 // it is sent to clients whose answer is not waited for any more, which no tool here does
	"notifications/elicitation/complete",                      // no tool here sends the user to a page
	"notifications/tasks/status",                              // it is optional; clients ask
	"ping",                                                    // connections are not probed in memory
	"tasks/get", "tasks/result", "tasks/list", "tasks/cancel", // of tasks that a client runs; it is never asked to
}

// extension says that a message belongs to the tasks extension of 2026-07-28, which the schema of the revision does not know.
func extension(revision, asked, method string, result json.RawMessage) bool {
	var v struct {
		Type string `json:"resultType"`
	}
	_ = json.Unmarshal(result, &v)
	return revision == "2026-07-28" && (v.Type == "task" || method == "notifications/tasks" ||
		slices.Contains([]string{"tasks/get", "tasks/update", "tasks/cancel"}, asked))
}

// use makes a client that uses everything, and returns it when it is closed.
func use(t *testing.T, revision string, hosted bool) (_ *mcptest.Client, err error) {
	s := New(func(_ context.Context, r *jsonrpc2.Request, err error) { t.Logf("reported: %v", err) })
	o := mcptest.Options{
		Revision: revision, Hosted: hosted, Context: mcp.WithPrincipal(context.Background(), "Ada"), Progress: true, LogLevel: "debug", Timeout: time.Minute,
		Elicit: answer, Sample: func(ctx context.Context, params json.RawMessage) (any, error) {
			return mcptest.Says("a text")(ctx, params)
		},
		Roots: []mcptest.Root{{URI: "file:///home", Name: "home"}},
	}
	if revision == "2026-07-28" {
		o.Capabilities = map[string]any{"extensions": map[string]any{mcp.TasksExtension: map[string]any{}}}
	}
	ctx := t.Context()
	c, err := mcptest.Dial(ctx, s.Server, &o)
	if err != nil {
		return nil, err
	}
	defer func() {
		end, stop := context.WithTimeout(ctx, time.Minute)
		defer stop()
		err = errors.Join(err, c.Close(), s.Shutdown(end))
	}()

	if _, err := c.Watch(ctx, []mcp.List{mcp.Tools, mcp.Resources, mcp.Prompts}, watched.URI); err != nil {
		return nil, err
	}
	tools, err := c.Tools(ctx)
	if err != nil {
		return nil, err
	}
	for _, tool := range tools {
		if _, err := c.CallTool(ctx, tool.Name, arguments[tool.Name]); err != nil {
			t.Logf("%s: %v", tool.Name, err) // an error is a message, too
		}
	}
	resources, err := c.Resources(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range resources {
		if _, err := c.Read(ctx, r.URI); err != nil {
			return nil, err
		}
	}
	if _, err := c.Read(ctx, "test://template/1/data"); err != nil {
		return nil, err
	}
	if _, err := c.Templates(ctx); err != nil {
		return nil, err
	}
	prompts, err := c.Prompts(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range prompts {
		if _, err := c.Prompt(ctx, p.Name, map[string]string{"arg1": "a", "arg2": "b", "resourceUri": staticText.URI}); err != nil {
			t.Logf("%s: %v", p.Name, err)
		}
	}
	if _, err := c.Complete(ctx, mcp.CompleteRequest{Prompt: "test_prompt_with_arguments", Name: "arg1", Value: "par"}); err != nil {
		return nil, err
	}
	if !c.Modern() {
		for method, params := range map[string]any{
			"ping": nil, "resources/subscribe": map[string]any{"uri": staticText.URI}, "resources/unsubscribe": map[string]any{"uri": staticText.URI},
			"logging/setLevel": map[string]any{"level": "error"},
		} {
			if _, err := c.Request(ctx, method, params); err != nil {
				return nil, err
			}
		}
	}
	if err := tasks(ctx, c); err != nil {
		return nil, err
	}
	wrong(ctx, c)
	for _, method := range []string{"notifications/tools/list_changed", "notifications/prompts/list_changed", "notifications/resources/updated"} {
		if _, err := c.Notification(ctx, method); err != nil {
			return nil, err
		}
	}
	s.Changed(mcp.Resources)
	if _, err := c.Notification(ctx, "notifications/resources/list_changed"); err != nil {
		return nil, err
	}
	s.Close() // answers subscriptions/listen
	synctest.Wait()
	return c, nil
}

// arguments are those of the tools that take some.
var arguments = map[string]map[string]any{
	"json_schema_2020_12_tool": {"name": "Ada", "contactMethod": "phone", "phone": "1"},
	"test_x_mcp_header":        {"region": "north", "level": 1},
	"test_structured_content":  {"city": "Paris"},
	"test_sampling":            {"prompt": "Say something"},
	"test_elicitation":         {"message": "Who are you?"},
	"greet":                    {"name": "Ada"},
	"slow_compute":             {"seconds": 1, "label": "x"},
	"confirm_delete":           {"filename": "x"},
}

// answer fills in whatever form there is.
func answer(_ context.Context, q mcptest.Question) (mcptest.Reply, error) {
	var form struct {
		Properties map[string]struct {
			Type  string
			Enum  []any
			OneOf []struct{ Const any }
		}
	}
	if err := json.Unmarshal(q.Schema, &form); err != nil {
		return mcptest.Reply{}, err
	}
	content := make(map[string]any)
	for name, p := range form.Properties {
		switch {
		case len(p.Enum) > 0:
			content[name] = p.Enum[0]
		case len(p.OneOf) > 0:
			content[name] = p.OneOf[0].Const
		case p.Type == "string":
			content[name] = "a@example.com"
		case p.Type == "boolean":
			content[name] = true
		case p.Type == "array":
			content[name] = []any{}
		default:
			content[name] = 1
		}
	}
	return mcptest.Accept(content), nil
}

// tasks follows a task to its end, looks at another and ends it.
func tasks(ctx context.Context, c *mcptest.Client) error {
	switch c.Revision() {
	case "2026-07-28":
		return follow(ctx, c, func(p map[string]any) map[string]any { return p }, func(raw json.RawMessage) (string, error) {
			var v struct {
				ID string `json:"taskId"`
			}
			return v.ID, json.Unmarshal(raw, &v)
		})
	case "2025-11-25":
		if _, err := c.Request(ctx, "tasks/list", nil); err != nil {
			return err
		}
		return follow(ctx, c, func(p map[string]any) map[string]any { p["task"] = map[string]any{"ttl": 60_000}; return p },
			func(raw json.RawMessage) (string, error) {
				var v struct {
					Task struct {
						ID string `json:"taskId"`
					} `json:"task"`
				}
				return v.Task.ID, json.Unmarshal(raw, &v)
			})
	}
	return nil
}

func follow(ctx context.Context, c *mcptest.Client, augment func(map[string]any) map[string]any, id func(json.RawMessage) (string, error)) error {
	for _, method := range []string{"tasks/result", "tasks/cancel"} {
		raw, err := c.Request(ctx, "tools/call", augment(map[string]any{"name": "slow_compute", "arguments": arguments["slow_compute"]}))
		if err != nil {
			return err
		}
		task, err := id(raw)
		if err != nil {
			return err
		}
		if task == "" {
			return fmt.Errorf("slow_compute is no task: %s", raw)
		}
		if method == "tasks/result" && c.Modern() {
			time.Sleep(2 * time.Second) // of the test's clock
			method = "tasks/get"
		}
		for _, method := range []string{"tasks/get", method} {
			if _, err := c.Request(ctx, method, map[string]any{"taskId": task}); err != nil {
				return fmt.Errorf("%s: %w", method, err)
			}
		}
	}
	return nil
}

// wrong asks for what is answered with errors.
func wrong(ctx context.Context, c *mcptest.Client) {
	for _, q := range []struct {
		method string
		params any
	}{
		{"tools/call", map[string]any{"name": "nothing"}},
		{"tools/call", map[string]any{"name": "test_structured_content", "arguments": map[string]any{"city": 5}}},
		{"tools/call", map[string]any{}},
		{"tools/list", map[string]any{"cursor": "made up"}},
		{"resources/read", map[string]any{"uri": "test://nothing"}},
		{"prompts/get", map[string]any{"name": "nothing"}},
		{"prompts/get", map[string]any{"name": "test_prompt_with_arguments"}},
		{"completion/complete", map[string]any{"ref": 5}},
		{"logging/setLevel", map[string]any{"level": "loud"}},
		{"nothing/there", nil},
		{"tools/list", map[string]any{"_meta": map[string]any{mcp.MetaVersion: "1900-01-01"}}},
		{"tools/call", map[string]any{"name": "test_missing_capability", "_meta": map[string]any{mcp.MetaCapabilities: map[string]any{}, mcp.MetaVersion: "2026-07-28"}}},
		{"server/discover", map[string]any{"_meta": map[string]any{mcp.MetaVersion: 5}}},
	} {
		_, _ = c.Request(ctx, q.method, q.params)
	}
}
