package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// slowServer has a hover that ends when it is cancelled, and says so.
func slowServer(started chan struct{}) *Server {
	return &Server{Hover: func(ctx context.Context, _ *protocol.HoverParams) (*protocol.Hover, error) {
		started <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}}
}

const hoverParams = `{"textDocument":{"uri":"file:///a"},"position":{"line":0,"character":0}}`

// Every method of LSP 3.18 in every phase: what the lifecycle says comes before what the method would answer.
func TestLifecycleOfEveryMethod(t *testing.T) {
	phases := []struct {
		name   string
		enter  func(*peer)
		refuse jsonrpc2.Code // 0: served
	}{
		{"created", func(*peer) {}, CodeServerNotInitialized},
		{"running", func(p *peer) { p.call("initialize", plainInit, nil) }, 0},
		{"shut down", func(p *peer) {
			p.call("initialize", plainInit, nil)
			p.call("shutdown", nil, nil)
		}, jsonrpc2.CodeInvalidRequest},
	}
	for _, ph := range phases {
		t.Run(ph.name, func(t *testing.T) {
			p := connect(t, &Server{Hover: showText})
			ph.enter(p)
			for _, m := range protocol.Methods {
				if m.Kind != "request" || m.Method == "initialize" || m.Method == "shutdown" {
					continue
				}
				want := ph.refuse
				if want == 0 {
					want = jsonrpc2.CodeMethodNotFound
					if m.Method == "textDocument/hover" {
						want = CodeRequestFailed
					}
				}
				var e *jsonrpc2.Error
				if err := p.try(m.Method, hoverParams, nil); !errors.As(err, &e) || e.Code != want {
					t.Errorf("%s answers %v, want code %d", m.Method, err, want)
				}
			}
			// Notifications are never answered, and dropped where they are not allowed.
			for _, m := range protocol.Methods {
				if m.Kind == "notification" && m.Method != "exit" {
					p.notify(m.Method, `{}`)
				}
			}
			p.notify("textDocument/didOpen", `{"textDocument":{"uri":"file:///a","languageId":"x","version":1,"text":"t"}}`)
			if ph.name == "created" {
				p.call("initialize", plainInit, nil)
			}
			err := p.try("textDocument/hover", hoverParams, nil)
			if opened := err == nil; opened != (ph.name == "running") {
				t.Errorf("didOpen in this phase: hover then answers %v", err)
			}
		})
	}
}

func TestLifecycleRows(t *testing.T) {
	tests := []struct {
		name string
		do   func(p *peer) error
		want jsonrpc2.Code // 0: answered with a result
	}{
		{"request before initialize", func(p *peer) error { return p.try("textDocument/hover", hoverParams, nil) }, -32002},
		{"unknown request before initialize", func(p *peer) error { return p.try("no/such", nil, nil) }, -32002},
		{"shutdown before initialize", func(p *peer) error { return p.try("shutdown", nil, nil) }, -32002},
		{"initialize after one that failed", func(p *peer) error {
			_ = p.try("initialize", `{"processId":"x"}`, nil)
			return p.try("initialize", plainInit, nil)
		}, 0},
		{"initialize without params", func(p *peer) error { return p.try("initialize", nil, nil) }, -32602},
		{"initialize with wrong params", func(p *peer) error { return p.try("initialize", `{"processId":"x"}`, nil) }, -32602},
		{"request after a failed initialize", func(p *peer) error {
			_ = p.try("initialize", `{"processId":"x"}`, nil)
			return p.try("textDocument/hover", hoverParams, nil)
		}, -32002},
		{"initialize twice", func(p *peer) error {
			p.init(plainInit)
			return p.try("initialize", plainInit, nil)
		}, -32600},
		{"unknown method", func(p *peer) error { p.init(plainInit); return p.try("foo/bar", `{}`, nil) }, -32601},
		{"unknown $/ request", func(p *peer) error { p.init(plainInit); return p.try("$/foo", `{}`, nil) }, -32601},
		{"unknown $/ notification", func(p *peer) error {
			p.init(plainInit)
			p.notify("$/foo", `{}`)
			return p.try("foo/bar", `{}`, nil)
		}, -32601},
		{"params of the wrong type", func(p *peer) error {
			p.init(plainInit)
			return p.try("textDocument/hover", `{"textDocument":{"uri":"file:///a"},"position":"secret"}`, nil)
		}, -32602},
		{"params that are an array", func(p *peer) error { p.init(plainInit); return p.try("textDocument/hover", `[]`, nil) }, -32602},
		{"no params where some are needed", func(p *peer) error { p.init(plainInit); return p.try("textDocument/hover", nil, nil) }, -32602},
		{"request after shutdown", func(p *peer) error {
			p.init(plainInit)
			p.call("shutdown", nil, nil)
			return p.try("textDocument/hover", hoverParams, nil)
		}, -32600},
		{"initialize after shutdown", func(p *peer) error {
			p.init(plainInit)
			p.call("shutdown", nil, nil)
			return p.try("initialize", plainInit, nil)
		}, -32600},
		{"second shutdown", func(p *peer) error {
			p.init(plainInit)
			p.call("shutdown", nil, nil)
			return p.try("shutdown", `{}`, nil)
		}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.do(connect(t, &Server{Hover: showText}))
			if tt.want == 0 {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantCode(t, err, tt.want)
		})
	}
}

