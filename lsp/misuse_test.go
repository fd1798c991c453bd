package lsp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// A document that is out of sync is diagnosed as it was. Else a client that asks would be told to ask again, without end.
func TestPullOutOfSync(t *testing.T) {
	const a = "file:///a"
	p := connect(t, &Server{Diagnose: func(_ context.Context, d *Document) ([]protocol.Diagnostic, error) {
		return finding(d.Text()), nil
	}})
	p.init(pullInit)
	p.open(a, 5, "one")
	want(t, "report", p.pull(a, "").messages(), "full:one")
	p.change(a, 3, edit(0, 0, 0, 0, "x")) // a version that went back
	want(t, "report out of sync", p.pull(a, "").messages(), "full:one")
	p.change(a, 6, edit(0, 0, 0, 0, "x")) // still
	want(t, "report still out of sync", p.pull(a, "").messages(), "full:one")
	p.change(a, 7, object("text", "two"))
	want(t, "report of the new text", p.pull(a, "").messages(), "full:two")
}

// What a cell's document has is the same.
func TestPullCellOutOfSync(t *testing.T) {
	p := connect(t, &Server{
		Diagnose: func(_ context.Context, d *Document) ([]protocol.Diagnostic, error) {
			return finding(d.Text()), nil
		},
		DidOpenNotebook: func(context.Context, *Notebook) error { return nil },
	})
	p.init(pullInit)
	p.notify("notebookDocument/didOpen", `{"notebookDocument":{"uri":"file:///n","notebookType":"x","version":1,"cells":[{"kind":2,"document":"cell:/1"}]},`+
		`"cellTextDocuments":[{"uri":"cell:/1","languageId":"x","version":4,"text":"one"}]}`)
	want(t, "report", p.pull("cell:/1", "").messages(), "full:one")
	p.notify("notebookDocument/didChange", `{"notebookDocument":{"uri":"file:///n","version":2},"change":{"cells":{"textContent":[{"document":{"uri":"cell:/1","version":2},"changes":[{"text":"x"}]}]}}}`)
	want(t, "report out of sync", p.pull("cell:/1", "").messages(), "full:one")
}

// A function of the user that panics does not keep documents from being diagnosed, or what was found from being withdrawn.
func TestPanickingHooks(t *testing.T) {
	const a = "file:///a"
	var r reports
	boom := func(context.Context, *Document) error { panic("boom") }
	server := func() *Server {
		return &Server{
			DidOpen: boom, DidChange: boom, DidClose: boom, Reporter: r.add,
			DidOpenNotebook: func(context.Context, *Notebook) error { return nil },
			Diagnose: func(_ context.Context, d *Document) ([]protocol.Diagnostic, error) {
				return finding(d.Text()), nil
			},
		}
	}
	t.Run("push", func(t *testing.T) {
		p := connect(t, server())
		p.init(plainInit)
		p.open(a, 1, "one")
		if d := receive(t, p.diagnostics); len(d.Diagnostics) != 1 {
			t.Errorf("published %+v", d)
		}
		p.notify("textDocument/didClose", object("textDocument", object("uri", a)))
		if d := receive(t, p.diagnostics); len(d.Diagnostics) != 0 {
			t.Errorf("published %+v after the end", d)
		}
	})
	t.Run("pull", func(t *testing.T) {
		p := connect(t, server())
		p.init(pullInit)
		p.open(a, 1, "one")
		want(t, "report", p.pull(a, "").messages(), "full:one")
		p.change(a, 2, object("text", "two"))
		want(t, "report", p.pull(a, "").messages(), "full:two")
	})
	t.Run("cells", func(t *testing.T) {
		p := connect(t, server())
		p.init(pullInit)
		p.notify("notebookDocument/didOpen", `{"notebookDocument":{"uri":"file:///n","notebookType":"x","version":1,"cells":[{"kind":2,"document":"cell:/1"},{"kind":2,"document":"cell:/2"}]},`+
			`"cellTextDocuments":[{"uri":"cell:/1","languageId":"x","version":1,"text":"one"},{"uri":"cell:/2","languageId":"x","version":1,"text":"two"}]}`)
		want(t, "report", p.pull("cell:/1", "").messages(), "full:one")
		want(t, "report", p.pull("cell:/2", "").messages(), "full:two")
		p.notify("notebookDocument/didClose", `{"notebookDocument":{"uri":"file:///n"},"cellTextDocuments":[]}`)
		want(t, "report", p.pull("cell:/1", "").messages(), "full:")
		want(t, "report", p.pull("cell:/2", "").messages(), "full:")
	})
	panics := 0
	for _, err := range r.list() {
		if _, ok := errors.AsType[*jsonrpc2.PanicError](err); ok {
			panics++
		}
	}
	if panics < 6 {
		t.Errorf("%d panics were reported: %v", panics, r.list())
	}
}

