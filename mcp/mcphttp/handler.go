package mcphttp

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
)

// Handler serves an MCP server by streamable HTTP. It is an http.Handler; [Handler.Register] puts it where it belongs in a ServeMux. Make one with
// [New]. Its methods may be called by many goroutines at once.
type Handler struct {
	server *mcp.Server
	o      Options
	guard  *guard
	inner  http.Handler // behind Host and Origin
	params params
	names  atomic.Uint64 // of streams
	bodies watch         // that are read
	waits  watch         // exchanges without answer
	lines  lines
	stock  stock
	dates  dates
	answer atomic.Int64 // length of answers: of the longest since there was one of the other kind, large or small

	legacy     bool // the server speaks revisions with initialize
	errVersion *jsonrpc2.Error

	phase  atomic.Int32
	active atomic.Int64  // requests and streams
	quiet  chan struct{} // active became 0
	base   context.Context
	stop   context.CancelCauseFunc

	mu         sync.RWMutex
	sessions   map[string]*session
	principals map[string]int // sessions by principal
	reserved   int            // places for sessions that begin
	noVictim   time.Time
	sweep      *time.Timer
	relief     relief
	modern     *exchange      // those that run, as a list
	listens    map[string]int // subscriptions/listen by principal
}

// Phases of a Handler.
const (
	open     = int32(iota)
	draining // no new sessions and listens
	closed   // nothing
)

// New makes a Handler. A nil o is the zero Options. The Server must not be changed afterwards; it may be served elsewhere too, by stdio or another Handler.
func New(server *mcp.Server, o *Options) *Handler {
	h := &Handler{
		server: server, o: o.filled(), quiet: make(chan struct{}, 1),
		sessions: make(map[string]*session), principals: make(map[string]int), listens: make(map[string]int),
	}
	h.bodies.period, h.bodies.locked = h.o.BodyTimeout, true
	h.waits.period = h.o.EarlySSE
	h.relief.crowd = h.o.ReturnMemory
	h.spoken()
	h.guard = newGuard(&h.o, h.report)
	h.base, h.stop = context.WithCancelCause(context.Background())
	h.inner = http.HandlerFunc(h.serve)
	if h.o.Protect != nil {
		h.inner = h.o.Protect(h.inner)
	}
	return h
}

// Register puts h into a mux, at path and at path with a slash behind it: a mux alone would redirect one to the other, and there are clients that lose body
// or credentials on the way.
func (h *Handler) Register(mux *http.ServeMux, path string) {
	for len(path) > 1 && path[len(path)-1] == '/' {
		path = path[:len(path)-1]
	}
	if path == "" || path == "/" {
		mux.Handle("/{$}", h)
		return
	}
	mux.Handle(path, h)
	mux.Handle(path+"/{$}", h)
}

// Health answers 200 while h serves, and 503 once it shuts down.
func (h *Handler) Health() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = jsonType
		if h.phase.Load() != open {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(`{"status":"shutting down"}`))
			return
		}
		_, _ = w.Write([]byte(`{"status":"ok"}`))
	})
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r, body := follow(r)
	if r = h.admit(w, r); r != nil {
		h.inner.ServeHTTP(w, r)
	}
	body.linger(w)
}

type strangerKey struct{}

var (
	errForeign      = &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "Host or Origin is not allowed"}
	errForeignLater = errors.New("mcphttp: request of an origin that is not allowed, without a caller")
)

// admit makes the checks that come before who calls is asked, and answers what ends there; then it returns nil.
func (h *Handler) admit(w http.ResponseWriter, r *http.Request) *http.Request {
	if p := h.o.Path; p != "" && r.URL.Path != p && r.URL.Path != p+"/" {
		h.refuse(w, http.StatusNotFound, "", invalidRequest("there is nothing at this path"))
		return nil
	}
	return h.admitAnywhere(w, r)
}

func (h *Handler) admitAnywhere(w http.ResponseWriter, r *http.Request) *http.Request {
	if !h.measured(r) && headerSize(r.Header) > h.o.MaxHeader {
		h.refuse(w, http.StatusRequestHeaderFieldsTooLarge, "", invalidRequest("the headers are too large"))
		return nil
	}
	stranger, err := h.guard.admit(r)
	if stranger && h.o.OriginWithToken && h.o.Principal != nil && (r.Method == http.MethodOptions || r.Header["Authorization"] != nil) {
		// Who sends a token is no page by accident. Whether it is good is seen behind Protect.
		r, err = r.WithContext(context.WithValue(r.Context(), strangerKey{}, true)), nil
	}
	if err != nil {
		h.report(r.Context(), err)
		h.refuse(w, http.StatusForbidden, "", errForeign)
		return nil
	}
	if h.o.CORS {
		h.cors(w.Header(), r)
	}
	if r.Method == http.MethodOptions {
		h.preflight(w, r)
		return nil
	}
	return r
}

// measured reports whether the server has refused larger headers already.
func (h *Handler) measured(r *http.Request) bool {
	srv, _ := r.Context().Value(http.ServerContextKey).(*http.Server)
	return srv != nil && srv.MaxHeaderBytes > 0 && srv.MaxHeaderBytes <= h.o.MaxHeader
}

func headerSize(header http.Header) (n int) {
	for name, values := range header {
		for _, v := range values {
			n += len(name) + len(v) + 4
		}
	}
	return n
}

// caller returns who a request comes from, and refuses a page of a strange origin that has no token after all.
func (h *Handler) caller(w http.ResponseWriter, r *http.Request) (key string, until time.Time, ok bool) {
	if h.o.Principal != nil {
		key, until = h.o.Principal(r)
	} else if who, known := mcp.CallerFrom[mcp.Identity](r.Context()); known && who != nil {
		key, until = who()
	}
	if h.o.OriginWithToken && key == "" && r.Context().Value(strangerKey{}) != nil {
		h.report(r.Context(), errForeignLater)
		h.refuse(w, http.StatusForbidden, "", errForeign)
		return "", until, false
	}
	return key, until, true
}

// owned lets states and tasks belong to whom the session does, where nobody has said otherwise.
func owned(r *http.Request, key string) *http.Request {
	if key == "" {
		return r
	}
	if _, known := mcp.PrincipalFrom(r.Context()); known {
		return r
	}
	return r.WithContext(mcp.WithPrincipal(r.Context(), key))
}

// serve is what Protect protects.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request) {
	h.active.Add(1)
	defer h.leave()
	if h.phase.Load() == closed {
		h.busy(w, http.StatusServiceUnavailable, "", errShuttingDown.Message)
		return
	}
	key, until, ok := h.caller(w, r)
	if !ok {
		return
	}
	r = owned(r, key)
	switch r.Method {
	case http.MethodPost:
		h.post(w, r, key, until)
	case http.MethodGet:
		h.get(w, r, key, until)
	case http.MethodDelete:
		h.delete(w, r, key)
	default:
		h.methodNotAllowed(w, h.allowed())
	}
}

func (h *Handler) allowed() string {
	if h.o.Stateless {
		return postMethods
	}
	return allMethods
}

func (h *Handler) leave() {
	if h.active.Add(-1) == 0 && h.phase.Load() != open {
		select {
		case h.quiet <- struct{}{}:
		default:
		}
	}
}

// report calls Report, if there is one, and survives it.
func (h *Handler) report(ctx context.Context, err error) {
	if h.o.Report == nil {
		return
	}
	defer func() { _ = recover() }()
	h.o.Report(ctx, err)
}
