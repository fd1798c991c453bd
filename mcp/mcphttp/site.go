package mcphttp

import (
	"cmp"
	"context"
	"net"
	"net/http"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
)

// DefaultPath is where a [Site] serves, if it does not say.
const DefaultPath = "/mcp"

// Site is an MCP server as all that is at an address: the [Handler] at one path, its health at /health, and answers in JSON everywhere else, as clients that
// look for metadata want them. A framework.Runtime takes one as its Web, so that a port, or an Endpoint beside an editor's connection, serves HTTP:
//
//	agents := &mcphttp.Site{Server: server}
//	rt := framework.Runtime{Beside: []framework.Endpoint{{Address: "localhost:4391", Web: agents}}}
//
// It may serve several listeners at once. Its fields must not be changed once it serves.
type Site struct {
	Server  *mcp.Server
	Path    string   // of the Handler; empty: DefaultPath
	Options *Options // of the Handler; to Tap, Reporter, Report and Observe those of the runtime are added
	// Extend adds what else is at the address, such as the metadata of package mcpauth.
	Extend func(*http.ServeMux)
}

// Protocol returns that of the Server.
func (s *Site) Protocol() string { return s.Server.Protocol() }

// Conventions returns those of the Server.
func (s *Site) Conventions() []cancel.Convention { return s.Server.Conventions() }

// Framing is [mcp.Server.Framing]. With this, Mount, Opaque and Superseded a Site is a framework.FrontEnd for connections without HTTP too: --replay has what was
// recorded of sessions go over such.
func (s *Site) Framing() jsonrpc2.Framing { return s.Server.Framing() }

// Mount is [mcp.Server.Mount].
func (s *Site) Mount(o *jsonrpc2.Options) (*jsonrpc2.Mux, error) { return s.Server.Mount(o) }

// Opaque is [mcp.Server.Opaque].
func (s *Site) Opaque() []string { return s.Server.Opaque() }

// Secrets is [mcp.Server.Secrets].
func (s *Site) Secrets() []string { return s.Server.Secrets() }

// Superseded is [mcp.Server.Superseded].
func (s *Site) Superseded() []string { return s.Server.Superseded() }

// URL is where clients find the server at an address.
func (s *Site) URL(at net.Addr) string {
	host := at.String()
	if at.Network() == "unix" {
		host = "localhost" // over the socket
	}
	return "http://" + host + cmp.Or(s.Path, DefaultPath)
}

// Serve serves a listener until ctx ends, then shuts down in good order, see [Handler.Serve]. o may be nil; of it count the Tap, Report and Observe.
func (s *Site) Serve(ctx context.Context, l net.Listener, o *jsonrpc2.Options) error {
	return s.ServeSessions(ctx, l, o, nil)
}

// ServeSessions is Serve with the messages of each client on their own: session, if not nil, is called as [Options.Session] is, and after that.
func (s *Site) ServeSessions(ctx context.Context, l net.Listener, o *jsonrpc2.Options, session func(id, client string) (*jsonrpc2.Options, func(error))) error {
	own := s.options(o)
	if session != nil {
		own.Session = both(own.Session, session)
	}
	h := New(s.Server, own)
	mux := http.NewServeMux()
	h.Register(mux, cmp.Or(s.Path, DefaultPath))
	mux.Handle("/health", h.Health())
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = jsonType
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"error":"not_found"}`))
	})
	if s.Extend != nil {
		s.Extend(mux)
	}
	return h.Serve(ctx, l, NewServer(mux))
}

// both is two Options.Session in one.
func both(a, b func(id, client string) (*jsonrpc2.Options, func(error))) func(id, client string) (*jsonrpc2.Options, func(error)) {
	if a == nil {
		return b
	}
	return func(id, client string) (*jsonrpc2.Options, func(error)) {
		oa, endA := a(id, client)
		ob, endB := b(id, client)
		if oa == nil {
			oa = new(jsonrpc2.Options)
		}
		if ob == nil {
			ob = new(jsonrpc2.Options)
		}
		o := &jsonrpc2.Options{Tap: jsonrpc2.Taps(oa.Tap, ob.Tap), Observe: func(e jsonrpc2.Event) {
			if oa.Observe != nil {
				oa.Observe(e)
			}
			if ob.Observe != nil {
				ob.Observe(e)
			}
		}}
		return o, func(why error) {
			if endA != nil {
				endA(why)
			}
			if endB != nil {
				endB(why)
			}
		}
	}
}

// options are the site's with the hooks of o added.
func (s *Site) options(o *jsonrpc2.Options) *Options {
	var own Options
	if s.Options != nil {
		own = *s.Options
	}
	if o == nil {
		return &own
	}
	own.Tap = jsonrpc2.Taps(own.Tap, o.Tap)
	if o.Report != nil {
		reporter, report := own.Reporter, own.Report
		own.Reporter = func(ctx context.Context, r *jsonrpc2.Request, err error) {
			o.Report(ctx, r, err)
			if reporter != nil {
				reporter(ctx, r, err)
			}
		}
		own.Report = func(ctx context.Context, err error) {
			o.Report(ctx, nil, err)
			if report != nil {
				report(ctx, err)
			}
		}
	}
	if o.Observe != nil {
		observe := own.Observe
		own.Observe = func(e jsonrpc2.Event) {
			o.Observe(e)
			if observe != nil {
				observe(e)
			}
		}
	}
	return &own
}
