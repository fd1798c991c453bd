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
	started, changed := make(chan int, 10), make(chan struct{})
	p := dial(t, &Server{CancelStale: true, Hover: func(_ context.Context, p *protocol.HoverParams) (*protocol.Hover, error) {
		started <- int(p.Position.Line)
		<-changed
		return nil, nil
	}, DidChange: func(context.Context, *Document) error { close(changed); return nil }}, func(o *jsonrpc2.Options) { o.MaxRunning = 1 })
	p.start()
	p.init(plainInit)
	p.open("file:///a", 1, "")
	hover := func(line int) *jsonrpc2.Pending {
		return p.conn.Go(context.Background(), "textDocument/hover", object("textDocument", object("uri", "file:///a"), "position", object("line", line, "character", 0)))
	}
	first := hover(1)
	receive(t, started)
	waits := hover(2)
	p.change("file:///a", 2, edit(0, 0, 0, 0, "x"))
	wantCode(t, waits.Wait(nil), CodeContentModified)
	if err := first.Wait(nil); err != nil {
		t.Error(err)
	}
	if err := hover(3).Wait(nil); err != nil {
		t.Error(err)
	}
	if line := receive(t, started); line != 3 {
		t.Errorf("the hover of line %d has run", line)
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
