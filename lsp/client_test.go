package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// ask serves a hover that runs f with the client, and returns what f returned.
func ask(t *testing.T, add func(*jsonrpc2.Mux), f func(context.Context, *Client) error) error {
	t.Helper()
	var got error
	p := dial(t, &Server{Hover: func(ctx context.Context, _ *protocol.HoverParams) (*protocol.Hover, error) {
		got = f(ctx, ClientFrom(ctx))
		return nil, nil
	}})
	if add != nil {
		add(p.mux)
	}
	p.start()
	p.init(ableInit)
	p.call("textDocument/hover", hoverParams, nil)
	return got
}

// answer makes a client handler that checks the params' bytes and answers with bytes.
func answer(t *testing.T, params, result string) jsonrpc2.Handler {
	return jsonrpc2.HandlerFunc(func(_ context.Context, r *jsonrpc2.Request) (any, error) {
		var got, want any
		_ = json.Unmarshal(r.Params(), &got)
		_ = json.Unmarshal([]byte(params), &want)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s got %s, want %s", r.Method, r.Params(), params)
		}
		return json.RawMessage(result), nil
	})
}

func TestClientRequests(t *testing.T) {
	section := "editor"
	tests := []struct {
		name                   string
		method, params, result string
		do                     func(context.Context, *Client) (any, error)
		want                   any
	}{
		{"ask", "window/showMessageRequest", `{"type":3,"message":"Sure?","actions":[{"title":"Yes"},{"title":"No"}]}`, `{"title":"No"}`,
			func(ctx context.Context, c *Client) (any, error) {
				return c.Ask(ctx, protocol.MessageTypeInfo, "Sure?", "Yes", "No")
			}, "No"},
		{"ask, dismissed", "window/showMessageRequest", `{"type":1,"message":"Oops"}`, `null`,
			func(ctx context.Context, c *Client) (any, error) {
				return c.Ask(ctx, protocol.MessageTypeError, "Oops")
			}, ""},
		{"show a document", "window/showDocument", `{"uri":"https://example.org/"}`, `{"success":true}`,
			func(ctx context.Context, c *Client) (any, error) {
				return c.ShowDocument(ctx, &protocol.ShowDocumentParams{URI: "https://example.org/"})
			}, true},
		{"configuration", "workspace/configuration", `{"items":[{"section":"editor"},{}]}`, `[{"tab":4},null]`,
			func(ctx context.Context, c *Client) (any, error) {
				v, err := c.Configuration(ctx, protocol.ConfigurationItem{Section: &section}, protocol.ConfigurationItem{})
				return string(v[0]) + string(v[1]), err
			}, `{"tab":4}null`},
		{"setting", "workspace/configuration", `{"items":[{"section":"editor"}]}`, `[{"tab":4}]`,
			func(ctx context.Context, c *Client) (any, error) {
				var v struct {
					Tab int `json:"tab"`
				}
				err := c.Setting(ctx, "editor", &v)
				return v.Tab, err
			}, 4},
		{"setting that is not there", "workspace/configuration", `{"items":[{"section":"editor"}]}`, `[null]`,
			func(ctx context.Context, c *Client) (any, error) {
				v := 7
				err := c.Setting(ctx, "editor", &v)
				return v, err
			}, 7},
		{"folders", "workspace/workspaceFolders", ``, `[{"uri":"file:///a","name":"a"}]`,
			func(ctx context.Context, c *Client) (any, error) {
				f, err := c.AskFolders(ctx)
				return len(f), err
			}, 1},
		{"no folders", "workspace/workspaceFolders", ``, `null`,
			func(ctx context.Context, c *Client) (any, error) {
				f, err := c.AskFolders(ctx)
				return len(f), err
			}, 0},
		{"edit", "workspace/applyEdit", `{"label":"Tidy","edit":{"changes":{"file:///a":[]}}}`, `{"applied":true}`,
			func(ctx context.Context, c *Client) (any, error) {
				return nil, c.ApplyEdit(ctx, "Tidy", protocol.WorkspaceEdit{Changes: map[uri.URI][]protocol.TextEdit{"file:///a": {}}})
			}, nil},
		{"register", "client/registerCapability", `{"registrations":[{"id":"tandem-1","method":"textDocument/hover","registerOptions":{"documentSelector":null}}]}`, `null`,
			func(ctx context.Context, c *Client) (any, error) {
				_, err := c.Register(ctx, "textDocument/hover", protocol.HoverRegistrationOptions{})
				return nil, err
			}, nil},
		{"refresh", "workspace/inlayHint/refresh", ``, `null`,
			func(ctx context.Context, c *Client) (any, error) {
				return nil, c.Refresh(ctx, "workspace/inlayHint/refresh")
			}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got any
			err := ask(t, func(m *jsonrpc2.Mux) { m.HandleRequest(tt.method, answer(t, tt.params, tt.result)) }, func(ctx context.Context, c *Client) (err error) {
				got, err = tt.do(ctx, c)
				return err
			})
			if err != nil || got != tt.want {
				t.Errorf("got %v, %v; want %v", got, err, tt.want)
			}
		})
	}
}

