package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/hashicorp/go-hclog"

	"github.com/tandem-rpc/tandem/framework"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/logging"
	"github.com/tandem-rpc/tandem/mcp"
	"github.com/tandem-rpc/tandem/mcp/mcphttp"
)

var errOneWay = errors.New("-http: more than one way to serve")

// serveHTTP serves s over HTTP at addr, path /mcp, until a signal; a second one ends the process at once.
func serveHTTP(ctx context.Context, c *framework.Config, addr string, s *mcp.Server) error {
	if err := c.Check(); err != nil {
		return err
	}
	if c.Stdio || c.Pipe != "" || c.Socket != 0 || c.Listen != "" {
		return errOneWay
	}
	l, err := framework.Listen(addr, false)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the next signal has its usual effect

	log := hclog.New(&hclog.LoggerOptions{Name: "demo-mcp", Level: hclog.LevelFromString(c.LogLevel), Output: os.Stderr, JSONFormat: c.LogJSON})
	redact := logging.NewRedactor()
	o := &mcphttp.Options{
		Report: func(_ context.Context, err error) { log.Warn("http", "error", hclog.Quote(redact.Text(err.Error()))) },
	}
	if log.IsDebug() {
		o.Tap = logging.NewTraffic(log, &logging.Options{Protocol: "mcp"})
	}
	s.Reporter = func(_ context.Context, r *jsonrpc2.Request, err error) {
		method := ""
		if r != nil {
			method = r.Method
		}
		log.Warn("request failed", "method", hclog.Quote(method), "error", hclog.Quote(redact.Text(err.Error())))
	}
	var figures *framework.Metrics
	if c.Stats {
		figures = new(framework.Metrics)
		o.Observe = figures.Observe
	}
	h := mcphttp.New(s, o)
	mux := http.NewServeMux()
	h.Register(mux, "/mcp")
	mux.Handle("/health", h.Health())
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		// Clients look for metadata here, and want JSON also where there is none.
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"error":"not_found"}`))
	})
	fmt.Fprintf(os.Stderr, "demo-mcp: serving http://%s/mcp\n", l.Addr())
	err = h.Serve(ctx, l, mcphttp.NewServer(mux))
	if figures != nil {
		_, _ = figures.WriteTo(os.Stderr) // nothing can be done about it
	}
	return err
}
