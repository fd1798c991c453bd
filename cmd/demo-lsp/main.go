// Command demo-lsp is a language server for a folder of Markdown notes: editors see broken links as diagnostics, the note or section behind a link when
// they hover over it, and can jump there. Without -root it serves the folder that the editor opens, or a small sample if that opens none.
//
//	demo-lsp                  serve on standard input and output, as editors start it
//	demo-lsp -root DIR        serve the notes of DIR, whatever the editor opens
//	demo-lsp -listen :4389    serve on a TCP port of this machine
//	demo-lsp -ws :4390        serve over WebSocket on a port of this machine, for editors in web pages
//	demo-lsp -mcp :4391       serve agents as well, over MCP: they see what has not been saved, and their edits appear in the editor
//	demo-lsp -stats           print what was called how often, and the times, at the end
//	demo-lsp -try             start itself as a child, talk to it as an editor would, and print the traffic
//
// For the other flags, those of every server made with the framework, see demo-lsp -help.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"

	"github.com/tandem-rpc/tandem/framework"
	"github.com/tandem-rpc/tandem/internal/editor"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/lsp"
	"github.com/tandem-rpc/tandem/lsp/lspws"
)

func main() { os.Exit(run()) }

func run() int {
	// Nearly all of the heap are notes, which stay; what does not stay gets half as much room again, and not as much again, as the runtime would have it.
	// For 10,000 notes that saves 25 MB at the peak and costs a tenth more processor time while they are read.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
	var c framework.Config
	fs := flag.NewFlagSet("demo-lsp", flag.ContinueOnError)
	root := fs.String("root", "", "serve the Markdown notes of `DIR`; without it, the folder that the editor opens")
	ws := fs.String("ws", "", "serve over WebSocket on `ADDR`: HOST:PORT or PORT of this machine")
	var mcp []string
	fs.Func("mcp", "also serve agents, with the notes as editors have them, on `ADDR`: HOST:PORT, PORT or unix:PATH; may be given more than once", func(address string) error {
		mcp = append(mcp, address)
		return nil
	})
	tokens := fs.String("token-file", "", "serve only agents that send a token of `FILE`: one a line, then a name and read-only if it is")
	try := fs.Bool("try", false, "start this server as a child, talk to it and print the traffic")
	if code, ok := c.Parse(fs, os.Args[1:]); !ok {
		return code
	}
	if *try {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		if err := tryServer(ctx, os.Stdout); err != nil {
			return fail(err)
		}
		return 0
	}
	d := editor.New("demo-lsp")
	defer d.Close()
	endpoints, err := d.Endpoints(mcp, *tokens)
	if err != nil {
		return fail(err)
	}
	if *root != "" {
		if err := d.Open(context.Background(), *root); err != nil {
			return fail(err)
		}
	}
	server := d.LSP()
	rt := &framework.Runtime{Options: jsonrpc2.Options{MaxFrame: editor.MaxFrame}, Beside: endpoints}
	if *ws == "" {
		return c.Run(context.Background(), rt, server)
	}
	if c.Listen != "" {
		fmt.Fprintln(os.Stderr, "demo-lsp: more than one way to serve: --ws and --listen")
		return framework.ExitUsage
	}
	c.Listen, rt.Web = *ws, webSocket(rt, server)
	return c.Run(context.Background(), rt)
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, "demo-lsp:", err)
	return framework.ExitFailure
}

// webSocket is server for editors in web pages.
func webSocket(rt *framework.Runtime, server *lsp.Server) framework.Web {
	return &lspws.Site{Options: &lspws.Options{
		Options: jsonrpc2.Options{MaxFrame: editor.MaxFrame},
		Serve:   func(ctx context.Context, t jsonrpc2.Transport) error { return rt.ServeTransport(ctx, t, server) },
	}}
}
