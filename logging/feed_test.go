package logging

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// gathering is a sink that keeps what it gets, and waits before each record for leave if there is a gate.
type gathering struct {
	gate chan struct{}

	mu      sync.Mutex
	records []Record
	flushes int
}

func (g *gathering) Record(r *Record) {
	if g.gate != nil {
		<-g.gate
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.records = append(g.records, *r)
}

func (g *gathering) Flush() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.flushes++
}

func closeFeed(t *testing.T, f *Feed) {
	t.Helper()
	if err := f.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestFeedRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // for a clock that stands still
		g := new(gathering)
		f := NewFeed(g, &FeedOptions{Redact: []string{"pin"}, Process: "p1"})
		s := f.Open("a\n1", "lsp", Cancel{"stop", "id"})
		s.Inbound([]byte(`{"pin":"v","u":"é\n"}`))
		s.Inbound(nil)
		s.Outbound([]byte(`not JSON`))
		s.Timing(1, `"https://u:p@h"`, 2, 3)
		s.Timing(2, "", 2, 3)
		s.Timing(0, "", 2, 3) // says nothing
		s.Close("Bearer abc failed")
		s.Close("again")
		closeFeed(t, f)
		s.Inbound([]byte("1")) // after the end
		at := time.Now()
		want := []Record{
			{Kind: KindOpen, Protocol: "lsp", Cancel: []Cancel{{"stop", "id"}}},
			{Direction: In, Unit: 1, Length: 22, Message: `{"pin":"[redacted]","u":"é\n"}`},
			{Direction: In, Unit: 2, Message: Failed},
			{Direction: Out, Length: 8, Message: Failed},
			{Kind: KindTiming, Unit: 1, ID: `"https://[redacted]@h"`, Queued: 2, Run: 3},
			{Kind: KindTiming, Unit: 2, Queued: 2, Run: 3},
			{Kind: KindClose, Message: "Bearer [redacted] failed"},
		}
		if len(g.records) != len(want) {
			t.Fatalf("%d records: %+v", len(g.records), g.records)
		}
		for i, w := range want {
			w.Time, w.Process, w.Connection = at, "p1", `a\u000a1`
			if got := g.records[i]; fmt.Sprint(got) != fmt.Sprint(w) {
				t.Errorf("\n got %+v\nwant %+v", got, w)
			}
		}
		if g.flushes == 0 {
			t.Error("the sink was not flushed")
		}
	})
}

func TestFeedCuts(t *testing.T) {
	for _, tt := range []struct {
		name  string
		limit int
		in    string
		want  string
		cut   bool
	}{
		{"short", 10, `"12345678"`, `"12345678"`, false},
		{"long", 10, `"123456789"`, `"123456789`, true},
		{"at a rune", 10, `"1234567€"`, `"1234567`, true},
		{"after redaction", 20, `{"token":"` + strings.Repeat("x", 100) + `"}`, `{"token":"[redacted]`, true},
		{"nothing left", 1, `"€"`, `"`, true},
		{"no limit", 0, `"` + strings.Repeat("x", 2*longItem) + `"`, `"` + strings.Repeat("x", 2*longItem) + `"`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := new(gathering)
			f := NewFeed(g, &FeedOptions{MaxMessage: tt.limit})
			f.Open("", "").Outbound([]byte(tt.in))
			closeFeed(t, f)
			if r := g.records[1]; r.Message != tt.want || r.Truncated != tt.cut || r.Length != len(tt.in) {
				t.Errorf("%d bytes, cut %v: %.100s", r.Length, r.Truncated, r.Message)
			}
		})
	}
}

// TestFeedDrops: while the sink is stuck no message waits for it, and what it missed is counted where it is missing.
func TestFeedDrops(t *testing.T) {
	g := &gathering{gate: make(chan struct{})}
	f := NewFeed(g, &FeedOptions{MaxQueued: 10 * (100 + itemSize)})
	a, b := f.Open("a", ""), f.Open("b", "")
	short, long := []byte(`"`+strings.Repeat("x", 98)+`"`), []byte(`"`+strings.Repeat("x", 2*longItem)+`"`)
	for range 50 {
		a.Inbound(short) // returns although the gate is shut
	}
	for range 3 {
		b.Inbound(long)
		b.Outbound(long)
	}
	f.mu.Lock()
	if f.size > f.room {
		t.Errorf("%d bytes wait, over %d", f.size, f.room)
	}
	f.mu.Unlock()
	close(g.gate)
	if err := f.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.Inbound(short)
	b.Inbound(short)
	closeFeed(t, f)

	seen, dropped, bytes := map[string]int{}, map[string]int{}, map[string]int{}
	for _, r := range g.records {
		switch r.Kind {
		case KindMessage:
			seen[r.Connection]++
		case KindDropped:
			dropped[r.Connection] += r.Count
			bytes[r.Connection] += r.Length
		}
	}
	if seen["a"]+dropped["a"] != 51 || dropped["a"] == 0 || bytes["a"] != 100*dropped["a"] {
		t.Errorf("a: %d seen, %d dropped, %d bytes", seen["a"], dropped["a"], bytes["a"])
	}
	if seen["b"] != 1 || dropped["b"] != 6 || bytes["b"] != 6*len(long) {
		t.Errorf("b: %d seen, %d dropped, %d bytes", seen["b"], dropped["b"], bytes["b"])
	}
	last := g.records[len(g.records)-2:]
	if last[0].Unit != 51 || last[1].Unit != 4 {
		t.Errorf("units are %d and %d: dropped ones count", last[0].Unit, last[1].Unit)
	}
}

