package mcphttp

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Defaults of what [Options] leaves 0.
const (
	DefaultMaxBody        = 4 << 20
	DefaultMaxHeader      = 64 << 10
	DefaultMaxSessions    = 10_000
	DefaultMaxPerCaller   = 100
	DefaultMaxRequests    = 1024
	DefaultMaxStreams     = 16
	DefaultMaxListens     = 16
	DefaultMaxQueued      = 256
	DefaultReturnMemory   = 500
	DefaultBodyTimeout    = 30 * time.Second
	DefaultWriteTimeout   = 30 * time.Second
	DefaultHeartbeat      = 15 * time.Second
	DefaultEarlySSE       = 10 * time.Second
	DefaultSessionTimeout = 30 * time.Minute
	DefaultGrace          = 5 * time.Second
)

var (
	// ErrNoStream is returned by calls and notifications that belong to a request whose client takes nothing but the answer: it accepts only JSON.
	// It is a [jsonrpc2.ErrClosed] too, so progress and log messages are dropped, and reported once a request.
	ErrNoStream error = &unheard{"mcphttp: the client takes no stream"}
	// ErrStreamLost is returned by calls and notifications on a stream that broke where nothing keeps what is sent on it, and to calls whose answer
	// cannot come for that reason. It is a [jsonrpc2.ErrClosed] too.
	ErrStreamLost error = &unheard{"mcphttp: the stream to the client is lost"}
	// ErrSessionEnded is the cause of the contexts of requests whose session the client has ended, or that was idle or old for too long.
	ErrSessionEnded = errors.New("mcphttp: session ended")
	// ErrPolling is returned by [CloseStream] where it cannot be done.
	ErrPolling = errors.New("mcphttp: the stream of this request cannot be closed and taken up again")
)

// unheard is an error of sending to a client that does not listen.
type unheard struct{ text string }

func (u *unheard) Error() string { return u.text }

// Is makes it one for functions that only look whether somebody listens.
func (u *unheard) Is(target error) bool { return target == jsonrpc2.ErrClosed }

