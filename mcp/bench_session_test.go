package mcp

import (
	"context"
	"testing"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// BenchmarkSession calls a tool of a session on a connection, sixteen requests in a row before their answers are read.
func BenchmarkSession(b *testing.B) {
	type echo struct {
		Text string `json:"text"`
	}
	var box Toolbox
	AddTool(&box, Tool{Name: "echo"}, func(_ context.Context, in echo) (string, error) { return in.Text, nil })
	meta := `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"0"},"io.modelcontextprotocol/clientCapabilities":{}}`
	for _, c := range []struct{ name, arguments, meta string }{
		{"small", `{"text":"hello, world"}`, ""}, {"4KiB", string(arguments4K), ""}, {"small, modern", `{"text":"hello, world"}`, meta},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := &Server{Lister: box.List, Caller: box.Call}
			o := new(jsonrpc2.Options)
			mux, err := s.Mount(o)
			if err != nil {
				b.Fatal(err)
			}
			ours, theirs := jsonrpc2.Pipe()
			conn := jsonrpc2.NewConn(ours, mux, o)
			done := make(chan error, 1)
			go func() { done <- conn.Serve(context.Background()) }()
			_ = theirs.Write([]byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`))
			if _, err := theirs.Read(); err != nil {
				b.Fatal(err)
			}
			payload := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":` + c.arguments + c.meta + `}}`)
			const row = 16
			b.ReportAllocs()
			for b.Loop() {
				for range row {
					if err := theirs.Write(payload); err != nil {
						b.Fatal(err)
					}
				}
				for range row {
					if m, err := theirs.Read(); err != nil || len(m) < 50 {
						b.Fatal(string(m), err)
					}
				}
			}
			b.StopTimer()
			_ = theirs.Close()
			<-done
		})
	}
}
