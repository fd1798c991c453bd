package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

const (
	invalidParams  = `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params"}}`
	methodNotFound = `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`
	invalidRequest = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}`
)

// full has every feature; its closures tell what they got.
func full() *Server {
	return &Server{
		Name: "Full", Version: "1",
		Lister: func(context.Context) ([]Tool, error) { return nil, nil },
		Caller: func(_ context.Context, name string, a Arguments) (any, error) {
			return map[string]any{"name": name, "arguments": a.Raw()}, nil
		},
		Resources: func(context.Context) ([]Resource, error) { return nil, nil },
		Reader:    func(_ context.Context, uri string) (any, error) { return []string{uri}, nil },
		Prompts:   func(context.Context) ([]Prompt, error) { return nil, nil },
		Prompter: func(_ context.Context, name string, a Arguments) (any, error) {
			return map[string]any{"name": name, "arguments": a.Raw()}, nil
		},
		Completer: func(_ context.Context, r CompleteRequest) (*Completion, error) {
			return &Completion{Values: []string{r.Prompt + r.Template, r.Name, r.Value, r.Others["k"]}}, nil
		},
		Logging: true,
	}
}

func TestHandleParams(t *testing.T) {
	result := func(r string) string { return `{"jsonrpc":"2.0","id":1,"result":` + r + `}` }
	for _, c := range []struct{ name, method, params, want string }{
		{"call", "tools/call", `{"name":"x","arguments":{"a":1}}`, result(`{"arguments":{"a":1},"name":"x"}`)},
		{"call, escaped names", "tools/call", `{"n\u0061me":"x\u0079","arguments":{}}`, result(`{"arguments":{},"name":"xy"}`)},
		{"call, absent arguments", "tools/call", `{"name":"x"}`, result(`{"arguments":{},"name":"x"}`)},
		{"call, null arguments", "tools/call", `{"name":"x","arguments":null}`, result(`{"arguments":{},"name":"x"}`)},
		{"call, empty name", "tools/call", `{"name":""}`, result(`{"arguments":{},"name":""}`)},
		{"call, list arguments", "tools/call", `{"name":"x","arguments":[]}`, invalidParams},
		{"call, number arguments", "tools/call", `{"name":"x","arguments":5}`, invalidParams},
		{"call, string arguments", "tools/call", `{"name":"x","arguments":"{}"}`, invalidParams},
		{"call, false arguments", "tools/call", `{"name":"x","arguments":false}`, invalidParams},
		{"call, no name", "tools/call", `{"arguments":{}}`, invalidParams},
		{"call, null name", "tools/call", `{"name":null}`, invalidParams},
		{"call, number name", "tools/call", `{"name":5}`, invalidParams},
		{"call, upper-case name", "tools/call", `{"Name":"x"}`, invalidParams},
		{"call, NUL behind name", "tools/call", `{"name\u0000":"x"}`, invalidParams},
		{"call, name twice", "tools/call", `{"name":"x","name":"y"}`, invalidParams},
		{"call, name twice, once escaped", "tools/call", `{"name":"x","nam\u0065":"y"}`, invalidParams},
		{"call, absent params", "tools/call", ``, invalidParams},
		{"call, null params", "tools/call", `null`, invalidParams},
		{"call, list params", "tools/call", `["x"]`, invalidParams},
		{"call, empty list params", "tools/call", `[]`, invalidParams},
		{"ping", "ping", `{}`, result(`{}`)},
		{"ping, null params", "ping", `null`, result(`{}`)},
		{"ping, positional params", "ping", `["a","b"]`, invalidParams},
		{"list", "tools/list", `{}`, result(`{"tools":[]}`)},
		{"list, null params", "tools/list", `null`, result(`{"tools":[]}`)},
		{"list, null cursor", "tools/list", `{"cursor":null}`, result(`{"tools":[]}`)},
		{"list, made-up cursor", "tools/list", `{"cursor":"x"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: unknown cursor"}}`},
		{"resources", "resources/list", ``, result(`{"resources":[]}`)},
		{"templates, none", "resources/templates/list", ``, result(`{"resourceTemplates":[]}`)},
		{"prompts", "prompts/list", ``, result(`{"prompts":[]}`)},
		{"read", "resources/read", `{"uri":"a"}`, result(`{"contents":["a"]}`)},
		{"read, empty uri", "resources/read", `{"uri":""}`, invalidParams},
		{"read, no uri", "resources/read", `{}`, invalidParams},
		{"read, number uri", "resources/read", `{"uri":1}`, invalidParams},
		{"read, absent params", "resources/read", ``, invalidParams},
		{"prompt", "prompts/get", `{"name":"p","arguments":{"k":"v"}}`, result(`{"arguments":{"k":"v"},"name":"p"}`)},
		{"prompt, absent arguments", "prompts/get", `{"name":"p"}`, result(`{"arguments":{},"name":"p"}`)},
		{"prompt, list arguments", "prompts/get", `{"name":"p","arguments":["v"]}`, invalidParams},
		{"prompt, no name", "prompts/get", `{}`, invalidParams},
		{"complete", "completion/complete", `{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"n","value":"v"},"context":{"arguments":{"k":"o","x":1}}}`, result(`{"completion":{"values":["p","n","v","o"]}}`)},
		{"complete, template", "completion/complete", `{"ref":{"type":"ref/resource","uri":"u"},"argument":{"name":"n","value":""}}`, result(`{"completion":{"values":["u","n","",""]}}`)},
		{"complete, unknown ref", "completion/complete", `{"ref":{"type":"ref/tool","name":"p"},"argument":{"name":"n","value":""}}`, invalidParams},
		{"complete, no argument", "completion/complete", `{"ref":{"type":"ref/prompt","name":"p"}}`, invalidParams},
		{"complete, number value", "completion/complete", `{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"n","value":1}}`, invalidParams},
		{"no session, no level", "logging/setLevel", `{"level":"debug"}`, methodNotFound},
		{"notification method with an id", "notifications/initialized", ``, methodNotFound},
		{"cancellation with an id", "notifications/cancelled", `{"requestId":1}`, methodNotFound},
		{"subscribe", "resources/subscribe", `{"uri":"a"}`, methodNotFound},
		{"method of another case", "Tools/List", ``, methodNotFound},
		{"a later revision's first question", "server/discover", `{}`, methodNotFound},
	} {
		t.Run(c.name, func(t *testing.T) {
			payload := `{"jsonrpc":"2.0","id":1,"method":"` + c.method + `"}`
			if c.params != "" {
				payload = payload[:len(payload)-1] + `,"params":` + c.params + `}`
			}
			if got := string(full().Handle(context.Background(), []byte(payload))); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestHandleEnvelope(t *testing.T) {
	ran := false
	s := &Server{Caller: func(context.Context, string, Arguments) (any, error) { ran = true; return nil, nil }}
	for _, c := range []struct{ name, payload, want string }{
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"x"}}`, invalidRequest},
		{"request method without id", `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"x"}}`, ""},
		{"initialize without id", `{"jsonrpc":"2.0","method":"initialize"}`, ""},
		{"cancelled", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, ""},
		{"unknown notification", `{"jsonrpc":"2.0","method":"notifications/what"}`, ""},
		{"batch of notifications", `[{"jsonrpc":"2.0","method":"notifications/initialized"}]`, ""},
		{"batch with initialize last", `[{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}},{"jsonrpc":"2.0","id":1,"method":"initialize"}]`, invalidRequest},
		{"batch with an id-less initialize", `[{"jsonrpc":"2.0","method":"initialize"},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}]`, invalidRequest},
		{"batch with an invalid initialize", `[{"id":1,"method":"initialize"},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}]`, invalidRequest},
		{"batch with an escaped initialize", `[{"jsonrpc":"2.0","id":1,"method":"initiali\u007ae"},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}]`, invalidRequest},
		{"empty batch", `[]`, invalidRequest},
	} {
		t.Run(c.name, func(t *testing.T) {
			ran = false
			if got := string(s.Handle(context.Background(), []byte(c.payload))); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if ran {
				t.Error("the tool ran")
			}
		})
	}
}

func TestHandleBatchLimit(t *testing.T) {
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	batch := func(n int) []byte { return []byte("[" + strings.Repeat(ping+",", n-1) + ping + "]") }
	for _, c := range []struct {
		name     string
		limit, n int
		taken    bool
		max      int
	}{
		{"default, at the limit", 0, 100, true, 100},
		{"default, above", 0, 101, false, 100},
		{"two, at the limit", 2, 2, true, 2},
		{"two, above", 2, 3, false, 2},
		{"none", NoBatch, 1, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &Server{Batch: c.limit}
			if got := s.Dispatcher().MaxBatch(); got != c.max {
				t.Errorf("MaxBatch %d, want %d", got, c.max)
			}
			got := s.Handle(context.Background(), batch(c.n))
			if taken := got[0] == '['; taken != c.taken {
				t.Errorf("taken %t: %.100s", taken, got)
			} else if !taken && string(got) != invalidRequest {
				t.Errorf("got %s", got)
			}
			if got := string(s.Handle(context.Background(), []byte(ping))); got != `{"jsonrpc":"2.0","id":1,"result":{}}` {
				t.Errorf("a single message afterwards: %s", got)
			}
		})
	}
	t.Run("below NoBatch", func(t *testing.T) {
		var reported error
		s := &Server{Batch: -2, Reporter: func(_ context.Context, r *jsonrpc2.Request, err error) { reported = err; panic("dropped") }}
		got := string(s.Handle(context.Background(), []byte(ping)))
		if _, code := errorCode(t, got); code != -32603 || !strings.Contains(got, "Server.Batch is -2") {
			t.Errorf("Handle: %s", got)
		}
		if reported == nil {
			t.Error("not reported")
		}
		if _, err := s.Mount(new(jsonrpc2.Options)); err == nil || !strings.Contains(err.Error(), "Server.Batch is -2") {
			t.Errorf("Mount: %v", err)
		}
		if s.Dispatcher() != nil {
			t.Error("there is a Dispatcher")
		}
	})
}

func TestHandleInitialize(t *testing.T) {
	s := &Server{Name: "N", Version: "2"}
	for _, c := range []struct{ params, revision string }{
		{``, "2025-11-25"}, {`null`, "2025-11-25"}, {`{}`, "2025-11-25"}, {`[]`, "2025-11-25"},
		{`{"protocolVersion":"2024-11-05"}`, "2024-11-05"}, {`{"protocolVersion":"2024-1\u0031-05"}`, "2024-11-05"},
		{`{"protocolVersion":"2025-03-26 "}`, "2025-11-25"}, {`{"protocolVersion":""}`, "2025-11-25"},
		{`{"protocolVersion":"2026-07-28"}`, "2025-11-25"}, {`{"protocolVersion":null}`, "2025-11-25"},
		{`{"protocolVersion":["2025-06-18"]}`, "2025-11-25"}, {`{"protocolVersion":5}`, "2025-11-25"},
		{`{"ProtocolVersion":"2024-11-05"}`, "2025-11-25"},
	} {
		t.Run(c.params, func(t *testing.T) {
			payload := `{"jsonrpc":"2.0","id":1,"method":"initialize"}`
			if c.params != "" {
				payload = payload[:len(payload)-1] + `,"params":` + c.params + `}`
			}
			want := `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"` + c.revision + `","capabilities":{"tools":{"listChanged":false}},"serverInfo":{"name":"N","version":"2"}}}`
			if got := string(s.Handle(context.Background(), []byte(payload))); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestHandleInitializerFails(t *testing.T) {
	for name, fail := range map[string]error{
		"an error":          errors.New("secret"),
		"an error of ours":  jsonrpc2.Errorf(-1, "secret"),
		"a wrapped context": context.Canceled,
	} {
		t.Run(name, func(t *testing.T) {
			var reported []error
			s := &Server{
				Initializer: func(context.Context, string, Arguments) error { return fail },
				Reporter:    func(_ context.Context, _ *jsonrpc2.Request, err error) { reported = append(reported, err) },
			}
			got := string(s.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"initialize"}`)))
			if got != `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error"}}` {
				t.Errorf("got %s", got)
			}
			if len(reported) != 1 || !strings.Contains(reported[0].Error(), fail.Error()) {
				t.Errorf("reported %v", reported)
			}
		})
	}
}

