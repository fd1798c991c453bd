package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

const (
	notInitialized = `"error":{"code":-32600,"message":"Invalid Request: the session is not initialized, send initialize first"}}`
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
	w.send(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}`)
	w.want(methodNotFound)
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

func TestCancelIsSilent(t *testing.T) {
	for _, id := range []string{`5`, `0`, `""`, `"x"`} {
		t.Run(id, func(t *testing.T) {
			started, ended := make(chan struct{}), make(chan error, 1)
			s := echoServer()
			s.Caller = func(ctx context.Context, _ string, _ Arguments) (any, error) {
				close(started)
				<-ctx.Done()
				ended <- context.Cause(ctx)
				return TextResult("too late"), nil
			}
			w := start(t, s, "2025-11-25")
			w.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"x"}}`)
			<-started
			// Others, the wrong type, nonsense: nothing happens.
			w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`,
				`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`,
				`{"jsonrpc":"2.0","method":"notifications/cancelled"}`)
			w.sync()
			w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"enough"}}`)
			var byPeer cancel.ByPeer
			if cause := <-ended; !errors.As(cause, &byPeer) || byPeer.Reason != "enough" {
				t.Errorf("cause %v", cause)
			}
			w.sync()
			w.sync()
			w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`) // it is done by now
			w.sync()
		})
	}
	t.Run("initialize cannot be cancelled", func(t *testing.T) {
		release := make(chan struct{})
		s := echoServer()
		s.Initializer = func(ctx context.Context, _ string, _ Arguments) error {
			<-release
			return ctx.Err()
		}
		w := host(t, s)
		w.send(hello, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		close(release)
		w.want(helloAnswer)
	})
}

func TestProgress(t *testing.T) {
	s := &Server{Caller: func(ctx context.Context, _ string, _ Arguments) (any, error) {
		if err := Progress(ctx, 1, 4, "one"); err != nil {
			return nil, err
		}
		if err := Progress(ctx, 2.5, 4, ""); err != nil {
			return nil, err
		}
		if err := Progress(ctx, 3, 0, ""); err != nil {
			return nil, err
		}
		return TextResult("done"), nil
	}}
	done := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}],"isError":false}}`
	for _, c := range []struct {
		name, meta string
		token      string // "": no progress
	}{
		{"no meta", ``, ""},
		{"no token", `,"_meta":{}`, ""},
		{"zero", `,"_meta":{"progressToken":0}`, `0`},
		{"string", `,"_meta":{"progressToken":"7"}`, `"7"`},
		{"empty string", `,"_meta":{"progressToken":""}`, `""`},
		{"escaped", `,"_meta":{"progressToken":"\u0061"}`, `"\u0061"`},
		{"beyond a double", `,"_meta":{"progressToken":9007199254740993}`, `9007199254740993`},
		{"null", `,"_meta":{"progressToken":null}`, ""},
		{"object", `,"_meta":{"progressToken":{}}`, ""},
		{"list", `,"_meta":{"progressToken":[1]}`, ""},
		{"fraction", `,"_meta":{"progressToken":1.5}`, ""},
		{"beyond all", `,"_meta":{"progressToken":1e999}`, ""},
		{"boolean", `,"_meta":{"progressToken":true}`, ""},
		{"twice", `,"_meta":{"progressToken":1,"progressToken":2}`, ""},
		{"meta is no object", `,"_meta":[]`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := start(t, s, "2025-11-25")
			w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"` + c.meta + `}}`)
			if c.token != "" {
				w.want(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + c.token + `,"progress":1,"total":4,"message":"one"}}`)
				w.want(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + c.token + `,"progress":2.5,"total":4}}`)
				w.want(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + c.token + `,"progress":3}}`)
			}
			w.want(done)
			w.sync()
		})
	}
	t.Run("no message in the first revision", func(t *testing.T) {
		w := start(t, s, "2024-11-05")
		w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":1}}}`)
		w.want(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,"total":4}}`)
	})
	t.Run("without a session", func(t *testing.T) {
		got := string(s.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":1}}}`)))
		if got != done {
			t.Errorf("got %s", got)
		}
	})
}

