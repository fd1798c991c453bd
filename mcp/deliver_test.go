package mcp

import (
	"context"
	"testing"

	"github.com/tandem-rpc/tandem/cancel"
)

// Deliver answers as the plain ways do, behind what is in dst.
func TestDeliver(t *testing.T) {
	s := echoServer()
	ctx := context.Background()
	ses, err := s.NewSession(new(peer))
	if err != nil {
		t.Fatal(err)
	}
	ses.Handle(ctx, []byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}`))
	for _, payload := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":1}}}`, `{"jsonrpc":"2.0","id":"a","method":"ping"}`,
		`{"jsonrpc":"2.0","method":"notifications/x"}`, `{"jsonrpc":"2.0","id":null,"method":"ping"}`, `{"id":1}`, `[{"jsonrpc":"2.0","id":1,"method":"ping"},5]`,
		modern("1", "tools/call", `,"name":"echo","arguments":{"a":1}`), modern("1", "ping", ""), `5`,
	} {
		for name, way := range map[string]struct {
			plain func() []byte
			d     Delivery
		}{
			"session":     {func() []byte { return ses.Handle(ctx, []byte(payload)) }, Delivery{Session: ses}},
			"modern":      {func() []byte { return s.HandleModern(ctx, []byte(payload), nil) }, Delivery{Revision: "2026-07-28"}},
			"sessionless": {func() []byte { return s.HandleSessionless(ctx, []byte(payload), nil, "2025-03-26") }, Delivery{Revision: "2025-03-26"}},
		} {
			want := way.plain()
			for _, dst := range []string{"", "before"} {
				m, err := Inspect([]byte(payload))
				if err != nil {
					t.Fatal(err)
				}
				way.d.Message = &m
				out := s.Deliver(ctx, way.d, []byte(dst))
				if want == nil && out != nil || want != nil && string(out) != dst+string(want) {
					t.Errorf("%s, %s: %s, want %s", name, payload, out, want)
				}
			}
		}
	}
	// Who has gone is owed nothing, who is sent away is.
	for _, cause := range []error{nil, cancel.ErrClosing} {
		ended, stop := context.WithCancelCause(ctx)
		stop(cause)
		m, _ := Inspect([]byte(modern("1", "tools/list", "")))
		if out := s.Deliver(ended, Delivery{Message: &m, Revision: "2026-07-28"}, nil); (out != nil) != (cause != nil) {
			t.Errorf("cause %v: %s", cause, out)
		}
	}
	m, _ := Inspect([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if out := (&Server{Batch: -7}).Deliver(ctx, Delivery{Message: &m}, nil); out == nil {
		t.Error("a Server that cannot be used says nothing")
	}
}
