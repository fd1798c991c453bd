// Command benchserver is Tandem as a server under load: the small servers that libraries for JSON-RPC, MCP and LSP are compared with, written as a
// user of the packages would write them.
//
//	benchserver -proto jsonrpc|mcp|lsp [-framing header|line] [-log debug]
//	benchserver -proto mcp -http ADDR
//
// With -http MCP is served over HTTP, at /mcp.
// With -log debug the redacted traffic goes to standard error.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/hashicorp/go-hclog"

	"github.com/tandem-rpc/tandem/framework"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

func main() {
	proto := flag.String("proto", "jsonrpc", "jsonrpc, mcp or lsp")
	framing := flag.String("framing", "", "header or line; the protocol's own if not given")
	addr := flag.String("http", "", "serve mcp over HTTP at this address and port, at /mcp")
	level := flag.String("log", "", "level of the log on standard error, such as debug, which shows the traffic; off if not given")
	flag.Parse()
	if err := serve(*proto, *framing, *level, *addr); err != nil {
		fmt.Fprintln(os.Stderr, "benchserver:", err)
		os.Exit(1)
	}
}

func serve(proto, framing, level, addr string) error {
	if addr != "" {
		if proto != "mcp" {
			return fmt.Errorf("-http with -proto %q: want mcp", proto)
		}
		return serveHTTP(addr, tools())
	}
	var fe framework.FrontEnd
	switch proto {
	case "jsonrpc":
		fe = new(plain)
	case "mcp":
		fe = tools()
	case "lsp":
		fe = languageServer()
	default:
		return fmt.Errorf("-proto %q: want jsonrpc, mcp or lsp", proto)
	}
	switch framing {
	case "":
	case "line":
		fe = framed{fe, jsonrpc2.Lines}
	case "header":
		fe = framed{fe, jsonrpc2.Header}
	default:
		return fmt.Errorf("-framing %q: want header or line", framing)
	}
	rt := &framework.Runtime{PipeSize: 1 << 20}
	if level != "" {
		rt.Logger = hclog.New(&hclog.LoggerOptions{Name: "benchserver", Level: hclog.LevelFromString(level), Output: os.Stderr})
	}
	return rt.ServeStdio(context.Background(), fe)
}

// framed is a front end with another framing than its protocol's.
type framed struct {
	framework.FrontEnd
	framing jsonrpc2.Framing
}

func (f framed) Framing() jsonrpc2.Framing { return f.framing }
