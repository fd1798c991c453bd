package lsp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Each registration is taken back by its own id.
func TestRegister(t *testing.T) {
	var log []string
	err := ask(t, func(m *jsonrpc2.Mux) {
		m.HandleRequest("client/registerCapability", jsonrpc2.Call(func(_ context.Context, p *protocol.RegistrationParams) (any, error) {
			r := p.Registrations[0]
			log = append(log, fmt.Sprint("+", r.ID, " ", r.Method, " ", string(r.RegisterOptions)))
			return nil, nil
		}))
		m.HandleRequest("client/unregisterCapability", jsonrpc2.Call(func(_ context.Context, p *protocol.UnregistrationParams) (any, error) {
			r := p.Unregisterations[0]
			log = append(log, fmt.Sprint("-", r.ID, " ", r.Method))
			return nil, nil
		}))
	}, func(ctx context.Context, c *Client) error {
		a, err1 := c.Watch(ctx, Watcher("**/*.md"), Watcher("**/*.go", protocol.WatchKindCreate, protocol.WatchKindDelete))
		b, err2 := c.Register(ctx, "textDocument/semanticTokens", &protocol.SemanticTokensRegistrationOptions{})
		_, err3 := c.Register(ctx, "workspace/didChangeConfiguration", nil)
		return errors.Join(err1, err2, err3, b.Unregister(ctx), a.Unregister(ctx), a.Unregister(ctx), (*Registration)(nil).Unregister(ctx))
	})
	want := []string{
		`+tandem-1 workspace/didChangeWatchedFiles {"watchers":[{"globPattern":"**/*.md"},{"globPattern":"**/*.go","kind":5}]}`,
		`+tandem-2 textDocument/semanticTokens {"documentSelector":null,"legend":{"tokenTypes":[],"tokenModifiers":[]}}`,
		`+tandem-3 workspace/didChangeConfiguration `,
		`-tandem-2 textDocument/semanticTokens`, `-tandem-1 workspace/didChangeWatchedFiles`,
	}
	if err != nil || !slices.Equal(log, want) {
		t.Errorf("%v\n%s\nwant\n%s", err, strings.Join(log, "\n"), strings.Join(want, "\n"))
	}
}

func TestRegisterRefusals(t *testing.T) {
	_ = ask(t, nil, func(ctx context.Context, c *Client) error {
		for _, tt := range []struct {
			method  string
			options any
		}{
			{"completionItem/resolve", nil}, {"no/such", nil}, {"textDocument/semanticTokens/full", nil}, {"initialize", nil},
			{"textDocument/hover", protocol.CompletionRegistrationOptions{}}, {"textDocument/hover", 7},
		} {
			if _, err := c.Register(ctx, tt.method, tt.options); err == nil || errors.Is(err, ErrUnsupported) {
				t.Errorf("%s with %T: %v", tt.method, tt.options, err)
			}
		}
		return nil
	})
	p := connect(t, &Server{Hover: func(ctx context.Context, _ *protocol.HoverParams) (*protocol.Hover, error) {
		c := ClientFrom(ctx)
		_, err1 := c.Register(ctx, "textDocument/hover", nil)
		_, err2 := c.Watch(ctx, Watcher("*"))
		_, err3 := c.Watch(ctx, protocol.FileSystemWatcher{GlobPattern: &protocol.RelativePattern{BaseURI: protocol.URI("file:///a"), Pattern: "*"}})
		for i, err := range []error{
			err1, err2, err3, c.Refresh(ctx, "workspace/codeLens/refresh"), c.ApplyEdit(ctx, "", protocol.WorkspaceEdit{}), c.RefreshContent(ctx, "file:///a"),
		} {
			var e *CapabilityError
			if !errors.Is(err, ErrUnsupported) || !errors.As(err, &e) || !strings.Contains(err.Error(), e.Capability) {
				t.Errorf("%d: %v", i, err)
			}
		}
		_, err4 := c.AskFolders(ctx)
		_, err5 := c.Configuration(ctx)
		_, err6 := c.ShowDocument(ctx, &protocol.ShowDocumentParams{URI: "file:///a"})
		for _, err := range []error{err4, err5, err6} {
			if !errors.Is(err, ErrUnsupported) {
				t.Error(err)
			}
		}
		c.RefreshSoon()
		c.RefreshSoon("no/such")
		return nil, c.Refresh(ctx, "textDocument/hover")
	}})
	p.init(plainInit)
	wantCode(t, p.try("textDocument/hover", hoverParams, nil), jsonrpc2.CodeInternalError) // nothing that refreshes
	if _, err := new(Client).Register(context.Background(), "textDocument/hover", nil); !errors.Is(err, ErrNoClient) {
		t.Error(err)
	}
	new(Client).RefreshSoon("workspace/codeLens/refresh")
}

