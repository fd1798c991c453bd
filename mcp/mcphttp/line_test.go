package mcphttp

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
)

// rest reads a stream to its end.
func rest(r *reader) { _, _ = io.Copy(io.Discard, r.r) }

// tape is what Options.Session was told.
type tape struct {
	mu    sync.Mutex
	lines []*track
}

// track is one line of it.
type track struct {
	tape   *tape
	id     string
	client string
	seen   []string // messages, and the end
	ran    []string
}

func (p *tape) begin(id, client string) (*jsonrpc2.Options, func(error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := &track{tape: p, id: id, client: client}
	p.lines = append(p.lines, l)
	return &jsonrpc2.Options{Tap: l, Observe: func(e jsonrpc2.Event) {
			p.mu.Lock()
			defer p.mu.Unlock()
			l.ran = append(l.ran, strings.TrimSpace(fmt.Sprintf("%d %s %s", e.Unit, e.Method, e.ID)))
		}}, func(why error) {
			l.note(fmt.Sprint("end ", why))
		}
}

func (l *track) note(s string) {
	l.tape.mu.Lock()
	defer l.tape.mu.Unlock()
	l.seen = append(l.seen, strings.TrimSpace(s))
}

func (l *track) message(arrow string, frame []byte) {
	m, err := mcp.Inspect(frame)
	if err != nil || m.Kind == jsonrpc2.KindInvalid {
		l.note(arrow + " ?")
		return
	}
	l.note(fmt.Sprintf("%s %s %s", arrow, m.Method, m.ID))
}

func (l *track) Inbound(frame []byte)  { l.message(">", frame) }
func (l *track) Outbound(frame []byte) { l.message("<", frame) }

// all returns what the tape has: a text for each line.
func (p *tape) all() (texts []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.lines {
		texts = append(texts, l.client+": "+strings.Join(l.seen, "; "))
	}
	return texts
}

// expect waits until a line is as it should be.
func (p *tape) expect(t *testing.T, line int, want string) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		got := p.all()
		if len(got) > line && got[line] == want {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("line %d\nwant %s\n got %s", line, want, strings.Join(got, "\n     "))
		}
	}
}

