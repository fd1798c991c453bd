package lspws

import (
	"context"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Defaults of [Options].
const (
	DefaultPing     = 30 * time.Second
	DefaultStall    = 30 * time.Second
	DefaultMaxConns = 1024
)

// Server is what a [Handler] serves: an [lsp.Server], or anything else that makes a session for each connection.
//
// [lsp.Server]: https://pkg.go.dev/github.com/tandem-rpc/tandem/lsp#Server
type Server interface {
	// Mount makes the session of one connection and returns its methods. It fills o.
	Mount(o *jsonrpc2.Options) (*jsonrpc2.Mux, error)
}

// Options are the settings of a [Handler]. The zero value and nil are ready to use. Functions in it are called by many goroutines at once.
type Options struct {
	// Options are those of every connection. MaxFrame also bounds what is read of one message.
	Options jsonrpc2.Options
	// Serve, if set, serves a connection in place of the Server, until it ends. t belongs to it. ctx is that of the HTTP request; it also ends when
	// that of [Handler.Shutdown] does.
	Serve func(ctx context.Context, t jsonrpc2.Transport) error

	// Origins are the origins of web pages that may connect, beside the server's own and, on loopback connections, those of this machine:
	// "https://editor.example", "vscode-webview://*" for all hosts of a scheme, "*" for all pages there are.
	Origins []string
	// Hosts are the names, with or without a port, by which the server may be called. "*" is every name. On loopback connections names of this
	// machine need not be listed; on others every name will do if none is.
	Hosts []string
	// Subprotocols are those that the server speaks, the best first. One is chosen of those that the client offers.
	Subprotocols []string

	// Ping is how often a client from which nothing comes is asked whether it is there; one that has not answered when it would be asked again has
	// its connection cut. 0 is [DefaultPing], negative never.
	Ping time.Duration
	// Stall cuts the connection of a client that takes nothing for so long. 0 is [DefaultStall], negative waits for ever.
	Stall time.Duration
	// MaxConns is how many connections there may be at once; a further client is answered with status 503. 0 is [DefaultMaxConns], negative: no
	// limit.
	MaxConns int

	// Report is told what goes wrong with connections: refused ones, and those that did not end well. What goes wrong in requests is told to
	// Options.Report and to the server. Texts of the client stand quoted in it.
	Report func(ctx context.Context, err error)
}

func (o *Options) fill() {
	if o.Ping == 0 {
		o.Ping = DefaultPing
	}
	if o.Stall == 0 {
		o.Stall = DefaultStall
	}
	if o.MaxConns == 0 {
		o.MaxConns = DefaultMaxConns
	}
	if o.Options.MaxFrame <= 0 {
		o.Options.MaxFrame = jsonrpc2.DefaultMaxFrame
	}
	if o.Report == nil {
		o.Report = func(context.Context, error) {}
	}
}
