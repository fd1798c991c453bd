package field

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-rpc/tandem/mcp"
)

// Progress has the token of the request, as it was written; without a usable one there is none.
func TestProgressTokens(t *testing.T) {
	for _, c := range []struct{ name, meta, token string }{
		{"186: none", ``, ""},
		{"186: no meta members", `{}`, ""},
		{"186: zero", `{"progressToken":0}`, `0`},
		{"186: string", `{"progressToken":"7"}`, `"7"`},
		{"186: empty string", `{"progressToken":""}`, `""`},
		{"186: beyond a double", `{"progressToken":9007199254740993}`, `9007199254740993`},
		{"186: escapes", `{"progressToken":"a\u0062\n"}`, `"a\u0062\n"`},
		{"186: fraction", `{"progressToken":1.5}`, ""},
		{"186: null", `{"progressToken":null}`, ""},
		{"186: object", `{"progressToken":{}}`, ""},
		{"186: list", `{"progressToken":[1]}`, ""},
		{"186: bool", `{"progressToken":true}`, ""},
		{"186: another case", `{"ProgressToken":1}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := startMCP(t, tools())
				params := `{"name":"progress","arguments":{}}`
				if c.meta != "" {
					params = `{"name":"progress","arguments":{},"_meta":` + c.meta + `}`
				}
				k.send(request("5", "tools/call", params))
				got := k.heard()
				sent := got[:len(got)-1]
				expect(t, "the answer comes last", got[len(got)-1:], "5:ok")
				want := 3
				if c.token == "" {
					want = 0
				}
				if len(sent) != want {
					t.Fatalf("%d notifications: %q", len(sent), sent)
				}
				for _, m := range sent {
					if !strings.Contains(m, `"progressToken":`+c.token+`,`) && !strings.Contains(m, `"progressToken":`+c.token+`}`) {
						t.Errorf("got %s", m)
					}
				}
				_, _ = k.end()
			})
		})
	}
}

// What goes on after its request was answered, or cancelled, tells nothing more.
func TestProgressIsDisarmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := tools()
		s.Caller = func(ctx context.Context, name string, _ mcp.Arguments) (any, error) {
			_ = mcp.Progress(ctx, 1, 10, "")
			go func() {
				for i := range 8 {
					time.Sleep(time.Second)
					_ = mcp.Progress(ctx, float64(2+i), 10, "late")
				}
			}()
			if name == "slow" {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return mcp.TextResult("done"), nil
		}
		k := startMCP(t, s)
		for _, tool := range []string{"quick", "slow"} {
			k.send(request("5", "tools/call", `{"name":"`+tool+`","_meta":{"progressToken":1}}`))
			k.heard()
			if tool == "slow" {
				k.send(note("notifications/cancelled", `{"requestId":5}`))
				k.heard()
			}
			time.Sleep(10 * time.Second)
			if got := k.heard(); len(got) > 0 {
				t.Errorf("188: %s: %q", tool, got)
			}
		}
		_, _ = k.end()
	})
}

// Arguments that were left out, or null, are an object without members; anything else that is no object is refused.
func TestArguments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := startMCP(t, tools())
		for _, c := range []struct{ arguments, want string }{
			{"", "2:ok"}, {"null", "2:ok"}, {"{}", "2:ok"}, {"[]", "2:-32602"}, {"5", "2:-32602"}, {`"{}"`, "2:-32602"}, {"false", "2:-32602"},
		} {
			k.send(call("2", "noargs", c.arguments))
			got := k.heard()
			expect(t, "179: "+c.arguments, got, c.want)
			if c.want == "2:ok" && !strings.Contains(got[0], `"text":"ran"`) {
				t.Errorf("179: %s: %s", c.arguments, got)
			}
		}
		for _, params := range []string{"null", "{}", ""} {
			k.send(request("2", "tools/list", params))
			expect(t, "182: params "+params, k.heard(), "2:ok")
		}
		_, _ = k.end()
	})
}

// A call that cannot be routed is an error of the protocol; a tool that ran and failed is a result that the model can read.
func TestToolErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := startMCP(t, tools())
		for _, c := range []struct{ params, want string }{
			{`{"name":"nope","arguments":{}}`, "3:-32602"},
			{`{"arguments":{}}`, "3:-32602"},
			{`{"name":5}`, "3:-32602"},
			{`{"name":null}`, "3:-32602"},
			{`{"name":""}`, "3:-32602"},
			{`{"name":"Echo"}`, "3:-32602"},
			{`["echo"]`, "3:-32602"},
			{``, "3:-32602"},
		} {
			k.send(request("3", "tools/call", c.params))
			expect(t, "204: "+c.params, k.heard(), c.want)
		}
		for _, m := range []string{call("3", "fail", ""), call("3", "echo", `{"t":5}`), call("3", "echo", `{"u":"x"}`)} {
			k.send(m)
			if got := k.heard(); len(got) != 1 || !strings.Contains(got[0], `"isError":true`) || !strings.Contains(got[0], `"text":"`) {
				t.Errorf("204: %s: %q", m, got)
			}
		}
		_, _ = k.end()
	})
}

