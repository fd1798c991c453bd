package jsonrpc2

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
)

// bursts is a peer that sends n messages in bursts and throws the answers away.
type bursts struct {
	burst []byte
	n     int
	off   int
}

func (r *bursts) Read(p []byte) (int, error) {
	if r.off == 0 {
		if r.n == 0 {
			return 0, io.EOF
		}
		r.n--
	}
	n := copy(p, r.burst[r.off:])
	if r.off += n; r.off == len(r.burst) {
		r.off = 0
	}
	return n, nil
}

func (r *bursts) Write(p []byte) (int, error) { return len(p), nil }
func (r *bursts) Close() error                { return nil }

// BenchmarkEcho answers b.N requests that come in bursts, by a raw and by a typed handler.
func BenchmarkEcho(b *testing.B) {
	type params struct {
		Text string `json:"text"`
	}
	mux := NewMux()
	mux.HandleRequest("raw", HandlerFunc(func(_ context.Context, r *Request) (any, error) { return r.Params(), nil }))
	mux.HandleRequest("typed", Call(func(_ context.Context, p *params) (*params, error) { return p, nil }))
	for _, size := range []int{100, 4096} {
		for _, method := range []string{"raw", "typed"} {
			for _, burst := range []int{1, 16, 128} {
				b.Run(fmt.Sprintf("%s/%d/burst%d", method, size, burst), func(b *testing.B) {
					one := request("1234567", method, `{"text":"`+strings.Repeat("x", size)+`"}`) + "\n"
					in := &bursts{burst: []byte(strings.Repeat(one, burst)), n: b.N/burst + 1}
					b.SetBytes(int64(len(one)))
					b.ReportAllocs()
					if err := NewConn(Open(in, Lines), mux, nil).Serve(context.Background()); err != nil {
						b.Fatal(err)
					}
				})
			}
		}
	}
}

// BenchmarkWorkers is BenchmarkEcho where nothing may run on the goroutine that reads.
func BenchmarkWorkers(b *testing.B) {
	type params struct {
		Text string `json:"text"`
	}
	mux := NewMux()
	mux.HandleRequest("typed", Call(func(_ context.Context, p *params) (*params, error) { return p, nil }))
	for _, burst := range []int{1, 16} {
		b.Run(fmt.Sprintf("burst%d", burst), func(b *testing.B) {
			one := request("1234567", "typed", `{"text":"`+strings.Repeat("x", 100)+`"}`) + "\n"
			in := &bursts{burst: []byte(strings.Repeat(one, burst)), n: b.N/burst + 1}
			b.ReportAllocs()
			if err := NewConn(Open(in, Lines), mux, &Options{MaxPending: 1 << 30}).Serve(context.Background()); err != nil {
				b.Fatal(err)
			}
		})
	}
}
