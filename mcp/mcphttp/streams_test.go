package mcphttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tandem-rpc/tandem/mcp"
)

// A client whose response broke gets the rest with its next, the answer included, and nothing twice.
func TestResume(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2025-06-18", "2025-03-26"} {
		t.Run(version, func(t *testing.T) {
			f := serve(t, nil)
			c := f.connect(version)
			r := c.stream("POST", call("1", "stepwait", `{"name":"g"}`))
			e := r.event()
			if version == "2025-11-25" {
				if e.data != "" || e.id == "" {
					t.Fatalf("no priming event: %+v", e)
				}
				e = r.event()
			}
			if member(e.data, "params.progress") != "1" {
				t.Fatalf("%+v", e)
			}
			<-f.started
			r.close()
			back := c.stream("GET", "", header{"Last-Event-Id": e.id})
			close(f.gate("g"))
			if m := back.message(); member(m, "params.progress") != "2" {
				t.Errorf("%s", m)
			}
			last := back.lastID
			if m := back.message(); member(m, "id") != "1" || !strings.Contains(m, "gone through g") {
				t.Errorf("%s", m)
			}
			back.end()
			// Once more from the middle, and from behind the end.
			again := c.stream("GET", "", header{"Last-Event-Id": last})
			if m := again.message(); member(m, "id") != "1" {
				t.Errorf("%s", m)
			}
			again.end()
			c.stream("GET", "", header{"Last-Event-Id": again.lastID}).end()
			for _, id := range []string{"nope", "nope_1", e.id + "9", "_1", e.id[:len(e.id)-1] + "-1", strings.Repeat("9", 70)} {
				a := c.do("GET", "", c.headers(header{"Last-Event-Id": id}))
				if a.status != 400 || member(a.body, "error.message") != `"Invalid Request: unknown event id"` {
					t.Errorf("event id %q: %d %s", id, a.status, a.body)
				}
			}
			// The event id of another session is unknown.
			other := f.connect(version)
			if a := other.do("GET", "", other.headers(header{"Last-Event-Id": e.id})); a.status != 400 {
				t.Errorf("event id of another session: %d", a.status)
			}
		})
	}
}

func TestResumeReplacesResume(t *testing.T) {
	f := serve(t, nil)
	c := f.connect("2025-11-25")
	r := c.stream("POST", call("1", "stepwait", `{"name":"g"}`))
	id := r.event().id
	<-f.started
	first := c.stream("GET", "", header{"Last-Event-Id": id})
	r.t = t
	if m := first.message(); member(m, "params.progress") != "1" {
		t.Errorf("%s", m)
	}
	second := c.stream("GET", "", header{"Last-Event-Id": id})
	first.end()
	if m := second.message(); member(m, "params.progress") != "1" {
		t.Errorf("%s", m)
	}
	close(f.gate("g"))
	if m := second.message(); member(m, "params.progress") != "2" {
		t.Errorf("%s", m)
	}
	if m := second.message(); member(m, "id") != "1" {
		t.Errorf("%s", m)
	}
	second.end()
}

// What is on a stream that breaks is lost where nothing keeps it; the function goes on.
func TestNoEvents(t *testing.T) {
	f := serve(t, &Options{NoEvents: true})
	c := f.connect("2025-11-25")
	r := c.stream("POST", call("1", "stepwait", `{"name":"g"}`))
	if e := r.event(); e.id != "" || member(e.data, "params.progress") != "1" {
		t.Errorf("%+v", e)
	}
	<-f.started
	r.close()
	get := c.stream("GET", "", header{"Last-Event-Id": "a_1"}) // a fresh stream
	f.srv.Changed(mcp.Tools)
	if m := get.message(); member(m, "method") != `"notifications/tools/list_changed"` {
		t.Errorf("%s", m)
	}
	close(f.gate("g"))
	eventually(t, "the session is quiet", func() bool {
		s := f.h.find(c.id, "", false)
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.running == 0
	})
	select {
	case err := <-f.ended:
		t.Errorf("cancelled: %v", err)
	default:
	}
}

// A question on a stream that is lost is not waited for.
func TestAskOnLostStream(t *testing.T) {
	f := serve(t, &Options{NoEvents: true, WriteTimeout: 50 * time.Millisecond, Heartbeat: 20 * time.Millisecond})
	c := f.connect("2025-11-25")
	r := c.stream("POST", call("1", "ask", `{}`))
	r.message()
	r.close()
	eventually(t, "the function has given up", func() bool {
		s := f.h.find(c.id, "", false)
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.running == 0 && len(s.asks) == 0
	})
}

