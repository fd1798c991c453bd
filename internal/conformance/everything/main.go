// Command everything is the server that the conformance suites of MCP are run against, see package conformance.
//
//	everything                        serve on standard input and output
//	everything -http localhost:4391   serve streamable HTTP at /mcp
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/tandem-rpc/tandem/framework"
	"github.com/tandem-rpc/tandem/internal/conformance"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
	"github.com/tandem-rpc/tandem/mcp/mcphttp"
)

func main() { os.Exit(run()) }

func run() int {
	var c framework.Config
	fs := flag.NewFlagSet("everything", flag.ContinueOnError)
	address := fs.String("http", "", "serve HTTP at /mcp on `ADDR` and print the URL")
	if code, ok := c.Parse(fs, os.Args[1:]); !ok {
		return code
	}
	server := conformance.New(func(_ context.Context, r *jsonrpc2.Request, err error) {
		if *address == "" {
			return // the framework's log has it
		}
		method := ""
		if r != nil {
			method = r.Method
		}
		fmt.Fprintf(os.Stderr, "everything: %q: %q\n", method, err.Error())
	})
	if *address == "" {
		return c.Run(context.Background(), new(framework.Runtime), server)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, *address, server.Server); err != nil {
		fmt.Fprintln(os.Stderr, "everything:", err)
		return framework.ExitFailure
	}
	return 0
}

// serve serves both eras at one URL until ctx ends.
func serve(ctx context.Context, address string, server *mcp.Server) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	h := mcphttp.New(server, &mcphttp.Options{
		Polling: true,
		Report:  func(_ context.Context, err error) { fmt.Fprintf(os.Stderr, "everything: %q\n", err.Error()) },
	})
	mux := http.NewServeMux()
	h.Register(mux, "/mcp")
	fmt.Printf("http://localhost:%d/mcp\n", l.Addr().(*net.TCPAddr).Port)
	err = h.Serve(ctx, l, mcphttp.NewServer(mux))
	end, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer stop()
	_ = server.Shutdown(end) // tasks that wait for their clients are given up
	return err
}
