package lsptest_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/lsp"
	"github.com/tandem-rpc/tandem/lsp/lsptest"
)

// What goes wrong fails the test, says what and where, and shows what was said last.
func TestFailures(t *testing.T) {
	edit := func(format string) json.RawMessage { return json.RawMessage(format) }
	for _, f := range []struct {
		name string
		o    lsptest.Options
		do   func(*lsptest.Client, *lsptest.Doc)
		want []string
	}{
		{"an error answer", lsptest.Options{}, func(c *lsptest.Client, _ *lsptest.Doc) { c.Call("no/such", nil, nil) },
			[]string{"no/such: ", "the last messages:", `-> {"jsonrpc":"2.0","id":2,"method":"no/such"}`}},
		{"params that do not encode", lsptest.Options{}, func(c *lsptest.Client, _ *lsptest.Doc) { c.Call("x", func() {}, nil) }, []string{"x: params: "}},
		{"a notification that does not encode", lsptest.Options{}, func(c *lsptest.Client, _ *lsptest.Doc) { c.Notify("x", func() {}) }, []string{"x: params: "}},
		{"a result of another type", lsptest.Options{}, func(c *lsptest.Client, d *lsptest.Doc) {
			_ = lsptest.Request[int](c, protocol.MethodTextDocumentReferences, &protocol.ReferenceParams{TextDocumentPositionParams: d.Place("one")})
		}, []string{"does not decode as *int"}},
		{"no error where one is wanted", lsptest.Options{}, func(c *lsptest.Client, d *lsptest.Doc) {
			c.Refused(-1, protocol.MethodTextDocumentHover, &protocol.HoverParams{TextDocumentPositionParams: d.Place("one")})
		}, []string{"want code -1, got the result"}},
		{"another error", lsptest.Options{}, func(c *lsptest.Client, _ *lsptest.Doc) { c.Refused(-1, "no/such", nil) }, []string{"want code -1, got -32601"}},
		{"text that is not there", lsptest.Options{}, func(_ *lsptest.Client, d *lsptest.Doc) { d.Edit("three", "x") }, []string{`"three" is not in file:///a.md version 1`, "one two two"}},
		{"no text", lsptest.Options{}, func(_ *lsptest.Client, d *lsptest.Doc) { d.At("") }, []string{`"" is not in`}},
		{"text that is there twice", lsptest.Options{}, func(_ *lsptest.Client, d *lsptest.Doc) { d.Hover("two") }, []string{`"two" is 2 times in file:///a.md`}},
		{"a position outside", lsptest.Options{}, func(_ *lsptest.Client, d *lsptest.Doc) {
			d.EditRange(protocol.Range{Start: protocol.Position{Line: 3}, End: protocol.Position{Line: 3}}, "x")
		}, []string{"position 3:0 is not in the text"}},
		{"an edit of a closed document", lsptest.Options{}, func(_ *lsptest.Client, d *lsptest.Doc) { d.Close(); d.SetText("x") }, []string{"file:///a.md is not open"}},
		{"opened twice", lsptest.Options{}, func(c *lsptest.Client, _ *lsptest.Doc) { c.Open("file:///%61.md", "") }, []string{"file:///%61.md is open already"}},
		{"an edit that does not fit", lsptest.Options{}, func(c *lsptest.Client, _ *lsptest.Doc) {
			c.Apply(&protocol.WorkspaceEdit{Changes: map[uri.URI][]protocol.TextEdit{"file:///b.md": {}}})
		}, []string{`cannot be applied: "file:///b.md" does not exist`}},
		{"no edit", lsptest.Options{}, func(c *lsptest.Client, _ *lsptest.Doc) { c.Apply(nil) }, []string{"no edit to apply"}},
		{"a notification that does not come", lsptest.Options{Timeout: 5 * time.Second}, func(c *lsptest.Client, _ *lsptest.Doc) { c.Notification("x/y") },
			[]string{"no x/y: not within 5s"}},
		{"a registration that does not come", lsptest.Options{Timeout: 5 * time.Second}, func(c *lsptest.Client, _ *lsptest.Doc) { c.Registered("x/y") },
			[]string{"no registration of x/y: not within 5s"}},
		{"progress that does not come", lsptest.Options{Timeout: 5 * time.Second}, func(c *lsptest.Client, _ *lsptest.Doc) { c.Progress("Indexing") },
			[]string{"no progress of Indexing: not within 5s"}},
		{"a server that asks for what is not declared", lsptest.Options{Preset: lsptest.Minimal}, func(c *lsptest.Client, _ *lsptest.Doc) {
			c.Execute("ask", nil, "workspace/configuration", edit(`{"items":[]}`))
		}, []string{"the server sent workspace/configuration, but the client has not declared workspace.configuration"}},
		{"a button that is not there", lsptest.Options{Choose: lsptest.Picks("Maybe")}, func(c *lsptest.Client, _ *lsptest.Doc) {
			c.Execute("ask", nil, "window/showMessageRequest", edit(`{"type":3,"message":"Sure?","actions":[{"title":"Yes"}]}`))
		}, []string{`the user is to choose "Maybe", which is no button of`}},
		{"a registration twice", lsptest.Options{}, func(c *lsptest.Client, _ *lsptest.Doc) {
			c.Execute("ask", nil, "client/registerCapability", edit(`{"registrations":[{"id":"1","method":"x"},{"id":"1","method":"y"}]}`))
		}, []string{`registered the id "1" twice`}},
		{"a registration that is taken back and was not there", lsptest.Options{}, func(c *lsptest.Client, _ *lsptest.Doc) {
			c.Execute("ask", nil, "client/unregisterCapability", edit(`{"unregisterations":[{"id":"1","method":"x"}]}`))
		}, []string{`took back "1" of "x"`}},
		{"a panic in a handler of a notification", lsptest.Options{}, func(_ *lsptest.Client, d *lsptest.Doc) { d.Save() },
			[]string{"the server reports: textDocument/didSave: ", "not on a Monday"}},
		{"an unknown preset", lsptest.Options{Preset: "ed"}, nil, []string{"presets/ed.json"}},
	} {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			reached := false
			err := lsptest.Run(t.Context(), func(t lsptest.T) {
				s := asking()
				s.DidSave = func(context.Context, *lsp.Document) error { panic("not on a Monday") }
				c := lsptest.New(t, s, &f.o)
				f.do(c, c.Open("file:///a.md", "one two two"))
				reached = true
			})
			if err == nil {
				t.Fatal("nothing fails")
			}
			for _, want := range f.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in\n%v", want, err)
				}
			}
			if complains := strings.HasPrefix(f.want[0], "the ") || strings.Contains(f.want[0], "regist") && !strings.Contains(f.want[0], "within") || strings.Contains(f.want[0], "took"); reached != complains {
				t.Errorf("the test went on: %v", reached)
			}
		})
	}
}

