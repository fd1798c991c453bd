package mcphttp

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
)

func TestSession(t *testing.T) {
	f := serve(t, nil)
	c := f.connect("2025-11-25")
	if got := c.post(call("1", "echo", `{"name":"x"}`)); got.status != 200 || got.header.Get("Content-Type") != "application/json" ||
		got.header.Get("Content-Length") == "" || !strings.Contains(got.body, `"text":"x"`) {
		t.Errorf("%+v", got)
	}
	got := c.post(call("2", "steps", `{"name":"x"}`))
	if got.status != 200 || got.header.Get("X-Accel-Buffering") != "no" || got.header.Get("Cache-Control") != "no-cache, no-transform" || len(got.events) != 5 {
		t.Fatalf("%+v", got)
	}
	if e := got.events[0]; e.id == "" || e.data != "" || !e.hasData {
		t.Errorf("no priming event: %+v", e)
	}
	for i, e := range got.events[1:4] {
		if member(e.data, "params.progress") != fmt.Sprint(i+1) || e.name != "message" {
			t.Errorf("event %d: %+v", i+1, e)
		}
	}
	if e := got.events[4]; member(e.data, "id") != "2" || !strings.Contains(e.data, "done x") {
		t.Errorf("last event: %+v", e)
	}
	if a := c.do("DELETE", "", c.headers()); a.status != 200 {
		t.Errorf("DELETE: %+v", a)
	}
	for _, method := range []string{"POST", "GET", "DELETE"} {
		body := ""
		if method == "POST" {
			body = request("3", "tools/list", "")
		}
		a := c.do(method, body, c.headers())
		if a.status != 404 || member(a.body, "error.message") != `"Session not found"` {
			t.Errorf("%s after DELETE: %+v", method, a)
		}
	}
}

// Clients use the id 1 for everything they send side by side.
func TestSameIDs(t *testing.T) {
	f := serve(t, nil)
	c := f.connect("2025-11-25")
	var wg sync.WaitGroup
	for i := range 12 {
		tool := []string{"echo", "steps"}[i%2]
		wg.Go(func() {
			name := fmt.Sprint("n", i)
			a := c.post(call("1", tool, `{"name":"`+name+`"}`))
			body := a.body
			if len(a.events) > 0 {
				body = a.events[len(a.events)-1].data
			}
			if a.status != 200 || member(body, "id") != "1" || !strings.Contains(body, name+`"`) {
				t.Errorf("%s: %d %s", name, a.status, a.body)
			}
		})
	}
	wg.Wait()
}

func TestAsk(t *testing.T) {
	for _, polling := range []bool{false, true} {
		t.Run(fmt.Sprint("polling ", polling), func(t *testing.T) {
			f := serve(t, &Options{Polling: polling})
			c := f.connect("2025-11-25")
			r := c.stream("POST", call("7", "ask", `{"name":"me"}`))
			m := r.message()
			if member(m, "method") != `"sampling/createMessage"` || member(m, "params.for") != `"me"` {
				t.Fatalf("request: %s", m)
			}
			if a := c.post(`{"jsonrpc":"2.0","id":` + member(m, "id") + `,"result":{"role":"assistant","content":{"type":"text","text":"hi"}}}`); a.status != 202 || a.body != "" {
				t.Errorf("response: %+v", a)
			}
			if m := r.message(); member(m, "id") != "7" || !strings.Contains(m, "said hi") {
				t.Errorf("result: %s", m)
			}
			r.end()
			if a := c.post(`{"jsonrpc":"2.0","id":` + member(m, "id") + `,"result":{}}`); a.status != 202 || !f.reported("not open") {
				t.Errorf("late response: %+v", a)
			}
			// A client that takes JSON only cannot be asked.
			a := c.post(call("8", "ask", `{}`), header{"Accept": "application/json"})
			if a.status != 200 || !strings.Contains(a.body, `"isError":true`) {
				t.Errorf("JSON only: %+v", a)
			}
		})
	}
}

