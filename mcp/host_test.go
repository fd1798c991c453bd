package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// opened makes a session of a host, with the handshake done.
func opened(t *testing.T, s *Server, p Peer, revision string) *Session {
	t.Helper()
	ses, err := s.NewSession(p)
	if err != nil {
		t.Fatal(err)
	}
	out := string(ses.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"`+revision+`","capabilities":{"roots":{}},"clientInfo":{"name":"test","version":"1"}}}`)))
	if !strings.Contains(out, `"protocolVersion":"`+revision+`"`) || !ses.Initialized() {
		t.Fatalf("initialize: %s", out)
	}
	return ses
}

func TestHostLifecycle(t *testing.T) {
	s := echoServer()
	ses, err := s.NewSession(new(peer))
	if err != nil {
		t.Fatal(err)
	}
	do := func(payload, want string) {
		t.Helper()
		if got := string(ses.Handle(context.Background(), []byte(payload))); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if ses.Initialized() || ses.Revision() != "" {
		t.Error("open from the start")
	}
	do(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	do(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":1,`+notInitialized)
	do(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":5}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: protocolVersion must be a string"}}`)
	do(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"x":"`+strings.Repeat("x", maxHello)+`"}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: more than 65536 bytes"}}`)
	if ses.Initialized() || ses.Revision() != "" {
		t.Error("open after a failure")
	}
	do(hello, helloAnswer)
	if !ses.Initialized() || ses.Revision() != "2025-06-18" || ses.Client().Name != "t" {
		t.Error("not open after success")
	}
	do(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, ``)
	do(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`)
	do(hello, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Invalid Request: the session is already initialized"}}`)
	do(`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, invalidRequest)
	do(`{"jsonrpc":"2.0","id":null,"method":"ping"}`, invalidRequest)
	do(`{"jsonrpc":"2.0","id":7,"result":{}}`, ``)
	do(`{`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`)
	// A modern request is one in a session, too.
	do(modern("2", "tools/list", ``), `{"jsonrpc":"2.0","id":2,"result":{"tools":[],"resultType":"complete","ttlMs":0,"cacheScope":"private",`+signed+`}}`)

	ses.Close(nil)
	ses.Close(errors.New("again"))
	if ses.Initialized() {
		t.Error("open after the end")
	}
	do(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":1,`+notInitialized)
	if err := ses.Notify(context.Background(), "x", nil); !errors.Is(err, ErrNoSession) {
		t.Errorf("Notify: %v", err)
	}
	do(hello, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error"}}`) // it does not come back

	bad := &Server{Batch: -2}
	if _, err := bad.NewSession(nil); err == nil {
		t.Error("NewSession: no error")
	}
	for _, got := range []string{
		string(bad.HandleModern(context.Background(), []byte(`{}`), nil)), string(bad.HandleSessionless(context.Background(), []byte(`{}`), nil, "")),
	} {
		if !strings.Contains(got, "-32603") {
			t.Errorf("got %s", got)
		}
	}
}

// Requests of any number of messages run side by side, many with the same id, and each is answered.
func TestHostSideBySide(t *testing.T) {
	const n = 12
	var all sync.WaitGroup
	all.Add(n)
	s := echoServer()
	s.Caller = func(_ context.Context, name string, _ Arguments) (any, error) {
		all.Done()
		all.Wait()
		return TextResult(name), nil
	}
	ses := opened(t, s, new(peer), "2025-11-25")
	answers := make(chan string, n)
	for i := range n {
		go func() {
			answers <- string(ses.Handle(context.Background(), fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"n%d"}}`, i)))
		}()
	}
	seen := map[string]bool{}
	for range n {
		a := <-answers
		if !strings.HasPrefix(a, `{"jsonrpc":"2.0","id":1,"result":`) {
			t.Errorf("got %s", a)
		}
		seen[a] = true
	}
	if len(seen) != n {
		t.Errorf("%d different answers", len(seen))
	}
	if ses.calls != nil {
		t.Error("a call is left")
	}
}

// A request is cancelled by a message of its own, by the host, and by the end of the session; only the first two are silent.
func TestHostCancel(t *testing.T) {
	cancelled := func(id string) []byte {
		return []byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"enough"}}`)
	}
	ended := errors.New("session ended")
	for _, c := range []struct {
		name   string
		cancel func(ses *Session, stop context.CancelFunc)
		cause  func(error) bool
		answer string
	}{
		{"by the client", func(ses *Session, _ context.CancelFunc) {
			for _, other := range []string{`"1"`, `2`, `null`, `{}`} {
				ses.Handle(context.Background(), cancelled(other))
			}
			ses.Handle(context.Background(), cancelled("1.0"))
		}, func(err error) bool {
			var by cancel.ByPeer
			return errors.As(err, &by) && by.Reason == "enough"
		}, ""},
		{"by the host", func(ses *Session, _ context.CancelFunc) {
			if n := ses.CancelRequest(jsonrpc2.NumberID(2), ""); n != 0 {
				t.Errorf("%d requests with the id of none", n)
			}
			if n := ses.CancelRequest(jsonrpc2.NumberID(1), "why"); n != 1 {
				t.Errorf("%d requests", n)
			}
		}, func(err error) bool {
			var by cancel.ByPeer
			return errors.As(err, &by) && by.Reason == "why"
		}, ""},
		{"by the end of the session", func(ses *Session, _ context.CancelFunc) { ses.Close(ended) },
			func(err error) bool { return errors.Is(err, ended) }, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error"}}`},
		{"by the end of the context", func(_ *Session, stop context.CancelFunc) { stop() },
			func(err error) bool { return errors.Is(err, context.Canceled) }, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			started, cause := make(chan struct{}), make(chan error, 1)
			s := echoServer()
			s.Caller = func(ctx context.Context, _ string, _ Arguments) (any, error) {
				close(started)
				<-ctx.Done()
				cause <- context.Cause(ctx)
				return nil, ctx.Err()
			}
			s.Reporter = func(_ context.Context, _ *jsonrpc2.Request, err error) { t.Errorf("reported: %v", err) }
			ses := opened(t, s, new(peer), "2025-11-25")
			ctx, stop := context.WithCancel(context.Background())
			defer stop()
			answer := make(chan string, 1)
			go func() {
				answer <- string(ses.Handle(ctx, []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`)))
			}()
			<-started
			c.cancel(ses, stop)
			if err := <-cause; !c.cause(err) {
				t.Errorf("cause %v", err)
			}
			if got := <-answer; got != c.answer {
				t.Errorf("answer %s", got)
			}
			if ses.CancelRequest(jsonrpc2.NumberID(1), "") != 0 || ses.calls != nil {
				t.Error("it is still there")
			}
		})
	}
	t.Run("initialize", func(t *testing.T) {
		s := echoServer()
		var ses *Session
		s.Initializer = func(ctx context.Context, _ string, _ Arguments) error {
			ses.Handle(context.Background(), cancelled("1"))
			return ctx.Err()
		}
		ses, _ = s.NewSession(nil)
		if got := string(ses.Handle(context.Background(), []byte(hello))); got != helloAnswer {
			t.Errorf("got %s", got)
		}
	})
	t.Run("modern", func(t *testing.T) {
		s := echoServer()
		s.Reporter = func(_ context.Context, _ *jsonrpc2.Request, err error) { t.Errorf("reported: %v", err) }
		started := make(chan struct{})
		s.Caller = func(ctx context.Context, _ string, _ Arguments) (any, error) {
			close(started)
			<-ctx.Done()
			return nil, ctx.Err()
		}
		ctx, stop := context.WithCancel(context.Background())
		answer := make(chan []byte, 1)
		go func() { answer <- s.HandleModern(ctx, []byte(modern("1", "tools/call", `,"name":"x"`)), nil) }()
		<-started
		s.HandleModern(context.Background(), cancelled("1"), nil) // the end of ctx is what cancels
		stop()
		if got := <-answer; got != nil {
			t.Errorf("got %s", got)
		}
	})
}

// A batch of a session: what the client cancels is left out of the answer.
func TestHostBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ses := opened(t, echoServer(), new(peer), "2025-03-26")
		call := func(id, name string) string {
			return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + name + `","arguments":{"a":[1,"]"]}}}`
		}
		result := func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":{"a":[1,"]"]}}` }
		for _, c := range []struct{ name, batch, want string }{
			{"one of three", call("1", "echo") + "," + call("2", "hang") + "," + call("3", "echo"), "[" + result("1") + "," + result("3") + "]"},
			{"the first", call("2", "hang") + "," + call("3", "echo"), "[" + result("3") + "]"},
			{"the last", call("1", "echo") + "," + call("2", "hang"), "[" + result("1") + "]"},
			{"all", call("2", "hang") + "," + call("2", "hang"), ""},
		} {
			answer := make(chan string, 1)
			go func() { answer <- string(ses.Handle(context.Background(), []byte("["+c.batch+"]"))) }()
			synctest.Wait()
			ses.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`))
			if got := <-answer; got != c.want {
				t.Errorf("%s: got %s", c.name, got)
			}
		}
		// Within the batch itself.
		got := string(ses.Handle(context.Background(), []byte(`[`+call("2", "hang")+`,`+call("1", "echo")+`,{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}]`)))
		if got != "["+result("1")+"]" {
			t.Errorf("got %s", got)
		}
		if got := string(ses.Handle(context.Background(), []byte(`[`+hello+`]`))); got != invalidRequest {
			t.Errorf("initialize in a batch: %s", got)
		}
	})
}

// What a closure sends comes with a context of its own message, what no closure sends with none.
func TestHostRouting(t *testing.T) {
	type stream struct{}
	got := make(chan string, 100)
	p := &peer{
		tell: func(ctx context.Context, method string, params any) error {
			name, _ := ctx.Value(stream{}).(string)
			got <- name + " " + method
			return ctx.Err()
		},
		call: func(ctx context.Context, method string, params, result any) error {
			name, _ := ctx.Value(stream{}).(string)
			got <- name + " " + method
			return json.Unmarshal([]byte(`{"roots":[]}`), result)
		},
	}
	s := changing()
	s.Caller = func(ctx context.Context, _ string, _ Arguments) (any, error) {
		ses := SessionFrom(ctx)
		if err := errors.Join(Progress(ctx, 1, 0, ""), ses.Log(ctx, LevelError, "", "x"), ses.Notify(ctx, "custom", nil)); err != nil {
			return nil, err
		}
		var roots any
		return nil, ses.Call(ctx, "roots/list", nil, &roots)
	}
	ses := opened(t, s, p, "2025-11-25")
	ctx := context.WithValue(context.Background(), stream{}, "post")
	if out := string(ses.Handle(ctx, []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":1}}}`))); out != `{"jsonrpc":"2.0","id":1,"result":{}}` {
		t.Errorf("got %s", out)
	}
	for _, want := range []string{"post notifications/progress", "post notifications/message", "post custom", "post roots/list"} {
		if m := <-got; m != want {
			t.Errorf("got %q, want %q", m, want)
		}
	}
	s.Changed(Tools)
	if m := <-got; m != " notifications/tools/list_changed" {
		t.Errorf("got %q", m)
	}
	ses.Close(nil)
	s.Changed(Tools)

	// The same closure without a session: progress has a way, the rest has none.
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":1}}}`
	s.Caller = func(ctx context.Context, _ string, _ Arguments) (any, error) {
		ses := SessionFrom(ctx)
		if ses.Revision() != "2025-06-18" || ses.LogEnabled(LevelEmergency) {
			t.Errorf("revision %q, logs %v", ses.Revision(), ses.LogEnabled(LevelEmergency))
		}
		if err := ses.Call(ctx, "roots/list", nil, nil); !errors.Is(err, ErrNoSession) {
			t.Errorf("Call: %v", err)
		}
		return nil, Progress(ctx, 1, 0, "")
	}
	for _, way := range []Peer{p, nil} {
		if out := string(s.HandleSessionless(ctx, []byte(call), way, "2025-06-18")); out != `{"jsonrpc":"2.0","id":1,"result":{}}` {
			t.Errorf("got %s", out)
		}
	}
	if m := <-got; m != "post notifications/progress" || len(got) > 0 {
		t.Errorf("got %q and %d more", m, len(got))
	}
}

func TestHostSessionless(t *testing.T) {
	s := full()
	for _, c := range []struct{ revision, payload, want string }{
		{"2025-11-25", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`},
		{"2025-06-18", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{"2025-03-26", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `[{"jsonrpc":"2.0","id":1,"result":{}}]`},
		{"2025-06-18", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, invalidRequest},
		{"2025-03-26", `[` + hello + `]`, invalidRequest},
		{"2025-06-18", `{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"info"}}`, methodNotFound},
		{"2025-06-18", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, ``},
		{"2025-06-18", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, ``},
	} {
		if got := string(s.HandleSessionless(context.Background(), []byte(c.payload), nil, c.revision)); got != c.want {
			t.Errorf("%s, %s: got %s", c.revision, c.payload, got)
		}
	}
	for range 2 { // again and again, nothing is kept
		if got := string(s.HandleSessionless(context.Background(), []byte(hello), nil, "2025-03-26")); !strings.Contains(got, `"protocolVersion":"2025-06-18"`) || strings.Contains(got, "logging") {
			t.Errorf("got %s", got)
		}
	}
}

func TestHandleModernRefuses(t *testing.T) {
	s := echoServer()
	for _, c := range []struct{ name, payload, want string }{
		{"no envelope", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: _meta must have io.modelcontextprotocol/protocolVersion"}}`},
		{"batch", `[` + modern("1", "tools/list", "") + `]`, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request"}}`},
		{"empty batch", `[]`, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request"}}`},
		{"no JSON", `{"a`, `{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}`},
		{"no version", `{"id":5,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":5,"error":{"code":-32600,"message":"Invalid Request"}}`},
		{"null id", modern("null", "tools/list", ""), `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request"}}`},
		{"notification", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, ``},
		{"response", `{"jsonrpc":"2.0","id":1,"result":{}}`, ``},
		{"unknown", modern("1", "no/such", ""), `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`},
		{"unknown, of a later revision", `{"jsonrpc":"2.0","id":1,"method":"no/such","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2027-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"2027-01-01"}}}`},
		{"id beyond a double", modern("9007199254740993", "tools/list", ""), `{"jsonrpc":"2.0","id":9007199254740993,"result":{"tools":[],"resultType":"complete","ttlMs":0,"cacheScope":"private",` + signed + `}}`},
	} {
		if got := string(s.HandleModern(context.Background(), []byte(c.payload), new(peer))); got != c.want {
			t.Errorf("%s: got %s", c.name, got)
		}
	}
	for method, want := range map[string][2]bool{ // legacy, modern
		"ping": {true, false}, "initialize": {true, false}, "server/discover": {false, true}, "subscriptions/listen": {false, true},
		"tools/call": {true, true}, "resources/read": {false, false}, "no/such": {false, false}, "notifications/initialized": {false, false},
	} {
		if got := [2]bool{s.Serves("2025-11-25", method), s.Serves("2026-07-28", method)}; got != want {
			t.Errorf("Serves(%q): %v", method, got)
		}
	}
	if s.Serves("2027-01-01", "tools/call") || s.Serves("", "tools/call") {
		t.Error("Serves a revision that there is not")
	}
}

// Everything a modern request gets comes by the way it came with, in order, and before its answer.
func TestHostModernNotifications(t *testing.T) {
	s := echoServer()
	s.Logging = true
	s.Caller = func(ctx context.Context, _ string, _ Arguments) (any, error) {
		return nil, errors.Join(Progress(ctx, 1, 2, "half"), SessionFrom(ctx).Log(ctx, LevelInfo, "", "x"), Progress(ctx, 2, 2, ""))
	}
	p := new(peer)
	meta := strings.TrimSuffix(modernMeta, "}") + `,"io.modelcontextprotocol/logLevel":"info","progressToken":"\u0031"}`
	if got := string(s.HandleModern(context.Background(), []byte(withMeta("1", "tools/call", meta, `,"name":"x"`)), p)); AnswerCode([]byte(got)) != 0 {
		t.Errorf("got %s", got)
	}
	if want := []string{
		`notifications/progress {"progressToken":"\u0031","progress":1,"total":2,"message":"half"}`, `notifications/message {"level":"info","data":"x"}`,
		`notifications/progress {"progressToken":"\u0031","progress":2,"total":2}`,
	}; !slices.Equal(p.all(), want) {
		t.Errorf("got %q", p.all())
	}
}

func TestInspectMessage(t *testing.T) {
	for _, c := range []struct {
		name, payload   string
		modern          bool
		version, target string
		arguments       string
		envelope        jsonrpc2.Code
		supported       jsonrpc2.Code
	}{
		{"modern call", modern("1", "tools/call", `,"name":"\u0061","arguments":{"x":1}`), true, "2026-07-28", "a", `{"x":1}`, 0, 0},
		{"modern read", modern("1", "resources/read", `,"uri":"u","name":"n"`), true, "2026-07-28", "u", "", 0, 0},
		{"task", modern("1", "tasks/get", `,"taskId":"t"`), true, "2026-07-28", "t", "", 0, 0},
		{"list", modern("1", "tools/list", `,"name":"n"`), true, "2026-07-28", "", "", 0, 0},
		{"no target", modern("1", "tools/call", `,"name":5,"arguments":[]`), true, "2026-07-28", "", "", 0, 0},
		{"legacy", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`, false, "", "a", "", -32602, -32022},
		{"version alone", withMeta("1", "ping", `{`+versionMember+`}`, ``), true, "2026-07-28", "", "", -32602, 0},
		{"number version", withMeta("1", "ping", `{"io.modelcontextprotocol/protocolVersion":1,"io.modelcontextprotocol/clientCapabilities":{}}`, ``), true, "", "", "", -32602, -32022},
		{"capabilities alone", withMeta("1", "ping", `{"io.modelcontextprotocol/clientCapabilities":{}}`, ``), true, "", "", "", -32602, -32022},
		{"other version", withMeta("1", "ping", `{"io.modelcontextprotocol/protocolVersion":"2025-11-25","io.modelcontextprotocol/clientCapabilities":{}}`, ``), true, "2025-11-25", "", "", 0, -32022},
		{"positional", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["a"]}`, false, "", "", "", -32602, -32022},
		{"notification", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, false, "", "", "", -32602, -32022},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Inspect([]byte(c.payload))
			if err != nil {
				t.Fatal(err)
			}
			code := func(e *jsonrpc2.Error) jsonrpc2.Code {
				if e == nil {
					return 0
				}
				return e.Code
			}
			target, _ := m.Target()
			if m.Modern != c.modern || m.Version != c.version || target != c.target || string(m.Arguments()) != c.arguments || code(m.Envelope()) != c.envelope || code(m.Supported()) != c.supported {
				t.Errorf("got %+v, target %q, arguments %s, envelope %v, supported %v", m, target, m.Arguments(), m.Envelope(), m.Supported())
			}
		})
	}
	if _, err := Inspect([]byte(strings.Repeat(`{"params":`, 1<<16))); err == nil {
		t.Error("no error")
	}
	if m, err := Inspect([]byte(`[1]`)); err != nil || m.Kind != jsonrpc2.KindBatch {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestAnswerCode(t *testing.T) {
	for answer, want := range map[string]jsonrpc2.Code{
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"x"}}`: -32601,
		`{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}`:        -32700,
		`{"jsonrpc":"2.0","id":1,"result":{"error":{"code":5}}}`:         0,
		`[{"jsonrpc":"2.0","id":1,"error":{"code":-32601}}]`:             0,
		``: 0, `{`: 0, `{"error":{}}`: 0, `{"error":5}`: 0, `{"error":{"code":"x"}}`: 0,
	} {
		if got := AnswerCode([]byte(answer)); got != want {
			t.Errorf("%s: %d", answer, got)
		}
	}
}

func TestEncode(t *testing.T) {
	for _, c := range []struct {
		v    any
		want string
	}{
		{nil, `null`}, {json.RawMessage("{\"a\":\n1}"), `{"a": 1}`}, {encoded(`{}`), `{}`}, {TextResult("x"), `{"content":[{"type":"text","text":"x"}],"isError":false}`},
		{(*CallToolResult)(nil), `null`}, {map[string]int{"a": 1}, `{"a":1}`},
	} {
		if got, err := Encode(c.v); err != nil || string(got) != c.want {
			t.Errorf("%#v: %s, %v", c.v, got, err)
		}
	}
	if _, err := Encode(func() {}); err == nil {
		t.Error("no error")
	}
}

// A session that waits costs little, whatever its initialize came in.
func TestHostSessionSize(t *testing.T) {
	s := full()
	const n = 1000
	sessions := make([]*Session, 0, n)
	p := new(peer)
	payload := slices.Concat([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"sampling":{},"roots":{"listChanged":true}},"clientInfo":{"name":"a client of the usual kind","version":"1.2.3"}}}`), []byte(strings.Repeat(" ", 64<<10)))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range n {
		ses, err := s.NewSession(p)
		if err != nil {
			t.Fatal(err)
		}
		ses.Handle(context.Background(), slices.Clone(payload))
		sessions = append(sessions, ses)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if each := int64(after.HeapAlloc-before.HeapAlloc) / n; each > 2<<10 {
		t.Errorf("%d bytes each", each)
	} else {
		t.Logf("%d bytes each", each)
	}
	for _, ses := range sessions {
		ses.Close(nil)
	}
	if len(s.feeds.all) != 0 {
		t.Errorf("%d feeds left", len(s.feeds.all))
	}
}
