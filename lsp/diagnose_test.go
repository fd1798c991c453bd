package lsp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

func finding(message string) []protocol.Diagnostic {
	return []protocol.Diagnostic{{Message: protocol.String(message)}}
}

func version(t testing.TB, d *protocol.PublishDiagnosticsParams) int {
	t.Helper()
	v, ok := d.Version.Get()
	if !ok {
		return -1
	}
	return int(v)
}

// The life of one document under diagnosis, in virtual time.
func TestDiagnose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const a = "file:///C:/a" // the decoder of params would respell it
		start := time.Now()
		var mu sync.Mutex
		var runs []string
		p := connect(t, &Server{Diagnose: func(ctx context.Context, d *Document) ([]protocol.Diagnostic, error) {
			if SnapshotFrom(ctx).Document(d.URI()) != d {
				t.Error("the snapshot has another document")
			}
			mu.Lock()
			defer mu.Unlock()
			runs = append(runs, fmt.Sprint(d.Version(), "@", time.Since(start).Milliseconds()))
			return finding(d.Text()), nil
		}})
		p.init(plainInit)
		synctest.Wait()

		p.open(a, 1, "one")
		synctest.Wait()
		p.change(a, 2, object("text", "two"))
		p.change(a, 3, object("text", "three"))
		synctest.Wait()
		mu.Lock()
		n := len(runs)
		mu.Unlock()
		if n != 1 || len(p.diagnostics) != 1 {
			t.Fatalf("at once: %d runs, %d published", n, len(p.diagnostics))
		}
		time.Sleep(DiagnoseInterval)
		synctest.Wait()
		time.Sleep(time.Second)
		p.change(a, 4, object("text", "four"))
		synctest.Wait()
		mu.Lock()
		got := fmt.Sprint(runs)
		mu.Unlock()
		if got != "[1@0 3@50 4@1050]" {
			t.Errorf("runs are %s", got)
		}
		for _, want := range []int{1, 3, 4} {
			d := <-p.diagnostics
			if version(t, d) != want || len(d.Diagnostics) != 1 {
				t.Errorf("published %+v, want version %d", d, want)
			}
		}
		p.notify("textDocument/didClose", object("textDocument", object("uri", a)))
		synctest.Wait()
		if d := <-p.diagnostics; len(d.Diagnostics) != 0 || version(t, d) != -1 {
			t.Errorf("on close published %+v", d)
		}
		p.open(a, 9, "again")
		synctest.Wait()
		if d := <-p.diagnostics; version(t, d) != 9 {
			t.Errorf("opened again, published %+v", d)
		}
	})
}

// The client hears of a document by its own spelling of the URI.
func TestDiagnoseKeepsSpelling(t *testing.T) {
	p := dial(t, &Server{Diagnose: func(context.Context, *Document) ([]protocol.Diagnostic, error) { return nil, nil }})
	seen := make(chan string, 10)
	p.mux.Use(func(next jsonrpc2.Handler) jsonrpc2.Handler {
		return jsonrpc2.HandlerFunc(func(_ context.Context, r *jsonrpc2.Request) (any, error) {
			u, _ := text(member(r.Params(), "uri"))
			seen <- u
			return nil, nil
		})
	})
	p.start()
	p.init(plainInit)
	for _, u := range []string{"file:///C:/x", "file:///d%3a/y"} {
		p.open(u, 1, "")
		if got := receive(t, seen); got != u {
			t.Errorf("published for %q, opened as %q", got, u)
		}
	}
}

// A run that has been overtaken is cancelled, with a cause, and its result is dropped even if it comes.
func TestDiagnoseOvertaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var causes []error
		p := connect(t, &Server{Diagnose: func(ctx context.Context, d *Document) ([]protocol.Diagnostic, error) {
			if d.Version() < 3 {
				<-ctx.Done()
				mu.Lock()
				defer mu.Unlock()
				causes = append(causes, context.Cause(ctx))
			}
			return finding(d.Text()), nil
		}})
		p.init(plainInit)
		p.open("file:///a", 1, "1")
		synctest.Wait()
		p.change("file:///a", 2, object("text", "2"))
		synctest.Wait()
		time.Sleep(DiagnoseInterval)
		synctest.Wait()
		p.change("file:///a", 3, object("text", "3"))
		time.Sleep(DiagnoseInterval)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if len(causes) != 2 || !errors.Is(causes[0], errOvertaken) {
			t.Errorf("causes are %v", causes)
		}
		if len(p.diagnostics) != 1 || version(t, <-p.diagnostics) != 3 {
			t.Error("something else than version 3 was published")
		}
	})
}

func TestDiagnoseClosedWhileRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, &Server{Diagnose: func(ctx context.Context, d *Document) ([]protocol.Diagnostic, error) {
			<-ctx.Done()
			return finding("late"), nil
		}})
		p.init(plainInit)
		p.open("file:///a", 1, "")
		synctest.Wait()
		p.notify("textDocument/didClose", object("textDocument", object("uri", "file:///a")))
		synctest.Wait()
		if len(p.diagnostics) != 1 || len((<-p.diagnostics).Diagnostics) != 0 {
			t.Error("want one empty list")
		}
	})
}

func TestDiagnoseFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rep reports
		p := connect(t, &Server{Reporter: rep.add, Diagnose: func(ctx context.Context, d *Document) ([]protocol.Diagnostic, error) {
			switch d.Text() {
			case "panic":
				panic("boom")
			case "error":
				return nil, errors.New("parser failed")
			}
			return nil, nil
		}})
		p.init(plainInit)
		for v, text := range []string{"panic", "error", "fine"} {
			p.open("file:///a", v, text)
			time.Sleep(DiagnoseInterval)
			synctest.Wait()
		}
		d := <-p.diagnostics
		if version(t, d) != 2 || d.Diagnostics == nil {
			t.Errorf("published %+v", d)
		}
		errs := rep.list()
		if len(errs) != 4 { // two of them about opening twice
			t.Errorf("reported %v", errs)
		}
	})
}

// Many documents at once: all are diagnosed, few at the same time.
func TestDiagnoseMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		p := connect(t, &Server{Diagnose: func(ctx context.Context, d *Document) ([]protocol.Diagnostic, error) {
			n := now.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			time.Sleep(time.Millisecond)
			now.Add(-1)
			return nil, nil
		}})
		p.init(plainInit)
		for i := range 500 {
			p.open(fmt.Sprintf("file:///%d", i), 1, "")
		}
		seen := map[string]bool{}
		for len(seen) < 500 {
			seen[string((<-p.diagnostics).URI)] = true
		}
		if m := int(most.Load()); m > 64 {
			t.Errorf("%d runs at once", m)
		}
	})
}

// Runs that wait for the client keep no others from running, however many they are, and go on when it answers.
func TestDiagnoseWaitsForTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		srv := &Server{Diagnose: func(ctx context.Context, d *Document) ([]protocol.Diagnostic, error) {
			if d.Text() == "slow" {
				var wg sync.WaitGroup
				for range 2 {
					wg.Go(func() {
						if _, err := ClientFrom(ctx).Configuration(ctx, protocol.ConfigurationItem{}); err != nil && ctx.Err() == nil {
							t.Error(err)
						}
					})
				}
				wg.Wait()
			}
			return finding(d.Text()), ctx.Err()
		}}
		p := dial(t, srv)
		p.mux.HandleRequest("workspace/configuration", jsonrpc2.Call(func(ctx context.Context, _ *protocol.ConfigurationParams) ([]any, error) {
			select {
			case <-answer:
			case <-ctx.Done():
			}
			return []any{1}, nil
		}))
		p.start()
		p.init(ableButPushed)
		for i := range 100 {
			p.open(fmt.Sprintf("file:///slow%d", i), 1, "slow")
		}
		p.open("file:///quick", 1, "quick")
		want(t, "while the client does not answer", p.published(), "quick1 quick")
		p.change("file:///slow0", 2, object("text", "quick")) // ends the run that waits
		want(t, "one that is overtaken", p.published(), "slow02 quick")
		close(answer)
		time.Sleep(time.Second)
		synctest.Wait()
		if n := len(p.diagnostics); n != 99 {
			t.Errorf("%d of the documents that had to wait are published, want 99", n)
		}
		for c := range srv.Clients() {
			if n := len(c.s.diag.slots); n != 0 {
				t.Errorf("%d seats are still taken", n)
			}
		}
	})
}

const ableButPushed = `{"processId":null,"rootUri":null,"capabilities":{"workspace":{"configuration":true}}}`

func TestRediagnose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, &Server{
			Diagnose: func(context.Context, *Document) ([]protocol.Diagnostic, error) { return nil, nil },
			DidSave: func(ctx context.Context, d *Document) error {
				if d.URI() == "file:///a" {
					ClientFrom(ctx).Rediagnose()
				} else {
					ClientFrom(ctx).Rediagnose(d.URI(), "file:///unknown")
				}
				return nil
			},
		})
		p.init(plainInit)
		for _, u := range []string{"file:///a", "file:///b", "file:///c"} {
			p.open(u, 1, "")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		for range 3 {
			<-p.diagnostics
		}
		for _, tt := range []struct {
			saved string
			want  int
		}{{"file:///a", 3}, {"file:///b", 1}} {
			p.notify("textDocument/didSave", object("textDocument", object("uri", tt.saved)))
			time.Sleep(time.Second)
			synctest.Wait()
			if n := len(p.diagnostics); n != tt.want {
				t.Errorf("after saving %s %d documents were diagnosed, want %d", tt.saved, n, tt.want)
			}
			for len(p.diagnostics) > 0 {
				<-p.diagnostics
			}
		}
	})
}

// Nothing is diagnosed after shutdown, and a run that hangs ends with it.
func TestDiagnoseEndsWithShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Bool
		p := connect(t, &Server{Diagnose: func(ctx context.Context, d *Document) ([]protocol.Diagnostic, error) {
			<-ctx.Done()
			ended.Store(true)
			return nil, ctx.Err()
		}})
		p.init(plainInit)
		p.open("file:///a", 1, "")
		synctest.Wait()
		p.call("shutdown", nil, nil)
		synctest.Wait()
		if !ended.Load() || len(p.diagnostics) != 0 {
			t.Error("the run goes on")
		}
	})
}
