package logging

import (
	"io"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
)

var benchMessages = []struct{ name, line string }{
	{"call", `{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"search","arguments":{"query":"broken links","limit":20,"api_key":"abc"},"_meta":{"progressToken":"p-17"}}}`},
	{"text64K", `{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"text":"` + strings.Repeat(`# Heading\n\nSome *text* about a [link](https://example.com/a?b=c), \"quoted\".\n`, 800) + `"}}`},
	{"plain1M", `{"a":"` + strings.Repeat("the quick brown fox jumps over the lazy dog ", 24000) + `"}`},
	{"objects1M", `[` + strings.Repeat(`{"id":1,"name":"note","tags":["a","b"],"size":1234.5,"ok":true},`, 16000) + `0]`},
	{"nested1M", `["{\"a\":\"` + strings.Repeat("lorem ipsum ", 80000) + `\"}"]`},
}

func BenchmarkRedact(b *testing.B) {
	r := NewRedactor()
	for _, m := range benchMessages {
		b.Run(m.name, func(b *testing.B) {
			line := []byte(m.line)
			var out []byte
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				var ok bool
				if out, ok = r.Append(out[:0], line); !ok {
					b.Fatal("not JSON")
				}
			}
		})
	}
}

func BenchmarkTrafficOff(b *testing.B) {
	t := NewTraffic(hclog.New(&hclog.LoggerOptions{Level: hclog.Info, Output: io.Discard}), nil)
	frame := []byte(benchMessages[0].line)
	b.ReportAllocs()
	for b.Loop() {
		t.Inbound(frame)
	}
}

func BenchmarkTrafficOn(b *testing.B) {
	for name, inJSON := range map[string]bool{"text": false, "json": true} {
		b.Run(name, func(b *testing.B) {
			t := NewTraffic(hclog.New(&hclog.LoggerOptions{Level: hclog.Debug, Output: io.Discard, JSONFormat: inJSON}), nil)
			frame := []byte(benchMessages[0].line)
			b.ReportAllocs()
			for b.Loop() {
				t.Inbound(frame)
			}
		})
	}
}

// BenchmarkFeed is what a connection pays for a message that is recorded; the rest is done beside it.
func BenchmarkFeed(b *testing.B) {
	for _, m := range benchMessages[:2] {
		b.Run(m.name, func(b *testing.B) {
			f := NewFeed(discard{}, nil)
			s := f.Open("a", "b")
			frame := []byte(m.line)
			b.SetBytes(int64(len(frame)))
			b.ReportAllocs()
			for b.Loop() {
				s.Inbound(frame)
			}
			b.StopTimer()
			_ = f.Close(b.Context())
		})
	}
}

type discard struct{}

func (discard) Record(*Record) {}

// BenchmarkRecorder is what a message costs altogether, recorded to nowhere.
func BenchmarkRecorder(b *testing.B) {
	f := NewFeed(NewRecorder(io.Discard, nil), nil)
	s := f.Open("a", "b")
	frame := []byte(benchMessages[0].line)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Inbound(frame)
		if i%1000 == 0 {
			_ = f.Flush(b.Context())
		}
	}
	_ = f.Close(b.Context())
}
