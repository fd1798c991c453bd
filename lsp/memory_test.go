package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/tandem-rpc/tandem/lsp/internal/rope"
)

// heap is what is in use, after two collections: the first one may only find out what the second can free.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// 1,000 open documents of 100 KB take at most 1.3 of the bytes of their text: as opened, and after each was edited and read as a whole.
func TestMemoryOfOpenDocuments(t *testing.T) {
	const count, size = 1000, 100_000
	line := "The quick brown fox jumps over the lazy dog, größer 🌍, and then again.\n"
	text := strings.Repeat(line, size/len(line)+1)[:size-size%len(line)]
	before := heap()
	docs := &Snapshot{}
	for i := range count {
		u := uriOf(fmt.Sprintf("file:///home/ann/notes/%d.md", i))
		docs = docs.put(newDocument(u, KeyOf(u), "markdown", 1, strings.Clone(text), rope.UTF16))
	}
	limit := float64(count*len(text)) * 1.3
	check := func(what string) {
		t.Helper()
		used := float64(heap() - before)
		t.Logf("%s: %.3f of the text", what, used/float64(count*len(text)))
		if used > limit {
			t.Errorf("%s they take %.2f of the bytes of their text, want at most 1.3", what, used/float64(count*len(text)))
		}
	}
	check("as opened")
	event, err := json.Marshal([]any{edit(100, 3, 100, 5, "edited"), edit(300, 0, 301, 0, "")})
	if err != nil {
		t.Fatal(err)
	}
	for d := range docs.Documents() {
		next, reason := d.apply(event, 2)
		if reason != "" {
			t.Fatal(reason)
		}
		docs = docs.put(next)
		if len(next.Text()) != next.Len() {
			t.Fatal("text and length differ")
		}
	}
	check("edited and read")
	runtime.KeepAlive(docs)
}

// The text of a version is put together once while it is used, and is not kept when it is not.
func TestTextIsShared(t *testing.T) {
	d := NewDocument("file:///a", "x", 1, strings.Repeat("0123456789\n", 1000), "utf-8")
	next := d.with(2, d.text.Replace(5, 5, "x"))
	part := next.Text()[100:110]
	runtime.GC()
	again := next.Text()
	if unsafe.StringData(again[100:]) != unsafe.StringData(part) {
		t.Error("a text that is in use was put together a second time")
	}
	empty := d.with(3, rope.New(""))
	for range 2 {
		if empty.Text() != "" {
			t.Error("an empty text is not empty")
		}
	}
}

// typing applies edits to the params of a keystroke and returns the time and the memory of one, the least of several runs.
func typing(t *testing.T, size int) (best time.Duration, bytes uint64) {
	t.Helper()
	const keys = 200
	text := strings.Repeat("func main() { fmt.Println(\"hello\") } // 🌍\n", size/42)
	doc := NewDocument("file:///a", "go", 0, text, "utf-16")
	best, bytes = time.Hour, math.MaxUint64
	for range 20 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		for i := range keys {
			event := `[{"range":{"start":{"line":100,"character":10},"end":{"line":100,"character":10}},"text":"x"}]`
			if i%2 == 1 {
				event = `[{"range":{"start":{"line":100,"character":10},"end":{"line":100,"character":11}},"text":""}]`
			}
			next, reason := doc.apply([]byte(event), int32(i))
			if reason != "" {
				t.Fatal(reason)
			}
			doc = next.with(0, next.text)
		}
		best = min(best, time.Since(start)/keys)
		runtime.ReadMemStats(&after)
		bytes = min(bytes, (after.TotalAlloc-before.TotalAlloc)/keys)
	}
	return best, bytes
}

// Typing into 10 MB costs about what it costs in 10 KB. The bound for time has room for a machine that does other things; BenchmarkDidChange measures.
func TestTypingIntoBigDocuments(t *testing.T) {
	small, smallBytes := typing(t, 10<<10)
	big, bigBytes := typing(t, 10<<20)
	t.Logf("a key in 10 KB: %v and %d bytes; in 10 MB: %v and %d bytes", small, smallBytes, big, bigBytes)
	if bigBytes > 2*smallBytes {
		t.Errorf("a key in 10 MB allocates %d bytes, in 10 KB %d", bigBytes, smallBytes)
	}
	if big > 10*small+100*time.Microsecond { // to copy 10 MB takes milliseconds
		t.Errorf("a key in 10 MB takes %v, in 10 KB %v", big, small)
	}
}

// 10,000 random scripts of edits, in each encoding, give what the naive model gives.
func TestEditScripts(t *testing.T) {
	random := newRandom(1)
	pieces := []string{"a", "bc", "\n", "\r\n", "\r", "🌍", "é", "世界", "\t", "line of text\n", strings.Repeat("long ", 60)}
	for _, enc := range encodings {
		for script := range 10_000 {
			var start strings.Builder
			for range random(30) {
				start.WriteString(pieces[random(len(pieces))])
			}
			model := naive{start.String(), enc}
			doc := NewDocument("file:///a", "x", 0, model.text, enc)
			var events []any
			for range 1 + random(6) {
				l1, c1, l2, c2, ins := random(12), random(20), random(12), random(20), ""
				if random(3) > 0 {
					ins = pieces[random(len(pieces))]
				}
				events = append(events, edit(l1, c1, l2, c2, ins))
				model.edit(l1, c1, l2, c2, ins)
			}
			raw, err := json.Marshal(events)
			if err != nil {
				t.Fatal(err)
			}
			next, reason := doc.apply(raw, 1)
			if reason != "" || next.Text() != model.text {
				t.Fatalf("%s, script %d: %q with %s is %q %s, want %q", enc, script, start.String(), raw, next.Text(), reason, model.text)
			}
			if want := strings.Count(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(model.text), "\n") + 1; next.Lines() != want {
				t.Fatalf("%s, script %d: %d lines, want %d", enc, script, next.Lines(), want)
			}
		}
	}
}

// newRandom returns a small generator, the same in every run.
func newRandom(seed uint64) func(n int) int {
	return func(n int) int {
		seed = seed*6364136223846793005 + 1442695040888963407
		return int(seed>>33) % n
	}
}

// Snapshots of a thousand documents share nearly everything.
func TestSnapshotsShare(t *testing.T) {
	s := newSession(&Server{})
	for i := range 1000 {
		u := uriOf(fmt.Sprintf("file:///%d", i))
		s.docs.Store(s.docs.Load().put(newDocument(u, KeyOf(u), "x", 1, "text", rope.UTF16)))
	}
	ctx := s.scope(context.Background())
	first := slices.Collect(SnapshotFrom(ctx).Documents())
	d := s.docs.Load().Document("file:///500")
	s.docs.Store(s.docs.Load().put(d.with(2, d.text)))
	same := 0
	for i, other := range slices.Collect(s.docs.Load().Documents()) {
		if other == first[i] {
			same++
		}
	}
	if same != 999 || SnapshotFrom(ctx).Document("file:///500").Version() != 1 {
		t.Errorf("%d of 1000 documents are shared", same)
	}
}
