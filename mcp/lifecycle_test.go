package mcp

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

const (
	notInitialized = `"error":{"code":-32600,"message":"Invalid Request: the session is not initialized: send initialize first, or name the revision in _meta of each request"}}`
	hello          = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`
	helloAnswer    = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":false}},"serverInfo":{"name":"Test","version":"1.0.0"}}}`
)

// Every method, before initialize: ping is answered, everything known is refused, everything unknown is not found, nothing runs.
func TestBeforeInitialize(t *testing.T) {
	s := full()
	s.Caller = func(context.Context, string, Arguments) (any, error) { panic("ran") }
	s.Reader = func(context.Context, string) (any, error) { panic("ran") }
	w := host(t, s)
	for _, method := range []string{
		"tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read", "prompts/list", "prompts/get",
		"completion/complete", "logging/setLevel",
	} {
		for _, params := range []string{"", `,"params":null`, `,"params":[]`, `,"params":{}`, `,"params":{"name":"x","uri":"x","level":"debug"}`} {
			w.send(`{"jsonrpc":"2.0","id":1,"method":"` + method + `"` + params + `}`)
			w.want(`{"jsonrpc":"2.0","id":1,` + notInitialized)
		}
		w.send(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":5}`)
		if _, code := errorCode(t, w.recv()); code != -32600 {
			t.Errorf("%s with scalar params: code %d", method, code)
		}
	}
	w.send(`{"jsonrpc":"2.0","id":1,"method":"later/method","params":{}}`)
	w.want(methodNotFound)
	w.send(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}`)
	w.want(`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: _meta must have io.modelcontextprotocol/protocolVersion"}}`)
	w.send(`{"jsonrpc":"2.0","id":1,"method":"notifications/initialized"}`)
	w.want(methodNotFound)
	w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"x"}}`)
	w.sync()
	w.send(`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`)
	w.want(invalidRequest)
	w.send(`{"jsonrpc":"2.0","id":null,"method":"ping"}`)
	w.want(invalidRequest)
	w.send(hello)
	if got := w.recv(); !strings.Contains(got, `"2025-06-18"`) {
		t.Errorf("initialize afterwards: %s", got)
	}
}

func TestInitializeHosted(t *testing.T) {
	for _, c := range []struct{ params, revision string }{
		{``, "2025-11-25"}, {`null`, "2025-11-25"}, {`{}`, "2025-11-25"}, {`{"protocolVersion":null}`, "2025-11-25"},
		{`{"protocolVersion":""}`, "2025-11-25"}, {`{"protocolVersion":"2099-01-01"}`, "2025-11-25"},
		{`{"protocolVersion":"2025-11-25"}`, "2025-11-25"}, {`{"protocolVersion":"2025-06-18"}`, "2025-06-18"},
		{`{"protocolVersion":"2025-03-26"}`, "2025-03-26"}, {`{"protocolVersion":"2024-11-05"}`, "2024-11-05"},
		{`{"protocolVersion":5}`, ""}, {`{"protocolVersion":["2025-06-18"]}`, ""}, {`{"protocolVersion":{}}`, ""}, {`{"protocolVersion":false}`, ""},
		{`{"protocolVersion":"2025-06-18","protocolVersion":"2025-03-26"}`, ""}, {`[]`, ""}, {`["2025-06-18"]`, ""},
		{`{"protocolVersion":"2025-06-18","capabilities":{"experimental":[],"sampling":{},"roots":null},"clientInfo":7}`, "2025-06-18"},
		{`{"protocolVersion":"2025-06-18","capabilities":"none","clientInfo":{"name":[],"version":"1"}}`, "2025-06-18"},
	} {
		t.Run(c.params, func(t *testing.T) {
			w := host(t, echoServer())
			payload := `{"jsonrpc":"2.0","id":1,"method":"initialize"}`
			if c.params != "" {
				payload = payload[:len(payload)-1] + `,"params":` + c.params + `}`
			}
			w.send(payload)
			got := w.recv()
			if c.revision == "" {
				if _, code := errorCode(t, got); code != -32602 {
					t.Errorf("got %s", got)
				}
				w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
				w.want(`{"jsonrpc":"2.0","id":2,` + notInitialized)
				w.send(hello) // a refused initialize can be made good
				w.want(helloAnswer)
				return
			}
			if !strings.Contains(got, `"protocolVersion":"`+c.revision+`"`) {
				t.Errorf("got %s", got)
			}
			w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
			w.want(`{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}`)
			w.send(hello)
			w.want(`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Invalid Request: the session is already initialized"}}`)
			w.sync()
		})
	}
}

