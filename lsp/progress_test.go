package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

const progressInit = `{"processId":null,"rootUri":null,"capabilities":{"window":{"workDoneProgress":true}}}`

// progressPeer serves the command "work", which runs f, and gathers what comes under $/progress, with the answers in between.
func progressPeer(t *testing.T, init string, create error, f func(context.Context) error) (p *peer, seen chan string, run func(token string) error) {
	t.Helper()
	seen = make(chan string, 1000)
	p = dial(t, &Server{Commands: map[string]func(context.Context, []json.RawMessage) (any, error){
		"work": func(ctx context.Context, _ []json.RawMessage) (any, error) { return nil, f(ctx) },
	}, Extend: func(m *jsonrpc2.Mux) {
		m.HandleRequest("barrier", jsonrpc2.HandlerFunc(func(ctx context.Context, _ *jsonrpc2.Request) (any, error) {
			return nil, ClientFrom(ctx).Conn().Call(ctx, "barrier", nil, nil)
		}))
	}})
	p.mux.HandleRequest("barrier", jsonrpc2.HandlerFunc(func(context.Context, *jsonrpc2.Request) (any, error) { return nil, nil }))
	p.mux.HandleRequest("window/workDoneProgress/create", jsonrpc2.Call(func(_ context.Context, c *protocol.WorkDoneProgressCreateParams) (any, error) {
		seen <- fmt.Sprint("create ", c.Token)
		return nil, create
	}))
	p.mux.HandleNotification("$/progress", jsonrpc2.Note(func(_ context.Context, v *protocol.ProgressParams) error {
		seen <- fmt.Sprint(v.Token, " ", string(v.Value))
		return nil
	}))
	p.start()
	p.init(init)
	return p, seen, func(token string) error {
		params := `{"command":"work"}`
		if token != "" {
			params = `{"command":"work","workDoneToken":` + token + `}`
		}
		return p.try("workspace/executeCommand", params, nil)
	}
}

// drain returns what the client has seen once it has handled everything the server has sent. A request, from the server too, is handled after the
// notifications before it.
func drain(p *peer, c chan string) string {
	p.t.Helper()
	p.call("barrier", nil, nil)
	var all []string
	for len(c) > 0 {
		all = append(all, <-c)
	}
	return strings.Join(all, "\n")
}

