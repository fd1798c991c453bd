package inspect

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tandem-rpc/tandem/logging"
)

// watcher is a page in a browser.
type watcher struct {
	t     *testing.T
	res   *http.Response
	in    *bufio.Reader
	hello hello
	last  string // id
	gap   uint64
}

func (w *world) watch(after string) *watcher {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), "GET", w.url+"events", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	res, err := w.client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != 200 || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		w.t.Fatalf("%s %v", res.Status, res.Header)
	}
	v := &watcher{t: w.t, res: res, in: bufio.NewReader(res.Body)}
	if kind, data := v.next(); kind != "hello" || json.Unmarshal(data, &v.hello) != nil {
		w.t.Fatalf("%s: %s", kind, data)
	}
	return v
}

func (v *watcher) next() (kind string, data []byte) {
	v.t.Helper()
	for {
		line, err := v.in.ReadString('\n')
		if err != nil {
			v.t.Fatal(err)
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "event":
			kind = value
		case "id":
			v.last = value
		case "data":
			data = []byte(value)
		case "":
			if kind != "" {
				return kind, data
			}
		}
	}
}

// events reads until n have come.
func (v *watcher) events(n int) []event {
	v.t.Helper()
	var all []event
	for len(all) < n {
		kind, data := v.next()
		switch kind {
		case "events":
			var some []event
			if err := json.Unmarshal(data, &some); err != nil {
				v.t.Fatal(err)
			}
			all = append(all, some...)
		case "gap":
			if err := json.Unmarshal(data, &v.gap); err != nil {
				v.t.Fatal(err)
			}
		}
	}
	if len(all) != n {
		v.t.Fatalf("%d events, want %d", len(all), n)
	}
	return all
}

func TestEvents(t *testing.T) {
	w := newWorld(t, &Options{Program: "test", MaxText: 60})
	s := w.feed.Open("a", "proto", logging.Cancel{Method: "stop", Param: "id"})
	s.Inbound([]byte(`{"jsonrpc":"2.0","id":1.0,"method":"m\u0061","params":{"token":"CANARY"}}`))
	v := w.watch("") // sees what was before, and what comes
	s.Outbound([]byte(`{"jsonrpc":"2.0","id":1.0,"error":{"code":-32601,"message":"no"}}`))
	s.Timing(1, "1.0", 5, 7)
	s.Inbound([]byte(`{"jsonrpc":"2.0","method":"stop","params":{"id":"x"}}`))
	s.Inbound([]byte(`[{"jsonrpc":"2.0","id":2,"method":"b"},{"jsonrpc":"2.0","method":"c"},1]`))
	s.Outbound([]byte(`{"jsonrpc":"2.0","id":9,"result":"` + strings.Repeat("é", 60) + `"}`))
	s.Inbound([]byte(`nonsense CANARY`))
	s.Close("gone")
	want := []string{
		`open a proto`,
		`request a ma 1.0 unit 1: {"jsonrpc":"2.0","id":1.0,"method":"m\u0061","params":{"toke (cut)`,
		`error a out  1.0 code -32601: {"jsonrpc":"2.0","id":1.0,"error":{"code":-32601,"message":" (cut)`,
		`timing a  1.0 unit 1 waited 5 ran 7`,
		`note a stop  unit 2 cancels "x": {"jsonrpc":"2.0","method":"stop","params":{"id":"x"}}`,
		`request a b 2 unit 3: {"jsonrpc":"2.0","id":2,"method":"b"}`,
		`note a c  unit 3: {"jsonrpc":"2.0","method":"c"}`,
		`invalid a   unit 3: 1`,
		`result a out  9: {"jsonrpc":"2.0","id":9,"result":"` + strings.Repeat("é", 13) + ` (cut)`,
		`invalid a   unit 4: [redaction failed]`,
		`close a: gone`,
	}
	for i, e := range v.events(len(want)) {
		if got := describe(e); got != want[i] || e.Seq != uint64(i+1) || e.Millis < 1e12 {
			t.Errorf("event %d\n got %s\nwant %s", i, got, want[i])
		}
	}
	if v.hello.Program != "test" || v.hello.MaxMessages != DefaultMaxMessages || v.last != fmt.Sprint(len(want)) {
		t.Errorf("hello %+v, last %s", v.hello, v.last)
	}
	w.flush()
	if again := w.watch("9").events(2); describe(again[0]) != want[9] { // comes back
		t.Errorf("after 9 comes %s", describe(again[0]))
	}
}