// An id of ours comes back as clients write numbers; a string is no number, and what is nobody's does no harm.
func TestAskIDs(t *testing.T) {
	f := serve(t, nil)
	c := f.connect("2025-11-25")
	for _, format := range []string{"%s", "%s.0", "%se0", "%s0e-1"} {
		r := c.stream("POST", call("7", "ask", `{}`))
		id := member(r.message(), "id")
		for _, stray := range []string{`"` + id + `"`, id + ".5", "-" + id, id + strings.Repeat("0", 100) + "e-100", `""`, "0", "null"} {
			if a := c.post(`{"jsonrpc":"2.0","id":` + stray + `,"result":{"content":{"text":"stray"}}}`); a.status != 202 {
				t.Errorf("%s: %+v", stray, a)
			}
		}
		c.post(`{"jsonrpc":"2.0","id":` + fmt.Sprintf(format, id) + `,"result":{"content":{"text":"hi"}}}`)
		if m := r.message(); !strings.Contains(m, "said hi") {
			t.Errorf("%s: %s", format, m)
		}
		r.end()
	}
}

// An answer that is none ends the question: it will not come twice.
func TestAskBroken(t *testing.T) {
	f := serve(t, nil)
	c := f.connect("2025-11-25")
	other := f.connect("2025-11-25")
	for _, broken := range []string{`{"jsonrpc":"2.0","id":%s}`, `{"jsonrpc":"2.0","id":%s,"error":null}`, `{"jsonrpc":"2.0","id":%s.0,"result":{},"result":{}}`} {
		r := c.stream("POST", call("7", "ask", `{}`))
		id := member(r.message(), "id")
		body := fmt.Sprintf(broken, id)
		other.post(body)                                                    // nobody asked there
		c.post(`{"jsonrpc":"2.0","id":` + id + `,"method":"a","params":5}`) // a request that is none
		if a := c.post(body); a.status != 400 && a.status != 202 {
			t.Errorf("%s: %+v", body, a)
		}
		if m := r.message(); !strings.Contains(m, "invalid response") {
			t.Errorf("%s: %s", body, m)
		}
		r.end()
	}
}

func TestGet(t *testing.T) {
	f := serve(t, nil)
	c := f.connect("2025-06-18")
	r := c.stream("GET", "")
	f.srv.Changed(0)
	if m := r.message(); member(m, "method") != `"notifications/tools/list_changed"` {
		t.Errorf("%s", m)
	}
	again := c.stream("GET", "")
	r.end() // the new one replaces it
	f.srv.Changed(1)
	if m := again.message(); member(m, "method") != `"notifications/resources/list_changed"` {
		t.Errorf("%s", m)
	}
	again.close()
	eventually(t, "the stream is gone", func() bool {
		s := f.h.find(c.id, "", false)
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.active == 0
	})
	f.srv.Changed(2)
	last := c.stream("GET", "", header{"Last-Event-Id": again.lastID})
	if m := last.message(); member(m, "method") != `"notifications/prompts/list_changed"` {
		t.Errorf("%s", m)
	}
}

func TestModern(t *testing.T) {
	f := serve(t, nil)
	h := header{"Mcp-Protocol-Version": modernVersion, "Mcp-Method": "tools/call", "Mcp-Name": "steps"}
	a := f.do("POST", request("1", "tools/call", `{"name":"steps","arguments":{},`+strings.Replace(modernMeta, `{`, `{"progressToken":1,`, 1)+`}`), h)
	if a.status != 200 || len(a.events) != 4 || strings.Contains(a.body, "id: ") || a.header.Get("Mcp-Session-Id") != "" {
		t.Errorf("%+v", a)
	}
	h["Mcp-Name"] = "wait"
	resp := make(chan error)
	ctx, stop := contextWithCancel()
	go func() {
		r, err := f.try(ctx, "POST", request("2", "tools/call", `{"name":"wait","arguments":{"name":"m"},`+modernMeta+`}`), h)
		if err == nil {
			_, err = io.Copy(io.Discard, r.Body)
			r.Body.Close()
		}
		resp <- err
	}()
	<-f.started
	stop() // closing is the cancel
	<-resp
	if err := <-f.ended; err == nil {
		t.Error("not cancelled")
	}
}
