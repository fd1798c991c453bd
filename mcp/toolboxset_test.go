package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func nothing(context.Context, Arguments) (any, error) { return nil, nil }

func TestToolboxAttach(t *testing.T) {
	var b Toolbox
	b.Add(Tool{Name: "first"}, nothing)
	s := &Server{Name: "T", Version: "1"}
	b.Attach(s)
	w := start(t, s, "2025-11-25")
	b.Add(Tool{Name: "second"}, nothing)
	w.want(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if got := w.recv(); !strings.Contains(got, `"second"`) {
		t.Errorf("got %s", got)
	}
	if b.Remove("third") != 0 {
		t.Error("removed what is not there")
	}
	if b.Remove("second") != 1 {
		t.Error("not removed")
	}
	w.want(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	w.sync()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("attached to a server that has a Caller")
			}
		}()
		new(Toolbox).Attach(s)
	}()
	if x, ok, err := s.Tool(t.Context(), "first"); !ok || err != nil || x.Name != "first" {
		t.Errorf("Tool: %v %t %v", x, ok, err)
	}
	if _, ok, err := s.Tool(t.Context(), "second"); ok || err != nil {
		t.Errorf("Tool: %t %v", ok, err)
	}
	listed := &Server{Lister: b.List}
	if x, ok, err := listed.Tool(t.Context(), "first"); !ok || err != nil || x.Name != "first" {
		t.Errorf("Tool, from the list: %v %t %v", x, ok, err)
	}
	if _, ok, err := listed.Tool(t.Context(), "second"); ok || err != nil {
		t.Errorf("Tool, from the list: %t %v", ok, err)
	}
	if _, ok, err := new(Server).Tool(t.Context(), "first"); ok || err != nil {
		t.Errorf("Tool, of none: %t %v", ok, err)
	}
	if err := b.TryAdd(Tool{Name: "first"}, nothing); err == nil || !strings.Contains(err.Error(), "second tool") {
		t.Errorf("got %v", err)
	}
	if err := TryAddTool[struct{}, string](&b, Tool{Name: "x"}, nil); err == nil {
		t.Error("no function, no error")
	}
}

func TestToolboxVisible(t *testing.T) {
	type user string
	var b Toolbox
	b.Visible = func(ctx context.Context, x Tool) bool {
		u, _ := CallerFrom[user](ctx)
		return x.Name != "admin" || u == "ada"
	}
	b.Add(Tool{Name: "admin"}, func(context.Context, Arguments) (any, error) { return "in", nil })
	b.Add(Tool{Name: "public"}, nothing)
	ada, bob := WithCaller(context.Background(), user("ada")), WithCaller(context.Background(), user("bob"))
	if list, _ := b.List(bob); len(list) != 1 || list[0].Name != "public" {
		t.Errorf("bob sees %v", list)
	}
	if list, _ := b.List(ada); len(list) != 2 {
		t.Errorf("ada sees %v", list)
	}
	if v, err := b.Call(ada, "admin", RawArguments(nil)); v != "in" || err != nil {
		t.Errorf("ada: %v %v", v, err)
	}
	_, hidden := b.Call(bob, "admin", RawArguments(nil))
	if _, unknown := b.Call(bob, "other", RawArguments(nil)); hidden == nil || strings.Replace(hidden.Error(), "admin", "other", 1) != unknown.Error() {
		t.Errorf("bob can tell %v from %v", hidden, unknown)
	}
}