// A question waits for a client that comes back for it.
func TestAskAcrossResume(t *testing.T) {
	f := serve(t, nil)
	c := f.connect("2025-11-25")
	r := c.stream("POST", call("1", "ask", `{}`))
	id := r.event().id
	r.close()
	back := c.stream("GET", "", header{"Last-Event-Id": id})
	m := back.message()
	if member(m, "method") != `"sampling/createMessage"` {
		t.Fatalf("%s", m)
	}
	c.post(`{"jsonrpc":"2.0","id":` + member(m, "id") + `,"error":{"code":-1,"message":"no"}}`)
	if m := back.message(); member(m, "id") != "1" || !strings.Contains(m, `"message":"no"`) {
		t.Errorf("%s", m)
	}
	back.end()
}

// The server ends the response, the client comes back for the answer.
func TestCloseStream(t *testing.T) {
	f := serveWith(t, &Options{Polling: true}, func(f *fixture) {
		mcp.AddTool(&f.box, mcp.Tool{Name: "poll", Description: "End the response."}, func(ctx context.Context, in named1) (string, error) {
			if err := CloseStream(ctx, 250*time.Millisecond); err != nil {
				return "", err
			}
			f.started <- in.Name
			<-f.gate(in.Name)
			_ = mcp.Progress(ctx, 1, 1, "")
			return "polled " + in.Name, nil
		})
	})
	c := f.connect("2025-11-25")
	r := c.stream("POST", call("1", "poll", `{"name":"g"}`))
	id := r.event().id
	if e := r.event(); e.retry != 250*time.Millisecond || e.hasData {
		t.Errorf("%+v", e)
	}
	r.end()
	<-f.started
	close(f.gate("g"))
	back := c.stream("GET", "", header{"Last-Event-Id": id})
	if m := back.message(); member(m, "params.progress") != "1" {
		t.Errorf("%s", m)
	}
	if m := back.message(); member(m, "id") != "1" || !strings.Contains(m, "polled g") {
		t.Errorf("%s", m)
	}
	back.end()

	// Clients that know nothing of it keep their response.
	for _, c := range []struct {
		name string
		a    answer
	}{
		{"earlier revision", f.connect("2025-06-18").post(call("2", "poll", `{}`))},
		{"JSON only", c.post(call("2", "poll", `{}`), header{"Accept": "application/json"})},
		{"no session", f.do("POST", call("2", "poll", `{}`), nil)},
		{"modern", f.do("POST", modernRequest("2", "tools/call", `,"name":"poll","arguments":{}`), modernHeader("tools/call", "poll"))},
	} {
		if !strings.Contains(c.a.body, "cannot be closed") || c.a.status != 200 {
			t.Errorf("%s: %d %s", c.name, c.a.status, c.a.body)
		}
	}
}

// Streams speak when there is nothing to say: that of a session, of a request, and a request without stream gets one.
func TestHeartbeat(t *testing.T) {
	f := serve(t, &Options{Heartbeat: 20 * time.Millisecond, EarlySSE: 20 * time.Millisecond})
	c := f.connect("2025-06-18")
	get := c.stream("GET", "")
	post := c.stream("POST", call("1", "wait", `{"name":"g"}`)) // no notification
	listen := f.stream("POST", modernRequest("1", "subscriptions/listen", `,"notifications":{"toolsListChanged":true}`), modernHeader("subscriptions/listen", ""))
	plain := make(chan answer)
	go func() { plain <- c.post(call("2", "wait", `{"name":"g"}`), header{"Accept": "application/json"}) }()
	<-f.started
	<-f.started
	if m := listen.message(); member(m, "method") != `"notifications/subscriptions/acknowledged"` {
		t.Errorf("%s", m)
	}
	for _, r := range []*reader{get, post, listen} {
		for n := 0; n < 3; {
			line, err := r.r.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			switch strings.TrimSpace(line) {
			case ":":
				n++
			case "":
			default:
				t.Fatalf("line %q", line)
			}
		}
	}
	close(f.gate("g"))
	if m := post.message(); !strings.Contains(m, "gone through g") {
		t.Errorf("%s", m)
	}
	post.end()
	if a := <-plain; a.header.Get("Content-Type") != "application/json" || !strings.Contains(a.body, "gone through g") {
		t.Errorf("JSON only: %+v", a)
	}
}