// Options are the settings of a [Handler]. The zero value and nil are ready to use, and safe: strangers' Hosts and Origins are refused, everything
// is bounded. Functions in it are called by many goroutines at once.
type Options struct {
	// Path, if set, is the only path that is served, with and without a slash at its end; any other is answered 404, never redirected. Empty:
	// whatever path requests come with, which is what the mux in front has let through.
	Path string

	// Stateless keeps no sessions: clients of revisions with initialize are served one message at a time, cannot be asked anything, and get no
	// stream of their own. Clients of 2026-07-28 are always served so.
	Stateless bool
	// RequireSession refuses requests of clients that were given a session id and do not send it. Without it those that need no session are
	// served all the same: some well-known clients lose the id.
	RequireSession bool
	// AdoptUnknownSessions serves requests with an unknown session id as if they had none, for clients that do not begin a new session when
	// they are told (by 404) that the old one is over.
	AdoptUnknownSessions bool

	// Hosts are the names, with or without port, that clients may call this server by (the Host header), beside those of the local machine on a
	// loopback connection. "*.example.com" is all names below one, "*" any name. Empty: on connections that are not loopback, any; this is
	// reported once. A request for any other is answered 403: it comes from a web page that has made its name lead here (DNS rebinding).
	Hosts []string
	// Origins are the origins of web pages that may call this server, beside its own and, on loopback connections, those of the local machine:
	// "https://app.example.com", "chrome-extension://*" for all of a scheme, "*" for all. Requests from others are answered 403.
	Origins []string
	// OriginWithToken lets requests of any origin through that carry a good access token, which no page has by accident. It needs Principal.
	OriginWithToken bool
	// TrustProxy are the addresses of proxies whose X-Forwarded-Host and X-Forwarded-Proto are believed.
	TrustProxy []netip.Prefix
	// CORS answers browsers that ask whether a page of an allowed origin may call this server, and lets pages see the headers of answers they need.
	CORS bool

	// Protect wraps the handler behind the checks of Host and Origin; [mcpauth.Resource.Protect] is made for it. Nil: everyone may call.
	//
	// [mcpauth.Resource.Protect]: https://pkg.go.dev/github.com/tandem-rpc/tandem/mcp/mcpauth#Resource.Protect
	Protect func(http.Handler) http.Handler
	// Principal says who a request comes from, by a key that is the same for all requests of one caller and of nobody else, and until when that
	// is known; the zero time is for ever. Sessions belong to who began them, and so do tasks and the states of calls that ask, unless Protect has said whose
	// those are ([mcp.WithPrincipal]). mcpauth.Identify is made for it. Nil: the [mcp.Identity] in the context of the request, where mcpauth puts it. Without
	// that, and with an empty key: anybody.
	Principal func(r *http.Request) (key string, until time.Time)

	// Events keeps what was sent on streams, for clients that lost one and come back for the rest. Nil: a [MemoryStore] of its own.
	Events EventStore
	// NoEvents keeps nothing: what is on a stream that breaks is lost.
	NoEvents bool
	// Polling lets functions call [CloseStream]. Each request that could then has a goroutine of its own.
	Polling bool

	// MaxBody is the size of a request's body in bytes; larger ones are answered 413.
	MaxBody int
	// MaxHeader is the size of a request's headers in bytes; larger ones are answered 431. [NewServer] makes the server not read them at all; one that reads no
	// more than MaxHeader, but for the few KiB it allows itself, is trusted with it.
	MaxHeader int
	// MaxSessions is how many sessions there may be. The one that was idle longest, for at least a minute and without a stream, makes place for
	// a new one; else that is answered 503. MaxPerCaller is how many one principal may have.
	MaxSessions, MaxPerCaller int
	// ReturnMemory is how many sessions make a crowd: when three quarters of one have gone, and for five seconds no other has come, memory is given back to
	// the system, by a collection of garbage that belongs to no request and is never run twice at once. A process that falls idle would else keep it for
	// minutes. Negative: never.
	ReturnMemory int
	// MaxRequests is how many requests of a session may run at once; more are answered 429.
	MaxRequests int
	// MaxStreams is how many streams of a session that are over are kept for clients that come back.
	MaxStreams int
	// MaxListens is how many subscriptions/listen one principal may have open. Callers without a key share MaxSessions.
	MaxListens int
	// MaxQueued is how many messages may wait to be written on one stream: functions that send more wait, what belongs to no request is dropped.
	MaxQueued int

	// BodyTimeout is how long a client may take to send a body; answered 408.
	BodyTimeout time.Duration
	// WriteTimeout is how long a client may take nothing before its stream or answer is given up.
	WriteTimeout time.Duration
	// MaxRun, if above 0, ends the contexts of requests that run longer. Behind proxies that hide that a client is gone nothing else does.
	MaxRun time.Duration
	// Heartbeat is after how much silence a comment is sent on a stream, so that nothing on the way takes it for dead; negative: never.
	Heartbeat time.Duration
	// EarlySSE is after how long a request without answer gets a stream, if the client accepts one, so that heartbeats flow; negative: never.
	EarlySSE time.Duration
	// Retry is how long clients are told to wait before they come back for a stream that was closed; 0 leaves it to them.
	Retry time.Duration
	// SessionTimeout is how long a session lives without request and stream; MaxSessionAge, if above 0, with them.
	SessionTimeout, MaxSessionAge time.Duration
	// Grace is how long requests may go on after [Handler.Shutdown] was called.
	Grace time.Duration

	// Tap sees each message as it comes and goes, without what HTTP puts around it; nil: none.
	Tap jsonrpc2.Tap
	// Observe is given one Event for each request and notification that was handed to the server.
	Observe func(jsonrpc2.Event)
	// Session tells the messages of one client from those of others, where Tap and Observe get those of all. It is called when a client is first heard of, and
	// returned options' Tap and Observe get what passes from then on until end is called, with why if that was not in good order: one call after the other, in
	// order, an answer before its consequences. They must be quick, and must not call the handler. Event.Unit is the number of the message, from 1.
	//
	// id is a short hash of the session's id, of no use to anybody else. client is the name and version that the client gives itself, which may be anything, of
	// any length. Requests without a session are taken together by caller, address and client, apart from those that have the same id at the same time; their
	// id is StatelessID. A client that cancels such a request by closing the response is shown to have sent notifications/cancelled. What belongs to
	// nobody, such as a body that is no JSON, has the id "". Nil: nothing is looked at.
	Session func(id, client string) (o *jsonrpc2.Options, end func(why error))
	// Reporter is told every unexpected error of a request beside [mcp.Server.Reporter]; r may be nil. A panic in it is dropped.
	Reporter func(ctx context.Context, r *jsonrpc2.Request, err error)
	// Report is told what goes wrong without a client being told: answers that could not be delivered, stray responses, failures of the store,
	// clients that are refused. A panic in it is dropped.
	Report func(ctx context.Context, err error)
}

func (o *Options) filled() Options {
	var c Options
	if o != nil {
		c = *o
	}
	def(&c.MaxBody, DefaultMaxBody)
	def(&c.MaxHeader, DefaultMaxHeader)
	def(&c.MaxSessions, DefaultMaxSessions)
	def(&c.MaxPerCaller, DefaultMaxPerCaller)
	def(&c.MaxRequests, DefaultMaxRequests)
	def(&c.MaxStreams, DefaultMaxStreams)
	def(&c.MaxListens, DefaultMaxListens)
	def(&c.MaxQueued, DefaultMaxQueued)
	def(&c.BodyTimeout, DefaultBodyTimeout)
	def(&c.WriteTimeout, DefaultWriteTimeout)
	def(&c.SessionTimeout, DefaultSessionTimeout)
	def(&c.Grace, DefaultGrace)
	if c.ReturnMemory == 0 {
		c.ReturnMemory = DefaultReturnMemory
	}
	if c.Heartbeat == 0 {
		c.Heartbeat = DefaultHeartbeat
	}
	if c.EarlySSE == 0 {
		c.EarlySSE = DefaultEarlySSE
	}
	switch {
	case c.NoEvents:
		c.Events = nil
	case c.Events == nil:
		c.Events = new(MemoryStore)
	}
	return c
}

func def[T int | time.Duration](p *T, v T) {
	if *p <= 0 {
		*p = v
	}
}
