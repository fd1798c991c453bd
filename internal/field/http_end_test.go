package field

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/tandem-rpc/tandem/logging"
	"github.com/tandem-rpc/tandem/mcp"
	"github.com/tandem-rpc/tandem/mcp/mcpauth"
	"github.com/tandem-rpc/tandem/mcp/mcphttp"
)

// until waits until something is so.
func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// quiet waits until there are no more goroutines than there were, but for a few of the client's.
func quiet(t *testing.T, before int) {
	t.Helper()
	http.DefaultClient.CloseIdleConnections()
	until(t, "the goroutines have ended", func() bool { return runtime.NumGoroutine() <= before+5 })
}

// Sessions end with DELETE, or when their clients are not heard of; a probe makes none, a failed initialize makes none, and there are never too many.
func TestHTTPNothingIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	k := host(t, tools(), nil)
	for range 200 {
		k.do("POST", request("1", "server/discover", "{}"))
		k.do("POST", strings.Replace(mcpHello, `"2025-06-18"`, "5", 1))
		k.do("POST", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":[]}`)
		k.do("POST", mcpHello, "Accept", "text/html")
		if n := k.h.Sessions(); n != 0 {
			t.Fatalf("95: %d sessions", n)
		}
		id := k.begin("2025-06-18")
		if r := k.do("DELETE", "", "Mcp-Session-Id", id); r.status/100 != 2 {
			t.Fatalf("95: DELETE: %d %s", r.status, r.body)
		}
	}
	k = host(t, tools(), &mcphttp.Options{MaxSessions: 50, SessionTimeout: 300 * time.Millisecond})
	var full, begun int
	for range 200 {
		switch r := k.do("POST", mcpHello); r.status {
		case 200:
			begun++
		case 503:
			full++
		default:
			t.Fatalf("168: %d %s", r.status, r.body)
		}
		if n := k.h.Sessions(); n > 50 {
			t.Fatalf("168: %d sessions", n)
		}
	}
	if begun == 0 || full == 0 && begun < 200 {
		t.Errorf("168: %d begun, %d refused", begun, full)
	}
	until(t, "168: no sessions", func() bool { return k.h.Sessions() == 0 })
	quiet(t, before+6) // those of the servers
}

// A client may leave at any moment: nothing is left of it, and others are served.
func TestHTTPClientsLeave(t *testing.T) {
	before := runtime.NumGoroutine()
	k := host(t, tools(), &mcphttp.Options{WriteTimeout: time.Second, Heartbeat: 50 * time.Millisecond, SessionTimeout: time.Hour})
	id := k.begin("2025-06-18")
	addr := strings.TrimSuffix(strings.TrimPrefix(k.url, "http://"), "/mcp")
	head := "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\nMcp-Session-Id: " + id + "\r\n"
	whole := func(body string) string { return fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, len(body), body) }
	progress := request("1", "tools/call", `{"name":"progress","arguments":{},"_meta":{"progressToken":1}}`)
	for _, sent := range []string{
		"", "PO", head[:30], head, whole(ping)[:len(head)+25], whole(ping)[:len(whole(ping))-1], whole(ping), whole(progress), whole("{bad"), whole(ping) + whole(progress),
		"GET /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: " + id + "\r\nAccept: text/event-stream\r\n\r\n",
		"GET /sse HTTP/1.1\r\nHost: localhost\r\n\r\n", "\x16\x03\x01\x00\xa5", "Content-Length: 2\r\n\r\n{}", mcpHello + "\n",
	} {
		for _, read := range []int{0, 1} {
			for range 10 {
				c, err := net.Dial("tcp", addr)
				if err != nil {
					t.Fatal(err)
				}
				_ = c.SetDeadline(time.Now().Add(patience))
				_, _ = io.WriteString(c, sent)
				if read > 0 && strings.Contains(sent, "\r\n\r\n") && !strings.Contains(sent, "Content-Length: "+fmt.Sprint(len(ping))+"\r\n\r\n{") {
					_, _ = c.Read(make([]byte, read))
				}
				_ = c.Close()
			}
		}
	}
	until(t, "others are served", func() bool { return k.do("POST", ping, "Mcp-Session-Id", id).code() == "1:ok" }) // once there are not too many at it
	k.do("DELETE", "", "Mcp-Session-Id", id)
	until(t, "only sessions of nobody are gone", func() bool { return k.h.Sessions() == 0 })
	quiet(t, before+3)
}

