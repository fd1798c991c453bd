package mcptest

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/tandem-rpc/tandem/mcp"
)

// DefaultTimeout is how long a request may take where neither its context nor [Options.Timeout] says so.
const DefaultTimeout = 30 * time.Second

// maxRounds is how often a call is sent again with answers before it is given up.
const maxRounds = 16

// Options say what the client of a test is. The zero value is a client of the newest revision, on a connection, that can be asked nothing.
type Options struct {
	// Revision is the one of MCP that is spoken, of [mcp.Versions] or [mcp.ModernVersions]. Empty: the newest.
	Revision string
	// Hosted goes through the host API, [mcp.Server.NewSession] and [mcp.Server.HandleModern], as transports without connections do. Otherwise
	// the server is mounted on a connection.
	Hosted bool
	// Context is what contexts of the server's functions are derived from, with what a transport would put into it: see [mcp.WithCaller]. Nil:
	// the background context.
	Context context.Context
	// Client is what the client calls itself.
	Client mcp.Implementation

	// Elicit answers what the user is asked (elicitation/create). See [Replies].
	Elicit func(ctx context.Context, q Question) (Reply, error)
	// Sample answers for the client's model (sampling/createMessage) with a result, usually a [Message]. See [Says].
	Sample func(ctx context.Context, params json.RawMessage) (any, error)
	// Roots are what the client has open (roots/list). Nil: it has no roots; empty: it has, and none is open.
	Roots []Root
	// Capabilities are declared beside, and instead of, those that the answers above bring: by name, objects. A nil value takes one away.
	Capabilities map[string]any

	// Progress asks for progress of every request.
	Progress bool
	// LogLevel asks for log messages of a level and worse, "debug" to "emergency". Empty: nothing is asked.
	LogLevel string
	// Notified, if set, is given each notification of the server when it has come, in order. It must not wait for the Client.
	Notified func(Notification)
	// Timeout bounds each request without a deadline of its own, and how long Close waits. 0 is [DefaultTimeout].
	Timeout time.Duration
}

// A Notification is what the server has sent without being asked.
type Notification struct {
	Method string
	Params json.RawMessage
}

// modern says that the revision has no initialize.
func (o *Options) modern() bool { return slices.Contains(mcp.ModernVersions, o.Revision) }

// at says that the revision is that one or a later one.
func (o *Options) at(revision string) bool { return o.Revision >= revision }

func (o *Options) fill() {
	if o.Revision == "" {
		o.Revision = mcp.ModernVersions[0]
	}
	if o.Context == nil {
		o.Context = context.Background()
	}
	if o.Client.Name == "" {
		o.Client.Name = "mcptest"
	}
	if o.Client.Version == "" {
		o.Client.Version = "1.0.0"
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
}

// capabilities are what the client declares.
func (o *Options) capabilities() map[string]any {
	type object = map[string]any
	c := object{}
	if o.Elicit != nil && o.at("2025-06-18") {
		c["elicitation"] = object{}
		if o.at("2025-11-25") {
			c["elicitation"] = object{"form": object{}, "url": object{}}
		}
	}
	if o.Sample != nil {
		c["sampling"] = object{}
		if o.at("2025-11-25") {
			c["sampling"] = object{"context": object{}, "tools": object{}}
		}
	}
	if o.Roots != nil {
		c["roots"] = object{}
	}
	for name, v := range o.Capabilities {
		if c[name] = v; v == nil {
			delete(c, name)
		}
	}
	return c
}

// Everywhere runs a test in every revision over a connection and through the host API, as subtests. The Options it is given can be added to.
func Everywhere(t *testing.T, f func(t *testing.T, o Options)) {
	t.Helper()
	for _, revision := range slices.Concat(mcp.ModernVersions, mcp.Versions) {
		for _, hosted := range []bool{false, true} {
			name := revision + "/connection"
			if hosted {
				name = revision + "/host"
			}
			t.Run(name, func(t *testing.T) { f(t, Options{Revision: revision, Hosted: hosted}) })
		}
	}
}
