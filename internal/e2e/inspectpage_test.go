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
	"sync"
	"testing"
	"time"

	"github.com/tandem-rpc/tandem/framework/inspect"
	"github.com/tandem-rpc/tandem/logging"
)

// inspectPicture names the variable with the path that a picture of the page is put at, for the documentation.
const inspectPicture = "TANDEM_INSPECT_PICTURE"

// TestInspectPage: somebody looks at the traffic of demo-lsp while an editor and two agents are at the same notes: rows of both protocols appear, each client's
// as a connection of its own, with cancellations and errors; filters, figures, details, pause, save. What the clients sent as secrets is nowhere on the page.
func TestInspectPage(t *testing.T) {
	argv := chromium(t, "inspect-page.mjs")
	folder := notes(t)
	cmd := exec.Command(build(t, "cmd/demo-lsp"), "--stdio", "-root", folder, "-inspect", "localhost:0", "-mcp", "localhost:0")
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
	typing, quit := context.WithCancel(context.Background())
	working, stop := context.WithCancel(context.Background())
	var editor, others sync.WaitGroup
	t.Cleanup(func() { // the editor is the last, since the server ends with it
		stop()
		others.Wait()
		quit()
		editor.Wait()
		if err := cmd.Wait(); err != nil {
			t.Errorf("demo-lsp ends with %v", err)
		}
	})
	editor.Go(func() { editing(typing, t, folder, in, out) })
	lines, at := bufio.NewReader(stderr), map[string]string{}
	for at["inspect"] == "" || at["serving"] == "" {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("demo-lsp does not say where its page is: %v, %v", at, err)
		}
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "demo-lsp: "); ok {
			what, url, _ := strings.Cut(text, " ")
			at[what] = url
		} else {
			t.Logf("stderr: %s", line)
		}
	}
	editor.Go(func() { drain(lines) })
	others.Go(func() { agents(working, t, at["serving"]) })
	runChecks(t, client(t, append(argv, "live", at["inspect"], os.Getenv(inspectPicture))...))
}

// asJSON is a message as it is sent.
func asJSON(t *testing.T, v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

// TestInspectPageLarge: with a hundred thousand messages a filter answers at once, and the page's heap stays below 200 MB.
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
