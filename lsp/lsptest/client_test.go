package lsptest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/lsp"
	"github.com/tandem-rpc/tandem/lsp/lsptest"
)

var presets = []lsptest.Preset{lsptest.VSCode, lsptest.Neovim, lsptest.Helix, lsptest.Eglot, lsptest.Minimal}

// A session as a user has it, with every editor and in every encoding.
func TestSession(t *testing.T) {
	encodings := []protocol.PositionEncodingKind{"", "utf-8", "utf-16", "utf-32"}
	for _, preset := range presets {
		for _, enc := range encodings {
			t.Run(fmt.Sprintf("%s %s", preset, enc), func(t *testing.T) {
				t.Parallel()
				o := &lsptest.Options{Preset: preset}
				if enc != "" {
					o.Encodings = []protocol.PositionEncodingKind{enc}
				}
				c := lsptest.New(t, todo(), o)
				if enc != "" && c.Encoding() != enc {
					t.Errorf("positions are counted in %q", c.Encoding())
				}
				doc := c.Open("file:///a.md", "😀 é one\nTODO 😀 two TODO")
				if got := doc.Diagnostics(); len(got) != 2 || doc.In(got[1].Range) != "TODO" {
					t.Errorf("diagnostics: %v", got)
				}
				doc.Edit("TODO 😀", "done 😀😀")
				if got := doc.Diagnostics(); len(got) != 1 || doc.In(got[0].Range) != "TODO" {
					t.Errorf("diagnostics: %v", got)
				}
				if got := doc.HoverText("two"); got != "two" {
					t.Errorf("hover: %q", got)
				}
				doc.Type("two", "lip😀")
				if got, want := doc.Text(), "😀 é one\ndone 😀😀 twolip😀 TODO"; got != want || doc.Version() != 6 {
					t.Errorf("version %d is %q, want %q", doc.Version(), got, want)
				}
				if got := doc.HoverText("twolip"); got != "twolip😀" {
					t.Errorf("hover: %q", got)
				}
				c.Apply(doc.Rename("TODO", "é"))
				if got, want := doc.Text(), "😀 é one\ndone 😀😀 twolip😀 é"; got != want {
					t.Errorf("after the rename %q, want %q", got, want)
				}
				if got := doc.Diagnostics(); len(got) != 0 {
					t.Errorf("diagnostics: %v", got)
				}
				doc.Save()
				doc.Close()
			})
		}
	}
}

func TestServerInfo(t *testing.T) {
	c := lsptest.New(t, todo(), nil)
	if info := c.Server(); info.Name != "todo" {
		t.Errorf("the server is %q", info.Name)
	}
	if c.Capabilities().HoverProvider == nil || c.Capabilities().RenameProvider == nil {
		t.Error("no capabilities")
	}
}

func TestFeatures(t *testing.T) {
	c := lsptest.New(t, todo(), nil)
	doc := c.Open("file:///a.go", "alpha beta  alpha")
	if lang := doc.Document().Language(); lang != "go" {
		t.Errorf("language %q", lang)
	}
	if got, want := doc.Labels("beta"), []string{"alpha", "beta", "alpha"}; !slices.Equal(got, want) {
		t.Errorf("completion %q", got)
	}
	if got := doc.Definition("beta"); len(got) != 1 || doc.In(got[0].Range) != "beta" {
		t.Errorf("definition %v", got)
	}
	if got := doc.References("alpha beta"); len(got) != 2 {
		t.Errorf("references %v", got)
	}
	if got := doc.Actions("beta", protocol.Diagnostic{Message: protocol.String("x")}); len(got) != 1 {
		t.Errorf("actions %v", got)
	}
	doc.Format()
	if got := doc.Text(); got != "alpha beta alpha" {
		t.Errorf("formatted %q", got)
	}
	var n int
	c.Execute("count", &n, "a", 2)
	if n != 2 {
		t.Errorf("the command got %d arguments", n)
	}
	if got := lsptest.Request[[]protocol.Location](c, protocol.MethodTextDocumentReferences, &protocol.ReferenceParams{
		TextDocumentPositionParams: doc.Place("beta"),
	}); len(got) != 1 {
		t.Errorf("references %v", got)
	}
	e := c.Refused(lsp.CodeRequestFailed, protocol.MethodTextDocumentRename, &protocol.RenameParams{
		TextDocumentPositionParams: protocol.TextDocumentPositionParams{TextDocument: c.Open("file:///empty", "").ID()}, NewName: "x",
	})
	if e.Message != "no word here" {
		t.Errorf("message %q", e.Message)
	}
	if err := c.Try("no/such", nil, nil); !errors.Is(err, jsonrpc2.ErrMethodNotFound) {
		t.Errorf("no/such: %v", err)
	}
}

