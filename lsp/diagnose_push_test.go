package lsp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.lsp.dev/protocol"
)

// published waits until nothing more happens and returns what was published, in the order of URIs where order does not matter: "a1 own,one".
func (p *peer) published() string {
	p.t.Helper()
	time.Sleep(time.Second)
	synctest.Wait()
	var all []string
	for len(p.diagnostics) > 0 {
		d := <-p.diagnostics
		var messages []string
		for _, f := range d.Diagnostics {
			messages = append(messages, string(f.Message.(protocol.String)))
		}
		all = append(all, fmt.Sprintf("%s%d %s", strings.TrimPrefix(string(d.URI), "file:///"), version(p.t, d), strings.Join(messages, ",")))
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

// What is found in other documents is published with what they have themselves, and taken back with the document it is because of.
func TestPushForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, &Server{Diagnose: linked})
		p.init(plainInit)
		p.open("file:///b", 5, "")
		want(t, "b alone", p.published(), "b5 own")
		p.open("file:///a", 1, "file:///b one\nfile:///c two\nfile:///a self")
		want(t, "a opened", p.published(), "a1 own,self; b5 own,one; c-1 two")
		p.change("file:///a", 2, object("text", "file:///b one\nfile:///c three"))
		want(t, "a changed", p.published(), "a2 own; c-1 three")
		p.change("file:///b", 6, object("text", "file:///c more"))
		want(t, "b changed", p.published(), "b6 own,one; c-1 three,more")
		p.notify("textDocument/didClose", object("textDocument", object("uri", "file:///b")))
		want(t, "b closed", p.published(), "b-1 one; c-1 three")
		p.notify("textDocument/didClose", object("textDocument", object("uri", "file:///a")))
		want(t, "a closed", p.published(), "a-1 ; b-1 ; c-1 ")
	})
}

// The workspace is looked at in the beginning and when asked for; what is open is left to Diagnose.
func TestPushWorkspace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &files{texts: map[string]string{"file:///a": "A", "file:///b": "B", "file:///c": ""}}
		p := connect(t, &Server{
			Diagnose:          func(context.Context, *Document) ([]protocol.Diagnostic, error) { return finding("open"), nil },
			DiagnoseWorkspace: f.diagnose,
			DidSave:           func(ctx context.Context, _ *Document) error { ClientFrom(ctx).Rediagnose(); return nil },
		})
		p.init(plainInit)
		want(t, "in the beginning", p.published(), "a-1 A; b-1 B")
		p.open("file:///a", 1, "")
		want(t, "a opened", p.published(), "a1 open")
		f.set("file:///b", "")
		f.set("file:///c", "C")
		f.set("file:///a", "A2")
		p.notify("textDocument/didSave", object("textDocument", object("uri", "file:///a")))
		want(t, "after a change", p.published(), "a1 open; b-1 ; c-1 C")
		f.set("file:///c", "-")
		p.notify("textDocument/didSave", object("textDocument", object("uri", "file:///a")))
		want(t, "file gone", p.published(), "a1 open; c-1 ")
		p.notify("textDocument/didClose", object("textDocument", object("uri", "file:///a")))
		want(t, "a closed", p.published(), "a-1 A2")
	})
}

// The workspace alone is looked at again where that is all that has changed.
func TestRediagnoseWorkspace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &files{texts: map[string]string{"file:///b": "B"}}
		looks := 0
		var client *Client
		p := connect(t, &Server{
			Diagnose: func(context.Context, *Document) ([]protocol.Diagnostic, error) {
				looks++
				return finding("open"), nil
			},
			DiagnoseWorkspace: f.diagnose,
			DidOpen: func(ctx context.Context, _ *Document) error {
				client = ClientFrom(ctx)
				return nil
			},
		})
		p.init(plainInit)
		p.open("file:///a", 1, "")
		want(t, "in the beginning", p.published(), "a1 open; b-1 B")
		if client.PullsDiagnostics() {
			t.Error("the client is said to ask")
		}
		f.set("file:///b", "B2")
		client.RediagnoseWorkspace()
		want(t, "workspace again", p.published(), "b-1 B2")
		if looks != 1 {
			t.Errorf("the open document was looked at %d times", looks)
		}
	})
}

// A run for the workspace that has been overtaken is cancelled and takes nothing back; no more runs go on than one.
func TestPushWorkspaceOvertaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, now := 0, 0
		var client *Client
		p := connect(t, &Server{DiagnoseWorkspace: func(ctx context.Context) error {
			n++
			if now++; now > 1 {
				t.Error("two runs at once")
			}
			defer func() { now-- }()
			client = ClientFrom(ctx)
			if err := ReportFor(ctx, uriOf(fmt.Sprintf("file:///%d", n)), finding("found")...); err != nil {
				return err
			}
			if n == 2 {
				<-ctx.Done()
				return nil
			}
			return ctx.Err()
		}})
		p.init(plainInit)
		want(t, "first run", p.published(), "1-1 found")
		client.Rediagnose()
		want(t, "second run, which hangs", p.published(), "2-1 found")
		client.Rediagnose()
		want(t, "third run", p.published(), "1-1 ; 2-1 ; 3-1 found")
	})
}

// A client that does not read gets the latest of what it has missed, not all of it.
func TestPushKeepsUp(t *testing.T) {
	d := &newSession(&Server{Diagnose: linked}).diag
	doc := NewDocument("file:///a", "x", 1, "", "utf-8")
	for v := range 100 {
		d.board.take(doc.with(int32(v), doc.text), map[Key]*reported{doc.key: {uri: doc.uri}, KeyOf("file:///b"): {uri: "file:///b", list: finding(fmt.Sprint(v))}})
		d.board.mark(doc.key, doc.uri)
	}
	if n := len(d.board.dirty); n != 2 {
		t.Errorf("%d documents wait to be published, want 2", n)
	}
	d.board.withdraw(doc.key)
	for k, sh := range d.board.sheets {
		sh.dirty = false
		d.board.forget(k)
	}
	if len(d.board.sheets) != 0 || len(d.board.spread) != 0 {
		t.Errorf("%d sheets and %d origins are left of nothing", len(d.board.sheets), len(d.board.spread))
	}
}
