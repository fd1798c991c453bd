package main

import (
	"context"
	"net"
	"net/http"
	"os/signal"
	"syscall"

	"github.com/tandem-rpc/tandem/mcp"
	"github.com/tandem-rpc/tandem/mcp/mcphttp"
)

// serveHTTP serves MCP over HTTP, at /mcp, until a signal.
func serveHTTP(addr string, s *mcp.Server) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	h := mcphttp.New(s, nil)
	mux := http.NewServeMux()
	h.Register(mux, "/mcp")
	return h.Serve(ctx, l, mcphttp.NewServer(mux))
}
