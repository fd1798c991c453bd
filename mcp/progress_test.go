package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

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

// Input that is over does not fail a tool that reports progress: the answer is owed, and what is reported still goes ahead of it.
func TestProgressAfterInput(t *testing.T) {
	s := &Server{Logging: true, Caller: func(ctx context.Context, _ string, _ Arguments) (any, error) {
		<-jsonrpc2.ConnFrom(ctx).Closing()
		if err := Progress(ctx, 1, 2, ""); err != nil {
			return nil, err
		}
		if err := SessionFrom(ctx).Log(ctx, LevelError, "", "still here"); err != nil {
			return nil, err
		}
		return TextResult("done"), nil
	}}
	o := &jsonrpc2.Options{Linger: time.Minute}
	mux, err := s.Mount(o)
	if err != nil {
		t.Fatal(err)
	}
	output, w := io.Pipe()
	input := strings.NewReader(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":1}}}
`)
	done := make(chan error, 1)
	go func() {
		done <- jsonrpc2.NewConn(jsonrpc2.Open(jsonrpc2.Join(io.NopCloser(input), w), jsonrpc2.Lines), mux, o).Serve(context.Background())
	}()
	got, err := io.ReadAll(output)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	lines := strings.Split(strings.TrimSpace(string(got)), "\n")
	for i, want := range []string{`"protocolVersion":`, `"method":"notifications/progress"`, `"still here"`, `"text":"done"`} {
		if i >= len(lines) || !strings.Contains(lines[i], want) {
			t.Errorf("line %d has no %s in\n%s", i, want, got)
		}
	}
}

// A level holds for what is pipelined behind it, also where middleware takes its time.
func TestLevelInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{Logging: true, Caller: func(ctx context.Context, _ string, _ Arguments) (any, error) {
			return nil, SessionFrom(ctx).Log(ctx, LevelDebug, "", "heard")
		}}
		s.Middleware = []jsonrpc2.Middleware{func(next jsonrpc2.Handler) jsonrpc2.Handler {
			return jsonrpc2.HandlerFunc(func(ctx context.Context, r *jsonrpc2.Request) (any, error) {
				if r.Method == "logging/setLevel" {
					time.Sleep(time.Second)
				}
				return next.Handle(ctx, r)
			})
		}}
		w := start(t, s, "2025-11-25")
		w.send(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}`, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}`)
		w.want(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		w.want(logged("debug", `,"data":"heard"`))
		w.want(`{"jsonrpc":"2.0","id":2,"result":{}}`)
		w.close()
	})
}
