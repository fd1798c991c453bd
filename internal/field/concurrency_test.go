package field

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
)

// Requests with one id, at once and for different callers, get their own data each.
func TestDuplicateIDsAreNotCrossed(t *testing.T) {
	t.Run("44: one connection", func(t *testing.T) {
		inBoth(t, func(t *testing.T, f jsonrpc2.Framing) {
			m := jsonrpc2.NewMux()
			m.HandleRequest("sleepEcho", jsonrpc2.Call(func(_ context.Context, p *struct{ V int }) (int, error) {
				time.Sleep(time.Duration(13-p.V) * time.Millisecond)
				return p.V, nil
			}))
			k := listen(t, f, func(*jsonrpc2.Options) (*jsonrpc2.Mux, error) { return m, nil })
			for v := range 12 {
				k.send(request("1", "sleepEcho", fmt.Sprintf(`{"V":%d}`, v)))
			}
			got, err := k.end()
			seen := map[string]int{}
			for _, m := range got {
				seen[m]++
			}
			for v := range 12 {
				if seen[fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":%d}`, v)] != 1 {
					t.Errorf("%d: %v", v, seen)
				}
			}
			if err != nil || len(got) != 12 {
				t.Errorf("%d answers, %v", len(got), err)
			}
		})
	})
	t.Run("44: parallel payloads", func(t *testing.T) {
		type user string
		s := &mcp.Server{Caller: func(ctx context.Context, _ string, a mcp.Arguments) (any, error) {
			who, _ := mcp.CallerFrom[user](ctx)
			v, _ := a.Text("v")
			return mcp.TextResult(string(who) + v), nil
		}}
		var wg sync.WaitGroup
		for i := range 12 {
			wg.Go(func() {
				who := user(fmt.Sprintf("user%d", i))
				for range 100 {
					got := s.Handle(mcp.WithCaller(context.Background(), who), []byte(call("1", "x", fmt.Sprintf(`{"v":"-%d"}`, i))))
					if want := fmt.Sprintf("%s-%d", who, i); !strings.Contains(string(got), `"`+want+`"`) {
						t.Errorf("got %s, want %s", got, want)
						return
					}
				}
			})
		}
		wg.Wait()
	})
}

