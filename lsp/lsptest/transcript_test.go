package lsptest_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/lsp"
	"github.com/tandem-rpc/tandem/lsp/lsptest"
)

// conversation has a bit of everything in it.
func conversation(t lsptest.T, o *lsptest.Options) *lsptest.Client {
	s := asking()
	s.Commands["work"] = func(ctx context.Context, _ []json.RawMessage) (any, error) {
		c := lsp.ClientFrom(ctx)
		w := c.Begin(ctx, lsp.Work{Title: "Working"})
		_ = c.LogMessage(ctx, protocol.MessageTypeLog, "2026-11-30T17:12:20.123Z started at 17:12:20, took 12.5ms\nor 1m3s")
		w.End("")
		return "done", nil
	}
	c := lsptest.New(t, s, o)
	doc := c.Open("file:///a.md", "one TODO")
	doc.Diagnostics()
	doc.Edit("TODO", "two")
	doc.Diagnostics()
	doc.HoverText("two")
	c.Call(protocol.MethodWorkspaceExecuteCommand, map[string]any{"command": "work", "workDoneToken": "t"}, nil)
	ask(c, "workspace/configuration", `{"items":[{"section":"a"}]}`)
	c.Refused(-32601, "no/such", nil)
	return c
}

// The text of a transcript is the same whatever order the messages of the two sides were in.
func TestGolden(t *testing.T) {
	o := &lsptest.Options{
		Preset: lsptest.Minimal, Settings: map[string]any{"a": 1},
		Capabilities: func(c *protocol.ClientCapabilities) {
			yes := true
			c.Workspace = &protocol.WorkspaceClientCapabilities{Configuration: &yes}
		},
		Initialize: func(p *protocol.InitializeParams) { pid := int32(os.Getpid()); p.ProcessID = &pid },
		Redact: func(line string) string {
			if strings.HasPrefix(line, "   <- result {\"capabilities\"") {
				return "   <- result (capabilities)"
			}
			return line
		},
	}
	want := ""
	for range 20 {
		c := conversation(t, o)
		if want == "" {
			want = c.Text()
		}
		if got := c.Text(); got != want {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
		c.Golden("testdata/conversation.txt")
		c.Close()
	}
}

func TestGoldenFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.txt")
	err := lsptest.Run(t.Context(), func(t lsptest.T) { lsptest.New(t, todo(), nil).Golden(file) })
	if err == nil || !strings.Contains(err.Error(), "go test -lsptest.update writes it") {
		t.Errorf("no file: %v", err)
	}
	if err := os.WriteFile(file, []byte("-> initialize {}\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err = lsptest.Run(t.Context(), func(t lsptest.T) { lsptest.New(t, todo(), nil).Golden(file) })
	if err == nil || !strings.Contains(err.Error(), "x.txt:1: the transcript differs") || !strings.Contains(err.Error(), "want -> initialize {}") {
		t.Errorf("another text: %v", err)
	}
}

// Messages that belong to nothing are shown, too.
func TestTextOfNonsense(t *testing.T) {
	c := lsptest.New(t, todo(), &lsptest.Options{Manual: true, Report: func(error) {}})
	c.Send("nonsense")
	c.Send(`{"jsonrpc":"2.0","id":5,"result":1}`)
	c.Refused(lsp.CodeServerNotInitialized, "x", nil)
	got := c.Text()
	for _, want := range []string{"-> nonsense\n", "-> x\n   <- error {\"code\":-32002", "<- error {\"code\":-32700"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}