func TestFeedTakesOneWholeMessage(t *testing.T) {
	g := new(gathering)
	f := NewFeed(g, &FeedOptions{MaxQueued: 1000})
	s := f.Open("a", "")
	if err := f.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Inbound([]byte(`"` + strings.Repeat("x", 100_000) + `"`))
	closeFeed(t, f)
	if len(g.records) != 2 || len(g.records[1].Message) != 100_002 {
		t.Errorf("records: %.200v", g.records)
	}
}

func TestFeedNames(t *testing.T) {
	g := new(gathering)
	f := NewFeed(g, nil)
	var names []string
	for _, name := range []string{"a", "a", "b", "", "a"} {
		names = append(names, f.Open(name, "").Name())
	}
	if want := "a a#2 b connection a#3"; strings.Join(names, " ") != want {
		t.Errorf("names are %q", names)
	}
	seen := map[string]bool{}
	for i := range 2 * maxSources {
		seen[f.Open(fmt.Sprint("c", i), "").Name()] = true
	}
	if len(seen) != 2*maxSources || len(f.sources) > maxSources+1 {
		t.Errorf("%d names, %d remembered", len(seen), len(f.sources))
	}
	closeFeed(t, f)
}

func TestFeedNil(t *testing.T) {
	var f *Feed
	s := f.Open("a", "b")
	s.Inbound(nil)
	s.Outbound(nil)
	s.Timing(1, "1", 1, 1)
	s.Close("")
	if s.Name() != "" || f.Flush(t.Context()) != nil || f.Close(t.Context()) != nil {
		t.Error("a nil feed does something")
	}
}

type panicking struct{ n int }

func (p *panicking) Record(*Record) { p.n++; panic("CANARY") }
func (p *panicking) Flush()         { panic("CANARY") }

func TestFeedSurvivesItsSink(t *testing.T) {
	p := new(panicking)
	f := NewFeed(p, nil)
	f.Open("a", "").Inbound([]byte("1"))
	closeFeed(t, f)
	if p.n != 2 {
		t.Errorf("%d records", p.n)
	}
}

func TestFeedCloseGivesUp(t *testing.T) {
	g := &gathering{gate: make(chan struct{})}
	f := NewFeed(g, nil)
	f.Open("a", "")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if f.Close(ctx) == nil || f.Flush(ctx) == nil {
		t.Error("a feed whose sink is stuck was closed")
	}
	close(g.gate)
	closeFeed(t, f)
}

func TestFeedConcurrently(t *testing.T) {
	var out bytes.Buffer
	r := NewRecorder(&out, nil)
	f := NewFeed(r, nil)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s := f.Open("c", "test")
			for range 50 {
				s.Inbound([]byte(`{"token":"CANARY"}`))
				s.Timing(1, "1", 1, 1)
			}
			_ = f.Flush(t.Context())
			s.Close("")
		})
	}
	wg.Wait()
	closeFeed(t, f)
	lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
	if len(lines) != 1+8*102 {
		t.Errorf("%d lines", len(lines))
	}
	for _, line := range lines {
		if !json.Valid(line) || bytes.Contains(line, []byte("CANARY")) {
			t.Errorf("line %s", line)
		}
	}
}

// TestFeedClient: what a client calls itself is redacted before it is shortened, so that no part of a secret is left where it was cut.
func TestFeedClient(t *testing.T) {
	long := strings.Repeat("é", 95)
	for _, tt := range []struct{ name, client, want string }{
		{"none", "", ""},
		{"a name", "agent 1.0", "agent 1.0"},
		{"a token", "agent Bearer CANARY", "agent Bearer [redacted]"},
		{"a control", "a\n\x1b[31m\u202eb", `a\u000a\u001b[31m\u202eb`},
		{"cut", long + long, strings.Repeat("é", 100) + "…"},
		{"cut in a secret", long + " https://user:CANARY@host/", long + " https://[" + "…"},
		{"cut in a JSON secret", long + ` {"token":"CANARY`, long + ` {"token":` + "…"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := new(gathering)
			f := NewFeed(g, nil)
			f.OpenFor(tt.client, "a", "mcp")
			closeFeed(t, f)
			if len(g.records) != 1 || g.records[0].Client != tt.want {
				t.Errorf("%+v, want the client %q", g.records, tt.want)
			}
		})
	}
}