// A handler, of a notification too, may call the other side and wait: its answer is read whatever waits in between.
func TestHandlersMayCallBack(t *testing.T) {
	m := jsonrpc2.NewMux()
	back := func(ctx context.Context) (any, error) {
		var v string
		err := jsonrpc2.ConnFrom(ctx).Call(ctx, "back", nil, &v)
		return v, err
	}
	order := make(chan int, 2000)
	m.HandleNotification("initialized", jsonrpc2.HandlerFunc(func(ctx context.Context, _ *jsonrpc2.Request) (any, error) { return back(ctx) }))
	m.HandleRequest("relay", jsonrpc2.HandlerFunc(func(ctx context.Context, _ *jsonrpc2.Request) (any, error) { return back(ctx) }))
	m.HandleRequest("ordered", jsonrpc2.HandlerFunc(func(ctx context.Context, _ *jsonrpc2.Request) (any, error) { return back(ctx) }), jsonrpc2.Ordered)
	m.HandleNotification("n", jsonrpc2.Note(func(_ context.Context, p *[]int) error { order <- (*p)[0]; return nil }))
	for _, c := range []struct {
		name  string
		first string
		want  string // the answer to first
	}{
		{"64: from a notification", note("initialized", "{}"), ""},
		{"64: from a request", request("1", "relay", ""), "1:ok"},
		{"78: from an ordered request", request("1", "ordered", ""), "1:ok"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBoth(t, func(t *testing.T, f jsonrpc2.Framing) {
				for _, running := range []int{0, 1} {
					k := listen(t, f, func(o *jsonrpc2.Options) (*jsonrpc2.Mux, error) { o.MaxRunning = running; return m, nil })
					k.send(c.first)
					asked := k.heard()
					if len(asked) != 1 || !strings.Contains(asked[0], `"method":"back"`) {
						t.Fatalf("got %q", asked)
					}
					for i := range 1000 { // before the answer
						k.send(note("n", fmt.Sprintf("[%d]", i)))
					}
					k.send(request("2", "no/such", ""), `{"jsonrpc":"2.0","id":1,"result":"back"}`)
					want := "2:-32601"
					if c.want != "" {
						want = c.want + " " + want
					}
					expect(t, "in the end", k.heard(), want)
					for i := range 1000 {
						if got := <-order; got != i {
							t.Fatalf("notification %d came as %d", i, got)
						}
					}
					if _, err := k.end(); err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
}

// A response that comes in the moment the connection is closed ends its call once, and nothing panics.
func TestCloseRacesWithResponses(t *testing.T) {
	for _, f := range framings {
		t.Run("70: "+f.String(), func(t *testing.T) {
			for range 2000 {
				r, w := io.Pipe()
				conn := jsonrpc2.NewConn(jsonrpc2.Open(jsonrpc2.Join(r, io.Discard), f), nil, nil)
				var wg sync.WaitGroup
				wg.Go(func() { _ = conn.Serve(context.Background()) })
				p, q := conn.Go(context.Background(), "x", nil), conn.Go(context.Background(), "y", nil)
				wg.Go(func() {
					_, _ = io.WriteString(w, frame(f, `{"jsonrpc":"2.0","id":1,"result":1}`, `{"jsonrpc":"2.0","id":2,"result":2}`, `{"jsonrpc":"2.0","id":1,"result":1}`))
				})
				wg.Go(func() { _ = conn.Close() })
				wg.Go(p.Cancel)
				for _, call := range []*jsonrpc2.Pending{p, q} {
					if v, err := call.Result(); err != nil && !errors.Is(err, jsonrpc2.ErrClosed) && !errors.Is(err, context.Canceled) || err == nil && len(v) != 1 {
						t.Fatalf("got %s, %v", v, err)
					}
				}
				wg.Wait()
				_ = w.Close()
			}
		})
	}
}

// Close may be called by many, any number of times, also while the other side leaves.
func TestCloseIsIdempotent(t *testing.T) {
	for range 200 {
		a, b := jsonrpc2.Pipe()
		conn := jsonrpc2.NewConn(a, nil, nil)
		var wg sync.WaitGroup
		wg.Go(func() { _ = conn.Serve(context.Background()) })
		for range 4 {
			wg.Go(func() { _ = conn.Close() })
			wg.Go(func() { _ = conn.Shutdown(context.Background()) })
			wg.Go(func() { _ = b.Close() })
			wg.Go(func() { _ = a.Close() })
		}
		wg.Wait()
		<-conn.Done()
	}
}

// A consumer that does not read what it asked for holds up its own connection at most, never a call of another.
func TestSlowConsumerHurtsItselfOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		m := jsonrpc2.NewMux()
		m.HandleRequest("subscribe", jsonrpc2.HandlerFunc(func(ctx context.Context, _ *jsonrpc2.Request) (any, error) {
			filler := []string{strings.Repeat("x", 100_000)}
			for {
				select {
				case <-stop:
					return "stopped", nil
				default:
				}
				if err := jsonrpc2.ConnFrom(ctx).Notify(ctx, "event", filler); err != nil {
					return nil, err
				}
			}
		}))
		m.HandleRequest("ping", jsonrpc2.HandlerFunc(func(context.Context, *jsonrpc2.Request) (any, error) { return "pong", nil }))
		// The slow one: its output is a pipe that nobody reads.
		in, write := io.Pipe()
		read, out := io.Pipe()
		slow := jsonrpc2.NewConn(jsonrpc2.Open(jsonrpc2.Join(in, out), jsonrpc2.Lines), m, nil)
		served := make(chan error, 1)
		go func() { served <- slow.Serve(context.Background()) }()
		_, _ = io.WriteString(write, request("1", "subscribe", "")+"\n")
		synctest.Wait()
		k := listen(t, jsonrpc2.Lines, func(*jsonrpc2.Options) (*jsonrpc2.Mux, error) { return m, nil })
		k.send(request("2", "ping", ""))
		expect(t, "the other connection", k.heard(), "2:ok")
		// And when it reads again, it is served again.
		close(stop)
		go func() { _, _ = io.Copy(io.Discard, read) }()
		synctest.Wait()
		_ = write.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
		_ = read.Close()
		_, _ = k.end()
	})
}

// Many changes of a list at once are told to a slow client once or twice.
func TestListChangesAreGathered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var box mcp.Toolbox
		s := &mcp.Server{Lister: box.List, Caller: box.Call, ListChanged: true}
		k := startMCP(t, s)
		for i := range 500 {
			box.Add(mcp.Tool{Name: fmt.Sprintf("tool%d", i)}, func(context.Context, mcp.Arguments) (any, error) { return nil, nil })
			s.Changed(mcp.Tools)
		}
		told := k.heard()
		if n := len(told); n < 1 || n > 5 {
			t.Errorf("%d notifications", n)
		}
		for _, m := range told {
			if m != note("notifications/tools/list_changed", "") {
				t.Errorf("got %s", m)
			}
		}
		_, _ = k.end()
	})
}

