//go:build !race && !poison

package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/tandem-rpc/tandem/framework/inspect"
	"github.com/tandem-rpc/tandem/logging"
)

// inspectPicture names the variable with the path that a picture of the page is put at, for the documentation.
const inspectPicture = "TANDEM_INSPECT_PICTURE"

// TestInspectPage: somebody looks at the traffic of demo-mcp while a client talks to it: rows appear, filters, figures, details, pause, save. What the
// client sent as secrets is nowhere on the page.
func TestInspectPage(t *testing.T) {
	argv := chromium(t, "inspect-page.mjs")
	cmd := exec.Command(build(t, "cmd/demo-mcp"), "-root", notes(t), "-inspect", "localhost:0")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	talking := make(chan struct{})
	stop := make(chan struct{})
	t.Cleanup(func() {
		close(stop)
		<-talking
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("demo-mcp ends with %v", err)
		}
	})
	line, err := bufio.NewReader(stderr).ReadString('\n')
	_, url, ok := strings.Cut(strings.TrimSpace(line), "demo-mcp: inspect ")
	if err != nil || !ok {
		close(talking)
		t.Fatalf("demo-mcp does not say where its page is: %q, %v", line, err)
	}
	go func() {
		defer close(talking)
		converse(stop, bufio.NewReader(out), func(m any) error { return json.NewEncoder(in).Encode(m) })
	}()
	runChecks(t, client(t, append(argv, "live", url, os.Getenv(inspectPicture))...))
}

// converse is a client that makes some requests a second, with secrets in them, among them such that fail and such that it gives up.
func converse(stop <-chan struct{}, in *bufio.Reader, send func(any) error) {
	type object = map[string]any
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		case <-time.After(20 * time.Millisecond): // it is a person's pace, and waits for nothing
		}
		m := object{"jsonrpc": "2.0", "id": i}
		switch {
		case i == 0:
			m["method"], m["params"] = "initialize", object{"protocolVersion": "2025-06-18", "capabilities": object{},
				"clientInfo": object{"name": "somebody", "version": "1", "apiKey": "CANARY"}}
		case i == 1:
			m = object{"jsonrpc": "2.0", "method": "notifications/initialized"}
		case i%7 == 2:
			m["method"], m["params"] = "tools/call", object{"name": "search", "arguments": object{"query": "text of the other", "token": "CANARY"}}
		case i%7 == 3:
			m["method"] = "resources/list"
		case i%7 == 4:
			m["method"], m["params"] = "no/such", object{"password": "CANARY", "html": "<img src=x onerror=alert(1)><b>bold</b>"}
		case i%7 == 5:
			m = object{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": object{"requestId": i - 1, "reason": "https://u:CANARY@h/"}}
		default:
			m["method"] = "tools/list"
		}
		if send(m) != nil {
			return
		}
		if _, answered := m["id"]; answered {
			if _, err := in.ReadString('\n'); err != nil {
				return
			}
		}
	}
}

// TestInspectPageLarge: with a hundred thousand messages a filter answers within half a second, and the page's heap stays below 200 MB.
func TestInspectPageLarge(t *testing.T) {
	argv := chromium(t, "inspect-page.mjs")
	page := inspect.New(&inspect.Options{Program: "large"})
	feed := logging.NewFeed(page, nil)
	conns := []*logging.Source{feed.Open("editor", "one"), feed.Open("agent", "two")}
	filler := strings.Repeat("lorem ipsum dolor sit amet ", 6) // as much as fits a page of default size
	const requests = 50_000
	for i := range requests {
		s, unit := conns[i%2], uint64(i/2+1)
		id := fmt.Sprint(i)
		s.Inbound(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":"method/%d","params":{"text":"%s","number":%d}}`, id, i%20, filler, i))
		s.Outbound(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"text":"%s"}}`, id, filler))
		s.Timing(unit, id, time.Duration(i%100)*time.Microsecond, time.Duration(i%1000)*time.Microsecond)
		if i%1000 == 0 {
			if err := feed.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := feed.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- page.Serve(ctx, ln) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		_ = feed.Close(context.Background())
	})
	runChecks(t, client(t, append(argv, "large", page.URL(ln.Addr()), fmt.Sprint(requests))...))
}