// A server may be mounted wrongly, or not end.
func TestServerFails(t *testing.T) {
	err := lsptest.Run(t.Context(), func(t lsptest.T) { lsptest.New(t, mounter{errors.New("no room")}, nil) })
	if err == nil || !strings.Contains(err.Error(), "mount: no room") {
		t.Errorf("got %v", err)
	}
	err = lsptest.Run(t.Context(), func(t lsptest.T) {
		ours, theirs := jsonrpc2.Pipe()
		t.Cleanup(func() { _ = theirs.Close() })
		lsptest.Connect(t, ours, &lsptest.Options{Timeout: time.Second})
	})
	if err == nil || !strings.Contains(err.Error(), "initialize: lsptest: initialize: no answer within 1s") {
		t.Errorf("got %v", err)
	}
}

type mounter struct{ err error }

func (m mounter) Mount(*jsonrpc2.Options) (*jsonrpc2.Mux, error) { return nil, m.err }

// Run returns nil for what goes well, and also what goes wrong late.
func TestRun(t *testing.T) {
	if err := lsptest.Run(t.Context(), func(lsptest.T) {}); err != nil {
		t.Error(err)
	}
	var order []string
	err := lsptest.Run(t.Context(), func(t lsptest.T) {
		t.Cleanup(func() { order = append(order, "first"); t.Fatalf("in a cleanup") })
		t.Cleanup(func() { order = append(order, "second"); <-t.Context().Done() })
		panic("oh no")
	})
	if err == nil || err.Error() != "panic: oh no\nin a cleanup" || strings.Join(order, " ") != "second first" {
		t.Errorf("%v, %v", err, order)
	}
}