func TestCapabilities(t *testing.T) {
	list := func(context.Context) ([]Resource, error) { return nil, nil }
	read := func(context.Context, string) (any, error) { return nil, nil }
	prompts := func(context.Context) ([]Prompt, error) { return nil, nil }
	prompter := func(context.Context, string, Arguments) (any, error) { return nil, nil }
	completer := func(context.Context, CompleteRequest) (*Completion, error) { return nil, nil }
	for _, c := range []struct {
		name     string
		s        *Server
		revision string
		want     string
	}{
		{"nothing", &Server{}, "2025-11-25", `{"tools":{"listChanged":false}}`},
		{"half of each pair", &Server{Resources: list, Prompts: prompts}, "2025-11-25", `{"tools":{"listChanged":false}}`},
		{"the other half", &Server{Reader: read, Prompter: prompter}, "2025-11-25", `{"tools":{"listChanged":false}}`},
		{"all", &Server{Resources: list, Reader: read, Prompts: prompts, Prompter: prompter, Completer: completer}, "2025-11-25",
			`{"tools":{"listChanged":false},"resources":{"listChanged":false,"subscribe":false},"prompts":{"listChanged":false},"completions":{}}`},
		{"completions are unknown to the first revision", &Server{Completer: completer}, "2024-11-05", `{"tools":{"listChanged":false}}`},
		{"logging and changes need a session", &Server{Logging: true, ListChanged: true}, "2025-11-25", `{"tools":{"listChanged":false}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := string(c.s.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+c.revision+`"}}`)))
			var m struct {
				Result struct{ Capabilities json.RawMessage }
			}
			if err := json.Unmarshal([]byte(got), &m); err != nil {
				t.Fatal(err)
			}
			if string(m.Result.Capabilities) != c.want {
				t.Errorf("got  %s\nwant %s", m.Result.Capabilities, c.want)
			}
		})
	}
}