func TestProgressRules(t *testing.T) {
	nan := 0.0
	nan /= nan
	var errs []error
	s := &Server{Caller: func(ctx context.Context, _ string, _ Arguments) (any, error) {
		for _, p := range []float64{0, 0, -1, nan, 1 / (nan * 0), 5, 4, 5, 6} {
			errs = append(errs, Progress(ctx, p, 0, ""))
		}
		return nil, nil
	}}
	w := start(t, s, "2025-11-25")
	w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":1}}}`)
	for _, p := range []string{"0", "5", "6"} {
		w.want(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":` + p + `}}`)
	}
	w.want(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	for i, refused := range []bool{false, true, true, true, true, false, true, true, false} {
		if errors.Is(errs[i], ErrProgress) != refused {
			t.Errorf("%d: %v", i, errs[i])
		}
	}
}

// A reporter kept beyond its call, and one whose call was cancelled, report to nobody.
func TestProgressDisarmed(t *testing.T) {
	contexts := make(chan context.Context, 2)
	s := &Server{Caller: func(ctx context.Context, name string, _ Arguments) (any, error) {
		contexts <- ctx
		if name == "hang" {
			<-ctx.Done()
			if err := Progress(ctx, 1, 0, ""); err != nil {
				t.Error(err)
			}
		}
		return nil, nil
	}}
	w := start(t, s, "2025-11-25")
	w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":1}}}`)
	w.want(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	if err := Progress(<-contexts, 1, 0, "late"); err != nil {
		t.Error(err)
	}
	w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hang","_meta":{"progressToken":1}}}`)
	ctx := <-contexts
	w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	<-ctx.Done()
	if err := Progress(ctx, 2, 0, "late"); err != nil {
		t.Error(err)
	}
	w.sync()
}

func TestLogging(t *testing.T) {
	s := &Server{Logging: true, Caller: func(ctx context.Context, _ string, _ Arguments) (any, error) {
		ses := SessionFrom(ctx)
		for l := LevelDebug; l <= LevelEmergency+1; l++ {
			if err := ses.Log(ctx, l, "l", map[string]int{"n": int(l)}); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}}
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`
	expect := func(w *wire, from Level) {
		w.t.Helper()
		w.send(call)
		for l := from; l <= LevelEmergency; l++ {
			w.want(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"%s","logger":"l","data":{"n":%d}}}`, l, l))
		}
		w.want(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	}
	w, other := start(t, s, "2025-11-25"), start(t, s, "2025-11-25")
	expect(w, LevelWarning)
	for _, bad := range []string{`{}`, `{"level":"loud"}`, `{"level":"Debug"}`, `{"level":null}`, `{"level":3}`, `[]`} {
		w.send(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":` + bad + `}`)
		if _, code := errorCode(t, w.recv()); code != -32602 {
			t.Errorf("%s: code %d", bad, code)
		}
	}
	expect(w, LevelWarning)
	w.send(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}`)
	w.want(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	expect(w, LevelDebug)
	expect(other, LevelWarning) // the level is the session's
	w.send(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"emergency"}}`)
	w.want(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	expect(w, LevelEmergency)

	off := &Server{Caller: s.Caller}
	w = start(t, off, "2025-11-25")
	expect(w, LevelEmergency+1)
	w.send(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}`)
	w.want(methodNotFound)
	w = host(t, s)
	w.send(hello)
	if got := w.recv(); !strings.Contains(got, `"capabilities":{"tools":{"listChanged":false},"logging":{}}`) {
		t.Errorf("got %s", got)
	}
}

func TestSessionTerms(t *testing.T) {
	type seen struct {
		client  Implementation
		caps    ClientCapabilities
		params  string
		caller  string
		session bool
	}
	got := make(chan seen, 1)
	s := &Server{Caller: func(ctx context.Context, _ string, _ Arguments) (any, error) {
		ses := SessionFrom(ctx)
		caller, _ := CallerFrom[string](ctx)
		got <- seen{ses.Client(), ses.Capabilities(), string(ses.Params()), caller, jsonrpc2.ConnFrom(ctx) != nil}
		return nil, nil
	}}
	captured, admitted := 0, 0
	w := host(t, s, func(o *jsonrpc2.Options) { // hooks that were set are kept
		o.Capture = func(ctx context.Context, _ *jsonrpc2.Request) context.Context {
			captured++
			return WithCaller(ctx, "caller")
		}
		o.Admit = func(_ context.Context, r *jsonrpc2.Request) error {
			admitted++
			if r.Method == "forbidden" {
				return jsonrpc2.Errorf(-1, "forbidden")
			}
			return nil
		}
		o.Cancel = cancel.NewRegistry(cancel.Convention{Method: "custom/cancel", Param: "id"})
	})
	params := `{"protocolVersion":"2025-06-18","capabilities":{"experimental":[],"sampling":{"tools":{}},"roots":null,"elicitation":{}},"clientInfo":{"name":"t","version":"0","title":"T"}}`
	w.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + params + `}`)
	w.recv()
	w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}`)
	w.recv()
	g := <-got
	if g.client.Name != "t" || g.client.Title != "T" || g.params != params || g.caller != "caller" || !g.session {
		t.Errorf("got %+v", g)
	}
	if string(g.caps.Sampling) != `{"tools":{}}` || g.caps.Roots != nil || g.caps.Experimental != nil || g.caps.Elicitation == nil {
		t.Errorf("got %+v", g.caps)
	}
	w.send(`{"jsonrpc":"2.0","id":3,"method":"forbidden"}`)
	w.want(`{"jsonrpc":"2.0","id":3,"error":{"code":-1,"message":"forbidden"}}`)
	if captured != 2 || admitted != 3 {
		t.Errorf("captured %d, admitted %d", captured, admitted)
	}
}

