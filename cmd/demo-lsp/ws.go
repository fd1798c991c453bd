package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/tandem-rpc/tandem/framework"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/logging"
	"github.com/tandem-rpc/tandem/lsp/lspws"
)

const (
	headerTimeout = 10 * time.Second
	lastWords     = 5 * time.Second // for clients, once the program is to end
)

// serveWS serves fe over WebSocket on ln, on every path, until ctx ends.
func serveWS(ctx context.Context, rt *framework.Runtime, ln net.Listener, fe framework.FrontEnd) error {
	redact := logging.NewRedactor()
	h := lspws.New(nil, &lspws.Options{
		Serve: func(ctx context.Context, t jsonrpc2.Transport) error { return rt.ServeTransport(ctx, t, fe) },
		Report: func(_ context.Context, err error) {
			rt.Logger.Warn("websocket", "error", hclog.Quote(redact.Text(err.Error())))
		},
	})
	web := &http.Server{Handler: h, ReadHeaderTimeout: headerTimeout}
	stop := context.AfterFunc(ctx, func() { _ = web.Close() }) // Serve says so if it failed
	defer stop()
	fmt.Fprintf(os.Stderr, "demo-lsp: serving ws://%s/\n", ln.Addr())
	if err := web.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	return h.Shutdown(ending) // the runtime lets the sessions finish at the same time
}