// Lists are never null and schemas always objects, whatever the program left out; names that no client takes are refused where they are given.
func TestToolLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var box mcp.Toolbox
		s := &mcp.Server{Lister: box.List, Caller: box.Call}
		k := startMCP(t, s)
		list := func() string {
			k.send(request("1", "tools/list", ""))
			got := k.heard()
			if len(got) != 1 {
				t.Fatalf("got %q", got)
			}
			return got[0]
		}
		if got := list(); got != `{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}` {
			t.Errorf("173: no tools: %s", got)
		}
		box.Add(mcp.Tool{Name: "bare", Description: "d"}, func(context.Context, mcp.Arguments) (any, error) { return nil, nil })
		mcp.AddTool(&box, mcp.Tool{Name: "typed"}, func(context.Context, struct{}) (string, error) { return "", nil })
		got := list()
		if strings.Contains(got, "null") || strings.Count(got, `"inputSchema":{`) != 2 || strings.Count(got, `"type":"object"`) != 2 {
			t.Errorf("171, 172: %s", got)
		}
		box.Remove("bare")
		if got := list(); strings.Contains(got, "bare") || strings.Contains(got, "null") {
			t.Errorf("173: %s", got)
		}
		if strings.Contains(got, "nextCursor") {
			t.Errorf("175: the last page has a cursor: %s", got)
		}
		for _, name := range []string{"", "New Tool", "café", strings.Repeat("x", 129), "typed", "a\x00b"} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("205: %q was taken", name)
					}
				}()
				box.Add(mcp.Tool{Name: name}, func(context.Context, mcp.Arguments) (any, error) { return nil, nil })
			}()
		}
		for _, name := range []string{"a.b", "a/b", "A-b_c", strings.Repeat("x", 128), "0"} {
			box.Add(mcp.Tool{Name: name}, func(context.Context, mcp.Arguments) (any, error) { return nil, nil })
		}
		_, _ = k.end()
	})
}

// A tool that promises structured content and does not deliver is a failure of the server, and one that failed is exempt.
func TestStructuredContent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var box mcp.Toolbox
		promise := mcp.Tool{OutputSchema: map[string]any{"type": "object", "properties": map[string]any{"n": map[string]any{"type": "integer"}}, "required": []string{"n"}}}
		answer := func(name string, v any) {
			tool := promise
			tool.Name = name
			mcp.AddTool(&box, tool, func(context.Context, struct{}) (any, error) { return v, nil })
		}
		answer("kept", map[string]int{"n": 1})
		answer("broken", map[string]string{"m": "x"})
		answer("failed", mcp.ErrorResult("out of paper"))
		k := startMCP(t, &mcp.Server{Lister: box.List, Caller: box.Call})
		for _, c := range []struct{ tool, want, has string }{
			{"kept", "1:ok", `"structuredContent":{"n":1}`}, {"broken", "1:-32603", ""}, {"failed", "1:ok", `"isError":true`},
		} {
			k.send(call("1", c.tool, ""))
			got := k.heard()
			expect(t, "178: "+c.tool, got, c.want)
			if !strings.Contains(strings.Join(got, ""), c.has) {
				t.Errorf("178: %s: %q", c.tool, got)
			}
		}
		_, _ = k.end()
	})
}