// What is seen on the wire, byte by byte, where decoding hides a difference.
func TestLifecycleBytes(t *testing.T) {
	const init = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + plainInit + `}`
	tests := []struct {
		name string
		in   []string
		want []string
	}{
		{"shutdown answers null", []string{init, `{"jsonrpc":"2.0","id":4,"method":"shutdown"}`}, []string{"", `{"jsonrpc":"2.0","id":4,"result":null}`}},
		{"params null", []string{init, `{"jsonrpc":"2.0","id":14,"method":"shutdown","params":null}`}, []string{"", `{"jsonrpc":"2.0","id":14,"result":null}`}},
		{"no result is null", []string{init, `{"jsonrpc":"2.0","id":"a","method":"textDocument/definition","params":` + hoverParams + `}`}, []string{"", `{"jsonrpc":"2.0","id":"a","result":null}`}},
		{"nil pointer is null", []string{init, `{"jsonrpc":"2.0","id":0,"method":"textDocument/hover","params":` + hoverParams + `}`}, []string{"", `{"jsonrpc":"2.0","id":0,"result":null}`}},
		{"null id", []string{init, `{"jsonrpc":"2.0","id":null,"method":"shutdown"}`}, []string{"", `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}`}},
		{"array", []string{init, `[{"jsonrpc":"2.0","id":5,"method":"shutdown"}]`}, []string{"", `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}`}},
		{"malformed", []string{init, `{"jsonrpc":"2.0","id":50,`}, []string{"", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`}},
		{"before initialize", []string{`{"jsonrpc":"2.0","id":9,"method":"textDocument/hover","params":{}}`}, []string{`{"jsonrpc":"2.0","id":9,"error":{"code":-32002,"message":"Server not initialized"}}`}},
		{"no quotes of bad params", []string{init, `{"jsonrpc":"2.0","id":6,"method":"textDocument/hover","params":{"position":"secret"}}`}, []string{"", `{"jsonrpc":"2.0","id":6,"error":{"code":-32602,"message":"Invalid params"}}`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := &Server{
				Hover: func(context.Context, *protocol.HoverParams) (*protocol.Hover, error) { return nil, nil },
				Definition: func(context.Context, *protocol.DefinitionParams) (protocol.DefinitionResult, error) {
					return nil, nil
				},
			}
			o := new(jsonrpc2.Options)
			m, err := srv.Mount(o)
			if err != nil {
				t.Fatal(err)
			}
			d := jsonrpc2.NewDispatcher(m, o)
			for i, in := range tt.in {
				got := string(d.Handle(context.Background(), []byte(in)))
				if tt.want[i] != "" && got != tt.want[i] {
					t.Errorf("%s\n gives %s\n want  %s", in, got, tt.want[i])
				}
			}
		})
	}
}

// Some clients do not wait for the answer to initialize.
func TestPipelined(t *testing.T) {
	gate := make(chan struct{})
	srv := &Server{Hover: showText, Initialize: func(context.Context, *protocol.InitializeParams, *protocol.InitializeResult) error {
		<-gate
		return nil
	}}
	p := connect(t, srv)
	ctx := context.Background()
	first := p.conn.Go(ctx, "initialize", raw(plainInit))
	p.notify("initialized", `{}`)
	p.open("file:///a", 1, "hello")
	hover := p.conn.Go(ctx, "textDocument/hover", raw(hoverParams))
	again := p.conn.Go(ctx, "initialize", raw(plainInit))
	wantCode(t, again.Wait(nil), -32600)
	close(gate)
	if err := first.Wait(nil); err != nil {
		t.Error(err)
	}
	if err := hover.Wait(nil); err != nil {
		t.Errorf("a hover right behind initialize: %v", err)
	}
}

func TestPipelinedBehindFailure(t *testing.T) {
	refuse := true
	srv := &Server{Hover: showText, Initialize: func(context.Context, *protocol.InitializeParams, *protocol.InitializeResult) error {
		if refuse {
			return RequestFailed("licence has expired")
		}
		return nil
	}}
	p := connect(t, srv)
	ctx := context.Background()
	first := p.conn.Go(ctx, "initialize", raw(plainInit))
	p.open("file:///a", 1, "hello")
	hover := p.conn.Go(ctx, "textDocument/hover", raw(hoverParams))
	wantCode(t, first.Wait(nil), CodeRequestFailed)
	wantCode(t, hover.Wait(nil), CodeServerNotInitialized)
	refuse = false
	p.init(plainInit)
	wantCode(t, p.try("textDocument/hover", hoverParams, nil), CodeRequestFailed) // not open: the notification was dropped
}

func TestInitializePanics(t *testing.T) {
	boom := true
	p := connect(t, &Server{Initialize: func(context.Context, *protocol.InitializeParams, *protocol.InitializeResult) error {
		if boom {
			boom = false
			panic("boom")
		}
		return nil
	}})
	wantCode(t, p.try("initialize", plainInit, nil), jsonrpc2.CodeInternalError)
	p.init(plainInit)
}

// Shutdown is answered while requests run, and these are still answered after it.
func TestShutdownAtOnce(t *testing.T) {
	started := make(chan struct{}, 100)
	p := connect(t, slowServer(started))
	p.init(plainInit)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var hovers []*jsonrpc2.Pending
	for range 64 {
		hovers = append(hovers, p.conn.Go(ctx, "textDocument/hover", raw(hoverParams)))
	}
	for range hovers {
		<-started
	}
	p.call("shutdown", nil, nil) // the hovers never end by themselves
	for _, h := range hovers {
		h.Cancel() // reaches the server although it is shut down
	}
	p.notify("exit", nil)
	if err := receive(t, p.over); err != nil {
		t.Error(err)
	}
	p.over <- nil // for the cleanup
}

// The same with a thousand requests running, more waiting for a place, and a function of the user that holds up the lane with thousands of edits in it.
func TestShutdownUnderLoad(t *testing.T) {
	started, blocked, release := make(chan struct{}, 4000), make(chan struct{}), make(chan struct{})
	srv := slowServer(started)
	srv.DidOpen = func(_ context.Context, d *Document) error {
		if d.URI() == "file:///block" {
			close(blocked)
			<-release
		}
		return nil
	}
	p := connect(t, srv)
	p.init(plainInit)
	defer close(release)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	p.open("file:///a", 1, "")
	for range 1000 {
		p.conn.Go(ctx, "textDocument/hover", raw(hoverParams))
	}
	for range 1000 {
		<-started
	}
	p.open("file:///block", 1, "")
	<-blocked
	for i := range 2000 {
		p.change("file:///a", i+2, edit(0, 0, 0, 0, "x"))
		p.conn.Go(ctx, "textDocument/hover", raw(hoverParams))
	}
	begin := time.Now()
	p.call("shutdown", nil, nil)                  // nothing before it ends by itself
	t.Logf("shutdown took %v", time.Since(begin)) // with the 4,000 messages before it, which have to be read first
}

func TestExit(t *testing.T) {
	tests := []struct {
		name string
		do   func(p *peer)
		code int
	}{
		{"exit after shutdown", func(p *peer) { p.init(plainInit); p.call("shutdown", nil, nil); p.notify("exit", nil) }, 0},
		{"exit with params null", func(p *peer) {
			p.init(plainInit)
			p.call("shutdown", json.RawMessage("{}"), nil)
			p.notify("exit", `{}`)
		}, 0},
		{"exit without shutdown", func(p *peer) { p.init(plainInit); p.notify("exit", nil) }, 1},
		{"exit before initialize", func(p *peer) { p.notify("exit", nil) }, 1},
		{"end of input", func(p *peer) { p.init(plainInit); _ = p.conn.Close() }, 1},
		{"end of input after shutdown", func(p *peer) { p.init(plainInit); p.call("shutdown", nil, nil); _ = p.conn.Close() }, 0},
		{"nothing at all", func(p *peer) { _ = p.conn.Close() }, 1},
		{"shutdown and exit back to back", func(p *peer) {
			p.init(plainInit)
			answer := p.conn.Go(context.Background(), "shutdown", nil)
			p.notify("exit", nil)
			if err := answer.Wait(nil); err != nil {
				p.t.Errorf("shutdown right before exit: %v", err)
			}
		}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := connect(t, &Server{})
			tt.do(p)
			err := receive(t, p.over)
			if err != nil {
				t.Errorf("Serve: %v", err)
			}
			if code := p.srv.ExitCode(p.smux, err); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			if n := count(p.srv); n != 0 {
				t.Errorf("%d sessions are remembered", n)
			}
			p.over <- nil
		})
	}
	if code := new(Server).ExitCode(jsonrpc2.NewMux(), nil); code != 1 {
		t.Errorf("exit code of a session that never was is %d", code)
	}
	p := connect(t, &Server{})
	p.init(plainInit)
	p.call("shutdown", nil, nil)
	if code := p.srv.ExitCode(p.smux, errors.New("broken pipe")); code != 1 {
		t.Errorf("exit code after an error is %d", code)
	}
}

func count(s *Server) (n int) {
	s.sessions.Range(func(any, any) bool { n++; return true })
	return n
}

// An exit must not wait for ever behind a handler that holds the lane up.
func TestExitBehindBusyLane(t *testing.T) {
	entered := make(chan struct{})
	srv := &Server{DidOpen: func(ctx context.Context, _ *Document) error {
		close(entered)
		<-ctx.Done()
		return nil
	}}
	p := connect(t, srv)
	p.init(plainInit)
	p.open("file:///a", 1, "")
	<-entered
	_ = p.conn.Go(context.Background(), "shutdown", nil)
	p.notify("exit", nil)
	if err := receive(t, p.over); err != nil {
		t.Error(err)
	}
	if code := srv.ExitCode(p.smux, nil); code != 0 {
		t.Errorf("exit code %d", code)
	}
	p.over <- nil
}

// Sessions of servers that are mounted without a runtime are forgotten with their connection.
func TestSessionsAreForgotten(t *testing.T) {
	srv := &Server{}
	for range 10 {
		o := new(jsonrpc2.Options)
		if _, err := srv.Mount(o); err != nil {
			t.Fatal(err)
		}
		o.OnClose(nil, nil)
	}
	deadline := time.Now().Add(time.Minute)
	for count(srv) > 0 {
		if time.Now().After(deadline) {
			t.Fatalf("%d sessions are left", count(srv))
		}
		runtime.GC()
		runtime.Gosched()
	}
}

func TestParent(t *testing.T) {
	for _, tt := range []struct {
		pid  string
		want int
	}{{"4711", 4711}, {"null", 0}, {"0", 0}, {"-5", 0}} {
		t.Run(tt.pid, func(t *testing.T) {
			p := connect(t, &Server{})
			got := 0
			p.srv.OnParent(p.smux, func(pid int) { got = pid })
			p.init(fmt.Sprintf(`{"processId":%s,"rootUri":null,"capabilities":{}}`, tt.pid))
			if got != tt.want {
				t.Errorf("watched process %d, want %d", got, tt.want)
			}
		})
	}
	new(Server).OnParent(jsonrpc2.NewMux(), func(int) { t.Error("watched for no session") })
}
