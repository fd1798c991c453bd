package lsp

import (
	"context"
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// A Server whose functions keep the client of a connection is memory like any other once nobody uses it.
func TestServerIsCollected(t *testing.T) {
	server := func() weak.Pointer[Server] {
		var clients []*Client
		srv := &Server{Hover: showText}
		srv.Initialized = func(ctx context.Context) error {
			clients = append(clients, ClientFrom(ctx))
			return nil
		}
		var o jsonrpc2.Options
		m, err := srv.Mount(&o)
		if err != nil {
			t.Fatal(err)
		}
		a, b := jsonrpc2.Pipe()
		done := make(chan error, 2)
		editor := jsonrpc2.NewConn(b, nil, nil)
		for _, c := range []*jsonrpc2.Conn{jsonrpc2.NewConn(a, m, &o), editor} {
			go func() { done <- c.Serve(context.Background()) }()
		}
		ctx, stop := context.WithTimeout(context.Background(), time.Minute)
		defer stop()
		for _, err := range []error{
			editor.Call(ctx, "initialize", raw(plainInit), nil),
			editor.Notify(ctx, "initialized", raw(`{}`)),
			editor.Call(ctx, "shutdown", nil, nil),
			editor.Notify(ctx, "exit", nil),
			receive(t, done),
			receive(t, done),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if len(clients) != 1 {
			t.Fatalf("%d clients", len(clients))
		}
		return weak.Make(srv)
	}()
	for deadline := time.Now().Add(time.Minute); server.Value() != nil; runtime.GC() {
		if time.Now().After(deadline) {
			t.Fatal("the Server is still held")
		}
	}
}