func TestWholeResults(t *testing.T) {
	type object struct {
		A int `json:"a,omitempty"`
	}
	var nilResult *CallToolResult
	var nilObject *object
	for _, c := range []struct {
		name string
		v    any
		want string
	}{
		{"nil", nil, `{}`},
		{"nil slice", []string(nil), `{}`},
		{"empty slice", []string{}, `{}`},
		{"empty array", [0]int{}, `{}`},
		{"nil map", map[string]any(nil), `{}`},
		{"empty map", map[string]any{}, `{}`},
		{"empty struct", object{}, `{}`},
		{"nil pointer", nilObject, `{}`},
		{"nil tool result", nilResult, `{}`},
		{"nil raw", json.RawMessage(nil), `{}`},
		{"raw null", json.RawMessage(` null `), `{}`},
		{"raw empty list", json.RawMessage("[ \n ]"), `{}`},
		{"raw list", json.RawMessage(`[[]]`), `[[]]`},
		{"pointer to an empty slice", &[]int{}, `{}`},
		{"zero", 0, `0`},
		{"false", false, `false`},
		{"empty string", "", `""`},
		{"list of nothing", []any{nil}, `[null]`},
		{"nested empty list", map[string]any{"content": []any{}, "isError": false}, `{"content":[],"isError":false}`},
		{"nested nil list", struct {
			L []int `json:"l"`
		}{}, `{"l":null}`},
		{"tool result without content", &CallToolResult{}, `{"content":[],"isError":false}`},
		{"text", TextResult("a\"<b>&\u2028\n\x01"), "{\"content\":[{\"type\":\"text\",\"text\":\"a\\\"<b>&\u2028\\n\\u0001\"}],\"isError\":false}"},
		{"text that is not UTF-8", TextResult("a\xffb"), "{\"content\":[{\"type\":\"text\",\"text\":\"a\ufffdb\"}],\"isError\":false}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &Server{Caller: func(context.Context, string, Arguments) (any, error) { return c.v, nil }}
			got := string(s.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`)))
			if want := `{"jsonrpc":"2.0","id":1,"result":` + c.want + `}`; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
	t.Run("cannot be encoded", func(t *testing.T) {
		reported := 0
		s := &Server{
			Caller:   func(context.Context, string, Arguments) (any, error) { return func() {}, nil },
			Reporter: func(context.Context, *jsonrpc2.Request, error) { reported++ },
		}
		got := string(s.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`)))
		if got != `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error"}}` || reported != 1 {
			t.Errorf("got %s, reported %d", got, reported)
		}
	})
}

