// Command demo-mcp is an MCP server for a folder of Markdown notes: an AI client can list, read and search them, and summarize one by a prompt.
// Without -root it serves a small sample that is part of the program.
//
//	demo-mcp                  serve on standard input and output, as clients start it
//	demo-mcp -root DIR        serve the notes of DIR
//	demo-mcp -http :4391      serve HTTP on a port of this machine, at http://127.0.0.1:4391/mcp
//	demo-mcp -listen :4390    serve plain TCP, one message a line, on a port of this machine
//	demo-mcp -stats           print what was called how often, and the times, at the end
//	demo-mcp -try             start itself as a child, talk to it as a client would, and print the traffic
//
// For the other flags, those of every server made with the framework, see demo-mcp -help.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/tandem-rpc/tandem/framework"
	"github.com/tandem-rpc/tandem/internal/notes"
	"github.com/tandem-rpc/tandem/mcp/mcphttp"
)

func main() { os.Exit(run()) }

func run() int {
	var c framework.Config
	fs := flag.NewFlagSet("demo-mcp", flag.ContinueOnError)
	root := fs.String("root", "", "serve the Markdown notes of `DIR`; without it, a sample")
	addr := fs.String("http", "", "serve HTTP on `ADDR`, HOST:PORT or PORT of this machine, at /mcp")
	try := fs.Bool("try", false, "start this server as a child, talk to it and print the traffic")
	if code, ok := c.Parse(fs, os.Args[1:]); !ok {
		return code
	}
	if *try {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		if err := tryServer(ctx, os.Stdout, *root); err != nil {
			fmt.Fprintln(os.Stderr, "demo-mcp:", err)
			return framework.ExitFailure
		}
		return 0
	}
	w, err := open(*root)
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo-mcp:", err)
		return framework.ExitFailure
	}
	defer w.Close()
	server, rt := newServer(w), new(framework.Runtime)
	if *addr == "" {
		return c.Run(context.Background(), rt, server)
	}
	if c.Listen != "" {
		fmt.Fprintln(os.Stderr, "demo-mcp: more than one way to serve: --http and --listen")
		return framework.ExitUsage
	}
	c.Listen, rt.Web = *addr, &mcphttp.Site{Server: server}
	return c.Run(context.Background(), rt)
}

func open(root string) (*notes.Workspace, error) {
	if root == "" {
		return notes.Sample(), nil
	}
	return notes.Open(root, nil)
}