// What is pipelined behind initialize is served after it, in a session that knows its terms; behind one that fails it is refused.
func TestPipelined(t *testing.T) {
	release := make(chan error)
	s := echoServer()
	s.Initializer = func(ctx context.Context, revision string, _ Arguments) error {
		if got := SessionFrom(ctx).Revision(); got != revision {
			t.Errorf("the session has revision %q, want %q", got, revision)
		}
		return <-release
	}
	s.Caller = func(ctx context.Context, _ string, _ Arguments) (any, error) {
		return SessionFrom(ctx).Revision() + " " + SessionFrom(ctx).Client().Name, nil
	}
	const call = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}`
	t.Run("success", func(t *testing.T) {
		w := host(t, s)
		w.send(hello, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, call)
		release <- nil
		w.want(helloAnswer)
		w.want(`{"jsonrpc":"2.0","id":2,"result":"2025-06-18 t"}`)
	})
	t.Run("failure", func(t *testing.T) {
		var reported atomic.Int32
		w := host(t, s, func(o *jsonrpc2.Options) {
			o.Report = func(context.Context, *jsonrpc2.Request, error) { reported.Add(1) }
		})
		w.send(hello, call)
		release <- errors.New("no")
		w.want(`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error"}}`)
		w.want(`{"jsonrpc":"2.0","id":2,` + notInitialized)
		w.send(call)
		w.want(`{"jsonrpc":"2.0","id":2,` + notInitialized)
		if reported.Load() == 0 {
			t.Error("not reported")
		}
		w.send(hello, call) // and once more
		release <- nil
		w.want(helloAnswer)
		w.want(`{"jsonrpc":"2.0","id":2,"result":"2025-06-18 t"}`)
	})
	t.Run("a good one behind a bad one", func(t *testing.T) {
		w := host(t, s)
		w.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":5}}`, hello, call)
		release <- nil
		if _, code := errorCode(t, w.recv()); code != -32602 {
			t.Errorf("code %d", code)
		}
		w.want(helloAnswer)
		w.want(`{"jsonrpc":"2.0","id":2,"result":"2025-06-18 t"}`)
	})
	t.Run("a second behind a first", func(t *testing.T) {
		w := host(t, s)
		w.send(hello, hello)
		release <- nil
		w.want(helloAnswer)
		w.want(`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Invalid Request: the session is already initialized"}}`)
	})
}

func TestSessionBatches(t *testing.T) {
	const batch = `[{"jsonrpc":"2.0","id":7,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":8,"method":"tools/list"}]`
	const answer = `[{"jsonrpc":"2.0","id":7,"result":{}},{"jsonrpc":"2.0","id":8,"result":{"tools":[]}}]`
	for _, revision := range Versions {
		t.Run(revision, func(t *testing.T) {
			w := start(t, echoServer(), revision)
			w.send(batch)
			if revision == "2025-03-26" {
				w.want(answer)
			} else {
				w.want(invalidRequest)
			}
			w.send(`[{"jsonrpc":"2.0","id":7,"method":"ping"},{"jsonrpc":"2.0","id":8,"method":"initialize"}]`)
			w.want(invalidRequest)
			w.send(`[]`)
			w.want(invalidRequest)
			w.sync()
		})
	}
	t.Run("pipelined behind initialize", func(t *testing.T) {
		w := host(t, echoServer())
		w.send(strings.Replace(hello, "2025-06-18", "2025-03-26", 1), batch)
		w.recv()
		w.want(answer)
	})
	t.Run("limits", func(t *testing.T) {
		s := echoServer()
		s.Batch = 1
		w := start(t, s, "2025-03-26")
		w.send(batch)
		w.want(invalidRequest)
		w.send(`[{"jsonrpc":"2.0","id":7,"method":"ping"}]`)
		w.want(`[{"jsonrpc":"2.0","id":7,"result":{}}]`)
		s = echoServer()
		s.Batch = NoBatch
		w = start(t, s, "2025-03-26")
		w.send(`[{"jsonrpc":"2.0","id":7,"method":"ping"}]`)
		w.want(invalidRequest)
	})
}

// Bad messages are answered and the session lives.
func TestSessionBadMessages(t *testing.T) {
	w := start(t, echoServer(), "2025-11-25")
	for _, c := range []struct {
		message, id string
		code        int
	}{
		{`{not json`, `null`, -32700},
		{`{"jsonrpc":"2.0","id":2,"method":"tools/list"},`, `null`, -32700},
		{`42`, `null`, -32600},
		{`{"id":11,"method":"ping"}`, `11`, -32600},
		{`{"jsonrpc":"1.0","id":10,"method":"ping"}`, `10`, -32600},
		{`{"jsonrpc":"2.0","id":12}`, `12`, -32600},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, `null`, -32600},
		{`{"jsonrpc":"2.0","id":null,"method":"tools/list"}`, `null`, -32600},
		{`{"jsonrpc":"2.0","id":7,"method":"no/such"}`, `7`, -32601},
		{`{"jsonrpc":"2.0","id":9,"method":"ping","params":["a","b"]}`, `9`, -32602},
		{`{"JSONRPC":"2.0","ID":9,"METHOD":"ping"}`, `null`, -32600},
		{strings.Repeat("[", 20000), `null`, -32700},
		{"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"\xff\xfe\"}}", `null`, -32700},
		{`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"nope","arguments":{}}}`, `3`, -32602},
	} {
		w.send(c.message)
		if id, code := errorCode(t, w.recv()); code != c.code || id != c.id {
			t.Errorf("%.60s: code %d id %s, want %d %s", c.message, code, id, c.code, c.id)
		}
	}
	for _, id := range []string{`0`, `""`, `1.0`, `1e3`, `9007199254740993`, `-5`, `"1"`, `"a\u0062"`} {
		w.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)
		w.want(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
	}
}

// Where the runtime limits requests in flight, one too many gets a code that MCP has.
func TestOverload(t *testing.T) {
	w := start(t, echoServer(), "2025-11-25", func(o *jsonrpc2.Options) { o.MaxPending = 1 })
	w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hang"}}`, `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	w.want(`{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"Too many concurrent requests"}}`)
}
