package mcphttp

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// discard is a ResponseWriter that costs nothing.
type discard struct {
	header http.Header
	status int
	n      int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { d.n += len(b); return len(b), nil }
func (d *discard) WriteHeader(status int)      { d.status = status }

// BenchmarkCall is what the handler adds to net/http for a small tools/call.
func BenchmarkCall(b *testing.B) {
	f := &fixture{}
	h := New(newServer(f), nil)
	begin := func(body, version, id string, more ...string) (*http.Request, *bytes.Reader) {
		r := httptest.NewRequest("POST", "/mcp", nil)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", bothMedia)
		if id != "" {
			r.Header.Set("Mcp-Session-Id", id)
		}
		if version != "" {
			r.Header.Set("Mcp-Protocol-Version", version)
		}
		for i := 0; i < len(more); i += 2 {
			r.Header.Set(more[i], more[i+1])
		}
		in := bytes.NewReader([]byte(body))
		r.Body, r.ContentLength = io.NopCloser(in), int64(len(body))
		return r, in
	}
	run := func(b *testing.B, body, version, id string, more ...string) {
		r, in := begin(body, version, id, more...)
		w := &discard{header: make(http.Header)}
		payload := []byte(body)
		b.ReportAllocs()
		for b.Loop() {
			in.Reset(payload)
			clear(w.header)
			w.n = 0
			h.ServeHTTP(w, r)
		}
		if w.n == 0 || w.status != 0 {
			b.Fatalf("status %d, %d bytes", w.status, w.n)
		}
	}
	r, _ := begin(initialize, "", "")
	w := &discard{header: make(http.Header)}
	h.ServeHTTP(w, r)
	id := w.header.Get("Mcp-Session-Id")
	body := request("1000001", "tools/call", `{"name":"echo","arguments":{"name":"hello hello hello"}}`)
	b.Run("session", func(b *testing.B) { run(b, body, "2025-11-25", id) })
	b.Run("no session", func(b *testing.B) { run(b, body, "2025-11-25", "") })
	for name, n := range map[string]int{"4 KiB": 4 << 10, "1 MiB": 1 << 20} {
		text := strings.Repeat(`line with \"quotes\" and breaks\n`, n/32)
		body := request("1000001", "tools/call", `{"name":"echo","arguments":{"name":"`+text+`"}}`)
		b.Run("session "+name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			run(b, body, "2025-11-25", id)
		})
	}
	body = request("1000001", "tools/call", `{"name":"echo","arguments":{"name":"hello hello hello"},`+modernMeta+`}`)
	b.Run("modern", func(b *testing.B) { run(b, body, modernVersion, "", "Mcp-Method", "tools/call", "Mcp-Name", "echo") })
}
