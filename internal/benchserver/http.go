package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/tandem-rpc/tandem/mcp"
	"github.com/tandem-rpc/tandem/mcp/mcphttp"
)

// serveHTTP serves MCP over HTTP, at /mcp, until a signal. Where it is found goes to standard error.
func serveHTTP(addr string, s *mcp.Server) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "http://%s/mcp\n", l.Addr())
	h := mcphttp.New(s, &mcphttp.Options{Path: "/mcp"})
	return h.Serve(ctx, l, mcphttp.NewServer(h))
}
