package jsonrpc2

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// earn makes a method trusted.
func earn(w *wire, method string) {
	for range 2 * trustKnown {
		w.send(request("0", method, `{"hang":false}`))
		if _, err := w.peer.Read(); err != nil {
			w.t.Fatal(err)
		}
	}
}

// hangMux has a method that is quick until it is told to hang.
func hangMux(how func(ctx context.Context)) *Mux {
	m := testMux(nil)
	m.HandleRequest("maybe", Call(func(ctx context.Context, p *struct {
		Hang bool `json:"hang"`
	}) (string, error) {
		if p.Hang {
			how(ctx)
		}
		return "ok", nil
	}))
	return m
}

// A handler that has earned the reader's goroutine and then waits loses the role: at once if it waits for its context or calls, within two ticks
// whatever else it does.
func TestStolen(t *testing.T) {
	open := make(chan struct{})
	ways := []struct {
		name string
		how  func(ctx context.Context)
		most time.Duration
	}{
		{"blocks", func(context.Context) { <-open }, 3 * tick},
		{"waits for its context", func(ctx context.Context) { <-ctx.Done() }, 3 * tick},
		{"calls", func(ctx context.Context) { _ = ConnFrom(ctx).Call(ctx, "back", nil, nil) }, 0},
	}
	for _, tt := range ways {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				open = make(chan struct{})
				w := newWire(t, hangMux(tt.how), nil)
				w.conn.OnCancel("cancel", "id")
				earn(w, "maybe")
				const n = 64
				for i := range n {
					w.send(request(fmt.Sprint(100+i), "maybe", `{"hang":true}`))
					if tt.name == "calls" {
						w.want(request(fmt.Sprint(i+1), "back", ""))
					}
				}
				start := time.Now()
				w.send(request("1", "ping", ""))
				w.want(result("1", `"pong"`))
				if took := time.Since(start); took > tt.most+time.Duration(n)*3*tick {
					t.Errorf("a new request took %v", took)
				}
				start = time.Now()
				w.send(request("2", "ping", ""))
				w.want(result("2", `"pong"`))
				if took := time.Since(start); took != 0 {
					t.Errorf("another request took %v", took)
				}
				close(open)
				var want []string
				for i := range n {
					want = append(want, result(fmt.Sprint(100+i), `"ok"`))
					w.send(note("cancel", fmt.Sprintf(`{"id":%d}`, 100+i)))
					if tt.name == "calls" {
						w.send(result(fmt.Sprint(i+1), "1"))
					}
				}
				w.wantAny(want...)
				if err := w.close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A notification that stalls keeps its place: what follows waits, in order, while the reader goes on and cancellations arrive.
func TestStolenNotification(t *testing.T) {
	bubble(t, func(t *testing.T) {
		open := make(chan struct{})
		var order []int
		m := testMux(nil)
		m.HandleNotification("n", Note(func(ctx context.Context, p *[]int) error {
			if (*p)[0] < 0 {
				<-open
			}
			order = append(order, (*p)[0])
			return nil
		}))
		w := newWire(t, m, nil)
		w.conn.OnCancel("cancel", "id")
		for range 2 * trustEarned {
			w.send(note("n", "[0]"))
		}
		w.send(request("1", "ping", ""))
		w.want(result("1", `"pong"`))
		order = nil
		w.send(note("n", "[-1]"), note("n", "[2]"), request("5", "stubborn", ""), note("n", "[3]"), request("6", "ping", ""), note("cancel", `{"id":5}`))
		time.Sleep(time.Second)
		synctest.Wait()
		if len(order) > 0 {
			t.Errorf("%v ran while the first was held", order)
		}
		close(open)
		w.wantAny(result("5", `"anyway"`), result("6", `"pong"`))
		_ = w.close()
		if fmt.Sprint(order) != "[-1 2 3]" {
			t.Errorf("order %v", order)
		}
	})
}

// Handlers that block for less than a tick run side by side all the same: one after the other they would take 400 ms.
func TestShortBlocking(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := NewMux()
		var running, most atomic.Int32
		m.HandleRequest("nap", HandlerFunc(func(context.Context, *Request) (any, error) {
			n := running.Add(1)
			defer running.Add(-1)
			for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
			}
			time.Sleep(300 * time.Microsecond)
			return nil, nil
		}))
		_, client, stop := pair(t, m, nil)
		defer stop()
		start := time.Now()
		var wg sync.WaitGroup
		for range 64 {
			wg.Go(func() {
				for range 20 {
					if err := client.Call(context.Background(), "nap", nil, nil); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		took := time.Since(start)
		t.Logf("%d ran at once, 1,280 calls of 300 us took %v", most.Load(), took)
		if most.Load() < 8 || took > 100*time.Millisecond {
			t.Errorf("at most %d ran at once, and 1,280 calls of 300 us took %v", most.Load(), took)
		}
	})
}

// An idle connection has two goroutines: the reader and the caller of Serve.
func TestIdleGoroutines(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWire(t, testMux(nil), nil)
		earn(w, "echo")
		time.Sleep(time.Second)
		synctest.Wait()
		w.conn.mu.Lock()
		workers, lane := w.conn.workers, w.conn.laneOn
		w.conn.mu.Unlock()
		if n := w.conn.monitors.Load(); n != 0 || workers != 0 || lane {
			t.Errorf("%d monitors, %d workers, lane %t on an idle connection", n, workers, lane)
		}
		_ = w.close()
	})
}

// Notifications of a handler reach the wire before its answer, and its answer is its last word, inline too.
func TestNotifyBeforeAnswer(t *testing.T) {
	m := NewMux()
	m.HandleRequest("work", HandlerFunc(func(ctx context.Context, r *Request) (any, error) {
		for i := range 3 {
			if err := ConnFrom(ctx).Notify(ctx, "progress", []int{i}); err != nil {
				return nil, err
			}
		}
		return "done", nil
	}))
	w := newWire(t, m, nil)
	for i := range 100 {
		id := fmt.Sprint(i)
		w.send(request(id, "work", ""))
		w.want(note("progress", "[0]"), note("progress", "[1]"), note("progress", "[2]"), result(id, `"done"`))
	}
	_ = w.close()
}

// A typed handler that keeps what it decoded, and a raw one that keeps its params, see them unchanged for ever.
func TestKept(t *testing.T) {
	a, b := streamPair()
	type params struct{ Text string }
	var mu sync.Mutex
	var typed []*params
	var raw [][]byte
	m := NewMux()
	m.HandleRequest("typed", Call(func(_ context.Context, p *params) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		typed = append(typed, p)
		return p.Text, nil
	}))
	m.HandleRequest("raw", HandlerFunc(func(_ context.Context, r *Request) (any, error) {
		mu.Lock()
		defer mu.Unlock()
		raw = append(raw, r.Params())
		return r.Params(), nil
	}))
	_, client, stop := pairOver(a, b, m, nil, nil, nil)
	for i := range 2000 {
		p := params{fmt.Sprint(i, strings.Repeat("y", i%300))}
		method := "typed"
		if i%7 == 0 {
			method = "raw"
		}
		if err := client.Call(context.Background(), method, p, nil); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	n := 0
	for i := range 2000 {
		want := fmt.Sprint(i, strings.Repeat("y", i%300))
		if i%7 == 0 {
			if got := string(raw[0]); got != `{"Text":"`+want+`"}` {
				t.Fatalf("raw params %d became %s", i, got)
			}
			raw = raw[1:]
			continue
		}
		if typed[n].Text != want {
			t.Fatalf("text %d became %q", i, typed[n].Text)
		}
		n++
	}
}

// A handler that ends its goroutine gets an answer all the same, and the connection goes on, wherever it ran.
func TestGoexit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := NewMux()
		exit := Call(func(_ context.Context, p *struct {
			Hang bool `json:"hang"`
		}) (string, error) {
			if p.Hang {
				runtime.Goexit()
			}
			return "ok", nil
		})
		m.HandleRequest("concurrent", exit)
		m.HandleRequest("ordered", exit, Ordered)
		m.HandleNotification("note", exit)
		w := newWire(t, m, nil)
		for range 3 {
			for _, method := range []string{"concurrent", "ordered"} {
				w.send(request("1", method, `{"hang":true}`), note("note", `{"hang":true}`))
				w.want(failure("1", -32603, "Internal error"))
				earn(w, method)
			}
		}
		_ = w.close()
		if n := w.reported("Goexit"); n != 12 {
			t.Errorf("%d reports", n)
		}
	})
}

