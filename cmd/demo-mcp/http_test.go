package main

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestHTTP starts the program, talks to it in both eras, and ends it by a signal while a stream is open.
func TestHTTP(t *testing.T) {
	c := program(t, "-http", "127.0.0.1:0", "-stats")
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stderr)
	first, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, at, _ := strings.Cut(strings.TrimSpace(first), ": serving ")
	client := &http.Client{Timeout: time.Minute, Transport: new(http.Transport)}
	defer client.CloseIdleConnections()
	send := func(method, body string, header ...string) (*http.Response, string) {
		t.Helper()
		r, err := http.NewRequest(method, at, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if method == http.MethodGet {
			return resp, ""
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp, string(b)
	}
	resp, body := send("POST", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	id := resp.Header.Get("Mcp-Session-Id")
	if resp.StatusCode != 200 || id == "" || !strings.Contains(body, `"name":"demo-mcp"`) {
		t.Fatalf("%d %s", resp.StatusCode, body)
	}
	if resp, body = send("POST", `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, "Mcp-Session-Id", id); !strings.Contains(body, `"search"`) {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	resp, body = send("POST", `{"jsonrpc":"2.0","id":3,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientCapabilities":{}}}}`, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "server/discover")
	if resp.StatusCode != 200 || !strings.Contains(body, `"supportedVersions"`) {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	if resp, _ = send("POST", `{}`, "Origin", "https://elsewhere.example"); resp.StatusCode != 403 {
		t.Errorf("a strange origin: %d", resp.StatusCode)
	}
	stream, _ := send("GET", "", "Mcp-Session-Id", id)
	defer stream.Body.Close()
	if runtime.GOOS == "windows" {
		_ = c.Process.Kill() // it has no signals
		_ = c.Wait()
		return
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(stream.Body)
	if err != nil || !bytes.Contains(b, []byte("retry: ")) {
		t.Errorf("the stream does not end well: %v %q", err, b)
	}
	rest, _ := io.ReadAll(lines)
	if err := c.Wait(); err != nil {
		t.Errorf("%v\n%s", err, rest)
	}
	if !strings.Contains(string(rest), "tools/list") {
		t.Errorf("no figures: %s", rest)
	}
}
