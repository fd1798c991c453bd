package mcp

import (
	"context"
	"testing"
)

// BenchmarkAsking is what it costs that a call may ask, and a whole call that does.
func BenchmarkAsking(b *testing.B) {
	var box Toolbox
	AddTool(&box, Tool{Name: "silent"}, func(_ context.Context, in nameForm) (string, error) { return in.Name, nil })
	AddTool(&box, Tool{Name: "asks"}, func(ctx context.Context, in nameForm) (string, error) {
		return in.Name, SessionFrom(ctx).Confirm(ctx, "Sure?")
	})
	s := &Server{Lister: box.List, Caller: box.Call}
	for _, c := range []struct{ name, caps, tool string }{{"cannot be asked", `{}`, "silent"}, {"could be asked", everyCapability, "silent"}, {"asked", everyCapability, "asks"}} {
		b.Run(c.name, func(b *testing.B) {
			payload := []byte(withMeta("1", "tools/call", metaWith(c.caps), `,"name":"`+c.tool+`","arguments":{"name":"hello"}`))
			b.ReportAllocs()
			for b.Loop() {
				if out := s.HandleModern(context.Background(), payload, nil); len(out) < 50 {
					b.Fatal(string(out))
				}
			}
		})
	}
}