// Two clients at once whose requests have the same ids: each has its line, on which everything is in order, to its end.
func TestLines(t *testing.T) {
	p := new(tape)
	f := serve(t, &Options{Session: p.begin})
	var all [2]*client
	for i := range all {
		all[i] = f.connect("2025-11-25")
	}
	var streams [2]*reader
	for i, c := range all {
		streams[i] = c.stream("POST", call("1", "ask", `{"name":"x"}`))
	}
	for i, c := range all {
		if e := streams[i].event(); e.data != "" {
			t.Fatalf("no priming event: %+v", e)
		}
		question := streams[i].message()
		if a := c.post(`{"jsonrpc":"2.0","id":` + member(question, "id") + `,"result":{"content":{"text":"hello"}}}`); a.status != 202 {
			t.Fatal(a.status)
		}
		if m := streams[i].message(); !strings.Contains(m, "said hello") {
			t.Fatal(m)
		}
		streams[i].end()
	}
	for i, c := range all {
		streams[i] = c.stream("POST", call("2", "stepwait", fmt.Sprintf(`{"name":"g%d"}`, i)))
		<-f.started
		if a := c.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`); a.status != 202 {
			t.Fatal(a.status)
		}
		<-f.ended
		rest(streams[i])
	}
	for i, c := range all {
		if a := c.post("nonsense"); a.status != 400 {
			t.Fatal(a.status)
		}
		if a := c.post(`{"jsonrpc":"2.0","id":3,"method":1}`); a.status != 400 {
			t.Fatal(a.status)
		}
		if i == 0 {
			if a := c.do("DELETE", "", c.headers()); a.status != 200 {
				t.Fatal(a.status)
			}
		}
	}
	if a := all[0].post(request("4", "ping", "")); a.status != 404 {
		t.Fatal(a.status)
	}
	const talk = `test 1: > initialize 0; <  0; > notifications/initialized; ` +
		`> tools/call 1; < sampling/createMessage 1; >  1; <  1; ` +
		`> tools/call 2; < notifications/progress; > notifications/cancelled; > ?; <  3`
	p.expect(t, 0, talk+"; end <nil>")
	p.expect(t, 1, talk)
	p.expect(t, 2, `: > ?; <; > ?; <; > ping 4; <  4`)
	p.mu.Lock()
	ran := slices.Sorted(slices.Values(p.lines[1].ran))
	p.mu.Unlock()
	if want := []string{"1 initialize 0", "2 notifications/initialized", "3 tools/call 1", "5 tools/call 2", "6 notifications/cancelled"}; !slices.Equal(ran, want) {
		t.Errorf("ran %q", ran)
	}
	ids := []string{p.lines[0].id, p.lines[1].id, p.lines[2].id}
	if !regexp.MustCompile(`^[0-9a-f]{8} [0-9a-f]{8} $`).MatchString(strings.Join(ids, " ")) || ids[0] == ids[1] {
		t.Errorf("ids %q", ids)
	}
	for i, c := range all {
		if strings.Contains(ids[i], c.id) || strings.Contains(c.id, ids[i]) {
			t.Error("the id of a session is told")
		}
	}
	end, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	if err := f.h.Shutdown(end); err != nil {
		t.Fatal(err)
	}
	p.expect(t, 1, talk+"; end connection closing")
	p.expect(t, 2, `: > ?; <; > ?; <; > ping 4; <  4; end <nil>`)
	f.do("POST", "nonsense", nil)
	if n := len(p.all()); n != 3 {
		t.Errorf("%d lines, one after the end", n)
	}
}

// age makes everything old, once it is idle.
func age(t *testing.T, h *Handler) {
	t.Helper()
	eventually(t, "nothing runs", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.lines.mu.Lock()
		defer h.lines.mu.Unlock()
		for _, s := range h.sessions {
			if _, idle := s.idle(); !idle {
				return false
			}
			s.used.Store(1)
		}
		for _, all := range h.lines.groups {
			for _, a := range all {
				if len(a.running) > 0 {
					return false
				}
				a.used = time.Unix(0, 1)
			}
		}
		return h.sweep != nil // something will end it
	})
}

// What has been idle for long ends; a session says so.
func TestLineIdle(t *testing.T) {
	p := new(tape)
	f := serve(t, &Options{Session: p.begin})
	f.connect("2025-06-18")
	body, h := modernCall("1", "echo", "x", "a")
	f.do("POST", body, h)
	age(t, f.h)
	f.h.sweepSessions()
	p.expect(t, 1, `a: > tools/call 1; <  1; end <nil>`)
	p.expect(t, 0, `test 1: > initialize 0; <  0; > notifications/initialized; end `+errIdle.Error())
}

// modernCall is a request of a client without session.
func modernCall(id, tool, name, client string) (string, header) {
	return request(id, "tools/call", `{"name":"`+tool+`","arguments":{"name":"`+name+`"},"_meta":{"progressToken":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
			`"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"`+client+`"}}}`),
		header{"Mcp-Protocol-Version": modernVersion, "Mcp-Method": "tools/call", "Mcp-Name": tool}
}

// Clients without sessions: those that say who they are have a line each, and requests with one id that run at once are on different ones. To close the
// response is to cancel.
func TestLinesStateless(t *testing.T) {
	p := new(tape)
	f := serve(t, &Options{Session: p.begin})
	var waiting []*reader
	for i, client := range []string{"a", "a", "b"} {
		body, h := modernCall("1", "stepwait", fmt.Sprint("g", i), client)
		waiting = append(waiting, f.stream("POST", body, h))
		<-f.started
	}
	body, h := modernCall("2", "echo", "x", "a")
	if a := f.do("POST", body, h); a.status != 200 {
		t.Fatal(a.status, a.body)
	}
	waiting[1].close()
	<-f.ended
	p.expect(t, 1, `a: > tools/call 1; < notifications/progress; > notifications/cancelled`)
	close(f.gate("g0"))
	close(f.gate("g2"))
	rest(waiting[0])
	rest(waiting[2])
	const first = `a: > tools/call 1; < notifications/progress; > tools/call 2; <  2; < notifications/progress; <  1`
	p.expect(t, 0, first)
	p.expect(t, 2, `b: > tools/call 1; < notifications/progress; < notifications/progress; <  1`)
	for _, l := range p.lines {
		if l.id != StatelessID {
			t.Errorf("id %q", l.id)
		}
	}
	f.h.lines.retire(time.Now().Add(time.Hour))
	p.expect(t, 0, first+"; end <nil>")
}

// Requests of clients that have lost their session, and where there are none.
func TestLinesSessionless(t *testing.T) {
	p := new(tape)
	f := serve(t, &Options{Session: p.begin, Stateless: true})
	f.do("POST", request("1", "ping", ""), nil)
	f.do("POST", initialize, nil)
	p.expect(t, 0, `: > ping 1; <  1`)
	p.expect(t, 1, `test 1: > initialize 0; <  0`)
}

// The transport of 2024-11-05: the line begins with the first message, and ends with the stream.
func TestLinesOld(t *testing.T) {
	p := new(tape)
	c := serveOld(t, &Options{Session: p.begin})
	r := c.open(nil)
	for _, m := range []string{strings.Replace(initialize, "2025-11-25", "2024-11-05", 1), `{"jsonrpc":"2.0","method":"notifications/initialized"}`, request("1", "ping", "")} {
		if a := c.send("POST", c.at, m, nil); a.status != 202 {
			t.Fatal(a.status, a.body)
		}
		if strings.Contains(m, `"id"`) {
			r.message()
		}
	}
	r.close()
	p.expect(t, 0, `test 1: > initialize 0; <  0; > notifications/initialized; > ping 1; <  1; end <nil>`)
}

// An initialize that is refused leaves nothing open.
func TestLineRefused(t *testing.T) {
	p := new(tape)
	f := serve(t, &Options{Session: p.begin})
	if a := f.do("POST", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientInfo":{"name":"odd"}}}`, nil); a.header.Get("Mcp-Session-Id") != "" {
		t.Fatal(a.header)
	}
	p.expect(t, 0, `odd: > initialize 0; <  0; end <nil>`)
}

// What fails in the functions of Options.Session is nobody else's trouble.
func TestLinePanics(t *testing.T) {
	bad := func() { panic("bad") }
	for name, begin := range map[string]func(string, string) (*jsonrpc2.Options, func(error)){
		"session": func(string, string) (*jsonrpc2.Options, func(error)) { bad(); return nil, nil },
		"nothing": func(string, string) (*jsonrpc2.Options, func(error)) { return nil, nil },
		"all": func(string, string) (*jsonrpc2.Options, func(error)) {
			return &jsonrpc2.Options{Tap: badTap{}, Observe: func(jsonrpc2.Event) { bad() }}, func(error) { bad() }
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := serve(t, &Options{Session: begin})
			c := f.connect("2025-11-25")
			for range 2 {
				if a := c.post(call("1", "steps", `{"name":"x"}`)); a.status != 200 || !strings.Contains(a.body, "done x") {
					t.Errorf("%d %s", a.status, a.body)
				}
			}
			if a := c.do("DELETE", "", c.headers()); a.status != 200 {
				t.Error(a.status)
			}
		})
	}
}

type badTap struct{}

func (badTap) Inbound([]byte)  { panic("bad") }
func (badTap) Outbound([]byte) { panic("bad") }

// A crowd without sessions is bounded, and the one that was idle longest makes place.
func TestLinesBounded(t *testing.T) {
	p := new(tape)
	f := &fixture{t: t}
	h := New(newServer(f), &Options{Session: p.begin})
	for i := range maxLanes + 100 {
		r := httptest.NewRequest("POST", "/mcp", strings.NewReader(request("1", "ping", "")))
		r.RemoteAddr = fmt.Sprintf("10.0.%d.%d:1", i/250, i%250)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", bothMedia)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != 200 {
			t.Fatal(w.Code, w.Body)
		}
	}
	if h.lines.n != maxLanes || len(h.lines.groups) != maxLanes {
		t.Errorf("%d lanes in %d groups", h.lines.n, len(h.lines.groups))
	}
	ended := 0
	for _, s := range p.all() {
		if strings.HasSuffix(s, "end <nil>") {
			ended++
		}
	}
	if ended != 100 {
		t.Errorf("%d have ended", ended)
	}
	if err := h.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if h.lines.n != 0 || slices.ContainsFunc(p.all(), func(s string) bool { return !strings.HasSuffix(s, "end <nil>") }) {
		t.Error("lines are left open")
	}
}

