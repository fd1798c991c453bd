package framework

import (
	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// FrontEnd is one protocol on top of JSON-RPC 2.0. Front ends satisfy it without importing this package: every type in it comes from the
// packages below. One FrontEnd serves any number of connections at once, so its methods must be safe for concurrent use; what belongs to one
// connection is made in Mount.
type FrontEnd interface {
	// Protocol names the protocol in logs, for example "lsp". It never changes.
	Protocol() string
	// Framing is how the protocol's messages stand on a byte stream.
	Framing() jsonrpc2.Framing
	// Conventions are the ways the protocol cancels requests; the first is the one that is spoken. The runtime puts them in Options.Cancel.
	Conventions() []cancel.Convention
	// Mount makes the session of one connection and returns its methods. It is called once for each connection, before anything is read
	// from it except the bytes that chose the protocol.
	//
	// o is a copy made for this connection, with Cancel set by the runtime, and Tap, Report and Observe where they are wanted. Mount may
	// change it (Codec, Admit, Capture, limits); hooks that are already set must be kept, by calling them from the new ones. A session that
	// has to clean up does so in o.OnClose. An error ends the connection before it starts.
	Mount(o *jsonrpc2.Options) (*jsonrpc2.Mux, error)
}

// Replayed is implemented by front ends that know what two sessions differ in although nothing is different. It says so to --replay.
type Replayed interface {
	// Opaque are the members that hold a string without meaning, which the other side sends back, and Superseded the notifications of which only
	// the last one counts, both as in replay.Options.
	Opaque() []string
	Superseded() []string
}

// Secretive is implemented by front ends whose protocol has secrets under names that package logging does not know.
type Secretive interface {
	// Secrets are the names of members whose values must not be logged, as in Runtime.Redact. Recordings and the inspect page keep what they hold: it is
	// how a reader, and --replay, tell what belongs together.
	Secrets() []string
}

// Exiter is implemented by front ends whose protocol says with which code the process ends. Without it the code is 0 when the session ended
// well, the end of the input included, and 1 when it ended with an error.
type Exiter interface {
	// ExitCode returns the exit code of the session that Mount returned m for. It is called once for every such m, after Options.OnClose,
	// so an entry kept under m can be dropped then. err is what Serve returned.
	ExitCode(m *jsonrpc2.Mux, err error) int
}

// Parented is implemented by front ends whose peer can name the process that the server shall not outlive.
type Parented interface {
	// OnParent hands the session of m a function to call, at most once, with the id of that process. It is called after Mount and before the
	// session starts. watch returns at once, and does nothing for pid <= 0; when the process has ended the session is closed. The runtime
	// only calls OnParent where the peer started this process or asked it to connect, as the number means nothing on another machine.
	OnParent(m *jsonrpc2.Mux, watch func(pid int))
}
