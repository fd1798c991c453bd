package framework_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tandem-rpc/tandem/framework"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

func TestMetricsCounts(t *testing.T) {
	var m framework.Metrics
	for i := range 100 {
		m.Observe(jsonrpc2.Event{Method: "a", Queued: time.Duration(i+1) * time.Millisecond, Run: time.Duration(i+1) * time.Microsecond, In: 2, Out: 3})
	}
	m.Observe(jsonrpc2.Event{Method: "b", Notification: true, Code: jsonrpc2.CodeInternalError})
	m.Observe(jsonrpc2.Event{Code: jsonrpc2.CodeMethodNotFound})

	got := m.Snapshot()
	if len(got) != 3 {
		t.Fatalf("%d rows, want 3: %+v", len(got), got)
	}
	a := got[0]
	if a.Method != "a" || a.Count != 100 || a.In != 200 || a.Out != 300 || a.Errors != 0 || a.Samples != 100 {
		t.Errorf("row of a: %+v", a)
	}
	near := func(name string, got, want time.Duration) {
		t.Helper()
		if got < want-want/50 || got > want+want/50 {
			t.Errorf("%s is %v, want about %v", name, got, want)
		}
	}
	near("median wait", a.Queued.P50, 50*time.Millisecond)
	near("90th of run", a.Run.P90, 90*time.Microsecond)
	near("99th of run", a.Run.P99, 99*time.Microsecond)
	if u := got[1]; u.Method != framework.UnknownMethod || u.Errors != 1 {
		t.Errorf("unknown method: %+v", u)
	}
	if b := got[2]; b.Method != "b" || b.Notes != 1 || b.Errors != 1 {
		t.Errorf("row of b: %+v", b)
	}
}

func TestMetricsAreBounded(t *testing.T) {
	m := framework.Metrics{MaxMethods: 3, Samples: 10}
	for i := range 1000 {
		m.Observe(jsonrpc2.Event{Method: fmt.Sprintf("m%d", i), Run: time.Second})
		m.Observe(jsonrpc2.Event{Method: "m0"})
	}
	m.Observe(jsonrpc2.Event{})
	total := int64(0)
	names := map[string]framework.MethodStats{}
	for _, s := range m.Snapshot() {
		total += s.Count
		names[s.Method] = s
		if s.Samples > 10 {
			t.Errorf("%d samples of %s, want at most 10", s.Samples, s.Method)
		}
	}
	if len(names) != 5 { // three, the others, and the unknown
		t.Errorf("%d rows, want 5: %v", len(names), names)
	}
	if total != 2001 {
		t.Errorf("%d messages counted, want 2001", total)
	}
	if o := names[framework.OtherMethods]; o.Count != 997 || o.Run.P50 != time.Second {
		t.Errorf("other methods: %+v", o)
	}
}

// A sample must not only hold the first messages.
func TestMetricsSampleCoversAll(t *testing.T) {
	m := framework.Metrics{Samples: 200}
	for i := range 20_000 {
		m.Observe(jsonrpc2.Event{Method: "a", Run: time.Duration(i)})
	}
	if p := m.Snapshot()[0].Run.P50; p < 5_000 || p > 15_000 { // a sample of 200 is off by more than 700 one time in three, and never by 5000
		t.Errorf("median is %d, want about 10000", p)
	}
}

func TestMetricsConcurrently(t *testing.T) {
	var m framework.Metrics
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 1000 {
				m.Observe(jsonrpc2.Event{Method: fmt.Sprintf("m%d", (i+j)%20)})
				if j%100 == 0 {
					m.Snapshot()
				}
			}
		})
	}
	all.Wait()
	total := int64(0)
	for _, s := range m.Snapshot() {
		total += s.Count
	}
	if total != 8000 {
		t.Errorf("%d messages counted, want 8000", total)
	}
}

func TestMetricsTable(t *testing.T) {
	var m framework.Metrics
	m.Observe(jsonrpc2.Event{Method: "notes/read", Run: 1234567, Queued: 89, In: 10, Out: 20 << 10})
	m.Observe(jsonrpc2.Event{Method: "evil\x1b[31m\nname"})
	m.Observe(jsonrpc2.Event{Method: strings.Repeat("x", 1000)})
	var b strings.Builder
	n, err := m.WriteTo(&b)
	if err != nil || n != int64(b.Len()) {
		t.Errorf("WriteTo returned %d, %v for %d bytes", n, err, b.Len())
	}
	out := b.String()
	for _, want := range []string{"method", "notes/read", "1.23ms", "89ns", "20 KiB", `\x1b[31m\nname`, "xxx..."} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "\x1b") || strings.Count(out, "\n") != 4 {
		t.Errorf("not a line a method:\n%q", out)
	}
	var none *framework.Metrics
	if s := none.Snapshot(); s != nil {
		t.Errorf("a nil Metrics has %v", s)
	}
}

func BenchmarkMetricsObserve(b *testing.B) {
	var m framework.Metrics
	e := jsonrpc2.Event{Method: "tools/call", Queued: 100, Run: 200}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			m.Observe(e)
		}
	})
}
