package framework_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/tandem-rpc/tandem/framework"
	"github.com/tandem-rpc/tandem/framework/inspect"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/logging"
)

// BenchmarkFeeds is a request and its answer, a hundred at a time, on a connection of a runtime: of none, without feeds, recorded to a file, shown on the page, and
// on a page that somebody looks at. All the work on what was fed is counted, also that of other goroutines: cpu-ns/op is the time of the process.
func BenchmarkFeeds(b *testing.B) {
	for _, bb := range []struct {
		name  string
		feeds func(b *testing.B) []*logging.Feed
	}{
		{"no runtime", nil},
		{"off", func(*testing.B) []*logging.Feed { return nil }},
		{"record", func(b *testing.B) []*logging.Feed {
			f, err := logging.CreateRecording(filepath.Join(b.TempDir(), "traffic.jsonl"))
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = f.Close() })
			return []*logging.Feed{logging.NewFeed(logging.NewRecorder(f, nil), nil)}
		}},
		{"inspect", func(*testing.B) []*logging.Feed {
			return []*logging.Feed{logging.NewFeed(inspect.New(nil), nil)}
		}},
		{"inspect, a viewer", func(b *testing.B) []*logging.Feed {
			page := inspect.New(nil)
			watch(b, page)
			return []*logging.Feed{logging.NewFeed(page, nil)}
		}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			ours, theirs := jsonrpc2.Pipe()
			done := make(chan error, 1)
			var feeds []*logging.Feed
			if bb.feeds == nil {
				o := new(jsonrpc2.Options)
				mux, err := newFront(jsonrpc2.Lines).Mount(o)
				if err != nil {
					b.Fatal(err)
				}
				go func() { done <- jsonrpc2.NewConn(theirs, mux, o).Serve(context.Background()) }()
			} else {
				feeds = bb.feeds(b)
				rt := &framework.Runtime{Feeds: feeds}
				go func() { done <- rt.ServeTransport(context.Background(), theirs, newFront(jsonrpc2.Lines)) }()
			}
			frames := make([][]byte, 100)
			for i := range frames {
				frames[i] = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"echo","params":{"name":"search","arguments":{"query":"broken links","limit":20,"api_key":"abc"},"_meta":{"progressToken":"p-17"}}}`, 1000+i)
			}
			b.ReportAllocs()
			b.ResetTimer()
			began := cpuTime()
			for n := 0; n < b.N; n += len(frames) {
				some := frames[:min(len(frames), b.N-n)]
				if err := ours.Write(some...); err != nil {
					b.Fatal(err)
				}
				for range some {
					if _, err := ours.Read(); err != nil {
						b.Fatal(err)
					}
				}
				for _, f := range feeds {
					if err := f.Flush(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.StopTimer()
			if took := cpuTime() - began; took > 0 {
				b.ReportMetric(float64(took)/float64(b.N), "cpu-ns/op")
			}
			_ = ours.Close()
			<-done
			for _, f := range feeds {
				_ = f.Close(b.Context())
			}
		})
	}
}

// watch opens a page and reads what it is told.
func watch(b *testing.B, page *inspect.Page) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- page.Serve(ctx, ln) }()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get(page.URL(ln.Addr()) + "events")
	if err != nil {
		b.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(io.Discard, res.Body)
	}()
	b.Cleanup(func() {
		stop()
		<-served
		<-read
		_ = res.Body.Close()
	})
}
