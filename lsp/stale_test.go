package lsp

import (
	"context"
	"testing"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Requests about a document that changes are ended, those about others are not, and a result that is there counts.
func TestCancelStale(t *testing.T) {
	started := make(chan string, 10)
	leave := make(chan struct{})
	p := connect(t, &Server{CancelStale: true, Hover: func(ctx context.Context, p *protocol.HoverParams) (*protocol.Hover, error) {
		started <- string(p.TextDocument.URI)
		switch {
		case p.TextDocument.URI == "file:///other":
			<-leave
			return nil, ctx.Err()
		case p.Position.Line == 1:
			<-ctx.Done()
			return &protocol.Hover{Contents: PlainText("still good")}, nil
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	p.init(plainInit)
	p.open("file:///a", 1, "")
	p.open("file:///other", 1, "")
	hover := func(u string, line int) *jsonrpc2.Pending {
		h := p.conn.Go(context.Background(), "textDocument/hover", object("textDocument", object("uri", u), "position", object("line", line, "character", 0)))
		receive(t, started)
		return h
	}
	other := hover("file:///other", 0)
	changed, good := hover("file:///a", 0), hover("file:///a", 1)
	p.change("file:///a", 2, edit(0, 0, 0, 0, "x"))
	wantCode(t, changed.Wait(nil), CodeContentModified)
	if err := good.Wait(nil); err != nil {
		t.Error(err)
	}
	closed := hover("file:///a", 0)
	p.notify("textDocument/didClose", object("textDocument", object("uri", "file:///a")))
	wantCode(t, closed.Wait(nil), CodeContentModified)
	close(leave)
	if err := other.Wait(nil); err != nil {
		t.Errorf("the request about another document: %v", err)
	}
}

// A request that had to wait until its document changed does not run at all.
func TestStaleBeforeItStarts(t *testing.T) {
	s := newSession(&Server{CancelStale: true})
	s.docs.Store(s.docs.Load().put(NewDocument("file:///a", "x", 1, "", "utf-8")))
	ctx := s.scope(context.Background())
	ran := false
	h := s.stale.watch(jsonrpc2.HandlerFunc(func(context.Context, *jsonrpc2.Request) (any, error) { ran = true; return nil, nil }))
	r := jsonrpc2.NewRequest("textDocument/hover", jsonrpc2.NumberID(1), []byte(hoverParams))
	if _, err := h.Handle(ctx, r); err != nil || !ran {
		t.Errorf("a fresh request: %v, ran %v", err, ran)
	}
	s.docs.Store(s.docs.Load().put(NewDocument("file:///a", "x", 2, "", "utf-8")))
	ran = false
	_, err := h.Handle(ctx, r)
	wantCode(t, err, CodeContentModified)
	if ran || len(s.stale.runs) != 0 {
		t.Errorf("ran %v, %d documents left", ran, len(s.stale.runs))
	}
}

func BenchmarkCancelStale(b *testing.B) {
	for name, srv := range map[string]*Server{"off": {Hover: showText}, "on": {Hover: showText, CancelStale: true}} {
		b.Run(name, func(b *testing.B) {
			p := connect(b, srv)
			p.init(plainInit)
			p.open("file:///a", 1, "")
			b.ReportAllocs()
			for b.Loop() {
				p.call("textDocument/hover", hoverParams, nil)
			}
		})
	}
}