func TestNilSession(t *testing.T) {
	ctx := context.Background()
	ses := SessionFrom(ctx)
	if ses != nil || ses.Revision() != "" || ses.Client().Name != "" || ses.Params() != nil || ses.LogEnabled(LevelError) {
		t.Error("a session out of nothing")
	}
	if err := ses.Log(ctx, LevelError, "", 1); err != nil {
		t.Error(err)
	}
	if err := Progress(ctx, 1, 1, ""); err != nil {
		t.Error(err)
	}
	if err := ses.Notify(ctx, "x", nil); !errors.Is(err, ErrNoSession) {
		t.Error(err)
	}
	if err := ses.Call(ctx, "x", nil, nil); !errors.Is(err, ErrNoSession) {
		t.Error(err)
	}
}

// A tool may ask the client and wait, while everything else goes on.
func TestSessionCall(t *testing.T) {
	s := &Server{Caller: func(ctx context.Context, _ string, _ Arguments) (any, error) {
		var roots struct {
			Roots []struct{ URI string } `json:"roots"`
		}
		if err := SessionFrom(ctx).Call(ctx, "roots/list", nil, &roots); err != nil {
			return nil, err
		}
		return len(roots.Roots), nil
	}}
	w := start(t, s, "2025-11-25")
	w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`)
	w.want(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`)
	w.sync()
	w.send(`{"jsonrpc":"2.0","id":1,"result":{"roots":[{"uri":"file:///a"},{"uri":"file:///b"}]}}`)
	w.want(`{"jsonrpc":"2.0","id":1,"result":2}`)
	// When the request is cancelled the question is withdrawn, and the answer to it is of no interest.
	w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}`)
	w.want(`{"jsonrpc":"2.0","id":2,"method":"roots/list"}`)
	w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"no"}}`)
	if got := w.recv(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2`) {
		t.Errorf("got %s", got)
	}
	w.send(`{"jsonrpc":"2.0","id":2,"result":{}}`)
	w.sync()
}

// A burst of changes becomes few notifications for who reads, none for who has not initialized, and holds up nobody.
func TestChanged(t *testing.T) {
	s := echoServer()
	s.ListChanged = true
	w, silent := host(t, s), host(t, s)
	w.send(hello)
	if got := w.recv(); !strings.Contains(got, `"tools":{"listChanged":true}`) {
		t.Errorf("got %s", got)
	}
	for range 500 {
		s.Changed(Tools)
	}
	s.Changed(Prompts)
	s.Changed(lists)
	var tools, prompts int
	for prompts == 0 || tools == 0 {
		switch m := w.recv(); m {
		case `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`:
			tools++
		case `{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`:
			prompts++
		default:
			t.Fatalf("got %s", m)
		}
	}
	silent.sync()
	if err := w.close(); err != nil {
		t.Errorf("Serve: %v", err)
	}
	s.mu.Lock()
	n := len(s.sessions)
	s.mu.Unlock()
	if n != 0 {
		t.Errorf("%d sessions left", n)
	}
	s.Changed(Tools) // to nobody

	quiet := echoServer()
	q := start(t, quiet, "2025-11-25")
	quiet.Changed(Tools) // was not promised
	q.sync()
}

// The end of the input is the end of the session, and no error.
func TestSessionEnds(t *testing.T) {
	ended := make(chan error, 1)
	w := start(t, echoServer(), "2025-11-25", func(o *jsonrpc2.Options) {
		o.OnClose = func(_ *jsonrpc2.Conn, err error) { ended <- err }
	})
	w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hang"}}`)
	w.sync()
	if err := w.close(); err != nil {
		t.Errorf("Serve: %v", err)
	}
	if err := <-ended; err != nil {
		t.Errorf("OnClose: %v", err)
	}
}