func TestClientRequestFailures(t *testing.T) {
	reason := `{"applied":false,"failureReason":"line\nbreak"}`
	err := ask(t, func(m *jsonrpc2.Mux) { m.HandleRequest("workspace/applyEdit", answer(t, `{"edit":{}}`, reason)) }, func(ctx context.Context, c *Client) error {
		return c.ApplyEdit(ctx, "", protocol.WorkspaceEdit{})
	})
	if !errors.Is(err, ErrNotApplied) || strings.Contains(err.Error(), "\n") {
		t.Errorf("refused edit: %v", err)
	}
	err = ask(t, func(m *jsonrpc2.Mux) {
		m.HandleRequest("workspace/applyEdit", answer(t, `{"edit":{}}`, `{"applied":false}`))
	}, func(ctx context.Context, c *Client) error {
		return c.ApplyEdit(ctx, "", protocol.WorkspaceEdit{})
	})
	if !errors.Is(err, ErrNotApplied) {
		t.Errorf("refused edit: %v", err)
	}
	err = ask(t, func(m *jsonrpc2.Mux) { m.HandleRequest("workspace/configuration", answer(t, `{"items":[{}]}`, `[]`)) }, func(ctx context.Context, c *Client) error {
		_, err := c.Configuration(ctx, protocol.ConfigurationItem{})
		return err
	})
	if err == nil {
		t.Error("no setting for one is no error")
	}
	section := "s"
	err = ask(t, func(m *jsonrpc2.Mux) {
		m.HandleRequest("workspace/configuration", answer(t, `{"items":[{"section":"s"}]}`, `["secret"]`))
	}, func(ctx context.Context, c *Client) error {
		var n int
		return c.Setting(ctx, section, &n)
	})
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("setting of the wrong type: %v", err)
	}
	err = ask(t, nil, func(ctx context.Context, c *Client) error { return c.Refresh(ctx, "workspace/codeLens/refresh") })
	if !errors.Is(err, jsonrpc2.ErrMethodNotFound) {
		t.Errorf("method the client does not have: %v", err)
	}
	// A client that never answers holds nobody but the one who asked, and only as long as that likes to wait.
	err = ask(t, func(m *jsonrpc2.Mux) {
		m.HandleRequest("workspace/codeLens/refresh", jsonrpc2.HandlerFunc(func(ctx context.Context, _ *jsonrpc2.Request) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}))
	}, func(ctx context.Context, c *Client) error {
		ctx, stop := context.WithTimeout(ctx, 20*time.Millisecond)
		defer stop()
		return c.Refresh(ctx, "workspace/codeLens/refresh")
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("client that does not answer: %v", err)
	}
}

func TestClientNotifications(t *testing.T) {
	tests := []struct {
		name, method, params string
		do                   func(context.Context, *Client) error
	}{
		{"show", "window/showMessage", `{"type":2,"message":"hi"}`, func(ctx context.Context, c *Client) error {
			return c.ShowMessage(ctx, protocol.MessageTypeWarning, "hi")
		}},
		{"telemetry", "telemetry/event", `{"a":1}`, func(ctx context.Context, c *Client) error { return c.Telemetry(ctx, map[string]int{"a": 1}) }},
		{"trace", "$/logTrace", `{"message":"m","verbose":"v"}`, func(ctx context.Context, c *Client) error { return c.LogTrace(ctx, "m", "v") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			came := make(chan struct{}, 1)
			h := answer(t, tt.params, "null")
			err := ask(t, func(m *jsonrpc2.Mux) {
				m.HandleNotification(tt.method, jsonrpc2.HandlerFunc(func(ctx context.Context, r *jsonrpc2.Request) (any, error) {
					defer func() { came <- struct{}{} }()
					return h.Handle(ctx, r)
				}))
			}, tt.do)
			if err != nil {
				t.Fatal(err)
			}
			receive(t, came)
		})
	}
}

func TestTraceLevels(t *testing.T) {
	var lines atomic.Int32
	p := dial(t, &Server{Hover: func(ctx context.Context, _ *protocol.HoverParams) (*protocol.Hover, error) {
		c := ClientFrom(ctx)
		return nil, errors.Join(c.LogTrace(ctx, "m", "v"), c.Conn().Call(ctx, "barrier", nil, nil))
	}})
	p.mux.HandleRequest("barrier", jsonrpc2.HandlerFunc(func(context.Context, *jsonrpc2.Request) (any, error) { return nil, nil }))
	p.mux.HandleNotification("$/logTrace", jsonrpc2.Note(func(_ context.Context, l *protocol.LogTraceParams) error {
		lines.Add(1)
		if l.Verbose != nil {
			lines.Add(10)
		}
		return nil
	}))
	p.start()
	p.init(plainInit)
	for _, tt := range []struct {
		value string
		want  int32
	}{{"", 0}, {"off", 0}, {"messages", 1}, {"verbose", 11}, {"of the future", 0}} {
		if tt.value != "" {
			p.notify("$/setTrace", object("value", tt.value))
		}
		lines.Store(0)
		p.call("textDocument/hover", hoverParams, nil)
		if got := lines.Load(); got != tt.want {
			t.Errorf("trace %q: %d, want %d", tt.value, got, tt.want)
		}
	}
}

