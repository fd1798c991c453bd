package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

func TestCommands(t *testing.T) {
	var got []json.RawMessage
	p := connect(t, &Server{Commands: map[string]func(context.Context, []json.RawMessage) (any, error){
		"echo": func(_ context.Context, args []json.RawMessage) (any, error) {
			got = args
			return map[string]any{"n": len(args), "list": []string(nil)}, nil
		},
		"nothing": func(context.Context, []json.RawMessage) (any, error) { return nil, nil },
		"fail":    func(context.Context, []json.RawMessage) (any, error) { return nil, RequestFailed("no") },
	}})
	p.init(plainInit)
	var res json.RawMessage
	p.call("workspace/executeCommand", `{"command":"echo","arguments":[1,"two",{"three":null}]}`, &res)
	if fmt.Sprintf("%s", got) != `[1 "two" {"three":null}]` {
		t.Errorf("arguments are %s", got)
	}
	var back struct {
		N    int
		List []string
	}
	if err := json.Unmarshal(res, &back); err != nil || back.N != 3 || back.List == nil {
		t.Errorf("result is %s", res)
	}
	p.call("workspace/executeCommand", `{"command":"nothing"}`, &res)
	if string(res) != "null" || len(got) != 3 {
		t.Errorf("result is %s", res)
	}
	wantCode(t, p.try("workspace/executeCommand", `{"command":"fail"}`, nil), CodeRequestFailed)
	wantCode(t, p.try("workspace/executeCommand", `{"command":"unknown"}`, nil), jsonrpc2.CodeInvalidParams)
	wantCode(t, p.try("workspace/executeCommand", `{"command":7}`, nil), jsonrpc2.CodeInvalidParams)
}

func TestExtend(t *testing.T) {
	p := connect(t, &Server{Hover: showText, Extend: func(m *jsonrpc2.Mux) {
		m.HandleRequest("my/count", jsonrpc2.HandlerFunc(func(ctx context.Context, _ *jsonrpc2.Request) (any, error) {
			return SnapshotFrom(ctx).Len(), nil
		}))
	}})
	wantCode(t, p.try("my/count", nil, nil), CodeServerNotInitialized) // under the lifecycle like all others
	p.init(plainInit)
	p.open("file:///a", 1, "")
	var n int
	p.call("my/count", nil, &n)
	if n != 1 {
		t.Errorf("count is %d", n)
	}
	defer func() {
		if recover() == nil {
			t.Error("a second hover does not panic")
		}
	}()
	_, _ = (&Server{Hover: showText, Extend: func(m *jsonrpc2.Mux) {
		m.HandleRequest("textDocument/hover", jsonrpc2.HandlerFunc(nil))
	}}).Mount(new(jsonrpc2.Options))
}

// Mount keeps what was set in the options.
func TestMountChains(t *testing.T) {
	type key struct{}
	var calls []string
	var rep reports
	o := &jsonrpc2.Options{
		Admit: func(_ context.Context, r *jsonrpc2.Request) error {
			calls = append(calls, "admit "+r.Method)
			if r.Method == "forbidden" {
				return jsonrpc2.Errorf(1, "forbidden")
			}
			return nil
		},
		Capture: func(ctx context.Context, r *jsonrpc2.Request) context.Context {
			return context.WithValue(ctx, key{}, "kept")
		},
		OnClose: func(*jsonrpc2.Conn, error) { calls = append(calls, "close") },
		Report:  func(context.Context, *jsonrpc2.Request, error) { calls = append(calls, "report") },
	}
	srv := &Server{Reporter: rep.add, Hover: func(ctx context.Context, _ *protocol.HoverParams) (*protocol.Hover, error) {
		if ctx.Value(key{}) != "kept" || SnapshotFrom(ctx).Len() != 0 || ClientFrom(ctx).Params() == nil {
			t.Error("something is missing in the context")
		}
		return nil, fmt.Errorf("oops")
	}}
	m, err := srv.Mount(o)
	if err != nil {
		t.Fatal(err)
	}
	if o.Cancel == nil || o.MaxBatch != jsonrpc2.NoBatch || o.Codec == nil {
		t.Errorf("options are %+v", o)
	}
	d := jsonrpc2.NewDispatcher(m, o)
	for _, msg := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"early"}`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + plainInit + `}`,
		`{"jsonrpc":"2.0","id":2,"method":"forbidden"}`,
		`{"jsonrpc":"2.0","id":3,"method":"textDocument/hover","params":` + hoverParams + `}`,
	} {
		d.Handle(context.Background(), []byte(msg))
	}
	o.OnClose(nil, nil)
	want := "admit initialize|admit forbidden|admit textDocument/hover|report|close"
	if got := strings.Join(calls, "|"); got != want || len(rep.list()) != 1 {
		t.Errorf("calls are %s and %v, want %s", got, rep.list(), want)
	}
	if srv.Protocol() != "lsp" || srv.Framing() != jsonrpc2.Header || srv.Conventions()[0].Method != "$/cancelRequest" {
		t.Error("the front end describes itself wrongly")
	}
}

// A cancelled request is answered -32800, running or not, with ids of every kind; a panic is answered and the session goes on.
func TestCancelAndPanic(t *testing.T) {
	started := make(chan struct{}, 10)
	srv := slowServer(started)
	srv.Definition = func(context.Context, *protocol.DefinitionParams) (protocol.DefinitionResult, error) { panic("boom") }
	var rep reports
	srv.Reporter = rep.add
	a, b := jsonrpc2.Pipe()
	o := new(jsonrpc2.Options)
	m, err := srv.Mount(o)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = jsonrpc2.NewConn(a, m, o).Serve(context.Background()) }()
	defer func() { _ = b.Close(); <-done }()
	say := func(s string) {
		t.Helper()
		if err := b.Write([]byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	hear := func(want string) {
		t.Helper()
		got, err := b.Read()
		if err != nil || !strings.Contains(string(got), want) {
			t.Fatalf("got %s, %v; want %s", got, err, want)
		}
	}
	say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + plainInit + `}`)
	hear(`"id":1,"result"`)
	for _, id := range []string{`0`, `"abc"`, `""`, `9007199254740993`, `-1`} {
		say(`{"jsonrpc":"2.0","id":` + id + `,"method":"textDocument/hover","params":` + hoverParams + `}`)
		<-started
		say(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":999}}`)
		say(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{}}`)
		say(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":null}}`)
		say(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":` + id + `}}`)
		say(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":` + id + `}}`)
		hear(`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32800,"message":"Request cancelled"}}`)
	}
	say(`{"jsonrpc":"2.0","id":2,"method":"textDocument/definition","params":` + hoverParams + `}`)
	hear(`{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"Internal error"}}`)
	say(`{"jsonrpc":"2.0","id":3,"method":"shutdown","params":null}`)
	hear(`{"jsonrpc":"2.0","id":3,"result":null}`)
	if errs := rep.list(); len(errs) != 1 || !strings.Contains(errs[0].Error(), "boom") {
		t.Errorf("reported %v", errs)
	}
}