// With Options.Dynamic the client hears of everything once it is initialized, in one request.
func TestRegisteredLater(t *testing.T) {
	got := make(chan []protocol.Registration, 1)
	p := dial(t, &Server{Hover: showText, Options: Options{Dynamic: true}, Definition: func(context.Context, *protocol.DefinitionParams) (protocol.DefinitionResult, error) {
		return nil, nil
	}})
	p.mux.HandleRequest("client/registerCapability", jsonrpc2.Call(func(_ context.Context, r *protocol.RegistrationParams) (any, error) {
		got <- r.Registrations
		return nil, nil
	}))
	p.start()
	res := p.init(`{"processId":null,"rootUri":null,"capabilities":{"textDocument":{"hover":{"dynamicRegistration":true},"definition":{"dynamicRegistration":false}}}}`)
	if res.Capabilities.HoverProvider != nil || res.Capabilities.DefinitionProvider == nil {
		t.Errorf("announced %+v", res.Capabilities)
	}
	if rs := receive(t, got); len(rs) != 1 || rs[0].Method != "textDocument/hover" {
		t.Errorf("registered %+v", rs)
	}
	p.open("file:///a", 1, "x")
	if s, _ := p.text("file:///a"); s != "x" { // served all the same
		t.Errorf("text is %q", s)
	}
}

// Calls within the interval are one request; calls while the client has not answered are one more.
func TestRefreshSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		count := map[string]int{}
		hold := make(chan struct{})
		var c *Client
		p := dial(t, &Server{Hover: func(ctx context.Context, _ *protocol.HoverParams) (*protocol.Hover, error) {
			c = ClientFrom(ctx)
			return nil, nil
		}})
		for _, rt := range routes() {
			if rt.way == toClient && strings.HasSuffix(rt.method, "/refresh") {
				p.mux.HandleRequest(rt.method, jsonrpc2.HandlerFunc(func(_ context.Context, r *jsonrpc2.Request) (any, error) {
					mu.Lock()
					count[r.Method]++
					mu.Unlock()
					<-hold
					return nil, nil
				}))
			}
		}
		p.start()
		p.init(ableInit)
		p.call("textDocument/hover", hoverParams, nil)
		check := func(what string, n int) {
			t.Helper()
			mu.Lock()
			defer mu.Unlock()
			if count[what] != n {
				t.Errorf("%s was sent %d times, want %d", what, count[what], n)
			}
		}
		const lens, hint = "workspace/codeLens/refresh", "workspace/inlayHint/refresh"
		for range 50 {
			c.RefreshSoon(lens)
		}
		synctest.Wait()
		check(lens, 0)
		time.Sleep(2 * RefreshInterval)
		synctest.Wait()
		check(lens, 1)
		for range 50 {
			c.RefreshSoon(lens, hint)
		}
		time.Sleep(2 * RefreshInterval)
		synctest.Wait()
		check(lens, 1) // the first has not been answered
		check(hint, 1)
		close(hold)
		time.Sleep(2 * RefreshInterval)
		synctest.Wait()
		check(lens, 2)
		check(hint, 1)
		c.RefreshSoon()
		time.Sleep(2 * RefreshInterval)
		synctest.Wait()
		check(lens, 3)
		check("workspace/diagnostic/refresh", 1)
		check("workspace/textDocumentContent/refresh", 0)
		_ = p.conn.Close()
	})
}

// Server.ClientTimeout gives up a client that does not answer, where no person is waited for.
func TestClientTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := jsonrpc2.HandlerFunc(func(ctx context.Context, _ *jsonrpc2.Request) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		p := dial(t, &Server{ClientTimeout: time.Minute, Hover: func(ctx context.Context, _ *protocol.HoverParams) (*protocol.Hover, error) {
			c, begin := ClientFrom(ctx), time.Now()
			if err := c.Refresh(ctx, "workspace/codeLens/refresh"); !errors.Is(err, ErrClientTimeout) || time.Since(begin) != time.Minute {
				t.Errorf("after %v: %v", time.Since(begin), err)
			}
			short, stop := context.WithTimeout(ctx, time.Second)
			defer stop()
			if err := c.Refresh(short, "workspace/codeLens/refresh"); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrClientTimeout) {
				t.Errorf("a deadline of the caller's own: %v", err)
			}
			person, stop := context.WithTimeout(ctx, time.Hour)
			defer stop()
			begin = time.Now()
			if _, err := c.Ask(person, protocol.MessageTypeInfo, "?"); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Hour {
				t.Errorf("a question to a person: %v after %v", err, time.Since(begin))
			}
			return nil, nil
		}})
		p.mux.HandleRequest("workspace/codeLens/refresh", silent)
		p.mux.HandleRequest("window/showMessageRequest", silent)
		p.start()
		p.init(ableInit)
		if err := p.conn.Call(context.Background(), "textDocument/hover", raw(hoverParams), nil); err != nil {
			t.Error(err)
		}
		_ = p.conn.Close()
	})
}