// A client of a session that goes away has cancelled nothing; a modern one has.
func TestDisconnect(t *testing.T) {
	for _, polling := range []bool{false, true} {
		f := serve(t, &Options{Polling: polling})
		c := f.connect("2025-11-25")
		for _, tool := range []string{"wait", "stepwait"} {
			t.Run(fmt.Sprint("legacy ", tool, " polling ", polling), func(t *testing.T) {
				ctx, stop := context.WithCancel(context.Background())
				gone := make(chan struct{})
				go func() {
					defer close(gone)
					resp, err := f.try(ctx, "POST", call("1", tool, `{"name":"`+tool+`"}`), c.headers())
					if err == nil {
						_, _ = io.Copy(io.Discard, resp.Body)
						resp.Body.Close()
					}
				}()
				<-f.started
				stop()
				<-gone
				s := f.h.find(c.id, "", false)
				running := func() int { s.mu.Lock(); defer s.mu.Unlock(); return s.running }
				if running() != 1 {
					t.Errorf("%d run", running())
				}
				close(f.gate(tool))
				eventually(t, "the function has returned", func() bool { return running() == 0 })
				select {
				case err := <-f.ended:
					t.Errorf("cancelled: %v", err)
				default:
				}
			})
		}
	}
	f := serve(t, nil)
	for _, tool := range []string{"wait", "stepwait"} {
		t.Run("modern "+tool, func(t *testing.T) {
			ctx, stop := context.WithCancel(context.Background())
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				body := request("1", "tools/call", `{"name":"`+tool+`","arguments":{"name":"x"},`+strings.Replace(modernMeta, `{`, `{"progressToken":1,`, 1)+`}`)
				resp, err := f.try(ctx, "POST", body, modernHeader("tools/call", tool))
				if err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
			}()
			<-f.started
			stop()
			<-gone
			select {
			case <-f.ended:
			case <-time.After(patience):
				t.Error("not cancelled")
			}
		})
	}
}