// Nothing is kept of documents that are closed, however many there were.
func TestNothingIsKept(t *testing.T) {
	for _, init := range []string{plainInit, pullInit, aloneInit} {
		sessions := make(chan *session, 1)
		p := connect(t, &Server{
			Initialized: func(ctx context.Context) error {
				sessions <- scopeFrom(ctx).s
				return nil
			},
			Diagnose: func(ctx context.Context, d *Document) ([]protocol.Diagnostic, error) {
				_ = ReportFor(ctx, d.URI()+"-other", finding("other")...)
				return finding(d.Text()), nil
			},
		})
		p.init(init)
		s := receive(t, sessions)
		for i := range 20 {
			u := fmt.Sprintf("file:///%d", i)
			p.open(u, 1, "one")
			if init != plainInit {
				p.pull(u, "")
			} else {
				for receive(t, p.diagnostics).URI != uriOf(u) {
				}
			}
			p.change(u, 2, object("text", "two"))
			if init != plainInit {
				p.pull(u, "")
			}
			p.notify("textDocument/didClose", object("textDocument", object("uri", u)))
		}
		deadline := time.Now().Add(time.Minute)
		for {
			_ = p.try("textDocument/diagnostic", object("textDocument", object("uri", "file:///0")), nil) // all before it has been handled
			s.diag.mu.Lock()
			b := &s.diag.board
			kept := fmt.Sprint(len(s.diag.docs), len(b.sheets), len(b.spread), len(b.dirty), s.docs.Load().Len(), s.docs.Load().names == nil)
			s.diag.mu.Unlock()
			if kept == "0 0 0 0 0 true" {
				break
			}
			if time.Now().After(deadline) {
				t.Errorf("%s: kept %s", init, kept)
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// What is registered once the client is initialized is registered once, also if it says so twice, and also if a setting was asked for before.
func TestInitializedTwice(t *testing.T) {
	var hovers, settings, runs atomic.Int32
	ran := make(chan struct{}, 10)
	p := dial(t, &Server{
		Options:                Options{Dynamic: true},
		Initialized:            func(context.Context) error { runs.Add(1); ran <- struct{}{}; return nil },
		DidChangeConfiguration: func(context.Context, *protocol.DidChangeConfigurationParams) error { return nil },
		Hover: func(ctx context.Context, _ *protocol.HoverParams) (*protocol.Hover, error) {
			return nil, ClientFrom(ctx).Setting(ctx, "x", new(any))
		},
	})
	both := make(chan struct{}, 10)
	p.mux.HandleRequest("client/registerCapability", jsonrpc2.HandlerFunc(func(_ context.Context, r *jsonrpc2.Request) (any, error) {
		switch params := string(r.Params()); {
		case strings.Contains(params, "hover"):
			hovers.Add(1)
		case strings.Contains(params, "didChangeConfiguration"):
			settings.Add(1)
		}
		both <- struct{}{}
		return nil, nil
	}))
	p.mux.HandleRequest("workspace/configuration", jsonrpc2.HandlerFunc(func(context.Context, *jsonrpc2.Request) (any, error) { return []any{1}, nil }))
	p.start()
	p.call("initialize", ableInit, nil)
	hover := object("textDocument", object("uri", "file:///a"), "position", object("line", 0, "character", 0))
	p.call("textDocument/hover", hover, nil)
	p.notify("initialized", `{}`)
	p.notify("initialized", `{}`)
	p.call("textDocument/hover", hover, nil)
	receive(t, both)
	receive(t, both)
	receive(t, ran)
	p.call("shutdown", nil, nil)
	if hovers.Load() != 1 || settings.Load() != 1 || runs.Load() != 1 {
		t.Errorf("registered %d times, settings %d times, initialized %d times", hovers.Load(), settings.Load(), runs.Load())
	}
}

// Goroutines of one handler may begin progress at the same time: one of them has the token of the request.
func TestBeginTogether(t *testing.T) {
	p := dial(t, &Server{References: func(ctx context.Context, _ *protocol.ReferenceParams) ([]protocol.Location, error) {
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				w := ClientFrom(ctx).Begin(ctx, Work{Title: "w"})
				w.Report("", 0)
				w.End("")
			})
		}
		all.Wait()
		return nil, nil
	}})
	mine := make(chan string, 100)
	p.mux.HandleNotification("$/progress", jsonrpc2.HandlerFunc(func(_ context.Context, r *jsonrpc2.Request) (any, error) {
		if s := string(r.Params()); strings.Contains(s, `"mine"`) {
			mine <- s
		}
		return nil, nil
	}))
	p.start()
	p.init(plainInit)
	p.call("textDocument/references", `{"textDocument":{"uri":"file:///a"},"position":{"line":0,"character":0},"context":{"includeDeclaration":true},"workDoneToken":"mine"}`, nil)
	var kinds []string // of one progress, in their order, and of no other
	for range 3 {
		_, kind, _ := strings.Cut(receive(t, mine), `"kind":"`)
		kind, _, _ = strings.Cut(kind, `"`)
		kinds = append(kinds, kind)
	}
	if want := []string{"begin", "report", "end"}; !slices.Equal(kinds, want) {
		t.Errorf("progress is %q, want %q", kinds, want)
	}
}

// Typing into a document that the server does not have is told to the client's log once, and again after it was opened.
func TestStrangerIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, &Server{Hover: showText})
		p.init(plainInit)
		for i := range 100 {
			p.change("file:///a", i, edit(0, 0, 0, 0, "x"))
		}
		p.open("file:///a", 1, "x")
		synctest.Wait()
		if n := len(p.logs); n != 1 {
			t.Errorf("%d lines in the client's log", n)
		}
		p.notify("textDocument/didClose", object("textDocument", object("uri", "file:///a")))
		p.change("file:///a", 2, edit(0, 0, 0, 0, "x"))
		p.open("file:///a", 1, "x")
		synctest.Wait()
		if n := len(p.logs); n != 2 {
			t.Errorf("%d lines in the client's log after the second time", n)
		}
	})
}