// describe is an event in a line.
func describe(e event) string {
	s := e.Kind + " " + e.Conn
	switch {
	case e.Kind == "open":
		return s + " " + e.Protocol
	case e.Kind == "close":
		return s + ": " + e.Text
	}
	if e.Out {
		s += " out"
	}
	s += " " + e.Method + " " + e.ID
	for _, part := range []struct {
		name string
		n    int64
	}{{"unit", int64(e.Unit)}, {"code", e.Code}, {"waited", e.Queued}, {"ran", e.Run}} {
		if part.n != 0 {
			s += fmt.Sprintf(" %s %d", part.name, part.n)
		}
	}
	if e.Cancels != "" {
		s += " cancels " + e.Cancels
	}
	if e.Text != "" {
		s += ": " + e.Text
	}
	if e.Truncated {
		s += " (cut)"
	}
	return s
}

// TestBounds: whatever passes, what is kept has a limit, and a viewer that comes late, or comes back, is told what it has missed.
func TestBounds(t *testing.T) {
	w := newWorld(t, &Options{MaxMessages: 100, MaxBytes: 1 << 20})
	s := w.feed.Open("first", "proto")
	for i := range 1000 {
		s.Inbound(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"m"}`, i))
		s.Timing(uint64(i+1), fmt.Sprint(i), 1, 1)
		if i%100 == 0 {
			w.flush()
		}
	}
	w.flush()
	r := &w.page.ring
	if r.messages != 100 || r.n > 201 || len(r.events) > 512 {
		t.Errorf("%d messages, %d events, room for %d", r.messages, r.n, len(r.events))
	}
	big := []byte(`"` + strings.Repeat("x", DefaultMaxText) + `"`)
	for range 200 {
		s.Outbound(big)
	}
	w.flush()
	if r.bytes > 1<<20 || r.n < 50 || r.n > 64 {
		t.Errorf("%d bytes in %d events", r.bytes, r.n)
	}
	late := w.watch("")
	if len(late.hello.Conns) != 1 || late.hello.Conns[0].Conn != "first" {
		t.Errorf("connections %+v", late.hello.Conns)
	}
	late.events(r.n)
	back := w.watch("5")
	back.events(r.n)
	if want := r.oldest() - 6; back.gap != want {
		t.Errorf("gap of %d, want %d", back.gap, want)
	}
	for i := range 3 * maxConns {
		w.feed.Open(fmt.Sprint("c", i), "proto").Close("")
	}
	w.flush()
	if len(w.page.conns) != maxConns || len(w.page.order) != maxConns || w.page.conns["first"] == nil {
		t.Errorf("%d connections are remembered, the open one %v", len(w.page.conns), w.page.conns["first"] != nil)
	}
}

func TestRing(t *testing.T) {
	var r ring
	for i := range 10_000 {
		r.push(event{Seq: uint64(i + 1), Kind: "note", Text: strings.Repeat("x", i%50)}, 77, 1<<20)
	}
	if r.n != 77 || r.messages != 77 || r.oldest() != 9924 || len(r.events) > 128 {
		t.Fatalf("%d events from %d in %d", r.n, r.oldest(), len(r.events))
	}
	for after, want := range map[uint64]int{0: 10, 9923: 10, 9930: 10, 9995: 5, 10_000: 0, 20_000: 0} {
		got := r.after(nil, after, 10, 1<<20)
		if len(got) != want || want > 0 && got[0].Seq != max(after+1, 9924) {
			t.Errorf("after %d come %d: %+v", after, len(got), got)
		}
	}
	if got := r.after(nil, 0, 100, 1000); len(got) == 0 || len(got) > 4 {
		t.Errorf("%d events in 1000 bytes", len(got))
	}
	size := 0
	for _, e := range r.after(nil, 0, 1000, 1<<30) {
		size += e.size()
	}
	if size != r.bytes {
		t.Errorf("%d bytes counted, there are %d", r.bytes, size)
	}
}

// TestSlowViewer: one that takes nothing is dropped, and holds up neither the feed nor another viewer.
func TestSlowViewer(t *testing.T) {
	w := newWorld(t, &Options{Patience: 5 * time.Second, MaxViewers: 2})
	host := strings.Split(strings.TrimPrefix(w.url, "http://"), "/")[0]
	slow, err := net.Dial("tcp", strings.Replace(host, "localhost", "127.0.0.1", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	_ = slow.(*net.TCPConn).SetReadBuffer(4 << 10)
	fmt.Fprintf(slow, "GET /%s/events HTTP/1.1\r\nHost: %s\r\n\r\n", w.page.token, host)
	viewers := func() int {
		w.page.mu.Lock()
		defer w.page.mu.Unlock()
		return w.page.viewers
	}
	wait := func(n int) {
		t.Helper()
		deadline := time.After(patience)
		for viewers() != n {
			select {
			case <-deadline:
				t.Fatalf("%d viewers, want %d", viewers(), n)
			case <-time.After(time.Millisecond):
			}
		}
	}
	wait(1)
	quick := w.watch("")
	wait(2)
	if res, err := w.client.Get(w.url + "events"); err != nil || res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a third viewer: %v, %v", res, err)
	} else {
		_ = res.Body.Close()
	}
	s := w.feed.Open("a", "proto")
	w.flush()
	big := []byte(`"` + strings.Repeat("x", DefaultMaxText-10) + `"`)
	quick.events(1)
	for range 15 {
		for range 100 {
			s.Outbound(big)
		}
		w.flush()
		quick.events(100)
	}
	wait(1)
}

// TestCanary: no secret gets to a viewer, wherever it stands.
func TestCanary(t *testing.T) {
	w := newWorld(t, nil)
	s := w.feed.OpenFor("client Bearer CANARY", "a", "proto")
	for _, text := range []string{
		`{"jsonrpc":"2.0","id":"https://u:CANARY@h/","method":"https://u:CANARY@h/","params":{"password":"CANARY"}}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"Bearer CANARY","data":{"api_key":["CANARY"]}}}`,
		`[{"jsonrpc":"2.0","id":1,"method":"m","params":{"cookie":"CANARY"}}]`, `{"token":"CANARY"`,
		`{"jsonrpc":"2.0","id":2,"method":"m","params":{"env":{"API_KEY":"CANARY"},"headers":["X-Api-Key: CANARY",["Authorization","Bearer CANARY"]]}}`,
		`{"jsonrpc":"2.0","id":3,"result":{"content":[{"text":"{\"a\":\"{\\\"\\u0074oken\\\":\\\"CANARY\\\"}\"}"}],"uri":"/x?%74oken=CANARY"}}`,
	} {
		s.Inbound([]byte(text))
		s.Outbound([]byte(text))
	}
	s.Timing(1, `"https://u:CANARY@h/"`, 1, 1)
	s.Close("Basic CANARY")
	w.flush()
	v := w.watch("")
	text, err := json.Marshal(v.events(15))
	if err != nil || strings.Contains(strings.ToLower(string(text)), "canary") {
		t.Errorf("%v: %s", err, text)
	}
}

func TestClose(t *testing.T) {
	w := newWorld(t, nil)
	v := w.watch("")
	w.page.Close() // returns when the viewer was sent away
	for {
		if _, err := v.in.ReadString('\n'); err != nil {
			break
		}
	}
	res, err := w.client.Get(w.url + "events")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("after the end: %s", res.Status)
	}
}
