package mcphttp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/mcp"
)

// Shutdown answers subscriptions, closes streams, lets requests end, and then cuts them off.
func TestShutdown(t *testing.T) {
	f := serve(t, &Options{Grace: 3 * time.Second, Retry: 2 * time.Second})
	c := f.connect("2025-11-25")
	get := c.stream("GET", "")
	listen := f.stream("POST", modernRequest("9", "subscriptions/listen", `,"notifications":{}`), modernHeader("subscriptions/listen", ""))
	listen.message()
	answers := make(chan answer, 3)
	go func() { answers <- c.post(call("1", "wait", `{"name":"quick"}`)) }()
	<-f.started
	cut := make(chan answer, 2)
	go func() { cut <- c.post(call("2", "wait", `{"name":"slow"}`)) }()
	<-f.started
	go func() {
		cut <- f.do("POST", modernRequest("2", "tools/call", `,"name":"wait","arguments":{"name":"slow"}`), modernHeader("tools/call", "wait"))
	}()
	<-f.started
	if a := f.health(); a != 200 {
		t.Errorf("health %d", a)
	}
	done := make(chan error)
	go func() {
		ctx, stop := context.WithTimeout(context.Background(), patience)
		defer stop()
		done <- f.h.Shutdown(ctx)
	}()
	if m := listen.message(); member(m, "id") != "9" || member(m, "result.resultType") != `"complete"` {
		t.Errorf("%s", m)
	}
	listen.end()
	var retry time.Duration
	for {
		e, err := get.next()
		if err != nil {
			if err != io.EOF {
				t.Error(err)
			}
			break
		}
		retry = max(retry, e.retry)
	}
	if retry != 2*time.Second {
		t.Errorf("retry %v", retry)
	}
	if a := f.health(); a != 503 {
		t.Errorf("health %d", a)
	}
	for _, a := range []answer{
		f.do("POST", initialize, nil), f.do("GET", "", c.headers()),
		f.do("POST", modernRequest("9", "subscriptions/listen", `,"notifications":{}`), modernHeader("subscriptions/listen", "")),
	} {
		if a.status != 503 || a.header.Get("Retry-After") == "" || member(a.body, "error.message") != `"Server shutting down"` {
			t.Errorf("%+v", a)
		}
	}
	close(f.gate("quick"))
	if a := <-answers; a.status != 200 || !strings.Contains(a.body, "gone through quick") {
		t.Errorf("%+v", a)
	}
	for range 2 {
		if a := <-cut; a.status != 503 && !strings.Contains(a.body, "isError") || member(a.body, "id") != "2" {
			t.Errorf("%+v", a)
		}
		if err := <-f.ended; !errors.Is(err, cancel.ErrClosing) {
			t.Errorf("cause %v", err)
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if a := f.do("POST", request("1", "ping", ""), nil); a.status != 503 {
		t.Errorf("%+v", a)
	}
}

// A function that does not end holds Shutdown back as long as its context says.
func TestShutdownDeadline(t *testing.T) {
	block := make(chan struct{})
	f := serveWith(t, &Options{Grace: time.Millisecond}, func(f *fixture) {
		mcp.AddTool(&f.box, mcp.Tool{Name: "deaf", Description: "Do not end."}, func(context.Context, named1) (string, error) {
			f.started <- ""
			<-block
			return "", nil
		})
	})
	done := make(chan answer)
	go func() { done <- f.do("POST", call("1", "deaf", `{}`), nil) }()
	<-f.started
	ctx, stop := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer stop()
	if err := f.h.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	close(block)
	<-done
}

// Whoever calls Shutdown learns of the end, also if others call it at the same time.
func TestShutdownByMany(t *testing.T) {
	f := serve(t, &Options{Grace: time.Hour})
	done := make(chan answer)
	go func() { done <- f.do("POST", call("1", "wait", `{"name":"g"}`), nil) }()
	<-f.started
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	ended := make(chan error)
	for range 8 {
		go func() { ended <- f.h.Shutdown(ctx) }()
	}
	eventually(t, "it begins", func() bool { return f.health() == 503 })
	close(f.gate("g"))
	<-done
	for range 8 {
		if err := <-ended; err != nil || ctx.Err() != nil { // it was not the end of ctx that woke it
			t.Errorf("%v, %v", err, ctx.Err())
		}
	}
}

func (f *fixture) health() int {
	resp, err := f.ts.Client().Get(f.ts.URL + "/health")
	if err != nil {
		f.t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

func TestServe(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t}
	h := New(newServer(f), nil)
	mux := http.NewServeMux()
	h.Register(mux, "/mcp/")
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- h.Serve(ctx, l, NewServer(mux)) }()
	client := &http.Client{Transport: new(http.Transport)}
	defer client.CloseIdleConnections()
	resp, err := client.Post("http://"+l.Addr().String()+"/mcp", "application/json", strings.NewReader(request("1", "ping", "")))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Errorf("%d", resp.StatusCode)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := h.Serve(context.Background(), l, NewServer(mux)); err == nil {
		t.Error("a closed listener serves")
	}
}

// What a shutdown has cut off has the same status whether or not functions could close their streams.
func TestShutdownStatus(t *testing.T) {
	for _, polling := range []bool{false, true} {
		f := serve(t, &Options{Polling: polling, Grace: time.Millisecond})
		c := f.connect("2025-11-25")
		cut := make(chan answer)
		go func() { cut <- c.post(call("1", "wait", `{"name":"slow"}`)) }()
		<-f.started
		ctx, stop := context.WithTimeout(context.Background(), patience)
		defer stop()
		if err := f.h.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		if a := <-cut; a.status != 503 || a.header.Get("Retry-After") == "" || member(a.body, "error.message") != `"Server shutting down"` {
			t.Errorf("polling %v: %+v", polling, a)
		}
	}
}

// A client that sends its body slowly has no longer than others.
func TestShutdownDuringBody(t *testing.T) {
	f := serve(t, &Options{Grace: time.Millisecond, BodyTimeout: 2 * patience})
	conn, err := net.Dial("tcp", f.ts.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	fmt.Fprint(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 500\r\nExpect: 100-continue\r\n\r\n")
	r := bufio.NewReader(conn)
	if resp, err := http.ReadResponse(r, nil); err != nil || resp.StatusCode != 100 { // it waits for the body
		t.Fatalf("%v, %v", resp, err)
	}
	fmt.Fprint(conn, `{"jsonrpc":`)
	ctx, stop := context.WithTimeout(context.Background(), patience/2)
	defer stop()
	if err := f.h.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 503 || !resp.Close {
		t.Errorf("%+v", resp)
	}
}
