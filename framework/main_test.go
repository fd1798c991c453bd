package framework_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"testing"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/framework"
	"github.com/tandem-rpc/tandem/internal/leak"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp/mcphttp"
)

// The test binary is also the programs that the tests start.
const programVariable = "TANDEM_FRAMEWORK_TEST"

func TestMain(m *testing.M) {
	switch os.Getenv(programVariable) {
	case "lines":
		framework.Main(newFront(jsonrpc2.Lines))
	case "header":
		framework.Main(newFront(jsonrpc2.Header))
	case "both":
		framework.Main(newFront(jsonrpc2.Lines), newFront(jsonrpc2.Header))
	case "together":
		Example_together()
	case "beside":
		rt := framework.Runtime{Beside: []framework.Endpoint{
			{},
			{Address: "127.0.0.1:0", Web: &page{}},
			{Address: os.Getenv("TANDEM_FRAMEWORK_SOCKET"), FrontEnds: []framework.FrontEnd{newFront(jsonrpc2.Lines)}},
		}}
		rt.Main(newFront(jsonrpc2.Lines))
	case "agents":
		rt := framework.Runtime{Beside: []framework.Endpoint{{}, {Address: "127.0.0.1:0", Web: &mcphttp.Site{Server: hailer()}}}}
		rt.Main(newFront(jsonrpc2.Lines))
	case "idle": // a process that does nothing until its input ends
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	leak.Main(m)
}

// front is the protocol of these tests: the same methods on either framing. Its "leave" method says with which code the process ends.
type front struct {
	framing     jsonrpc2.Framing
	conventions []cancel.Convention
	mount       func(o *jsonrpc2.Options, m *jsonrpc2.Mux) error // may add to what Mount does

	mu       sync.Mutex
	sessions map[*jsonrpc2.Mux]*frontSession
	exits    []error // what ExitCode was given
}

type frontSession struct {
	mu    sync.Mutex
	code  int
	watch func(pid int)
}

func newFront(f jsonrpc2.Framing) *front {
	return &front{framing: f, conventions: []cancel.Convention{{Method: "stop", Param: "id", Code: -1}}, sessions: map[*jsonrpc2.Mux]*frontSession{}}
}

func (f *front) Protocol() string          { return "test-" + f.framing.String() }
func (f *front) Framing() jsonrpc2.Framing { return f.framing }

func (f *front) Conventions() []cancel.Convention { return f.conventions }

func (f *front) Mount(o *jsonrpc2.Options) (*jsonrpc2.Mux, error) {
	m, s := jsonrpc2.NewMux(), &frontSession{code: -1}
	f.mu.Lock()
	f.sessions[m] = s
	f.mu.Unlock()
	m.HandleRequest("echo", jsonrpc2.HandlerFunc(func(_ context.Context, r *jsonrpc2.Request) (any, error) { return r.Params(), nil }))
	m.HandleRequest("pid", jsonrpc2.HandlerFunc(func(context.Context, *jsonrpc2.Request) (any, error) { return os.Getpid(), nil }))
	m.HandleRequest("hold", jsonrpc2.HandlerFunc(hold))
	m.HandleRequest("finish", jsonrpc2.HandlerFunc(finish))
	m.HandleRequest("stuck", jsonrpc2.HandlerFunc(stuck))
	m.HandleRequest("print", jsonrpc2.HandlerFunc(print))
	m.HandleRequest("panic", jsonrpc2.HandlerFunc(func(_ context.Context, r *jsonrpc2.Request) (any, error) {
		panic(fmt.Sprintf("no use for %s", r.Params()))
	}))
	m.HandleRequest("fail", jsonrpc2.HandlerFunc(func(_ context.Context, r *jsonrpc2.Request) (any, error) {
		return nil, fmt.Errorf("no use for %s", r.Params())
	}))
	m.HandleRequest("parent", jsonrpc2.Call(func(_ context.Context, p *struct{ PID int }) (bool, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.watch == nil {
			return false, nil
		}
		s.watch(p.PID)
		return true, nil
	}))
	m.HandleNotification("leave", jsonrpc2.Note(func(ctx context.Context, p *struct{ Code int }) error {
		s.mu.Lock()
		s.code = p.Code
		s.mu.Unlock()
		return jsonrpc2.ConnFrom(ctx).Close()
	}))
	if f.mount != nil {
		return m, f.mount(o, m)
	}
	return m, nil
}

func (f *front) ExitCode(m *jsonrpc2.Mux, err error) int {
	f.mu.Lock()
	s := f.sessions[m]
	delete(f.sessions, m)
	f.exits = append(f.exits, err)
	f.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.code >= 0:
		return s.code
	case err != nil:
		return 1
	}
	return 0
}

func (f *front) OnParent(m *jsonrpc2.Mux, watch func(pid int)) {
	f.mu.Lock()
	s := f.sessions[m]
	f.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watch = watch
}

// hold returns when it is cancelled. It first tells the peer that it runs.
func hold(ctx context.Context, _ *jsonrpc2.Request) (any, error) {
	if err := jsonrpc2.ConnFrom(ctx).Notify(ctx, "running", nil); err != nil {
		return nil, err
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// finish is work that goes on for as long as the input does, and then has a result.
func finish(ctx context.Context, _ *jsonrpc2.Request) (any, error) {
	c := jsonrpc2.ConnFrom(ctx)
	_ = c.Notify(ctx, "running", nil) // fails when the input has ended already
	select {
	case <-c.Closing():
		return "finished", ctx.Err()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// stuck ignores that it shall end. It says on standard error when it should.
func stuck(ctx context.Context, _ *jsonrpc2.Request) (any, error) {
	c := jsonrpc2.ConnFrom(ctx)
	if err := c.Notify(ctx, "running", nil); err != nil {
		return nil, err
	}
	<-c.Closing()
	fmt.Fprintln(os.Stderr, "closing")
	select {}
}

// print writes to standard output in every way it can be written to.
func print(context.Context, *jsonrpc2.Request) (any, error) {
	fmt.Println("stray line")
	_, err := syscall.Write(1, []byte("stray bytes\n"))
	return true, err
}

func request(id int, method string, params any) []byte {
	p, err := json.Marshal(params)
	if err != nil {
		panic(err)
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, p)
}

var _ interface {
	framework.FrontEnd
	framework.Exiter
	framework.Parented
} = (*front)(nil)

var errTest = errors.New("test")