// The server ends while its clients leave: nothing panics, and everything ends.
func TestHTTPShutdownRaces(t *testing.T) {
	for range 20 {
		s := tools()
		s.ListChanged = true
		k := host(t, s, nil)
		var clients sync.WaitGroup
		ctx, stop := context.WithCancel(context.Background())
		for i := range 10 {
			id := k.begin("2025-06-18")
			clients.Go(func() {
				method, url := "GET", k
				if i%2 == 0 {
					url = k.at("/sse")
				}
				resp, err := url.open(ctx, method, "", fields{"Mcp-Session-Id", id})
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			})
		}
		var ends sync.WaitGroup
		ends.Go(stop)
		ends.Go(func() { s.Changed(mcp.Tools) })
		for range 2 {
			ends.Go(func() {
				end, stop := context.WithTimeout(context.Background(), patience)
				defer stop()
				if err := k.h.Shutdown(end); err != nil {
					t.Errorf("74: %v", err)
				}
			})
		}
		ends.Wait()
		clients.Wait()
		if n := k.h.Sessions(); n != 0 {
			t.Errorf("74: %d sessions", n)
		}
	}
}

// What is secret in a request stays out of the log, of what is reported and of the answer, whole or broken.
func TestHTTPSecretsStayOut(t *testing.T) {
	verifier, err := mcpauth.NewStatic(mcpauth.StaticToken{Token: "the-good-token-of-ada", Subject: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	resource, err := mcpauth.New(mcpauth.Options{Resource: "https://mcp.example.com/mcp", Issuers: []string{"https://login.example.com"}, Verifier: verifier})
	if err != nil {
		t.Fatal(err)
	}
	good := fields{"Authorization", "Bearer the-good-token-of-ada"}
	for _, c := range []struct {
		name, method, body string
		f                  fields
		status             int
	}{
		{"141: unknown session", "POST", ping, append(good, "Mcp-Session-Id", canary), 404},
		{"141: unknown session, GET", "GET", "", append(good, "Mcp-Session-Id", canary), 404},
		{"141: unknown session, DELETE", "DELETE", "", append(good, "Mcp-Session-Id", canary+","), 404},
		{"141: unknown event", "GET", "", append(good, "Mcp-Session-Id", canary, "Last-Event-Id", canary), 404},
		{"141: bad token", "POST", ping, fields{"Authorization", "Bearer " + canary}, 401},
		{"141: bad token, other scheme", "POST", ping, fields{"Authorization", "Basic " + canary}, 401},
		{"141: token with an error in it", "POST", ping, fields{"Authorization", "Bearer " + canary + "\""}, 400},
		{"203: no JSON", "POST", `{"jsonrpc":"2.0","id":1 "method":"x","params":{"token":"` + canary + `"}}`, good, 400},
		{"203: cut", "POST", `{"token":"` + canary, good, 400},
		{"203: no request", "POST", `{"jsonrpc":"2.0","id":1,"token":"` + canary + `"}`, good, 400},
		{"203: wrong types", "POST", request("1", "initialize", `{"protocolVersion":{"token":"`+canary+`"}}`), good, 200},
		{"203: in arguments", "POST", call("1", "noargs", `{"password":"`+canary+`"}`), good, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log bytes.Buffer
			logger := hclog.New(&hclog.LoggerOptions{Level: hclog.Trace, Output: &log})
			k := host(t, tools(), &mcphttp.Options{
				Tap: logging.NewTraffic(logger, &logging.Options{Protocol: "mcp"}), Protect: resource.Protect, Principal: mcpauth.Identify,
			})
			r := k.do(c.method, c.body, c.f...)
			if r.status != c.status {
				t.Errorf("%d %s, want %d", r.status, r.body, c.status)
			}
			if leaks(r.body) || leaks(fmt.Sprint(r.header)) {
				t.Errorf("the answer has it: %s %v", r.body, r.header)
			}
			if leaks(log.String()) {
				t.Errorf("the log has it: %s", log.String())
			}
			if leaks(k.reported()) {
				t.Errorf("a report has it: %s", k.reported())
			}
		})
	}
}
