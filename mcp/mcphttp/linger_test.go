package mcphttp

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A client that sends all of its request before it reads anything gets the answer, also where that was given before the body was read.
func TestRefusedWhileSending(t *testing.T) {
	const n = 16 << 20
	defer func(time, silence time.Duration) { lingerTime, lingerSilence = time, silence }(lingerTime, lingerSilence)
	lingerTime, lingerSilence = patience, patience
	refused := func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "who are you", http.StatusUnauthorized) }
	for _, c := range []struct {
		name, header string
		o            *Options
		status       int
	}{
		{"too large", "Content-Type: application/json", nil, 413},
		{"too large, found out on the way", "Content-Type: application/json\r\nTransfer-Encoding: chunked", nil, 413},
		{"not JSON", "Content-Type: text/plain", nil, 415},
		{"compressed", "Content-Encoding: gzip", nil, 415},
		{"strange origin", "Origin: https://evil.example", nil, 403},
		{"another path", "X-A: b", &Options{Path: "/other"}, 404},
		{"no token", "X-A: b", &Options{Protect: func(http.Handler) http.Handler { return http.HandlerFunc(refused) }}, 401},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := serve(t, c.o)
			conn := raw(t, f)
			chunked := strings.Contains(c.header, "chunked")
			length, before, after := fmt.Sprintf("Content-Length: %d", n), "", ""
			if chunked {
				length, before, after = "X-B: c", fmt.Sprintf("%x\r\n", n), "\r\n0\r\n\r\n"
			}
			fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\n%s\r\n%s\r\n\r\n%s", c.header, length, before)
			body := io.MultiReader(bytes.NewReader(make([]byte, n)), strings.NewReader(after))
			if _, err := io.Copy(conn, body); err != nil {
				t.Fatalf("the body cannot be sent: %v", err)
			}
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatalf("no answer: %v", err)
			}
			if b, err := io.ReadAll(resp.Body); resp.StatusCode != c.status || err != nil || len(b) == 0 {
				t.Errorf("%d %q %v", resp.StatusCode, b, err)
			}
		})
	}
}

// Who only announces, or never ends, is let go.
func TestLingerEnds(t *testing.T) {
	f := serve(t, nil)
	for name, body := range map[string]io.Reader{"nothing": strings.NewReader("{"), "endless": zeros{}} {
		t.Run(name, func(t *testing.T) {
			conn := raw(t, f)
			fmt.Fprint(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1099511627776\r\n\r\n")
			go func() { _, _ = io.Copy(conn, body) }()
			r := bufio.NewReader(conn)
			if resp, err := http.ReadResponse(r, nil); err != nil || resp.StatusCode != 413 {
				t.Fatalf("%v %v", resp, err)
			}
			if b, err := io.ReadAll(r); err == nil && len(b) == 0 || strings.Contains(fmt.Sprint(err), "timeout") {
				t.Errorf("%q %v", b, err)
			}
		})
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