func TestExtend(t *testing.T) {
	s := echoServer()
	s.Extend = func(m *jsonrpc2.Mux) {
		m.HandleRequest("custom/sum", jsonrpc2.Call(func(ctx context.Context, n *[]int) (int, error) {
			if SessionFrom(ctx) == nil {
				return 0, ErrNoSession
			}
			return (*n)[0] + (*n)[1], nil
		}))
	}
	w := host(t, s)
	w.send(`{"jsonrpc":"2.0","id":1,"method":"custom/sum","params":[1,2]}`)
	w.want(`{"jsonrpc":"2.0","id":1,` + notInitialized)
	w.send(hello)
	w.recv()
	w.send(`{"jsonrpc":"2.0","id":1,"method":"custom/sum","params":[1,2]}`)
	w.want(`{"jsonrpc":"2.0","id":1,"result":3}`)
}

func TestFrontEnd(t *testing.T) {
	s := echoServer()
	if s.Protocol() != "mcp" || s.Framing() != jsonrpc2.Lines || !slices.EqualFunc(s.Conventions(), []cancel.Convention{Cancel}, func(a, b cancel.Convention) bool { return a.Method == b.Method }) {
		t.Error("not the front end it should be")
	}
	// The runtime may have put the convention in already.
	o := &jsonrpc2.Options{Cancel: cancel.NewRegistry(Cancel)}
	if _, err := s.Mount(o); err != nil {
		t.Fatal(err)
	}
	if c, ok := o.Cancel.Spoken(); !ok || c.Method != "notifications/cancelled" {
		t.Errorf("spoken: %+v", c)
	}
}

// A hundred hanging tools hold up neither each other nor a new one; all end with their cancellation and none answers.
func TestHangingTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := start(t, echoServer(), "2025-11-25")
		for i := range 100 {
			w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"hang"}}`, i))
		}
		w.sync()
		for i := range 100 {
			w.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i))
		}
		synctest.Wait()
		w.sync()
		w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":[1, 2]}}}`)
		got := w.recv()
		var m struct {
			Result struct{ A []int }
		}
		if err := json.Unmarshal([]byte(got), &m); err != nil || len(m.Result.A) != 2 {
			t.Errorf("got %s", got)
		}
		w.close()
	})
}
