package mcphttp

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Ten thousand sessions, each of which calls tools: they cost little, answer right, are refused beyond the limit, and leave nothing behind.
func TestTenThousandSessions(t *testing.T) {
	const n, callers, each = 10_000, 16, 6 << 10
	f := &fixture{t: t}
	h := New(newServer(f), &Options{MaxSessions: n, SessionTimeout: time.Hour})
	heap := func() int64 {
		runtime.GC()
		runtime.GC() // and what the pools held
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	ids := make([]string, n)
	post := func(id, body string) (int, string, http.Header) {
		w := directWith(h, "POST", body, header{"Content-Type": "application/json", "Accept": bothMedia, "Mcp-Session-Id": id})
		return w.Code, w.Body.String(), w.Header()
	}
	var bad atomic.Int64
	everybody := func(what string, do func(i int) bool) {
		t.Helper()
		var wg sync.WaitGroup
		for c := range callers {
			wg.Go(func() {
				for i := c; i < n; i += callers {
					if !do(i) {
						bad.Add(1)
					}
				}
			})
		}
		wg.Wait()
		if k := bad.Swap(0); k > 0 {
			t.Fatalf("%s: %d went wrong", what, k)
		}
	}
	warm := directWith(h, "POST", request("1", "tools/list", ""), header{"Content-Type": "application/json"})
	if warm.Code != 200 {
		t.Fatalf("%d %s", warm.Code, warm.Body)
	}
	before, goroutines := heap(), runtime.NumGoroutine()
	everybody("initialize", func(i int) bool {
		w := directWith(h, "POST", initialize, header{"Content-Type": "application/json", "Accept": bothMedia})
		ids[i] = w.Header().Get("Mcp-Session-Id")
		status, _, _ := post(ids[i], `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		return w.Code == 200 && ids[i] != "" && status == 202
	})
	if w := directWith(h, "POST", initialize, header{"Content-Type": "application/json", "Accept": bothMedia}); w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("one more: %d %s", w.Code, w.Body)
	}
	everybody("call", func(i int) bool {
		tool, name := "echo", fmt.Sprint("s", i)
		if i%10 == 0 {
			tool = "steps"
		}
		status, body, _ := post(ids[i], call("1", tool, `{"name":"`+name+`"}`))
		return status == 200 && strings.Contains(body, name+`"`) && (tool == "echo" || strings.Count(body, "notifications/progress") == 3)
	})
	if got := (heap() - before) / n; got > each {
		t.Errorf("%d bytes for each session, more than %d", got, each)
	} else {
		t.Logf("%d bytes for each session", got)
	}
	if got := runtime.NumGoroutine(); got > goroutines+callers {
		t.Errorf("%d goroutines, %d before", got, goroutines)
	}
	everybody("delete", func(i int) bool {
		return directWith(h, "DELETE", "", header{"Mcp-Session-Id": ids[i]}).Code == 200
	})
	h.mu.Lock()
	if h.relief.timer == nil || h.relief.most != n/4 {
		t.Errorf("memory is not given back: %+v", h.relief)
	}
	h.mu.Unlock()
	everybody("call after the end", func(i int) bool {
		status, _, _ := post(ids[i], request("2", "ping", ""))
		return status == 404
	})
	if left := heap() - before; left > 2<<20 || h.Sessions() != 0 {
		t.Errorf("%d bytes and %d sessions are left", left, h.Sessions())
	}
	if err := h.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	runtime.KeepAlive(ids)
}
