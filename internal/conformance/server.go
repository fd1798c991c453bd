// Package conformance is an MCP server with one of everything that the official conformance suites look for, and a test that runs those suites
// against it: @modelcontextprotocol/conformance 0.1.16 and 0.2.0-alpha.12, both eras on one URL of one process, without a list of expected
// failures.
//
// The server is made of the public packages only, as any program's would be. Command everything serves it; what its tools answer is what the suites
// ask for, and of no other use.
package conformance

import (
	"context"
	"encoding/base64"
	"sync/atomic"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
)

// A Server is the MCP server, and what its tools can change about it. Make one with [New].
type Server struct {
	*mcp.Server

	box     mcp.Toolbox
	changed atomic.Uint64 // how often the trigger tools have changed the lists
	hangs   atomic.Int64  // calls that wait to be cancelled
}

// New makes the server. Errors that clients are not told about go to report, which may be nil.
func New(report func(ctx context.Context, r *jsonrpc2.Request, err error)) *Server {
	s := new(Server)
	s.Server = &mcp.Server{
		Name: "everything", Version: "1.0.0", Title: "Everything", Description: "One of everything, for the conformance suites.",
		WebsiteURL: "https://example.com/everything", Icons: icons,
		Instructions: "This server exists to be tested.",
		Lister:       s.box.List,
		Finder:       s.box.Find,
		Caller:       s.box.Call,
		Resources:    resources,
		Templates:    templates,
		Reader:       read,
		Prompts:      s.prompts,
		Prompter:     s.prompt,
		Completer:    complete,
		Subscriber:   subscribe,
		Reporter:     report,
		Logging:      true,
		ListChanged:  true,
		Tasks:        &mcp.Tasks{Experimental: true},
		Cache: mcp.Caching{
			Discover:  mcp.CacheHint{TTL: time.Minute, Public: true},
			Templates: mcp.CacheHint{TTL: time.Minute, Public: true},
		},
	}
	s.contents()
	s.notifying()
	s.hanging()
	s.schemas()
	s.asking()
	s.working()
	s.changing()
	return s
}

// plain adds a tool without arguments.
func (s *Server) plain(name, description string, f func(ctx context.Context) (any, error)) {
	mcp.AddTool(&s.box, mcp.Tool{Name: name, Description: description}, func(ctx context.Context, _ struct{}) (any, error) {
		return f(ctx)
	})
}

const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="

// png is a picture of one red dot, wav a sound of no length.
var (
	png = decoded(dot)
	wav = decoded("UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=")
)

func decoded(s string) []byte {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

// pause waits, or returns early with the context's error.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
