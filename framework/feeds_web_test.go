package framework_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tandem-rpc/tandem/framework"
	"github.com/tandem-rpc/tandem/framework/replay"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/logging"
	"github.com/tandem-rpc/tandem/mcp"
	"github.com/tandem-rpc/tandem/mcp/mcphttp"
)

// hailer is an MCP server that says who it is talking to.
func hailer() *mcp.Server {
	var box mcp.Toolbox
	type in struct {
		Name string `json:"name"`
	}
	mcp.AddTool(&box, mcp.Tool{Name: "greet"}, func(_ context.Context, in in) (string, error) { return "Hello, " + in.Name, nil })
	return &mcp.Server{Name: "greeter", Version: "1", Lister: box.List, Caller: box.Call}
}

// agent is a client over HTTP.
type agent struct {
	t       *testing.T
	client  *http.Client
	url, id string
}

// send posts a message and returns the answer.
func (a *agent) send(method, text string, more ...string) string {
	a.t.Helper()
	r, err := http.NewRequestWithContext(a.t.Context(), method, a.url, strings.NewReader(text))
	if err != nil {
		a.t.Fatal(err)
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	for i := 0; i < len(more); i += 2 {
		r.Header.Set(more[i], more[i+1])
	}
	if a.id != "" {
		r.Header.Set("Mcp-Session-Id", a.id)
	}
	res, err := a.client.Do(r)
	if err != nil {
		a.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 300 {
		a.t.Fatalf("%s %s: %s, %v: %s", method, text, res.Status, err, b)
	}
	if id := res.Header.Get("Mcp-Session-Id"); id != "" {
		a.id = id
	}
	return string(b)
}

// TestSessionsRecorded: clients of one HTTP listener that are there at once, with the same ids, with sessions and without, are recorded as connections of
// their own, and each can be replayed by itself without a difference.
func TestSessionsRecorded(t *testing.T) {
	var file bytes.Buffer
	recorder := logging.NewRecorder(&file, nil)
	feed := logging.NewFeed(recorder, nil)
	site := &mcphttp.Site{Server: hailer()}
	rt := framework.Runtime{Web: site, Feeds: []*logging.Feed{feed}}
	address, wait := serve(t, &rt)

	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"modern","version":"2"}}`
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	var clients sync.WaitGroup
	for n := range 4 {
		a := &agent{t: t, client: &http.Client{Timeout: patience, Transport: transport}, url: "http://" + address + "/mcp"}
		if n < 3 {
			a.send("POST", fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},`+
				`"clientInfo":{"name":"agent https://u:CANARY@h/","version":"%d"}}}`, n))
			a.send("POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		}
		clients.Go(func() {
			for i := 1; i <= 20; i++ {
				name := fmt.Sprintf("%d of %d", i, n)
				text, more := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"greet","arguments":{"name":%q}}}`, i, name), []string(nil)
				if n == 3 {
					text = strings.Replace(text, `"params":{`, `"params":{`+meta+`,`, 1)
					more = []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "greet"}
				}
				if got := a.send("POST", text, more...); !strings.Contains(got, "Hello, "+name) {
					t.Errorf("%s: %s", text, got)
				}
			}
			if n == 1 {
				a.send("DELETE", "")
			}
		})
	}
	clients.Wait()
	transport.CloseIdleConnections()
	end, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	if err := rt.Shutdown(end); err != nil {
		t.Fatal(err)
	}
	wait()
	if err := feed.Close(end); err != nil {
		t.Fatal(err)
	}
	if err := recorder.Close(); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(file.Bytes(), []byte("CANARY")) {
		t.Error("a secret was recorded")
	}

	opened, timed := map[string]string{}, map[string]int{}
	for in := logging.NewRecordReader(bytes.NewReader(file.Bytes())); ; {
		r, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch r.Kind {
		case logging.KindOpen:
			opened[r.Connection] = r.Client
		case logging.KindTiming:
			timed[r.Connection]++
		case logging.KindClose:
			delete(opened, r.Connection)
		}
	}
	if len(opened) != 0 {
		t.Errorf("left open: %v", opened)
	}
	sessions, err := replay.Read(bytes.NewReader(file.Bytes()))
	if err != nil || len(sessions) != 4 {
		t.Fatalf("%d sessions, %v", len(sessions), err)
	}
	named := 0
	for _, s := range sessions {
		if !s.Whole || s.Protocol != "mcp" || timed[s.Connection] < 20 {
			t.Errorf("%s: whole %v, %q, %d timings", s.Connection, s.Whole, s.Protocol, timed[s.Connection])
		}
		if strings.HasPrefix(s.Client, "agent https://[redacted]@h/") {
			named++
		}
		ours, theirs := jsonrpc2.Pipe()
		done := make(chan error, 1)
		go func() {
			done <- new(framework.Runtime).ServeTransport(context.Background(), theirs, hailer())
		}()
		r, err := s.Play(t.Context(), ours, nil)
		if err != nil || !r.Same() || r.Compared < 20 || r.Skipped != 0 {
			t.Errorf("%s: %v, %+v", s.Connection, err, r)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if named != 3 {
		t.Errorf("%d clients have their names", named)
	}

	// A program replays what it has served beside its main connection too.
	path := filepath.Join(t.TempDir(), "traffic.jsonl")
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, errs, code := runOnce(t, "agents", "", "--replay", path); code != 0 || strings.Count(out, "no difference") != 4 {
		t.Errorf("replay: code %d: %s%s", code, out, errs)
	}
	if out, errs, code := runOnce(t, "lines", "", "--replay", path); code != framework.ExitFailure || !strings.Contains(errs, "no session for this server") {
		t.Errorf("replay by another program: code %d: %s%s", code, out, errs)
	}
}