func TestClosureFailures(t *testing.T) {
	fail := errors.New("the secret")
	s := full()
	s.Lister = func(context.Context) ([]Tool, error) { return nil, fail }
	s.Caller = func(context.Context, string, Arguments) (any, error) { panic(fail) }
	s.Reader = func(context.Context, string) (any, error) { return nil, fail }
	s.Prompter = func(context.Context, string, Arguments) (any, error) { return nil, fail }
	s.Completer = func(context.Context, CompleteRequest) (*Completion, error) { return nil, fail }
	var reported []string
	s.Reporter = func(_ context.Context, r *jsonrpc2.Request, err error) {
		if errors.Is(err, fail) {
			reported = append(reported, r.Method)
		}
		panic("and is dropped")
	}
	for _, m := range []string{
		`tools/list"`, `tools/call","params":{"name":"x"}`, `resources/read","params":{"uri":"x"}`, `prompts/get","params":{"name":"x"}`,
		`completion/complete","params":{"ref":{"type":"ref/prompt","name":""},"argument":{"name":"","value":""}}`,
	} {
		got := string(s.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"`+m+`}`)))
		if got != `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error"}}` {
			t.Errorf("%s: %s", m, got)
		}
	}
	if want := "tools/list tools/call resources/read prompts/get completion/complete"; strings.Join(reported, " ") != want {
		t.Errorf("reported %q, want %q", reported, want)
	}
}

// Two calls at once never see each other's context.
func TestCallerIsolation(t *testing.T) {
	type id int
	s := &Server{Caller: func(ctx context.Context, name string, _ Arguments) (any, error) {
		v, _ := CallerFrom[id](ctx)
		return int(v), nil
	}}
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			ctx := WithCaller(WithCaller(context.Background(), "other type"), id(i))
			for range 20 {
				var m struct{ Result int }
				if err := json.Unmarshal(s.Handle(ctx, []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`)), &m); err != nil || m.Result != i {
					t.Errorf("got %d, want %d (%v)", m.Result, i, err)
				}
			}
		})
	}
	wg.Wait()
	if _, ok := CallerFrom[float64](context.Background()); ok {
		t.Error("found what nobody put in")
	}
}

// Arguments that outlive the call are the caller's own.
func TestArguments(t *testing.T) {
	a := RawArguments(json.RawMessage(` {"s":"x\ty","n":1,"s2":null,"dup":1,"dup":2,"e\u0073c":"z"} `))
	if s, ok := a.Text("s"); !ok || s != "x\ty" {
		t.Errorf("s: %q %t", s, ok)
	}
	if _, ok := a.Text("n"); ok {
		t.Error("a number is text")
	}
	if v, ok := a.Lookup("dup"); !ok || string(v) != "2" {
		t.Errorf("dup: %s", v)
	}
	if s, ok := a.Text("esc"); !ok || s != "z" {
		t.Errorf("esc: %q", s)
	}
	if _, ok := a.Lookup("none"); ok {
		t.Error("found nothing")
	}
	var v struct{ N, S2 int }
	if err := a.Decode(&v); err != nil || v.N != 0 {
		t.Errorf("names are matched exactly: %+v, %v", v, err)
	}
	if err := a.Decode(&struct {
		S int `json:"s"`
	}{}); !errors.Is(err, jsonrpc2.ErrInvalidParams) {
		t.Errorf("got %v", err)
	}
	if got := string(RawArguments(nil).Raw()); got != "{}" {
		t.Errorf("none: %s", got)
	}
}
