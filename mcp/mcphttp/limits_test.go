package mcphttp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
)

// principals takes who calls from a header.
func principals(r *http.Request) (string, time.Time) {
	var until time.Time
	if d, err := time.ParseDuration(r.Header.Get("X-Until")); err == nil {
		until = time.Now().Add(d)
	}
	return r.Header.Get("X-Who"), until
}

// A session is there for who began it and for nobody else.
func TestSessionOfAnother(t *testing.T) {
	f := serve(t, &Options{Principal: principals})
	ada := f.connect("2025-11-25", header{"X-Who": "ada"})
	var answers []string
	for _, who := range []string{"bob", "-"} {
		for _, method := range []string{"POST", "GET", "DELETE"} {
			body := ""
			if method == "POST" {
				body = request("1", "tools/list", "")
			}
			a := f.do(method, body, ada.headers(header{"X-Who": who}))
			b := f.do(method, body, header{"Mcp-Session-Id": "nope", "X-Who": who, "Mcp-Protocol-Version": "2025-11-25"})
			if a.status != 404 || a.body != b.body || a.status != b.status {
				t.Errorf("%s %s: %d %s, unknown: %d %s", who, method, a.status, a.body, b.status, b.body)
			}
			answers = append(answers, a.body)
		}
	}
	if a := f.do("POST", request("1", "tools/list", ""), ada.headers(header{"X-Who": "ada"})); a.status != 200 {
		t.Errorf("ada: %+v %v", a, answers)
	}
}

// Sessions make place for others only when they were idle for a while.
func TestSessionCaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{t: t}
		h := New(newServer(f), &Options{MaxSessions: 3, MaxPerCaller: 2, Principal: principals})
		begin := func(who string) (int, string) {
			w := directWith(h, "POST", initialize, header{"X-Who": who})
			if w.Code == 503 && (w.Header().Get("Retry-After") == "" || member(w.Body.String(), "error.code") != "-32603" || member(w.Body.String(), "id") != "0") {
				t.Errorf("%v %s", w.Header(), w.Body)
			}
			return w.Code, w.Header().Get("Mcp-Session-Id")
		}
		use := func(id, who string) int {
			return directWith(h, "POST", request("1", "ping", ""), header{"X-Who": who, "Mcp-Session-Id": id}).Code
		}
		_, first := begin("ada")
		_, second := begin("ada")
		if code, _ := begin("ada"); code != 503 {
			t.Errorf("third of one caller: %d", code)
		}
		if code, _ := begin("bob"); code != 200 {
			t.Errorf("first of another: %d", code)
		}
		if code, _ := begin("eve"); code != 503 {
			t.Errorf("one too many: %d", code)
		}
		time.Sleep(30 * time.Second)
		use(first, "ada")
		time.Sleep(31 * time.Second)
		if code, _ := begin("ada"); code != 200 { // in place of the one that was idle longest
			t.Errorf("after a minute: %d", code)
		}
		if got := [2]int{use(first, "ada"), use(second, "ada")}; got != [2]int{200, 404} {
			t.Errorf("%v", got)
		}
		if code, _ := begin("eve"); code != 200 { // in place of bob's
			t.Errorf("another: %d", code)
		}
		if n := h.Sessions(); n != 3 || h.reserved != 0 || h.principals["ada"] != 2 || h.principals["bob"] != 0 {
			t.Errorf("%d sessions, %d reserved, %v", n, h.reserved, h.principals)
		}
		// Idle ones end.
		time.Sleep(20 * time.Minute)
		if code := use(first, "ada"); code != 200 {
			t.Errorf("within the timeout: %d", code)
		}
		time.Sleep(25 * time.Minute)
		if n := h.Sessions(); n != 1 {
			t.Errorf("%d sessions", n)
		}
		time.Sleep(25 * time.Minute)
		if n := h.Sessions(); n != 0 || len(h.principals) != 0 || h.sweep != nil {
			t.Errorf("%d sessions, %v", n, h.principals)
		}
		if code := use(first, "ada"); code != 404 {
			t.Errorf("after the timeout: %d", code)
		}
	})
}

func TestSessionAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(newServer(&fixture{t: t}), &Options{MaxSessionAge: 10 * time.Minute})
		id := directWith(h, "POST", initialize, nil).Header().Get("Mcp-Session-Id")
		for range 11 {
			directWith(h, "POST", request("1", "ping", ""), header{"Mcp-Session-Id": id})
			time.Sleep(time.Minute)
		}
		synctest.Wait()
		if n := h.Sessions(); n != 0 {
			t.Errorf("%d sessions", n)
		}
	})
}

// A session with a stream is not idle, a session whose client is gone is.
func TestIdleWithStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{t: t}
		f.srv = newServer(f)
		h := New(f.srv, &Options{SessionTimeout: time.Minute})
		begin := func() string { return directWith(h, "POST", initialize, nil).Header().Get("Mcp-Session-Id") }
		r := httptest.NewRequest("GET", "/mcp", nil)
		r.Header.Set("Mcp-Session-Id", begin())
		ctx, stop := context.WithCancel(t.Context())
		w := httptest.NewRecorder()
		go h.ServeHTTP(w, r.WithContext(ctx))
		for range 100 {
			begin()
		}
		time.Sleep(3 * time.Minute)
		if n := h.Sessions(); n != 1 {
			t.Errorf("%d sessions, one has a stream", n)
		}
		f.srv.Changed(mcp.Tools)
		time.Sleep(3 * time.Minute)
		stop()
		synctest.Wait()
		if n := h.Sessions(); n != 1 || !strings.Contains(w.Body.String(), "notifications/tools/list_changed") {
			t.Errorf("%d sessions, the stream said %q", n, w.Body)
		}
		time.Sleep(3 * time.Minute)
		if n := h.Sessions(); n != 0 {
			t.Errorf("%d sessions are left", n)
		}
	})
}