// Without Options.Session nothing is spent on it.
func TestNoLines(t *testing.T) {
	f := &fixture{t: t}
	h := New(newServer(f), nil)
	s := &session{h: h}
	p := &post{h: h, r: httptest.NewRequest("POST", "/mcp", nil), payload: []byte(initialize)}
	p.m, _ = mcp.Inspect(p.payload)
	x := &exchange{h: h, era: modern}
	st := &stream{h: h, session: s}
	if n := testing.AllocsPerRun(100, func() {
		s.follow(p)
		p.group()()
		x.gone(p)()
		st.record(p.payload)
		p.seen(h.stray())
		p.line.observe(jsonrpc2.Event{})
		p.line.outbound(p.payload)
		s.unfollow(nil)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkLines is what a small tools/call costs where somebody looks, and where nobody does.
func BenchmarkLines(b *testing.B) {
	for name, begin := range map[string]func(string, string) (*jsonrpc2.Options, func(error)){
		"off": nil,
		"on": func(string, string) (*jsonrpc2.Options, func(error)) {
			return &jsonrpc2.Options{Tap: noTap{}, Observe: func(jsonrpc2.Event) {}}, func(error) {}
		},
	} {
		b.Run(name, func(b *testing.B) {
			h := New(newServer(&fixture{}), &Options{Session: begin})
			r := httptest.NewRequest("POST", "/mcp", nil)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", bothMedia)
			r.Body = io.NopCloser(strings.NewReader(initialize))
			w := &discard{header: make(http.Header)}
			h.ServeHTTP(w, r)
			r.Header["Mcp-Session-Id"] = w.header["Mcp-Session-Id"]
			body := request("1000001", "tools/call", `{"name":"echo","arguments":{"name":"hello hello hello"}}`)
			b.ReportAllocs()
			for b.Loop() {
				r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
				clear(w.header)
				h.ServeHTTP(w, r)
			}
		})
	}
}

type noTap struct{}

func (noTap) Inbound([]byte)  {}
func (noTap) Outbound([]byte) {}