func TestToolboxWarnings(t *testing.T) {
	var b Toolbox
	for _, name := range []string{"plain_name-9", "dotted.name", "a/b", strings.Repeat("x", 65), strings.Repeat("y", 64)} {
		b.Add(Tool{Name: name}, nothing)
	}
	b.Add(Tool{Name: "meta", Meta: Meta{"io.modelcontextprotocol/x": 1, "com.example/y": 2, "plain": 3}}, nothing)
	b.Add(Tool{Name: "icon", Icons: []Icon{{Src: "data:image/png;base64," + strings.Repeat("AAAA", 20_000)}}}, nothing)
	b.Add(Tool{Name: "header", InputSchema: json.RawMessage(`{"type":"object","properties":{"p":{"type":"string","x-mcp-header":"Password"}}}`)}, nothing)
	got := b.Warnings()
	for i, want := range []string{`"a/b": has '/'`, `"dotted.name": has '.'`, `looks like a secret`, `80022 bytes`, `"io.modelcontextprotocol/x"`, "65 bytes long"} {
		if i >= len(got) || !strings.Contains(got[i], want) {
			t.Errorf("%d: want %s in %q", i, want, got)
		}
	}
	if len(got) != 6 {
		t.Errorf("%d warnings: %q", len(got), got)
	}
	b.Remove("a/b", "dotted.name", "header", "icon", "meta", strings.Repeat("x", 65))
	if len(b.Warnings()) != 0 {
		t.Errorf("still %q", b.Warnings())
	}
	if new(Toolbox).Warnings() != nil {
		t.Error("warnings about nothing")
	}
	free := Toolbox{AllowAnyName: true}
	free.Add(Tool{Name: "New Tool\ncafé"}, nothing)
	if w := free.Warnings(); len(w) != 1 || strings.Contains(w[0], "\n") {
		t.Errorf("got %q", w)
	}
	if free.TryAdd(Tool{Name: "a\xff"}, nothing) == nil || free.TryAdd(Tool{Name: ""}, nothing) == nil {
		t.Error("no name at all")
	}
}

func TestIcons(t *testing.T) {
	for _, c := range []struct {
		icon Icon
		ok   bool
	}{
		{Icon{Src: "https://example.com/i.png", Sizes: []string{"48x48", "any"}, Theme: "dark"}, true},
		{Icon{Src: "http://localhost:8080/i.png"}, true},
		{Icon{Src: "http://127.0.0.1/i.png"}, true},
		{Icon{Src: "data:image/png;base64,AAAA"}, true},
		{Icon{Src: "http://example.com/i.png"}, false},
		{Icon{Src: "data:text/html;base64,AAAA"}, false},
		{Icon{Src: "data:image/png,AAAA"}, false},
		{Icon{Src: "data:image/png;base64,%%"}, false},
		{Icon{Src: "javascript:alert(1)"}, false},
		{Icon{Src: "file:///etc/passwd"}, false},
		{Icon{Src: ""}, false},
		{Icon{Src: "https://example.com/i.png", Sizes: []string{"48"}}, false},
		{Icon{Src: "https://example.com/i.png", Sizes: []string{"48xx"}}, false},
		{Icon{Src: "https://example.com/i.png", Theme: "blue"}, false},
	} {
		if why := badIcon(c.icon); (why == "") != c.ok {
			t.Errorf("%+v: %q", c.icon, why)
		}
	}
	half := 0.5
	if _, err := checkShown("x", nil, &Annotations{Priority: &half, Audience: []Role{RoleUser}}, nil); err != nil {
		t.Error(err)
	}
	two := 2.0
	if _, err := checkShown("x", nil, &Annotations{Priority: &two}, nil); err == nil {
		t.Error("priority 2")
	}
	if _, err := checkShown("x", nil, &Annotations{Audience: []Role{"system"}}, nil); err == nil {
		t.Error("audience system")
	}
}

func TestToolTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Toolbox
		AddTool(&b, Tool{Name: "slow", Timeout: 3 * time.Second}, func(ctx context.Context, _ struct{}) (string, error) {
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), ErrToolTimeout) {
				t.Errorf("cause %v", context.Cause(ctx))
			}
			return "", ctx.Err()
		})
		AddTool(&b, Tool{Name: "late", Timeout: 3 * time.Second}, func(ctx context.Context, _ struct{}) (string, error) {
			time.Sleep(4 * time.Second)
			return "done all the same", nil
		})
		AddTool(&b, Tool{Name: "fails", Timeout: 3 * time.Second}, func(context.Context, struct{}) (string, error) { return "", errors.New("no") })
		begun := time.Now()
		if got, want := runTool(t, &b, "slow", ""), toolError("Tool slow did not finish within 3s"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if took := time.Since(begun); took != 3*time.Second {
			t.Errorf("took %v", took)
		}
		if got, want := runTool(t, &b, "late", ""), text("done all the same"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if got, want := runTool(t, &b, "fails", ""), toolError("no"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		ctx, stop := context.WithTimeout(context.Background(), time.Second)
		defer stop()
		if v, err := b.Call(ctx, "slow2", RawArguments(nil)); v != nil || err == nil {
			t.Errorf("%v %v", v, err)
		}
		cancelled, stop := context.WithCancel(context.Background())
		stop()
		var c Toolbox
		AddTool(&c, Tool{Name: "x", Timeout: time.Second}, func(ctx context.Context, _ struct{}) (string, error) { return "", ctx.Err() })
		if v, err := c.Call(cancelled, "x", RawArguments(nil)); v != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled by the client: %v %v", v, err)
		}
	})
}

func TestToolConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Toolbox
		var mu sync.Mutex
		running, most := 0, 0
		AddTool(&b, Tool{Name: "x", Concurrency: 2}, func(context.Context, struct{}) (string, error) {
			mu.Lock()
			running++
			most = max(most, running)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			running--
			mu.Unlock()
			return "", nil
		})
		begun := time.Now()
		ctx, stop := context.WithTimeout(context.Background(), 1500*time.Millisecond)
		defer stop()
		results := make(chan error, 6)
		for range 6 {
			go func() {
				_, err := b.Call(ctx, "x", RawArguments(nil))
				results <- err
			}()
		}
		var failed int
		for range 6 {
			if err := <-results; err != nil {
				failed++
			}
		}
		if most != 2 || failed != 2 {
			t.Errorf("%d at once, %d gave up waiting", most, failed)
		}
		if took := time.Since(begun); took != 2*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

// Limits and other fields of the program's own are not sent.
func TestToolOwnFields(t *testing.T) {
	var b Toolbox
	b.Add(Tool{Name: "x", Timeout: time.Second, Concurrency: 3}, nothing)
	s := &Server{Lister: b.List, Caller: b.Call}
	got := string(s.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)))
	if want := `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"x","inputSchema":{"type":"object","properties":{}}}]}}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A schema the program gave goes out as it is, whatever its form.
func TestSchemaVerbatim(t *testing.T) {
	raw := json.RawMessage(`{ "type": "object", "$schema":"https://json-schema.org/draft/2020-12/schema", "x-b": 1.0, "x-a":1e2,  "properties":{"z":{"const":"\u00e9<&>"},"a":{"$ref":"#/$defs/d"}},"$defs":{"d":{"$anchor":"d"}},"allOf":[{"anyOf":[{"required":["z"]}]}],"if":{},"then":{},"else":{} }`)
	var b Toolbox
	b.Add(Tool{Name: "raw", InputSchema: raw, OutputSchema: raw}, nothing)
	AddTool(&b, Tool{Name: "typed", InputSchema: raw, OutputSchema: raw}, func(context.Context, json.RawMessage) (any, error) { return nil, nil })
	for _, method := range []func(*Server, []byte) []byte{
		func(s *Server, p []byte) []byte { return s.Handle(context.Background(), p) },
		func(s *Server, p []byte) []byte {
			return s.HandleModern(context.Background(), []byte(strings.Replace(string(p), `"tools/list"`, `"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}`, 1)), nil)
		},
	} {
		got := string(method(&Server{Lister: b.List, Caller: b.Call}, []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)))
		if strings.Count(got, string(raw)) != 4 {
			t.Errorf("got %s", got)
		}
	}
}

