package jsonrpc2

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// pair serves a server with mux and options and a bare client on the two ends of a pipe. stop closes both and waits for them.
func pair(t testing.TB, mux *Mux, o *Options) (server, client *Conn, stop func()) {
	t.Helper()
	a, b := Pipe()
	return pairOver(a, b, mux, o, nil, nil)
}

// pairOver is pair over any two ends, with a client that serves too.
func pairOver(a, b Transport, mux *Mux, o *Options, clientMux *Mux, co *Options) (server, client *Conn, stop func()) {
	server, client = NewConn(a, mux, o), NewConn(b, clientMux, co)
	var wg sync.WaitGroup
	wg.Go(func() { _ = server.Serve(context.Background()) })
	wg.Go(func() { _ = client.Serve(context.Background()) })
	return server, client, func() {
		client.Close()
		server.Close()
		wg.Wait()
	}
}

// lspLike and mcpLike are the two kinds of convention.
var (
	answered = cancel.Convention{Method: "$/cancel", Param: "id", Code: -32800}
	silent   = cancel.Convention{Method: "$/silence", Param: "id", Silent: true}
)

// modelState is what a server under random load must agree with: a version that ordered messages raise, and what requests saw of it.
type modelState struct {
	version atomic.Int64
	inOrder atomic.Int32 // ordered handlers that run
	t       *testing.T
	bad     atomic.Int32
}

type captureKey struct{}

// TestModel drives a connection with random schedules of ordered and concurrent messages, quick, slow, blocking for less than a tick, calling back,
// cancelled and panicking, and checks the ordering theorem and that every request is answered exactly once.
func TestModel(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { runModel(t, seed) })
		})
	}
}

func runModel(t *testing.T, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 7))
	st := &modelState{t: t}
	delays := []time.Duration{0, 0, 0, 20 * time.Microsecond, 300 * time.Microsecond, 2 * time.Millisecond, 20 * time.Millisecond}
	ordered := func(ctx context.Context, version int64, delay time.Duration) {
		if n := st.inOrder.Add(1); n != 1 {
			st.bad.Add(1)
			t.Errorf("%d ordered handlers at once", n)
		}
		if had := st.version.Load(); had != version-1 {
			st.bad.Add(1)
			t.Errorf("ordered message %d after %d", version, had)
		}
		time.Sleep(delay)
		st.version.Store(version)
		st.inOrder.Add(-1)
	}
	type params struct {
		Version int64 // at the message's place
		Delay   time.Duration
		Kind    string
	}
	limits := []int{0, 2000, 20000}[rnd.IntN(3)] // small enough to be met all the time
	mux := NewMux()
	mux.HandleNotification("edit", Note(func(ctx context.Context, p *params) error {
		ordered(ctx, p.Version, p.Delay)
		if p.Kind == "call" {
			return ConnFrom(ctx).Call(ctx, "back", []int{1}, nil)
		}
		return nil
	}))
	mux.HandleRequest("commit", Call(func(ctx context.Context, p *params) (int64, error) {
		ordered(ctx, p.Version, p.Delay)
		return p.Version, nil
	}), Ordered)
	mux.HandleRequest("read", Call(func(ctx context.Context, p *params) (int64, error) {
		if now := st.version.Load(); now < p.Version {
			t.Errorf("request behind message %d started when only %d was handled", p.Version, now)
		}
		if got := ctx.Value(captureKey{}).(int64); got != p.Version {
			t.Errorf("captured %d at place %d", got, p.Version)
		}
		switch p.Kind {
		case "panic":
			panic("model")
		case "call":
			if err := ConnFrom(ctx).Call(ctx, "back", []int{1}, nil); err != nil && ctx.Err() == nil && (limits == 0 || err != ErrOverloaded && !errors.Is(err, ErrClosed)) {
				t.Errorf("call back: %v", err)
			}
		case "hang":
			<-ctx.Done()
			return 0, ctx.Err()
		case "note":
			if err := ConnFrom(ctx).Notify(ctx, "progress", []int64{p.Version}); err != nil && ctx.Err() == nil {
				t.Errorf("notify: %v", err)
			}
		}
		time.Sleep(p.Delay)
		return p.Version, nil
	}))
	var clientMux = NewMux()
	clientMux.HandleRequest("back", Call(func(context.Context, *[]int) (string, error) { return "ok", nil }))
	clientMux.HandleNotification("progress", Note(func(context.Context, *[]int64) error { return nil }))

	o := &Options{
		MaxRunning: 1 + rnd.IntN(8),
		MaxQueued:  limits,
		Cancel:     cancel.NewRegistry(answered),
		Capture: func(ctx context.Context, r *Request) context.Context {
			return context.WithValue(ctx, captureKey{}, st.version.Load())
		},
	}
	a, b := Pipe()
	if framing := rnd.IntN(3); framing < 2 {
		x, y := net.Pipe()
		a, b = Open(x, Framing(framing)), Open(y, Framing(framing))
	}
	_, client, stop := pairOver(a, b, mux, o, clientMux, &Options{Cancel: cancel.NewRegistry(answered)})

	kinds := []string{"", "", "", "", "call", "panic", "hang", "note"}
	version := int64(0)
	type sent struct {
		p    *Pending
		kind string
		want int64
		stop context.CancelFunc
	}
	var all []sent
	for range 300 {
		p := params{Version: version, Delay: delays[rnd.IntN(len(delays))], Kind: kinds[rnd.IntN(len(kinds))]}
		switch rnd.IntN(10) {
		case 0, 1, 2:
			version++
			p.Version = version
			if p.Kind != "call" {
				p.Kind = ""
			}
			if err := client.Notify(context.Background(), "edit", p); err != nil {
				t.Fatal(err)
			}
		case 3:
			version++
			p.Version, p.Kind = version, ""
			all = append(all, sent{p: client.Go(context.Background(), "commit", p), want: version})
		default:
			if p.Kind == "hang" && limits != 0 {
				p.Kind = "" // a connection that has stopped reading does not read cancellations either
			}
			ctx, cancelCall := context.WithCancel(context.Background())
			all = append(all, sent{client.Go(ctx, "read", p), p.Kind, version, cancelCall})
			if rnd.IntN(6) == 0 {
				cancelCall()
			}
		}
		if rnd.IntN(20) == 0 {
			time.Sleep(time.Duration(rnd.IntN(3000)) * time.Microsecond)
		}
	}
	version++ // a last one, so that nothing is on its way when the connection is closed
	all = append(all, sent{p: client.Go(context.Background(), "commit", params{Version: version}), want: version})
	for _, s := range all {
		if s.kind == "hang" {
			s.stop()
		}
	}
	for i, s := range all {
		raw, err := s.p.Result()
		var v int64
		switch {
		case err == context.Canceled:
		case s.kind == "panic":
			if !isCode(err, CodeInternalError) {
				t.Errorf("%d: panic answered %v", i, err)
			}
		case err != nil:
			t.Errorf("%d %s: %v", i, s.kind, err)
		case json.Unmarshal(raw, &v) != nil || v != s.want:
			t.Errorf("%d: got %s, want %d", i, raw, s.want)
		}
		if s.stop != nil {
			s.stop()
		}
	}
	stop()
	if got := st.version.Load(); got != version {
		t.Errorf("%d ordered messages handled, want %d", got, version)
	}
}

func isCode(err error, c Code) bool {
	e, ok := err.(*Error)
	return ok && e.Code == c
}