func TestProgressTokens(t *testing.T) {
	work := func(ctx context.Context) error {
		w := ClientFrom(ctx).Begin(ctx, Work{Title: "T", Percent: true})
		w.Report("half", 50)
		w.Report("back", 20)
		w.Report("", 1000)
		w.End("done")
		w.Report("late", 60)
		w.End("again")
		return nil
	}
	rest := func(token string) string {
		return token + ` {"kind":"begin","title":"T","percentage":0}` + "\n" + token + ` {"kind":"report","message":"half","percentage":50}` + "\n" +
			token + ` {"kind":"report","message":"back","percentage":50}` + "\n" + token + ` {"kind":"report","percentage":100}` + "\n" + token + ` {"kind":"end","message":"done"}`
	}
	tests := []struct {
		name, init, token string
		create            error
		want              string
	}{
		{"token of the request", progressInit, `"abc"`, nil, rest("abc")},
		{"number", progressInit, `17`, nil, rest("17")},
		{"the client has not said that it shows progress, but sent a token", plainInit, `0`, nil, rest("0")},
		{"token of ours", progressInit, ``, nil, "create work-1\n" + rest("work-1")},
		{"token null", progressInit, `null`, nil, "create work-1\n" + rest("work-1")},
		{"no capability", plainInit, ``, nil, ""},
		{"refused", progressInit, ``, errors.New("no room"), "create work-1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, seen, run := progressPeer(t, tt.init, tt.create, work)
			if err := run(tt.token); err != nil {
				t.Fatal(err)
			}
			if got := drain(p, seen); got != tt.want {
				t.Errorf("the client saw\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// A token of a request is good for one progress, while the handler runs.
func TestProgressEndsWithRequest(t *testing.T) {
	var kept *Progress
	p, seen, run := progressPeer(t, progressInit, nil, func(ctx context.Context) error {
		kept = ClientFrom(ctx).Begin(ctx, Work{Title: "first"})
		second := ClientFrom(ctx).Begin(ctx, Work{Title: "second"})
		second.End("")
		return errors.New("forgot to end")
	})
	wantCode(t, run(`"abc"`), jsonrpc2.CodeInternalError)
	kept.Report("from the grave", 0)
	kept.End("")
	want := `abc {"kind":"begin","title":"first"}` + "\ncreate work-1\n" + `work-1 {"kind":"begin","title":"second"}` + "\n" + `work-1 {"kind":"end"}` + "\n" + `abc {"kind":"end"}`
	if got := drain(p, seen); got != want {
		t.Errorf("the client saw\n%s\nwant\n%s", got, want)
	}
}

func TestProgressEndsWithPanic(t *testing.T) {
	p, seen, run := progressPeer(t, progressInit, nil, func(ctx context.Context) error {
		ClientFrom(ctx).Begin(ctx, Work{Title: "T"})
		panic("boom")
	})
	wantCode(t, run(`1`), jsonrpc2.CodeInternalError)
	if got := drain(p, seen); !strings.HasSuffix(got, `1 {"kind":"end"}`) {
		t.Errorf("the client saw\n%s", got)
	}
}

func TestProgressCancelledByUser(t *testing.T) {
	for _, token := range []string{`"abc"`, `0`, ``} {
		t.Run(token, func(t *testing.T) {
			var cause error
			begun := make(chan struct{})
			p, seen, run := progressPeer(t, progressInit, nil, func(ctx context.Context) error {
				w := ClientFrom(ctx).Begin(ctx, Work{Title: "T", Cancellable: true})
				defer w.End("stopped")
				close(begun)
				<-w.Context().Done()
				cause = context.Cause(w.Context())
				if ctx.Err() != nil {
					t.Error("the request's context has ended as well")
				}
				return nil
			})
			name := token
			if name == "" {
				name = `"work-1"`
			}
			go func() {
				<-begun
				_ = p.conn.Notify(context.Background(), "window/workDoneProgress/cancel", json.RawMessage(`{"token":"unknown"}`))
				_ = p.conn.Notify(context.Background(), "window/workDoneProgress/cancel", json.RawMessage(`{}`))
				_ = p.conn.Notify(context.Background(), "window/workDoneProgress/cancel", json.RawMessage(`{"token":`+name+`}`))
			}()
			if err := run(token); err != nil {
				t.Fatal(err)
			}
			if !errors.Is(cause, ErrProgressCancelled) {
				t.Errorf("cause is %v", cause)
			}
			if got := drain(p, seen); !strings.Contains(got, `"cancellable":true`) || !strings.HasSuffix(got, `{"kind":"end","message":"stopped"}`) {
				t.Errorf("the client saw\n%s", got)
			}
		})
	}
}

// A request that was cancelled reports nothing more but still ends its progress.
func TestProgressOfCancelledRequest(t *testing.T) {
	begun, ended := make(chan struct{}), make(chan struct{})
	p, seen, _ := progressPeer(t, progressInit, nil, func(ctx context.Context) error {
		defer close(ended)
		w := ClientFrom(ctx).Begin(ctx, Work{Title: "T"})
		defer w.End("")
		close(begun)
		<-ctx.Done()
		w.Report("too late", 1)
		return ctx.Err()
	})
	call := p.conn.Go(context.Background(), "workspace/executeCommand", json.RawMessage(`{"command":"work","workDoneToken":9}`))
	<-begun
	call.Cancel()
	<-ended
	if got := drain(p, seen); got != `9 {"kind":"begin","title":"T"}`+"\n"+`9 {"kind":"end"}` {
		t.Errorf("the client saw\n%s", got)
	}
}