// The input buffer of a stolen task stays in use until its handler is done, even if that ends in the middle of the theft.
func TestStolenBufferIsKept(t *testing.T) {
	a, b := streamPair()
	returns := make(chan struct{})
	m := NewMux()
	m.HandleRequest("maybe", Call(func(ctx context.Context, p *struct{ Hang bool }) (string, error) {
		if p.Hang {
			<-returns
		}
		return "ok", nil
	}))
	looked := make(chan int32, 1)
	stealing = func(stolen *task) {
		if stolen == nil || stolen.id == nil || string(stolen.id) != "7777" {
			return
		}
		close(returns)
		for range 10000 { // the handler returns now, and its goroutine tries to give the buffer back
			runtime.Gosched()
		}
		looked <- stolen.chunk.refs.Load()
	}
	w := serveWire(t, a, b, m, nil)
	w.send(request("0", "maybe", `{"Hang":false}`))
	w.want(result("0", `"ok"`))
	m.route([]byte("maybe"), true).trust.score.Store(trustMost) // not earned here: on a busy machine no run may be quick
	w.send(request("7777", "maybe", `{"Hang":true}`))
	w.want(result("7777", `"ok"`))
	if refs := <-looked; refs < 1 {
		t.Errorf("%d references to a buffer in use", refs)
	}
	_ = w.close()
	stealing = nil
}

// An Immediate request is answered while the lane is held and every slot is taken.
func TestImmediate(t *testing.T) {
	bubble(t, func(t *testing.T) {
		open := make(chan struct{})
		m := testMux(open)
		m.HandleRequest("now", Call(func(context.Context, *struct{}) (string, error) { return "now", nil }), Immediate)
		w := newWire(t, m, &Options{MaxRunning: 1})
		w.send(request("1", "gate", ""), note("hold", ""), request("2", "ping", ""), request("3", "now", ""))
		w.want(result("3", `"now"`))
		close(open)
		w.wantAny(result("1", `"through"`), result("2", `"pong"`))
		_ = w.close()
	})
}