// A log that sends over the connection it logs can neither deadlock nor loop.
func TestLogOverTheSameConnection(t *testing.T) {
	inBoth(t, func(t *testing.T, f jsonrpc2.Framing) {
		forward := new(forwarder)
		logger := hclog.New(&hclog.LoggerOptions{Level: hclog.Debug, Output: forward, JSONFormat: true})
		k := listen(t, f, plain, func(o *jsonrpc2.Options) {
			o.Report = func(_ context.Context, _ *jsonrpc2.Request, err error) {
				logger.Warn("message failed", "error", err.Error())
			}
		})
		forward.conn = k.conn
		k.send("not json", ping)
		got := k.heard()
		logged := 0
		for _, m := range got {
			if strings.Contains(m, "window/logMessage") {
				logged++
			}
		}
		if logged != 1 || len(got) != 3 {
			t.Errorf("got %q", got)
		}
		_ = k.conn.Close()
		logger.Warn("closed") // must return
		if _, err := k.end(); err != nil {
			t.Error(err)
		}
	})
	// And as a log of the traffic itself, which must leave out what is about it.
	inBoth(t, func(t *testing.T, f jsonrpc2.Framing) {
		forward := new(forwarder)
		k := listen(t, f, plain, func(o *jsonrpc2.Options) { o.Tap = forward })
		forward.conn = k.conn
		k.send("not json", ping)
		if got := k.heard(); len(got) != 6 { // two answers, four records
			t.Errorf("got %q", got)
		}
		_ = k.conn.Close()
		forward.Inbound([]byte("late")) // must return
		if _, err := k.end(); err != nil {
			t.Error(err)
		}
	})
}

// forwarder sends what is logged as notifications, over the connection that it is about.
type forwarder struct{ conn *jsonrpc2.Conn }

func (f *forwarder) Write(p []byte) (int, error) {
	text, _ := json.Marshal(string(p))
	_ = f.conn.Notify(context.Background(), "window/logMessage", map[string]json.RawMessage{"message": text})
	return len(p), nil
}

func (f *forwarder) Inbound(frame []byte) { _, _ = f.Write(frame) }

func (f *forwarder) Outbound(frame []byte) {
	if !strings.Contains(string(frame), "logMessage") {
		_, _ = f.Write(frame)
	}
}

// Params stay what they were while the buffers they came in are used again.
func TestParamsAreOwned(t *testing.T) {
	inBoth(t, func(t *testing.T, f jsonrpc2.Framing) {
		m := jsonrpc2.NewMux()
		m.HandleRequest("late", jsonrpc2.HandlerFunc(func(_ context.Context, r *jsonrpc2.Request) (any, error) {
			raw := r.Params()
			time.Sleep(10 * time.Millisecond)
			return raw, nil
		}))
		m.HandleRequest("lateDecode", jsonrpc2.HandlerFunc(func(_ context.Context, r *jsonrpc2.Request) (any, error) {
			time.Sleep(10 * time.Millisecond)
			var v []string
			err := r.Decode(&v)
			return v, err
		}))
		k := listen(t, f, func(*jsonrpc2.Options) (*jsonrpc2.Mux, error) { return m, nil })
		const n = 1000
		for i := range n {
			method := []string{"late", "lateDecode"}[i%2]
			k.send(request(fmt.Sprint(i), method, fmt.Sprintf(`["%d %s"]`, i, strings.Repeat(string(rune('a'+i%26)), 500))))
		}
		got, err := k.end()
		for _, m := range got {
			var r struct {
				ID     int
				Result []string
			}
			if json.Unmarshal([]byte(m), &r) != nil || len(r.Result) != 1 || r.Result[0] != fmt.Sprintf("%d %s", r.ID, strings.Repeat(string(rune('a'+r.ID%26)), 500)) {
				t.Fatalf("got %s", clip(m))
			}
		}
		if err != nil || len(got) != n {
			t.Errorf("%d answers, %v", len(got), err)
		}
	})
}