// Output that is no object is what it is in revisions that allow it, and a member of an object in those before.
func TestOutputPerRevision(t *testing.T) {
	var b Toolbox
	AddTool(&b, Tool{Name: "list"}, func(context.Context, struct{}) ([]int, error) { return []int{1, 2}, nil })
	AddTool(&b, Tool{Name: "nil"}, func(context.Context, struct{}) (*int, error) { return nil, nil })
	AddTool(&b, Tool{Name: "any"}, func(context.Context, struct{}) (any, error) { return 5, nil })
	AddTool(&b, Tool{Name: "given", OutputSchema: json.RawMessage(`{"enum":["a"]}`)}, func(context.Context, struct{}) (string, error) { return "a", nil })
	AddTool(&b, Tool{Name: "refs", OutputSchema: json.RawMessage(`{"$ref":"#/$defs/x","$defs":{"x":{"type":"array"}}}`)}, func(context.Context, struct{}) ([]int, error) { return nil, nil })
	AddTool(&b, Tool{Name: "error", OutputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, struct{}) (*CallToolResult, error) {
		return &CallToolResult{IsError: true, Content: []Content{Text("no")}, StructuredContent: map[string]int{"a": 1}}, nil
	})
	AddTool(&b, Tool{Name: "made", OutputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, struct{}) (*CallToolResult, error) {
		return &CallToolResult{StructuredContent: map[string]int{"a": 1}}, nil
	})
	s := &Server{Lister: b.List, Caller: b.Call}
	const modern = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	old := func(revision, method, params string) string {
		return string(s.HandleSessionless(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+params+`}}`), nil, revision))
	}
	now := func(_, method, params string) string {
		if params != "" {
			params += ","
		}
		return string(s.HandleModern(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+params+modern+`}}`), nil))
	}
	for _, c := range []struct {
		revision, tool, want string
	}{
		{"2026-07-28", "list", `{"content":[{"type":"text","text":"[1,2]"}],"structuredContent":[1,2],"isError":false`},
		{"2025-11-25", "list", `{"content":[{"type":"text","text":"{\"result\":[1,2]}"}],"structuredContent":{"result":[1,2]},"isError":false`},
		{"2025-03-26", "list", `{"content":[{"type":"text","text":"{\"result\":[1,2]}"}],"isError":false`},
		{"2026-07-28", "nil", `"structuredContent":null`},
		{"2025-11-25", "nil", `"structuredContent":{"result":null}`},
		{"2026-07-28", "any", `{"content":[{"type":"text","text":"5"}],"structuredContent":5,"isError":false`},
		{"2025-11-25", "any", `{"content":[{"type":"text","text":"5"}],"isError":false`},
		{"2026-07-28", "given", `"structuredContent":"a"`},
		{"2025-06-18", "given", `"structuredContent":{"result":"a"}`},
		{"2026-07-28", "refs", `internal`},
		{"2025-11-25", "error", `{"content":[{"type":"text","text":"no"}],"isError":true}`},
		{"2026-07-28", "error", `{"content":[{"type":"text","text":"no"}],"isError":true,`},
		{"2025-11-25", "made", `{"content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1},"isError":false}`},
	} {
		call := old
		if c.revision == "2026-07-28" {
			call = now
		}
		got := call(c.revision, "tools/call", `"name":"`+c.tool+`"`)
		if c.want == "internal" {
			c.want = `"error":{"code":-32603,"message":"Internal error"` // null is no array
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s %s:\ngot  %s\nwant %s", c.revision, c.tool, got, c.want)
		}
	}
	for revision, want := range map[string][]string{
		"2026-07-28": {`"name":"list","inputSchema":{"type":"object","properties":{},"additionalProperties":false},"outputSchema":{"type":["null","array"],"items":{"type":"integer"}}`, `"outputSchema":{"enum":["a"]}`, `"outputSchema":{"$ref"`},
		"2025-11-25": {`"outputSchema":{"type":"object","properties":{"result":{"type":["null","array"],"items":{"type":"integer"}}},"required":["result"]}`, `"outputSchema":{"type":"object","properties":{"result":{"enum":["a"]}},"required":["result"]}`},
	} {
		call := old
		if revision == "2026-07-28" {
			call = now
		}
		got := call(revision, "tools/list", "")
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: no %s in\n%s", revision, w, got)
			}
		}
		if revision != "2026-07-28" && (strings.Contains(got, `"$ref"`) || strings.Contains(got, "null}")) {
			t.Errorf("%s: %s", revision, got)
		}
	}
	if list, _ := b.List(context.Background()); !slices.ContainsFunc(list, func(t Tool) bool { return t.Name == "refs" }) {
		t.Error("not listed")
	}
}