// Cancelled requests are answered, and the answer is there to see.
func TestCancel(t *testing.T) {
	started := make(chan struct{})
	s := &lsp.Server{Hover: func(ctx context.Context, _ *protocol.HoverParams) (*protocol.Hover, error) {
		close(started)
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	c := lsptest.New(t, s, nil)
	doc := c.Open("file:///a", "x")
	p := c.Go(protocol.MethodTextDocumentHover, &protocol.HoverParams{TextDocumentPositionParams: doc.Place("x")})
	<-started
	select {
	case <-p.Done():
		t.Error("answered before it was cancelled")
	default:
	}
	p.Cancel()
	if err := p.Wait(nil); !errors.Is(err, lsp.RequestCancelled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A server that does not answer costs the timeout, and one that has gone nothing.
func TestNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := jsonrpc2.Pipe()
		c := lsptest.Connect(t, ours, &lsptest.Options{Manual: true, Timeout: time.Minute})
		start := time.Now()
		err := c.Try("x", nil, nil)
		if err == nil || time.Since(start) != time.Minute || !strings.Contains(err.Error(), "x: no answer within 1m0s") {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		p := c.Go("y", nil)
		_ = theirs.Close()
		if err := p.Wait(nil); !errors.Is(err, lsptest.ErrClosed) {
			t.Errorf("y: %v", err)
		}
		if err := c.Try("z", nil, nil); !errors.Is(err, lsptest.ErrClosed) {
			t.Errorf("z: %v", err)
		}
	})
}

// A server in another process, or at the end of any other transport.
func TestConnect(t *testing.T) {
	r1, w1 := io.Pipe()
	r2, w2 := io.Pipe()
	s, o := todo(), new(jsonrpc2.Options)
	mux, err := s.Mount(o)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() {
		served <- jsonrpc2.NewConn(jsonrpc2.Open(jsonrpc2.Join(r1, w2), jsonrpc2.Header), mux, o).Serve(context.Background())
	}()
	c := lsptest.Connect(t, jsonrpc2.Open(jsonrpc2.Join(r2, w1), jsonrpc2.Header), nil)
	if got := c.Open("file:///a", "TODO").Diagnostics(); len(got) != 1 {
		t.Errorf("diagnostics %v", got)
	}
	c.Close()
	c.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestManual(t *testing.T) {
	c := lsptest.New(t, todo(), &lsptest.Options{Manual: true})
	e := c.Refused(lsp.CodeServerNotInitialized, protocol.MethodTextDocumentHover, nil)
	if e.Message == "" {
		t.Error("no message")
	}
	c.Send(`{"jsonrpc":"2.0","id":"mine","method":"initialize","params":7}`)
	c.Send(`nonsense`)
	for !slices.ContainsFunc(c.Transcript(), func(e lsptest.Entry) bool { return strings.Contains(e.String(), "-32700") }) {
		time.Sleep(time.Millisecond)
	}
	res := c.Initialize(json.RawMessage(`{"processId":null,"rootUri":null,"capabilities":{}}`))
	if res.ServerInfo.Name != "todo" {
		t.Errorf("%+v", res.ServerInfo)
	}
	c.Kill()
}

// Notifications are waited for, and counted.
func TestNotifications(t *testing.T) {
	s := todo()
	s.DidSave = func(ctx context.Context, doc *lsp.Document) error {
		c := lsp.ClientFrom(ctx)
		return errors.Join(c.ShowMessage(ctx, protocol.MessageTypeInfo, doc.Text()), c.LogMessage(ctx, protocol.MessageTypeLog, "saved"))
	}
	c := lsptest.New(t, s, nil)
	doc := c.Open("file:///a", "one")
	doc.Save()
	doc.Edit("one", "two")
	doc.Save()
	for _, want := range []string{"one", "two"} {
		if got := lsptest.Next[protocol.ShowMessageParams](c, protocol.MethodWindowShowMessage); got.Message != want {
			t.Errorf("shown %q, want %q", got.Message, want)
		}
	}
	c.Await(protocol.MethodWindowLogMessage, 2)
	if got := c.Shown(); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("shown %q", got)
	}
	if n := c.Count(protocol.MethodWindowLogMessage); n != 2 {
		t.Errorf("%d log messages", n)
	}
	if raw := c.Notification(protocol.MethodWindowLogMessage); !strings.Contains(string(raw), "saved") {
		t.Errorf("log: %s", raw)
	}
}

// After Sync everything before it has been handled.
func TestSync(t *testing.T) {
	var saved []int32 // without a lock, so the race detector would see it
	s := todo()
	s.DidSave = func(_ context.Context, doc *lsp.Document) error {
		time.Sleep(time.Millisecond)
		saved = append(saved, doc.Version())
		return nil
	}
	c := lsptest.New(t, s, nil)
	doc := c.Open("file:///a", "x")
	for range 5 {
		doc.SetText(doc.Text() + "x")
		doc.Save()
	}
	c.Sync()
	if want := []int32{2, 3, 4, 5, 6}; !slices.Equal(saved, want) {
		t.Errorf("saved %v", saved)
	}
}

func TestProgress(t *testing.T) {
	s := todo()
	s.Commands["work"] = func(ctx context.Context, _ []json.RawMessage) (any, error) {
		w := lsp.ClientFrom(ctx).Begin(ctx, lsp.Work{Title: "Working", Message: "hard", Percent: true, Cancellable: true})
		defer w.End("gone")
		w.Report("half", 50)
		<-w.Context().Done()
		return "given up", nil
	}
	c := lsptest.New(t, s, nil)
	p := c.Go(protocol.MethodWorkspaceExecuteCommand, map[string]any{"command": "work"})
	w := c.Progress("Working")
	if !w.Cancellable || w.Ended {
		t.Errorf("begun: %+v", w)
	}
	w.Cancel()
	w = w.End()
	if len(w.Reports) != 2 || w.Reports[0].Message != "hard" || *w.Reports[1].Percentage != 50 || w.Message != "gone" {
		t.Errorf("ended: %+v", w)
	}
	var result string
	if err := p.Wait(&result); err != nil || result != "given up" {
		t.Errorf("%q, %v", result, err)
	}
	p = c.Go(protocol.MethodWorkspaceExecuteCommand, map[string]any{"command": "work", "workDoneToken": 7})
	for n := 0; len(c.Works()) < 2; c.Await(protocol.MethodProgress, n+1) {
		n = c.Count(protocol.MethodProgress) // before looking again, or nothing more may come
		if len(c.Works()) == 2 {
			break
		}
	}
	if w := c.Works()[1]; w.Token != protocol.ProgressToken(protocol.Integer(7)) {
		t.Errorf("token %v", w.Token)
	}
	c.Progress("Working").Cancel()
	if err := p.Wait(nil); err != nil {
		t.Error(err)
	}
}

// Partial results are kept by their token.
func TestPartial(t *testing.T) {
	s := todo()
	s.Commands["parts"] = func(ctx context.Context, _ []json.RawMessage) (any, error) {
		conn := lsp.ClientFrom(ctx).Conn()
		for i := range 3 {
			if err := conn.Notify(ctx, protocol.MethodProgress, map[string]any{"token": "t", "value": []int{i}}); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	c := lsptest.New(t, s, nil)
	c.Execute("parts", nil)
	if got := fmt.Sprintf("%s", c.Partial(protocol.String("t"))); got != "[[0] [1] [2]]" {
		t.Errorf("parts %s", got)
	}
}
