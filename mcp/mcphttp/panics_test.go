package mcphttp

import (
	"context"
	"io"
	"log"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tandem-rpc/tandem/mcp"
)

// mine is a store that panics where it is told to.
type mine struct {
	MemoryStore
	at atomic.Pointer[string]
}

func (m *mine) step(name string) {
	if at := m.at.Load(); at != nil && *at == name {
		panic("stepped on")
	}
}

func (m *mine) Append(ctx context.Context, session, stream string, seq uint64, event []byte) error {
	m.step("Append")
	return m.MemoryStore.Append(ctx, session, stream, seq, event)
}

func (m *mine) After(ctx context.Context, session, stream string, seq uint64) ([][]byte, error) {
	m.step("After")
	return m.MemoryStore.After(ctx, session, stream, seq)
}

func (m *mine) Close(ctx context.Context, session, stream string) error {
	m.step("Close")
	return m.MemoryStore.Close(ctx, session, stream)
}

// A store that panics is one that fails: streams go on, nothing hangs, and it is reported.
func TestPanickingStore(t *testing.T) {
	for _, at := range []string{"Append", "After", "Close"} {
		t.Run(at, func(t *testing.T) {
			m := new(mine)
			f := serve(t, &Options{Events: m, MaxStreams: 1})
			c := f.connect("2025-11-25")
			c.post(call("1", "steps", `{}`))
			var last answer
			if at == "After" {
				last = c.post(call("1", "steps", `{}`))
			}
			m.at.Store(&at)
			if at == "After" {
				want{400, "-32600", ""}.check(t, c.do("GET", "", c.headers(header{"Last-Event-Id": last.events[1].id})))
			}
			for range 2 { // the second makes the first one's stream forgotten
				if a := c.post(call("2", "steps", `{}`)); len(a.events) != 5 || !strings.Contains(a.events[4].data, "done") {
					t.Errorf("%+v", a)
				}
			}
			get := c.stream("GET", "")
			f.srv.Changed(mcp.Tools)
			if m := get.message(); member(m, "method") != `"notifications/tools/list_changed"` {
				t.Errorf("%s", m)
			}
			want{200, "-", ""}.check(t, c.do("DELETE", "", c.headers()))
			get.end()
			m.at.Store(nil)
			if !f.reported("stepped on") {
				t.Error("not reported")
			}
		})
	}
}

// Who cannot say who calls lets nobody in, and the server goes on.
func TestPanickingPrincipal(t *testing.T) {
	var armed atomic.Bool
	f := serve(t, &Options{Principal: func(*http.Request) (string, time.Time) {
		if armed.Load() {
			panic("stepped on")
		}
		return "", time.Time{}
	}})
	f.ts.Config.ErrorLog = log.New(io.Discard, "", 0) // net/http tells of the panic
	armed.Store(true)
	resp, err := f.try(context.Background(), "POST", request("1", "ping", ""), nil)
	if err == nil {
		resp.Body.Close()
		if resp.StatusCode < 500 {
			t.Errorf("%d", resp.StatusCode)
		}
	}
	armed.Store(false)
	want{200, "", "2"}.check(t, f.do("POST", request("2", "ping", ""), nil))
	if n := f.h.active.Load(); n != 0 {
		t.Errorf("%d active", n)
	}
}
