package mcp

import (
	"context"
	"sync"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

const (
	// DefaultBatch is the number of entries a batch may have where Server.Batch is 0.
	DefaultBatch = 100
	// NoBatch as Server.Batch refuses every batch.
	NoBatch = jsonrpc2.NoBatch
)

// Server is an MCP server: fill in the functions, and each brings its feature and its capability. It keeps no state of its clients, so one
// Server serves all of them at once: through [Server.Handle], where the transport is yours, or as a front end whose sessions [Server.Mount]
// makes, one for each connection.
//
// Every function gets the context of its call first; it is cancelled when the client cancels the request or goes away. Functions are called by
// many goroutines at once. A *[jsonrpc2.Error] they return goes to the client as it is; any other error, and a panic, is "Internal error" to the
// client and goes to the Reporter.
//
// The fields must not be changed once the Server is in use, and it must not be copied.
type Server struct {
	// Name and Version are sent as serverInfo, Instructions, if any, to the client's model.
	Name, Version, Instructions string
	// Title, Description, WebsiteURL and Icons are sent as serverInfo too, to clients whose revision knows them.
	Title, Description, WebsiteURL string
	Icons                          []Icon

	// Revisions are those that are spoken, of [Versions] and [ModernVersions], in any order. Empty: all. A client that asks for another in initialize is
	// offered the newest of them that has initialize; everything else that names another is refused, with those that there are. A name that is no
	// revision is refused by Mount and Handle. Handle, where no session says which it is, answers as in the newest revision with initialize.
	Revisions []string

	// Lister returns the tools. Nil: there are none.
	Lister func(ctx context.Context) ([]Tool, error)
	// Finder returns one tool of those that Lister returns, and false if there is none of that name for this caller. It is optional: what looks at one tool
	// then need not make the list, and [Toolbox.Attach] sets it. See [Server.Tool].
	Finder func(ctx context.Context, name string) (Tool, bool)
	// Caller runs a tool and returns the result, usually a *[CallToolResult] or a [TextResult]; it is sent unchanged whatever it is. A call
	// that cannot be routed is an error, see [UnknownTool]; a tool that ran and failed is a result with IsError, which the model can read.
	// Nil: every tool is unknown.
	Caller func(ctx context.Context, name string, arguments Arguments) (any, error)

	// Resources returns the resources and Reader the contents of one, usually a []ResourceContents; for a URI that names nothing see
	// [ResourceNotFound]. Only both together turn the feature on. Templates returns the templates and is optional.
	Resources func(ctx context.Context) ([]Resource, error)
	Templates func(ctx context.Context) ([]Template, error)
	Reader    func(ctx context.Context, uri string) (any, error)

	// Prompts returns the prompts and Prompter builds one, usually a *[PromptResult], sent unchanged whatever it is. Only both together turn
	// the feature on.
	Prompts  func(ctx context.Context) ([]Prompt, error)
	Prompter func(ctx context.Context, name string, arguments Arguments) (any, error)

	// Completer suggests values for an argument of a prompt or a template. For one that does not exist it returns [InvalidParams].
	Completer func(ctx context.Context, r CompleteRequest) (*Completion, error)

	// Initializer is told the revision that was agreed and the raw params of initialize ({} if there were none), to store what it needs where
	// the context leads. If it fails there is no session.
	Initializer func(ctx context.Context, revision string, params Arguments) error
	// Reporter is told every unexpected error, with the request it belongs to, or nil. A panic in it is dropped.
	Reporter func(ctx context.Context, r *jsonrpc2.Request, err error)

	// Subscriber is asked whether a client may be told when a resource changes: nil, or what is wrong, such as [ResourceNotFound]. Set, it turns
	// subscriptions to resources on, and [Server.Updated] will be called. It needs Resources and Reader.
	Subscriber func(ctx context.Context, uri string) error

	// PageSize is how many tools, resources, templates or prompts are listed at once, to clients that then ask for the next page. A longer list is
	// ordered by name, or URI. 0: everything at once, which is also what serves clients that do not know pages.
	PageSize int

	// Logging lets hosted sessions carry [Session.Log] to clients.
	Logging bool
	// ListChanged says that lists change while sessions live, and that [Server.Changed] will be called.
	ListChanged bool

	// Cache says how long clients of 2026-07-28 may keep results. The zero value: not at all.
	Cache Caching
	// Extensions are sent as the extensions of the server's capabilities, settings by name, to clients whose revision knows them. Settings must
	// encode as objects.
	Extensions map[string]any

	// StateKeys seal what a call that asks leaves with its client between two rounds (revision 2026-07-28): AES-256-GCM. Each is at least 32 random
	// bytes. The first seals, all open: to change keys put the new one behind the old on every instance, then in front, then take the old one out. Nil: a
	// random key, which does for a server that is one process. StateCodec takes the place of all that.
	StateKeys  [][]byte
	StateCodec StateCodec
	// StateStore keeps states of more than 64 KiB. Nil: a call that has one fails.
	StateStore StateStore
	// Claimer remembers what was done by tools with SingleUse and after [Claim]. Nil: a [MemoryClaimer], which does for one process.
	Claimer Claimer
	// AskTimeout is how long a function waits for the answer to a question, where it waits (up to 2025-11-25): 0 is [DefaultAskTimeout].
	AskTimeout time.Duration
	// ReplayLegacy runs functions that ask again for clients with initialize, too, as for those of 2026-07-28, instead of letting them wait. It is for
	// tests: it finds questions that change and work that is done twice, whatever the client speaks.
	ReplayLegacy bool

	// Tasks turns tasks on: calls whose work goes on after the answer. Nil: every call is answered with its result.
	Tasks *Tasks

	// Batch is the number of entries a batch may have: 0 is [DefaultBatch], [NoBatch] refuses all. Anything below is refused by Mount and
	// Handle. Hosted sessions take batches only in revision 2025-03-26, the one that has them.
	Batch int

	// KeepAlive is how long a client is left alone before it is pinged, and how long it then has to answer: one that does not loses its session, and its
	// connection. It is for connections over networks, where an end may go unnoticed: a child on stdio needs none. 0: no pings. Clients since
	// 2026-07-28 have no session to keep, and are not pinged.
	KeepAlive time.Duration

	// Extend adds methods of your own. It is called once, before the first message.
	Extend func(*jsonrpc2.Mux)
	// Middleware wraps the handlers of all methods, those of Extend included, the first outermost. It sees messages that may come, and results before
	// they are made what the client's revision knows. What wraps only tools, resources or prompts goes around the functions of the Server.
	Middleware []jsonrpc2.Middleware
	// Outgoing wraps the way to each client, the first outermost: it sees the notifications and requests of the server, not its answers. A wrapper
	// passes on the context it got, or one derived from it.
	Outgoing []func(Peer) Peer

	once       sync.Once
	mux        *jsonrpc2.Mux
	requests   map[string]bool // methods of mux that are requests
	methods    map[string]*method
	dispatcher *jsonrpc2.Dispatcher
	hosted     *jsonrpc2.Dispatcher // of payloads with a session, or of the era without
	nobody     *Session             // of modern messages that come by no connection
	signature  []byte               // member of _meta that names the server
	invalid    error

	spoken     revisions
	feeds      feeds
	states     StateCodec
	claims     Claimer
	askers     targets // functions that have asked
	swallowers targets // and those that went on as if they had the answer
	tasks      *tasker
}

// Handle answers one payload, a message or a batch, and returns nil when nothing is owed; an HTTP transport then answers 202. It keeps no
// lifecycle: any method may come first, and initialize again. What belongs to the call travels in ctx, see [WithCaller]. A batch that carries
// initialize is refused whole. Handle may be called by many goroutines at once.
func (s *Server) Handle(ctx context.Context, payload []byte) []byte {
	d := s.Dispatcher()
	if d == nil {
		return s.broken(ctx)
	}
	return d.Handle(ctx, payload)
}

// Dispatcher returns what Handle answers with, for reading: [jsonrpc2.Dispatcher.MaxBatch] is the batch limit, its Mux has the methods. It is nil
// if Batch is below [NoBatch].
func (s *Server) Dispatcher() *jsonrpc2.Dispatcher {
	s.once.Do(s.build)
	return s.dispatcher
}

func (s *Server) build() {
	if s.Batch < NoBatch {
		s.invalid = batchError(s.Batch)
		return
	}
	if s.spoken, s.invalid = newRevisions(s.Revisions); s.invalid != nil {
		return
	}
	if s.invalid = s.prepareAsks(); s.invalid != nil {
		return
	}
	s.signature = s.sign()
	s.nobody = &Session{server: s}
	if s.Tasks != nil {
		s.tasks = newTasker(s)
	}
	s.mux = jsonrpc2.NewMux()
	s.mux.Use(s.gate)
	s.mux.Use(s.Middleware...)
	s.register(s.mux)
	if s.Extend != nil {
		s.Extend(s.mux)
	}
	requests, _ := s.mux.Methods()
	s.requests = make(map[string]bool, len(requests))
	for _, m := range requests {
		s.requests[m] = true
	}
	s.dispatcher = jsonrpc2.NewDispatcher(s.mux, &jsonrpc2.Options{
		Codec:      newCodec(nil),
		MaxBatch:   s.maxBatch(),
		Report:     s.report,
		Admit:      admitID,
		AdmitBatch: admitBatch,

		LongStrings: true,
	})
	s.hosted = jsonrpc2.NewDispatcher(s.mux, s.hostedOptions())
}

// Serves reports whether a request method is there for clients of a revision, one of [Versions] or [ModernVersions].
func (s *Server) Serves(revision, method string) bool {
	s.once.Do(s.build)
	return s.requests[method] && spanOf(method).has(revisionNamed(revision))
}

// Speaks reports whether a revision is spoken, see [Server.Revisions].
func (s *Server) Speaks(revision string) bool {
	s.once.Do(s.build)
	return s.spoken.has(revisionNamed(revision))
}

// Supported is [Message.Supported] for a server that may speak fewer revisions than there are.
func (s *Server) Supported(m *Message) *jsonrpc2.Error {
	s.once.Do(s.build)
	_, err := s.supported(&m.meta)
	return err
}

func (s *Server) supported(e *envelope) (revision, *jsonrpc2.Error) {
	r, err := e.supported()
	if s.spoken == 0 || err == nil && s.spoken.has(r) {
		return r, err
	}
	name, _ := stringValue(e.version)
	return 0, s.unsupported(name)
}

// unsupported is the error for a revision that the server does not speak.
func (s *Server) unsupported(name string) *jsonrpc2.Error {
	return unsupportedVersion(name, s.spoken.names())
}

func (s *Server) maxBatch() int {
	if s.Batch == 0 {
		return DefaultBatch
	}
	return s.Batch
}

func (s *Server) hasResources() bool { return s.Resources != nil && s.Reader != nil }
func (s *Server) subscribes() bool   { return s.hasResources() && s.Subscriber != nil }
func (s *Server) hasPrompts() bool   { return s.Prompts != nil && s.Prompter != nil }

// admitID refuses what MCP forbids and JSON-RPC allows: the id null (base protocol, requests).
func admitID(_ context.Context, r *jsonrpc2.Request) error {
	if id, ok := r.ID(); ok && id.IsNull() {
		return errNullID
	}
	return nil
}

// admitBatch refuses a batch that carries initialize, at any place and in any form (MCP 2025-03-26 lifecycle).
func admitBatch(_ context.Context, batch []*jsonrpc2.Request) error {
	for _, r := range batch {
		if r.Method == "initialize" {
			return errCarriesInitialize
		}
	}
	return nil
}
