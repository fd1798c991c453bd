package lspws

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/lsp"
)

const (
	headerTimeout = 10 * time.Second
	lastWords     = 5 * time.Second // for clients, once the site is to end
)

// Site is a language server over WebSocket as all that is at an address. A framework.Runtime takes one as its Web, so that a port serves editors in web
// pages. With [Options.Serve] each socket is a connection of the Runtime, with its limits, logs and figures:
//
//	rt := new(framework.Runtime)
//	rt.Web = &lspws.Site{Options: &lspws.Options{Serve: func(ctx context.Context, t jsonrpc2.Transport) error {
//		return rt.ServeTransport(ctx, t, server)
//	}}}
//
// It may serve several listeners at once. Its fields must not be changed once it serves.
type Site struct {
	Server  Server   // may be nil where Options.Serve is set
	Path    string   // of the Handler; empty: every path
	Options *Options // of the Handler; Report is told to the runtime too
}

// Protocol returns "lsp".
func (*Site) Protocol() string { return "lsp" }

// Conventions returns those of LSP.
func (*Site) Conventions() []cancel.Convention { return []cancel.Convention{lsp.Cancel} }

// URL is where clients find the server at an address.
func (s *Site) URL(at net.Addr) string {
	host := at.String()
	if at.Network() == "unix" {
		host = "localhost" // over the socket
	}
	return "ws://" + host + cmp.Or(s.Path, "/")
}

// Serve serves a listener until ctx ends, then ends all connections with the status 1001: what runs then has five seconds. Of o, which may be nil, counts the
// Report, and where there are no Options everything.
func (s *Site) Serve(ctx context.Context, l net.Listener, o *jsonrpc2.Options) error {
	h := New(s.Server, s.options(o))
	mux := http.NewServeMux()
	mux.Handle(cmp.Or(s.Path, "/"), h)
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: headerTimeout}
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() }) // not the sockets, which are the Handler's
	defer stop()
	if err := srv.Serve(l); ctx.Err() == nil && !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	return h.Shutdown(ending)
}

func (s *Site) options(o *jsonrpc2.Options) *Options {
	var own Options
	if s.Options != nil {
		own = *s.Options
	}
	if o == nil {
		return &own
	}
	if s.Options == nil {
		own.Options = *o
	}
	if o.Report != nil {
		report := own.Report
		own.Report = func(ctx context.Context, err error) {
			o.Report(ctx, nil, err)
			if report != nil {
				report(ctx, err)
			}
		}
	}
	return &own
}