func TestRequestsOfSession(t *testing.T) {
	for _, polling := range []bool{false, true} {
		f := serve(t, &Options{MaxRequests: 2, Polling: polling})
		c := f.connect("2025-11-25")
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { c.post(call("1", "wait", `{"name":"g"}`)) })
		}
		<-f.started
		<-f.started
		a := c.post(request("7", "ping", ""))
		if a.status != 429 || a.header.Get("Retry-After") == "" || member(a.body, "error.code") != "-32603" || member(a.body, "id") != "7" {
			t.Errorf("%+v", a)
		}
		if a := c.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}`); a.status != 202 {
			t.Errorf("%+v", a)
		}
		close(f.gate("g"))
		wg.Wait()
		eventually(t, "there is room", func() bool { return c.post(request("7", "ping", "")).status == 200 })
	}
}

func TestListensOfCaller(t *testing.T) {
	f := serve(t, &Options{MaxListens: 2, Principal: principals})
	listen := modernRequest("1", "subscriptions/listen", `,"notifications":{}`)
	h := modernHeader("subscriptions/listen", "")
	h["X-Who"] = "ada"
	var open []*reader
	for range 2 {
		open = append(open, f.stream("POST", listen, h))
	}
	if a := f.do("POST", listen, h); a.status != 200 || member(a.body, "error.code") != "-32602" || member(a.body, "id") != "1" {
		t.Errorf("%+v", a)
	}
	h["X-Who"] = "bob"
	f.stream("POST", listen, h).close()
	h["X-Who"] = "ada"
	open[0].close()
	eventually(t, "there is room", func() bool {
		f.h.mu.Lock()
		defer f.h.mu.Unlock()
		return f.h.listens["ada"] == 1
	})
	f.stream("POST", listen, h)
}

// Streams end when it is no longer known who reads them.
func TestTokenExpiry(t *testing.T) {
	f := serve(t, &Options{Principal: principals})
	a := f.do("POST", initialize, header{"X-Who": "ada"})
	get := f.stream("GET", "", header{"X-Who": "ada", "X-Until": "1s", "Mcp-Session-Id": a.header.Get("Mcp-Session-Id")})
	get.end()
	h := modernHeader("subscriptions/listen", "")
	h["X-Who"], h["X-Until"] = "ada", "2s" // time for the acknowledgement
	r := f.stream("POST", modernRequest("1", "subscriptions/listen", `,"notifications":{}`), h)
	r.message()
	if m := r.message(); member(m, "result.resultType") != `"complete"` {
		t.Errorf("%s", m)
	}
	r.end()
}

// raw is a connection without http.Client.
func raw(t *testing.T, f *fixture) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", f.ts.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return c
}

// A body that does not come is not waited for; the limit does not reach into the answer.
func TestSlowBody(t *testing.T) {
	const limit = time.Second
	f := serve(t, &Options{BodyTimeout: limit})
	c := raw(t, f)
	fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != 408 || member(string(b), "error.code") != "-32600" || !resp.Close {
		t.Errorf("%d %s", resp.StatusCode, b)
	}
	done := make(chan answer)
	go func() { done <- f.do("POST", call("1", "wait", `{"name":"g"}`), nil) }()
	<-f.started
	time.AfterFunc(2*limit, func() { close(f.gate("g")) })
	if a := <-done; a.status != 200 || !strings.Contains(a.body, "gone through g") {
		t.Errorf("%+v", a)
	}
	// One that is cut off, one that lies about its length, one without.
	f = serve(t, nil)
	c = raw(t, f)
	fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
	_ = c.(*net.TCPConn).CloseWrite()
	if resp, err := http.ReadResponse(bufio.NewReader(c), nil); err == nil && resp.StatusCode != 400 {
		t.Errorf("cut off: %d", resp.StatusCode)
	}
	c = raw(t, f)
	fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2147483647\r\n\r\n{")
	if resp, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || resp.StatusCode != 413 {
		t.Errorf("huge: %v %v", resp, err)
	}
	c = raw(t, f)
	body := request("1", "ping", "")
	fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	if resp, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || resp.StatusCode != 200 {
		t.Errorf("chunked: %v %v", resp, err)
	}
}

func TestReadAll(t *testing.T) {
	for _, n := range []int{1, 2047, 2048, 2049, trusted - 1, trusted, trusted + 1, 2 * trusted, 300_000} {
		text := strings.Repeat("x", n)
		for _, announced := range []int64{-1, int64(n)} {
			for _, r := range []io.Reader{strings.NewReader(text), iotestOne{strings.NewReader(text)}} {
				if b, err := new(stock).readAll(r, announced, n); err != nil || string(b) != text {
					t.Errorf("%d, announced %d: %d bytes, %v", n, announced, len(b), err)
				}
			}
			if _, err := new(stock).readAll(strings.NewReader(text), announced, n-1); !errors.Is(err, errTooLarge) {
				t.Errorf("%d over the limit, announced %d: %v", n, announced, err)
			}
		}
	}
}

// iotestOne reads at most 1000 bytes at a time.
type iotestOne struct{ r io.Reader }

func (o iotestOne) Read(p []byte) (int, error) { return o.r.Read(p[:min(len(p), 1000)]) }

// A client that stops reading loses its stream and holds up nobody.
func TestSlowReader(t *testing.T) {
	f := serveWith(t, &Options{WriteTimeout: time.Second, MaxQueued: 8, Heartbeat: -1, NoEvents: true}, func(f *fixture) {
		mcp.AddTool(&f.box, mcp.Tool{Name: "flood", Description: "Notify without end."}, func(ctx context.Context, _ named1) (string, error) {
			text := strings.Repeat("x", 64<<10)
			for {
				if err := mcp.SessionFrom(ctx).Notify(ctx, "notifications/x", map[string]string{"text": text}); err != nil {
					f.ended <- err
					return "", err
				}
			}
		})
	})
	c := f.connect("2025-11-25")
	conn := raw(t, f)
	body := call("1", "flood", `{}`)
	fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: %s\r\nContent-Length: %d\r\n\r\n%s", c.id, len(body), body)
	select {
	case err := <-f.ended:
		if !errors.Is(err, ErrStreamLost) {
			t.Errorf("%v", err)
		}
	case <-time.After(patience):
		t.Fatal("the function never learns of it")
	}
	if a := c.post(request("2", "ping", "")); a.status != 200 {
		t.Errorf("%+v", a)
	}
	// The session's own stream.
	get := raw(t, f)
	fmt.Fprintf(get, "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nMcp-Session-Id: %s\r\n\r\n", c.id)
	s := f.h.find(c.id, "", false)
	eventually(t, "the stream is open", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.own != nil && s.active > 0 })
	text := strings.Repeat("y", 64<<10)
	begin := time.Now()
	dropped := false
	for range 1000 {
		dropped = s.Notify(context.Background(), "notifications/x", map[string]string{"text": text}) != nil || dropped
	}
	// Waiting for the reader each time would take a quarter of an hour.
	if d := time.Since(begin); d > 5*time.Minute || !dropped {
		t.Errorf("%v, dropped %v", d, dropped)
	}
}

func TestTapAndObserve(t *testing.T) {
	var mu sync.Mutex
	var in, out []string
	var events []jsonrpc2.Event
	f := serve(t, &Options{
		Tap: tap{func(b []byte) { mu.Lock(); in = append(in, string(b)); mu.Unlock() }, func(b []byte) { mu.Lock(); out = append(out, string(b)); mu.Unlock() }},
		Observe: func(e jsonrpc2.Event) {
			mu.Lock()
			events = append(events, e)
			mu.Unlock()
			panic("survived")
		},
	})
	c := f.connect("2025-11-25")
	c.post(call("1", "steps", `{}`))
	c.post(request("2", "no/such", ""))
	mu.Lock()
	defer mu.Unlock()
	if len(in) != 4 || in[0] != initialize || len(out) != 6 || !strings.Contains(out[1], `"progress":1`) || !strings.HasPrefix(out[4], `{"jsonrpc":"2.0","id":1`) {
		t.Errorf("in %q\nout %q", in, out)
	}
	if len(events) != 4 || events[0].Method != "initialize" || !events[1].Notification || events[2].Method != "tools/call" || events[2].Out == 0 || events[3].Code != -32601 {
		t.Errorf("%+v", events)
	}
}

type tap struct{ in, out func([]byte) }

func (t tap) Inbound(b []byte)  { t.in(b); panic("survived") }
func (t tap) Outbound(b []byte) { t.out(b); panic("survived") }

// Options.MaxRun ends what nobody else would.
func TestMaxRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{t: t, started: make(chan string, 2), ended: make(chan error, 2)}
		h := New(newServer(f), &Options{MaxRun: time.Minute})
		id := directWith(h, "POST", initialize, nil).Header().Get("Mcp-Session-Id")
		for _, c := range []struct {
			name, body string
			header     header
			want       string
		}{
			{"session", call("1", "wait", `{"name":"g"}`), header{"Mcp-Session-Id": id}, `"error":{"code":-32603`},
			{"modern", modernRequest("1", "tools/call", `,"name":"wait","arguments":{"name":"g"}`), modernHeader("tools/call", "wait"), `"message":"The request took too long"`},
		} {
			begun := time.Now()
			w := directWith(h, "POST", c.body, c.header)
			if w.Code != 200 || !strings.Contains(w.Body.String(), c.want) || time.Since(begun) != time.Minute {
				t.Errorf("%s: %d %s after %v", c.name, w.Code, w.Body, time.Since(begun))
			}
			if err := <-f.ended; !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: cause %v", c.name, err)
			}
		}
		directWith(h, "DELETE", "", header{"Mcp-Session-Id": id})
	})
}

// Many sessions at once, each calling tools: no answer is wrong, and nothing is left.
func TestManySessions(t *testing.T) {
	f := serve(t, &Options{SessionTimeout: time.Hour})
	var wg sync.WaitGroup
	var bad atomic.Int32
	for i := range 64 {
		wg.Go(func() {
			c := f.connect("2025-11-25")
			for j := range 8 {
				tool := []string{"echo", "steps"}[j%2]
				name := fmt.Sprint(i, "-", j)
				a := c.post(call("1", tool, `{"name":"`+name+`"}`))
				body := a.body
				if len(a.events) > 0 {
					body = a.events[len(a.events)-1].data
				}
				if a.status != 200 || !strings.Contains(body, name) {
					bad.Add(1)
				}
			}
			c.do("DELETE", "", c.headers())
		})
	}
	wg.Wait()
	if n := bad.Load(); n > 0 || f.h.Sessions() != 0 {
		t.Errorf("%d wrong answers, %d sessions", n, f.h.Sessions())
	}
	if m := f.h.o.Events.(*MemoryStore); m.size != 0 || m.recent.Len() != 0 || len(m.sessions) != 0 {
		t.Errorf("%d bytes are kept", m.size)
	}
}
