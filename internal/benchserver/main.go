// Command benchserver is Tandem as a server under load: the same small servers that comparisons of JSON-RPC, MCP and LSP libraries are run with, written as
// a user of the packages would write them.
//
//	benchserver -proto jsonrpc|mcp|lsp [-framing header|line] [-log debug]
//
// With -log debug the redacted traffic goes to standard error.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/logging"
)

func main() {
	proto := flag.String("proto", "jsonrpc", "jsonrpc, mcp or lsp")
	framing := flag.String("framing", "", "header or line; the protocol's own if not given")
	level := flag.String("log", "", "level of the traffic log on standard error, such as debug; off if not given")
	flag.Parse()
	if err := serve(*proto, *framing, *level); err != nil {
		fmt.Fprintln(os.Stderr, "benchserver:", err)
		os.Exit(1)
	}
}

func serve(proto, framing, level string) error {
	o := new(jsonrpc2.Options)
	if level != "" {
		l := hclog.New(&hclog.LoggerOptions{Name: "benchserver", Level: hclog.LevelFromString(level), Output: os.Stderr})
		o.Tap = logging.NewTraffic(l, nil)
	}
	f := jsonrpc2.Header
	var mux *jsonrpc2.Mux
	switch proto {
	case "jsonrpc":
		mux = plain(o)
	default:
		return fmt.Errorf("-proto %q: want jsonrpc, mcp or lsp", proto)
	}
	switch framing {
	case "":
	case "line":
		f = jsonrpc2.Lines
	case "header":
		f = jsonrpc2.Header
	default:
		return fmt.Errorf("-framing %q: want header or line", framing)
	}
	return jsonrpc2.NewConn(jsonrpc2.Open(stdio{}, f), mux, o).Serve(context.Background())
}

// plain is a server of plain JSON-RPC: echo returns its params, hang ends when it is cancelled, active tells how many of those there are.
func plain(o *jsonrpc2.Options) *jsonrpc2.Mux {
	var active atomic.Int64
	o.Cancel = cancel.NewRegistry(cancel.Convention{Method: "$/cancelRequest", Param: "id", Code: -32800})
	m := jsonrpc2.NewMux()
	m.HandleRequest("echo", jsonrpc2.HandlerFunc(func(_ context.Context, r *jsonrpc2.Request) (any, error) { return r.Params(), nil }))
	m.HandleRequest("hang", jsonrpc2.HandlerFunc(func(ctx context.Context, _ *jsonrpc2.Request) (any, error) {
		active.Add(1)
		defer active.Add(-1)
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	m.HandleRequest("active", jsonrpc2.HandlerFunc(func(context.Context, *jsonrpc2.Request) (any, error) {
		return fmt.Sprintf("active=%d", active.Load()), nil
	}))
	return m
}

type stdio struct{}

func (stdio) Read(p []byte) (int, error)  { return os.Stdin.Read(p) }
func (stdio) Write(p []byte) (int, error) { return os.Stdout.Write(p) }
func (stdio) Close() error                { return os.Stdout.Close() }