// notifications/cancelled cancels in a session, and what was cancelled is not answered.
func TestCancel(t *testing.T) {
	f := serve(t, nil)
	c := f.connect("2025-11-25")
	done := make(chan answer)
	go func() { done <- c.post(call("5", "wait", `{"name":"a"}`)) }()
	<-f.started
	if a := c.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"5"}}`); a.status != 202 {
		t.Errorf("%+v", a)
	}
	if a := c.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5,"reason":"enough"}}`); a.status != 202 {
		t.Errorf("%+v", a)
	}
	if a := <-done; a.status != 202 || a.body != "" {
		t.Errorf("%+v", a)
	}
	if err := <-f.ended; !strings.Contains(err.Error(), "enough") {
		t.Errorf("cause %v", err)
	}
	r := c.stream("POST", call("6", "stepwait", `{"name":"b"}`))
	r.message()
	<-f.started
	c.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6}}`)
	r.end()
}

// A subscription over HTTP: acknowledged first, ended by the client with the response, or by the server with a result.
func TestListen(t *testing.T) {
	f := serve(t, nil)
	r := f.stream("POST", modernRequest(`"l"`, "subscriptions/listen", `,"notifications":{"toolsListChanged":true,"resourceSubscriptions":["note:a"]}`), modernHeader("subscriptions/listen", ""))
	if m := r.message(); member(m, "method") != `"notifications/subscriptions/acknowledged"` || !strings.Contains(m, `"io.modelcontextprotocol/subscriptionId":"l"`) {
		t.Fatalf("%s", m)
	}
	if r.header.Get("X-Accel-Buffering") != "no" {
		t.Errorf("%v", r.header)
	}
	f.srv.Updated("note:a")
	f.srv.Changed(mcp.Prompts)
	f.srv.Changed(mcp.Tools)
	for range 2 {
		m := r.message()
		if !strings.Contains(m, `"io.modelcontextprotocol/subscriptionId":"l"`) || strings.Contains(m, "prompts") || strings.Contains(m, `"id"`) {
			t.Errorf("%s", m)
		}
	}
	r.close()
	eventually(t, "the subscription is over", func() bool {
		f.h.mu.Lock()
		defer f.h.mu.Unlock()
		return f.h.modern == nil && len(f.h.listens) == 0
	})
	r = f.stream("POST", modernRequest(`7`, "subscriptions/listen", `,"notifications":{}`), modernHeader("subscriptions/listen", ""))
	r.message()
	f.srv.Close()
	if m := r.message(); member(m, "id") != "7" || member(m, "result.resultType") != `"complete"` {
		t.Errorf("%s", m)
	}
	r.end()
}

// wrapped hides what a ResponseWriter can do, as middleware does.
type wrapped struct{ http.ResponseWriter }

func (w wrapped) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func TestWrappedWriter(t *testing.T) {
	f := serve(t, nil)
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.h.ServeHTTP(wrapped{w}, r) }))
	defer ts.Close()
	plain := f.ts.URL
	f.ts.URL = ts.URL
	c := f.connect("2025-11-25")
	get := c.stream("GET", "")
	f.srv.Changed(mcp.Tools)
	if m := get.message(); member(m, "method") != `"notifications/tools/list_changed"` {
		t.Errorf("%s", m)
	}
	r := c.stream("POST", call("1", "stepwait", `{"name":"g"}`))
	if m := r.message(); member(m, "params.progress") != "1" { // before the function is over
		t.Errorf("%s", m)
	}
	close(f.gate("g"))
	r.message()
	r.message()
	r.end()
	get.close()
	f.ts.URL = plain
}

// Writers that cannot flush get the stream when it is over.
func TestRecorder(t *testing.T) {
	f := serve(t, nil)
	r := httptest.NewRequest("POST", "/mcp", strings.NewReader(call("1", "steps", `{}`)))
	w := httptest.NewRecorder()
	f.h.ServeHTTP(struct{ http.ResponseWriter }{w}, r)
	if n := strings.Count(w.Body.String(), "event: message"); n != 4 {
		t.Errorf("%d events: %s", n, w.Body)
	}
}

// Server-sent events whose data has line breaks would be two messages.
func TestEventText(t *testing.T) {
	got := string(appendEvent(nil, "s", 7, []byte("{\n\"a\":\r\n1}")))
	if want := "event: message\nid: s_7\ndata: { \"a\":  1}\n\n"; got != want {
		t.Errorf("%q", got)
	}
	if got := string(appendPriming(nil, "s", 0, time.Second)); got != "id: s_0\nretry: 1000\ndata: \n\n" {
		t.Errorf("%q", got)
	}
}

// DELETE ends what runs in the session, and every stream of it.
func TestDeleteEndsRequests(t *testing.T) {
	for _, polling := range []bool{false, true} {
		f := serve(t, &Options{Polling: polling})
		c := f.connect("2025-11-25")
		get := c.stream("GET", "")
		plain := make(chan answer, 1)
		go func() { plain <- c.post(call("1", "wait", `{"name":"plain"}`)) }()
		<-f.started
		stream := c.stream("POST", call("2", "stepwait", `{"name":"stream"}`))
		if m := stream.message(); member(m, "params.progress") != "1" {
			t.Errorf("%s", m)
		}
		<-f.started
		want{200, "-", ""}.check(t, c.do("DELETE", "", c.headers()))
		for range 2 {
			select {
			case err := <-f.ended:
				if !errors.Is(err, ErrSessionEnded) {
					t.Errorf("cause %v", err)
				}
			case <-time.After(patience):
				t.Fatal("it goes on")
			}
		}
		get.end()
		if a := <-plain; a.status != 200 && a.status != 202 {
			t.Errorf("%+v", a)
		}
		for {
			if _, err := stream.next(); err != nil {
				break
			}
		}
		if n := f.h.Sessions(); n != 0 {
			t.Errorf("%d sessions", n)
		}
	}
}

// Headers and a first comment come at once: there are proxies that hold the headers back until there is a body.
func TestFirstByte(t *testing.T) {
	f := serve(t, &Options{Heartbeat: -1})
	c := f.connect("2025-06-18")
	for name, r := range map[string]*reader{
		"GET":    c.stream("GET", ""),
		"listen": f.stream("POST", modernRequest("1", "subscriptions/listen", `,"notifications":{"toolsListChanged":true}`), modernHeader("subscriptions/listen", "")),
	} {
		line, err := r.r.ReadString('\n')
		if err != nil || line == "" {
			t.Errorf("%s: %q %v", name, line, err)
		}
		if name == "GET" && !strings.HasPrefix(line, ":") {
			t.Errorf("%s begins with %q", name, line)
		}
	}
}
