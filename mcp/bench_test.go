package mcp

import (
	"context"
	"reflect"
	"testing"
)

func BenchmarkDecode(b *testing.B) {
	type echo struct {
		Text string `json:"text"`
	}
	in, err := newInput(reflect.TypeFor[echo](), nil)
	if err != nil {
		b.Fatal(err)
	}
	long := in
	long.flat = nil
	for _, c := range []struct {
		name string
		in   *input
		raw  []byte
	}{
		{"small", &in, []byte(`{"text":"hello, world"}`)}, {"4KiB", &in, arguments4K},
		{"small, long way", &long, []byte(`{"text":"hello, world"}`)}, {"4KiB, long way", &long, arguments4K},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var v echo
				if err := c.in.decode(Arguments{raw: c.raw}, &v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCall(b *testing.B) {
	type echo struct {
		Text string `json:"text"`
	}
	var box Toolbox
	AddTool(&box, Tool{Name: "echo"}, func(_ context.Context, in echo) (string, error) { return in.Text, nil })
	s := &Server{Lister: box.List, Caller: box.Call}
	for _, c := range []struct {
		name string
		raw  []byte
	}{{"small", []byte(`{"text":"hello, world"}`)}, {"4KiB", arguments4K}} {
		payload := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":` + string(c.raw) + `}}`)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if len(s.Handle(context.Background(), payload)) < 50 {
					b.Fatal("no")
				}
			}
		})
	}
	ctx, stop := context.WithCancel(context.Background()) // as a host's, which ends
	defer stop()
	ses, err := s.NewSession(new(peer))
	if err != nil {
		b.Fatal(err)
	}
	ses.Handle(ctx, []byte(hello))
	legacy := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello, world"}}}`)
	b.Run("host, session", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if len(ses.Handle(ctx, legacy)) < 50 {
				b.Fatal("no")
			}
		}
	})
	envelope := []byte(modern("1", "tools/call", `,"name":"echo","arguments":{"text":"hello, world"}`))
	b.Run("host, modern", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if len(s.HandleModern(ctx, envelope, nil)) < 50 {
				b.Fatal("no")
			}
		}
	})
	b.Run("host, inspect", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if m, err := Inspect(envelope); err != nil || m.Envelope() != nil {
				b.Fatal("no")
			}
		}
	})
}
