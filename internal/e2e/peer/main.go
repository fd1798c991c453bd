// Command peer is the engine's side of the socket tests: a JSON-RPC peer with
// Content-Length framing that answers calls and, asked to, makes calls of its
// own on the same connection.
//
//	peer -listen 127.0.0.1:0              print the address, serve one connection
//	peer -network unix -connect PATH      connect, as servers of editors do
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// lifetime ends a peer whose test has forgotten it.
const lifetime = 5 * time.Minute

func main() {
	network := flag.String("network", "tcp", "tcp or unix")
	listen := flag.String("listen", "", "address to listen on for one connection")
	connect := flag.String("connect", "", "address to connect to")
	flag.Parse()
	ctx, stop := context.WithTimeout(context.Background(), lifetime)
	defer stop()
	if err := run(ctx, *network, *listen, *connect); err != nil {
		fmt.Fprintln(os.Stderr, "peer:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, network, listen, connect string) error {
	rwc, err := open(ctx, network, listen, connect)
	if err != nil {
		return err
	}
	conn := jsonrpc2.NewConn(jsonrpc2.Open(rwc, jsonrpc2.Header), handlers(), &jsonrpc2.Options{
		Cancel: cancel.NewRegistry(cancel.Convention{Method: "$/cancelRequest", Param: "id", Code: -32800}),
	})
	return conn.Serve(ctx)
}

func open(ctx context.Context, network, listen, connect string) (net.Conn, error) {
	if listen == "" {
		return new(net.Dialer).DialContext(ctx, network, connect)
	}
	l, err := new(net.ListenConfig).Listen(ctx, network, listen)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	fmt.Println(l.Addr())
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	return l.Accept()
}

// handlers are the methods of the peer. The first three are those of any echo
// server under test; the others need a client that knows this one.
func handlers() *jsonrpc2.Mux {
	mux := jsonrpc2.NewMux()
	var active atomic.Int64
	mux.HandleRequest("echo", jsonrpc2.HandlerFunc(func(_ context.Context, r *jsonrpc2.Request) (any, error) {
		return r.Params(), nil
	}))
	mux.HandleRequest("hang", jsonrpc2.HandlerFunc(func(ctx context.Context, _ *jsonrpc2.Request) (any, error) {
		active.Add(1)
		defer active.Add(-1)
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	mux.HandleRequest("active", jsonrpc2.HandlerFunc(func(context.Context, *jsonrpc2.Request) (any, error) {
		return fmt.Sprintf("active=%d", active.Load()), nil
	}))
	addFailures(mux)
	addNotes(mux)
	addCallbacks(mux)
	return mux
}

// addFailures registers the ways to fail.
func addFailures(mux *jsonrpc2.Mux) {
	type failure struct {
		Code    jsonrpc2.Code   `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	mux.HandleRequest("fail", jsonrpc2.Call(func(_ context.Context, p *failure) (any, error) {
		return nil, &jsonrpc2.Error{Code: p.Code, Message: p.Message, Data: p.Data}
	}))
	mux.HandleRequest("panic", jsonrpc2.HandlerFunc(func(context.Context, *jsonrpc2.Request) (any, error) {
		panic("the test asked for it")
	}))
}

// addNotes registers notifications in both directions.
func addNotes(mux *jsonrpc2.Mux) {
	type note struct {
		N int `json:"n"`
	}
	var mu sync.Mutex
	var seen []int
	mux.HandleNotification("note", jsonrpc2.Note(func(_ context.Context, p *note) error {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, p.N)
		return nil
	}))
	mux.HandleRequest("noted", jsonrpc2.HandlerFunc(func(context.Context, *jsonrpc2.Request) (any, error) {
		mu.Lock()
		defer mu.Unlock()
		got := seen
		seen = nil
		return got, nil
	}))
	type announcement struct {
		Count int `json:"count"`
	}
	mux.HandleRequest("announce", jsonrpc2.Call(func(ctx context.Context, p *announcement) (int, error) {
		for n := range p.Count {
			if err := jsonrpc2.ConnFrom(ctx).Notify(ctx, "note", &note{N: n}); err != nil {
				return n, err
			}
		}
		return p.Count, nil
	}))
}

// addCallbacks registers requests that call the peer who sent them.
func addCallbacks(mux *jsonrpc2.Mux) {
	type relay struct {
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
		Millis int             `json:"ms"`
	}
	// relay makes the call it is asked for and answers what that answered: an
	// error goes back as it came.
	mux.HandleRequest("relay", jsonrpc2.Call(func(ctx context.Context, p *relay) (json.RawMessage, error) {
		var result json.RawMessage
		err := jsonrpc2.ConnFrom(ctx).Call(ctx, p.Method, params(p.Params), &result)
		return result, err
	}))
	// impatient gives a call up after some milliseconds.
	mux.HandleRequest("impatient", jsonrpc2.Call(func(ctx context.Context, p *relay) (string, error) {
		ctx, stop := context.WithTimeout(ctx, time.Duration(p.Millis)*time.Millisecond)
		defer stop()
		err := jsonrpc2.ConnFrom(ctx).Call(ctx, p.Method, params(p.Params), nil)
		if errors.Is(err, context.DeadlineExceeded) {
			return "gave up", nil
		}
		return "answered", err
	}))
	// bounce calls the peer's bounce, which calls this one, until n is 0.
	type depth struct {
		N int `json:"n"`
	}
	mux.HandleRequest("bounce", jsonrpc2.Call(func(ctx context.Context, p *depth) (json.RawMessage, error) {
		if p.N == 0 {
			return json.RawMessage(`"bottom"`), nil
		}
		var result json.RawMessage
		err := jsonrpc2.ConnFrom(ctx).Call(ctx, "bounce", &depth{N: p.N - 1}, &result)
		return result, err
	}))
}

// params leaves absent params absent.
func params(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	return raw
}