func TestClientParams(t *testing.T) {
	_ = ask(t, nil, func(_ context.Context, c *Client) error {
		if c.Params().ClientInfo.Name != "ed" || c.Documents().Len() != 0 || c.Conn() == nil {
			t.Errorf("params are %+v", c.Params())
		}
		if !strings.Contains(string(c.RawParams()), "vendorKey") {
			t.Errorf("raw params are %s", c.RawParams())
		}
		return nil
	})
}

// Outside a session everything says so and nothing panics.
func TestNoClient(t *testing.T) {
	ctx := context.Background()
	c := ClientFrom(ctx)
	for name, err := range map[string]error{
		"ShowMessage": c.ShowMessage(ctx, 1, ""), "Refresh": c.Refresh(ctx, "x"), "LogTrace": c.LogTrace(ctx, "", ""),
		"ApplyEdit": c.ApplyEdit(ctx, "", protocol.WorkspaceEdit{}), "Telemetry": c.Telemetry(ctx, 1),
	} {
		if !errors.Is(err, ErrNoClient) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c.Rediagnose()
	if c.Conn() != nil || c.Params() != nil || c.RawParams() != nil || c.Encoding() != "utf-16" || c.Documents().Len() != 0 {
		t.Error("no client knows something")
	}
	w := c.Begin(ctx, Work{Title: "x"})
	w.Report("y", 50)
	w.End("z")
	var none *Progress
	none.Report("", 0)
	none.End("")
	if none.Context() == nil || w.Context().Err() == nil {
		t.Error("context of a progress that never was")
	}
}

// The initialized function may call the client and wait, and nothing else waits for it.
func TestInitializedCalls(t *testing.T) {
	hold, got := make(chan struct{}), make(chan error, 1)
	p := dial(t, &Server{Hover: showText, Initialized: func(ctx context.Context) error {
		err := ClientFrom(ctx).Refresh(ctx, "workspace/codeLens/refresh")
		got <- err
		return err
	}})
	p.mux.HandleRequest("workspace/codeLens/refresh", jsonrpc2.HandlerFunc(func(context.Context, *jsonrpc2.Request) (any, error) {
		<-hold
		return nil, nil
	}))
	p.start()
	p.init(ableInit)
	p.open("file:///a", 1, "x")
	if s, _ := p.text("file:///a"); s != "x" {
		t.Errorf("text is %q", s)
	}
	close(hold)
	if err := receive(t, got); err != nil {
		t.Error(err)
	}
}

// A client that answers without a result, or with less or more than an answer, fails the call and nothing else.
func TestAnswersThatAreNone(t *testing.T) {
	for _, answer := range []string{`"result":null,"error":{"code":1,"message":"both"}`, ``, `"error":null`, `"error":{"code":"x"}`, `"result":7`} {
		t.Run(answer, func(t *testing.T) {
			var got error
			a, b := jsonrpc2.Pipe()
			o := new(jsonrpc2.Options)
			srv := &Server{Hover: func(ctx context.Context, _ *protocol.HoverParams) (*protocol.Hover, error) {
				_, got = ClientFrom(ctx).ShowDocument(ctx, &protocol.ShowDocumentParams{URI: "file:///a"})
				return nil, nil
			}}
			m, err := srv.Mount(o)
			if err != nil {
				t.Fatal(err)
			}
			over := make(chan error, 1)
			go func() { over <- jsonrpc2.NewConn(a, m, o).Serve(context.Background()) }()
			defer func() { _ = b.Close(); <-over }()
			send := func(s string) {
				t.Helper()
				if err := b.Write([]byte(s)); err != nil {
					t.Fatal(err)
				}
			}
			hear := func() (m struct {
				ID     json.RawMessage
				Method string
			}) {
				t.Helper()
				raw, err := b.Read()
				if err == nil {
					err = json.Unmarshal(raw, &m)
				}
				if err != nil {
					t.Fatal(err)
				}
				return m
			}
			send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + ableInit + `}`)
			hear()
			send(`{"jsonrpc":"2.0","id":2,"method":"textDocument/hover","params":` + hoverParams + `}`)
			asked := hear()
			if asked.Method != "window/showDocument" {
				t.Fatalf("the client is sent %+v", asked)
			}
			if answer != "" {
				answer = "," + answer
			}
			send(`{"jsonrpc":"2.0","id":` + string(asked.ID) + answer + `}`)
			if id := hear().ID; string(id) != "2" || got == nil {
				t.Errorf("answer to %s, the call ended with %v", id, got)
			}
		})
	}
}
